"""The problem with labels: sites that are Gaussian only in approximation, and move.

For given precisions the weights are found by Newton's method (their log posterior is concave),
the likelihood is expanded there, and the evidence is Laplace's,

    log p(t|w) − ½ wᵀAw + ½ log|A| − ½ log|H|,     H = ΦᵀBΦ + A;

a smoothed likelihood (`sites`) adds its normaliser, and then this is the evidence of expectation
propagation where V is consistent. A state carries its own B.

Solvers move α as if B stayed where it is, as T01 section 3 does, and find B anew after each step;
a step is accepted only if the evidence with the new B does not fall. So a fit ends where
``α = γ/w²``, or where going there would lower the evidence. With Laplace's method that is not the
maximum of the evidence over α: there B moves too. Where the classes can be separated B vanishes
as the weights grow, and with it what the evidence charges for them; its maximum has weights
several times larger and probabilities that are much too certain.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.design import Dense, Design
from sparsebayes.engine.linalg import expand, fold
from sparsebayes.engine.posterior import State
from sparsebayes.engine.priors import Prior
from sparsebayes.engine.problem import Problem, Survey, first_of_equals, probe
from sparsebayes.engine.sites import Expansion, Sites

Array = np.ndarray

_DECREMENT = 1e-13  # of Newton's method, relative to the size of the log posterior
_CAVITY = 1e-9  # relative change of V at which it is consistent


@dataclass(frozen=True, eq=False)
class Approximation:
    """The expansion that a state rests on.

    Attributes
    ----------
    rows : ndarray, (S, N)
        The active functions.
    output : ndarray of int, (S,)
        To which f each contributes.
    expansion : Expansion
    cavity : ndarray (N,) or None
        V.
    """

    rows: Array
    output: Array
    expansion: Expansion
    cavity: Array | None


def products(rows: Array, output: Array, values: Array) -> Array:
    """``φ · values`` of each function, with the column of its output."""
    if values.shape[1] == 1:
        return rows @ values[:, 0]
    return (rows @ values)[np.arange(output.size), output]


class Latent(Problem):
    """A linear model of one or several f behind a likelihood of labels.

    Each of the design's functions may contribute to each f with a weight of its own. With `share`
    a function's weights have one precision and are kept or left together; else each is a
    "function" of this problem by itself.
    """

    free = False
    beta = 1.0
    max_beta = np.inf

    def __init__(
        self,
        design: Design,
        prior: Prior,
        sites: Sites,
        memory_budget: int = 1 << 30,
        *,
        share: bool = False,
    ) -> None:
        self.design, self.prior, self.sites = design, prior, sites
        self.n_samples = float(sites.weights.sum())
        self.energy = self.n_samples
        count, outputs = design.shape[1], sites.outputs
        self.group = outputs if share else 1
        self.capacity = design.capacity * (outputs // self.group)
        every = np.arange(count * outputs)
        if self.group > 1:  # the weights of a function together
            self._function, self._output = np.divmod(every, outputs)
        else:
            self._output, self._function = np.divmod(every, count)
        self._empty = sites.expand(np.zeros((design.shape[0], outputs)), self._no_cavity())
        norms = [design.squared_norms(self._empty.diagonal(k)) for k in range(outputs)]
        self.norms = fold(self._gather(np.array(norms)), self.group)

    def _no_cavity(self) -> Array | None:
        return None if self.sites.cavity == "none" else np.zeros(self.sites.weights.size)

    def evaluate(self, active: Array, alpha: Array, beta: float) -> State | None:
        rows = self._rows(active)
        return self._evaluate(active, alpha, beta, rows, np.zeros(len(rows)), self._no_cavity())

    def _rows(self, index: Array) -> Array:
        """The functions of these weights, (P, N)."""
        return self.design.columns(self._function[expand(index, self.group)]).T

    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        near = self._near(state)
        return self._evaluate(state.active, alpha, beta, near.rows, state.mean, near.cavity)

    def shrink(self, state: State, keep: Array) -> State | None:
        near = self._near(state)
        weights = np.repeat(keep, self.group)
        return self._evaluate(
            state.active[keep],
            state.alpha[keep],
            state.beta,
            near.rows[weights],
            state.mean[weights],
            near.cavity,
        )

    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        near = self._near(state)
        return self._evaluate(
            np.append(state.active, chosen),
            np.append(state.alpha, alpha),
            state.beta,
            np.vstack([near.rows, self._rows(chosen)]),
            np.append(state.mean, np.zeros(chosen.size * self.group)),
            near.cavity,
        )

    @staticmethod
    def _near(state: State) -> Approximation:
        assert isinstance(state.local, Approximation)
        return state.local

    def _evaluate(
        self,
        active: Array,
        alpha: Array,
        beta: float,
        rows: Array,
        mean: Array,
        cavity: Array | None,
    ) -> State | None:
        rows = np.ascontiguousarray(rows)
        output = self._output[expand(active, self.group)]
        precisions = np.repeat(alpha, self.group)
        if self.sites.cavity == "prior":
            cavity = (1.0 / precisions) @ rows**2
        for _ in range(200):
            found = self._mode(precisions, beta, rows, output, mean, cavity)
            if found is None:
                return None
            mean, expansion, gram, factor = found
            if self.sites.cavity != "posterior":
                break
            spread = _variances(rows, factor)
            assert cavity is not None
            new = expansion.updated_cavity(spread)  # type: ignore[attr-defined]
            change = np.abs(new - cavity).max(initial=0.0)
            cavity = new
            if change <= _CAVITY * (1.0 + np.abs(new).max(initial=0.0)):
                break
        else:
            return None
        evidence = beta * (expansion.value + expansion.normaliser) - 0.5 * float(
            precisions @ mean**2
        )
        if active.size:
            evidence += 0.5 * (float(np.log(precisions).sum()) - linalg.log_det(factor))
        local = Approximation(rows, output, expansion, cavity)
        state = State(
            active, alpha, beta, gram, factor, mean, evidence, self.prior, self.group, local
        )
        return state if np.isfinite(state.objective) else None

    def _mode(
        self,
        alpha: Array,
        beta: float,
        rows: Array,
        output: Array,
        mean: Array,
        cavity: Array | None,
    ) -> tuple[Array, Expansion, Array, Array] | None:
        """The weights that maximise ``β log p(t|w) − ½ wᵀAw``, by Newton's method [T01 (24)-(26)].

        The function is concave; a step that does not rise is halved.
        """
        f = self._latent(rows, output, mean)
        expansion = self.sites.expand(f, cavity)
        value = beta * expansion.value - 0.5 * float(alpha @ mean**2)
        size = alpha.size
        diagonal = np.arange(size)
        for _ in range(200):
            gram = expansion.gram(rows, output)
            if size == 0:
                return mean, expansion, gram, gram
            hessian = beta * gram
            hessian[diagonal, diagonal] += alpha
            factor = linalg.cholesky(hessian)
            if factor is None:
                return None
            grad = beta * products(rows, output, expansion.slope) - alpha * mean
            step = linalg.solve(factor, grad)
            rise = float(grad @ step)
            if rise <= _DECREMENT * (1.0 + abs(value)):
                return mean, expansion, gram, factor
            along = self._latent(rows, output, step)
            length = 1.0
            while True:
                new_mean = mean + length * step
                new = self.sites.expand(f + length * along, cavity)
                new_value = beta * new.value - 0.5 * float(alpha @ new_mean**2)
                if new_value > value:
                    break
                length *= 0.5
                if length < 1e-10:  # at the maximum as far as rounding tells
                    return mean, expansion, gram, factor
            f = f + length * along
            mean, expansion, value = new_mean, new, new_value
        return None

    def _latent(self, rows: Array, output: Array, mean: Array) -> Array:
        """f of weights, (N, K)."""
        if self.sites.outputs == 1:
            return (mean @ rows)[:, None]
        weights = np.zeros((mean.size, self.sites.outputs))
        weights[np.arange(mean.size), output] = mean
        return rows.T @ weights

    def survey(self, state: State) -> Survey:
        """O(N M S K): one pass over the design for each output."""
        near = self._near(state)
        expansion, beta = near.expansion, state.beta
        size, outputs, count = state.mean.size, self.sites.outputs, self.design.shape[1]
        rows = np.empty((size, outputs, count))
        scale, q = np.empty((outputs, count)), np.empty((outputs, count))
        for k in range(outputs):
            weighed = expansion.weigh(near.rows, near.output, k)
            stack = beta * np.vstack([weighed, expansion.slope[:, k]])
            products = self.design.project(stack.T).T
            rows[:, k], q[k] = products[:size], products[size]
            scale[k] = self.design.squared_norms(beta * expansion.diagonal(k))
        return Survey(*(self._gather(part) for part in (scale, q, rows)))

    def _gather(self, values: Array) -> Array:
        """From (..., K, functions of the design) to the weights, (..., M)."""
        if values.shape[-2] == 1 and self._function.size == values.shape[-1]:
            return values[..., 0, :]
        return np.ascontiguousarray(values[..., self._output, self._function])

    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        expansion, beta = self._near(state).expansion, state.beta
        weights = expand(index, self.group)
        function, output = self._function[weights], self._output[weights]
        rows = np.ascontiguousarray(self.design.columns(function).T)
        parts = [(k, np.flatnonzero(output == k)) for k in range(self.sites.outputs)]
        parts = [(k, some, rows[some] if len(parts) > 1 else rows) for k, some in parts]

        def overlap(i: int) -> Array:
            own = slice(i * self.group, (i + 1) * self.group)
            block = np.empty((self.group, weights.size))
            for k, some, part in parts:
                block[:, some] = expansion.weigh(rows[own], output[own], k) @ part.T
            return beta * block

        return overlap

    def residual_energy(self, state: State) -> float:
        raise AssertionError("labels have no noise to estimate")

    def distinct(self) -> Array:
        slope = self._empty.slope
        marked = self.design.project(np.column_stack([slope, probe(len(slope))]))
        stacked = self._gather(marked[:, :-1].T), self._gather(marked[:, [-1] * len(slope[0])].T)
        first = np.arange(0, self._output.size, self.group)  # the first weight of each function
        return first_of_equals(self._output[first], self.norms, *(part[first] for part in stacked))

    def hold(self, beta: float) -> Latent:
        return self

    def restrict(self, index: Array) -> Latent:
        part = copy.copy(self)
        weights = expand(index, self.group)
        function, part._function = np.unique(self._function[weights], return_inverse=True)
        part._output = self._output[weights]
        part.design = Dense(self.design.columns(function))
        part.capacity = index.size
        part.norms = self.norms[index]
        return part


def _variances(rows: Array, factor: Array) -> Array:
    """The variances of f, (N,)."""
    if not len(rows):
        return np.zeros(rows.shape[1])
    half = linalg.half_solve(factor, rows.copy())
    return np.einsum("sn,sn->n", half, half)
