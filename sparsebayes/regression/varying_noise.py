"""The log of the noise variance as a second sparse expansion.

Given a model, the squared residuals say how the noise varies: they have a likelihood of their own
(`SquaredResiduals`), and functions of the inputs are chosen for it by the engine. Whether it varies
at all is decided with the price of Schwarz's criterion for each effective parameter, so that noise
which is the same everywhere stays so; how it varies, without.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sparsebayes._rvm.length_scales import ScaleFamily, design_of
from sparsebayes._rvm.noise import NoiseVariance
from sparsebayes._support.batching import memory_budget
from sparsebayes.basis import Basis
from sparsebayes.engine import (
    Adaptive,
    Flat,
    Gaussian,
    Latent,
    Prior,
    Sequential,
    Solution,
    Solver,
    State,
    Trace,
    run,
)
from sparsebayes.engine.model.sites import SquaredResiduals
from sparsebayes.engine.model.unequal_noise import Varying

Array = np.ndarray

_TOL, _MAX_ITER = 0.1, 1000  # of the search: a tenth of a nat moves no error bar
_FLOOR = 1e-6  # of the mean square: a smaller one says no more


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """A model of g at the training rows, to be fitted again in turns.

    Attributes
    ----------
    basis : Basis
        Fitted, with the length scales that were learned.
    X : ndarray, (N, D)
    varies : bool
        Whether g is no constant; then the length scales are learned.
    state : State or None
        The functions found; None if there are none yet.
    level : float
        The log noise variance where no function is.
    log_variance : ndarray, (N,)
    log_prior : float
    """

    basis: Basis
    X: Array
    varies: bool = False
    state: State | None = None
    level: float = 0.0
    log_variance: Array = field(default_factory=lambda: np.zeros(0))
    log_prior: float = 0.0

    def refitted(self, counts: Array, squares: Array, n_targets: int) -> NoiseModel:
        mean = float(counts @ squares / counts.sum())
        level = float(np.log(mean / n_targets))
        squares = np.maximum(squares, _FLOOR * mean) * np.exp(-level)
        sites = SquaredResiduals(squares, counts, n_targets)
        basis = self.basis
        if not self.varies:
            family = None
            if basis.log_scales().size:
                family = ScaleFamily(basis, self.X, counts, memory_budget(), ard=False)
            price = Trace(0.5 * float(np.log(max(counts.sum(), 1.0))))
            found = self._search(basis, price, sites, family)
            if not found.state.active.size:
                return self
            if family is not None and found.theta is not None:
                basis = family.basis(found.theta)
        state = self._search(basis, Flat(), sites, None).state
        assert state.local is not None
        return replace(
            self,
            basis=basis,
            varies=True,
            state=state,
            level=level,
            log_variance=level + state.local.point.f[:, 0],
            log_prior=state.evidence - state.local.expansion.value,
        )

    def on(self, basis: Basis, X: Array) -> NoiseModel:
        """The same for other rows, to be fitted to them: functions of a basis at these scales."""
        rescaled = basis.rescaled(self.basis.log_scales())
        return NoiseModel(rescaled, X, self.varies, log_variance=np.zeros(len(X)))

    def _search(
        self, basis: Basis, prior: Prior, sites: SquaredResiduals, family: ScaleFamily | None
    ) -> Solution:
        """Functions for g, and its length scales if there is a family."""
        problem = Latent(design_of(basis, self.X, memory_budget()), prior, sites)
        solver: Solver = Sequential().quick()
        if family is not None:
            solver = Adaptive(solver, family)
        rng = np.random.default_rng(0)
        return run(solver, problem, max_iter=_MAX_ITER, tol=_TOL, rng=rng)

    def function(self) -> NoiseVariance:
        """The noise variance as a function of the input, relative to that of the model."""
        if self.state is None:
            none = self.basis.select(np.empty(0, dtype=np.intp))
            return NoiseVariance(none, np.empty(0), np.empty((0, 0)), self.level)
        order = np.argsort(self.state.active)
        kept = self.basis.select(self.basis.distinct_[self.state.active[order]])
        cov = self.state.cov[order][:, order]
        return NoiseVariance(kept, self.state.mean[order], cov, self.level)


def begin(basis: Basis, X: Array) -> NoiseModel:
    """Noise that is the same everywhere, to begin with."""
    return NoiseModel(basis, X, log_variance=np.zeros(len(X)))


def noise_function(sites: Gaussian) -> NoiseVariance | None:
    """The noise variance at an input, relative to that of the model; None if it does not vary."""
    if not isinstance(sites.unequal, Varying):
        return None
    model = sites.unequal.model
    assert isinstance(model, NoiseModel)
    return model.function() if model.varies else None
