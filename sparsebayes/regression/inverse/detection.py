"""Limits of detection of a calibration curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sparsebayes._support.calibration import interval_width
from sparsebayes._support.validation import (
    as_number,
    check_coverage,
    positive_number,
    whole_number,
)
from sparsebayes.regression.inverse.curve import Curve, as_known, curve_of, nodes_of

Array = np.ndarray

_DIP = 1.0  # standard deviations of the blank's reading, by which a monotone curve may go back
_ROUNDING = 1e-12  # of the largest reading: a standard deviation is not taken to be less
_DECADES = np.geomspace(1e-12, 1.0, 385)[:-1]  # of the way up from the blank: nodes in any case
_STEP, _WIDEST = 1e-3, 1e-5  # of differences for slopes: of the way from the blank, of the range


@dataclass(frozen=True)
class DetectionLimit:
    """Limits of a calibration curve, from `detection_limit`.

    The first limit is a reading, the other two are inputs.

    Parameters
    ----------
    critical_value : float
        The decision limit, a reading: those of a blank pass it with probability `alpha`.
    detection_limit : float
        The smallest input whose readings pass the critical value with probability ``1 - beta``.
    quantification_limit : float or None
        The smallest input from there on that can be told with the relative standard deviation
        asked for, counted from the blank; None if the curve has none.
    blank, blank_mean, blank_std : float
        The input of a blank, and mean and standard deviation of its readings.
    rising : bool
        Whether readings rise or fall from the blank on.
    alpha, beta : float
        Probabilities of a false alarm and of a miss, as they were asked for.
    n_replicates : int
        How many readings are averaged before they are judged.

    See Also
    --------
    detection_limit : Find these limits.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> x = np.linspace(0, 10, 60)
    >>> y = 3 + 2 * x + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> found = RVR("linear").fit(x[:, None], y).detection_limit()
    >>> round(found.critical_value, 1), round(found.detection_limit, 2), found.rising
    (3.1, 0.16, True)
    """

    critical_value: float
    detection_limit: float
    quantification_limit: float | None
    blank: float
    blank_mean: float
    blank_std: float
    rising: bool
    alpha: float
    beta: float
    n_replicates: int


def detection_limit(
    model: Any,
    blank: float | None = None,
    *,
    alpha: float = 0.05,
    beta: float = 0.05,
    n_replicates: int = 1,
    relative_std: float = 0.1,
    target: int | None = None,
    X: Any = None,
    bounds: Any = None,
) -> DetectionLimit:
    """Tell from which input on a reading differs from that of a blank.

    A blank has readings too. A reading counts as something only if blanks rarely give it, and an
    input counts as detectable only if its readings are rarely taken for a blank's.

    Parameters
    ----------
    model : RVR, ReducedRankGPR, or a Pipeline that ends in one
        Fitted to readings at known inputs: the calibration curve.
    blank : float, default=None
        The input of a blank; None takes the smallest of the training rows.
    alpha : float, default=0.05
        Probability that a blank is taken for something.
    beta : float, default=0.05
        Probability that something at the limit is taken for a blank.
    n_replicates : int, default=1
        How many readings are averaged before they are judged.
    relative_std : float, default=0.1
        Of the quantification limit.
    target : int, default=None
        Which one, of a model with several targets.
    X : array-like of shape (n_features,), default=None
        For models with several inputs: those that are known, and NaN for the one asked for.
    bounds : tuple of float, default=None
        The range of the input; None takes that of the training rows.

    Returns
    -------
    DetectionLimit
        The critical value, and the limits of detection and quantification.

    See Also
    --------
    inverse_predict : Tell from readings which inputs gave them.

    Notes
    -----
    After Currie [1]_ and ISO 11843. Standard deviations are those of predictions: the noise and
    what is uncertain of the curve. With outliers (``noise=StudentT``) quantiles are Student's t.

    References
    ----------
    .. [1] L. Currie, "Nomenclature in evaluation of analytical methods including detection and
       quantification capabilities", Pure and Applied Chemistry 67, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.regression import detection_limit
    >>> x = np.linspace(0, 10, 60)
    >>> y = 3 + 2 * x + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> model = RVR("linear").fit(x[:, None], y)
    >>> limits = [detection_limit(model, n_replicates=count) for count in (1, 4)]
    >>> [round(limit.detection_limit, 2) for limit in limits]
    [0.16, 0.08]
    """
    alpha, beta = check_coverage(alpha, "alpha"), check_coverage(beta, "beta")
    if alpha + beta >= 1.0:
        raise ValueError(
            f"alpha + beta must be less than 1, since readings of the blank itself pass otherwise, "
            f"got {alpha:g} and {beta:g}."
        )
    count = whole_number("n_replicates", n_replicates)
    relative = positive_number("relative_std", relative_std)
    known = None if X is None else as_known(X, int(model.n_features_in_))
    if known is not None and len(known) > 1:
        raise ValueError(f"X must be one row, got {len(known)}.")
    curve = _of_target(curve_of(model, None if known is None else known[0], bounds), target)
    if curve.nu is not None and count > 1:
        raise ValueError(
            f"n_replicates={n_replicates!r} averages readings, and with outliers (noise=StudentT) "
            "the distribution of the average is not known; use n_replicates=1."
        )
    start = 0.0 if blank is None else _place(curve, blank)
    # Quantiles of one side, in standard deviations.
    wide = [interval_width(1.0 - 2.0 * share, curve.nu) for share in (alpha, beta)]
    places = np.append(start, start + (1.0 - start) * _DECADES)
    nodes = nodes_of(curve, lambda place: np.zeros(len(place)), places, count)
    least = _ROUNDING * float(np.abs(nodes.mean).max())
    inputs = curve.input_at(nodes.place[np.searchsorted(nodes.place, start) :])

    def reading(x: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the mean of all replicates."""
        mean, variance, noise = (part[:, 0] for part in curve.moments(x))
        return mean, np.maximum(np.sqrt(variance + noise / count), least)

    mean, std = reading(inputs)
    far = [sign * (mean - mean[0]) - wide[0] * std[0] - wide[1] * std for sign in (1.0, -1.0)]
    reached = [np.flatnonzero(one >= 0.0) for one in far]
    ends = [int(one[one > 0][0]) if (one > 0).any() else len(mean) for one in reached]
    rising = ends[0] <= ends[1]
    sign, end = (1.0, ends[0]) if rising else (-1.0, ends[1])
    here = float(curve.input_at(start))
    if end >= len(mean):
        raise ValueError(
            f"Between {here:g} and {curve.high:g} no readings differ enough from those of a blank, "
            f"{mean[0]:.4g} ± {std[0]:.2g}; raise alpha={alpha:g}, beta={beta:g} or n_replicates, "
            "or extend the curve."
        )
    way = sign * mean[: end + 1]
    if (np.maximum.accumulate(way) - way).max() > _DIP * std[0]:
        raise ValueError(
            f"The curve is not monotone between the blank, {here:g}, and "
            f"{inputs[end]:g}, where readings first differ enough; "
            "give another blank, or bounds in which the curve only rises or falls."
        )
    critical = mean[0] + sign * wide[0] * std[0]

    def passed(x: Array) -> Array:
        value, deviation = reading(x)
        return sign * (value - critical) - wide[1] * deviation

    def quantified(x: Array) -> Array:
        return relative * _slope(curve, x, here) * (x - here) - reading(x)[1]

    found = _first(passed, inputs[end - 1 : end + 1], here)
    limit = float(inputs[end]) if found is None else found
    higher = inputs[end:]
    beyond = np.unique(np.concatenate([[limit], higher, 0.5 * (higher[1:] + higher[:-1])]))
    return DetectionLimit(
        float(critical), limit, _first(quantified, beyond, here),
        here, float(mean[0]), float(std[0]), rising, alpha, beta, count,
    )  # fmt: skip


