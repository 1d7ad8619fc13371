"""What each function outside the model would gain, and the addition of several at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.posterior import State, evaluate
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
    half: Array  # L⁻¹ Φ_aᵀWΦ, (S, M)

    @cached_property
    def largest(self) -> float:
        return float(self.gain.max(initial=0.0))

    def ranked(self) -> Array:
        """Functions that gain, the best first; those equal in rounding by their number."""
        some = np.flatnonzero(self.gain > 0.0)
        coarse = np.round(self.gain[some] / self.largest, 9) if some.size else some
        return some[np.argsort(-coarse, kind="stable")]


def score(problem: Problem, state: State) -> Scores:
    """Score all functions: O(S² M), without a look at the samples."""
    beta = state.beta
    scale = beta * problem.norms
    rows = problem.gram_rows(state.active)
    q = beta * (problem.moments - state.mean @ rows)
    half = linalg.half_solve(state.factor, rows) if state.active.size else rows
    s = scale - beta**2 * np.einsum("sm,sm->m", half, half)
    lost = np.maximum(LOST * scale, _TINY)
    able = s > lost
    able[state.active] = False
    gain = problem.prior.best_gain(np.maximum(s, lost), q * q, scale)
    gain[~able] = 0.0
    return Scores(gain, s, q, half)


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
        active = np.append(state.active, chosen)
        size = state.active.size
        gram = np.empty((active.size, active.size))
        gram[:size, :size] = state.gram
        gram[size:] = problem.gram_rows(chosen)[:, active]
        gram[:size, size:] = gram[size:, :size].T
        new = evaluate(problem, active, np.append(state.alpha, alpha), state.beta, gram)
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
    beta = state.beta
    scale = beta * problem.norms[index]
    least = np.maximum(LOST * scale, _TINY)
    lost = least.copy()
    q, s, gain = scores.q[index], scores.s[index], scores.gain[index]
    columns = problem.design.columns(index)
    half = beta * scores.half[:, index]
    taken = np.empty((16, index.size))  # rows φᵀC⁻¹Φ/√(α + s) of the functions chosen
    chosen: list[int] = []
    precisions: list[float] = []
    while gain.size:
        # `index` is ordered by gain and number, so the first of equals is the right one.
        i = int((gain >= gain.max() * (1.0 - _TIE)).argmax())
        if gain[i] <= threshold:
            break
        one = slice(i, i + 1)
        alpha = float(problem.prior.optimum(s[one], q[one] ** 2, scale[one])[0])
        k = len(chosen)
        if k == len(taken):
            taken = np.concatenate([taken, np.empty_like(taken)])
        row = beta * (problem.weighted(columns[:, i]) @ columns) - half[:, i] @ half
        if k:
            row -= taken[:k, i] @ taken[:k]
        row /= math.sqrt(alpha + s[i])
        taken[k] = row
        q = q - (q[i] / math.sqrt(alpha + s[i])) * row
        s = s - row * row
        chosen.append(i)
        precisions.append(alpha)
        lost[i] = np.inf  # never again
        gain = problem.prior.best_gain(np.maximum(s, least), q * q, scale)
        gain[s <= lost] = 0.0
    return index[chosen], np.array(precisions)
