"""By how much a predictive distribution is to be widened, told by rows that were held out.

A model is fitted again to all folds but one and predicts that one, at hyperparameters that were
learned from all. The root mean square of its errors in units of its standard deviations is the
factor c by which these are too small. A model may also know of a further variance g(x), of what it
leaves out: then the variance is ``c² s²(x) + v g(x)``, with the v and the c, 1 or more, under which
the rows held out are most likely. Noise that is known is added as it is, and s is the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, brentq, minimize
from scipy.special import ndtr, ndtri, stdtrit

from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import as_number

Array = np.ndarray
Fold = tuple[Array, Array]  # the rows to learn from, and those to predict


class Forecast(NamedTuple):
    """Predictions at some rows, (n,).

    Attributes
    ----------
    mean, variance : ndarray
    known : ndarray or float
        The part of the variance that is known, and not in `variance`.
    further : ndarray or float
        The variance of what the model leaves out, up to a factor.
    """

    mean: Array
    variance: Array
    known: Array | float = 0.0
    further: Array | float = 0.0


Forecaster = Callable[[Array], Forecast]  # from row numbers

_CENTRE = float(2.0 * ndtr(1.0) - 1.0)  # of the observations are within a standard deviation
_FOLDS = 5
_FEWEST = 10  # distinct rows, with fewer of which folds say nothing
_LEAST_GAIN = 2.0  # nats: a further variance that gains less is left out, unless noise is known
_MOST = 10.0  # of the targets' variance: with more it would hardly differ from one of another shape
_LEAST = 0.01  # of the variance without it, at which it begins to show
_GRID = 1.0  # between the logarithms of values at which a search may begin
_ROOM = 7.0  # of log c² where some noise is known: the rest may be small beside it
_NONE = -700.0  # log v of nothing
_AS_LIKELY, _STEP = 0.25, 0.02  # nats below the most likely, and steps of the logarithm up to there


def check_calibrate(calibrate: Any) -> None:
    """A clear error for what is no way to calibrate."""
    if calibrate is None or (isinstance(calibrate, str) and calibrate == "auto"):
        return
    count = as_number(calibrate)
    if count is not None and count >= 2 and count == int(count):
        return
    pairs = isinstance(calibrate, (list, tuple)) and len(calibrate) > 0
    if (hasattr(calibrate, "split") and not isinstance(calibrate, (str, type))) or pairs:
        return
    raise ValueError(
        "calibrate must be 'auto', None, a number of folds from 2 on, a splitter of scikit-learn "
        f"such as KFold(5), or a list of pairs (train, test) of row numbers, got {calibrate!r}"
        f"{hint('calibrate', calibrate)}."
    )


def is_splitter(calibrate: Any) -> bool:
    """Whether folds are given, not a number of them."""
    return not isinstance(calibrate, str) and as_number(calibrate) is None


class Calibration(NamedTuple):
    """c, the factor of a model's standard deviations, and v, that of the further variance.

    Of several targets, one for each.
    """

    factor: Any = 1.0
    further: Any = 0.0


def as_folds(calibrate: Any, X: Array, y: Array) -> Any:
    """The folds of a splitter as pairs of row numbers, or a clear error; what else may be stays."""
    if calibrate is None or not is_splitter(calibrate):
        return calibrate
    from sklearn.model_selection import check_cv

    rows, pairs = np.arange(len(X)), []
    try:
        for train, test in check_cv(calibrate).split(X, y):
            pairs.append((rows[train], rows[test]))
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"calibrate={calibrate!r} does not divide the {len(X)} rows of X ({error}); give a "
            "number of folds, a splitter that needs no groups, or a list of pairs of row numbers, "
            "as list(GroupKFold(5).split(X, y, groups))."
        ) from error
    if not pairs or any(not len(train) or not len(test) for train, test in pairs):
        raise ValueError(
            f"calibrate={calibrate!r} needs at least one pair (train, test), none of them empty."
        )
    return pairs


def calibrated(
    fit: Callable[[Array], Forecaster],
    X: Array,
    y: Array,
    weights: Array,
    calibrate: Any,
    name: str,
    enough: int = 1000,
    nu: float | None = None,
) -> Calibration:
    """How to widen a model's predictive distribution.

    Not at all if nothing can be held out, or if the time is up before all folds are seen.

    Parameters
    ----------
    fit : callable
        From row numbers to the predictions of a model fitted to these rows.
    X, y, weights : ndarray
        A weight counts as so many equal rows.
    calibrate : "auto", None, int, or list of pairs
        As `as_folds` gives it.
    name : str
        Of the estimator, for a warning.
    enough : int
        Rows to hold out, after which "auto" leaves the other folds: with 1000 the factor is known
        to a few per cent.
    nu : float or None
        Degrees of freedom of errors with outliers, see `most_likely`.
    """
    targets = y if y.ndim == 2 else y[:, None]
    if calibrate is None:
        return _stacked([Calibration()] * targets.shape[1], y)
    parts = []
    for train, test in held_out_folds(X, y, weights, calibrate, name, enough):
        if time_is_up():
            return _stacked([Calibration()] * targets.shape[1], y)
        found = fit(train)(test)
        every = ((y[test] - found.mean) ** 2, *found[1:])
        parts.append([weights[test], *(_by_target(one, targets[test].shape) for one in every)])
    if not parts:
        return _stacked([Calibration()] * targets.shape[1], y)
    counts, *held = map(np.concatenate, zip(*parts, strict=True))
    each = []
    for k, target in enumerate(targets.T):
        center = np.average(target, weights=weights)
        most = _MOST * float(np.average((target - center) ** 2, weights=weights))
        squares, variance, known, further = (one[:, k] for one in held)
        forecast = Forecast(squares, variance, known, further)
        each.append(most_likely(counts, squares, forecast, most, nu))
    return _stacked(each, y)


def _by_target(values: Array | float, shape: tuple[int, ...]) -> Array:
    """Of each row and target, from one for all, or one of each row, or both."""
    values = np.asarray(values)
    return np.broadcast_to(values[:, None] if values.ndim == 1 else values, shape)


def _stacked(each: list[Calibration], y: Array) -> Calibration:
    """As many as there are targets, or the only one."""
    if y.ndim == 1:
        return each[0]
    return Calibration(*map(np.array, zip(*each, strict=True)))


class Normal:
    """Errors with a normal distribution, by their squares over the variance predicted."""

    def loss(self, ratio: Array) -> tuple[Array, Array]:
        """Minus twice the log density, without constants, and its derivative times the ratio."""
        return ratio, ratio

    def scale(self, weights: Array, ratio: Array) -> float:
        """The factor for all variances under which the errors are most likely."""
        return float(weights @ ratio / weights.sum())


class Student(Normal):
    """Errors with outliers: Student's t, see `normal_width`."""

    def __init__(self, nu: float) -> None:
        self.nu, self.factor = nu, normal_width(nu) ** 2 / nu

    def loss(self, ratio: Array) -> tuple[Array, Array]:
        z = self.factor * ratio
        return (self.nu + 1.0) * np.log1p(z), (self.nu + 1.0) * z / (1.0 + z)

    def scale(self, weights: Array, ratio: Array) -> float:
        positive = ratio[(ratio > 0) & (weights > 0)]
        if not positive.size or not np.isfinite(ratio).all():
            return 0.0

        def excess(log_scale: float) -> float:
            pull = self.loss(ratio * np.exp(-log_scale))[1]
            return float(weights @ (pull - 1.0))

        low, high = float(np.log(positive.min())) - 10.0, float(np.log(positive.max())) + 10.0
        if excess(low) <= 0:  # most rows are predicted to the last digit
            return 0.0
        return float(np.exp(brentq(excess, low, high)))


