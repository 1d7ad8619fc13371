"""Where samples are: several signals in one array, missing samples, unequal spacing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.dictionaries import Dictionary
from sparsebayes.dictionaries.wavelets import regular_length

Array = np.ndarray

_EVEN = 1e-3  # of a step, by which even positions may differ: they were written with few digits
_FINEST = 8  # points of a grid for each sample, at most: a fit costs as many times more
_SURPLUS = 1e-6  # of a step: what rounding adds to a whole number of steps


@dataclass(frozen=True)
class Layout:
    """Which axes of an array make a signal; the others count signals.

    Attributes
    ----------
    shape : tuple of int
        Of the array.
    axes : tuple of int
        Those of a signal, not negative, rising.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def signal_shape(self) -> tuple[int, ...]:
        return tuple(self.shape[axis] for axis in self.axes)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(n for axis, n in enumerate(self.shape) if axis not in self.axes)

    @property
    def several(self) -> bool:
        return len(self.axes) < len(self.shape)

    def split(self, y: Array) -> Array:
        """The signals one after another, (B, *signal_shape)."""
        moved = np.moveaxis(y, self.axes, range(-len(self.axes), 0))
        return np.ascontiguousarray(moved.reshape(-1, *self.signal_shape))

    def join(self, values: Sequence[Array]) -> Array:
        """Arrays for each signal in the place of the signals, or before them if shapes differ."""
        shape = values[0].shape
        stacked = values[0]
        if self.several:
            stacked = np.stack(values).reshape(*self.batch_shape, *shape)
        if shape != self.signal_shape:
            return stacked
        return np.moveaxis(stacked, range(-len(self.axes), 0), self.axes)

    def scalars(self, values: Sequence[Any]) -> Any:
        """A number, or an array with one for each signal."""
        return np.array(values).reshape(self.batch_shape) if self.several else values[0]


def lay_out(shape: tuple[int, ...], axes: Any) -> Layout:
    """The layout for `axes`, an int, several, or None for all."""
    n_dim = len(shape)
    if axes is None:
        axes = tuple(range(n_dim))
    listed = np.ravel(axes).tolist()
    whole = all(type(axis) is int for axis in listed)  # True is none
    if not whole or any(not -n_dim <= axis < n_dim for axis in listed):
        raise ValueError(f"axes must be axes of y, which has {n_dim} dimensions, got {axes!r}.")
    chosen = tuple(int(axis) % n_dim for axis in listed)
    if len(set(chosen)) < len(chosen) or not 1 <= len(chosen) <= 3:
        raise ValueError(f"axes must be one to three different axes of y, got {axes!r}.")
    return Layout(shape, tuple(sorted(chosen)))  # their order has no meaning


@dataclass(frozen=True)
class Grid:
    """A regular grid under the samples of a signal.

    Attributes
    ----------
    shape : tuple of int
    points : tuple of ndarray or None
        The positions of the grid's points along each axis; None for their numbers.
    where : ndarray of int or None
        For each sample its point on the flattened grid; None if they are the same.
    """

    shape: tuple[int, ...]
    points: tuple[Array, ...] | None = None
    where: Array | None = None

    def at_samples(self, values: Array) -> Array:
        """What an array on the grid has at the samples."""
        return values if self.where is None else values.reshape(-1)[self.where]

    def rows(self, seen: Array) -> Array:
        """The points of the samples in a mask."""
        numbers = np.arange(seen.size).reshape(seen.shape) if self.where is None else self.where
        return numbers[seen]


def lay_grid(
    shape: tuple[int, ...], t: Array | None, dictionary: Dictionary, *, gaps: bool
) -> Grid:
    """The grid for signals of this shape, whose samples are at t; some may be missing."""
    if t is not None and not _is_even(t):
        return _uneven_grid(t, dictionary)
    padded = shape
    if gaps and dictionary.needs_regular_grid:
        padded = tuple(regular_length(n) for n in shape)
    where = None
    if padded != shape:
        numbers = np.arange(np.prod(padded)).reshape(padded)
        where = numbers[tuple(slice(0, n) for n in shape)]
    points = None
    if t is not None:
        step = (t[-1] - t[0]) / max(t.size - 1, 1)
        points = (t[0] + step * np.arange(padded[0]),)
    return Grid(padded, points, where)


def _is_even(t: Array) -> bool:
    """Whether positions rise by equal steps, but for the digits they were written with."""
    even = np.linspace(t[0], t[-1], t.size)
    step = (t[-1] - t[0]) / max(t.size - 1, 1)
    return t.size == 1 or bool(step > 0 and np.abs(t - even).max() < _EVEN * step)


def _uneven_grid(t: Array, dictionary: Dictionary) -> Grid:
    """A grid under samples at t, as fine as their smallest distance, but not too fine."""
    if dictionary.centred_on_samples:
        return Grid(t.shape, (t,), None)
    ordered = np.unique(t)
    if ordered.size == 1:
        return Grid((1,), (ordered,), np.zeros(t.size, dtype=np.intp))
    span = float(ordered[-1] - ordered[0])
    step = max(float(np.diff(ordered).min()), span / (_FINEST * t.size))
    count = int(np.ceil(span / step - _SURPLUS)) + 1
    step = span / (count - 1)
    if dictionary.needs_regular_grid:
        count = regular_length(count)
    where = np.rint((t - ordered[0]) / step).astype(np.intp)
    return Grid((count,), (ordered[0] + step * np.arange(count),), where)
