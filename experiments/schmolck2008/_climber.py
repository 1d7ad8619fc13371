"""S08's own algorithm (Alg. 1): one component at a time, picked at random.

The engine's solver scores all functions, moves many of them together and restarts below the noise,
and is deterministic. This is the algorithm it replaces, kept to count the optima that the order of
the steps alone can lead to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.engine import Exact, Smoothness, State
from sparsebayes.engine.model.posterior import gradient

Array = np.ndarray

SAME = 1e-6  # log α or log β that moves by less has not moved
FIRST_NOISE = 0.1  # of the targets' variance; Alg. 1, line 1
LOST = 1e-10  # s this small a part of φᵀBφ is rounding


class Unscaled(Smoothness):
    """The smoothness prior as printed, ``−c/(1 + σ²α)``, whatever the norm of a function.

    Ours is relative to ``φᵀBφ``, which is the same for functions of unit norm only.
    """

    def weight(self, state: State) -> Array:
        return np.full(state.alpha.size, state.beta)

    def log_density(self, state: State) -> float:
        return float(self.derivatives(state.alpha, self.weight(state))[0].sum())

    def slopes(self, state: State) -> tuple[Array, Array]:
        return self.derivatives(state.alpha, self.weight(state))[1:]


@dataclass(frozen=True, eq=False)
class Climbed:
    """Where a climb ended, and after how many steps."""

    state: State
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class View:
    """What decides about each function, with itself left out.  # S08 (2.85)-(2.88)"""

    s: Array
    q2: Array
    g: Array  # what α is compared with in the prior
    inside: Array  # bool
    prior: Smoothness
    eager: bool

    def wanted(self, index: Array) -> Array:
        """The α that functions should have given the others; ∞ where they are better left out."""
        alpha = np.full(index.size, np.inf)
        # Where s ≤ g nothing below 1 + 2c can gain; most functions are done with here.
        least = np.where(self.s[index] <= self.g[index], 1.0 + 2.0 * self.prior.c, 1.0)
        least = np.ones(index.size) if self.eager else least
        some = np.flatnonzero(self.q2[index] > least * self.s[index])
        if some.size:
            chosen = index[some]
            given = self.s[chosen], self.q2[chosen], self.g[chosen]
            best = self.prior.optimum(*given)
            finite = np.isfinite(best)
            gain = self.prior.gain(np.where(finite, best, 1.0), *given)
            alpha[some] = np.where(finite & (self.eager | (gain > 0.0)), best, np.inf)
        return alpha


def climb(
    problem: Exact,
    gram: Array,
    rng: np.random.Generator,
    *,
    every: int = 10,
    stable: int = 1,
    eager: bool = False,
    first_noise: float | None = None,
    max_steps: int = 100_000,
) -> Climbed:
    """Climb from the function that is most like the target, until nothing moves any more.

    Functions are picked at random; one that is outside and should stay there is no step. The
    noise is re-estimated after `every` steps. `gram` is ``ΦᵀΦ`` of all functions.

    Each function is looked at again before it ends, and the last `stable` estimates of the noise
    must be the same (S08 2.6.4). `eager` takes a function in at a maximum that is below leaving it
    out, which is line 11 of Alg. 1 to the letter; the text of 2.6.4 wants a gain. `first_noise` is
    a variance, by default a tenth of the targets' mean square.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.array([np.nanargmax(problem.moments**2 / problem.norms)])
    beta = problem.beta if first_noise is None else 1.0 / first_noise
    state = problem.evaluate(first, beta * problem.norms[first], beta)
    assert state is not None
    order = np.empty(0, dtype=np.intp)
    calm = 0  # estimates of the noise in a row that were the same
    for step in range(2, max_steps + 1):  # the first function was a step
        seen = _look(problem, gram, state, eager)
        if not state.active.size and _settled(seen, state):
            return Climbed(state, step, True)
        while True:
            if not order.size:
                order = rng.integers(problem.n_functions, size=256)
            i, order = order[:1], order[1:]
            alpha = seen.wanted(i)
            if seen.inside[i[0]] or np.isfinite(alpha[0]):
                break
        state = _moved(problem, state, i, alpha) or state
        if step % every == 0:
            before, state = state.beta, _with_noise(problem, state)
            calm = calm + 1 if abs(np.log(state.beta / before)) < SAME else 0
            if calm >= stable and _settled(_look(problem, gram, state, eager), state):
                return Climbed(state, step, True)
    return Climbed(state, max_steps, False)


def _look(problem: Exact, gram: Array, state: State, eager: bool) -> View:
    active = state.active
    rows = gram[active]
    g = state.beta * problem.norms
    q = state.beta * (problem.moments - state.mean @ rows)
    s = g - state.beta**2 * np.einsum("sm,sm->m", rows, state.cov @ rows)
    q2 = np.where(s > LOST * g, q**2, 0.0)  # what is lost in rounding stays out
    inside = np.zeros(s.size, dtype=bool)
    inside[active] = True
    if active.size:
        s[active], q2[active] = state.s_and_q2()
    prior = problem.prior if isinstance(problem.prior, Smoothness) else Smoothness(0.0)
    weight = np.full(g.size, state.beta) if isinstance(prior, Unscaled) else g
    return View(np.maximum(s, LOST * g), q2, weight, inside, prior, eager)


def _settled(seen: View, state: State) -> bool:
    """Whether no function, picked alone, would move."""
    alpha = seen.wanted(np.arange(seen.s.size))
    if np.isfinite(alpha[~seen.inside]).any() or np.isinf(alpha[state.active]).any():
        return False
    return bool(np.all(np.abs(np.log(alpha[state.active] / state.alpha)) < SAME))


def _moved(problem: Exact, state: State, i: Array, alpha: Array) -> State | None:
    """Add, re-estimate or delete one function."""
    own = state.active == i[0]
    if not own.any():
        return problem.grow(state, i, alpha)
    if np.isinf(alpha[0]):
        return problem.shrink(state, ~own)
    return problem.move(state, np.where(own, alpha, state.alpha), state.beta)


def _with_noise(problem: Exact, state: State) -> State:
    """The noise re-estimated once, with the posterior held.  # S08 (2.84)"""
    slope = gradient(state, problem)[1]
    # slope = ½(N − Σγ − β‖r‖²) − Σf′; the β that makes it vanish if all but β‖r‖² stayed
    beta = state.beta * (1.0 + 2.0 * slope / (state.beta * problem.residual_energy(state)))
    if beta <= 0.0:
        return state
    return problem.move(state, state.alpha, min(beta, problem.max_beta)) or state
