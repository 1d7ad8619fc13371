"""The tasks: a training set, test points and what is true there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import load_digits, make_friedman1, make_moons
from sklearn.model_selection import train_test_split

from sparsebayes.datasets import load_benchmark, make_sinc

Array = np.ndarray
N_TEST = 1000
N_TEST_MOONS = 5000
DIGITS_GAMMA = 0.001


@dataclass(frozen=True)
class Task:
    """A data set for regression and the width of the kernel ``exp(-gamma ‖x − z‖²)``."""

    name: str
    seed: int
    gamma: float
    X: Array
    y: Array
    X_test: Array
    f_test: Array

    @property
    def offset(self) -> float:
        """The mean of the targets, for models that do not centre them."""
        return float(self.y.mean())

    @property
    def centred(self) -> Array:
        """The targets without their mean."""
        return self.y - self.offset


def sinc(n_samples: int = 100, seed: int = 0, gamma: float = 1.0 / 9.0) -> Task:
    """``sin(x)/x`` with noise 0.1; T01's width r = 3 is gamma = 1/r²."""
    X, y, _ = make_sinc(n_samples, noise=0.1, random_state=seed)
    X_test, _, f_test = make_sinc(N_TEST, noise=0.0)
    return Task(f"sinc {n_samples}", seed, gamma, X, y, X_test, f_test)


def friedman(n_samples: int, gamma: float = 0.1, seed: int = 0) -> Task:
    """Friedman #1 with noise 1, inputs standardised by the training set.

    The data are scikit-learn's, with random_state = seed + 1; the test points those of 1000 + seed.
    """
    X, y = make_friedman1(n_samples, noise=1.0, random_state=seed + 1)
    X_test, f_test = make_friedman1(N_TEST, noise=0.0, random_state=1000 + seed)
    mean, std = X.mean(axis=0), X.std(axis=0)
    name = f"Friedman #1 {n_samples}"
    return Task(name, seed, gamma, (X - mean) / std, y, (X_test - mean) / std, f_test)


def boston(n_samples: int = 240, width: float = 1.0, seed: int = 0) -> Task:
    """Random rows of the Boston housing data, standardised; the others to test.

    The length scale is `width` times √(D/2).
    """
    data = load_benchmark("boston")
    order = np.random.default_rng(seed).permutation(len(data["y"]))
    train, test = order[:n_samples], order[n_samples:]
    X, y = data["X"], data["y"]
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    std[std == 0.0] = 1.0
    X = (X - mean) / std
    gamma = 1.0 / (width**2 * X.shape[1])
    return Task(f"Boston {n_samples}", seed, gamma, X[train], y[train], X[test], y[test])


@dataclass(frozen=True)
class Labelled:
    """A data set with the labels 0, …, K − 1, and the width of the kernel."""

    name: str
    seed: int
    gamma: float
    X: Array
    y: Array
    X_test: Array
    y_test: Array

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.y.max()) + 1


def ripley(seed: int = 0) -> Labelled:
    """Ripley's mixture: one data set of 250 samples in the plane, 1000 to test."""
    data = load_benchmark("ripley_synth")
    y, y_test = data["y_train"].astype(int), data["y_test"].astype(int)
    return Labelled("Ripley 250", seed, 4.0, data["X_train"], y, data["X_test"], y_test)


def ripley_draw(seed: int = 0) -> Labelled:
    """Ripley's mixture as it is stored for seed 0, else 250 of all its samples, drawn at random."""
    task = ripley(seed)
    if seed == 0:
        return task
    X, y = np.vstack([task.X, task.X_test]), np.concatenate([task.y, task.y_test])
    train, test = np.split(np.random.default_rng(seed).permutation(len(y)), [len(task.y)])
    return replace(task, X=X[train], y=y[train], X_test=X[test], y_test=y[test])


def banana(seed: int = 0) -> Labelled:
    """Rätsch's banana, split 1 + seed of the original ones: 400 samples in the plane."""
    data = load_benchmark("raetsch_banana")
    X, y = data["X"], (data["y"] > 0).astype(int)
    train, test = data["train_idx"][seed], data["test_idx"][seed]
    return Labelled("banana 400", seed, 1.0, X[train], y[train], X[test], y[test])


def moons(n_samples: int, seed: int = 0) -> Labelled:
    """Two half circles with noise 0.3; the test points are those of seed 1000 + seed."""
    X, y = make_moons(n_samples, noise=0.3, random_state=seed)
    X_test, y_test = make_moons(N_TEST_MOONS, noise=0.3, random_state=1000 + seed)
    return Labelled(f"moons {n_samples}", seed, 1.0, X, y, X_test, y_test)


def digits(n_samples: int = 1200, seed: int = 0) -> Labelled:
    """scikit-learn's 1797 digits, raw pixels, split at random."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=n_samples, random_state=seed)
    return Labelled(f"digits {n_samples}", seed, DIGITS_GAMMA, X, y, X_test, y_test)


def first_digits(n_classes: int, seed: int = 0, per_class: int = 60) -> Labelled:
    """The digits below `n_classes`: so many samples of each to learn from, the others to test."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    rows = [order[y[order] == k] for k in range(n_classes)]
    train = np.concatenate([some[:per_class] for some in rows])
    test = np.concatenate([some[per_class:] for some in rows])
    name = f"{n_classes} digits"
    return Labelled(name, seed, DIGITS_GAMMA, X[train], y[train], X[test], y[test])
