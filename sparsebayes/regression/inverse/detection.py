"""Limits of detection of a calibration curve."""

from __future__ import annotations

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
from sparsebayes.regression.inverse.curve import Curve, Nodes, as_known, curve_of, nodes_of

Array = np.ndarray

_DIP = 1.0  # standard deviations of the blank's reading, by which a monotone curve may go back


@dataclass(frozen=True)
class DetectionLimit:
    """Limits of a calibration curve, from `detection_limit`.

    Attributes
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
    n_replicates : int

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

    Parameters
    ----------
    model : RVR, ReducedRankGPR, or a Pipeline that ends in one
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
    found : DetectionLimit

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
    nodes = nodes_of(curve, lambda place: np.zeros(len(place)), np.array([start]), count)
    mean, std = nodes.mean[:, 0], np.sqrt(nodes.variance + nodes.noise / count)[:, 0]
    first = int(np.searchsorted(nodes.place, start))
    far = [
        sign * (mean[first:] - mean[first]) - wide[0] * std[first] - wide[1] * std[first:]
        for sign in (1.0, -1.0)
    ]
    reached = [np.flatnonzero(passed >= 0.0) for passed in far]
    ends = [int(found[found > 0][0]) if (found > 0).any() else len(mean) for found in reached]
    rising = ends[0] <= ends[1]
    sign, end = (1.0, ends[0]) if rising else (-1.0, ends[1])
    here = float(curve.input_at(start))
    if first + end >= len(mean):
        raise ValueError(
            f"Between {here:g} and {curve.high:g} no readings differ enough from those of a blank, "
            f"{mean[first]:.4g} ± {std[first]:.2g}; raise alpha, beta or n_replicates, or extend "
            "the curve."
        )
    way = sign * mean[first : first + end + 1]
    if (np.maximum.accumulate(way) - way).max() > _DIP * std[first]:
        raise ValueError(
            f"The curve is not monotone between the blank, {here:g}, and "
            f"{curve.input_at(nodes.place[first + end]):g}, where readings first differ enough; "
            "give another blank, or bounds in which the curve only rises or falls."
        )
    critical = mean[first] + sign * wide[0] * std[first]

    def passed(place: float) -> float:
        value, variance, noise = (float(part[0, 0]) for part in curve.at(np.array([place])))
        return sign * (value - critical) - wide[1] * float(np.sqrt(variance + noise / count))

    left, right = nodes.place[first + end - 1], nodes.place[first + end]
    limit = right if passed(left) >= 0 or passed(right) <= 0 else brentq(passed, left, right)
    return DetectionLimit(
        float(critical), float(curve.input_at(limit)),
        _quantified(nodes, std, curve, start, float(limit), relative),
        here, float(mean[first]), float(std[first]), rising, alpha, beta, count,
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


def _quantified(
    nodes: Nodes, std: Array, curve: Curve, blank: float, limit: float, relative: float
) -> float | None:
    """The first input from the limit on whose standard deviation is small beside it."""
    middle = 0.5 * (nodes.place[1:] + nodes.place[:-1])
    slope = np.abs(np.diff(nodes.mean[:, 0])) / np.diff(nodes.place)
    spread = 0.5 * (std[1:] + std[:-1])
    good = (middle >= limit) & (spread <= relative * slope * (middle - blank))
    if not good.any():
        return None
    return float(curve.input_at(max(limit, float(middle[good.argmax()]))))
