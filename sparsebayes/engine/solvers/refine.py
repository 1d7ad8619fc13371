"""Joint re-estimation of a whole active set: Newton's method in (log α, log β), with pruning.

With S active functions a step costs O(S³), whatever the number of samples. No accepted
step lowers the objective. TF03 re-estimates one α at a time; all of them at once is our own.
"""

from __future__ import annotations

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.posterior import State, gradient, gradient_and_hessian
from sparsebayes.engine.model.problem import Problem

Array = np.ndarray

# Newton's method with a Levenberg shift, as usual: the shift grows where the Hessian is not
# negative definite, where a step is too long to believe and where it does not rise; it shrinks
# where the rise is what the quadratic model says.
_LONGEST_STEP = 4.0  # in log α and log β: a factor of 55
_TOO_LONG = 4.0  # times that: not worth shortening
_FIRST_SHIFT = 1e-3  # at first, and at least after a failure
_LEAST_SHIFT = 1e-12
_MORE_SINGULAR, _MORE_LONG, _MORE_FALLEN = 10.0, 4.0, 5.0  # factors of the shift after failures
_GOOD, _POOR = 0.75, 0.25  # of the expected rise: the shift is divided by 10, or multiplied by 4
_TRIES = 30  # shifts, up to 10¹⁸ of the first

_STATIONARY_STEPS = 10  # they converge quadratically or not at all
_LAST_STEPS, _LAST_GAIN = 100, 1e-9  # of a climb to the end, and nats in a step
_STATIONARY = 1e-13, 0.1  # lengths in log α: at the end, and where the start was not near it


def prune(problem: Problem, state: State, *, hardly: float = 1.0) -> State:
    """Delete functions that are better left out, of those with γ < `hardly`.

    They go together if the objective does not fall, else the better half of them, and so on.
    """
    if state.active.size == 0 or state.__dict__.get("tight") is problem.prior:
        return state
    s, q2 = state.s_and_q2()
    weight = problem.prior.weight(state)
    least = state.least_s
    gain = problem.prior.best_gain(np.maximum(s, least), q2, weight)
    doomed = ((gain <= 0.0) & (state.determined < hardly) | (s <= least)).nonzero()[0]
    if not doomed.size:
        if hardly == 1.0:
            state.__dict__["tight"] = problem.prior  # it need not be asked again
        return state
    if doomed.size > 1:
        loss = problem.prior.gain(state.alpha[doomed], s[doomed], q2[doomed], weight[doomed])
        doomed = doomed[np.argsort(loss, kind="stable")]
    while doomed.size:
        keep = np.ones(state.active.size, dtype=bool)
        keep[doomed] = False
        smaller = problem.shrink(state, keep)
        if smaller is not None and smaller.objective >= state.objective:
            return smaller
        doomed = doomed[: doomed.size // 2]
    return state


def losses(problem: Problem, state: State) -> Array:
    """By how much the objective falls if one of the active functions is deleted, for each."""
    s, q2 = state.s_and_q2()
    s = np.maximum(s, state.least_s)
    return problem.group * problem.prior.gain(state.alpha, s, q2, problem.prior.weight(state))


def reestimate(problem: Problem, state: State, tol: float) -> State:
    """Move the one α that gains most by its optimum; the same state if none gains `tol`.

    Newton's method climbs to the next maximum; a precision whose objective has two, one of
    them at infinity, may have to jump.
    """
    if state.active.size == 0:
        return state
    s, q2 = state.s_and_q2()
    weight = problem.prior.weight(state)
    s = np.maximum(s, state.least_s)
    gain = problem.prior.best_gain(s, q2, weight)
    rise = problem.group * (gain - problem.prior.gain(state.alpha, s, q2, weight))
    i = int(np.argmax(rise))
    if rise[i] <= tol or gain[i] <= 0.0:
        return state
    alpha = state.alpha.copy()
    one = slice(i, i + 1)
    alpha[one] = problem.prior.optimum(s[one], q2[one], weight[one])
    new = problem.move(state, alpha, state.beta)
    return new if new is not None and new.objective >= state.objective else state


def stationary(problem: Problem, state: State, *, free: bool = False) -> State:
    """The stationary point beside a state, by the gradient alone; β stays unless it is `free`.

    Where the model interpolates, rounding hides the last digits of the objective, so that where
    a climb ends depends on its way; the gradient has these digits still.
    """
    least, longest = _STATIONARY
    noise = problem.noise if free else None
    for _ in range(_STATIONARY_STEPS if state.active.size else 0):
        grad, hess = gradient_and_hessian(state, noise)
        factor = linalg.cholesky(-hess)
        if factor is None:
            break
        step = linalg.solve(factor, grad)
        if not least < linalg.largest(step) < longest:
            break
        growth, size = np.exp(step), state.active.size
        beta = state.beta if noise is None else state.beta * float(growth[size])
        new = problem.move(state, state.alpha * growth[:size], beta)
        if new is None:
            break
        state = new
    return state


def to_the_end(problem: Problem, state: State) -> State:
    """The maximum beside a state, as precisely as it can be had.

    Searches end where little is left to gain, at a point that depends on their way; the maximum
    does not, but for what rounding makes of the products.
    """
    with linalg.one_thread():
        refiner = Refiner(problem)
        state = refiner.climb(state, free=True, steps=_LAST_STEPS, tol=_LAST_GAIN)
        return stationary(problem, state, free=True)


class Refiner:
    """Newton steps with a Levenberg shift that is remembered from step to step."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.shift = _FIRST_SHIFT

    def climb(self, state: State, *, free: bool, steps: int, tol: float) -> State:
        """At most `steps` steps; fewer when one gains less than `tol`."""
        for _ in range(steps):
            before = state.objective
            state = prune(self.problem, state)
            new = self._step(state, free=free)
            if new is None:
                return state
            state = new
            if state.objective - before < tol:
                return prune(self.problem, state)
        return state

    def _step(self, state: State, *, free: bool) -> State | None:
        """One step uphill, or None where rounding allows none."""
        noise = self.problem.noise if free else None
        if noise is not None and state.beta >= noise.max_beta and gradient(state, noise)[1] >= 0.0:
            noise = None  # at its floor it may only rise
        if state.active.size == 0 and noise is None:
            return None
        grad, hess = gradient_and_hessian(state, noise)
        size = state.active.size
        for _ in range(_TRIES):
            shifted = -hess
            diagonal = linalg.along_diagonal(shifted)
            diagonal += self.shift
            factor = linalg.cholesky(shifted)
            if factor is None:
                self.shift = max(_MORE_SINGULAR * self.shift, _FIRST_SHIFT)
                continue
            step = linalg.solve(factor, grad)
            longest = linalg.largest(step)
            if longest > _LONGEST_STEP:
                if longest > _TOO_LONG * _LONGEST_STEP:
                    self.shift = max(_MORE_LONG * self.shift, _FIRST_SHIFT)
                    continue
                step *= _LONGEST_STEP / longest
            growth = np.exp(step)
            beta = state.beta
            if noise is not None:
                beta = min(beta * float(growth[size]), noise.max_beta)
            new = self.problem.move(state, state.alpha * growth[:size], beta)
            if new is not None and new.objective >= state.objective:
                expected = float(grad @ step + 0.5 * step @ (hess @ step))
                ratio = (new.objective - state.objective) / expected if expected > 0 else 1.0
                if ratio > _GOOD:
                    self.shift = max(0.1 * self.shift, _LEAST_SHIFT)
                elif ratio < _POOR:
                    self.shift *= 4.0
                return new
            self.shift = max(_MORE_FALLEN * self.shift, _FIRST_SHIFT)
        return None
