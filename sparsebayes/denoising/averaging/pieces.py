"""Long signals, piece by piece: where the pieces are, what is learned of all and done to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sparsebayes.denoising.averaging.averages import Average, Lesson
from sparsebayes.denoising.averaging.choose_dictionary import choose_dictionaries
from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.shrinkage_rules import Counts, Rules, energies, rules_of
from sparsebayes.denoising.averaging.views import Views, usual_shifts
from sparsebayes.denoising.noise_level import white_noise
from sparsebayes.dictionaries import Dictionary
from sparsebayes.dictionaries.dictionary import InPieces

Array = np.ndarray

_KEPT = 1 << 18  # samples of a piece that are kept, about: its arrays stay in the cache
# Stretches that are spread over the signal, from which the noise and the weights of neighbours are
# learned, and those from which the dictionary is chosen: how many, and their samples.
_SAMPLE = (16, 1 << 14)
_TRIED = (4, 1 << 15)


class Piece(NamedTuple):
    """Samples from `start` to `stop`, of whose estimate that from `first` to `last` is kept."""

    start: int
    stop: int
    first: int
    last: int


def cut(size: int, unit: int, reach: int) -> list[Piece]:
    """Pieces that keep every sample once, and have those within reach on either side."""
    kept = unit * -(-_KEPT // unit)
    reach = unit * -(-reach // unit)
    firsts = list(range(0, size, kept))
    if len(firsts) > 1 and size - firsts[-1] < kept // 2:  # too short for all scales
        firsts.pop()
    lasts = [*firsts[1:], size]
    return [
        Piece(max(first - reach, 0), min(last + reach, size), first, last)
        for first, last in zip(firsts, lasts, strict=True)
    ]


class LongSignal:
    """A signal in memory or in a file, read piece by piece as floats without its mean."""

    def __init__(self, y: Array, mean: float) -> None:
        self.y, self.mean, self.size = y, mean, y.size
        self.dtype = np.dtype(np.float32 if y.dtype == np.float32 else np.float64)

    def read(self, start: int, stop: int) -> Array:
        """The samples from `start` to `stop`."""
        return self.y[start:stop].astype(self.dtype) - self.dtype.type(self.mean)

    def spread_out(self, count: int, length: int) -> list[Array]:
        """So many stretches of this length, from the beginning to the end."""
        starts = np.linspace(0, max(self.size - length, 0), count).astype(int)
        return [self.read(int(start), int(start) + length) for start in starts]


@dataclass(frozen=True)
class LearnedOfAll:
    """What was learned from a long signal.

    Attributes
    ----------
    cutting : InPieces
    n_shifts : int
    noise : float
        The noise variance.
    rules : Rules or None
        None if there is no noise.
    """

    cutting: InPieces
    n_shifts: int
    noise: float
    rules: Rules | None

    @property
    def n_bases(self) -> int:
        """How many bases estimates are averaged over."""
        return self.n_shifts * self.cutting.dictionary.n_bases

    @cached_property
    def _bound(self) -> dict[int, tuple[Views, Neighbourhoods]]:
        return {}

    def of_length(self, length: int) -> Lesson:
        """For pieces of this length; nearly all have the same."""
        if length not in self._bound:
            views = piece_views(self.cutting, length, self.n_shifts)
            self._bound[length] = views, Neighbourhoods(views.transform)
        assert self.rules is not None
        return Lesson(*self._bound[length], self.rules)

    def estimates(
        self, samples: LongSignal, *, band: bool
    ) -> Iterator[tuple[Piece, Array, Array, float]]:
        """Each piece; of what is kept of it the estimate and its variance; coefficients kept."""
        for piece in cut(samples.size, self.cutting.unit, self.cutting.reach):
            target = samples.read(piece.start, piece.stop)
            middle = slice(piece.first - piece.start, piece.last - piece.start)
            if self.rules is None:
                yield piece, target[middle], np.zeros(piece.last - piece.first), target.size
                continue
            lesson, average = self.of_length(target.size), Average(target, band=band)
            average.add(lesson, lesson.views.analyse(target))
            variance = average.variance[middle] if band else np.zeros(0)
            share = (piece.last - piece.first) / target.size
            yield piece, average.signal[middle], variance, share * average.kept


def piece_views(cutting: InPieces, length: int, n_shifts: int) -> Views:
    """Views of a piece, with margins up to a length that all scales divide."""
    unit = cutting.unit
    (margined,) = cutting.dictionary.padded_shape((length,))
    return Views(cutting.dictionary, (length,), n_shifts, (unit * -(-margined // unit),))


def learn(
    samples: LongSignal, dictionary: Dictionary | None, noise: float | None, n_shifts: int | None
) -> LearnedOfAll:
    """What is the same for all pieces.

    The prior of each band is learned from all coefficients in one basis, so that what is rare is
    not overlooked; the noise and the weights of neighbours from stretches spread over the signal.

    Parameters
    ----------
    samples : LongSignal
    dictionary : Dictionary or None
        One that can be used in pieces; None chooses one.
    noise : float or None
        The noise variance; None estimates it.
    n_shifts : int or None
        None takes as many as there is time for.
    """
    some = np.concatenate(samples.spread_out(*_SAMPLE))
    variance = white_noise(some) if noise is None else noise
    if dictionary is None:
        count, length = _TRIED
        tried = samples.spread_out(count, length)
        (dictionary,) = choose_dictionaries(
            tried, [variance or None] * len(tried), most=count * length
        )
    cutting = dictionary.in_pieces()
    if cutting is None:
        raise ValueError(f"{dictionary} has functions over the whole signal; it cannot be cut.")
    n_bases = dictionary.n_bases
    if n_shifts is None:
        n_shifts = usual_shifts((samples.size,), n_bases)
    if not variance > 0:
        return LearnedOfAll(cutting, n_shifts, 0.0, None)
    first = cut(samples.size, cutting.unit, cutting.reach)[0]
    length = first.stop - first.start
    views = piece_views(cutting, length, 1)
    around = Neighbourhoods(views.transform)
    noises = [variance] * len(around.bands)
    counts = Counts(around, -(-samples.size // length))
    for start in range(0, samples.size, length):
        start = min(start, samples.size - length)
        target = samples.read(start, start + length)
        counts.add(energies(around, each, noises) for each in views.analyse(target))
    spread_views = piece_views(cutting, some.size, 1)
    spread_around = Neighbourhoods(spread_views.transform)
    looked_at = [energies(spread_around, each, noises) for each in spread_views.analyse(some)]
    rules = rules_of(counts, spread_around, looked_at, noises, n_bases)
    return LearnedOfAll(cutting, n_shifts, variance, rules)