def normal_width(nu: float) -> float:
    """What is within it of Student's t with scale 1 is as much as is within a standard deviation.

    Where there are few degrees of freedom it has no variance, or one that says nothing of most
    observations.
    """
    return 1.0 if nu == np.inf else float(stdtrit(nu, 0.5 + 0.5 * _CENTRE))


def interval_width(coverage: float, nu: float | None = None) -> float:
    """Half of a central interval, in standard deviations; with `nu`, of Student's t."""
    upper = 0.5 + 0.5 * coverage
    if nu is None or nu == np.inf:
        return float(ndtri(upper))
    return float(stdtrit(nu, upper)) / normal_width(nu)


def most_likely(
    weights: Array, squares: Array, held: Forecast, most: float, nu: float | None = None
) -> Calibration:
    """c, and v up to `most`, for squared errors of rows that were held out.

    With `nu` these have Student's t distribution, of that scale at which as much is within the
    standard deviation predicted as of a normal distribution.
    """
    _, variance, known, further = (np.broadcast_to(part, squares.shape) for part in held)
    unit = float(weights @ (variance + known) / weights.sum())  # so that units make no difference
    squares, variance, known, most = squares / unit, variance / unit, known / unit, most / unit
    errors = Normal() if nu is None or nu == np.inf else Student(nu)
    alone = errors.scale(weights, squares / (variance + known))
    # Zero: everything is predicted to the last digit, as where the targets are constant.
    if not 0 < alone < np.inf:
        return Calibration()
    widest = max(0.0, float(np.log(alone))) + (_ROOM if known.any() else 1.0)

    def cost(point: Array) -> tuple[float, Array]:
        """Minus the log likelihood, and its derivatives by log c² and log v."""
        parts = np.exp(point)[:, None] * np.stack([variance, further])
        total = parts.sum(axis=0) + known
        loss, pull = errors.loss(squares / total)
        value = 0.5 * float(weights @ (np.log(total) + loss))
        return value, 0.5 * parts @ (weights * (1.0 - pull) / total)

    def lowest(starts: list[tuple[float, float]], log_v: tuple[float, float]) -> OptimizeResult:
        points = [np.array(start) for start in starts]
        return minimize(
            cost,
            min(points, key=lambda point: cost(point)[0]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, widest), log_v],
        )

    def wider(point: Array, value: float) -> Calibration:
        """A point, where some noise is known with both parts as large as is about as likely.

        The rest is then told by few rows, those with little noise, and too little of it shows as
        a band that does not cover.
        """
        more = 0.0
        while known.any() and more < widest and cost(point + more + _STEP)[0] < value + _AS_LIKELY:
            more += _STEP
        log_square, log_v = point + more
        return Calibration(float(np.exp(0.5 * log_square)), unit * float(np.exp(log_v)))

    before = cost(np.array([np.log(alone), _NONE]))[0]
    nothing = Calibration(float(np.sqrt(alone)))
    squares_tried = np.linspace(0.0, widest, 2 + int(widest / _GRID))
    if known.any():
        found = lowest([(log, _NONE) for log in squares_tried], (_NONE, _NONE))
        before = float(found.fun)
        nothing = wider(found.x, before)._replace(further=0.0)
    if not further.any() or most <= 0:
        return nothing
    low = float(np.log(_LEAST * (weights @ (variance + known)) / (weights @ further)))
    high = float(np.log(most))
    if low >= high:
        return nothing
    grid = np.linspace(low, high, 2 + int((high - low) / _GRID))
    starts = {0.0, max(0.0, 2.0 * float(np.log(nothing.factor)))}
    found = lowest([(log, log_v) for log_v in grid for log in sorted(starts)], (low, high))
    if found.fun > before - (0.0 if known.any() else _LEAST_GAIN):
        return nothing
    return wider(found.x, float(found.fun))


