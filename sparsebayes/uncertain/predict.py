"""Prediction at Gaussian inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from sparsebayes._support.validation import remedies
from sparsebayes.uncertain.moment_maps import moment_map

Array = np.ndarray

_ASYMMETRY = 1e-8  # of a covariance, relative to its largest entry


def predict_uncertain(
    model: Any,
    mean: Any,
    cov: Any,
    *,
    method: str = "auto",
    return_cross_cov: bool = False,
    return_error: bool = False,
    n_samples: int | None = None,
    random_state: Any = 0,
) -> tuple[Array, ...]:
    """Mean and variance of a prediction when the input is Gaussian.

    For ``x ~ N(mean, cov)`` and a model with predictive mean m(x) and variance v(x), these are
    ``E m(x)`` and ``E v(x) + var m(x)``, the moments of a distribution that is itself no Gaussian.

    Parameters
    ----------
    model : RVR, ReducedRankGPR, GaussianProcessRegressor or any with ``predict(X, return_std)``
        A fitted model.
    mean : array-like of shape (n, D)
    cov : array-like of shape (n, D, D) or (D, D)
        A covariance for each input, or one for all; it may be singular or zero.
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
    means, variances : ndarray, (n,)
        Variances include whatever noise ``predict(return_std=True)`` does.
    cross_cov : ndarray, (n, D)
        Only if asked for.
    errors : ndarray, (n, 2)
        Of means and variances; zero for the other methods. Only if asked for.

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
    """
    through = moment_map(model, method, n_samples=n_samples, random_state=random_state)
    mean, cov = check_gaussian(mean, cov, getattr(model, "n_features_in_", None))
    found = through(mean, cov)
    out: tuple[Array, ...] = (found.mean, found.variance)
    if return_cross_cov:
        out += (np.einsum("nde,ne->nd", cov, found.slope),)
    if return_error:
        out += (np.zeros((len(mean), 2)) if found.error is None else found.error,)
    return out


def check_gaussian(mean: Any, cov: Any, n_features: int | None) -> tuple[Array, Array]:
    """Means (n, D) and covariances (n, D, D) of inputs, or a clear error."""
    with remedies():
        mean = check_array(mean, dtype=np.float64, input_name="mean")
        cov = check_array(cov, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="cov")
    n, D = mean.shape
    if n_features is not None and n_features != D:
        raise ValueError(f"mean has {D} features, but the model was fitted with {n_features}.")
    if cov.shape not in ((n, D, D), (D, D)):
        raise ValueError(
            f"cov must have shape ({n}, {D}, {D}), or ({D}, {D}) for all inputs alike, "
            f"got {cov.shape}; put variances on a diagonal with np.diag."
        )
    cov = np.broadcast_to(cov, (n, D, D))
    turned = cov.swapaxes(1, 2)
    largest = np.abs(cov).max(axis=(1, 2), keepdims=True)
    if (np.abs(cov - turned) > _ASYMMETRY * largest).any():
        raise ValueError("cov must be symmetric; is it a root of the covariance?")
    cov = 0.5 * (cov + turned)
    smallest = np.linalg.eigvalsh(cov)[:, 0]
    bad = np.flatnonzero(smallest < -_ASYMMETRY * largest[:, 0, 0] * D)
    if bad.size:
        raise ValueError(
            f"cov must have no negative eigenvalue; that of input {bad[0]} has one of "
            f"{smallest[bad[0]]:.3g}."
        )
    return mean, cov
