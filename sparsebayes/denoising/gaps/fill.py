"""Missing samples from those around them, and the expected squares of the errors.

Of a few ways to smooth a signal through a gap that one is taken which does best where the samples
are known: stretches of the same length are hidden, most of them near the gap. Their errors are
those to expect in the gap; the truth there is the estimate that has seen all samples, with its own
error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from sparsebayes.denoising.gaps.begin import Begun
from sparsebayes.denoising.gaps.smoothers import (
    Smoother,
    laplacian_smoothers,
    smoothers,
)
from sparsebayes.denoising.gaps.stretches import (
    Gap,
    beside_inner,
    beside_last,
    gaps_of,
    hidden,
    windows,
)

Array = np.ndarray

_NEAR, _PLUS = 2.0, 8  # distance at which a stretch counts half: so many times its length plus this
_FAR = 0.05  # weight of those far away, for the choice
_FEW = 4.0  # errors like the mean that are added: of stretches that overlap one in four tells
_EXACT = 8  # lengths up to this have stretches of their own; others of the next in steps of 5/4
_TINY = 1e-10  # of the variance of the samples
# Of arrays with several dimensions:
_MARGIN = 24  # samples around what is missing
_COPIES, _HIDDEN = 8, 0.15  # of the gaps, and the share of samples that are hidden
_AROUND = 6.0  # how far errors reach by which one is judged
_PRIOR = 0.02  # share of hidden samples around one, whose errors would be as foretold


class Filled(NamedTuple):
    """Values at missing samples, in order, and the expected squares of their errors."""

    values: Array
    variance: Array


class Around(NamedTuple):
    """A signal with one axis around its gaps: samples, which are seen, and an estimate."""

    y: Array
    seen: Array
    noise: float
    estimate: Array
    variance: Array

    def part(self, start: int, stop: int) -> Around:
        some = slice(start, stop)
        return Around(
            self.y[some], self.seen[some], self.noise, self.estimate[some], self.variance[some]
        )

    def backwards(self) -> Around:
        back = slice(None, None, -1)
        return Around(
            self.y[back], self.seen[back], self.noise, self.estimate[back], self.variance[back]
        )


class Trial(NamedTuple):
    """Hidden stretches of one length: where they begin, and squared errors of each smoother.

    `errors` has the axes smoother, stretch, distance from the nearest sample.
    """

    starts: Array
    errors: Array


def fill(begun: Begun, estimate: Array, variance: Array) -> Filled:
    """What was missing.

    Parameters
    ----------
    begun : Begun
        The signal with a first guess.
    estimate, variance : ndarray
        Of the whole signal, made with that guess.
    """
    spread = float(np.var(begun.values[begun.seen]))
    noise = max(begun.noise, _TINY * spread, np.finfo(np.float64).tiny)
    y, estimate = begun.values.astype(np.float64), estimate.astype(np.float64)
    if sum(n > 1 for n in y.shape) > 1:
        return _fill_array(y, begun.seen, noise, estimate, variance)
    whole = Around(y.ravel(), begun.seen.ravel(), noise, estimate.ravel(), variance.ravel())
    values, errors = np.zeros(y.size), np.zeros(y.size)
    for start, stop in windows(whole.seen):
        part = _fill_signal(whole.part(start, stop))
        values[start:stop], errors[start:stop] = part
    return Filled(values[~whole.seen], errors[~whole.seen])


def _fill_signal(around: Around) -> Filled:
    """For one axis; what was not missing is not to be used."""
    n = around.seen.size
    values, errors = np.zeros(n), np.full(n, _most(around))
    tried = smoothers(around.estimate, around.variance)
    fills = [one.smooth(around.y, around.seen, around.noise) for one in tried]
    trials: dict[tuple[int, str], Trial] = {}
    for gap in gaps_of(around.seen):
        side = "first" if gap.start == 0 else "last" if gap.stop == n else "inner"
        kind = (_rounded(gap.length), side)
        if kind not in trials:
            trials[kind] = _hide(around, tried, *kind)
        trial, inside = trials[kind], slice(gap.start, gap.stop)
        if trial.starts.size == 0:  # no room: nothing is known but the size of the signal
            values[inside] = fills[0][inside]
            continue
        best, expected = _judge(trial, gap, bold=side == "inner")
        values[inside] = fills[best][inside]
        if side == "first":  # filters look back: towards the samples
            other = around.backwards()
            values[inside] = tried[best].smooth(other.y, other.seen, other.noise)[::-1][inside]
        steps = np.arange(gap.length)
        far = {"first": steps[::-1], "last": steps, "inner": np.minimum(steps, steps[::-1])}[side]
        errors[inside] = _beyond(expected, far)
    return Filled(values, errors)


def _hide(around: Around, tried: list[Smoother], length: int, side: str) -> Trial:
    """Hide stretches of a length; if there is no room for them, of half of it."""
    if side == "first":
        trial = _hide(around.backwards(), tried, length, "last")
        return Trial(around.seen.size - trial.starts - length, trial.errors)
    space = beside_inner if side == "inner" else beside_last
    rounds = hidden(around.seen, length, space(length))
    while not rounds and length > 1:
        length //= 2
        rounds = hidden(around.seen, length, space(length))
    if not rounds:
        return Trial(np.zeros(0, dtype=np.intp), np.zeros((len(tried), 0, 1)))
    found = []
    for one in tried:
        errors = []
        for starts in rounds:
            places = starts[:, None] + np.arange(length)
            seen = around.seen.copy()
            seen[places] = False
            cuts = None if side == "inner" else starts + length
            smoothed = one.smooth(around.y, seen, around.noise, cuts)[places]
            errors.append((around.estimate[places] - smoothed) ** 2 + around.variance[places])
        found.append(np.concatenate(errors))
    squares = np.array(found)
    if side == "inner":
        squares = 0.5 * (squares + squares[:, :, ::-1])[:, :, : -(-length // 2)]
    return Trial(np.concatenate(rounds), squares)


def _judge(trial: Trial, gap: Gap, *, bold: bool) -> tuple[int, Array]:
    """The best smoother for a gap, and the squared errors to expect, by distance.

    If bold, one that is mostly good may fail now and then.
    """
    reach = _NEAR * (gap.length + _PLUS)
    weights = 1.0 / (1.0 + ((trial.starts - gap.start) / reach) ** 2)
    means = trial.errors.mean(axis=2)
    tiny = _TINY * float(means.mean()) + np.finfo(np.float64).tiny
    scores = np.log(means + tiny) if bold else means
    best = int(np.argmin(scores @ (weights + _FAR)))
    errors = trial.errors[best]
    near = weights @ errors / weights.sum()
    number = weights.sum() ** 2 / np.sum(weights**2)
    return best, np.maximum(near, errors.mean(axis=0)) * (1.0 + _FEW / number)


def _beyond(expected: Array, far: Array) -> Array:
    """Errors at these distances; beyond those that were tried they grow as in a random walk."""
    last = expected.size - 1
    return expected[np.minimum(far, last)] * np.maximum((far + 1.0) / (last + 1.0), 1.0)


def _most(around: Around) -> float:
    return float(np.var(around.y[around.seen]) + around.noise)


def _rounded(length: int) -> int:
    """A length that few different ones share."""
    if length <= _EXACT:
        return length
    return round(_EXACT * 1.25 ** int(np.ceil(np.log(length / _EXACT) / np.log(1.25) - 1e-9)))


def _fill_array(y: Array, seen: Array, noise: float, estimate: Array, variance: Array) -> Filled:
    """For several axes: one smoother for all that is missing."""
    box = tuple(
        slice(max(int(one.min()) - _MARGIN, 0), int(one.max()) + _MARGIN + 1)
        for one in np.nonzero(~seen)
    )
    values, errors = np.zeros(y.shape), np.zeros(y.shape)
    values[box], errors[box] = _fill_box(y[box], seen[box], noise, estimate[box], variance[box])
    return Filled(values[~seen], errors[~seen])


def _fill_box(y: Array, seen: Array, noise: float, estimate: Array, variance: Array) -> Filled:
    mean = float(y[seen].mean()) if seen.any() else 0.0
    covered = _covered(seen)
    some = seen & ~covered
    best, least, squares = None, np.inf, np.zeros(y.shape)
    for one in laplacian_smoothers(estimate, variance):
        errors = (one.smooth(y - mean, some, noise) + mean - estimate) ** 2 + variance
        total = float(np.log(errors[covered]).mean()) if covered.any() else 0.0
        if total < least:
            best, least, squares = one, total, errors
    assert best is not None
    values = best.smooth(y - mean, seen, noise) + mean
    if not covered.any():
        return Filled(values, np.full(y.shape, float(np.var(y)) + noise))
    distance = np.rint(distance_transform_edt(~some)).astype(np.intp)
    of_distance = _by_distance(distance[covered], squares[covered])
    foretold = _beyond(of_distance[1:], np.maximum(distance, 1) - 1)
    found = gaussian_filter(np.where(covered, squares, 0.0), _AROUND, mode="nearest")
    usual = gaussian_filter(np.where(covered, foretold, 0.0), _AROUND, mode="nearest")
    prior = _PRIOR * float(foretold[covered].mean())
    actual = np.maximum(np.rint(distance_transform_edt(~seen)).astype(np.intp), 1)
    return Filled(values, _beyond(of_distance[1:], actual - 1) * (found + prior) / (usual + prior))


def _covered(seen: Array) -> Array:
    """Samples to hide: copies of the gaps elsewhere."""
    rng = np.random.default_rng(0)
    covered = np.zeros(seen.shape, dtype=bool)
    axes = tuple(range(seen.ndim))
    for _ in range(_COPIES):
        moved = np.roll(~seen, [int(rng.integers(n)) for n in seen.shape], axes) & seen
        if covered.any() and np.count_nonzero(covered | moved) > _HIDDEN * np.count_nonzero(seen):
            break
        covered |= moved
    return covered


def _by_distance(distance: Array, squares: Array) -> Array:
    """Mean squares by distance, never falling; of distances without any, those before them."""
    sums = np.bincount(distance, squares)
    counts = np.bincount(distance)
    means = np.divide(sums, counts, out=np.zeros(sums.size), where=counts > 0)
    return np.maximum.accumulate(means)
