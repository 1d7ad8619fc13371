"""Gaussian sites: what the data say about the function values, as ``z_n ~ N(f_n, 1/b_n)``.

The precisions are ``b_n = β w_n``. The weights w are given; β is the noise precision of a
regression, free or fixed. The engine sees no more of the data than this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Gaussian:
    """Targets z with weights w; a weight of 2 counts as the same sample twice.

    Attributes
    ----------
    target, weights : ndarray of shape (N,)
    noise_variance : float or None
        Fixed 1/β, or None where β is estimated.
    """

    target: Array
    weights: Array
    noise_variance: float | None = None

    @property
    def free(self) -> bool:
        """Whether β is estimated."""
        return self.noise_variance is None

    @cached_property
    def size(self) -> float:
        """The number of samples, repeated ones counted as often as they occur."""
        return float(self.weights.sum())

    @cached_property
    def unweighted(self) -> bool:
        """Whether all weights are one."""
        return bool(np.all(self.weights == 1.0))

    def log_normaliser(self, beta: float) -> float:
        """The logarithm of the constant before the exponential of all sites."""
        return 0.5 * self.size * math.log(beta / (2.0 * math.pi))
