"""Problems by number: random regressions and classifications, and rows of real data sets.

What a problem has, its seed decides alone: rows, inputs, function, noise, weights and width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from sparsebayes.datasets import load_benchmark, load_gases, load_sensor

Array = np.ndarray
ROWS = 10, 300
INPUTS = 6
NOISES = 1e-4, 1e-2, 0.1, 0.3, 1.0, 5.0  # standard deviations, that of the function being 1
WIDTHS = 0.35, 2.8  # times the length scale "scale"
CLASSES = 5
REAL_ROWS = 150

REAL_REGRESSIONS = (
    "boston",
    "kin40k",
    "pol",
    "pumadyn32nm",
    "uci_abalone",
    "uci_airfoil",
    "uci_concrete",
    "uci_energy",
    "uci_kin8nm",
    "uci_naval",
    "uci_parkinsons",
    "uci_power",
    "uci_protein",
    "uci_wine_red",
    "uci_yacht",
)
REAL_CLASSIFICATIONS = (
    "ionosphere",
    "pima_ripley",
    "raetsch_banana",
    "raetsch_diabetes",
    "raetsch_german",
    "raetsch_heart",
    "raetsch_image",
    "raetsch_ringnorm",
    "raetsch_splice",
    "raetsch_thyroid",
    "raetsch_titanic",
    "ripley_synth",
    "sonar",
    "usps",
    "wbc_original",
)


@dataclass(frozen=True, eq=False)
class RandomProblem:
    """Rows with targets or labels, perhaps weights, and the width of a kernel for them.

    `width` is in multiples of the length scale "scale" of the kernels.
    """

    name: str
    X: Array
    y: Array
    weights: Array | None
    width: float

    @property
    def labelled(self) -> bool:
        return self.y.dtype.kind in "iU"

    @property
    def length_scale(self) -> float:
        """As ``RBF("scale")`` has it, times the width; 1 where the inputs are constant."""
        spread = float(np.std(self.X))
        return self.width * (spread * np.sqrt(0.5 * self.X.shape[1]) or 1.0)


def random_problem(seed: int) -> RandomProblem:
    """A regression for an even seed, a classification for an odd one."""
    return random_classification(seed) if seed % 2 else random_regression(seed)


def random_regression(seed: int, most_rows: int = ROWS[1]) -> RandomProblem:
    """Targets of a random function with noise, from next to none to five times the function."""
    rng = np.random.default_rng([seed, 0])
    X, kind = _inputs(rng, most_rows)
    f, function = _function(rng, X)
    level = float(rng.choice(NOISES))
    noise, tails = _noise(rng, len(X))
    y = f + level * noise
    if kind == "duplicates" and rng.random() < 0.5:
        y = np.round(y, 1)
    name = f"regression {seed}: {function}, {kind} {X.shape}, {tails} noise {level:g}"
    return RandomProblem(name, X, y, _weights(rng, len(X)), _width(rng))


def random_classification(seed: int, most_rows: int = ROWS[1]) -> RandomProblem:
    """Labels of two to five classes, by levels of a random function or by the nearest of clouds."""
    rng = np.random.default_rng([seed, 1])
    X, kind = _inputs(rng, most_rows)
    n_classes = 2 if rng.random() < 0.6 else int(rng.integers(3, CLASSES + 1))
    level = float(rng.choice(NOISES))
    shares = rng.dirichlet(np.full(n_classes, float(rng.choice([1.0, 10.0]))))
    if rng.random() < 0.5:
        f, function = _function(rng, X)
        values = f + level * _noise(rng, len(X))[0]
        y = np.searchsorted(np.quantile(values, np.cumsum(shares)[:-1]), values)
    else:
        function = "clouds"
        y = rng.choice(n_classes, len(X), p=shares)
        X = X + rng.normal(0.0, 1.0 / max(level, 0.3), (n_classes, X.shape[1]))[y]
    y[:n_classes] = np.arange(n_classes)  # each occurs
    name = f"classification {seed}: {n_classes} by {function}, {kind} {X.shape}, noise {level:g}"
    return RandomProblem(name, X, y, _weights(rng, len(X)), _width(rng))


def real_problems(seed: int) -> Iterator[RandomProblem]:
    """Random rows of the sets that come along, and of the benchmark sets that are to be had."""
    bundled: dict[str, Callable[[], tuple[Array, Array]]] = {
        "sensor": lambda: (load_sensor().data, load_sensor().target),
        "gases": lambda: (load_gases().data, load_gases().target),
        "diabetes": lambda: load_diabetes(return_X_y=True),
        "iris": lambda: load_iris(return_X_y=True),
        "wine": lambda: load_wine(return_X_y=True),
        "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    }
    for name, load in bundled.items():
        yield _some_rows(name, *load(), seed)
    for name in REAL_REGRESSIONS + REAL_CLASSIFICATIONS:
        try:
            data = load_benchmark(name)
        except FileNotFoundError:
            continue
        suffix = "" if "X" in data else "_train"
        y = data[f"y{suffix}"]
        kind = float if name in REAL_REGRESSIONS else int
        yield _some_rows(name, data[f"X{suffix}"].astype(float), y.astype(kind), seed)


def _some_rows(name: str, X: Array, y: Array, seed: int) -> RandomProblem:
    """Standardised; the first two classes at least have two rows each by chance alone."""
    rng = np.random.default_rng([seed, 2])
    order = rng.permutation(len(y))[:REAL_ROWS]
    X, y = X[order], y[order]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return RandomProblem(f"{name}, rows {seed}", X, y, None, _width(rng))


def _inputs(rng: np.random.Generator, most_rows: int) -> tuple[Array, str]:
    n_rows = round(float(np.exp(rng.uniform(np.log(ROWS[0]), np.log(most_rows)))))
    n_inputs = int(rng.integers(1, INPUTS + 1))
    shape = n_rows, n_inputs
    kind = str(rng.choice(["uniform", "normal", "clusters", "duplicates", "tails"]))
    if kind == "uniform":
        X = rng.uniform(-3.0, 3.0, shape)
    elif kind == "clusters":
        X = rng.normal(0.0, 3.0, (4, n_inputs))[rng.integers(4, size=n_rows)]
        X = X + 0.3 * rng.standard_normal(shape)
    elif kind == "duplicates":
        X = np.round(rng.normal(0.0, 1.5, shape))
    elif kind == "tails":
        X = rng.standard_t(2, shape)
    else:
        X = rng.normal(0.0, 1.5, shape)
    return X, kind


def _function(rng: np.random.Generator, X: Array) -> tuple[Array, str]:
    """Of variance 1 at the rows, of some of the inputs; "none" is no function at all."""
    n_inputs = X.shape[1]
    used = X[:, rng.permutation(n_inputs)[: rng.integers(1, n_inputs + 1)]]
    direction = rng.standard_normal(used.shape[1])
    line = used @ direction
    kind = str(rng.choice(["line", "waves", "bumps", "steps", "product", "network", "none"]))
    if kind == "line":
        f = line
    elif kind == "waves":
        f = np.sin(rng.uniform(0.5, 4.0) * line + rng.uniform(0.0, 6.0))
    elif kind == "bumps":
        centres = used[rng.integers(len(used), size=5)]
        squares = np.sum((used[:, None] - centres) ** 2, axis=2)
        f = np.exp(-0.5 * squares / rng.uniform(0.3, 2.0) ** 2) @ rng.standard_normal(5)
    elif kind == "steps":
        f = np.sign(line) + np.floor(used[:, 0])
    elif kind == "product":
        f = np.prod(np.cos(used), axis=1) + 0.3 * line**2
    elif kind == "network":
        f = np.tanh(used @ rng.normal(0.0, 2.0, (used.shape[1], 6))) @ rng.standard_normal(6)
    else:
        f = np.zeros(len(X))
    spread = float(np.std(f))
    return (f / spread if spread > 1e-9 else np.zeros(len(X))), kind


def _noise(rng: np.random.Generator, size: int) -> tuple[Array, str]:
    kind = str(rng.choice(["normal", "student", "outliers"], p=[0.7, 0.2, 0.1]))
    noise = rng.standard_normal(size)
    if kind == "student":
        noise = rng.standard_t(2, size)
    elif kind == "outliers":
        noise = np.where(rng.random(size) < 0.05, 20.0, 1.0) * noise
    return noise, kind


def _weights(rng: np.random.Generator, size: int) -> Array | None:
    draw = rng.random()
    if draw < 0.7:
        return None
    return rng.integers(1, 4, size).astype(float) if draw < 0.85 else rng.uniform(0.2, 3.0, size)


def _width(rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(*np.log(WIDTHS))))
