"""The data sets, split into rows to learn from and rows to test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.tools.splits import Split
from sparsebayes.datasets import load_benchmark

Array = np.ndarray
Rows = tuple[Array, Array]  # inputs, and labels 0, …, K − 1

SIZE, SHARE, N_TEST = 600, 0.7, 4000
N_IMAGES = 1000
RAETSCH = (
    "banana",
    "breast_cancer",
    "diabetes",
    "flare_solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
)


def _signed(name: str) -> Callable[[], Rows]:
    """A set whose labels are −1 and 1, or 0 and 1."""

    def load() -> Rows:
        data = load_benchmark(name)
        return data["X"], data["y"] > 0

    return load


def _halves(name: str) -> Callable[[], Rows]:
    """A set that is stored as training and test rows: all of them."""

    def load() -> Rows:
        data = load_benchmark(name)
        X, y = (np.concatenate([data[f"{key}_train"], data[f"{key}_test"]]) for key in "Xy")
        return X, y

    return load


def _bundled(load: Callable[..., Rows]) -> Callable[[], Rows]:
    return lambda: load(return_X_y=True)


def crabs() -> Rows:
    """Two species of crabs, male and female: four classes."""
    data = load_benchmark("crabs")
    kinds = np.char.add(data["species"], data["sex"])
    return data["X"], np.unique(kinds, return_inverse=True)[1]


SETS: dict[str, Callable[[], Rows]] = {
    **{name.replace("_", " "): _signed(f"raetsch_{name}") for name in RAETSCH},
    "Pima": _halves("pima_ripley"),
    "Ripley": _halves("ripley_synth"),
    "ionosphere": _signed("ionosphere"),
    "sonar": _signed("sonar"),
    "WBC": _signed("wbc_original"),
    "Wisconsin": _bundled(load_breast_cancer),
    "iris": _bundled(load_iris),
    "wine": _bundled(load_wine),
    "crabs": crabs,
}


def make_split(name: str, seed: int) -> Split:
    """A stratified random split, standardised by the rows to learn from."""
    X, y = SETS[name]()
    X, y = X.astype(float), y.astype(int)
    size = min(SIZE, round(SHARE * len(y)))
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=size,
        test_size=min(N_TEST, len(y) - size),
        stratify=y,
        random_state=seed,
    )
    scaler = StandardScaler().fit(X[train])
    return Split(scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test])


def digits(seed: int, size: int = 1200) -> Split:
    """scikit-learn's 1797 digits of 8 × 8 pixels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return _scaled(X, y, order[:size], X, y, order[size:])


def usps(seed: int, size: int = N_IMAGES) -> Split:
    """Digits of 16 × 16 pixels: rows of the training file, the others of which are tested."""
    data = load_benchmark("usps")
    X, y = data["X_train"], data["y_train"]
    order = np.random.default_rng(seed).permutation(len(y))
    return _scaled(X, y, order[:size], X, y, order[size:])


def mnist(seed: int, size: int = N_IMAGES, n_test: int = 2000) -> Split:
    """Digits of 28 × 28 pixels: rows of the training file, and rows of the test file."""
    data = load_benchmark("mnist")
    rng = np.random.default_rng(seed)
    train = rng.permutation(len(data["y_train"]))[:size]
    test = rng.permutation(len(data["y_test"]))[:n_test]
    return _scaled(data["X_train"], data["y_train"], train, data["X_test"], data["y_test"], test)


def _scaled(X: Array, y: Array, train: Array, X_test: Array, y_test: Array, test: Array) -> Split:
    """Rows of both, divided by the largest value of those to learn from."""
    largest = float(X[train].max())
    return Split(
        X[train] / largest, y[train].astype(int), X_test[test] / largest, y_test[test].astype(int)
    )
