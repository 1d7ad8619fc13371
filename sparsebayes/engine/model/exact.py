"""The problem with Gaussian sites: posterior and evidence are exact."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.design import Dense, Design, Lazy, Postponed
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.model.gram import Crossed, CrossedLazy, GramRows
from sparsebayes.engine.model.posterior import State, gradient, per_target, uncertainty
from sparsebayes.engine.model.prior import Prior
from sparsebayes.engine.model.priors import Flat
from sparsebayes.engine.model.problem import (
    AdaptableProblem,
    CandidateProducts,
    Reduced,
    blocks,
    first_of_equals,
)
from sparsebayes.engine.model.rotation import Rotation, rescaled_terms
from sparsebayes.engine.model.sums import Summed

Array = np.ndarray


_FIRST_NOISE = 0.1  # of the targets' mean square, to begin with: neither nothing nor all is noise
_MOST_PRECISION = 1e10  # β times the same: a smaller residual has few digits left
# Products are replaced by a rotation where rounding makes the evidence uncertain by so many nats.
_UNCERTAIN = 0.01
# Without samples, states by products that may be more uncertain than this are refused. The bound is
# up to a hundred times too large, and with 1 wide kernels lost 300 nats that were real.
_UNKNOWN = 30.0
# A rotation with so many times the coordinates that are needed is begun anew, but not with fewer
# than this part of the samples: then a new one takes longer than they do.
_SUPERFLUOUS, _ROOM, _LITTLE = 2, 32, 16
# With so many samples, and so many for each function, all products among the functions are formed
# once: with the same search, fits at length scales that are learned then take 1.6 to 7 times less,
# those with narrow kernels, which keep hundreds of functions, little less.
_MANY_ROWS, _FEW = 2000, 4


class Exact(AdaptableProblem):
    """A linear model with Gaussian noise, given or estimated (`EstimatedNoise`).

    Products with the design are in the metric of the weights w, without β, so they stay
    valid when β changes. Rows of ``ΦᵀWΦ`` are computed for functions that are active when all
    candidates are scored, and kept as long as `memory_budget` allows. Where products have too few
    digits, a `Rotation` takes their place, if there is memory for it.

    Sums over the samples may stand for them (`Summed` as the design, `GaussianSums` as the sites):
    all is the same but that nothing comes from samples any more, no rotation and no slopes.

    Several targets have the same H, so that only μ and what follows from it is one for each.

    Parameters
    ----------
    design : Design
        The functions at the samples.
    prior : Prior
        On the precisions.
    sites : Gaussian
        The targets and their noise.
    memory_budget : int, default=1 << 30
        Bytes for products that are kept.

    Attributes
    ----------
    moments : ndarray, (M,), or (M, T) with T targets
        ``ΦᵀWz``.

    See Also
    --------
    Latent : The problem with labels.
    run : Runs a solver on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> problem = Exact(Dense(np.vander(x, 3)), Flat(), Gaussian(2 * x, np.ones(20), 0.01))
    >>> state = problem.evaluate(np.array([1]), np.array([1.0]), problem.beta)
    >>> state.mean.round(2), round(state.evidence, 1)
    (array([2.]), 22.4)
    """

    _rotation: Rotation | None
    _known: tuple[Array, Array] | None  # `norms` and `moments`, None where they come later
    _rows: GramRows

    def __init__(
        self,
        design: Design,
        prior: Prior,
        sites: Gaussian,
        memory_budget: int = 1 << 30,
    ) -> None:
        self.prior = prior.shared(sites.n_targets)
        self.sites = sites
        self.n_samples = sites.size
        self.energy = float(sites.energies.mean())
        self._memory_budget = memory_budget
        self._set_design(design)

    def _set_design(self, design: Design) -> None:
        if type(design) is Dense and design.shape[1] <= self.crossable:
            design = Crossed(design.matrix)
        self.design = design
        self.capacity = design.capacity
        self._set_products(None if isinstance(design, Postponed) else self.sites.products(design))

    @property
    def norms(self) -> Array:  # type: ignore[override]
        """The squared norms ``φᵀWφ`` of the functions, (M,)."""
        return self._products()[0]

    @property
    def moments(self) -> Array:
        """The products ``ΦᵀWz``, (M,), or (M, T) with T targets."""
        return self._products()[1]

    def _products(self) -> tuple[Array, Array]:
        if self._known is None:
            self._known = self.sites.products(self.design)
        return self._known

    @property
    def n_functions(self) -> int:
        return self.design.shape[1]

    @property
    def crossable(self) -> int:
        n_rows = self.sites.target.shape[0]
        equal = self.sites.unequal is None  # else the products change with the weights
        return n_rows // _FEW if equal and n_rows >= _MANY_ROWS else 0

    @property
    def crossed(self) -> bool:
        return isinstance(self.design, (Crossed, Summed))

    @property
    def _weights(self) -> Array | None:
        """Those of the samples, None where all are one."""
        return None if self.sites.unweighted else self.sites.weights

    @property
    def noise(self) -> Exact | None:
        return self if self.sites.noise_variance is None else None

    @property
    def gaussian(self) -> Gaussian:
        return self.sites

    @property
    def beta(self) -> float:  # type: ignore[override]
        """The fixed β, or one to begin with."""
        fixed = self.sites.noise_variance
        return 1.0 / fixed if fixed is not None else self.n_samples / (_FIRST_NOISE * self.energy)

    @property
    def max_beta(self) -> float:
        """The largest β: beyond it residuals are rounding."""
        return _MOST_PRECISION * self.n_samples / self.energy if self.energy > 0 else np.inf

    def evaluate(self, active: Array, alpha: Array, beta: float) -> State | None:
        return self._evaluate(active, alpha, beta, self._gram(active))

    def _evaluate(
        self, active: Array, alpha: Array, beta: float, gram: Array, *, precise: bool = False
    ) -> State | None:
        """By products, or where they have too few digits, or if `precise`, by a rotation."""
        state = None
        if not (precise and active.size and self._rotatable):
            state = self._by_products(active, alpha, beta, gram)
        if not active.size:
            return state
        if self._rotatable and (state is None or uncertainty(state) > _UNCERTAIN):
            return self._by_rotation(active, alpha, beta, gram)
        if state is not None and self._summed and uncertainty(state) > _UNKNOWN:
            return None  # there are no samples that could tell
        return state

    def _by_products(self, active: Array, alpha: Array, beta: float, gram: Array) -> State | None:
        size = active.size
        constant = self.sites.log_normaliser(beta) - 0.5 * beta * self.energy
        density = self.sites.log_noise_density(beta)
        if size == 0:
            later = self._known is None
            mean = np.empty((0, *self.sites.target.shape[1:])) if later else self.moments[active]
            return State(
                active, alpha, beta, gram, gram, mean, constant, self.prior,
                noise_density=density,
            )  # fmt: skip
        hessian = beta * gram
        hessian.flat[:: size + 1] += alpha
        factor = linalg.factorise(hessian)
        if factor is None:
            return None
        moment = beta * self.moments[active]
        mean = linalg.solve(factor, moment)
        # −½[log|H| − Σ log α + zᵀBz − μᵀHμ] and the sites' constant; T01 (38)-(41)
        evidence = constant + 0.5 * (
            linalg.total(np.log(alpha)) - linalg.log_det(factor) + per_target(moment, mean)
        )
        state = State(
            active, alpha, beta, gram, factor, mean, evidence, self.prior, noise_density=density
        )
        return state if math.isfinite(state.objective) else None

    @property
    def _many_rows(self) -> bool:
        return self.design.shape[0] >= _MANY_ROWS

    def _rotated(self, active: Array) -> Rotation:
        """With these functions among those of its basis."""
        rotation, needed = self._rotation, active.size + _ROOM
        many = max(_SUPERFLUOUS * needed, self.design.shape[0] // _LITTLE)
        if rotation is None or rotation.size > many:
            rotation = self._rotation = Rotation(*self._half_weighted())
        rotation.include(active)
        return rotation

    def _half_weighted(self) -> tuple[Array, Array]:
        """``W^½Φ`` and ``W^½z``, perhaps after a rotation."""
        weights, target = self.sites.weights, self.sites.target
        if isinstance(self.design, Crossed):
            return self.design.turned(weights, target)
        if isinstance(self.design, Dense) and self.sites.unweighted:
            return self.design.matrix, target
        root = np.sqrt(weights)
        columns = root[:, None] * self.design.columns(np.arange(self.n_functions))
        return columns, (root * target.T).T

    def _by_rotation(self, active: Array, alpha: Array, beta: float, gram: Array) -> State | None:
        found = self._rotated(active).factorise(active, alpha, beta)
        if found is None:
            return None
        evidence = self.sites.log_normaliser(beta) + 0.5 * (
            float(np.log(alpha).sum()) - linalg.log_det(found.factor) - found.misfit()
        )
        mean, residual = found.mean(), found.residual_energy()
        state = State(
            active, alpha, beta, gram, found.factor, mean, evidence, self.prior,
            residual=residual, noise_density=self.sites.log_noise_density(beta),
        )  # fmt: skip
        return state if np.isfinite(state.objective) else None

    def residuals(self, state: State) -> Reduced | None:
        if not self._rotatable:
            return None
        found = self._rotated(state.active).factorise(state.active, state.alpha, state.beta)
        return None if found is None else found.products()

    def rescaled_evidences(self, state: State, factors: Array, betas: Array) -> Array | None:
        # By the singular values of W^½Φ_a A^−½, which all of them share.
        active, size = state.active, state.active.size
        if not 0 < size < self.design.shape[0] or isinstance(self.design, Summed):
            return None
        root = np.sqrt(self.sites.weights)
        columns = root[:, None] * self.design.columns(active) / np.sqrt(state.alpha)
        targets = (root * self.sites.target.T).T
        terms = rescaled_terms(columns, targets, factors, betas)
        return np.array([self.sites.log_normaliser(float(beta)) for beta in betas]) - 0.5 * terms

    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        precise = state.residual is not None
        return self._evaluate(state.active, alpha, beta, state.gram, precise=precise)

    def shrink(self, state: State, keep: Array) -> State | None:
        gram, precise = state.gram[keep][:, keep], state.residual is not None
        active, alpha = state.active[keep], state.alpha[keep]
        smaller = self._evaluate(active, alpha, state.beta, gram, precise=precise)
        if smaller is None or smaller.objective < state.objective or keep.all():
            return smaller
        if smaller.residual is not None or "cov" not in state.__dict__:
            return smaller
        # The covariance of the rest given that those weights are zero: O(S² k).
        gone = ~keep
        core = linalg.cholesky(state.cov[gone][:, gone])
        if core is not None:
            half = linalg.half_solve(core, state.cov[gone][:, keep])
            smaller.__dict__["cov"] = state.cov[keep][:, keep] - half.T @ half
        return smaller

    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        active = np.concatenate([state.active, chosen])
        size = state.active.size
        gram = np.empty((active.size, active.size))
        gram[:size, :size] = state.gram
        precise = state.residual is not None
        if precise and self._many_rows:  # nobody is about to ask for the rest of their rows
            gram[size:] = self.design.cross(chosen, active, self._weights)
        else:
            gram[size:] = self._gram_rows(chosen)[:, active]
        gram[:size, size:] = gram[size:, :size].T
        alpha = np.concatenate([state.alpha, alpha])
        return self._evaluate(active, alpha, state.beta, gram, precise=precise)

    def candidate_products(self, state: State) -> CandidateProducts:
        # O(S M), without a look at the samples.
        beta, active = state.beta, state.active

        def rows(part: slice | Array) -> Array:
            slots = self._slots(active)  # others may have been computed in their place
            chosen = slots if isinstance(part, slice) else slots[:, None]
            return beta * self._rows.held[chosen, part]

        q = beta * self.moments
        for part in blocks(q.size, active.size):
            q[part] -= (state.mean.T @ rows(part)).T
        return CandidateProducts(beta * self.norms, q, rows)

    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        if self.crossed:
            products = state.beta * self.design.cross(index, index, self._weights)
            return lambda i: products[i : i + 1].copy()
        columns = self.design.columns(index)  # most of the products are not asked for
        return lambda i: state.beta * (self._weighted(columns[:, i : i + 1]).T @ columns)

    @property
    def count(self) -> float:
        """The number of samples, and 2c."""
        return self.n_samples + 2.0 * self.sites.noise_shape

    def scatter(self, state: State) -> float:
        """Compute ``(z − Φμ)ᵀ W (z − Φμ) + 2d``.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        float
            The mean over the targets.
        """
        return self.residual_energy(state) + 2.0 * self.sites.rate

    def residual_energy(self, state: State) -> float:
        """Compute ``(z − Φμ)ᵀ W (z − Φμ)``.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        float
            The mean over the targets.
        """
        if state.residual is not None:
            return state.residual
        # By Hμ = βΦᵀWz there is no product with the samples.
        mean = state.mean
        explained = per_target(mean, self.moments[state.active])
        return max(self.energy - explained - state.prior_energy / state.beta, 0.0)

    def distinct(self) -> Array:
        return first_of_equals(self.norms, self.moments, self.sites.fingerprints(self.design))

    def hold(self, beta: float) -> Exact:
        """Fix the noise.

        Parameters
        ----------
        beta : float
            Its precision.

        Returns
        -------
        Exact
            Otherwise the same problem.
        """
        held = copy.copy(self)
        held.sites = replace(self.sites, noise_variance=1.0 / beta)
        held._set_products(self._known)  # its own rows
        return held

    @property
    def in_turns(self) -> bool:
        return not self.sites.settled

    def revised(self, state: State) -> Exact:
        explained = np.einsum("s...,s...->...", state.mean, self.moments[state.active])
        sites = self.sites.relevelled(np.atleast_1d(self.sites.energies - explained))
        if sites.unequal is not None:
            before, after = self.sites.levels, sites.levels
            unit = 1.0 if before is None or after is None else after / before
            columns = self.design.columns(state.active)
            residual = sites.target - columns @ (state.mean / unit)
            squares = (residual**2).reshape(len(residual), -1).sum(axis=1)
            half = columns @ state.root
            spread = np.einsum("ns,ns->n", half, half)
            sites = sites.reweighted(state.beta * (squares + sites.n_targets * spread))
        return self._with_sites(sites)

    def relevelled(self, misfits: Array) -> Exact:
        return self._with_sites(self.sites.relevelled(misfits))

    def _with_sites(self, sites: Gaussian) -> Exact:
        other = copy.copy(self)
        other.sites, other.energy = sites, float(sites.energies.mean())
        other._set_design(self.design)
        return other

    def restrict(self, index: Array) -> Exact:
        part = copy.copy(self)
        part.sites = self.sites.restrict(index)
        part.capacity = index.size
        known = self.norms[index], self.moments[index]
        held, rows = self._rows.among(index)
        if isinstance(self.design, (Crossed, Summed)):
            part.design = self.design.restrict(index)
        elif isinstance(self.design, Lazy) and index.size > 2 * self.design.capacity:
            part.design = self.design.restrict(index)
            part.capacity = part.design.capacity
        elif index.size <= self.crossable:
            if isinstance(self.design, Lazy):
                part.design = CrossedLazy(self.design.restrict(index))
            else:
                part.design = Crossed(self.design.columns(index))
            part.design.complete(self._weights, held, rows)
        else:
            part.design = Dense(self.design.columns(index))
        part._set_products(known)
        part._rows.begin(held, rows)  # what is known of the products among them
        return part

    def uncharged(self) -> Exact:
        other = copy.copy(self)
        other.prior = Flat()
        other._set_products(self._known)  # its own rows
        return other

    def rebase(self, design: Design) -> Exact:
        other = copy.copy(self)
        other._set_design(design)
        return other

    def used(self, index: Array) -> Array:
        return index

    def plain(self, design: Design, rows: slice) -> Exact:
        return Exact(design, Flat(), self.sites.rows(rows), self._memory_budget)

    def derivatives(self, state: State) -> tuple[Array, float, Array]:
        columns = self.design.columns(state.active)
        residual = self.sites.target - columns @ state.mean
        by_gram = self.prior.by_gram(state)
        spread = state.cov - 2.0 * (np.diag(by_gram) if by_gram.ndim == 1 else by_gram)
        slopes = linalg.mean_product(residual, state.mean) - columns @ spread  # T01 (55)
        return *gradient(state, self), state.beta * self._weighted(slopes)

    def _gram_rows(self, index: Array) -> Array:
        """A copy of the chosen rows of ``ΦᵀWΦ``, (k, M)."""
        slots = self._slots(index)  # may replace what is held
        return self._rows.held[slots]

    def _gram(self, index: Array) -> Array:
        """``Φ_aᵀWΦ_a``, (k, k)."""
        slots = self._slots(index)
        return self._rows.held[slots[:, None], index]

    def _slots(self, index: Array) -> Array:
        return self._rows.slots(index, self._cross)

    def _cross(self, index: Array) -> Array:
        return self.design.cross(index, None, self._weights)

    def _weighted(self, columns: Array) -> Array:
        """Columns, or one column, multiplied by the weights of the samples."""
        if self.sites.unweighted:
            return columns
        return (columns.T * self.sites.weights).T

    def _set_products(self, known: tuple[Array, Array] | None) -> None:
        """`norms` and `moments`, or None for later."""
        self._known = known
        n_rows, size = self.design.shape
        # Whether there are samples, and memory for a rotation of them.
        numbers = 4 * n_rows * size
        self._summed = isinstance(self.design, Summed)
        self._rotatable = not self._summed and 8 * numbers <= self._memory_budget
        self._rotation = None
        self._rows = GramRows(size, max(64, self._memory_budget // (4 * 8 * max(1, size))))
