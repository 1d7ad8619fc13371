"""Ways to smooth a signal through its gaps, each with one linear system.

A signal is taken to be such that a filter makes white noise of it: differences of its samples, or
what an autoregression leaves. That is a Gaussian prior, with a precision matrix that has few
diagonals. In several dimensions the filter is the Laplacian, or that twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import dctn, idctn
from scipy.linalg import solve_toeplitz, solveh_banded

Array = np.ndarray

# For each filter the variances of what it makes, relative to that of the estimate. Chosen on
# Wavelab's signals without Donoho's, and an EEG.
_DIFFERENCES = ((1, (1e-3, 1e-2, 0.1, 1.0)), (2, (1e-3, 1e-2)))
_ORDER, _OF_REGRESSION = 8, (0.1, 1.0)
_LAPLACIANS = ((1, (0.1, 1.0)), (2, (0.01, 0.1)))
_SOLVED = 1e-4  # the residual, relative to the right side
_STEPS = 100
_RIDGE = 1e-9  # of the prior's precision: makes it proper
_TINY = 1e-10  # of the variance of a signal: less is rounding


@dataclass(frozen=True)
class Smoother:
    """A filter that makes white noise of a signal.

    Attributes
    ----------
    taps : ndarray
        The first is for the sample itself, the others for those before it.
    scale : float
        The variance of what it makes.
    """

    taps: Array
    scale: float

    def smooth(self, y: Array, seen: Array, noise: float, cuts: Array | None = None) -> Array:
        """The posterior mean.

        Parameters
        ----------
        y : ndarray, (N,)
            What is not seen does not matter.
        seen : ndarray of bool, (N,)
        noise : float
        cuts : ndarray of int or None
            Samples that have nothing to do with those before them.
        """
        n, order = y.size, self.taps.size - 1
        rows = np.ones(n)
        rows[:order] = 0.0
        if cuts is not None:
            for step in range(order):
                rows[np.minimum(cuts + step, n - 1)] = 0.0
        diagonals = np.zeros((order + 1, n))
        for j in range(order + 1):
            for k in range(order + 1 - j):
                diagonals[k, : n - j - k] += self.taps[j] * self.taps[j + k] * rows[j + k :]
        diagonals *= noise / self.scale
        diagonals[0] += seen + _RIDGE * (1.0 + noise / self.scale)
        return solveh_banded(diagonals, np.where(seen, y, 0.0), lower=True, check_finite=False)


@dataclass(frozen=True)
class LaplacianSmoother:
    """The Laplacian makes white noise of an array, applied so many half times.

    Attributes
    ----------
    order : int
    scale : float
        The variance of what it makes.
    """

    order: int
    scale: float

    def smooth(self, y: Array, seen: Array, noise: float) -> Array:
        """The posterior mean, by conjugate gradients."""
        precision = roughness(y.shape) ** self.order * (noise / self.scale) + _RIDGE
        divisor = precision + seen.mean()
        residual = np.where(seen, y, 0.0)
        limit = _SOLVED**2 * float(np.vdot(residual, residual))
        x = np.zeros(y.shape)
        ahead = idctn(dctn(residual, norm="ortho") / divisor, norm="ortho")
        direction, energy = ahead, float(np.vdot(residual, ahead))
        for _ in range(_STEPS):
            image = idctn(dctn(direction, norm="ortho") * precision, norm="ortho")
            image += np.where(seen, direction, 0.0)
            step = energy / float(np.vdot(direction, image))
            x += step * direction
            residual = residual - step * image
            if float(np.vdot(residual, residual)) <= limit:
                break
            ahead = idctn(dctn(residual, norm="ortho") / divisor, norm="ortho")
            before, energy = energy, float(np.vdot(residual, ahead))
            direction = ahead + energy / before * direction
        return x


def smoothers(estimate: Array, variance: Array) -> list[Smoother]:
    """Those to try for a signal, given an estimate of it and its error variances."""
    least = _TINY * (float(np.var(estimate)) + float(variance.mean()))
    found = []
    for order, factors in _DIFFERENCES:
        taps = np.array([1.0, -1.0]) if order == 1 else np.array([1.0, -2.0, 1.0])
        made = float(np.mean(np.convolve(estimate, taps, "valid") ** 2)) if estimate.size > 2 else 0
        found += [Smoother(taps, max(factor * made, least)) for factor in factors]
    if estimate.size > 4 * _ORDER:
        taps, left = _regression(estimate, float(variance.mean()) + least)
        found += [Smoother(taps, max(factor * left, least)) for factor in _OF_REGRESSION]
    return found


def laplacian_smoothers(estimate: Array, variance: Array) -> list[LaplacianSmoother]:
    """Those to try for an array of several dimensions."""
    least = _TINY * (float(np.var(estimate)) + float(variance.mean()))
    energies = dctn(estimate.astype(np.float64), norm="ortho") ** 2
    rough = roughness(estimate.shape)
    found = []
    for order, factors in _LAPLACIANS:
        made = float(np.mean(energies * rough**order))
        found += [LaplacianSmoother(order, max(factor * made, least)) for factor in factors]
    return found


def roughness(shape: tuple[int, ...]) -> Array:
    """The eigenvalues of the negative Laplacian, whose eigenvectors are cosines."""
    total = np.zeros(shape)
    for axis, n in enumerate(shape):
        along = 2.0 - 2.0 * np.cos(np.pi * np.arange(n) / n)
        total = total + along.reshape(-1, *[1] * (len(shape) - axis - 1))
    return total


def _regression(estimate: Array, variance: float) -> tuple[Array, float]:
    """The filter of an autoregression, and the variance of what it leaves."""
    centred = estimate - estimate.mean()
    n = centred.size
    products = np.fft.irfft(np.abs(np.fft.rfft(centred, 2 * n)) ** 2)[: _ORDER + 1] / n
    products[0] += variance
    weights = solve_toeplitz(products[:_ORDER], products[1:])
    left = float(products[0] - weights @ products[1:])
    return np.concatenate([[1.0], -weights]), left
