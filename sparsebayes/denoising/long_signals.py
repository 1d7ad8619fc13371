"""Signals that are too long for one fit: in pieces, in constant memory, from and to files."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._support.files import temporary_array
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import check_range
from sparsebayes.denoising.averaging.pieces import LearnedOfAll, LongSignal, cut, learn
from sparsebayes.denoising.denoised import Denoised
from sparsebayes.denoising.grid import Grid
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.observed.observation import Observation
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Dictionary, Transform

Array = np.ndarray

LONGEST = 1 << 22  # samples of a signal that is fitted as a whole
_CHUNK = 1 << 20  # samples that are checked at a time


def is_long(y: Any, dictionary: Dictionary | None) -> bool:
    """Whether y is an array of one dimension that is denoised in pieces, if it can be."""
    cuttable = dictionary is None or dictionary.in_pieces() is not None
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.size > LONGEST and cuttable


def check_place(name: str, place: Any, shape: tuple[int, ...]) -> None:
    """Raise unless results can be written into `place`, or it is None."""
    if place is None:
        return
    if not isinstance(place, np.ndarray) or place.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} must be an array of float32 or float64, got {place!r:.60}.")
    if place.shape != shape:
        raise ValueError(f"{name} must have the shape of y, {shape}, got {place.shape}.")
    if not place.flags.writeable:
        raise ValueError(f"{name} cannot be written; open it with mode 'r+' or 'w+'.")


class PiecewiseFit(SignalFit):
    """The averaged fit of a long signal, with the same rules for all of its pieces.

    The estimate is written, and not held besides. `coefficients` and `projections` are made, for
    the whole signal and in memory, if they are asked for.

    Parameters
    ----------
    samples : LongSignal
    learned : LearnedOfAll
    out, std_out : ndarray or None
        Where the estimate with its mean goes, and its standard deviation, if it is wanted now.
    reporter : Reporter
    """

    def __init__(
        self,
        samples: LongSignal,
        learned: LearnedOfAll,
        out: Array,
        std_out: Array | None,
        reporter: Reporter,
    ) -> None:
        self._samples, self._learned, self._out, self._reporter = samples, learned, out, reporter
        self.n_seen, self.noise_variance = samples.size, learned.noise
        self.maxima = []
        self.converged, self.stop_reason = True, METHODS["average"]
        self.n_bases, self.dictionaries = learned.n_bases, (learned.cutting.dictionary,)
        rules = learned.rules
        self.log_evidence = np.inf if rules is None else rules.log_evidence * samples.size
        self.n_active = self._write(out, std_out)

    def _write(self, out: Array | None, std_out: Array | None) -> int:
        """Write what is wanted, piece by piece; how many coefficients were kept."""
        samples, total = self._samples, 0.0
        count = len(cut(samples.size, self._learned.cutting.unit, self._learned.cutting.reach))
        self._reporter.total = count
        found = self._learned.estimates(samples, band=std_out is not None)
        for step, (piece, estimate, variance, kept) in enumerate(found, 1):
            place = slice(piece.first, piece.last)
            if out is not None:
                out[place] = estimate + samples.mean
            if std_out is not None:
                of_mean = self.noise_variance / samples.size
                std_out[place] = np.sqrt(np.maximum(variance, 0.0) + of_mean)
            total += kept
            if self._reporter.due(step):
                self._reporter.tell(f"piece {step} of {count}, {piece.last} samples")
        return round(total)

    def deviation(self) -> Array:
        """The standard deviation of the estimate, with that of the mean."""
        place = place_like(self._samples.y, self._samples.dtype)
        self._write(None, place)
        return place

    def signal(self) -> Array:
        return np.asarray(self._out) - self._out.dtype.type(self._samples.mean)

    def variance(self) -> Array:
        return np.square(self.deviation()) - self.noise_variance / self.n_seen

    @cached_property
    def transform(self) -> Transform:  # type: ignore[override]
        return self._learned.cutting.dictionary.bind((self.n_seen,))

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        return self.transform.analyse(self.signal()) / self.transform.n_bases

    @cached_property
    def projections(self) -> Array:  # type: ignore[override]
        values = self._samples.read(0, self.n_seen)
        return self.transform.analyse(values) / self.transform.n_bases


class LongDenoised(Denoised):
    """What `denoise` found in a long signal; results may be in files."""

    fits: list[PiecewiseFit]  # type: ignore[assignment]

    def __init__(
        self, fit: PiecewiseFit, samples: LongSignal, learned: LearnedOfAll, out: Array
    ) -> None:
        observed = Observation(samples.y, None, None, "estimate", "gaussian")
        self._out = out
        super().__init__(
            [fit],
            [samples.mean],
            observed,
            Grid(observed.layout.signal_shape),
            learned.cutting.dictionary,
            "average",
            learned.n_shifts,
            samples.dtype,
        )

    def _estimate(self) -> Array:
        return self._out

    @cached_property
    def std(self) -> Array:
        return self.fits[0].deviation()


def denoise_long(
    y: Array,
    dictionary: Dictionary | None,
    noise: float | None,
    n_shifts: int | None,
    out: Array | None,
    std_out: Array | None,
    verbose: int,
) -> Denoised | None:
    """Denoise a long signal; None if it has gaps and is in memory, and needs another fit."""
    mean, gaps = _checked(y)
    if gaps and not (isinstance(y, np.memmap) or out is not None or std_out is not None):
        return None
    if gaps:
        raise ValueError(
            f"y has missing samples (NaN), which are not filled in signals of more than {LONGEST} "
            "samples; fill them, or denoise what lies between them."
        )
    samples = LongSignal(y, mean)
    place = place_like(y, samples.dtype) if out is None else out
    learned = learn(samples, dictionary, noise, n_shifts)
    fit = PiecewiseFit(samples, learned, place, std_out, Reporter("denoise", verbose))
    found = LongDenoised(fit, samples, learned, place)
    if std_out is not None:
        found.__dict__["std"] = std_out
    return found


def place_like(y: Array, dtype: np.dtype) -> Array:
    """An empty array for a result: in a temporary file if y is in a file, else in memory."""
    return (temporary_array if isinstance(y, np.memmap) else np.empty)(y.shape, dtype)


def _checked(y: Array) -> tuple[float, bool]:
    """The mean, and whether there are gaps; or a clear error."""
    if y.dtype == bool or y.dtype.kind not in "iuf":
        raise ValueError(f"y must hold real numbers, got an array of type {y.dtype}.")
    total, largest = 0.0, 0.0
    for start in range(0, y.size, _CHUNK):
        part = y[start : start + _CHUNK]
        total += float(part.sum(dtype=np.float64))
        if not np.isfinite(total):
            if np.isinf(part).any():
                raise ValueError("y contains infinity; repair these samples, or set them to NaN.")
            return np.nan, True
        largest = max(largest, float(np.abs(part.astype(np.float64)).max()))
    check_range(np.array([largest]))
    return total / y.size, False
