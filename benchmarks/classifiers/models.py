"""The classifiers compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from sparsebayes import RVC

Array = np.ndarray

OURS, AUGMENTED, LOGIT = "RVC()", "RVC(augment=True)", 'RVC(link="logit")'
LEAST_SQUARES = 'RVC(link="least_squares", prior="aic")'
GRID, MACHINE = "SVC + grid + Platt", "SVC + Platt"
FOREST, BOOSTING, PROCESS = "random forest", "gradient boosting", "Gaussian process"
GRID_C = (0.1, 1.0, 10.0, 100.0)
GRID_GAMMA = (0.1, 0.3, 1.0, 3.0, 10.0)  # times 1/D, which is gamma="scale" of standardised inputs
FOLDS, TREES, IMAGES_C = 5, 300, 10.0


@dataclass(frozen=True)
class Model:
    """A classifier.

    Attributes
    ----------
    fit : callable
        ``fit(X, y)`` returns what has `predict_proba`.
    vectors : callable
        The number of training rows that the fitted model needs; None where it has none.
    told : callable
        What else is read from the fitted model, by name.
    """

    fit: Callable[[Array, Array], Any]
    vectors: Callable[[Any], int | None] = lambda fitted: None
    told: Callable[[Any], dict[str, Any]] = lambda fitted: {}


def ours(told: Callable[[Any], dict[str, Any]] = lambda fitted: {}, **parameters: Any) -> Model:
    """`RVC` with the given parameters."""
    return Model(
        lambda X, y: RVC(**parameters).fit(X, y),
        lambda fitted: len(fitted.relevance_vectors_),
        told,
    )


def _platt(machine: SVC, X: Array, y: Array) -> CalibratedClassifierCV:
    """Probabilities as scikit-learn recommends them in place of ``SVC(probability=True)``."""
    model = CalibratedClassifierCV(machine, method="sigmoid", cv=FOLDS, ensemble=False)
    return model.fit(X, y)


def _support(fitted: CalibratedClassifierCV) -> int:
    return int(fitted.calibrated_classifiers_[0].estimator.n_support_.sum())


def _grid(X: Array, y: Array) -> CalibratedClassifierCV:
    grid = {"C": GRID_C, "gamma": [factor / X.shape[1] for factor in GRID_GAMMA]}
    search = GridSearchCV(SVC(), grid, cv=FOLDS, refit=False).fit(X, y)
    return _platt(SVC(**search.best_params_), X, y)


def _process(X: Array, y: Array) -> GaussianProcessClassifier:
    kernel = ConstantKernel() * RBF(np.sqrt(X.shape[1] / 2))
    return GaussianProcessClassifier(kernel).fit(X, y)


def _rows(fitted: GaussianProcessClassifier) -> int:
    one = fitted.base_estimator_
    return len(getattr(one, "estimators_", [one])[0].X_train_)


FOR_LABELS = {
    OURS: ours(),
    AUGMENTED: ours(augment=True),
    LOGIT: ours(link="logit"),
    GRID: Model(_grid, _support),
    FOREST: Model(lambda X, y: RandomForestClassifier(TREES, random_state=0).fit(X, y)),
    BOOSTING: Model(lambda X, y: HistGradientBoostingClassifier(random_state=0).fit(X, y)),
    PROCESS: Model(_process, _rows),
}
FOR_IMAGES = {
    OURS: ours(),
    LEAST_SQUARES: ours(link="least_squares", prior="aic"),
    LOGIT: ours(link="logit"),
    MACHINE: Model(lambda X, y: _platt(SVC(C=IMAGES_C, gamma="scale"), X, y), _support),
}
