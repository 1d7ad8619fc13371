"""Which rows lie inside the training data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

Array = np.ndarray

_MARGIN = 0.05  # of the width of the training range, on each side
_ROUNDING = 8.0 * np.finfo(np.float64).eps
_NEAR = 0.2  # in length scales: up to there a kernel changes by 2 %
_SLIGHT = 0.05  # of the whole variation of the prediction


def input_range(X: Array) -> Array:
    """The smallest and the largest value of each input, (2, D)."""
    return np.array([X.min(axis=0), X.max(axis=0)])


def training_range(model: Any) -> Array:
    """That of the training rows of a relevance vector machine, (2, D)."""
    return model._input_range


def training_range_of(model: Any) -> Array:
    """That of the inputs of a model, or of the Pipeline that it ends, (2, D)."""
    final, before = (model[-1], model[:-1]) if isinstance(model, Pipeline) else (model, None)
    if not (hasattr(final, "_training_range") or hasattr(final, "_input_range")):
        raise ValueError(
            f"A {type(final).__name__} does not know the range of its training data; give X."
        )
    own = getattr(final, "_training_range", lambda: training_range(final))()
    found = own if before is None else before_steps(before, own, int(model.n_features_in_))
    if found is None:
        raise ValueError(
            "The first steps of the pipeline cannot be gone back, so the range of the training data"
            " is not known; give X."
        )
    return np.sort(found, axis=0)


def before_steps(steps: Any, found: Array, n_inputs: int) -> Array | None:
    """The range before the first steps of a Pipeline; None if their inputs do not correspond."""
    if found.shape[1] != n_inputs:
        return None
    try:
        back = _quietly(steps.inverse_transform, found)
    except (AttributeError, NotImplementedError):
        return None
    if back.shape != found.shape:
        return None
    # One input after the other goes from its lower end to its upper one, and nothing else moves.
    ends = np.tri(n_inputs + 1, n_inputs, -1, dtype=bool)
    again = transformed(steps, np.where(ends, back[1], back[0]))
    wanted = np.where(ends, found[1], found[0])
    same = np.allclose(again, wanted, rtol=1e-6, atol=1e-6 * np.ptp(found))
    return back if same else None


def transformed(steps: Any, X: Array) -> Array:
    """The rows of X after the first steps of a Pipeline, which need not be told their names."""
    return _quietly(steps.transform, X)


def _quietly(function: Callable[[Array], Array], X: Array) -> Array:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(function(X), dtype=np.float64)


def in_range(X: Array, bounds: Array, reach: Array, importances: Array | None) -> Array:
    """Whether the rows of X are in the training range, as far as their inputs matter, (n,).

    Parameters
    ----------
    X : ndarray, (n, D)
    bounds : ndarray, (2, D)
        From `input_range`.
    reach : ndarray, (D,) or ()
        Of the basis: how far an input can go before the functions change.
    importances : ndarray, (D,), or None
        Shares of the inputs in the variation of the prediction, if they are known.
    """
    low, high = bounds
    width = high - low
    margin = _MARGIN * width + _ROUNDING * np.abs(bounds).max(axis=0)
    out = (X - low < -margin) | (X - high > margin)
    rows, inputs = np.nonzero(out & (reach > 0))
    if rows.size:
        reach, width = np.broadcast_to(reach, width.shape)[inputs], width[inputs]
        values = X[rows, inputs]
        span = np.maximum(values - low[inputs], high[inputs] - values)
        idle = np.isinf(reach)
        if importances is not None:
            # In a straight line the effect grows with the way. That of a constant input is not
            # known, but all functions have the same factor of it.
            way = np.divide(span, width, out=np.zeros_like(span), where=width > 0)
            idle |= (span <= _NEAR * reach) & (np.sqrt(importances[inputs]) * way <= _SLIGHT)
        out[rows[idle], inputs[idle]] = False
    return ~out.any(axis=1)
