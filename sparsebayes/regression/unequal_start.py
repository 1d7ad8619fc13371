"""Where a search begins whose samples differ in how precise they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._rvm.options import Noise
from sparsebayes.basis import Basis
from sparsebayes.engine import Exact
from sparsebayes.engine.model.unequal_noise import Tails, UnequalNoise, Varying
from sparsebayes.regression.robust_start import robust_start
from sparsebayes.regression.varying_noise import begin

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR

Array = np.ndarray


def unequal_start(
    model: RVR, problem: Exact, basis: Basis, X: Array, weights: Array, noise: Noise
) -> UnequalNoise | None:
    """How precise the samples are beside each other, to begin with; None if equally so."""
    if noise.tails is not None:
        nu = noise.tails.nu
        if problem.energy == 0:  # there is nothing to explain
            return Tails(weights, np.zeros(len(X)), np.inf, False)
        family = model._family(basis, X, weights)
        return robust_start(problem, family, None if isinstance(nu, str) else float(nu))
    if noise.varying and problem.energy > 0:
        return Varying(begin(basis, X), weights, problem.sites.n_targets)
    return None
