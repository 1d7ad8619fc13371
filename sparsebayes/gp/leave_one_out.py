"""The leave-one-out log predictive density of a Gaussian process, and regression tuned by it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel, WhiteKernel
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.calibration import interval_width
from sparsebayes._support.data import (
    CheckedScoreMixin,
    check_fit,
    check_numbers,
    check_size,
    finite_array,
    remedies,
)
from sparsebayes._support.fits.whole import all_or_nothing
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.validation import (
    as_number,
    as_random_state,
    check_coverage,
    check_switches,
    whole_number,
)
from sparsebayes.engine.linalg import one_thread, own_threads
from sparsebayes.gp.kernels import check_kernel, contract, default_kernel

Array = np.ndarray


def _check_noise(name: str, noise: Any, n_samples: int) -> Array:
    """A variance, or one for each sample; or a clear error."""
    found = check_numbers(name, noise, ensure_min_samples=0)
    if found.shape not in ((), (n_samples,)) or not np.all(found >= 0):
        raise ValueError(
            f"{name} must be a variance >= 0, or one for each of the {n_samples} samples, "
            f"got {noise!r}."
        )
    return found


def loo_log_predictive(
    kernel: Kernel, X: Any, y: Any, noise: Any = 1e-10, *, eval_gradient: bool = False
) -> float | tuple[float, Array]:
    """Score a kernel by the log density of each target given all others.

    The sum ``Σ_n log p(y_n | all others)`` is that of a Gaussian process of mean zero.

    This is Geisser's surrogate predictive probability [1]_. Unlike the evidence it judges
    predictions only, and so depends less on whether the prior is right [2]_.

    Parameters
    ----------
    kernel : kernel of scikit-learn
        It may hold a WhiteKernel.
    X : array-like of shape (n_samples, n_features)
        The inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Centre them first. Several targets are independent and share the kernel.
    noise : float or array-like of shape (n_samples,), default=1e-10
        A variance added to the diagonal, as `alpha` of scikit-learn's
        `GaussianProcessRegressor`.
    eval_gradient : bool, default=False
        Whether to return the gradient too.

    Returns
    -------
    value : float
        −inf where the covariance is singular in rounding.
    gradient : ndarray
        With respect to ``kernel.theta``; only if asked for.

    See Also
    --------
    LeaveOneOutGPR : Regression with the kernel that scores best.

    References
    ----------
    .. [1] S. Sundararajan, S. Keerthi, "Predictive approaches for choosing hyperparameters in
       Gaussian processes", Neural Computation 13, 2001.
    .. [2] C. Rasmussen, C. Williams, "Gaussian processes for machine learning", 2006, 5.4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from sparsebayes import loo_log_predictive
    >>> X = np.linspace(0, 6, 20)[:, None]
    >>> value = loo_log_predictive(RBF(1.0), X, np.sin(X[:, 0]), noise=0.01)
    >>> value > loo_log_predictive(RBF(0.1), X, np.sin(X[:, 0]), noise=0.01)
    True
    """
    check_kernel(kernel)
    X, y, _ = check_fit(None, X, y, several=True)
    noise = _check_noise("noise", noise, len(X))
    check_switches(eval_gradient=eval_gradient)
    targets = y.reshape(len(X), -1)
    K = kernel(X)
    K[np.diag_indices_from(K)] += noise
    try:
        inverse = cho_solve((cholesky(K, lower=True), True), np.eye(len(K)))
    except LinAlgError:
        gradient = np.zeros(kernel.n_dims)
        return (-np.inf, gradient) if eval_gradient else -np.inf
    alpha = inverse @ targets
    precision = np.diag(inverse)[:, None]  # of y_n given all others
    residual = alpha / precision
    density = np.log(precision) - precision * residual**2 - np.log(2.0 * np.pi)
    value = 0.5 * float(density.sum())
    if not eval_gradient:
        return value
    # By dK⁻¹ = −K⁻¹ dK K⁻¹: the value's derivative by each entry of K.
    by_precision = 0.5 * (1.0 / precision + residual**2).sum(axis=1)
    by_entry = (inverse @ residual) @ alpha.T
    by_entry -= (inverse * by_precision) @ inverse
    return value, contract(kernel, X, None, 0.5 * (by_entry + by_entry.T))


class LeaveOneOutGPR(GuidedMixin, NamedSummaryMixin, CheckedScoreMixin, GaussianProcessRegressor):
    """Gaussian process regression whose kernel maximises the leave-one-out predictive density.

    scikit-learn's `GaussianProcessRegressor`, with `loo_log_predictive` in place of the
    evidence as the criterion for the kernel's parameters [1]_. Everything else, predictions
    included, is scikit-learn's.

    Parameters
    ----------
    kernel : kernel of scikit-learn or None, default=None
        None takes ``ConstantKernel() * RBF() + WhiteKernel()`` with a length scale for each
        input, all scaled to the data. A kernel without WhiteKernel has the noise `alpha` only.
    alpha : float or ndarray of shape (n_samples,), default=1e-10
        A variance added to the diagonal.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        As in scikit-learn; None leaves the kernel as it is.
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly within the kernel's bounds.
    normalize_y : bool, default=False
        Whether to standardise the targets; else their mean should be near zero.
    copy_X_train : bool, default=True
        Whether the model keeps a copy of the training inputs, or the array that it was given.
    n_targets : int or None, default=None
        How many targets draws have before a fit.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    loo_log_predictive_ : float
        Of the targets as they were fitted (standardised with `normalize_y`).
    kernel_, X_train_, y_train_, L_, alpha_, log_marginal_likelihood_value_, n_features_in_
        As in scikit-learn.

    See Also
    --------
    loo_log_predictive : The criterion by itself.
    ReducedRankGPR : For thousands of samples, tuned by the evidence.

    References
    ----------
    .. [1] F. Sinz, J. Quiñonero-Candela, G. Bakır, C. Rasmussen, M. Franz, "Learning depth from
       stereo", DAGM 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import LeaveOneOutGPR
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> model = LeaveOneOutGPR().fit(X, y)
    >>> model.predict([[1.5]]).shape
    (1,)
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> LeaveOneOutGPR:
        """Choose the kernel's parameters, and fit the process.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.

        Returns
        -------
        LeaveOneOutGPR
            This model, fitted.
        """
        inputs, targets, _ = check_fit(self, X, y, several=True)
        _check_noise("alpha", self.alpha, len(inputs))
        check_switches(normalize_y=self.normalize_y, copy_X_train=self.copy_X_train)
        n_targets = targets.shape[1] if targets.ndim == 2 else 1
        if self.n_targets is not None and whole_number("n_targets", self.n_targets) != n_targets:
            raise ValueError(f"n_targets is {self.n_targets!r}, but y has {n_targets} target(s).")
        given = targets
        if self.normalize_y:
            deviation = given.std(axis=0)
            targets = (given - given.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        if self.kernel is None:
            variance = float(np.mean(targets**2)) or 1.0
            noise = WhiteKernel(0.1 * variance, (1e-8 * variance, 10.0 * variance))
            kernel = default_kernel(inputs, variance) + noise
        else:
            kernel = clone(check_kernel(self.kernel))
        with one_thread(), own_threads(len(inputs) ** 3 / 3):
            if self.optimizer is not None and kernel.n_dims > 0:
                kernel = self._tune(kernel, inputs, targets)
            fitted = GaussianProcessRegressor(
                **{**self.get_params(deep=False), "kernel": kernel, "optimizer": None}
            ).fit(inputs, given)
            found = loo_log_predictive(kernel, inputs, targets, self.alpha)
        names = self.get_params(deep=False)
        for name, value in vars(fitted).items():
            if name not in names:
                setattr(self, name, value)
        self.loo_log_predictive_ = found
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict targets, with the noise of a WhiteKernel in `kernel`.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        return_std : bool, default=False
            Whether standard deviations are returned too.
        return_cov : bool, default=False
            Whether the covariance is returned too.

        Returns
        -------
        ndarray, (n,), or a tuple with the standard deviations or the covariance
            After a fit to K targets, (n, K).
        """
        check_size("X", check_numbers("X", X, ensure_2d=True))
        check_switches(return_std=return_std, return_cov=return_cov)
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not for both; both are True.")
        with remedies("X"):
            return super().predict(X, return_std=return_std, return_cov=return_cov)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Array, Array]:
        """Predict central intervals of new observations.

        The noise is that of a WhiteKernel in `kernel`, as in `predict`; `alpha` is not in it.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        coverage : float, default=0.95
            Probability inside the interval.

        Returns
        -------
        lower : ndarray, (n,)
            Lower ends of the intervals. After a fit to K targets, (n, K).
        upper : ndarray, (n,)
            Upper ends, of the same shape.
        """
        width = interval_width(check_coverage(coverage))
        check_is_fitted(self, "kernel_")  # scikit-learn's predicts without a fit
        mean, std = self.predict(X, return_std=True)
        return mean - width * std, mean + width * std

    def _tune(self, kernel: Kernel, X: Array, y: Array) -> Kernel:
        """The kernel with the best parameters of all starts."""

        def loss(theta: Array, eval_gradient: bool = True) -> Any:
            trial = kernel.clone_with_theta(theta)
            if not eval_gradient:
                return -loo_log_predictive(trial, X, y, self.alpha)  # type: ignore[operator]
            value, gradient = loo_log_predictive(  # type: ignore[misc]
                trial, X, y, self.alpha, eval_gradient=True
            )
            return -value, -gradient

        bounds = kernel.bounds
        starts = [kernel.theta]
        more = whole_number("n_restarts_optimizer", self.n_restarts_optimizer, 0)
        if more > 0:
            if not np.isfinite(bounds).all():
                raise ValueError(
                    "n_restarts_optimizer > 0 needs finite bounds of all parameters of kernel, "
                    f"got {self.kernel}."
                )
            low, high = bounds.T
            starts += list(as_random_state(self.random_state).uniform(low, high, (more, low.size)))
        found = [self._minimise(loss, np.clip(start, *bounds.T), bounds) for start in starts]
        theta, _ = min(found, key=lambda pair: pair[1])
        return kernel.clone_with_theta(theta)

    def _minimise(self, loss: Any, start: Array, bounds: Array) -> tuple[Array, float]:
        if callable(self.optimizer) and not isinstance(self.optimizer, type):
            theta, value = _pair(self.optimizer, self.optimizer(loss, start, bounds=bounds))
            return finite_array("what optimizer returns", theta, start.shape), value
        if not isinstance(self.optimizer, str) or self.optimizer != "fmin_l_bfgs_b":
            raise ValueError(
                f"optimizer must be 'fmin_l_bfgs_b', a callable or None, got {self.optimizer!r}."
            )
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        if found.status == 1:
            warnings.warn(
                f"LeaveOneOutGPR ran out of steps ({found.message}); start nearer to the optimum, "
                "or fix some parameters of the kernel.",
                ConvergenceWarning,
                stacklevel=6,
            )
        return found.x, float(found.fun)


def _pair(optimizer: Any, found: Any) -> tuple[Any, float]:
    """What an optimizer of the user's returns, or a clear error."""
    if not isinstance(found, tuple) or len(found) != 2 or as_number(found[1]) is None:
        raise TypeError(
            "optimizer must return a pair, the parameters and what is least there, got "
            f"{found!r} of {optimizer!r}."
        )
    return found
