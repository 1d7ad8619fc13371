"""Fronts of classifiers: who dominates whom, the hull of their rates, the choice of one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np

from sparsebayes._support.data import check_numbers
from sparsebayes._support.validation import as_number, check_choice, whole_number

Array = np.ndarray
RateName = Literal["held_out", "pooled", "train"]  # of which samples

# The records of a front. Complexity is by the penalty, kernels are counted without the intercept.
FIELDS = np.dtype([("fpr", float), ("tpr", float), ("complexity", float), ("n_kernels", np.int64)])
FRONT = np.dtype([*FIELDS.descr, ("held_out_fpr", float), ("held_out_tpr", float)])


def _at_most(left: Array, right: Array) -> Array:
    """Where a row of `left` exceeds a row of `right` in no objective, (n_left, n_right)."""
    result = np.ones((len(left), len(right)), dtype=bool)
    for a, b in zip(left.T, right.T, strict=True):
        result &= a[:, None] <= b
    return result


def undominated(objectives: Array) -> Array:
    """Indices of the rows that no other dominates, in their order; all objectives are minimised.

    Of equal rows the first stays.
    """
    order = np.lexsort(objectives.T[::-1])  # who dominates comes before whom it dominates
    ranked = objectives[order]
    kept: list[Array] = []
    for start in range(0, len(ranked), 256):
        block = np.arange(start, min(start + 256, len(ranked)))
        if kept:
            before = ranked[np.concatenate(kept)]
            block = block[~_at_most(before, ranked[block]).any(axis=0)]
        inside = np.triu(_at_most(ranked[block], ranked[block]), 1).any(axis=0)
        kept.append(block[~inside])
    return np.sort(order[np.concatenate(kept)]) if kept else np.empty(0, dtype=np.intp)


class Archive:
    """The undominated of all that were added, with what belongs to each.

    Parameters
    ----------
    n_objectives, n_genes : int
        Columns of `objectives` and `genes`.
    """

    def __init__(self, n_objectives: int, n_genes: int) -> None:
        self.objectives = np.empty((0, n_objectives))
        self.genes = np.empty((0, n_genes))

    def __len__(self) -> int:
        return len(self.objectives)

    def add(self, objectives: Array, genes: Array) -> None:
        """Add candidates; what they dominate leaves."""
        new = np.flatnonzero(~_at_most(self.objectives, objectives).any(axis=0))
        if new.size == 0:
            return
        new = new[undominated(objectives[new])]
        stay = ~_at_most(objectives[new], self.objectives).any(axis=0)
        self.objectives = np.concatenate([self.objectives[stay], objectives[new]])
        self.genes = np.concatenate([self.genes[stay], genes[new]])


def roc_hull(fpr: Any, tpr: Any) -> Array:
    """Find the upper convex hull of points of a ROC diagram, with (0, 0) and (1, 1).

    A point between two others of the hull can be had by choosing between these at random.

    Parameters
    ----------
    fpr, tpr : array-like of shape (n,)
        False and true positive rates of classifiers.

    Returns
    -------
    ndarray, (m, 2)
        The corners of the hull, by their false positive rate.

    See Also
    --------
    hull_area : The area under it.
    ParetoClassifier : A front of classifiers.

    Examples
    --------
    >>> from sparsebayes.pareto import roc_hull
    >>> roc_hull([0.1, 0.3], [0.8, 0.7])
    array([[0. , 0. ],
           [0.1, 0.8],
           [1. , 1. ]])
    """
    ends = [
        np.concatenate([[0.0], _rates(name, given), [1.0]])
        for name, given in (("fpr", fpr), ("tpr", tpr))
    ]
    if len(ends[0]) != len(ends[1]):
        raise ValueError(
            f"fpr and tpr must have the same length, got {len(ends[0]) - 2} and {len(ends[1]) - 2}."
        )
    points = np.column_stack(ends)
    hull: list[Array] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return np.array(hull)


def _rates(name: str, values: Any) -> Array:
    """Rates of some classifiers, or a clear error."""
    rates = check_numbers(name, values, ensure_min_samples=0)
    if rates.ndim != 1 or (rates < 0).any() or (rates > 1).any():
        raise ValueError(
            f"{name} must have shape (n,) and rates between 0 and 1, got shape {rates.shape} and "
            f"values from {rates.min(initial=1.0):g} to {rates.max(initial=0.0):g}."
        )
    return rates


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive where the way from a over b to c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def hull_area(fpr: Any, tpr: Any) -> float:
    """Measure the area under the convex hull of points of a ROC diagram.

    It is 1 for a perfect classifier among them, and ½ for chance.

    Parameters
    ----------
    fpr, tpr : array-like of shape (n,)
        False and true positive rates of classifiers.

    Returns
    -------
    float
        Between ½ and 1.

    See Also
    --------
    roc_hull : The hull itself.

    Examples
    --------
    >>> from sparsebayes.pareto import hull_area
    >>> round(hull_area([0.1, 0.3], [0.8, 0.7]), 3)
    0.85
    """
    hull = roc_hull(fpr, tpr)
    return float(np.sum(np.diff(hull[:, 0]) * (hull[1:, 1] + hull[:-1, 1])) / 2.0)


def rates(decisions: Array, positive: Array) -> tuple[Array, Array]:
    """False and true positive rates of the rows of `decisions`, (n_points, n)."""
    return decisions[:, ~positive].mean(axis=1), decisions[:, positive].mean(axis=1)


def rates_by(front: Any, counts: Any, by: Any) -> tuple[Array, Array]:
    """The rates of a front that choices are made by.

    `counts` is how many training samples are negative and positive, then how many held-out ones.
    """
    check_choice("by", by, get_args(RateName))
    (negative, positive), (held_negative, held_positive) = counts
    if by == "train" or not held_negative:
        return front["fpr"], front["tpr"]
    if by == "held_out":
        return front["held_out_fpr"], front["held_out_tpr"]
    fpr = front["fpr"] * negative + front["held_out_fpr"] * held_negative
    tpr = front["tpr"] * positive + front["held_out_tpr"] * held_positive
    return fpr / (negative + held_negative), tpr / (positive + held_positive)


def choose(
    front: Any,
    counts: Any,
    *,
    by: Any,
    point: Any = None,
    cost_fp: Any = None,
    cost_fn: Any = None,
    prevalence: Any = None,
    max_kernels: Any = None,
    max_fpr: Any = None,
    min_tpr: Any = None,
) -> int:
    """The point of a front that the arguments ask for; see `ParetoClassifier.choose`.

    `counts` is as in :func:`rates_by`.
    """
    costly = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prevalence": prevalence}
    bounds = {"max_fpr": max_fpr, "min_tpr": min_tpr}
    wishes = {**costly, **bounds, "max_kernels": max_kernels}
    if point is not None:
        given = [name for name, value in wishes.items() if value is not None]
        if given:
            raise ValueError(f"point={point!r} names the classifier; leave out {given[0]}.")
        return _index(point, len(front))
    for name in ("prevalence", *bounds):
        _check_share(name, wishes[name])
    costs = _costs(cost_fp, cost_fn)
    fpr, tpr = rates_by(front, counts, by)
    allowed = _within_budget(front, max_kernels)
    low = np.ones(len(front), dtype=bool) if max_fpr is None else fpr <= max_fpr
    high = np.ones(len(front), dtype=bool) if min_tpr is None else tpr >= min_tpr
    feasible = np.flatnonzero(allowed & low & high)
    if feasible.size == 0:
        raise ValueError(_nearest(fpr, tpr, allowed, low, max_kernels, max_fpr, min_tpr))
    share = np.sum(counts, axis=0)[1] / np.sum(counts) if prevalence is None else prevalence
    loss = costs[0] * (1.0 - share) * fpr + costs[1] * share * (1.0 - tpr)
    loss = np.round(loss / sum(costs), 12)  # equal costs may differ in the last digit
    if not any(value is not None for value in costly.values()):
        if max_fpr is not None and min_tpr is None:
            loss = -tpr
        elif min_tpr is not None and max_fpr is None:
            loss = fpr
    keys = (front["complexity"], -tpr, fpr, front["n_kernels"], loss)
    return int(feasible[np.lexsort([key[feasible] for key in keys])[0]])


def _check_share(name: str, value: Any) -> None:
    share = as_number(value)
    if value is not None and (share is None or not 0 <= share <= 1):
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}.")


def _index(point: Any, n_points: int) -> int:
    if isinstance(point, bool) or not isinstance(point, Integral):
        raise ValueError(
            f"point must be a whole number, the index of a row of front_, got {point!r}."
        )
    point = int(point)
    if not 0 <= point < n_points:
        nearest = 0 if point < 0 else n_points - 1
        raise ValueError(
            f"point={point} is not in the front, whose points are 0 to {n_points - 1}; "
            f"the nearest is {nearest}."
        )
    return point


def _costs(cost_fp: Any, cost_fn: Any) -> tuple[float, float]:
    costs = []
    for name, value in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        cost = 1.0 if value is None else as_number(value)
        if cost is None or cost < 0:
            raise ValueError(f"{name} must be a number >= 0, got {value!r}.")
        costs.append(cost)
    if not any(costs):
        raise ValueError("cost_fp and cost_fn are both 0, so that no classifier is preferred.")
    return costs[0], costs[1]


def _within_budget(front: Any, max_kernels: Any) -> Array:
    if max_kernels is None:
        return np.ones(len(front), dtype=bool)
    return front["n_kernels"] <= whole_number("max_kernels", max_kernels, least=0)


def _nearest(
    fpr: Array, tpr: Array, allowed: Array, low: Array, max_kernels: Any, max_fpr: Any, min_tpr: Any
) -> str:
    """Why nothing is feasible, and what would be."""
    budget = "" if max_kernels is None else f" with max_kernels={max_kernels}"
    if max_fpr is None:
        return (
            f"min_tpr={min_tpr} is not reached{budget}; the largest rate is "
            f"{tpr[allowed].max():.4g}."
        )
    if not (allowed & low).any():
        return (
            f"max_fpr={max_fpr} is not reached{budget}; the least rate is {fpr[allowed].min():.4g}."
        )
    best = tpr[allowed & low].max()
    text = f"min_tpr={min_tpr} and max_fpr={max_fpr} exclude each other{budget}; "
    text += f"with max_fpr={max_fpr} the largest min_tpr is {best:.4g}"
    enough = allowed & (tpr >= min_tpr)
    if enough.any():
        text += f", with min_tpr={min_tpr} the least max_fpr is {fpr[enough].min():.4g}"
    return text + "."
