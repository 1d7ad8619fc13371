"""How likely readings are, given what the curve says of an input.

Replicates of one reading share the value of the function and have each their own noise: their mean
has the variance ``s² + σ²/R``, and with noise that depends on the input their spread tells too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import logsumexp, ndtri, stdtr
from scipy.stats import t as student

from sparsebayes._support.calibration import normal_width

Array = np.ndarray

_FEWEST_NODES, _MOST_NODES = 32, 200  # of the quadrature over the value of the function
_AT_A_TIME = 1 << 20  # numbers of it


@dataclass(frozen=True, eq=False)
class Readings:
    """Readings, each of an input of its own.

    Attributes
    ----------
    value : ndarray, (n, K)
        The mean of the replicates; with outliers their median.
    count : ndarray, (n,)
        How many there are.
    squares : ndarray, (n, K)
        Their summed squares about the mean, 0 where only the mean is known.
    each : ndarray, (n, K, R), or None
        All of them, where there are several and they are known.
    nu : float or None
        Degrees of freedom of the noise.
    """

    value: Array
    count: Array
    squares: Array
    each: Array | None = None
    nu: float | None = None

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, rows: Array | slice) -> Readings:
        """Some of them."""
        each = None if self.each is None else self.each[rows]
        return Readings(self.value[rows], self.count[rows], self.squares[rows], each, self.nu)

    def within(self, low: Array, high: Array) -> Readings:
        """The same, those beyond (K,) limits put there: further away the digits do not tell."""
        each = self.each
        if each is not None:
            each = np.clip(each, low[:, None], high[:, None])
        return replace(self, value=np.clip(self.value, low, high), each=each)

    def variance(self, rows: Array, variance: Array, noise: Array) -> Array:
        """Of the values at some inputs, (P, K)."""
        return variance + noise / self.count[rows, None]

    def log_likelihood(self, rows: Array, mean: Array, variance: Array, noise: Array) -> Array:
        """Of readings `rows`, (P,), given what the curve says of P inputs, (P, K)."""
        total = self.variance(rows, variance, noise)
        if self.nu is not None and self.each is not None:
            return self._integrated(rows, mean, variance, noise)
        squares = (self.value[rows] - mean) ** 2 / total
        if self.nu is not None:
            factor = normal_width(self.nu) ** 2 / self.nu
            kernel = (self.nu + 1.0) * np.log1p(factor * squares)
            return -0.5 * (kernel + np.log(total)).sum(axis=1)
        found = -0.5 * (squares + np.log(total)).sum(axis=1)
        if self.each is not None:
            freedom = (self.count[rows] - 1.0)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                spread = freedom * np.log(noise) + self.squares[rows] / noise
            found -= 0.5 * np.where(noise > 0, spread, 0.0).sum(axis=1)
        return found

    def _integrated(self, rows: Array, mean: Array, variance: Array, noise: Array) -> Array:
        """With Student's t the replicates are independent given the value of the function only."""
        assert self.each is not None and self.nu is not None
        scale = np.sqrt(noise) / normal_width(self.nu)
        count = self.each.shape[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nanmax(np.where(noise > 0, variance / scale**2, 0.0), initial=0.0)
        size = int(np.clip(40.0 * count * min(ratio, 1e3), _FEWEST_NODES, _MOST_NODES))
        places, weights = hermegauss(size)
        log_weights = np.log(np.maximum(weights, 1e-300)) - 0.5 * np.log(2.0 * np.pi)
        found = np.empty(len(rows))
        step = max(1, _AT_A_TIME // (size * mean.shape[1]))
        for i in range(0, len(rows), step):
            part = slice(i, i + step)
            values = mean[part, :, None] + np.sqrt(variance[part])[:, :, None] * places
            wide = np.maximum(scale[part], 1e-150)[:, :, None]
            total = np.broadcast_to(log_weights, values.shape).copy()
            for r in range(count):
                z = (self.each[rows[part], :, r][:, :, None] - values) / wide
                total -= 0.5 * (self.nu + 1.0) * np.log1p(z**2 / self.nu) + np.log(wide)
            found[part] = logsumexp(total, axis=2).sum(axis=1)
        return found

    def distances(self, rows: Array, mean: Array, variance: Array, noise: Array) -> Array:
        """Squared, of the values from the curve, in standard deviations of a normal, (P,)."""
        if self.nu is not None and self.each is not None:  # of a median
            height = student.pdf(0.0, self.nu) * normal_width(self.nu)
            noise = noise / (4.0 * height**2)
        total = self.variance(rows, variance, noise)
        distance = np.abs(self.value[rows] - mean) / np.sqrt(total)
        if self.nu is not None:
            distance = -ndtri(stdtr(self.nu, -normal_width(self.nu) * distance))
        return (distance**2).sum(axis=1)
