"""A fitted model as the curve of its readings over one input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._rvm.input_range import before_steps, transformed
from sparsebayes._support.validation import as_number

Array = np.ndarray

_FIRST = 256  # cells at the beginning
_MOST = 20_000  # nodes, after which nothing is divided any more
_ROUNDS = 40  # halvings of a cell
_STRAIGHT = 0.005  # of a standard deviation: how far the curve may be from a chord
_STEADY = 0.05  # by which the logarithm of the variance may change in a cell
_ROUNDING = 1e-9  # of the size of the curve: a standard deviation is not taken to be less
_PRIOR_STEP, _PRIOR_DEPTH = 0.25, 60.0  # of its log density: change in a cell, below its maximum
_NAMES = ("place", "mean", "variance", "noise", "log_prior")
_QUANTILES = np.linspace(0.0005, 0.9995, 256)  # of the prior, where cells end in any case
_ELSEWHERE = 1e-6  # of the prior: what is no more on one side of it does not count


@dataclass(frozen=True, eq=False)
class Curve:
    """What a reading is expected to be, as a function of one input.

    Attributes
    ----------
    low, high : float
        The range of the input.
    moments : callable
        From values of the input, (n,), to mean, variance of the function and variance of the noise
        of one reading, each (n, K).
    n_targets : int or None
        K; None if the model was fitted to targets of one dimension.
    nu : float or None
        Degrees of freedom of the noise; None if it is normal.
    """

    low: float
    high: float
    moments: Callable[[Array], tuple[Array, Array, Array]]
    n_targets: int | None
    nu: float | None = None

    @property
    def width(self) -> float:
        return self.high - self.low

    def at(self, place: Array) -> tuple[Array, Array, Array]:
        """The moments where a part `place` of the range is passed."""
        return self.moments(self.input_at(place))

    def input_at(self, place: ArrayLike) -> Array:
        """The input there."""
        return np.clip(self.low + self.width * np.asarray(place), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Places between which a curve is straight, in parts of the range from 0 to 1.

    Attributes
    ----------
    place : ndarray, (G,)
    mean, variance, noise : ndarray, (G, K)
        As `Curve.moments`.
    log_prior : ndarray, (G,)
    """

    place: Array
    mean: Array
    variance: Array
    noise: Array
    log_prior: Array

    def __len__(self) -> int:
        return len(self.place)


def curve_of(model: Any, known: Array | None = None, bounds: Any = None) -> Curve:
    """The curve of a fitted model over its only input, or the one that is NaN in `known`, (D,)."""
    final, before = (model[-1], model[:-1]) if isinstance(model, Pipeline) else (model, None)
    if isinstance(final, type) or not hasattr(final, "_training_range"):
        raise TypeError(
            "model must be an RVR or a ReducedRankGPR, or a Pipeline that ends in one, "
            f"got {type(final).__name__}."
        )
    check_is_fitted(final)
    n_inputs = int(model.n_features_in_)
    unknown = _unknown(known, n_inputs)
    low, high = _bounds(final, before, bounds, unknown, n_inputs)
    predictive = final.predictive()
    row = np.zeros(n_inputs) if known is None else known

    def moments(x: Array) -> tuple[Array, Array, Array]:
        X = np.repeat(row[None], len(x), axis=0)
        X[:, unknown] = x
        X = X if before is None else transformed(before, X)
        mean, variance = predictive.marginal(X)
        noise = np.broadcast_to(predictive.noise_at(X), mean.shape)
        every = (part.reshape(len(x), -1) for part in (mean, np.maximum(variance, 0.0), noise))
        return tuple(every)  # type: ignore[return-value]

    weights = np.shape(final.weights_)
    n_targets = weights[1] if len(weights) == 2 else None
    nu = getattr(final, "nu_", None)
    return Curve(low, high, moments, n_targets, None if nu is None or np.isinf(nu) else float(nu))


