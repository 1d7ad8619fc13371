"""The modified discrete cosine transform of a signal of any length: cosines in frames that overlap.

Samples are mirrored at the borders between frames and rotated with their mirror images, by the
angles of a sine window; then each frame has a cosine transform (DCT-IV). Where all frames have the
same, even length these are the functions of [1]_, reversed in time; with frames of other lengths
they are the local cosines of [2]_. Nothing is mirrored at the ends of the signal.

References
----------
.. [1] J. Princen, A. Johnson, A. Bradley, "Subband/transform coding using filter bank designs based
   on time domain aliasing cancellation", ICASSP 1987.
.. [2] R. Coifman, Y. Meyer, "Remarques sur l'analyse de Fourier à fenêtre", Comptes rendus de
   l'Académie des sciences 312, 1991.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.fft

from sparsebayes.dictionaries.transforms import Band, Transform

Array = np.ndarray


class MDCTTransform(Transform):
    """Cosines in overlapping frames of a signal with one axis.

    The signal is cut into as many frames as fit best. If the number of samples is a multiple of
    that, coefficients have the shape (frequencies, frames), as a spectrogram has. If not, the
    first frames are longer than the others by one sample. They have one more frequency, the
    highest: coefficients are then flat, and what the frames have in common comes first, in the
    same order.

    Parameters
    ----------
    shape : tuple of int
        Shape of a signal: its length.
    frame : int
        Samples of a frame, about: the nearest length that makes frames equal, but for one sample.

    Attributes
    ----------
    n_frames : int
    n_frequencies : int
        Those that all frames have.
    """

    orthonormal = True

    def __init__(self, shape: tuple[int, ...], frame: int) -> None:
        length = shape[0]
        self.shape = shape
        self.n_frames = max(1, round(length / frame))
        self.n_frequencies, self._n_longer = divmod(length, self.n_frames)
        grid = (self.n_frequencies, self.n_frames)
        self.coefficient_shape = shape if self._n_longer else grid
        lengths = np.full(self.n_frames, self.n_frequencies)
        lengths[: self._n_longer] += 1
        border = np.cumsum(lengths)[:-1, None]
        away = np.arange(self.n_frequencies // 2)
        self._before, self._after = border - 1 - away, border + away
        angle = 0.25 * np.pi * (1.0 + (away + 0.5) / max(away.size, 1))
        self._own, self._other = np.sin(angle), np.cos(angle)

    @property
    def regular(self) -> bool:
        """Whether all frames have the same length."""
        return self._n_longer == 0

    def grid(self, coefficients: Array) -> Array:
        """Those of all frequencies that all frames have, (..., frequencies, frames): a view."""
        batch = coefficients.shape[: coefficients.ndim - len(self.coefficient_shape)]
        flat = coefficients.reshape(*batch, -1)
        common = flat[..., : self.n_frequencies * self.n_frames]
        return common.reshape(*batch, self.n_frequencies, self.n_frames)

    def analyse(self, signal: Array) -> Array:
        folded = self._fold(signal, 1.0)
        return self._joined([_cosines(part) for part in self._frames(folded)])

    def synthesise(self, coefficients: Array) -> Array:
        return self._fold(self._flat([_cosines(part) for part in self._parted(coefficients)]), -1.0)

    def spread(self, variances: Array) -> Array:
        values = np.asarray(variances, dtype=np.float64)
        return self._fold_squares(self._flat([_spread(part) for part in self._parted(values)]))

    def gather(self, weights: Array) -> Array:
        folded = self._fold_squares(np.asarray(weights, dtype=np.float64))
        return self._joined([_gather(part) for part in self._frames(folded)])

    def shifts(self, count: int) -> list[tuple[int, ...]]:
        step = max(1, self.n_frequencies // count)
        return [(number * step,) for number in range(count)]

    def bands(self) -> list[Band]:
        """Octaves, over all frames."""
        edges = [0, 1]
        while edges[-1] < self.n_frequencies:
            edges.append(min(2 * edges[-1], self.n_frequencies))
        if self.regular:
            whole = slice(0, self.n_frames)
            return [Band((slice(low, high), whole)) for low, high in pairwise(edges)]
        edges = [self.n_frames * edge for edge in edges]
        edges[-1] = self.shape[0]
        return [Band((slice(low, high),)) for low, high in pairwise(edges)]

    def places(self) -> Array | None:
        """The middle of each frame; None if there is but one."""
        if self.n_frames == 1:
            return None
        along = (np.arange(self.n_frames) + 0.5) / self.n_frames
        return np.concatenate([np.tile(along, self.n_frequencies), along[: self._n_longer]])

    def _fold(self, values: Array, sign: float) -> Array:
        """Rotate samples on both sides of each border: even to its right, odd to its left."""
        own, other = (part.astype(values.dtype) for part in (self._own, sign * self._other))
        before, after = values[..., self._before], values[..., self._after]
        out = values.copy()
        out[..., self._before] = own * before - other * after
        out[..., self._after] = own * after + other * before
        return out

    def _fold_squares(self, values: Array) -> Array:
        """The same with the squares of the rotations, for both directions."""
        own, other = self._own**2, self._other**2
        before, after = values[..., self._before], values[..., self._after]
        out = values.copy()
        out[..., self._before] = own * before + other * after
        out[..., self._after] = own * after + other * before
        return out

    def _frames(self, values: Array) -> list[Array]:
        """The longer frames and the others, each (..., frames, samples)."""
        cut = self._n_longer * (self.n_frequencies + 1)
        parts = values[..., :cut], values[..., cut:]
        batch = values.shape[:-1]
        lengths = self.n_frequencies + 1, self.n_frequencies
        counts = self._n_longer, self.n_frames - self._n_longer
        return [
            part.reshape(*batch, count, length)
            for part, count, length in zip(parts, counts, lengths, strict=True)
        ]

    def _flat(self, frames: list[Array]) -> Array:
        """The inverse of `_frames`."""
        return np.concatenate([part.reshape(*part.shape[:-2], -1) for part in frames], axis=-1)

    def _joined(self, frames: list[Array]) -> Array:
        """Coefficients from those of the longer frames and of the others."""
        longer, others = frames
        batch = others.shape[:-2]
        common = np.concatenate([longer[..., : self.n_frequencies], others], axis=-2)
        common = np.swapaxes(common, -1, -2).reshape(*batch, -1)
        highest = longer[..., self.n_frequencies]
        return np.concatenate([common, highest], axis=-1).reshape(*batch, *self.coefficient_shape)

    def _parted(self, coefficients: Array) -> list[Array]:
        """The inverse of `_joined`."""
        common = np.swapaxes(self.grid(coefficients), -1, -2)
        batch = common.shape[:-2]
        flat = coefficients.reshape(*batch, -1)
        highest = flat[..., flat.shape[-1] - self._n_longer :, None]
        longer = np.concatenate([common[..., : self._n_longer, :], highest], axis=-1)
        return [longer, common[..., self._n_longer :, :]]


def _cosines(frames: Array) -> Array:
    """The DCT-IV, which is its own inverse."""
    return scipy.fft.dct(frames, type=4, norm="ortho", axis=-1) if frames.size else frames


def _spread(variances: Array) -> Array:
    """``Σ_m v_m g_m(n)²`` for the cosines g of a frame.

    ``cos² x = ½ + ½ cos 2x``; the doubled cosines of m and of the one as far from the end differ
    in their sign only.
    """
    if not variances.size:
        return variances
    length = variances.shape[-1]
    half = length // 2
    series = np.zeros_like(variances)
    series[..., 1 : 2 * half : 2] = (variances - variances[..., ::-1])[..., :half]
    total = variances.sum(axis=-1, keepdims=True)
    return (total + 0.5 * scipy.fft.dct(series, type=3, axis=-1)) / length


def _gather(weights: Array) -> Array:
    """``Σ_n b_n g_m(n)²``, the adjoint of `_spread`."""
    if not weights.size:
        return weights
    length = weights.shape[-1]
    half = length // 2
    cosines = 0.5 * scipy.fft.dct(weights, type=2, axis=-1)[..., 1 : 2 * half : 2]
    doubled = np.zeros_like(weights)
    doubled[..., :half] = cosines
    doubled[..., length - half :] = -cosines[..., ::-1]
    return (weights.sum(axis=-1, keepdims=True) + doubled) / length
