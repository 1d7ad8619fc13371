"""Real and simulated data sets, split into what is learned from and what is tested on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.tools.tasks import banana, ripley
from sparsebayes.datasets import load_benchmark, make_friedman1, make_sinc

Array = np.ndarray
N_TEST = 1000


@dataclass(frozen=True)
class Split:
    """A training and a test set. Test targets have their noise."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


@dataclass(frozen=True)
class Source:
    """A data set: its name and how to make split 0, 1, …"""

    name: str
    make: Callable[[int], Split]


def _cut(X: Array, y: Array, test: Array) -> Split:
    train = np.setdiff1d(np.arange(len(y)), test)
    return Split(X[train], y[train], X[test], y[test])


def _random(X: Array, y: Array, share: float, split: int) -> Split:
    order = np.random.default_rng(split).permutation(len(y))
    return _cut(X, y, np.sort(order[: round(share * len(y))]))


def _sinc(split: int) -> Split:
    X, y, _ = make_sinc(100, noise=0.1, random_state=split)
    X_test, y_test, _ = make_sinc(N_TEST, noise=0.1, random_state=1000 + split)
    return Split(X, y, X_test, y_test)


def _friedman(split: int) -> Split:
    X, y, _ = make_friedman1(240, random_state=split)
    X_test, y_test, _ = make_friedman1(N_TEST, random_state=1000 + split)
    return Split(X, y, X_test, y_test)


def _motorcycle(split: int) -> Split:
    data = load_benchmark("motorcycle")
    return _random(data["t"][:, None], data["accel"], 0.2, split)


def stored(name: str) -> Source:
    """A regression of the 20-split protocol: nine tenths to learn from."""

    def make(split: int) -> Split:
        data = load_benchmark(name)
        return _cut(data["X"], data["y"], data["test_idx"][split].astype(int))

    return Source(name.removeprefix("uci_").replace("_", " "), make)


def kin40k(n_samples: int = 2000, n_test: int = 5000) -> Source:
    """Disjoint parts of KIN40K's training set, and of its test set."""

    def make(split: int) -> Split:
        data = load_benchmark("kin40k")
        train = slice(split * n_samples, (split + 1) * n_samples)
        test = slice(split * n_test, (split + 1) * n_test)
        X, y, X_test, y_test = (
            data[key][rows].astype(float)
            for key, rows in (
                ("X_train", train),
                ("y_train", train),
                ("X_test", test),
                ("y_test", test),
            )
        )
        if len(y) < n_samples or len(y_test) < n_test:
            raise IndexError(f"KIN40K has no split {split} of {n_samples} and {n_test} samples.")
        return Split(X, y, X_test, y_test)

    return Source(f"KIN40K {n_samples}", make)


def _labelled(make: Callable) -> Callable[[int], Split]:
    def split(number: int) -> Split:
        task = make(number)
        return Split(task.X, task.y, task.X_test, task.y_test)

    return split


def _raetsch(name: str) -> Source:
    def make(split: int) -> Split:
        data = load_benchmark(f"raetsch_{name}")
        train, test = data["train_idx"][split], data["test_idx"][split]
        X, y = data["X"], (data["y"] > 0).astype(int)
        return Split(X[train], y[train], X[test], y[test])

    return Source(name.replace("_", " "), make)


def _ionosphere(split: int) -> Split:
    data = load_benchmark("ionosphere")
    return _random(data["X"], (data["y"] > 0).astype(int), 0.3, split)


def _bundled(load: Callable) -> Callable[[int], Split]:
    def make(split: int) -> Split:
        X, y = load(return_X_y=True)
        return _random(X, y, 0.3, split)

    return make


REGRESSIONS = (
    Source("sinc", _sinc),
    Source("Friedman #1", _friedman),
    Source("motorcycle", _motorcycle),
    stored("uci_yacht"),
    stored("boston"),
    stored("uci_energy"),
    stored("uci_concrete"),
    stored("uci_wine_red"),
)
CLASSIFICATIONS = (
    Source("Ripley", _labelled(ripley)),
    Source("banana", _labelled(banana)),
    _raetsch("breast_cancer"),
    _raetsch("heart"),
    Source("ionosphere", _ionosphere),
    _raetsch("german"),
)
RAW_REGRESSIONS = (
    Source("motorcycle", _motorcycle),
    stored("boston"),
    stored("uci_concrete"),
)
RAW_CLASSIFICATIONS = (
    Source("Wisconsin", _bundled(load_breast_cancer)),
    Source("wine", _bundled(load_wine)),
)
FRIEDMAN = REGRESSIONS[1]