def held_out_folds(
    X: Array, y: Array, weights: Array, calibrate: Any, name: str, enough: int
) -> Iterator[Fold]:
    """Of the rows with weight."""
    counts = weights > 0
    if is_splitter(calibrate):
        for train, test in calibrate:
            if counts[train].any() and counts[test].any():
                yield train[counts[train]], test[counts[test]]
        return
    count = _FOLDS if isinstance(calibrate, str) else int(calibrate)
    rows = np.flatnonzero(counts)
    fold = content_folds(X[rows], y[rows], weights[rows], count)
    if fold is None:
        warnings.warn(
            f"{name} was given too few distinct rows to hold some of them out, so its standard "
            "deviations are not calibrated (calibration_ is 1); calibrate=None says the same "
            "without this warning.",
            UserWarning,
            stacklevel=5,
        )
        return
    seen = 0
    for number in range(count):
        yield rows[fold != number], rows[fold == number]
        seen += int(np.count_nonzero(fold == number))
        if isinstance(calibrate, str) and seen >= enough:
            return


def merged(X: Array, y: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Equal rows of known noise as one, which says the same of the function as all of them."""
    first, place = distinct_rows(X)
    total = np.bincount(place, weights)
    sums = [np.bincount(place, weights * one) for one in np.atleast_2d(y.T)]
    means = np.array(sums) / np.where(total > 0, total, 1.0)
    return X[first], means[0] if y.ndim == 1 else means.T, total


def content_folds(X: Array, y: Array, weights: Array, count: int) -> Array | None:
    """The fold of each row, the same for equal rows; None if there are too few of them.

    Rows are dealt out by their targets, so every fold has some of all sizes, and neither the order
    of the samples nor that of the inputs matters, nor how often a row occurs.
    """
    first, place = distinct_rows(X)
    if len(first) < max(_FEWEST, count):
        return None
    if y.ndim == 2:  # all together, in units of their spread
        spread = y.std(axis=0)
        y = np.sum((y - y[0]) / np.where(spread > 0, spread, 1.0), axis=1)
    targets = np.bincount(place, weights * y) / np.bincount(place, weights)
    rng, hands = np.random.default_rng(0), -(-len(first) // count)
    dealt = np.concatenate([rng.permutation(count) for _ in range(hands)])[: len(first)]
    fold = np.empty(len(first), dtype=np.intp)
    fold[np.argsort(targets, kind="stable")] = dealt
    return fold[place]
