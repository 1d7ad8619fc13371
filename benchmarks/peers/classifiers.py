"""The classifiers compared, each behind the same few functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastrvm import RVC as FastRVC
from scipy.special import expit, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.tools.tasks import Labelled
from sparsebayes import RVC
from sparsebayes.basis import RBF

Array = np.ndarray
PLATT = "SVC + grid + Platt"
SHARED = "RVC, shared α"
CLASSICAL = "RVC, classical"  # a likelihood of labels, taken at its word
GRID_C = (1.0, 10.0, 100.0)
GRID_GAMMA = (0.25, 1.0, 4.0)  # in the task's gamma
GPC_LARGEST = 1000


@dataclass(frozen=True)
class Classifier:
    """A classifier: how it is fitted, and what can be read from the result.

    Attributes
    ----------
    name : str
    fit : callable
        ``fit(task)``.
    kept : callable
        The number of training samples the fitted model needs.
    weights : callable or None
        The number of its weights.
    probabilities : bool
        Whether it has `predict_proba`.
    plug_in : callable or None
        ``plug_in(fitted, X)``: probabilities at the posterior mean of the weights.
    converged : callable
        None where the result does not tell.
    """

    name: str
    fit: Callable[[Labelled], Any]
    kept: Callable[[Any], int]
    weights: Callable[[Any], int] | None = None
    probabilities: bool = True
    plug_in: Callable[[Any, Array], Array] | None = None
    converged: Callable[[Any], bool | None] = lambda fitted: None


def _plug_in(fitted: RVC, X: Array) -> Array:
    """What `RVC.predict_proba` would be without the average over the posterior."""
    latent, _ = fitted.decision_function(X, return_std=True)
    if latent.ndim == 1:
        return expit(np.column_stack([-latent, latent]))
    if not hasattr(fitted, "estimators_"):
        return softmax(latent, axis=1)
    each = expit(latent)
    return each / each.sum(axis=1, keepdims=True)


def our_rvc(name: str = "RVC", **parameters: Any) -> Classifier:
    """`sparsebayes.RVC` with the task's width and the given parameters.

    With the width given there is still a likelihood to choose, and a calibration.
    """

    def fit(task: Labelled) -> RVC:
        basis = RBF(length_scale=1.0 / np.sqrt(2.0 * task.gamma))
        return RVC(basis=basis, **parameters).fit(task.X, task.y)

    return Classifier(
        name,
        fit,
        lambda fitted: len(fitted.relevance_vectors_),
        lambda fitted: int(np.isfinite(fitted.alpha_).sum()),
        plug_in=_plug_in if parameters.get("link") == "logit" else None,
        converged=lambda fitted: bool(fitted.converged_),
    )


def fast_rvc() -> Classifier:
    """`fastrvm.RVC`, without a bias by default; many classes go one against the rest."""
    return Classifier(
        "fastrvm",
        lambda task: FastRVC(gamma=float(task.gamma)).fit(task.X, task.y),
        lambda fitted: fitted.relevance_.size,
        lambda fitted: int(np.sum(fitted.n_relevance_)),
        converged=lambda fitted: fitted.fit_status_ == 0,  # 1: `max_iter` steps were made
    )


def svc() -> Classifier:
    """`SVC` with its default C, which has no probabilities."""
    return Classifier(
        "SVC",
        lambda task: SVC(gamma=task.gamma).fit(task.X, task.y),
        lambda fitted: fitted.support_.size,
        probabilities=False,
    )


def svc_grid() -> Classifier:
    """`SVC` with C and gamma chosen by cross-validation, then Platt's sigmoid.

    scikit-learn has deprecated ``SVC(probability=True)``; this is what it recommends instead.
    """

    def fit(task: Labelled) -> CalibratedClassifierCV:
        grid = {"C": GRID_C, "gamma": [factor * task.gamma for factor in GRID_GAMMA]}
        search = GridSearchCV(SVC(), grid, cv=5, refit=False).fit(task.X, task.y)
        best = SVC(**search.best_params_)
        return CalibratedClassifierCV(best, method="sigmoid", cv=5, ensemble=False).fit(
            task.X, task.y
        )

    return Classifier(
        PLATT,
        fit,
        lambda fitted: fitted.calibrated_classifiers_[0].estimator.support_.size,
    )


def gpc() -> Classifier:
    """`GaussianProcessClassifier`, which tunes its own width; the task's is its start."""

    def fit(task: Labelled) -> GaussianProcessClassifier:
        kernel = ConstantKernel() * RBFKernel(1.0 / np.sqrt(2.0 * task.gamma))
        return GaussianProcessClassifier(kernel).fit(task.X, task.y)

    def kept(fitted: GaussianProcessClassifier) -> int:
        one = fitted.base_estimator_
        return len(getattr(one, "estimators_", [one])[0].X_train_)

    return Classifier("GaussianProcessClassifier", fit, kept)


def our_models(n_classes: int) -> list[Classifier]:
    """The kinds of RVC: two for two classes, four for more."""
    classical = {"link": "logit", "calibrate": None}
    models = [our_rvc(), our_rvc(CLASSICAL, **classical)]
    if n_classes > 2:
        models.append(our_rvc(SHARED, share_alpha=True, **classical))
        models.append(our_rvc("RVC, one against the rest", multi_class="ovr", **classical))
    return models


def all_classifiers(task: Labelled, quick: bool = False) -> list[Classifier]:
    """The classifiers tried on a task, ours first.

    The Gaussian process is for few samples, and for one split of the digits in a full run, as is
    the model with shared precisions.
    """
    once = task.n_classes > 2 and task.seed == 0 and not quick
    ours = [one for one in our_models(task.n_classes) if once or quick or one.name != SHARED]
    models = [*ours, fast_rvc(), svc(), svc_grid()]
    if once or (task.n_classes == 2 and len(task.y) <= GPC_LARGEST):
        models.append(gpc())
    return models
