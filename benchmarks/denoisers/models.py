"""The calls of ours that are compared, in one table, and what is read from their results."""

from __future__ import annotations

import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pywt
from threadpoolctl import threadpool_limits

from benchmarks.classifiers.fits import made, planned, short
from benchmarks.denoisers.cases import Noisy
from benchmarks.noise_and_targets.draws import by_name
from benchmarks.peers import denoisers
from benchmarks.peers.denoisers import OURS, WAVELET, Method
from sparsebayes import denoise

Array = np.ndarray
Record = dict[str, Any]
Scores = dict[str, dict[str, dict[str, float]]]  # by case, model and measure

ASH, SPARSE, CHANNELS, BM3D = "ash", "sparse", "ash, each channel", "BM3D"
OPTIONS: dict[str, dict[str, Any]] = {
    OURS: {},
    ASH: {"dictionary": WAVELET, "method": "ash"},
    SPARSE: {"dictionary": WAVELET, "method": "sparse"},
}
COLOUR_OPTIONS: dict[str, dict[str, Any]] = {
    OURS: {"channel_axis": -1},
    CHANNELS: {"dictionary": WAVELET, "method": "ash", "axes": (0, 1)},
}
MAPPED_OPTIONS: dict[str, Any] = {}  # of a signal in a memory-mapped file


def _signal(y: Array, options: Mapping[str, Any]) -> Array:
    return denoise(y, **options).signal


def ours(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Method]:
    """The calls of a table, as functions of the noisy array."""
    return {name: partial(_signal, options=options) for name, options in table.items()}


def for_signals() -> dict[str, Method]:
    """All that signals and recordings are given to."""
    return ours(OPTIONS) | denoisers.peers()


def for_images() -> dict[str, Method]:
    """All that grey images are given to, but BM3D."""
    return ours(OPTIONS) | denoisers.of_images()


def for_colours() -> dict[str, Method]:
    """All that images with channels are given to."""
    return ours(COLOUR_OPTIONS) | denoisers.of_colours()


def slow() -> dict[str, Method]:
    """BM3D, if its package is there."""
    if find_spec("bm3d") is None:
        text = "left out: BM3D. Its package, for non-commercial use, is missing: pip install bm3d"
        print(text, file=sys.stderr, flush=True)
        return {}
    return {BM3D: denoisers.block_matching}


def n_shifts(found: Any) -> int:
    """How many shifts of the signal a result is the mean of."""
    return int(getattr(found, "n_shifts", 1))


def wavelet(found: Any) -> str:
    """The wavelet of a result, if PyWavelets has one of that name; else the usual one."""
    label = getattr(found.dictionary, "label", WAVELET)
    return label if label in pywt.wavelist(kind="discrete") else WAVELET


def estimated(y: Array, methods: Mapping[str, Method]) -> Iterator[tuple[str, Array, Record]]:
    """(name, estimate, its CPU seconds and warnings) of each method, on one thread."""
    for name, method in methods.items():
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # Without the collection of garbage before each, which takes longer than most of them.
            start = time.process_time()
            estimate = method(y)
            seconds = time.process_time() - start
        told = [warning.category.__name__ for warning in caught]
        yield name, estimate, {"seconds": short(seconds), "warnings": told}


def plan(
    cases: Mapping[str, Any],
    seeds: Mapping[str, range],
    few: Sequence[str],
    options: Namespace,
    only: Sequence[str],
    done: Sequence[str],
) -> Iterator[tuple[str, str, int, Noisy]]:
    """The (key, name, seed, what is denoised) asked for; cases without their file are left out."""
    asked = planned(seeds, few, options, only, done)
    yield from made(asked, lambda name, seed: cases[name].make(seed))


def medians(records: Mapping[str, Record], value: Callable[[Record], Any]) -> Scores:
    """By case, model and measure, medians over the draws that have the model.

    `value` takes from a record the numbers of a measure by model and measure.
    """
    found: Scores = {}
    for name, some in by_name(records).items():
        found[name] = {}
        for model in dict.fromkeys(model for one in some for model in value(one)):
            there = [value(one)[model] for one in some if model in value(one)]
            found[name][model] = {
                key: float(np.median([one[key] for one in there])) for key in there[0]
            }
    return found


def numbers(scores: Mapping[str, Record]) -> dict[str, dict[str, float]]:
    """By model what can be averaged: the warnings are left out."""
    return {
        model: {key: value for key, value in one.items() if key != "warnings"}
        for model, one in scores.items()
    }