def as_known(X: Any, n_inputs: int) -> Array:
    """Inputs that are known, (n, D), with NaN in the same column of all rows."""
    try:
        known = np.atleast_2d(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers, and NaN for the input asked for: {error}") from None
    if known.ndim != 2 or known.shape[1] != n_inputs or not len(known):
        raise ValueError(
            f"X must have shape ({n_inputs},) or (n, {n_inputs}), one column for each input of the "
            f"model, got {np.shape(X)}."
        )
    absent = np.isnan(known)
    if (absent != absent[0]).any() or np.count_nonzero(absent[0]) != 1 or np.isinf(known).any():
        raise ValueError(
            "X must be finite, but for NaN in the column of the input that is asked for, which is "
            "the same in all rows."
        )
    return known


def _unknown(known: Array | None, n_inputs: int) -> int:
    """The number of the input that is asked for."""
    if known is None:
        if n_inputs == 1:
            return 0
        raise ValueError(
            f"The model has {n_inputs} inputs, and a reading tells one; give the others by "
            "X=[...], with NaN for the one that is asked for."
        )
    (unknown,) = np.flatnonzero(np.isnan(known))
    return int(unknown)


def _bounds(
    final: Any, before: Any, bounds: Any, unknown: int, n_inputs: int
) -> tuple[float, float]:
    """The range of the input, as given or that of the training rows."""
    if bounds is not None:
        try:
            low, high = (as_number(value) for value in bounds)
        except (TypeError, ValueError):
            low = high = None
        if low is None or high is None or not low < high:
            raise ValueError(
                f"bounds must be two finite numbers (low, high), low < high, got {bounds!r}."
            )
        return low, high
    found = final._training_range()
    if before is not None:
        back = before_steps(before, found, n_inputs)
        if back is None:
            raise ValueError(
                "The first steps of the pipeline cannot be gone back, so the range of the input is "
                "not known; give bounds=(low, high) in the units of the input."
            )
        found = back
    low, high = sorted(map(float, found[:, unknown]))
    if not low < high:
        raise ValueError(
            f"The training rows have the input {low:g} only, which says nothing of others; fit a "
            "curve to several."
        )
    return low, high


def nodes_of(curve: Curve, log_prior: Callable[[Array], Array], places: Array, most: int) -> Nodes:
    """Nodes so close that the curve is straight between them, and the prior steady.

    Parameters
    ----------
    curve : Curve
    log_prior : callable
        From places, up to a constant.
    places : ndarray
        Where cells end in any case.
    most : int
        Replicates: the largest number that a reading is the mean of.
    """
    first = np.unique(np.concatenate([np.linspace(0.0, 1.0, _FIRST + 1), places]))
    nodes = Nodes(first, *curve.at(first), log_prior(first))
    settled = np.zeros(len(first) - 1, dtype=bool)  # cells that need not be looked at again
    for _ in range(_ROUNDS):
        cells = np.flatnonzero(~settled)
        if not cells.size or len(nodes) + cells.size > _MOST:
            break
        middle = 0.5 * (nodes.place[cells] + nodes.place[cells + 1])
        new = Nodes(middle, *curve.at(middle), log_prior(middle))
        bent = _bent(nodes, new, cells, most)
        settled = np.insert(settled, cells + 1, ~bent)
        settled[cells + np.arange(cells.size)] = ~bent
        nodes = Nodes(
            *(
                np.insert(getattr(nodes, name), cells + 1, getattr(new, name), axis=0)
                for name in _NAMES
            )
        )
    size = np.abs(nodes.mean).max(axis=0)
    least = np.maximum(_ROUNDING * np.maximum(np.ptp(nodes.mean, axis=0), 1e-3 * size), 1e-150) ** 2
    return Nodes(
        nodes.place, nodes.mean, np.maximum(nodes.variance, least), nodes.noise, nodes.log_prior
    )


def _bent(nodes: Nodes, new: Nodes, cells: Array, most: int) -> Array:
    """Whether a cell is to be divided further, from its ends and its middle."""
    scale = np.ptp(nodes.mean, axis=0)
    ends = [Nodes(*(getattr(nodes, name)[cells + side] for name in _NAMES)) for side in (0, 1)]
    tiny = (_ROUNDING * scale) ** 2 + 1e-300
    left, right, middle = (part.variance + part.noise / most + tiny for part in (*ends, new))
    off = np.abs(new.mean - 0.5 * (ends[0].mean + ends[1].mean))
    bent = (off > _STRAIGHT * np.sqrt(middle)).any(axis=1)
    variances = np.stack([left, middle, right])
    bent |= (variances.max(axis=0) > (1.0 + _STEADY) * variances.min(axis=0)).any(axis=1)
    prior = np.stack([ends[0].log_prior, new.log_prior, ends[1].log_prior])
    high, low = prior.max(axis=0), prior.min(axis=0)
    counts = high > nodes.log_prior.max() - _PRIOR_DEPTH
    floor = np.where(np.isfinite(low), low, -1e300)
    return bent | (counts & (high - floor > _PRIOR_STEP))


def as_prior_density(prior: Any, curve: Curve) -> tuple[Callable[[Array], Array], Array]:
    """The log density of a prior at places of the range, and places where it is worth a look."""
    none = np.empty(0)
    if prior is None:
        return (lambda place: np.zeros(len(place))), none
    if not callable(getattr(prior, "logpdf", None)):
        raise ValueError(
            "prior must be None (all inputs of the range are as likely) or a distribution with a "
            f"method logpdf, such as scipy.stats.norm(5, 1), got {prior!r}."
        )

    def log_prior(place: Array) -> Array:
        with np.errstate(divide="ignore"):
            found = np.asarray(prior.logpdf(curve.input_at(place)), dtype=np.float64)
        return np.where(np.isnan(found), -np.inf, found)

    places, elsewhere = none, False
    if callable(getattr(prior, "ppf", None)):
        # Not by the mass in the range: of a prior that is vague this may be tiny.
        first, last = prior.ppf(np.array([_ELSEWHERE, 1.0 - _ELSEWHERE]))
        elsewhere = bool(last < curve.low or first > curve.high)
        places = (np.asarray(prior.ppf(_QUANTILES), dtype=np.float64) - curve.low) / curve.width
        places = places[(places > 0.0) & (places < 1.0)]
    look = log_prior(np.unique(np.concatenate([np.linspace(0.0, 1.0, _FIRST + 1), places])))
    if elsewhere or not np.isfinite(look.max()):
        where = f", but between {first:g} and {last:g}" if elsewhere else ""
        raise ValueError(
            f"prior={prior!r} has no mass between {curve.low:g} and {curve.high:g}{where}; give "
            "bounds where it has, or another prior."
        )
    return log_prior, places
