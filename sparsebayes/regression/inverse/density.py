"""The density of an input given readings, as straight lines between points that are placed for it.

Bayes: ``p(x | y) ∝ p(x) p(y | x)``. Between two nodes of the curve its mean is a straight line, so
where a reading is nearest to it is known in closed form, however narrow the peak is there. Points
are placed around that place, close together near it and ever further apart away from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sparsebayes.regression.inverse.curve import Nodes
from sparsebayes.regression.inverse.likelihood import Readings

Array = np.ndarray

_DEEP = 40.0  # below the maximum of the log density: what is less is left out
_NEAR, _GROWTH = 0.08, 0.04  # steps between points: in standard deviations, and of the distance
_NUMBERS = 1 << 21  # held at a time
_HALVINGS = 42  # of the logarithm of a level


@dataclass(frozen=True, eq=False)
class Lines:
    """Densities of several readings, one after the other.

    Attributes
    ----------
    reading : ndarray of int, (P,)
        Whose point it is; ascending.
    place : ndarray, (P,)
        Ascending for each reading, from 0 to 1.
    density : ndarray, (P,)
        Divided by its largest value.
    total : ndarray, (n,)
        Its integral, of each reading.
    distance : ndarray, (n,)
        The smallest squared distance of the reading from the curve, in standard deviations.
    """

    reading: Array
    place: Array
    density: Array
    total: Array
    distance: Array

    def __len__(self) -> int:
        return len(self.total)

    @property
    def starts(self) -> Array:
        """Where the points of each reading begin, and the end, (n + 1,)."""
        return np.searchsorted(self.reading, np.arange(len(self) + 1))

    def moments(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the place, (n,)."""
        owner, a, b, p, q = self._segments()
        mean = np.bincount(owner, first_moment(a, b, p, q), len(self)) / self.total
        a, b = a - mean[owner], b - mean[owner]
        ends = p * (3 * a * a + 2 * a * b + b * b) + q * (a * a + 2 * a * b + 3 * b * b)
        square = (b - a) / 12.0 * ends
        variance = np.bincount(owner, square, len(self)) / self.total
        return mean, np.sqrt(variance)

    def levels(self, coverage: float) -> Array:
        """The largest density above which is at least a part `coverage` of the mass, (n,)."""
        owner, a, b, p, q = self._segments()
        width, low, high = b - a, np.minimum(p, q), np.maximum(p, q)
        under, over = np.full(len(self), -80.0), np.zeros(len(self))
        settled = np.zeros(len(self))  # mass of lines that are above all levels in question
        for _ in range(_HALVINGS):
            middle = 0.5 * (under + over)
            level = np.exp(middle)[owner]
            above = np.where(low >= level, 0.5 * (low + high) * width, 0.0)
            cut = (low < level) & (high > level)
            part = 0.5 * (high**2 - level**2) * width / np.where(cut, high - low, 1.0)
            mass = settled + np.bincount(owner, np.where(cut, part, above), len(self))
            enough = mass >= coverage * self.total
            under, over = np.where(enough, middle, under), np.where(enough, over, middle)
            top = low >= np.exp(over)[owner]
            settled += np.bincount(owner[top], above[top], len(self))
            left = ~top & (high > np.exp(under)[owner])
            owner, width, low, high = owner[left], width[left], low[left], high[left]
        return np.exp(under)

    def _segments(self) -> tuple[Array, Array, Array, Array, Array]:
        """Owner, ends and densities at the ends of all straight lines."""
        same = self.reading[1:] == self.reading[:-1]
        place, density = self.place, self.density
        parts = (self.reading[1:], place[:-1], place[1:], density[:-1], density[1:])
        return tuple(part[same] for part in parts)


def first_moment(a: Array, b: Array, p: Array, q: Array) -> Array:
    """The integral of x times a straight line from p at a to q at b."""
    return (b - a) / 6.0 * (a * (2 * p + q) + b * (p + 2 * q))


