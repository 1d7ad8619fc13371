"""Prediction at Gaussian inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.data import check_numbers, check_size
from sparsebayes._support.validation import check_switches
from sparsebayes.uncertain.moment_maps import MomentMethod, moment_map

Array = np.ndarray

_LARGEST = 1e75  # variance
_ASYMMETRY = 1e-8  # of a covariance, relative to its largest entry


def predict_uncertain(
    model: Any,
    mean: Any,
    cov: Any = None,
    *,
    variances: Any = None,
    method: MomentMethod = "auto",
    return_cross_cov: bool = False,
    return_error: bool = False,
    n_samples: int | None = None,
    random_state: Any = 0,
) -> tuple[Array, ...]:
    """Predict with a fitted model where the input is known up to a normal distribution.

    For ``x ~ N(mean, cov)`` and a model with predictive mean m(x) and variance v(x), these are
    ``E m(x)`` and ``E v(x) + var m(x)``, the moments of a distribution that is itself no Gaussian.

    Parameters
    ----------
    model : RVR, ReducedRankGPR, GaussianProcessRegressor or any with ``predict(X, return_std)``
        A fitted model.
    mean : array-like of shape (n, D)
        The means of the inputs.
    cov : float or array-like of shape (D,), (D, D) or (n, D, D), default=None
        For all inputs alike a variance of all features, variances of each feature, or a covariance;
        or a covariance for each input. The number of inputs never decides what a shape means: an
        array of two dimensions is one covariance, of one dimension the variances of the features.
        A covariance may be singular or zero; one for all is not copied for each input.
    variances : array-like of shape (n, D), default=None
        In place of `cov`, the variances of the features of each input, which are independent.
    method : {"auto", "exact", "quadrature", "taylor", "monte_carlo"}, default="auto"
        "exact" uses closed forms: of `RVR` and `ReducedRankGPR` without `augment`, with
        squared exponentials, polynomials up to the third degree and sums of them, and of
        scikit-learn's `GaussianProcessRegressor` with constants, RBFs and noise. "quadrature"
        averages over nodes of a low-discrepancy rule what has no closed form, until the error is
        small: of augmented models the correction alone, of others everything. "auto" takes
        the first of these two that applies. "taylor" expands m to first and v to second order
        about the mean. "monte_carlo" averages over random inputs.
    return_cross_cov : bool, default=False
        Whether to return the covariance between input and prediction.
    return_error : bool, default=False
        Whether to return the standard errors of "quadrature" and "monte_carlo".
    n_samples : int or None, default=None
        Draws of "monte_carlo", 10000 by default; the most nodes of "quadrature", 32768.
    random_state : int, RandomState instance or None, default=0
        Draws the inputs, or the shifts of the nodes.

    Returns
    -------
    means : ndarray, (n,)
        Means of the predictions.
    variances : ndarray, (n,)
        Their variances, with whatever noise ``predict(return_std=True)`` includes.
    cross_cov : ndarray, (n, D)
        Covariances between input and prediction. Only if asked for.
    errors : ndarray, (n, 2)
        Standard errors of means and variances; zero for the other methods. Only if asked for.

    See Also
    --------
    NoisyInputGPR : Learns from training inputs that are uncertain themselves.
    sparsebayes.regression.inverse_predict : From a reading back to its input.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.1.
    .. [2] A. Girard, C. Rasmussen, J. Quiñonero-Candela, R. Murray-Smith, "Gaussian process priors
       with uncertain inputs", NIPS 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, predict_uncertain
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> model = RVR().fit(X, y)
    >>> mean, variance = predict_uncertain(model, [[0.0]], [[4.0]])
    >>> bool(mean[0] < model.predict([[0.0]])[0])  # the peak is smoothed
    True

    The same variance for all inputs, and another for each:

    >>> mean, variance = predict_uncertain(model, [[0.0], [5.0]], 4.0)
    >>> mean, variance = predict_uncertain(model, [[0.0], [5.0]], variances=[[4.0], [0.5]])
    """
    check_switches(return_cross_cov=return_cross_cov, return_error=return_error)
    through = moment_map(model, method, n_samples=n_samples, random_state=random_state)
    mean, cov = check_gaussian(mean, cov, variances, getattr(model, "n_features_in_", None))
    found = through(mean, cov)
    out: tuple[Array, ...] = (found.mean, found.variance)
    if return_cross_cov:
        if cov.ndim == 2:
            out += (cov * found.slope,)
        else:
            out += (np.einsum("nde,ne->nd", cov, found.slope),)
    if return_error:
        out += (np.zeros((len(mean), 2)) if found.error is None else found.error,)
    return out


def check_gaussian(
    mean: Any, cov: Any, variances: Any, n_features: int | None
) -> tuple[Array, Array]:
    """Means (n, D) of inputs and what a `MomentMap` takes for their covariances.

    These are (n, D, D), (1, D, D) if all inputs share one, or variances (n, D); or a clear error.
    """
    mean = check_size("mean", check_numbers("mean", mean, ensure_2d=True))
    n, D = mean.shape
    if n_features is not None and n_features != D:
        raise ValueError(f"mean has {D} features, but the model was fitted with {n_features}.")
    if (cov is None) == (variances is None):
        raise ValueError(
            f"cov={cov!r} and variances={variances!r} cannot both be given; leave one out."
            if cov is not None
            else "cov is missing (None); give it, or variances of shape "
            f"({n}, {D}), one for each feature of each input."
        )
    if cov is None:
        return mean, _check_variances(variances, n, D)
    return mean, _check_covariances(cov, n, D)


def _check_variances(variances: Any, n: int, D: int) -> Array:
    """Variances of each input, (n, D)."""
    variances = _numbers(variances, "variances")
    if variances.shape != (n, D):
        raise ValueError(
            f"variances must have shape ({n}, {D}), one for each feature of each input, got "
            f"{variances.shape}; what all inputs share is given as cov."
        )
    bad = np.argwhere(variances < 0.0)
    if len(bad):
        i, d = bad[0]
        raise ValueError(
            f"variances must not be negative; that of input {i}, feature {d} is "
            f"{variances[i, d]:.3g}."
        )
    return variances


def _check_covariances(cov: Any, n: int, D: int) -> Array:
    """Covariances of each input, (n, D, D), or the one of all, (1, D, D)."""
    cov = _numbers(cov, "cov")
    if cov.shape in ((), (D,)):
        if (cov < 0.0).any():
            raise ValueError(
                f"cov must not be negative; it holds a variance of {cov.min():.3g}. Give "
                "variances: squares of standard deviations."
            )
        return np.diag(np.broadcast_to(cov, D))[None]
    if cov.shape not in ((n, D, D), (D, D)):
        raise ValueError(
            "cov must be one variance, or for all inputs alike have shape "
            f"({D},) or ({D}, {D}), or ({n}, {D}, {D}) with a covariance for each, got "
            f"{cov.shape}; variances of each input, ({n}, {D}), are given as variances=."
        )
    if cov.ndim == 2:
        cov = cov[None]
    elif cov.strides[0] == 0:  # one that was broadcast
        cov = cov[:1]
    turned = cov.swapaxes(1, 2)
    largest = np.abs(cov).max(axis=(1, 2), keepdims=True)
    if (np.abs(cov - turned) > _ASYMMETRY * largest).any():
        raise ValueError("cov must be symmetric; is it a root of the covariance?")
    cov = 0.5 * (cov + turned)
    smallest = np.linalg.eigvalsh(cov)[:, 0]
    bad = np.flatnonzero(smallest < -_ASYMMETRY * largest[:, 0, 0] * D)
    if bad.size:
        whose = "it" if len(cov) < n else f"that of input {bad[0]}"
        raise ValueError(
            f"cov must have no negative eigenvalue; {whose} has one of {smallest[bad[0]]:.3g}."
        )
    return cov


def _numbers(values: Any, name: str) -> Array:
    """Finite numbers of any shape."""
    any_shape = {"allow_nd": True, "ensure_min_samples": 0, "ensure_min_features": 0}
    return check_size(name, check_numbers(name, values, **any_shape))
