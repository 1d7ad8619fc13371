"""Regressions with error bars, set up as one would without a second thought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.svm import SVR

from benchmarks.tools.splits import Split
from sparsebayes import RVR, ReducedRankGPR

Array = np.ndarray
OURS, PLAIN = "RVR()", "RVR(calibrate=None)"
PEER = "GaussianProcessRegressor"
FOLDS = KFold(5, shuffle=True, random_state=0)
GAMMAS = (0.25, 1.0, 4.0)  # times 1/D
SVR_GRID = {"C": (1.0, 10.0, 100.0), "epsilon": (0.01, 0.1, 0.5)}
RIDGE_GRID = {"alpha": (0.001, 0.01, 0.1, 1.0)}


@dataclass(frozen=True)
class Probabilistic:
    """A model: how it is fitted, what it predicts, and how many rows its predictions need."""

    name: str
    fit: Callable[[Split], Any]
    predict: Callable[[Any, Array], tuple[Array, Array]]
    kept: Callable[[Any], int | None]


def predicted(fitted: Any, X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of a new target, as scikit-learn spells it."""
    return fitted.predict(X, return_std=True)


class ConstantBar:
    """A regression and one standard deviation: that of the errors in cross-validation.

    Parameters
    ----------
    estimator : estimator
        A search over a grid, or one with nothing to search.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Array, y: Array) -> ConstantBar:
        """Fit, search, and predict each fold from the others with what was found."""
        self.estimator.fit(X, y)
        self.best = getattr(self.estimator, "best_estimator_", self.estimator)
        self.std = float(np.std(y - cross_val_predict(self.best, X, y, cv=FOLDS)))
        return self

    def predict(self, X: Array) -> tuple[Array, Array]:
        """Mean and the constant standard deviation."""
        return self.best.predict(X), np.full(len(X), self.std)


def _barred(
    name: str, make: Callable[[int], BaseEstimator], kept: Callable[[Any], int | None]
) -> Probabilistic:
    """`make` is given the number of inputs."""
    return Probabilistic(
        name,
        lambda split: ConstantBar(make(split.X.shape[1])).fit(split.X, split.y),
        lambda fitted, X: fitted.predict(X),
        lambda fitted: kept(fitted.best),
    )


def _search(estimator: BaseEstimator, grid: dict[str, Any], n_inputs: int) -> GridSearchCV:
    gammas = [factor / n_inputs for factor in GAMMAS]
    score = "neg_mean_squared_error"
    return GridSearchCV(estimator, {**grid, "gamma": gammas}, cv=FOLDS, scoring=score)


def rvr(name: str, **parameters: Any) -> Probabilistic:
    """`sparsebayes.RVR`; the functions it keeps are counted, the bias too."""
    return Probabilistic(
        name,
        lambda split: RVR(**parameters).fit(split.X, split.y),
        predicted,
        lambda fitted: fitted.relevance_.size,
    )


def _reduced_rank() -> Probabilistic:
    return Probabilistic(
        "ReducedRankGPR",
        lambda split: ReducedRankGPR(random_state=0).fit(split.X, split.y),
        predicted,
        lambda fitted: len(fitted.support_),
    )


def _gp() -> Probabilistic:
    def fit(split: Split) -> GaussianProcessRegressor:
        D = split.X.shape[1]
        scales = RBFKernel(np.full(D, np.sqrt(D / 2)), (1e-2, 1e4))
        kernel = ConstantKernel(1.0, (1e-3, 1e5)) * scales + WhiteKernel(0.1, (1e-6, 10.0))
        return GaussianProcessRegressor(kernel, normalize_y=True).fit(split.X, split.y)

    return Probabilistic(PEER, fit, predicted, lambda fitted: len(fitted.X_train_))


def _fast_rvm() -> Probabilistic:
    from fastrvm import RVR as FastRVR

    return Probabilistic(
        "fastrvm",
        lambda split: FastRVR().fit(split.X, split.y),
        predicted,
        lambda fitted: int(fitted.n_relevance_),
    )


def bayesian_ridge() -> Probabilistic:
    """`BayesianRidge`: linear in the inputs."""
    return Probabilistic(
        "BayesianRidge",
        lambda split: BayesianRidge().fit(split.X, split.y),
        predicted,
        lambda fitted: fitted.coef_.size,
    )


def our_regressions() -> list[Probabilistic]:
    """The default and what it is without calibration."""
    return [rvr(OURS), rvr(PLAIN, calibrate=None)]


def all_regressions() -> list[Probabilistic]:
    """The models compared, ours first."""
    return [
        *our_regressions(),
        rvr('RVR(augment="fast")', augment="fast"),
        _reduced_rank(),
        _gp(),
        _barred("SVR + grid", lambda D: _search(SVR(), SVR_GRID, D), lambda m: m.support_.size),
        _barred(
            "KernelRidge + grid",
            lambda D: _search(KernelRidge(kernel="rbf"), RIDGE_GRID, D),
            lambda m: len(m.X_fit_),
        ),
        _fast_rvm(),
        _barred(
            "HistGradientBoosting",
            lambda D: HistGradientBoostingRegressor(random_state=0),
            lambda m: None,
        ),
    ]
