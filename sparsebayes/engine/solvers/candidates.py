"""What each function outside the model would gain, and the addition of several at once.

The gain of one is TF03's; the addition of a block, each function with its optimal α given those
before it, is our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.linalg import expand, fold, mean_square
from sparsebayes.engine.model.posterior import LEAST_S, State
from sparsebayes.engine.model.problem import Problem, Reduced, blocks

Array = np.ndarray

LOST = 1e-10  # a function is refused when S_m is this small a part of φᵀBφ: six digits are gone
_TRIES = 5  # first functions that may disappoint, where B moves with the weights
_TIE = 1e-9  # gains closer than this, relatively, are equal: the lowest index wins
_TIE_DIGITS = 9  # the same for ranking
_ROOM = 16  # functions chosen, at first; doubled when needed


@dataclass(frozen=True, eq=False)
class Scores:
    """The gain of adding m, for every m; 0 for those to be left outside; and what it rests on."""

    gain: Array
    scale: Array  # φᵀBφ
    weight: Array  # what the prior has for g
    s: Array  # S and Q of every weight, Q of each target
    q: Array
    refused: bool  # whether any was left outside for lack of digits
    reduced: Reduced

    @cached_property
    def largest(self) -> float:
        return float(self.gain.max(initial=0.0))

    def ranked(self) -> Array:
        """Functions that gain, the best first; those equal in rounding by their number."""
        some = (self.gain > 0.0).nonzero()[0]
        coarse = (self.gain[some] / self.largest).round(_TIE_DIGITS) if some.size else some
        return some[(-coarse).argsort(kind="stable")]


class ByDifferences:
    """Products of functions that a model leaves, as differences of those with and without it."""

    lost = LOST

    def __init__(self, problem: Problem, state: State) -> None:
        self._problem, self._state = problem, state
        self._seen = problem.candidate_products(state)
        self.scale = self._seen.scale

    def reduce(self, part: slice | Array) -> tuple[Array, Array, Array]:
        half = self._half(part)
        s = self.scale[part] - np.einsum("sm,sm->m", half, half)
        return half, s, self._seen.q[part]

    def overlaps(self, index: Array) -> Callable[[int], Array]:
        group = self._problem.group
        half = self._half(expand(index, group))
        whole = self._problem.overlaps(self._state, index)
        return lambda i: whole(i) - half[:, i * group : (i + 1) * group].T @ half

    def _half(self, part: slice | Array) -> Array:
        """``L⁻¹ Φ_aᵀBΦ`` of some weights."""
        rows = self._seen.rows(part)
        return linalg.half_solve(self._state.factor, rows) if self._state.active.size else rows


def score(problem: Problem, state: State) -> Scores:
    """Score all functions: O(S² M) and what their products cost.

    Where differences leave too few digits of one of them, all are scored by residuals.
    """
    scores = None
    if state.residual is None:
        scores = _score(problem, state, ByDifferences(problem, state))
        if not scores.refused:
            return scores
    residuals = problem.residuals(state)
    if residuals is not None:
        return _score(problem, state, residuals)
    return scores or _score(problem, state, ByDifferences(problem, state))


def _score(problem: Problem, state: State, reduced: Reduced) -> Scores:
    group, scale = problem.group, fold(reduced.scale, problem.group)
    s, q = np.empty(reduced.scale.size), np.empty((reduced.scale.size, *state.mean.shape[1:]))
    lost = np.maximum(reduced.lost * scale, LEAST_S)
    mean_s, weight = np.empty(scale.size), np.empty(scale.size)
    for part in blocks(scale.size, len(state.mean) * group):
        weights = slice(part.start * group, part.stop * group)
        half, s[weights], q[weights] = reduced.reduce(weights)
        mean_s[part] = fold(s[weights], group)
        seen_s = np.maximum(mean_s[part], lost[part])
        weight[part] = problem.prior.candidate_weight(state, scale[part], seen_s, half)
    able = mean_s > lost
    able[state.active] = True
    refused = bool((~able & (scale > 0.0)).any())
    able[state.active] = False
    mean_s = np.maximum(mean_s, lost)
    gain = group * problem.prior.best_gain(mean_s, mean_square(q, group), weight)
    gain[~able] = 0.0
    return Scores(gain, scale, weight, s, q, refused, reduced)


def spread(ranked: Array, size: int) -> Array:
    """The best half of `size`, and as many evenly spread over the rest.

    The best alone would be neighbours of each other, of which one is enough.
    """
    if ranked.size <= size:
        return ranked
    best = size // 2
    rest = np.linspace(best, ranked.size - 1, size - best).astype(np.intp)
    return np.concatenate([ranked[:best], ranked[rest]])


def add(problem: Problem, state: State, scores: Scores, index: Array, threshold: float) -> State:
    """Add those of `index` that gain more than `threshold`, in turn.

    Each is the best given those before it, and enters with its optimal α; the α of the others
    stay. The objective does not fall: where rounding says otherwise, fewer are added.
    """
    for _ in range(_TRIES):
        chosen, alpha = _in_turn(problem, state, scores, index, threshold)
        while chosen.size:
            new = problem.grow(state, chosen, alpha)
            if new is not None and new.objective >= state.objective:
                return new
            first = chosen[0]
            chosen, alpha = chosen[: chosen.size // 2], alpha[: alpha.size // 2]
            if not chosen.size:  # not even one: its gain was none when the sites moved
                index = index[index != first]
        if not index.size or scores.gain[index].max() <= threshold:
            break
    return state


def _in_turn(
    problem: Problem, state: State, scores: Scores, index: Array, threshold: float
) -> tuple[Array, Array]:
    """The functions to add and their precisions, by rank-one updates of C⁻¹.

    An addition takes ``C⁻¹φφᵀC⁻¹/(α + s)`` from C⁻¹. Only its product with the candidates is
    needed, a row at a time, as in a Cholesky factorisation with pivots.
    """
    prior, group = problem.prior, problem.group
    weights = expand(index, group)
    q, s = scores.q[weights], scores.s[weights]
    mean_s, q2 = fold(s, group), mean_square(q, group)
    # Each addition is a difference again.
    least = np.maximum(scores.reduced.lost * scores.scale[index], LOST * mean_s)
    least = np.maximum(least, LEAST_S)
    lost = least.copy()
    gain, weight = scores.gain[index], scores.weight[index]
    overlaps = scores.reduced.overlaps(index)
    taken = np.empty((_ROOM * group, weights.size))  # rows L⁻¹φᵀC⁻¹Φ of those chosen, LLᵀ = αI + S
    chosen: list[int] = []
    precisions: list[float] = []
    while gain.size:
        # `index` is ordered by gain and number, so the first of equals is the right one.
        i = int((gain >= gain.max() * (1.0 - _TIE)).argmax())
        if gain[i] <= threshold:
            break
        one, own = slice(i, i + 1), slice(i * group, (i + 1) * group)
        alpha = float(prior.optimum(mean_s[one], q2[one], weight[one])[0])
        k = group * len(chosen)
        if k == len(taken):
            taken = np.concatenate([taken, np.empty_like(taken)])
        rows = overlaps(i)
        if k:
            rows -= taken[:k, own].T @ taken[:k]
        if group == 1:
            root = math.sqrt(alpha + s[i])
            rows /= root
            pull = q[own] / root
        else:
            factor = linalg.cholesky(rows[:, own] + alpha * np.eye(group))
            if factor is None:  # lost in rounding
                lost[i], gain[i] = np.inf, 0.0
                continue
            rows = linalg.half_solve(factor, rows)
            pull = linalg.half_solve(factor, q[own, None].copy())[:, 0]
        taken[k : k + group] = rows
        drop = rows[0] ** 2 if group == 1 else np.einsum("gm,gm->m", rows, rows)
        weight = prior.reduced_weight(weight, np.maximum(mean_s, least), fold(drop, group))
        q = q - (pull.T @ rows).T
        s = s - drop
        chosen.append(i)
        precisions.append(alpha)
        lost[i] = np.inf  # never again
        mean_s, q2 = fold(s, group), mean_square(q, group)
        gain = group * prior.best_gain(np.maximum(mean_s, least), q2, weight)
        gain[mean_s <= lost] = 0.0
    return index[chosen], np.array(precisions)
