"""What the moment maps need of a model, for each kind of model that they accept."""

from __future__ import annotations

import warnings
from functools import singledispatch
from inspect import signature
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.predictive import GaussianRegressorMixin, Marginals
from sparsebayes.engine.moments import LinearModel
from sparsebayes.gp.kernels import shape_of, without_shape

Array = np.ndarray


@singledispatch
def marginals_of(model: Any) -> Marginals:
    """The predictions of a fitted model, or a clear error. Other kinds can be registered."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(f"model must be a fitted regressor such as RVR, got {model!r}.")
    check_is_fitted(model)
    predict = getattr(model, "predict", None)
    names = () if predict is None else signature(predict).parameters.values()
    if not any(name.name == "return_std" or name.kind is name.VAR_KEYWORD for name in names):
        raise TypeError(f"model must have a method predict(X, return_std=True), got {model!r}.")
    return Predicted(model)


@marginals_of.register
def _(model: GaussianRegressorMixin) -> Marginals:
    check_is_fitted(model)
    if np.ndim(getattr(model, "offset_", 0.0)):
        raise ValueError(
            f"model must be fitted to a single target; fit one {type(model).__name__} for each."
        )
    return model.predictive()


@marginals_of.register
def _(model: GaussianProcessRegressor) -> Marginals:
    if not hasattr(model, "alpha_"):
        raise NotFittedError("This GaussianProcessRegressor is not fitted yet; call 'fit' first.")
    if model.alpha_.ndim == 2 and model.alpha_.shape[1] > 1:
        raise ValueError(
            "model must be fitted to a single target; fit one GaussianProcessRegressor for each."
        )
    return FullProcess(model)


class Predicted(Marginals):
    """Any model with ``predict(X, return_std=True)``; its variances include what noise they do."""

    noise = 0.0

    def __init__(self, model: Any) -> None:
        self.model = model

    def marginal(self, X: Array) -> tuple[Array, Array]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            mean, std = self.model.predict(X, return_std=True)
        return mean, std**2

    def closed_form(self) -> tuple[LinearModel | None, str]:
        return None, (
            "formulas that are not known, unlike those of RVR, ReducedRankGPR, NoisyInputGPR and "
            "GaussianProcessRegressor"
        )


class FullProcess(Predicted):
    """A Gaussian process of scikit-learn."""

    def closed_form(self) -> tuple[LinearModel | None, str]:
        model = self.model
        shape = shape_of(model.kernel_, model.X_train_.shape[1])
        if shape is None:
            return None, without_shape(model.kernel_)
        # scikit-learn keeps the units of the targets in private attributes only.
        scale = np.asarray(model._y_train_std).item()
        offset = np.asarray(model._y_train_mean).item()
        inverse = solve_triangular(model.L_, np.eye(len(model.L_)), lower=True)
        weights = scale * model.alpha_.ravel()
        return shape.process(model.X_train_, weights, inverse, scale, offset), ""
