"""Events in a signal: how they are detected by the envelope of a band, and compared with marks."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.optimize import linear_sum_assignment
from scipy.signal import hilbert

Array = np.ndarray

AVERAGED, JOINED, SHORTEST = 0.2, 0.3, 0.3  # seconds
OVERLAP = 0.2  # of the union of a detection and a mark


def envelope(signal: Array, fs: float) -> Array:
    """How strong a band is, over time."""
    return uniform_filter1d(np.abs(hilbert(signal, axis=-1)), round(AVERAGED * fs), axis=-1)


def runs(mask: Array) -> Array:
    """Start and end of each run of True, (runs, 2)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])


def detect(strength: Array, threshold: float, fs: float) -> Array:
    """Start and end of what is above a threshold, close ones joined and short ones dropped."""
    found = runs(strength > threshold)
    if len(found):
        apart = found[1:, 0] - found[:-1, 1] >= JOINED * fs
        found = np.column_stack([found[np.r_[True, apart], 0], found[np.r_[apart, True], 1]])
    return found[found[:, 1] - found[:, 0] >= SHORTEST * fs]


def hits(found: Array, marks: Array) -> int:
    """How many detections can be paired with a mark that they overlap enough."""
    start = np.maximum(found[:, None, 0], marks[None, :, 0])
    end = np.minimum(found[:, None, 1], marks[None, :, 1])
    shared = np.maximum(end - start, 0)
    lengths = np.diff(found, axis=1) + np.diff(marks, axis=1).T
    good = shared >= OVERLAP * (lengths - shared)
    return int(good[linear_sum_assignment(~good)].sum())


def count(found: Array, marked: Array) -> Array:
    """By sample and by event: right, detected and marked, (2, 3)."""
    inside = np.zeros(marked.size, dtype=bool)
    for start, end in found:
        inside[start:end] = True
    marks = runs(marked)
    return np.array(
        [
            [(inside & marked).sum(), inside.sum(), marked.sum()],
            [hits(found, marks), len(found), len(marks)],
        ]
    )


def scores(counts: Array) -> Array:
    """Precision, recall and F1 of counts as of `count`, on the last axis."""
    right, detected, marked = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    return np.stack(
        [
            right / np.maximum(detected, 1),
            right / np.maximum(marked, 1),
            2 * right / np.maximum(detected + marked, 1),
        ],
        axis=-1,
    )