def densities(
    nodes: Nodes, readings: Readings, log_prior: Callable[[Array], Array]
) -> Iterator[Lines]:
    """The densities of all readings, some at a time."""
    step = max(1, _NUMBERS // (8 * len(nodes) * nodes.mean.shape[1]))
    for i in range(0, len(readings), step):
        yield _some(nodes, readings.rows(slice(i, i + step)), log_prior)


def _some(nodes: Nodes, readings: Readings, log_prior: Callable[[Array], Array]) -> Lines:
    owner, cell, place, base = _cells(nodes, readings)
    # Points of a cell: its ends, and those around the nearest place that are between them.
    before = np.floor(np.arcsinh(place / base) / _GROWTH).astype(np.intp)
    after = np.floor(np.arcsinh((1.0 - place) / base) / _GROWTH).astype(np.intp)
    counts = before + after + 3
    ends = np.cumsum(counts)
    index = np.repeat(np.arange(len(cell)), counts)
    step = np.arange(ends[-1]) - (ends - counts + before + 1)[index]
    t = np.clip(place[index] + base[index] * np.sinh(_GROWTH * step), 0.0, 1.0)
    t[ends - counts], t[ends - 1] = 0.0, 1.0
    reading, left = owner[index], cell[index]

    def between(values: Array) -> Array:
        share = t if values.ndim == 1 else t[:, None]
        return (1.0 - share) * values[left] + share * values[left + 1]

    points = between(nodes.place)
    curve = between(nodes.mean), between(nodes.variance), between(nodes.noise)
    log_density = readings.log_likelihood(reading, *curve) + log_prior(points)
    starts = np.searchsorted(reading, np.arange(len(readings)))
    highest = np.maximum.reduceat(log_density, starts)
    density = np.exp(log_density - highest[reading])
    far = np.where(np.isfinite(log_density), readings.distances(reading, *curve), np.inf)
    distance = np.minimum.reduceat(far, starts)
    same = reading[1:] == reading[:-1]
    mass = 0.5 * np.diff(points) * (density[1:] + density[:-1])
    total = np.bincount(reading[1:][same], mass[same], len(readings))
    return Lines(reading, points, density, total, distance)


def _cells(nodes: Nodes, readings: Readings) -> tuple[Array, Array, Array, Array]:
    """The cells that matter: whose, which, where in it the reading is nearest, and the first step.

    The last two are parts of the cell.
    """
    count = readings.count[:, None, None]
    chord = np.diff(nodes.mean, axis=0)
    off = readings.value[:, None, :] - nodes.mean[:-1]  # (n, cells, K)
    total = nodes.variance + nodes.noise / count
    left, right = total[:, :-1], total[:, 1:]
    middle, most, least = 0.5 * (left + right), np.maximum(left, right), np.minimum(left, right)
    steep = (chord**2 / middle).sum(axis=2)
    along = (off * chord / middle).sum(axis=2)
    place = np.clip(np.divide(along, steep, out=np.full_like(along, 0.5), where=steep > 0), 0, 1)
    gap = (off - place[:, :, None] * chord) ** 2
    if readings.nu is None:
        prior = np.stack([nodes.log_prior[:-1], nodes.log_prior[1:]])
        # Lower and upper bounds of what a cell comes to.
        sure = -0.5 * (gap / middle + np.log(middle)).sum(axis=2) + prior.min(axis=0)
        hope = -0.5 * (gap / most + np.log(least)).sum(axis=2) + prior.max(axis=0)
        if readings.each is not None:  # their spread, the same for all where the noise is
            spread = _spread(nodes, readings)
            sure, hope = sure + spread.min(axis=0), hope + spread.max(axis=0)
        owner, cell = np.nonzero(hope >= sure.max(axis=1, keepdims=True) - _DEEP)
    else:  # tails that reach everywhere
        owner, cell = np.nonzero(np.ones(place.shape, dtype=bool))
    far = (gap / middle).sum(axis=2)[owner, cell]
    narrow = (np.sqrt(far + 2.0 * _DEEP) - np.sqrt(far)) / np.sqrt(2.0 * _DEEP)
    unit = 1.0 / np.sqrt(np.maximum(steep[owner, cell], 1e-12))
    return owner, cell, place[owner, cell], np.maximum(_NEAR / _GROWTH * unit * narrow, 1e-12)


def _spread(nodes: Nodes, readings: Readings) -> Array:
    """What the spread of replicates adds to the log likelihood, at the ends of cells, (2, n, C)."""
    noise = np.where(nodes.noise > 0, nodes.noise, 1.0)
    freedom = (readings.count - 1.0)[:, None, None]
    found = -0.5 * (freedom * np.log(noise) + readings.squares[:, None, :] / noise)
    each = np.where(nodes.noise > 0, found, 0.0).sum(axis=2)
    return np.stack([each[:, :-1], each[:, 1:]])
