"""What the displays share: axes, colours and markers."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.optional import require

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#5A5A5A", "#1A1A1A"
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours: pairs repeat late


def axes(ax: Any, caller: str) -> Any:
    """`ax`, or the axes of a new figure."""
    require("matplotlib", caller)
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    return check_axes("ax", ax)[0]


def check_fitted(estimator: Any, attribute: str = "predict") -> None:
    """An estimator is a fitted one, or a clear error."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"estimator must be a fitted model, got {estimator!r}.")
    check_is_fitted(estimator)
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(final, attribute):
        raise TypeError(f"estimator must have {attribute}, and {estimator!r} has none.")


def mean_and_std(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Predictions with error bars, or a clear error."""
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    given = signature(final.predict).parameters.values()
    if not any(one.name == "return_std" or one.kind is one.VAR_KEYWORD for one in given):
        raise TypeError(f"estimator must have predict(X, return_std=True), got {estimator!r}.")
    return estimator.predict(X, return_std=True)


def check_axes(name: str, given: Any, count: int = 1) -> np.ndarray:
    """So many Axes of matplotlib in a row, or a clear error."""
    found = np.ravel(np.asarray(given, dtype=object))
    if found.size != count or not all(hasattr(one, "fill_between") for one in found):
        wanted = "an Axes" if count == 1 else f"{count} Axes"
        raise ValueError(f"{name} must be {wanted} of matplotlib, got {given!r}.")
    return found
