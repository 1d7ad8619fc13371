"""The dual-tree complex wavelet transform in one to three dimensions, as a tight frame.

Along each axis there are two orthonormal wavelet bases, a and b, whose wavelets are nearly Hilbert
transforms of each other, so that ``a ± ib`` has hardly any energy at negative frequencies. In d
dimensions the products of both along all axes are ``2^d`` bases; they are mixed to the real and
imaginary parts of the complex wavelets

    ``∏_k (a_k + i s_k b_k)``,    s_1 = 1,  s_k = ±1,

each of which looks into one direction [1]_ [2]_. The magnitude of a complex coefficient hardly
changes when a signal is moved. The mixing is unitary: with all functions Φ, ``ΦΦᵀ = 2^d I``.

References
----------
.. [1] N. Kingsbury, "Complex wavelets for shift invariant analysis and filtering of signals",
   Applied and Computational Harmonic Analysis 10, 2001.
.. [2] I. Selesnick, R. Baraniuk, N. Kingsbury, "The dual-tree complex wavelet transform", IEEE
   Signal Processing Magazine 22(6), 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np

from sparsebayes.dictionaries.filters import TREES
from sparsebayes.dictionaries.transforms import Band, Transform
from sparsebayes.dictionaries.wavelets import (
    WaveletTransform,
    blocks,
    collect,
    expand,
    taps,
    unit_shifts,
)

Array = np.ndarray

_SMALL = 1 << 22  # up to so many squares of functions are held, 32 MB


class DualTreeTransform(Transform):
    """The complex wavelets of a signal.

    Coefficients have two more axes than the signal: the ``2^(d-1)`` directions, and the real and
    the imaginary part. The others are as those of `WaveletTransform`.

    All functions have unit norm. In two dimensions that takes another phase: both parts are
    rotated by an eighth of a turn. Else, wherever a and b of both axes are not orthogonal (on the
    finest scale and the coarsest), one part would be longer than the other.

    Parameters
    ----------
    shape : tuple of int
        Shape of a signal.
    level : int or None
        The largest number of splits; None splits until fewer than eight samples are left.
    """

    orthonormal = False
    complex_axis = 1

    def __init__(self, shape: tuple[int, ...], level: int | None) -> None:
        n_axes = len(shape)
        self.shape = shape
        self.coefficient_shape = (1 << (n_axes - 1), 2, *shape)
        self._bases = [
            WaveletTransform(names, shape, level) for names in product(TREES, repeat=n_axes)
        ]
        self._signs = list(product((1, -1), repeat=n_axes - 1))  # of the axes after the first
        self._mixing = _mixing(n_axes)

    @property
    def n_bases(self) -> int:
        return len(self._bases)

    @property
    def regular(self) -> bool:
        """Whether no sample is ever set aside: then the functions of a band are translates."""
        return self._bases[0].regular

    def analyse(self, signal: Array) -> Array:
        batch = signal.shape[: signal.ndim - len(self.shape)]
        trees = np.stack([basis.analyse(signal) for basis in self._bases], axis=len(batch))
        mixing = self._mixing.astype(trees.dtype)
        return (mixing @ trees.reshape(*batch, self.n_bases, -1)).reshape(
            *batch, *self.coefficient_shape
        )

    def synthesise(self, coefficients: Array) -> Array:
        batch = coefficients.shape[: coefficients.ndim - len(self.coefficient_shape)]
        mixing = self._mixing.T.astype(coefficients.dtype)
        trees = mixing @ coefficients.reshape(*batch, self.n_bases, -1)
        trees = np.moveaxis(trees.reshape(*batch, self.n_bases, *self.shape), len(batch), 0)
        total = self._bases[0].synthesise(trees[0])
        for basis, own in zip(self._bases[1:], trees[1:], strict=True):
            total = total + basis.synthesise(own)
        return total

    def shifts(self, count: int) -> list[tuple[int, ...]]:
        return unit_shifts(count, self.shape)

    def bands(self) -> list[Band]:
        """One for each scale, subband and direction, with both parts."""
        return [
            Band((slice(k, k + 1), slice(0, 2), *band.index), band.kinds)
            for band in self._bases[0].bands()
            for k in range(self.coefficient_shape[0])
        ]

    def places(self) -> Array:
        along = self._bases[0].places().reshape(self.shape)
        return np.broadcast_to(along, self.coefficient_shape).ravel()

    def spread(self, variances: Array) -> Array:
        """``Σ_i v_i φ_i(n)²``, quicker if the two parts of each complex coefficient have one v.

        Exact if the transform is `regular` or small, else except for functions across the ends.
        """
        if self._held:
            return self._squares() @ np.ravel(variances).astype(float)
        # With z the complex wavelet, its parts squared are (|z|² ± Re z²)/2.
        values = np.asarray(variances, dtype=np.float64)
        total = self._expand(values.sum(axis=(0, 1)), ("sum",) * len(self.shape))
        apart = values[:, 0] - values[:, 1]
        if apart.any():
            for kinds, weights in self._square_terms():
                total += self._expand(np.tensordot(weights, apart, 1), kinds)
        return total / self.n_bases

    def gather(self, weights: Array) -> Array:
        """``Σ_n b_n φ_i(n)²``, the adjoint of `spread`."""
        if np.ptp(weights) == 0.0:
            return np.full(self.coefficient_shape, weights.flat[0], dtype=np.float64)
        if self._held:
            found = np.tensordot(weights, self._squares(), len(self.shape))
            return found.reshape(self.coefficient_shape)
        values = np.asarray(weights, dtype=np.float64)
        out = np.empty(self.coefficient_shape)
        out[...] = self._collect(values, ("sum",) * len(self.shape))
        for kinds, of_directions in self._square_terms():
            apart = np.multiply.outer(of_directions, self._collect(values, kinds))
            out[:, 0] += apart
            out[:, 1] -= apart
        return out / self.n_bases

    def _square_terms(self) -> Iterator[tuple[tuple[str, ...], Array]]:
        """``Re z²`` as a sum of products over axes, each with a factor for every direction.

        Along an axis the square of ``a + isb`` is ``(a² − b²) + 2isab``.
        """
        turn = _turn(len(self.shape)) ** 2
        for kinds in product(("difference", "product"), repeat=len(self.shape)):
            crossed = [kind == "product" for kind in kinds]
            factors = []
            for signs in self._signs:
                factor = turn
                for sign, cross in zip((1, *signs), crossed, strict=True):
                    factor *= 1j * sign if cross else 1.0
                factors.append(round(factor.real))
            if any(factors):
                yield kinds, np.array(factors, dtype=np.float64)

    def _expand(self, values: Array, kinds: tuple[str, ...]) -> Array:
        total = np.zeros(self.shape)
        for band in self._bases[0].bands():
            part = values[band.index]
            for axis, (depth, detail) in enumerate(band.kinds):
                found = _taps(kinds[axis], depth, detail, part.shape[axis])
                part = expand(part, axis, *found, self.shape[axis])
            total += part
        return total

    def _collect(self, values: Array, kinds: tuple[str, ...]) -> Array:
        out = np.empty(self.shape)
        for band in self._bases[0].bands():
            part = values
            for axis, (depth, detail) in enumerate(band.kinds):
                length = band.index[axis].stop - band.index[axis].start
                part = collect(part, axis, *_taps(kinds[axis], depth, detail, length), length)
            out[band.index] = part
        return out

    @property
    def _held(self) -> bool:
        """Whether the squares of all functions are held: functions of a band are no translates."""
        size = int(np.prod(self.shape))
        return not self.regular and self.n_bases * size**2 <= _SMALL

    def _squares(self) -> Array:
        """The squares of all functions, (*shape, M)."""
        size = int(np.prod(self.coefficient_shape))
        functions = self.synthesise(np.eye(size).reshape(size, *self.coefficient_shape))
        return np.moveaxis(functions**2, 0, -1)


def _turn(n_axes: int) -> complex:
    """The phase of all complex wavelets, with which both parts have the same norm.

    The norms of the parts of z differ by ``Re Σ z²``, and ``Σ (a + isb)²`` along an axis is 2isΣab.
    """
    return np.sqrt(1j) if n_axes % 2 == 0 else 1.0 + 0.0j


def _mixing(n_axes: int) -> Array:
    """From the coefficients of the products of trees to the parts of the complex ones; unitary."""
    rows = []
    for signs in product((1, -1), repeat=n_axes - 1):
        row = np.array([_turn(n_axes)])
        for sign in (1, *signs):
            row = np.multiply.outer(row, [1.0, 1j * sign]).ravel()
        rows += [row.real, row.imag]
    return np.array(rows) / np.sqrt(2.0 ** (n_axes - 1))


@lru_cache(maxsize=512)
def _taps(kind: str, depth: int, detail: bool, length: int) -> tuple[int, Array]:
    """The taps of a² + b² ("sum"), a² − b² ("difference") or 2ab ("product") of a band."""
    a, b = (blocks(name, depth, detail, length) for name in TREES)
    if kind == "product":
        return taps(2.0 * a * b, length)
    return taps(a**2 + b**2 if kind == "sum" else a**2 - b**2, length)
