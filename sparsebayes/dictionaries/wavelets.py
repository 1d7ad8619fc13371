"""The periodised orthonormal wavelet transform of arrays of any shape.

Coefficients have the shape of the signal. Along an axis the coarse approximation comes first,
then the details from coarse to fine. PyWavelets' own transform needs even lengths to be
orthonormal; here a length that is odd sets its last sample aside as a coefficient (along other
axes it is transformed on), so that there are as many coefficients as samples at any length.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pywt

from sparsebayes.dictionaries.filters import filters
from sparsebayes.dictionaries.transforms import Band, Transform

Array = np.ndarray

# Samples of a margin at each end of a signal, and the whole number of which its length becomes. Of
# 16, 32 and 64 samples this made the smallest errors for signals and images.
_MARGIN, _UNIT = 16, 32
_SHORTEST = 8  # a shorter axis is not split: there are no scales left to tell apart
_MODE = "periodization"
_CHUNK = 1 << 19  # numbers of a window matrix at a time, 4 MB: it stays in the cache
_WIDE = 64  # columns of a matrix product; narrower ones are slow for each number
_SMALL = 2048  # up to so many samples the squares of all functions are held, 32 MB


class WaveletTransform(Transform):
    """The wavelet transform over all axes of a signal.

    Parameters
    ----------
    names : str or tuple of str
        An orthogonal wavelet of PyWavelets or a tree of `filters`; one, or one for each axis.
    shape : tuple of int
        Shape of a signal.
    level : int or None
        The largest number of splits; None splits until fewer than eight samples are left.
    """

    orthonormal = True

    def __init__(
        self, names: str | tuple[str, ...], shape: tuple[int, ...], level: int | None
    ) -> None:
        self.shape = shape
        self.coefficient_shape = shape
        self._names = (names,) * len(shape) if isinstance(names, str) else names
        self._level = 64 if level is None else level

    def analyse(self, signal: Array) -> Array:
        out = np.empty_like(signal)
        self._forward(signal, out, 0)
        return out

    def synthesise(self, coefficients: Array) -> Array:
        return self._inverse(coefficients, 0)

    def _long(self, shape: tuple[int, ...], depth: int) -> list[int]:
        """The axes to split, counted from the end."""
        if depth >= self._level:
            return []
        first = len(shape) - len(self.shape)
        return [k - len(shape) for k in range(first, len(shape)) if shape[k] >= _SHORTEST]

    def _forward(self, block: Array, out: Array, depth: int) -> None:
        axes = self._long(block.shape, depth)
        if not axes:
            out[...] = block
            return
        for axis in axes:
            if block.shape[axis] % 2:
                even, last = _even(axis, block.shape[axis])
                self._forward(block[last], out[last], depth)
                block, out = block[even], out[even]
        self._split(block, out, axes, depth)

    def _split(self, block: Array, out: Array, axes: list[int], depth: int) -> None:
        """Split along the first of `axes` and go on with the halves; all lengths are even."""
        axis, rest = axes[0], axes[1:]
        halves = pywt.dwt(block, filters(self._names[axis], depth), _MODE, axis=axis)
        low, high = _halves(axis, block.shape[axis])
        if rest:
            self._split(halves[0], out[low], rest, depth)
            self._divide(halves[1], out[high], rest, depth)
        else:
            out[high] = halves[1]
            self._forward(halves[0], out[low], depth + 1)

    def _divide(self, block: Array, out: Array, axes: list[int], depth: int) -> None:
        """Split details along the other axes, once each."""
        for axis in axes:
            halves = pywt.dwt(block, filters(self._names[axis], depth), _MODE, axis=axis)
            block = np.concatenate(halves, axis=axis)
        out[...] = block

    def _inverse(self, block: Array, depth: int) -> Array:
        axes = self._long(block.shape, depth)
        if not axes:
            return block
        aside = []
        for axis in axes:
            if block.shape[axis] % 2:
                even, last = _even(axis, block.shape[axis])
                aside.append((axis, self._inverse(block[last], depth)))
                block = block[even]
        block = self._join(block, axes, depth)
        for axis, last_one in reversed(aside):
            block = np.concatenate([block, last_one], axis=axis)
        return block

    def _join(self, block: Array, axes: list[int], depth: int) -> Array:
        axis, rest = axes[0], axes[1:]
        low, high = _halves(axis, block.shape[axis])
        if rest:
            halves = self._join(block[low], rest, depth), self._unite(block[high], rest, depth)
        else:
            halves = self._inverse(block[low], depth + 1), block[high]
        return pywt.idwt(*halves, filters(self._names[axis], depth), _MODE, axis=axis)

    def _unite(self, block: Array, axes: list[int], depth: int) -> Array:
        for axis in reversed(axes):
            low, high = _halves(axis, block.shape[axis])
            wavelet = filters(self._names[axis], depth)
            block = pywt.idwt(block[low], block[high], wavelet, _MODE, axis=axis)
        return block

    def shifts(self, count: int) -> list[tuple[int, ...]]:
        return unit_shifts(count, self.shape)

    def bands(self) -> list[Band]:
        """All bands, coarse to fine; samples set aside count among the band before them."""
        bands: list[Band] = []
        shape, depth = self.shape, 0
        split = [0] * len(shape)
        while axes := self._long(shape, depth):
            axes = [axis + len(shape) for axis in axes]
            half = tuple(n // 2 if k in axes else n for k, n in enumerate(shape))
            split = [j + (k in axes) for k, j in enumerate(split)]
            for high in product(*[(False, True)[: 1 + (k in axes)] for k in range(len(shape))]):
                if any(high):
                    index = tuple(
                        slice(h, n) if up else slice(0, h if k in axes else n)
                        for k, (up, h, n) in enumerate(zip(high, half, shape, strict=True))
                    )
                    bands.append(Band(index, tuple(zip(split, high, strict=True))))
            shape, depth = half, depth + 1
        coarse = tuple(slice(0, n) for n in shape)
        bands.append(Band(coarse, tuple((j, False) for j in split)))
        return bands[::-1]

    @property
    def regular(self) -> bool:
        """Whether no sample is ever set aside: then the functions of a band are translates."""
        coarse = self.bands()[0].kinds
        return all(n % (1 << depth) == 0 for n, (depth, _) in zip(self.shape, coarse, strict=True))

    def spread(self, variances: Array) -> Array:
        """``Σ_i v_i φ_i(n)²``: the variances of the samples, of independent coefficients.

        Exact if the transform is `regular` or small, else except for functions across the ends.
        """
        if not self.regular and variances.size <= _SMALL:
            return self._squares() @ variances.ravel().astype(float)
        total = np.zeros(self.shape)
        for band in self.bands():
            part = variances[band.index]
            for axis, (depth, detail) in enumerate(band.kinds):
                taps = _squared_taps(self._names[axis], depth, detail, part.shape[axis])
                part = expand(part, axis, *taps, self.shape[axis])
            total += part
        return total

    def gather(self, weights: Array) -> Array:
        """``Σ_n b_n φ_i(n)²``, the adjoint of `spread`.

        It is exact where `spread` is, and where all weights are the same.
        """
        if np.ptp(weights) == 0.0:
            return np.array(weights, dtype=np.float64)
        if not self.regular and weights.size <= _SMALL:
            return np.tensordot(weights, self._squares(), len(self.shape)).reshape(self.shape)
        out = np.empty(self.shape)
        for band in self.bands():
            part = weights
            for axis, (depth, detail) in enumerate(band.kinds):
                length = band.index[axis].stop - band.index[axis].start
                taps = _squared_taps(self._names[axis], depth, detail, length)
                part = collect(part, axis, *taps, length)
            out[band.index] = part
        return out

    def places(self) -> Array:
        out = np.empty(self.shape)
        for band in self.bands():
            count = band.index[0].stop - band.index[0].start
            along = (np.arange(count) + 0.5) / count
            out[band.index] = along.reshape(-1, *[1] * (len(self.shape) - 1))
        return out.ravel()

    def _squares(self) -> Array:
        """The squares of all functions, (*shape, M)."""
        size = int(np.prod(self.shape))
        functions = self.synthesise(np.eye(size).reshape(size, *self.shape))
        return np.moveaxis(functions**2, 0, -1)


def regular_length(length: int) -> int:
    """The next length that is halved without a remainder until it is short.

    On it no sample is set aside, and the wavelets of a scale are translates of each other.
    """
    if length < _SHORTEST:
        return length
    unit = 1
    while length > unit * (_SHORTEST - 1):
        unit *= 2
    return unit * -(-length // unit)


def shape_with_margins(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with margins along each axis; an axis of one sample has none."""
    return tuple(n if n == 1 else _UNIT * -(-(n + 2 * _MARGIN) // _UNIT) for n in shape)


def unit_shifts(count: int, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Shifts by few samples: first one of each parity, diagonal ones before others, then larger."""
    axes = [axis for axis, length in enumerate(shape) if length > 1]
    found = []
    for number in range(count if axes else 1):
        bits = [0] * max(1, len(axes))
        for place in range(number.bit_length()):
            bits[place % len(bits)] |= ((number >> place) & 1) << (place // len(bits))
        shift = [0] * len(shape)
        for k, axis in enumerate(axes):
            shift[axis] = bits[0] ^ bits[k] if k else bits[0]
        found.append(tuple(shift))
    return found


def _at(axis: int, part: slice) -> Any:
    """An index of one axis, counted from the end."""
    return (Ellipsis, part, *[slice(None)] * (-axis - 1))


def _even(axis: int, length: int) -> tuple[Any, Any]:
    """All but the last sample, and the last."""
    return _at(axis, slice(0, length - 1)), _at(axis, slice(length - 1, length))


def _halves(axis: int, length: int) -> tuple[Any, Any]:
    return _at(axis, slice(0, length // 2)), _at(axis, slice(length // 2, length))


def _fit(values: Array, axis: int, length: int) -> Array:
    """Cut to a length, or repeat the last value up to it."""
    if values.shape[axis] == length:
        return values
    return np.take(values, np.arange(length), axis=axis, mode="clip")


@lru_cache(maxsize=256)
def _squared_taps(name: str, depth: int, detail: bool, length: int) -> tuple[int, Array]:
    """The `taps` of a band's function, squared."""
    return taps(blocks(name, depth, detail, length) ** 2, length)


def blocks(name: str, depth: int, detail: bool, length: int) -> Array:
    """A band's function in blocks of ``2^depth`` samples, on a circle of `length` blocks.

    The circle is shorter if it is still longer than twice the function.
    """
    longest = max(filters(name, level).dec_len for level in range(max(depth, 1)))
    circle = min(length, 2 * longest + 2)  # longer than the function, if it can be
    function = np.zeros(circle)
    function[0] = 1.0
    for level in reversed(range(depth)):
        halves = (None, function) if detail and level == depth - 1 else (function, None)
        function = pywt.idwt(*halves, filters(name, level), _MODE)
    return function.reshape(circle, -1)


def taps(blocks: Array, length: int) -> tuple[int, Array]:
    """Where the first block that is not zero is, and all from it on, in reverse.

    Functions of a band are translates by one block, `length` of them on a circle.
    """
    circle = len(blocks)
    if circle == length:
        return 0, blocks[::-1].copy()
    half = circle // 2
    blocks = np.roll(blocks, half, axis=0)  # block k is now at k + half
    some = np.flatnonzero(blocks.any(axis=1))
    first, last = int(some[0]), int(some[-1])
    return first - half, blocks[first : last + 1][::-1].copy()


def expand(values: Array, axis: int, first: int, taps: Array, length: int) -> Array:
    """Give each value along `axis` its blocks; they overlap, wrap around and fill `length`."""
    return _fit(_expand(values, axis, first, taps), axis, length)


def collect(values: Array, axis: int, first: int, taps: Array, length: int) -> Array:
    """The adjoint of `expand`, for `length` functions."""
    return _collect(_fit(values, axis, length * taps.shape[1]), axis, first, taps)


def _expand(values: Array, axis: int, first: int, taps: Array) -> Array:
    """Give each value along `axis` its blocks; they overlap and wrap around."""
    count, width = taps.shape
    if taps.size == 1:
        return values * float(taps[0, 0])
    moved = np.moveaxis(values, axis, -1)
    length = moved.shape[-1]
    # A few values at a time make one row of a matrix product, so that it is not too narrow.
    together = max(1, _WIDE // width)
    rows = -(-length // together)
    band = np.zeros((together + count - 1, together, width))
    for k in range(together):
        band[k : k + count, k] = taps
    band = band.reshape(-1, together * width)
    around = np.arange(1 - first - count, rows * together - first)
    around = np.take(moved, around, axis=-1, mode="wrap")
    windows = np.lib.stride_tricks.sliding_window_view(around, len(band), axis=-1)
    windows = windows[..., ::together, :]
    out = np.empty((*moved.shape[:-1], rows, together * width))
    step = max(1, _CHUNK * rows // max(1, windows.size))
    for start in range(0, rows, step):
        part = np.ascontiguousarray(windows[..., start : start + step, :], dtype=np.float64)
        np.matmul(part, band, out=out[..., start : start + step, :])
    out = out.reshape(*moved.shape[:-1], -1)[..., : length * width]
    return np.moveaxis(out, -1, axis)


def _collect(values: Array, axis: int, first: int, taps: Array) -> Array:
    """The adjoint of `_expand`."""
    count, width = taps.shape
    if taps.size == 1:
        return values * float(taps[0, 0])
    moved = np.moveaxis(values, axis, -1)
    blocks = np.ascontiguousarray(moved).reshape(*moved.shape[:-1], -1, width)
    products = blocks @ taps.T
    total = np.zeros(products.shape[:-1])
    for tap in range(count):
        total += np.roll(products[..., tap], -(first + count - 1 - tap), axis=-1)
    return np.moveaxis(total, -1, axis)