def _of_target(curve: Curve, target: int | None) -> Curve:
    """The curve of one target."""
    if curve.n_targets is None:
        if target is not None:
            raise ValueError(f"target={target!r} is for models with several targets; leave it out.")
        return curve
    number = 0 if target is None and curve.n_targets == 1 else target
    if number is None or number not in range(curve.n_targets):
        raise ValueError(
            f"target must be a whole number from 0 to {curve.n_targets - 1}, since the model has "
            f"{curve.n_targets} targets, got {target!r}."
        )

    def moments(x: Array) -> tuple[Array, Array, Array]:
        every = curve.moments(x)
        return tuple(part[:, [number]] for part in every)  # type: ignore[return-value]

    return Curve(curve.low, curve.high, moments, None, curve.nu)


def _place(curve: Curve, blank: Any) -> float:
    value = as_number(blank)
    if value is None or not curve.low <= value < curve.high:
        raise ValueError(
            f"blank must be an input between {curve.low:g} and {curve.high:g}, where the curve "
            f"was measured, got {blank!r}; bounds=(low, high) extends it."
        )
    return (value - curve.low) / curve.width


def _slope(curve: Curve, x: Array, blank: float) -> Array:
    """The steepness of the curve, by differences that get narrow towards the blank."""
    step = np.minimum(_STEP * (x - blank), _WIDEST * curve.width)
    left, right = np.maximum(x - step, curve.low), np.minimum(x + step, curve.high)
    rise = curve.moments(right)[0][:, 0] - curve.moments(left)[0][:, 0]
    return np.divide(np.abs(rise), right - left, out=np.zeros_like(x), where=right > left)


def _first(function: Callable[[Array], Array], inputs: Array, blank: float) -> float | None:
    """The first input at which a function is not negative, between two of ascending ones."""
    found = np.flatnonzero(function(inputs) >= 0.0)
    if not found.size:
        return None
    left, right = (float(x) for x in inputs[[max(found[0] - 1, 0), found[0]]])

    def one(x: float) -> float:
        return float(function(np.array([x]))[0])

    if one(left) >= 0.0 or one(right) <= 0.0:
        return right
    return float(brentq(one, left, right, xtol=1e-12 * (right - blank)))
