"""The weights that maximise ``β log p(t|w) − ½ wᵀAw``, by Newton's method [T01 (24)-(26)]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.sites import SiteExpansion, Sites

Array = np.ndarray

# All relative to the size of what is climbed.
_DECREMENT = 1e-14  # a Newton step that promises no more is the last
_VISIBLE = 1e-10  # a step that promises less may be hidden by rounding, and is not halved
_FAST = 0.01  # a Hessian is kept while each step promises less than this part of the one before
_STEPS = 500  # far more than a concave function takes
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class ActiveFunctions:
    """The functions of P weights.

    Attributes
    ----------
    rows : ndarray, (P, N)
    output : ndarray of int, (P,)
        To which of the f each contributes.
    n_outputs : int
    """

    rows: Array
    output: Array
    n_outputs: int

    def combine(self, weights: Array) -> Array:
        """f, (N, K)."""
        if self.n_outputs == 1:
            return (weights @ self.rows)[:, None]
        spread = np.zeros((weights.size, self.n_outputs))
        spread[np.arange(weights.size), self.output] = weights
        return self.rows.T @ spread

    def products(self, values: Array) -> Array:
        """``Φᵀ values``, each function with the column of its output, (P,)."""
        if self.n_outputs == 1:
            return self.rows @ values[:, 0]
        return (self.rows @ values)[np.arange(self.output.size), self.output]


@dataclass(eq=False)
class Point:
    """Weights and the likelihood around them; `gram` is ``ΦᵀWΦ`` there, where it is known."""

    mean: Array
    f: Array
    expansion: SiteExpansion
    gram: Array | None = None


def expand_at(sites: Sites, functions: ActiveFunctions, mean: Array, cavity: Array | None) -> Point:
    """The likelihood around the f of these weights."""
    f = functions.combine(mean)
    return Point(mean, f, sites.expand(f, cavity))


def find_mode(
    sites: Sites,
    functions: ActiveFunctions,
    precisions: Array,
    beta: float,
    cavity: Array | None,
    point: Point,
) -> tuple[Point, Array] | None:
    """The maximum and the Cholesky factor of its Hessian; None where that is singular.

    The function is concave; a step that does not rise is halved. A Hessian serves for as long as
    its steps shrink fast, for it costs more than they do.
    """

    def height(at: Point) -> float:
        return beta * at.expansion.value - 0.5 * float(precisions @ np.square(at.mean))

    value = height(point)
    gram, factor, here = point.gram, None, point.gram is not None
    last = np.inf
    for _ in range(_STEPS):
        if factor is None:
            if not here or gram is None:
                gram, here = point.expansion.gram(functions.rows, functions.output), True
            factor = _factorise(gram, precisions, beta)
            if factor is None:
                return None
        slope = beta * functions.products(point.expansion.slope) - precisions * point.mean
        step = linalg.solve(factor, slope) if slope.size else slope
        rise = float(slope @ step)
        small = rise <= _DECREMENT * (1.0 + abs(value))
        new = None
        if not small and (here or rise < _FAST * last):
            tries = _HALVINGS if rise > _VISIBLE * (1.0 + abs(value)) else 1
            new = _uphill(sites, functions, cavity, point, step, height, value, tries)
        if new is not None:
            (point, value), last, here = new, rise, False
        elif here:  # at the maximum, or as near as rounding tells
            return Point(point.mean, point.f, point.expansion, gram), factor
        else:
            factor = None
    return None


def _uphill(
    sites: Sites,
    functions: ActiveFunctions,
    cavity: Array | None,
    point: Point,
    step: Array,
    height: Callable[[Point], float],
    value: float,
    tries: int,
) -> tuple[Point, float] | None:
    """The point a step or a part of it further on, and its height; None where all are lower."""
    along = functions.combine(step)
    for _ in range(tries):
        f = point.f + along
        new = Point(point.mean + step, f, sites.expand(f, cavity))
        found = height(new)
        if found > value:
            return new, found
        along, step = 0.5 * along, 0.5 * step
    return None


def _factorise(gram: Array, precisions: Array, beta: float) -> Array | None:
    """The Cholesky factor of ``β gram + A``."""
    if not precisions.size:
        return gram
    hessian = beta * gram
    hessian.flat[:: precisions.size + 1] += precisions
    return linalg.factorise(hessian)
