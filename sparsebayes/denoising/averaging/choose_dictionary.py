"""Which dictionary suits a signal: the one under which it is most likely.

All have the same noise, so that their evidence can be compared: that of the distributions of
precisions of all bands, for each coefficient. Images and volumes have two dictionaries at once: one
that sees directions, and one for edges along the axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.noise_by_level import noise_by_level
from sparsebayes.denoising.averaging.shrinkage_rules import learn_rules
from sparsebayes.denoising.averaging.views import Views
from sparsebayes.denoising.noise_level import white_noise
from sparsebayes.dictionaries import MDCT, Dictionary, DualTree, Wavelet

Array = np.ndarray

USUAL = Wavelet("sym8")
# The first is taken where nothing can be told. From steps to what is smooth everywhere.
_OF_SIGNALS: tuple[Dictionary, ...] = (USUAL, Wavelet("haar"), Wavelet("db2"), Wavelet("sym16"))
_OF_SOUND: tuple[Dictionary, ...] = (MDCT(256), MDCT(1024), MDCT(4096))
_OF_IMAGES: tuple[Dictionary, ...] = (DualTree(), Wavelet("haar"))  # both
_BETTER = 8.0  # nats by which another has to be: with fewer, short smooth signals come out worse
_SOUND = 8  # frames in a signal, from which on cosines in frames are tried
_MOST = 1 << 16  # samples that are looked at
_SHORT, _SHIFTS = 1 << 13, 4  # samples up to which all shifts are, and how many of longer signals


def choose_dictionaries(
    signals: Sequence[Array],
    noises: Sequence[float | None],
    by_level: bool = False,
    most: int = _MOST,
) -> tuple[Dictionary, ...]:
    """The dictionaries to average over, for whole signals of one shape without their means.

    Parameters
    ----------
    signals : sequence of ndarray
    noises : sequence of (float or None)
        The noise variance of each; None estimates it.
    by_level : bool
        Whether the noise differs between scales.
    most : int
        Samples of all signals together that are looked at, about.
    """
    shape = signals[0].shape
    if sum(n > 1 for n in shape) > 1:
        return _OF_IMAGES
    candidates = _candidates(shape)
    totals = np.full(len(candidates), -_BETTER)
    totals[0] = 0.0
    some = zip(signals[: max(1, most // signals[0].size)], noises, strict=False)
    for signal, noise in some:
        part = _middle(signal)
        white = white_noise(part) if noise is None else noise
        variance = None if by_level else white
        if white > 0 and np.any(part):
            shapes = [one.padded_shape(part.shape) for one in candidates]
            padded = tuple(max(lengths) for lengths in zip(*shapes, strict=True))
            totals += [_evidence(one, part, variance, padded) for one in candidates]
    return (candidates[int(np.argmax(totals))],)


def _candidates(shape: tuple[int, ...]) -> list[Dictionary]:
    sound = [one for one in _OF_SOUND if isinstance(one, MDCT) and _SOUND * one.frame <= max(shape)]
    return [*_OF_SIGNALS, *(sound if len(shape) == 1 else ())]


def _middle(signal: Array) -> Array:
    """A part of a large signal."""
    axes, most = signal.ndim, _MOST
    wanted = [min(n, max(1, int(most ** (1.0 / axes)))) for n in signal.shape]
    starts = [(n - m) // 2 for n, m in zip(signal.shape, wanted, strict=True)]
    return signal[tuple(slice(a, a + m) for a, m in zip(starts, wanted, strict=True))]


def _evidence(
    dictionary: Dictionary, signal: Array, noise: float | None, padded: tuple[int, ...]
) -> float:
    """With margins of one size for all, whose noise is smaller than that of the signal.

    The noise is estimated for each scale if it is None.
    """
    n_shifts = None if signal.size <= _SHORT else _SHIFTS
    views = Views(dictionary, signal.shape, n_shifts, padded)
    around = Neighbourhoods(views.transform)
    coefficients = list(views.analyse(signal))
    noises = noise_by_level(around, coefficients) if noise is None else [noise] * len(around.bands)
    rules = learn_rules(around, coefficients, noises, views.n_bases, weights=False)
    return rules.log_evidence * signal.size
