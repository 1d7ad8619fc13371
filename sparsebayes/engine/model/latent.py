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
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.linalg import expand, fold
from sparsebayes.engine.model.design import Dense, Design, probe
from sparsebayes.engine.model.mode import ActiveFunctions, Point, expand_at, find_mode
from sparsebayes.engine.model.posterior import State, alpha_gradient
from sparsebayes.engine.model.prior import Prior
from sparsebayes.engine.model.priors import Flat
from sparsebayes.engine.model.problem import (
    AdaptableProblem,
    CandidateProducts,
    first_of_equals,
)
from sparsebayes.engine.model.sites import SiteExpansion, Sites

Array = np.ndarray

_CAVITY = 1e-5  # relative change of V at which it is consistent; the evidence sees its square
_ROUNDS = 200  # for V to become so
_LEFT = 1e-12  # of a sample's precision without its own site, at least: less is rounding


@dataclass(frozen=True, eq=False)
class Approximation:
    """The expansion that a state rests on; `cavity` is V, (N,) or None."""

    functions: ActiveFunctions
    point: Point
    cavity: Array | None

    @property
    def expansion(self) -> SiteExpansion:
        return self.point.expansion


class Latent(AdaptableProblem):
    """A linear model of one or several f behind a likelihood of labels.

    Each of the design's functions may contribute to each f with a weight of its own. With `share`
    a function's weights have one precision and are kept or left together; else each is a
    "function" of this problem by itself. β is a power of the likelihood, 1 but while a solver
    explores.

    Parameters
    ----------
    design : Design
        The functions at the samples.
    prior : Prior
        On the precisions.
    sites : Sites
        The labels and their likelihood.
    share : bool, default=False
        Whether the weights of a function in several f have one precision.

    See Also
    --------
    Exact : The problem with Gaussian noise.
    Logit : Labels of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Flat, Latent, Logit, Sequential, run
    >>> x = np.random.default_rng(0).standard_normal((80, 3))
    >>> labels = np.where(x[:, 0] + 0.5 * x[:, 1] ** 3 > 0, 1.0, -1.0)
    >>> problem = Latent(Dense(x), Flat(), Logit(labels, np.ones(80)))
    >>> found = run(Sequential(), problem, max_iter=500, tol=0.01, rng=np.random.default_rng(0))
    >>> found.stop.converged, 0 in found.state.active
    (True, True)
    """

    beta = 1.0

    def __init__(self, design: Design, prior: Prior, sites: Sites, *, share: bool = False) -> None:
        self.sites = sites
        self.n_samples = float(sites.weights.sum())
        self.energy = self.n_samples
        count, outputs = design.shape[1], sites.outputs
        self.n_outputs = outputs
        self.group = outputs if share else 1
        self.prior = prior.shared(self.group)
        every = np.arange(count * outputs)
        if self.group > 1:  # the weights of a function together
            self._function, self._output = np.divmod(every, outputs)
        else:
            self._output, self._function = np.divmod(every, count)
        self._empty = sites.expand(np.zeros((design.shape[0], outputs)), self._no_cavity())
        self._set_design(design)

    def _set_design(self, design: Design) -> None:
        self.design = design
        self.capacity = design.capacity * (self.n_outputs // self.group)
        norms = [design.squared_norms(curve) for curve in self._diagonals(self._empty)]
        self.norms = fold(self._gather(np.array(norms)), self.group)

    def _diagonals(self, expansion: SiteExpansion) -> list[Array]:
        """The diagonal of B, (N,), of each output."""
        return [expansion.curvature(k)[:, k] for k in range(self.n_outputs)]

    def _no_cavity(self) -> Array | None:
        return None if self.sites.cavity == "none" else np.zeros(self.sites.weights.size)

    def evaluate(self, active: Array, alpha: Array, beta: float) -> State | None:
        functions = self._functions(active)
        mean = np.zeros(functions.output.size)
        start = expand_at(self.sites, functions, mean, self._no_cavity())
        return self._evaluate(active, alpha, beta, functions, start, self._no_cavity())

    def _functions(self, index: Array) -> ActiveFunctions:
        weights = expand(index, self.group)
        rows = np.ascontiguousarray(self.design.columns(self._function[weights]).T)
        return ActiveFunctions(rows, self._output[weights], self.n_outputs)

    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        near = self._near(state)
        return self._evaluate(state.active, alpha, beta, near.functions, near.point, near.cavity)

    def shrink(self, state: State, keep: Array) -> State | None:
        near = self._near(state)
        weights = np.repeat(keep, self.group)
        functions = replace(
            near.functions,
            rows=near.functions.rows[weights],
            output=near.functions.output[weights],
        )
        start = expand_at(self.sites, functions, state.mean[weights], near.cavity)
        return self._evaluate(
            state.active[keep], state.alpha[keep], state.beta, functions, start, near.cavity
        )

    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        near = self._near(state)
        new = self._functions(chosen)
        functions = replace(
            near.functions,
            rows=np.vstack([near.functions.rows, new.rows]),
            output=np.append(near.functions.output, new.output),
        )
        mean = np.append(state.mean, np.zeros(new.output.size))
        start = replace(near.point, mean=mean, gram=None)
        return self._evaluate(
            np.append(state.active, chosen),
            np.append(state.alpha, alpha),
            state.beta,
            functions,
            start,
            near.cavity,
        )

    @staticmethod
    def _near(state: State) -> Approximation:
        assert state.local is not None
        return state.local

    def _evaluate(
        self,
        active: Array,
        alpha: Array,
        beta: float,
        functions: ActiveFunctions,
        start: Point,
        cavity: Array | None,
    ) -> State | None:
        precisions = np.repeat(alpha, self.group)
        if self.sites.cavity == "prior":
            cavity = (1.0 / precisions) @ functions.rows**2
            start = expand_at(self.sites, functions, start.mean, cavity)
        for _ in range(_ROUNDS):
            found = find_mode(self.sites, functions, precisions, beta, cavity, start)
            if found is None:
                return None
            point, factor = found
            single = point.expansion.single
            if cavity is None or single is None:
                break
            spread = _variances(functions.rows, factor)
            new = spread / np.maximum(1.0 - spread * single, _LEFT)  # without the sample's own site
            if np.all(np.abs(new - cavity) <= _CAVITY * (1.0 + new)):
                break
            cavity = new
            start = expand_at(self.sites, functions, point.mean, cavity)
        else:
            return None
        expansion = point.expansion
        evidence = beta * (expansion.value + expansion.normaliser)
        evidence -= 0.5 * float(precisions @ point.mean**2)
        if active.size:
            evidence += 0.5 * (float(np.log(precisions).sum()) - linalg.log_det(factor))
        assert point.gram is not None
        local = Approximation(functions, point, cavity)
        state = State(
            active,
            alpha,
            beta,
            point.gram,
            factor,
            point.mean,
            evidence,
            self.prior,
            self.group,
            local,
        )
        return state if np.isfinite(state.objective) else None

    def candidate_products(self, state: State) -> CandidateProducts:
        # O(N M S K), in one pass over the design.
        near = self._near(state)
        expansion, beta = near.expansion, state.beta
        size, outputs, count = state.mean.size, self.n_outputs, self.design.shape[1]
        stack = np.empty((outputs, size + 1, near.functions.rows.shape[1]))
        for k in range(outputs):
            stack[k, :size] = expansion.weigh(near.functions.rows, near.functions.output, k)
            stack[k, size] = expansion.slope[:, k]
        stack *= beta
        diagonals = beta * np.array(self._diagonals(expansion)).T
        if outputs == 1:
            diagonals = diagonals[:, 0]
        products, norms = self.design.products(stack.reshape(outputs * (size + 1), -1).T, diagonals)
        products = products.T.reshape(outputs, size + 1, count)
        scale = norms.T.reshape(outputs, count)
        rows, q = products[:, :size].transpose(1, 0, 2), products[:, size]
        scale, q, rows = (self._gather(part) for part in (scale, q, rows))
        return CandidateProducts(scale, q, lambda part: rows[:, part].copy())

    def _gather(self, values: Array) -> Array:
        """From (..., K, functions of the design) to the weights, (..., M)."""
        if self.n_outputs == 1:
            return values[..., 0, :]
        return np.ascontiguousarray(values[..., self._output, self._function])

    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        expansion, beta = self._near(state).expansion, state.beta
        functions = self._functions(index)
        rows, output = functions.rows, functions.output
        parts = []
        for k in range(self.n_outputs):
            some = np.flatnonzero(output == k)
            parts.append((k, some, rows[some] if some.size < output.size else rows))

        def overlap(i: int) -> Array:
            own = slice(i * self.group, (i + 1) * self.group)
            block = np.empty((self.group, output.size))
            for k, some, part in parts:
                block[:, some] = expansion.weigh(rows[own], output[own], k) @ part.T
            return beta * block

        return overlap

    def distinct(self) -> Array:
        marks = probe(len(self._empty.slope))
        slopes = np.array([self.design.project(slope) for slope in self._empty.slope.T])
        marked = self._gather(np.broadcast_to(self.design.project(marks), slopes.shape))
        first = np.arange(0, self._output.size, self.group)  # the first weight of each function
        return first_of_equals(
            self._output[first], self.norms, self._gather(slopes)[first], marked[first]
        )

    def uncharged(self) -> Latent:
        other = copy.copy(self)
        other.prior = Flat()
        return other

    def rebase(self, design: Design) -> Latent:
        other = copy.copy(self)
        other._set_design(design)
        return other

    def plain(self, design: Design, rows: slice) -> Latent:
        return Latent(design, Flat(), self.sites.plain(rows))

    def used(self, index: Array) -> Array:
        function = self._function[expand(index, self.group)]
        return np.unique(function) if self.n_outputs > 1 else function

    def derivatives(self, state: State) -> tuple[Array, float, Array]:
        # B moves along where the evidence is Laplace's. With a smoothed likelihood it is held:
        # consistent sites are stationary (V = "prior" is not consistent, and there the derivatives
        # are not exact).
        near = self._near(state)
        functions, expansion, beta = near.functions, near.expansion, state.beta
        rows, output, mean = functions.rows, functions.output, state.mean
        by_gram = self.prior.by_gram(state) * state.group
        spread = state.cov - 2.0 * (np.diag(by_gram) if by_gram.ndim == 1 else by_gram)
        pull = expansion.slope.T[output]  # (P, N)
        slopes = pull * mean[:, None]
        drift = np.zeros(mean.size)
        if near.cavity is None:
            # f moves B: what that does to the evidence, directly and through the mode
            along = -0.5 * expansion.tilt(self._blocks(rows, output, spread))
            drift = beta * linalg.solve(state.factor, functions.products(along))
            slopes += along.T[output] * mean[:, None] + pull * drift[:, None]
        for k in range(self.n_outputs):
            own = output == k
            weighed = expansion.weigh(rows, output, k)
            slopes[own] -= spread[own] @ weighed + np.outer(mean[own], drift @ weighed)
        slopes *= beta
        by_alpha = alpha_gradient(state)
        by_alpha -= self.group * fold(state.precisions * mean * drift, self.group)
        if self.n_outputs == 1:
            return by_alpha, 0.0, slopes.T
        used = self.used(state.active)
        by_column = np.zeros((used.size, rows.shape[1]))
        column = np.searchsorted(used, self._function[expand(state.active, self.group)])
        np.add.at(by_column, column, slopes)
        return by_alpha, 0.0, by_column.T

    def _blocks(self, rows: Array, output: Array, spread: Array) -> Array:
        """The covariances of a sample's f when those of the weights are `spread`, (N, K, K)."""
        blocks = np.zeros((rows.shape[1], self.n_outputs, self.n_outputs))
        for k in range(self.n_outputs):
            half = spread[:, output == k] @ rows[output == k]
            for other in range(self.n_outputs):
                own = output == other
                blocks[:, other, k] = np.einsum("pn,pn->n", rows[own], half[own])
        return blocks

    def restrict(self, index: Array) -> Latent:
        part = copy.copy(self)
        weights = expand(index, self.group)
        used = self.used(index)
        part._function = np.arange(weights.size)
        if self.n_outputs > 1:
            part._function = np.searchsorted(used, self._function[weights])
        part._output = self._output[weights]
        part.design = Dense(self.design.columns(used))
        part.capacity = index.size
        part.norms = self.norms[index]
        return part


def _variances(rows: Array, factor: Array) -> Array:
    """The variances of f, (N,)."""
    if not len(rows):
        return np.zeros(rows.shape[1])
    half = linalg.half_solve(factor, rows.copy())
    return np.einsum("sn,sn->n", half, half)
