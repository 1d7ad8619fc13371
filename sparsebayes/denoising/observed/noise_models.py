"""How noise comes into the samples, and the transforms after which it is added to a signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from sparsebayes._rvm.options import as_noise
from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import as_number
from sparsebayes.denoising.grid import Layout
from sparsebayes.denoising.observed.counts import Roots, noise_of_roots

Array = np.ndarray

NoiseModelName = Literal["gaussian", "poisson", "multiplicative"]
ChannelNoise = Literal["estimate", "per_level"] | float | Sequence[float]
NOISE_MODELS: tuple[str, ...] = get_args(NoiseModelName)


class KnownNoise(NamedTuple):
    """What is known of the noise after the transform.

    Attributes
    ----------
    variances : ndarray or None
        One for each channel, or one for all; None if they are to be estimated.
    by_level : bool
        Whether it differs between scales.
    """

    variances: Array | None
    by_level: bool


class AdditiveNoise:
    """Noise that is added to the signal: nothing to transform.

    Parameters
    ----------
    y : ndarray
        What was measured.
    layout : Layout
    """

    def __init__(self, y: Array, layout: Layout) -> None:
        self.layout = layout

    def noise(self, noise: Any, n_channels: int | None) -> KnownNoise:
        """What `noise` says, or a clear error."""
        return as_channel_noise(noise, n_channels)

    def forward(self, y: Array) -> Array:
        """Samples with additive noise."""
        return y

    def inverse(self, stable: Array) -> Array:
        """The signal, from its estimate among additive noise."""
        return stable

    def deviation(self, stable: Array, std: Array) -> Array:
        """The standard deviation of the signal."""
        return std


class CountNoise(AdditiveNoise):
    """Poisson counts, with Gaussian noise of a given variance or without: roots."""

    def __init__(self, y: Array, layout: Layout) -> None:
        super().__init__(y, layout)
        self._negative = bool(np.any(y < 0))
        self._noise = 1.0 if self._negative else noise_of_roots(layout.split(y))
        self._roots = Roots()

    def noise(self, noise: Any, n_channels: int | None) -> KnownNoise:
        if not (isinstance(noise, str) and noise == "estimate"):
            read = as_number(noise)
            if read is None or not 0 < read < np.inf:
                raise ValueError(
                    "With noise_model='poisson' the counts say how large their noise is; noise "
                    "must be 'estimate', or the variance of Gaussian noise that comes with them, "
                    f"got {noise!r}."
                )
            self._roots, self._noise = Roots(read), 1.0
        elif self._negative:
            raise ValueError(
                "y has negative samples, which are no counts; subtract no background before, or "
                "give noise=, the variance of Gaussian noise that comes with the counts."
            )
        return KnownNoise(np.array([self._noise]), by_level=False)

    def forward(self, y: Array) -> Array:
        return self._roots.forward(y)

    def inverse(self, stable: Array) -> Array:
        return self._roots.inverse(stable).astype(stable.dtype)

    def deviation(self, stable: Array, std: Array) -> Array:
        return (self._roots.slope(stable) * std).astype(stable.dtype)


class MultipliedNoise(AdditiveNoise):
    """Noise that multiplies the signal and has the mean 1, whatever its distribution: logarithms.

    The mean of a logarithm is not the logarithm of the mean. By how much depends on the
    distribution of the noise; the estimate gets the factor with which its mean is that of y, for
    each signal.
    """

    def __init__(self, y: Array, layout: Layout) -> None:
        super().__init__(y, layout)
        if np.any(y <= 0):
            raise ValueError(
                "noise_model='multiplicative' needs samples above zero; set others to NaN, or "
                "use noise_model='poisson' for counts."
            )
        self._y = y

    def forward(self, y: Array) -> Array:
        return np.log(y)

    def inverse(self, stable: Array) -> Array:
        found = []
        for y, log in zip(self.layout.split(self._y), self.layout.split(stable), strict=True):
            seen = ~np.isnan(y)
            top = float(log.max())  # so that nothing overflows
            share = np.exp(log.astype(np.float64) - top)
            scale = float(y[seen].mean(dtype=np.float64)) / float(share[seen].mean())
            found.append((scale * share).astype(stable.dtype))
        return self.layout.join(found)

    def deviation(self, stable: Array, std: Array) -> Array:
        # Of the exponential of a Gaussian, whose mean the estimate is.
        return self.inverse(stable) * np.sqrt(np.expm1(np.square(std)))


_MODELS: dict[str, type[AdditiveNoise]] = dict(
    zip(NOISE_MODELS, (AdditiveNoise, CountNoise, MultipliedNoise), strict=True)
)


def make_model(name: str, y: Array, layout: Layout) -> AdditiveNoise:
    """The noise model of that name."""
    return _MODELS[name](y, layout)


def as_channel_noise(noise: Any, n_channels: int | None = None) -> KnownNoise:
    """What `noise` of `denoise` says, or a clear error; `n_channels` if there are channels."""
    if isinstance(noise, str) and noise == "per_level":
        return KnownNoise(None, by_level=True)
    if isinstance(noise, (list, tuple, np.ndarray)) and np.ndim(noise) == 1:
        variances = np.array([as_number(one) or np.nan for one in noise])
        if variances.size == n_channels and np.all((variances > 0) & (variances < np.inf)):
            return KnownNoise(variances, by_level=False)
        expected = f"one for each of the {n_channels} channels"
        if n_channels is None:
            expected = "several only with channel_axis="
        raise ValueError(f"noise must be positive variances, {expected}, got {noise!r}.")
    try:
        variance = as_noise(noise)
    except ValueError:
        raise ValueError(
            f"noise must be 'estimate', 'per_level' or a positive variance, got {noise!r}"
            f"{hint('noise', noise, ('estimate', 'per_level'))}."
        ) from None
    return KnownNoise(None if variance is None else np.array([variance]), by_level=False)
