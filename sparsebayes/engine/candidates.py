"""What each function outside the model would gain, and the addition of several at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.posterior import State
from sparsebayes.engine.problem import Problem

Array = np.ndarray

LOST = 1e-10  # a function is refused when S_m is this small a part of φᵀBφ
_TINY = float(np.finfo(float).tiny)
_TIE = 1e-9  # gains closer than this, relatively, are equal: the lowest index wins


@dataclass(frozen=True, eq=False)
class Scores:
    """``S_m``, ``Q_m`` and the gain of adding m, for every m; 0 for those to be left outside."""

    gain: Array
    s: Array
    q: Array
    scale: Array  # φᵀBφ
    weight: Array  # what the prior has for g
    half: Array  # L⁻¹ Φ_aᵀBΦ, (S, M)

    @cached_property
    def largest(self) -> float:
        return float(self.gain.max(initial=0.0))

    def ranked(self) -> Array:
        """Functions that gain, the best first; those equal in rounding by their number."""
        some = np.flatnonzero(self.gain > 0.0)
        coarse = np.round(self.gain[some] / self.largest, 9) if some.size else some
        return some[np.argsort(-coarse, kind="stable")]


def score(problem: Problem, state: State) -> Scores:
    """Score all functions: O(S² M) and what the survey costs."""
    seen = problem.survey(state)
    scale, q = seen.scale, seen.q
    half = linalg.half_solve(state.factor, seen.rows) if state.active.size else seen.rows
    s = scale - np.einsum("sm,sm->m", half, half)
    lost = np.maximum(LOST * scale, _TINY)
    able = s > lost
    able[state.active] = False
    s_safe = np.maximum(s, lost)
    weight = scale
    if problem.prior.cost:
        weight = np.maximum(s_safe - _shrunk(state, half), 0.0)
    gain = problem.prior.best_gain(s_safe, q * q, weight)
    gain[~able] = 0.0
    return Scores(gain, s, q, scale, weight, half)


def _shrunk(state: State, half: Array) -> Array:
    """``s − u``: with ``x = ΣΦ_aᵀBφ``, u is ``‖B^½(φ − Φ_a x)‖² = s − xᵀAx``."""
    if not state.active.size:
        return np.zeros(half.shape[1])
    solved = linalg.half_solve_transposed(state.factor, half)
    return np.einsum("sm,sm,s->m", solved, solved, state.alpha)


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
    chosen, alpha = _in_turn(problem, state, scores, index, threshold)
    while chosen.size:
        new = problem.grow(state, chosen, alpha)
        if new is not None and new.objective >= state.objective:
            return new
        chosen, alpha = chosen[: chosen.size // 2], alpha[: alpha.size // 2]
    return state


def _in_turn(
    problem: Problem, state: State, scores: Scores, index: Array, threshold: float
) -> tuple[Array, Array]:
    """The functions to add and their precisions, by rank-one updates of C⁻¹.

    An addition takes ``C⁻¹φφᵀC⁻¹/(α + s)`` from C⁻¹. Only its product with the candidates is
    needed, a row at a time, as in a Cholesky factorisation with pivots.
    """
    prior = problem.prior
    least = np.maximum(LOST * scores.scale[index], _TINY)
    lost = least.copy()
    q, s, gain = scores.q[index], scores.s[index], scores.gain[index]
    weight = scores.weight[index]
    overlaps = problem.overlaps(state, index)
    half = scores.half[:, index]
    taken = np.empty((16, index.size))  # rows φᵀC⁻¹Φ/√(α + s) of the functions chosen
    chosen: list[int] = []
    precisions: list[float] = []
    while gain.size:
        # `index` is ordered by gain and number, so the first of equals is the right one.
        i = int((gain >= gain.max() * (1.0 - _TIE)).argmax())
        if gain[i] <= threshold:
            break
        one = slice(i, i + 1)
        alpha = float(prior.optimum(s[one], q[one] ** 2, weight[one])[0])
        k = len(chosen)
        if k == len(taken):
            taken = np.concatenate([taken, np.empty_like(taken)])
        row = overlaps(i) - half[:, i] @ half
        if k:
            row -= taken[:k, i] @ taken[:k]
        row /= math.sqrt(alpha + s[i])
        taken[k] = row
        q = q - (q[i] / math.sqrt(alpha + s[i])) * row
        if prior.cost:  # in proportion to s, about what it is
            weight = weight * np.maximum(1.0 - row * row / np.maximum(s, least), 0.0)
        s = s - row * row
        chosen.append(i)
        precisions.append(alpha)
        lost[i] = np.inf  # never again
        gain = prior.best_gain(np.maximum(s, least), q * q, weight)
        gain[s <= lost] = 0.0
    return index[chosen], np.array(precisions)
