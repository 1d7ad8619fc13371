"""The models compared, each behind the same few functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.linear_model import ARDRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from benchmarks.tools.tasks import Task
from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.engine import Sequential

Array = np.ndarray
PLAIN = "RVR, plain"  # no calibration by rows that are held out
BRIEF = "RVR, plain and brief"  # nor ways on from where growth and a restart end
GRID = {"C": [1.0, 10.0, 100.0], "epsilon": [0.01, 0.1, 0.5]}


def _unknown(fitted: Any, task: Task) -> None:
    return None


@dataclass(frozen=True)
class Model:
    """A model: how it is fitted, and what can be read from the result.

    `largest` is the largest number of samples it is tried on. `evidence` and `converged` return
    None where the result does not tell.
    """

    name: str
    fit: Callable[[Task], Any]
    predict: Callable[[Any, Task], Array]
    kept: Callable[[Any], int]
    evidence: Callable[[Any, Task], float | None] = _unknown
    converged: Callable[[Any, Task], bool | None] = _unknown
    largest: int = 5000


def gaussian_evidence(columns: Array, alpha: Array, beta: float, target: Array) -> float:
    """Log of N(target | 0, I/beta + Φ A⁻¹ Φᵀ) from the kept columns Φ alone (T01 (15))."""
    scaled = columns / np.sqrt(alpha)
    H = beta * scaled.T @ scaled
    H[np.diag_indices_from(H)] += 1.0
    L = np.linalg.cholesky(H)
    projected = np.linalg.solve(L, beta * (scaled.T @ target))
    log_det = 2.0 * np.log(np.diag(L)).sum() - target.size * np.log(beta)
    quadratic = beta * (target @ target) - projected @ projected
    return float(-0.5 * (target.size * np.log(2.0 * np.pi) + log_det + quadratic))


def our_rvr(name: str = "RVR", **parameters: Any) -> Model:
    """`sparsebayes.RVR` with the task's width and the given parameters."""

    def fit(task: Task) -> RVR:
        basis = RBF(length_scale=1.0 / np.sqrt(2.0 * task.gamma))
        return RVR(basis=basis, **parameters).fit(task.X, task.y)

    return Model(
        name,
        fit,
        lambda fitted, task: fitted.predict(task.X_test),
        lambda fitted: fitted.relevance_.size,
        lambda fitted, task: fitted.log_evidence_,
        lambda fitted, task: bool(fitted.converged_),
    )


def fast_rvr() -> Model:
    """`fastrvm.RVR`, which has no bias by default and fails far from zero: centred targets."""
    from fastrvm import RVR as FastRVR

    def evidence(fitted: FastRVR, task: Task) -> float:
        columns = rbf_kernel(task.X, fitted.relevance_vectors_, gamma=task.gamma)
        # fastrvm works with columns of unit norm. A precision there is alpha · norm² here, but
        # `alpha_` is published divided by norm² where it should be multiplied: hence norm⁴.
        # With it, `dual_coef_` is the posterior mean to 1e-6, and the evidence equals
        # `scores_[-1] - N/2 log 2π` to 1e-9.
        alpha = np.ravel(fitted.alpha_) * np.sum(columns**2, axis=0) ** 2
        return gaussian_evidence(columns, alpha, float(fitted.beta_), task.centred)

    return Model(
        "fastrvm",
        lambda task: FastRVR(gamma=float(task.gamma)).fit(task.X, task.centred),
        lambda fitted, task: task.offset + fitted.predict(task.X_test),
        lambda fitted: int(fitted.n_relevance_),
        evidence,
        lambda fitted, task: fitted.fit_status_ == 0,  # 1: `max_iter` steps were made
    )


def ard() -> Model:
    """`ARDRegression` on the columns of the kernel matrix and a constant one."""

    def columns(X: Array, task: Task) -> Array:
        return np.column_stack([np.ones(len(X)), rbf_kernel(X, task.X, gamma=task.gamma)])

    def evidence(fitted: ARDRegression, task: Task) -> float:
        kept = np.flatnonzero(fitted.coef_)
        return gaussian_evidence(
            columns(task.X, task)[:, kept], fitted.lambda_[kept], fitted.alpha_, task.centred
        )

    return Model(
        "ARDRegression",
        lambda task: ARDRegression(fit_intercept=False).fit(columns(task.X, task), task.centred),
        lambda fitted, task: task.offset + fitted.predict(columns(task.X_test, task)),
        lambda fitted: int(np.count_nonzero(fitted.coef_)),
        evidence,
        lambda fitted, task: bool(fitted.n_iter_ < fitted.max_iter),
        largest=240,
    )


def svr() -> Model:
    """`SVR` with its default C and epsilon."""
    return Model(
        "SVR",
        lambda task: SVR(gamma=task.gamma).fit(task.X, task.y),
        lambda fitted, task: fitted.predict(task.X_test),
        lambda fitted: fitted.support_.size,
    )


def svr_grid() -> Model:
    """`SVR` with C and epsilon chosen by 5-fold cross-validation."""
    return Model(
        "SVR + grid",
        lambda task: GridSearchCV(SVR(gamma=task.gamma), GRID, cv=5).fit(task.X, task.y),
        lambda fitted, task: fitted.predict(task.X_test),
        lambda fitted: fitted.best_estimator_.support_.size,
    )


def gpr() -> Model:
    """`GaussianProcessRegressor`, which tunes its own width; the task's is its start."""

    def fit(task: Task) -> GaussianProcessRegressor:
        variance = float(task.y.var())
        kernel = ConstantKernel(variance) * RBFKernel(1.0 / np.sqrt(2.0 * task.gamma))
        kernel += WhiteKernel(0.1 * variance)
        return GaussianProcessRegressor(kernel).fit(task.X, task.centred)

    return Model(
        "GaussianProcessRegressor",
        fit,
        lambda fitted, task: task.offset + fitted.predict(task.X_test),
        lambda fitted: len(fitted.X_train_),
        lambda fitted, task: float(fitted.log_marginal_likelihood_value_),
        largest=2000,
    )


def all_models() -> list[Model]:
    """The models of the comparison, ours first."""
    plain = our_rvr(PLAIN, adapt=None, calibrate=None)
    brief = our_rvr(BRIEF, adapt=None, calibrate=None, solver=Sequential(brief=True))
    return [our_rvr(), plain, brief, fast_rvr(), ard(), svr(), svr_grid(), gpr()]
