"""Every public estimator on a small problem, and what it predicts."""

from __future__ import annotations

import inspect
import pkgutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

import sparsebayes
from sparsebayes import (
    EM,
    RVC,
    RVR,
    Denoiser,
    Forecaster,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ParetoClassifier,
    ReducedRankGPR,
)
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_gauss_snake, make_sinc
from tests.conftest import X3, Y3

Array = np.ndarray
X, Y, _ = make_sinc(40, noise=0.1, random_state=0)
GRID = np.linspace(-10.0, 10.0, 17)[:, None]
MOONS, LABELS = make_moons(30, noise=0.25, random_state=0)
SNAKE = make_gauss_snake(60, separation=1.5, random_state=0)
SERIES = 10.0 + np.sin(0.5 * np.arange(60)) + 0.1 * Y[np.arange(60) % 40]
PANEL = np.column_stack([SERIES, 2.0 * SERIES[::-1]])
STACKED = np.stack([SERIES[:32], SERIES[20:52]])


@dataclass(frozen=True)
class Case:
    """An estimator, its data, and its answer as arrays."""

    make: Callable[[], Any]
    data: tuple[Any, ...]
    answer: Callable[[Any], Any]

    def fit(self, model: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(*self.data)

    def arrays(self, model: Any) -> list[Array]:
        answer = self.answer(model)
        return [np.asarray(part) for part in (answer if isinstance(answer, tuple) else (answer,))]


def _with_std(model: Any) -> Any:
    return model.predict(GRID, return_std=True)


def _labels(new: Array) -> Callable[[Any], Any]:
    return lambda model: model.predict_proba(new)


CASES = {
    "RVR": Case(RVR, (X, Y), _with_std),
    "RVR by EM, starred": Case(
        lambda: RVR(RBF(2.0), solver=EM(), tol=0.1, augment=True), (X, Y), _with_std
    ),
    "RVC": Case(RVC, (MOONS, LABELS), _labels(MOONS[:9])),
    "RVC in threads": Case(
        lambda: RVC(RBF(1.0), multi_class="ovr", link="logit", calibrate=None, n_jobs=2),
        (X3[:45], Y3[:45]),
        _labels(X3[:9]),
    ),
    "ReducedRankGPR": Case(
        lambda: ReducedRankGPR(n_support=10, n_cycles=2, random_state=0), (X, Y), _with_std
    ),
    "LeaveOneOutGPR": Case(LeaveOneOutGPR, (X, Y), _with_std),
    "NoisyInputGPR": Case(
        lambda: NoisyInputGPR(input_noise=0.3, method="slope", random_state=0), (X, Y), _with_std
    ),
    "Forecaster": Case(
        lambda: Forecaster(lags=3, seasons=None, transform=None, difference=None),
        (SERIES,),
        lambda model: model.predict(5, return_std=True),
    ),
    "Forecaster of several": Case(
        lambda: Forecaster(RVR(RBF(1.0), calibrate=None), lags=3, transform=None, difference=None),
        (PANEL,),
        lambda model: model.predict(5),
    ),
    "Denoiser": Case(Denoiser, (STACKED,), lambda model: model.transform(STACKED)),
    "ParetoClassifier": Case(
        lambda: ParetoClassifier(n_evaluations=200, random_state=0),
        SNAKE,
        lambda model: model.predict(SNAKE[0], cost_fn=10.0),
    ),
}


def public_estimators() -> set[str]:
    """The names of all classes that users import and fit; bases are parts of others."""
    found = set()
    for module in pkgutil.iter_modules(sparsebayes.__path__):
        if module.name.startswith("_") or module.name in ("basis", "sktime"):
            continue
        home = import_module(f"sparsebayes.{module.name}")
        for name in getattr(home, "__all__", ()):
            value = getattr(home, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator) and "fit" in dir(value):
                found.add(name)
    return found
