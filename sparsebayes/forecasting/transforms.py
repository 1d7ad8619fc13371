"""Functions of a series that are modelled in its place, and what a Gaussian forecast of such a
function says of the series itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr

Array = np.ndarray
TransformName = Literal["log", "sqrt"]  # of `Forecaster(transform=...)`
NAMES: tuple[str, ...] = get_args(TransformName)
_FURTHEST, _LARGE = 700.0, 200.0  # logarithms that have a number, and whose products have one
_LEAST, _STEPS = 1e-10, 60  # mean of a count in units of its spread; of Newton's method
_CLEAR = 8.0  # standard deviations above 0, from where nothing is cut off
_NOTHING = 1e-6  # as part of the usual value
_SMALLEST = np.finfo(np.float64).tiny
_LARGEST = 1e300  # variance


@dataclass(frozen=True)
class ValueTransform:
    """A function z of the values y of a series.

    Parameters
    ----------
    name : {"level", "bounded", "log", "sqrt"}
        ``y = z``; ``y = max(z, 0)``, for counts; ``y = exp z``; ``y = z²``.
    """

    name: str

    def __str__(self) -> str:
        return {"level": "", "bounded": ""}.get(self.name, self.name)

    @property
    def parameter(self) -> str | None:
        """The value of `Forecaster(transform=...)`."""
        return self.name if self.name in NAMES else None

    def of(self, y: Array) -> Array:
        """z, NaN where y is."""
        if self.name == "log":
            return np.log(y)
        return np.sqrt(y) if self.name == "sqrt" else y

    def back(self, z: Array) -> Array:
        """y."""
        if self.name == "log":
            return np.exp(np.minimum(z, _FURTHEST))
        if self.name == "sqrt":
            return z**2
        return np.maximum(z, 0.0) if self.name == "bounded" else z

    def log_slope(self, y: Array) -> Array:
        """``log |dz/dy|``, what densities of z lack to be densities of y."""
        if self.name == "log":
            return -np.log(np.maximum(y, _SMALLEST))
        if self.name == "sqrt":
            return -np.log(2.0 * np.sqrt(np.maximum(y, _SMALLEST)))
        return np.zeros(np.shape(y))

    def location(self, mean: Array, std: Array) -> Array:
        """The mean of z where a forecast has this mean: of "bounded" that under which y has it, so
        that what is cut off below 0 does not raise it."""
        if self.name != "bounded":
            return mean
        ratio = np.maximum(mean / std, _LEAST)
        if not (ratio < _CLEAR).any():
            return mean
        place = ratio.copy()  # to the right of the root of a function that is convex
        for _ in range(_STEPS):
            inside = ndtr(place)
            value = place * inside + np.exp(-0.5 * place**2) / np.sqrt(2.0 * np.pi)
            place = place - (value - ratio) / np.maximum(inside, _SMALLEST)
        return std * place

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Mean and variance of y, where z is Gaussian."""
        if self.name == "log":
            center = np.exp(np.minimum(mean + 0.5 * variance, _LARGE))
            return center, center**2 * np.expm1(np.minimum(variance, _LARGE))
        if self.name == "sqrt":
            return mean**2 + variance, 2.0 * variance**2 + 4.0 * mean**2 * variance
        if self.name == "bounded":
            std = np.sqrt(np.maximum(variance, _SMALLEST))
            z = mean / std
            bell = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
            center = mean * ndtr(z) + std * bell
            square = (mean**2 + variance) * ndtr(z) + mean * std * bell
            return center, np.maximum(square - center**2, 0.0)
        return mean, variance

    def cov(self, mean: Array, cov: Array) -> Array:
        """Covariance of the values of y, (..., H, H); exact but for "bounded", which takes that
        of z in the units of its moments."""
        if self.name == "level":
            return cov
        variance = np.einsum("...hh->...h", cov)
        center, spread = self.moments(mean, variance)
        if self.name == "log":
            return center[..., :, None] * np.expm1(np.minimum(cov, _LARGE)) * center[..., None, :]
        if self.name == "sqrt":
            return 2.0 * cov**2 + 4.0 * mean[..., :, None] * cov * mean[..., None, :]
        scale = np.sqrt(spread / np.maximum(variance, _SMALLEST))
        return scale[..., :, None] * cov * scale[..., None, :]

    def below(self, y: Array, mean: Array, std: Array) -> Array:
        """The probability of less than y."""
        if self.name == "level":
            return ndtr((y - mean) / std)
        if self.name == "bounded":
            return np.where(y < 0.0, 0.0, ndtr((y - mean) / std))
        if self.name == "log":
            known = np.log(np.maximum(y, _SMALLEST))
            return np.where(y <= 0.0, 0.0, ndtr((known - mean) / std))
        root = np.sqrt(np.maximum(y, 0.0))
        return np.where(y <= 0.0, 0.0, ndtr((root - mean) / std) - ndtr((-root - mean) / std))

    def log_density(self, y: Array, mean: Array, std: Array) -> Array:
        """Of y; at the bound of "bounded" that of z."""
        root = self.of(y)
        bell = -0.5 * ((root - mean) / std) ** 2
        if self.name == "sqrt":  # both branches
            with np.errstate(invalid="ignore"):  # of NaN
                bell = np.logaddexp(bell, -0.5 * ((root + mean) / std) ** 2)
        return self.log_slope(y) - 0.5 * np.log(2.0 * np.pi) - np.log(std) + bell


LEVEL, BOUNDED, LOG, SQRT = (ValueTransform(name) for name in ("level", "bounded", "log", "sqrt"))


def by_name(name: str | None) -> ValueTransform:
    """What a parameter names."""
    return LEVEL if name is None else ValueTransform(name)


def are_counts(y: Array) -> bool:
    """Whether the values are whole numbers from 0 on, and come near it."""
    known = y[np.isfinite(y)]
    whole = bool((known >= 0).all() and (known == np.rint(known)).all())
    return whole and float(known.min()) <= 3.0 * float(known.std())


def worth_trying(y: Array) -> list[ValueTransform]:
    """The transforms among which the past of a series may choose.

    A series that hardly changes in ratio has a logarithm that is nearly linear in it; that of a
    value next to nothing is far from all others.
    """
    known = y[np.isfinite(y)]
    low, high = float(known.min()), float(known.max())
    usual = float(np.median(known))
    plain = BOUNDED if are_counts(y) else LEVEL
    if low > 0:
        near = low < _NOTHING * usual
        return [plain, LOG] if high > 1.3 * low and not near else [plain]
    return [plain, SQRT] if plain is BOUNDED and high > 0 else [plain]
