"""One function replaced by another, where neither addition nor deletion gains.

Of two functions that are close one is in, and the other would do better: neither adding it nor
deleting the first gains. What all replacements gain, at the precisions of the others, has a closed
form: to leave out j adds ``C⁻¹φ_jφ_jᵀC⁻¹/(α_j²Σ_jj)`` to C⁻¹, so that of all other functions

    s_m = S_m + U_jm²/Σ_jj,  q_m = Q_m + U_jm μ_j/Σ_jj,  U = ΣΦ_aᵀBΦ,

for the price of one scoring. This is our own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.linalg import (
    expand,
    half_solve_transposed,
    mean_product,
    mean_square,
)
from sparsebayes.engine.model.posterior import LEAST_S, State
from sparsebayes.engine.model.problem import Problem, blocks
from sparsebayes.engine.solvers.candidates import score
from sparsebayes.engine.solvers.refine import losses

Array = np.ndarray

_DIGITS = 9  # of gains that count in a comparison: equal ones are taken in the order of the basis


@dataclass(frozen=True)
class Replacement:
    """Another function in the place of one.

    Attributes
    ----------
    place : int
        Which of the active functions goes.
    function : int
        The one that comes.
    alpha : float
        Its precision.
    gain : float
        What this gains while the precisions of the others stay.
    """

    place: int
    function: int
    alpha: float
    gain: float

    def apply(self, problem: Problem, state: State) -> State | None:
        """The state after it."""
        keep = np.ones(state.active.size, dtype=bool)
        keep[self.place] = False
        smaller = problem.shrink(state, keep)
        if smaller is None:
            return None
        return problem.grow(smaller, np.array([self.function]), np.array([self.alpha]))


def best_replacements(
    problem: Problem, state: State, size: int, least: float = 0.0
) -> list[Replacement]:
    """The best one for each active function, if it gains more than `least`; at most `size`.

    Where a function has several weights, or the prior looks at all of them, gains are approximate.
    """
    count, group = state.active.size, problem.group
    if not count:
        return []
    scores = score(problem, state)
    variance = state.cov.diagonal()[:, None]
    best, found = np.full(count, -np.inf), np.zeros(count, dtype=np.intp)
    optimum = np.full(count, np.inf)
    places = np.arange(count)
    for part in blocks(problem.n_functions, count * group * group):
        index = np.arange(part.start, min(part.stop, problem.n_functions))
        weights = expand(index, group)
        pull = half_solve_transposed(state.factor, scores.reduced.reduce(weights)[0])
        s = scores.s[weights] + (pull**2 / variance).reshape(count, group, -1).sum(axis=1)
        shape = (count, index.size)
        s = s.reshape(*shape, group).mean(axis=-1)
        if state.mean.ndim == 1:
            shift = pull * (state.mean[:, None] / variance)
            q = scores.q[weights] + shift.reshape(count, group, -1).sum(axis=1)
            q2 = (q**2).reshape(*shape, group).mean(axis=-1)
        else:  # the mean over the targets, multiplied out
            share, own = pull / variance, state.squared[:, None]
            both = mean_product(state.mean, scores.q[weights])
            q2 = mean_square(scores.q[weights]) + share * (2.0 * both + share * own)
        s = np.maximum(s, np.maximum(scores.reduced.lost * scores.scale[index], LEAST_S))
        weight = np.broadcast_to(scores.weight[index], shape)
        gain = problem.prior.best_gain(s.ravel(), q2.ravel(), weight.ravel()).reshape(shape)
        gain[:, np.isin(index, state.active)] = -np.inf
        first = gain.argmax(axis=1)
        top = gain[places, first]
        better = np.flatnonzero(top > best)
        column = first[better]
        best[better], found[better] = top[better], index[column]
        optimum[better] = problem.prior.optimum(
            s[better, column], q2[better, column], weight[better, column]
        )
    gain = group * best - losses(problem, state)
    gain[~np.isfinite(optimum)] = -np.inf
    order = np.argsort(-np.round(gain, _DIGITS), kind="stable")[:size]
    return [
        Replacement(int(i), int(found[i]), float(optimum[i]), float(gain[i]))
        for i in order
        if gain[i] > least
    ]
