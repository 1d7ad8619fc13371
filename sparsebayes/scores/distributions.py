"""Scores of Gaussian predictions, by targets, mean and standard deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from sparsebayes._support.data import check_numbers, check_size, check_weights, finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import LARGEST, as_number, check_coverage, check_switches

Array = np.ndarray


def negative_log_predictive_density(
    y: Any, mean: Any, std: Any, *, sample_weight: Any = None, per_sample: bool = False
) -> Any:
    """Compute minus the log density of the targets under the predictions, in nats.

    It punishes both errors and wrong error bars, and above all being wrong and sure of it.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    mean, std : array-like of shape (n_samples,), or float
        Mean and standard deviation of the predictions, the noise included.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the average.
    per_sample : bool, default=False
        Whether to return the value of each sample instead of the average.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        Less is better.

    See Also
    --------
    crps : Milder to outliers, in the units of the target.
    nlpd_scorer : The same for scikit-learn's searches.

    Examples
    --------
    >>> from sparsebayes.scores import negative_log_predictive_density
    >>> round(negative_log_predictive_density([1.0, 2.0], [1.0, 2.0], 1.0), 4)
    0.9189
    """
    y, mean, std = _checked(y, mean, std)
    values = 0.5 * np.log(2.0 * np.pi) + np.log(std) + 0.5 * ((y - mean) / std) ** 2
    return _averaged(values, sample_weight, per_sample)


def crps(
    y: Any, mean: Any, std: Any, *, sample_weight: Any = None, per_sample: bool = False
) -> Any:
    """Compute the continuous ranked probability score, in the units of the target [1]_.

    It is the squared distance between the predicted distribution function and that of the
    target, a step; for a sure prediction, the absolute error. It needs the package scoringrules.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    mean, std : array-like of shape (n_samples,), or float
        Mean and standard deviation of the predictions, the noise included.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the average.
    per_sample : bool, default=False
        Whether to return the value of each sample instead of the average.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        Less is better.

    See Also
    --------
    negative_log_predictive_density : The logarithm of the density instead.
    crps_scorer : The same for scikit-learn's searches.

    References
    ----------
    .. [1] T. Gneiting, A. Raftery, "Strictly proper scoring rules, prediction, and estimation",
       JASA 102, 2007.

    Examples
    --------
    >>> from sparsebayes.scores import crps
    >>> round(crps([0.0], [0.0], [1.0]), 4)
    0.2337
    """
    rules = require("scoringrules", "crps")
    y, mean, std = _checked(y, mean, std)
    return _averaged(rules.crps_normal(y, mean, std, backend="numpy"), sample_weight, per_sample)


def interval_score(
    y: Any,
    mean: Any,
    std: Any,
    coverage: float = 0.95,
    *,
    sample_weight: Any = None,
    per_sample: bool = False,
) -> Any:
    """Add up the width of the central interval and a fine for each target outside [1]_.

    The fine is ``2 / (1 − coverage)`` times the distance to the interval, so that the score is
    least, on average, for the true quantiles. It needs the package scoringrules.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    mean, std : array-like of shape (n_samples,), or float
        Mean and standard deviation of the predictions, the noise included.
    coverage : float, default=0.95
        Probability inside the interval.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the average.
    per_sample : bool, default=False
        Whether to return the value of each sample instead of the average.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        Less is better.

    See Also
    --------
    interval_coverage : The share of targets inside.
    interval_scorer : The same for scikit-learn's searches.

    References
    ----------
    .. [1] T. Gneiting, A. Raftery, "Strictly proper scoring rules, prediction, and estimation",
       JASA 102, 2007.

    Examples
    --------
    >>> from sparsebayes.scores import interval_score
    >>> interval_score([0.0, 4.0], 0.0, 1.0, per_sample=True).round(1)
    array([ 3.9, 85.5])
    """
    rules = require("scoringrules", "interval_score")
    y, mean, std = _checked(y, mean, std)
    half = _half_width(std, coverage)
    values = rules.interval_score(y, mean - half, mean + half, 1.0 - coverage, backend="numpy")
    return _averaged(values, sample_weight, per_sample)


def interval_coverage(
    y: Any,
    mean: Any,
    std: Any,
    coverage: float = 0.95,
    *,
    sample_weight: Any = None,
    per_sample: bool = False,
) -> Any:
    """Count the share of targets inside the central interval.

    It should be what was asked for; less means that standard deviations are too small.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    mean, std : array-like of shape (n_samples,), or float
        Mean and standard deviation of the predictions, the noise included.
    coverage : float, default=0.95
        Probability inside the interval: what the share should be.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the average.
    per_sample : bool, default=False
        Whether to return for each sample whether it is inside.

    Returns
    -------
    float, or ndarray of bool of shape (n_samples,)
        The share.

    See Also
    --------
    interval_width : What the coverage is paid with.
    coverage_scorer : The same for scikit-learn's searches.

    Examples
    --------
    >>> from sparsebayes.scores import interval_coverage
    >>> interval_coverage([0.0, 1.0, 2.0, 3.0], 0.0, 1.0)
    0.5
    """
    y, mean, std = _checked(y, mean, std)
    return _averaged(np.abs(y - mean) <= _half_width(std, coverage), sample_weight, per_sample)


def interval_width(
    std: Any, coverage: float = 0.95, *, sample_weight: Any = None, per_sample: bool = False
) -> Any:
    """Measure the width of the central interval, in the units of the target.

    Of two models with the same coverage the one with narrower intervals knows more.

    Parameters
    ----------
    std : array-like of shape (n_samples,)
        Standard deviation of the predictions, the noise included.
    coverage : float, default=0.95
        Probability inside the interval.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the average.
    per_sample : bool, default=False
        Whether to return the value of each sample instead of the average.

    Returns
    -------
    float, or ndarray of shape (n_samples,)
        The width.

    See Also
    --------
    interval_coverage : The share of targets inside.

    Examples
    --------
    >>> from sparsebayes.scores import interval_width
    >>> round(interval_width([1.0, 2.0]), 2)
    5.88
    """
    std = _positive(_column(std, "std"))
    return _averaged(2.0 * _half_width(std, coverage), sample_weight, per_sample)


def pit_values(y: Any, mean: Any, std: Any) -> Array:
    """Evaluate the predicted distribution function at each target.

    This is the probability integral transform.

    The values are uniform between 0 and 1 if the predictions are right. Many near both ends
    mean that `std` is too small, many in the middle that it is too large.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    mean, std : array-like of shape (n_samples,), or float
        Mean and standard deviation of the predictions, the noise included.

    Returns
    -------
    ndarray of shape (n_samples,)
        Between 0 and 1.

    See Also
    --------
    sparsebayes.plots.CalibrationDisplay : A figure of them.
    interval_coverage : One number in their place.

    Examples
    --------
    >>> from sparsebayes.scores import pit_values
    >>> pit_values([0.0, 3.0], 0.0, 1.0).round(3)
    array([0.5  , 0.999])
    """
    y, mean, std = _checked(y, mean, std)
    return ndtr((y - mean) / std)


def _column(values: Any, name: str) -> Array:
    values = check_size(name, check_numbers(name, values))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n_samples,), got {values.shape}.")
    return values


def _positive(std: Array) -> Array:
    if not (std > 0).all():
        raise ValueError(f"std must be positive, got {std.min():g} among its values.")
    if std.min(initial=1.0) < 1.0 / LARGEST:
        raise ValueError(
            f"std has {std.min():g} among its values, and its square is out of range; rescale it, "
            f"y and mean, so that it is at least {1.0 / LARGEST:g}."
        )
    return std


def _checked(y: Any, mean: Any, std: Any) -> tuple[Array, Array, Array]:
    """The three as arrays of one shape."""
    y = _column(y, "y")
    others = []
    for name, values in (("mean", mean), ("std", std)):
        number = as_number(values)
        values = values if number is None else np.full(y.shape, number)
        values = _column(values, name)
        if values.shape != y.shape:
            raise ValueError(f"{name} must have shape {y.shape} like y, got {values.shape}.")
        others.append(values)
    return y, others[0], _positive(others[1])


def _half_width(std: Array, coverage: float) -> Array:
    return ndtri(0.5 + check_coverage(coverage) / 2) * std


def _averaged(values: Array, sample_weight: Any, per_sample: bool) -> Any:
    check_switches(per_sample=per_sample)
    if per_sample:
        if sample_weight is not None:
            raise ValueError("sample_weight weighs an average; with per_sample=True there is none.")
        return values
    if sample_weight is None:
        return float(np.mean(values))
    weights = finite_array("sample_weight", sample_weight, values.shape)
    return float(np.average(values, weights=check_weights(weights, values)))
