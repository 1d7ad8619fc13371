"""What the classification experiments share: scores, cross-validated widths, and the SVM."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from sparsebayes import RVC
from sparsebayes.basis import RBF

Array = np.ndarray
Split = tuple[Array, Array, Array, Array]  # X, y, X_test, y_test

# In units of `unit`. The widest first: it wins a tie.
WIDTHS = (4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25)
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)

# The ways to infer that are compared: link and inference.
INFERENCES = {
    "logit": {},
    "probit": {"link": "probit"},
    "TAP": {"link": "probit", "inference": "tap"},
}


@dataclass(frozen=True)
class Score:
    """How a fitted classifier does on the test set.

    Attributes
    ----------
    error : float
        In per cent.
    vectors, total : int
        Kernel functions, the bias not counted; and their sum over the machines, if several.
    loss : float
        Negative log predictive density, the mean over the test set, in nats; NaN without
        probabilities.
    seconds : float
        Processor time of the fit.
    converged, climbs : bool
        Whether the fit converged, and whether its objective never fell.
    """

    error: float
    vectors: int
    total: int
    loss: float = np.nan
    seconds: float = np.nan
    converged: bool = True
    climbs: bool = True


# The machine of the documents: nothing is chosen by held-out rows, or calibrated.
CLASSICAL = {"link": "logit", "multi_class": "multinomial", "adapt": None, "calibrate": None}


def fit_rvc(split: Split, length_scale: float, **parameters: Any) -> tuple[RVC, Score]:
    """Fit to the first two arrays and test on the others."""
    X, y, X_test, y_test = split
    model = RVC(RBF(length_scale), **(CLASSICAL | parameters))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    seconds = time.process_time() - start
    return model, Score(
        error=wrong(model.predict(X_test), y_test),
        vectors=len(model.relevance_vectors_),
        total=sum(len(m.relevance_vectors_) for m in getattr(model, "estimators_", [model])),
        loss=log_loss(y_test, model.predict_proba(X_test), labels=model.classes_),
        seconds=seconds,
        converged=model.converged_,
        climbs=bool(np.all(np.diff(model.evidence_path_) >= 0)),
    )


def wrong(labels: Array, truth: Array) -> float:
    """Per cent of the labels that are not the truth."""
    return 100 * float(np.mean(labels != truth))


def unit(X: Array) -> float:
    """``sqrt(D var / 2)``, the "scale" of `RBF`."""
    return float(np.sqrt(X.shape[1] * X.var() / 2))


def folds(seed: int) -> StratifiedKFold:
    """Five."""
    return StratifiedKFold(5, shuffle=True, random_state=seed)


def search_width(
    X: Array, y: Array, length_scales: Sequence[float], seed: int, **parameters: Any
) -> int:
    """The number of the width with the least error in 5-fold cross-validation."""
    search = GridSearchCV(
        RVC(RBF(), **(CLASSICAL | parameters)),
        {"basis__length_scale": length_scales},
        cv=folds(seed),
        refit=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, y)
    return int(search.best_index_)


def search_svm(X: Array, y: Array, length_scales: Sequence[float], seed: int) -> tuple[int, int]:
    """The same for an SVM: the numbers of its C in `COSTS` and of its width."""
    grid = {"C": COSTS, "gamma": [0.5 / scale**2 for scale in length_scales]}
    search = GridSearchCV(SVC(), grid, cv=folds(seed), refit=False).fit(X, y)
    first, second = divmod(int(search.best_index_), len(length_scales))  # gamma varies fastest
    return first, second


def fit_svm(split: Split, length_scale: float, cost: float) -> tuple[Any, Score]:
    """Fit and test SVMs, one for two classes or one of each class against the rest."""
    X, y, X_test, y_test = split
    model: Any = SVC(C=cost, gamma=0.5 / length_scale**2)
    if np.unique(y).size > 2:
        model = OneVsRestClassifier(model)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    supports = [part.support_ for part in getattr(model, "estimators_", [model])]
    return model, Score(
        error=wrong(model.predict(X_test), y_test),
        vectors=np.unique(np.concatenate(supports)).size,
        total=sum(map(len, supports)),
        seconds=seconds,
    )


def column(scores: Sequence[Score], name: str) -> Array:
    """One attribute of all scores."""
    return np.array([getattr(score, name) for score in scores], dtype=float)


def met(condition: Any) -> str:
    """How a criterion came out."""
    return "met" if condition else "NOT met"


def health(scores: Sequence[Score]) -> str:
    """Whether all fits converged without a fall of the objective."""
    converged = int(column(scores, "converged").sum())
    fell = len(scores) - int(column(scores, "climbs").sum())
    return f"{converged} of {len(scores)} fits converged, the objective fell in {fell}"
