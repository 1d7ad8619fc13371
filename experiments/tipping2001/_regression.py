"""T01's regression benchmarks: the data sets, and both machines with a cross-validated width."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import (
    load_benchmark,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_sinc,
)

Array = np.ndarray
Split = tuple[Array, Array, Array, Array]  # X, y, X_test, y_test

# In units of sqrt(D var / 2), var being the mean variance of the scaled inputs.
WIDTHS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)
SVM_WIDTHS = WIDTHS[::2]
COSTS = (1.0, 10.0, 100.0)  # of targets with unit variance
TUBES = (0.03, 0.1, 0.2, 0.4)  # ε, in the same unit
MACHINES = ("RVM", "SVM")


def _sinc(kind: str) -> Callable[[np.random.Generator], Split]:
    def draw(rng: np.random.Generator) -> Split:
        X, y, _ = make_sinc(100, noise=0.1, noise_kind=kind, random_state=rng)
        X_test, _, f_test = make_sinc(1000, noise=0.0)
        return X, y, X_test, f_test

    return draw


def _friedman(make: Callable) -> Callable[[np.random.Generator], Split]:
    def draw(rng: np.random.Generator) -> Split:
        X, y, _ = make(240, random_state=rng)
        X_test, _, f_test = make(1000, noise=0.0, random_state=rng)
        return X, y, X_test, f_test

    return draw


def _boston(rng: np.random.Generator) -> Split:
    data = load_benchmark("boston")
    order = rng.permutation(len(data["y"]))
    train, test = order[: len(order) - 25], order[len(order) - 25 :]
    return data["X"][train], data["y"][train], data["X"][test], data["y"][test]


SCALERS = {"standardised": StandardScaler, "on [0, 1]": MinMaxScaler}


@dataclass(frozen=True)
class Task:
    """A data set, its measure of error, and T01's row: errors and vectors of `MACHINES`.

    `scalings` are those of the inputs among which cross-validation chooses.
    """

    name: str
    measure: str
    error: tuple[float, float]
    vectors: tuple[float, float]
    draw: Callable[[np.random.Generator], Split]
    file: str | None = None
    scalings: tuple[str, ...] = ("standardised",)


# T01 prints the errors of sinc times ten; they are RMS, the others mean squares.
TASKS = (
    Task("sinc, Gaussian noise", "RMS", (0.0326, 0.0378), (6.7, 45.2), _sinc("gaussian")),
    Task("sinc, uniform noise", "RMS", (0.0187, 0.0215), (7.0, 44.3), _sinc("uniform")),
    Task("Friedman #1", "MSE", (2.80, 2.92), (59.4, 116.6), _friedman(make_friedman1)),
    Task("Friedman #2", "MSE", (3505.0, 4140.0), (6.9, 110.3), _friedman(make_friedman2)),
    Task("Friedman #3", "MSE", (0.0164, 0.0202), (11.5, 106.5), _friedman(make_friedman3)),
    Task("Boston housing", "MSE", (7.46, 8.04), (39.0, 142.8), _boston, "boston", tuple(SCALERS)),
)
NUMBERS = {task.name: number for number, task in enumerate(TASKS)}


@dataclass(frozen=True)
class Found:
    """A machine on one draw.

    Attributes
    ----------
    error, vectors : float
        By the task's measure; kernel functions, the bias not counted.
    width : float
        The one chosen, of `WIDTHS`.
    scaled : dict of str to float
        The error with each scaling of the inputs at its own best width.
    """

    error: float
    vectors: float
    width: float
    scaled: dict[str, float]


def one(name: str, machine: str, seed: int, repetition: int) -> Found:
    """Fit to one draw and test; width, and C and ε of the SVM, by 5-fold cross-validation."""
    number = NUMBERS[name]
    task = TASKS[number]
    rng = np.random.default_rng([seed, number, repetition])
    X, y, X_test, y_test = task.draw(rng)
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    errors, searches = {}, {}
    for scaling in task.scalings:
        search = _search(machine, SCALERS[scaling](), X, folds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            search.fit(X, y)
        error = float(np.mean((search.predict(X_test) - y_test) ** 2))
        errors[scaling] = np.sqrt(error) if task.measure == "RMS" else error
        searches[scaling] = search
    scaling = max(searches, key=lambda key: searches[key].best_score_)
    search = searches[scaling]
    if machine == "SVM":
        vectors = search.best_estimator_.regressor_[-1].support_
    else:
        vectors = search.best_estimator_[-1].relevance_vectors_
    widths = _widths(machine)
    return Found(errors[scaling], len(vectors), widths[search.best_index_ % len(widths)], errors)


def _widths(machine: str) -> tuple[float, ...]:
    return SVM_WIDTHS if machine == "SVM" else WIDTHS


def _search(machine: str, scaler: StandardScaler | MinMaxScaler, X: Array, folds: KFold):
    """The widths vary fastest."""
    spread = scaler.fit_transform(X).var(axis=0).mean()
    scales = np.array(_widths(machine)) * np.sqrt(X.shape[1] * spread / 2)
    if machine == "SVM":
        model = TransformedTargetRegressor(
            make_pipeline(scaler, SVR()), transformer=StandardScaler()
        )
        grid = {
            "regressor__svr__C": COSTS,
            "regressor__svr__epsilon": TUBES,
            "regressor__svr__gamma": 0.5 / scales**2,
        }
    else:
        model = make_pipeline(scaler, RVR(RBF(), calibrate=None))
        grid = {"rvr__basis__length_scale": scales}
    return GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds)
