"""Subspace EM and the batch method as app. C prints them: one step, for some functions or for all.

Each step updates α and σ² by (12), and functions whose α reaches L leave. The batch method starts
with all functions. SSEM takes one more function at each step, in random order, with the same
first α, and goes on as the batch method does with those that remain when all have been seen. Both
end with a step that changes the log evidence by less than a part of it.

L, the first α and σ² and the part are not told; parts of 1e-4 to 1e-6 gave like ratios of times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsebayes.engine import Dense, Exact, Flat, Gaussian, State

Array = np.ndarray

LARGEST = 1e12  # L
SIGNAL = 10.0  # variance of the targets over the first σ²
PART = 1e-4  # of the log evidence, as the least change
STEPS = 10_000  # at most
ROUNDING = np.finfo(float).eps  # a smaller γ cannot be told from it


class Machine:
    """The functions inside, with their precisions and the noise."""

    def __init__(self, columns: Array, targets: Array) -> None:
        ones = np.ones(len(targets))
        self.problem = Exact(Dense(columns), Flat(), Gaussian(targets, ones))
        self.first = np.square(columns).sum() / np.square(targets).sum()
        self.active, self.alpha = np.empty(0, dtype=np.intp), np.empty(0)
        self.beta = SIGNAL / targets.var()

    def let_in(self, index: Array) -> None:
        """These functions too, with the first α."""
        self.active = np.append(self.active, index)
        self.alpha = np.append(self.alpha, np.full(len(index), self.first))

    def step(self) -> State:
        """The state of these precisions, which then move by (12)."""
        state = self.problem.evaluate(self.active, self.alpha, self.beta)
        assert state is not None, "the Hessian is singular in rounding"
        noise, determined = self.problem.noise, np.maximum(state.determined, ROUNDING)
        assert noise is not None
        alpha = determined / state.squared
        self.beta = min((noise.count - determined.sum()) / noise.scatter(state), noise.max_beta)
        keep = alpha < LARGEST
        self.active, self.alpha = self.active[keep], alpha[keep]
        return state


def batch(columns: Array, targets: Array) -> Iterator[State]:
    """The states of the batch method: all functions at once."""
    machine = Machine(columns, targets)
    machine.let_in(np.arange(columns.shape[1]))
    yield from _to_the_end(machine)


def ssem(columns: Array, targets: Array, rng: np.random.Generator) -> Iterator[State]:
    """The states of SSEM: one more function at each step."""
    machine = Machine(columns, targets)
    for one in rng.permutation(columns.shape[1]):
        machine.let_in(np.array([one]))
        yield machine.step()
    yield from _to_the_end(machine)


def _to_the_end(machine: Machine) -> Iterator[State]:
    before = np.inf
    for _ in range(STEPS):
        state = machine.step()
        yield state
        if abs(state.evidence - before) < PART * abs(state.evidence):
            return
        before = state.evidence
    raise RuntimeError(f"no end after {STEPS} steps")
