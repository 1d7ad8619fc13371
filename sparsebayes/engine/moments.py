"""Moments of a linear model at a Gaussian input.

The functions are Gaussian bumps and monomials, whose integrals against ``N(u, S)`` are known. With
``a = z − u`` for a bump with centre z and precision ``A = diag(1/ℓ²)``, and S = RRᵀ:

    E φ_i        = |I + P|^(−½) exp(−½ aᵀ(A⁻¹ + S)⁻¹a),     P = RᵀAR
    E ∇φ_i       = (A⁻¹ + S)⁻¹ a  E φ_i
    cov(φ_i,φ_j) = E φ_i E φ_j (exp(r_ij) − 1)

    r_ij = ½ log(|I + P||I + P'|/|I + P + P'|) + pᵀGp' − ½ pᵀG_A P'Gp − ½ p'ᵀG_B PGp'

where the prime marks what belongs to j, p = RᵀAa, ``G = (I + P + P')⁻¹``, ``G_A = (I + P)⁻¹`` and
``G_B = (I + P')⁻¹``. This is the quotient of (4.17) and (4.10)² [1]_, written so that nothing
cancels as S vanishes and nothing is inverted that may be singular. Covariances with any variable
that is Gaussian jointly with x follow from E ∇φ (Stein's lemma), as do those of a bump with x.

References
----------
.. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

Array = np.ndarray

_LARGEST = 500.0  # of an exponent; functions that need more have no weight at u


class Moments(NamedTuple):
    """Of a prediction at Gaussian inputs.

    Attributes
    ----------
    mean, variance : ndarray, (n,)
    slope : ndarray, (n, D)
        The expected gradient of the predictive mean: ``cov(p, f) = cov(p, x) slope`` for every p
        that is jointly Gaussian with the input.
    error : ndarray, (n, 2), or None
        Standard errors of mean and variance, for methods that have some.
    """

    mean: Array
    variance: Array
    slope: Array
    error: Array | None = None


@dataclass(frozen=True, eq=False)
class Bumps:
    """``exp(-½ Σ_d (x_d − z_d)²/ℓ_d²)`` with centres (M, D) and scales (D,)."""

    centers: Array
    scales: Array

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def n_features(self) -> int:
        return self.centers.shape[1]

    def values(self, X: Array) -> Array:
        """At the rows of X, (n, M)."""
        return np.exp(-0.5 * cdist(X / self.scales, self.centers / self.scales, "sqeuclidean"))

    def derivatives(self, X: Array, cov: Array) -> tuple[Array, Array, Array]:
        """Values (n, M), gradients (n, M, D), and the trace of each Hessian with cov, (n, M)."""
        values = self.values(X)
        steps = (self.centers - X[:, None, :]) / self.scales**2
        bends = np.einsum("nmd,nde,nme->nm", steps, cov, steps, optimize=True)
        bends -= np.einsum("ndd,d->n", cov, self.scales**-2)[:, None]
        return values, values[:, :, None] * steps, values * bends


@dataclass(frozen=True, eq=False)
class Monomials:
    """``Π_d x_d^k_d`` with powers k, (M, D)."""

    powers: Array

    def __len__(self) -> int:
        return len(self.powers)

    @property
    def n_features(self) -> int:
        return self.powers.shape[1]

    def values(self, X: Array) -> Array:
        """At the rows of X, (n, M)."""
        return np.prod(X[:, None, :] ** self.powers, axis=2)

    def derivatives(self, X: Array, cov: Array) -> tuple[Array, Array, Array]:
        """Values (n, M), gradients (n, M, D), and the trace of each Hessian with cov, (n, M)."""
        gradients = np.zeros((len(X), *self.powers.shape))
        bends = np.zeros((len(X), len(self)))
        for d, unit in enumerate(np.eye(X.shape[1], dtype=int)):
            first = self.powers[:, d]
            lower = np.maximum(self.powers - unit, 0)
            gradients[:, :, d] = first * Monomials(lower).values(X)
            for e, other in enumerate(np.eye(X.shape[1], dtype=int)):
                second = first * lower[:, e]
                if second.any():
                    values = Monomials(np.maximum(lower - other, 0)).values(X)
                    bends += cov[:, d, e, None] * second * values
        return self.values(X), gradients, bends


Functions = Bumps | Monomials


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A model with mean ``offset + φᵀweights`` and variance ``variance + Σ_k sign_k (root φ)_k²``.

    Attributes
    ----------
    functions : sequence of Bumps and Monomials
        M functions φ altogether.
    weights : ndarray, (M,)
    root : ndarray, (K, M)
    sign : ndarray, (K,)
        1 where the weights are uncertain, −1 where data reduce the variance of a process.
    offset, variance, noise : float
        `noise` is the part of `variance` that no knowledge of the input removes.
    """

    functions: Sequence[Functions]
    weights: Array
    root: Array
    sign: Array
    offset: float
    variance: float
    noise: float

    @cached_property
    def _parts(self) -> list[slice]:
        ends = np.cumsum([0, *map(len, self.functions)])
        return [slice(start, end) for start, end in pairwise(ends)]

    @cached_property
    def _form(self) -> Array:
        """What the covariance of φ is multiplied with: of the mean, and of the variance."""
        form = (self.root.T * self.sign) @ self.root
        form += np.multiply.outer(self.weights, self.weights)
        return form

    @property
    def numbers(self) -> int:
        """How many a test point takes, besides its covariance."""
        size = len(self.weights)
        widest = max((family.n_features for family in self.functions), default=0)
        return 4 * size**2 + 8 * size * widest + 64

    def predict(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at the rows of X."""
        values = np.hstack([family.values(X) for family in self.functions])
        return self.offset + values @ self.weights, self._spread(values)

    def _spread(self, values: Array) -> Array:
        squares = (values @ self.root.T) ** 2
        return np.maximum(self.variance + squares @ self.sign, self.noise)

    def exact(self, mean: Array, cov: Array) -> Moments:
        """Mean, variance and slope at ``N(mean, cov)``; (n, D) and (n, D, D).

        A covariance that all inputs share may be (1, D, D), here and in `taylor`; what follows
        from it alone is then computed once.
        """
        parts = [_integrate(family, mean, cov) for family in self.functions]
        first = np.hstack([part.first for part in parts])
        excess = np.zeros(len(mean))
        for i, ours in enumerate(parts):
            for j, theirs in enumerate(parts[: i + 1]):
                form = self._form[self._parts[i], self._parts[j]]
                excess += (1.0 if i == j else 2.0) * _contract(ours, theirs, form)
        slope = np.zeros(mean.shape)
        for part, where in zip(parts, self._parts, strict=True):
            slope += part.slope(self.weights[where])
        variance = np.maximum(self._spread(first) + excess, self.noise)
        return Moments(self.offset + first @ self.weights, variance, slope)

    def taylor(self, mean: Array, cov: Array) -> Moments:
        """The same by expansion: of the mean to first order, of the variance to second."""
        parts = [family.derivatives(mean, cov) for family in self.functions]
        values, gradients, bends = (
            np.concatenate(part, axis=1) for part in zip(*parts, strict=True)
        )
        slope = np.einsum("nmd,m->nd", gradients, self.weights)
        turned = np.einsum("nmd,km->nkd", gradients, self.root)
        curved = np.einsum("nkd,nde,nke->nk", turned, cov, turned, optimize=True)
        curved += (values @ self.root.T) * (bends @ self.root.T)
        inherent = np.maximum(self._spread(values) + curved @ self.sign, self.noise)
        moved = np.einsum("nd,nde,ne->n", slope, cov, slope)
        return Moments(
            self.offset + values @ self.weights, inherent + np.maximum(moved, 0.0), slope
        )


class _Bumps:
    """Integrals of bumps at ``N(mean, cov)``, in the axes where cov is diagonal."""

    def __init__(self, family: Bumps, mean: Array, cov: Array) -> None:
        self.scales = family.scales
        self.values, axes = np.linalg.eigh(cov / np.multiply.outer(family.scales, family.scales))
        self.values = np.maximum(self.values, 0.0)
        self.axes = axes / family.scales[:, None]  # A^½ Q
        self.root = axes * family.scales[:, None] * np.sqrt(self.values)[:, None, :]
        steps = family.centers - mean[:, None, :]
        self.steps = steps
        self.turned = steps @ self.axes
        self.shrunk = self.turned / (1.0 + self.values)[:, None, :]
        exponent = np.einsum("nmd,nmd->nm", self.turned, self.shrunk)
        exponent += np.log1p(self.values).sum(axis=1)[:, None]
        self.first = np.exp(-0.5 * exponent)

    def slope(self, weights: Array) -> Array:
        inside = np.einsum("nm,nmd->nd", self.first * weights, self.shrunk)
        return np.einsum("nd,ned->ne", inside, self.axes)

    def within(self) -> Array:
        """r between its own functions, (n, M, M)."""
        values = self.values
        moved = self.turned * np.sqrt(values / (1.0 + 2.0 * values))[:, None, :]
        out = moved @ moved.swapaxes(1, 2)
        half = values**2 / (2.0 * (1.0 + values) * (1.0 + 2.0 * values))
        own = (self.turned**2 @ half[:, :, None])[:, :, 0]
        own -= 0.25 * np.log1p(values**2 / (1.0 + 2.0 * values)).sum(axis=1)[:, None]
        out -= own[:, :, None]
        out -= own[:, None, :]
        return out

    def between(self, other: _Bumps) -> Array:
        """r between its functions and those of another family, (n, M, M')."""
        size = self.values.shape[1]
        ours = np.sqrt(self.values)[:, None, :] * self.turned  # p
        reach = self.root / other.scales[:, None] ** 2
        theirs = other.steps @ reach
        P, Q = self.values, self.root.swapaxes(1, 2) @ reach
        eye = np.eye(size)
        total = eye + Q
        total[:, np.arange(size), np.arange(size)] += P
        G, other_G = np.linalg.inv(total), np.linalg.inv(eye + Q)
        bend = (Q @ G) / (1.0 + P)[:, :, None]
        back = other_G @ (P[:, :, None] * G)
        constant = np.log1p(P).sum(axis=1) + np.linalg.slogdet(eye + Q)[1]
        constant -= np.linalg.slogdet(total)[1]
        out = ours @ G @ theirs.swapaxes(1, 2)
        out += 0.5 * constant[:, None, None]
        out -= 0.5 * np.einsum("nmd,nde,nme->nm", ours, bend, ours, optimize=True)[:, :, None]
        out -= 0.5 * np.einsum("nmd,nde,nme->nm", theirs, back, theirs, optimize=True)[:, None, :]
        return out

    def tilted(self) -> tuple[Array, Array]:
        """Mean less u, (n, M, D), and covariance, (n, D, D), of ``φ_i(x) N(x | u, S)/E φ_i``."""
        damped = self.values / (1.0 + self.values)
        axes = self.axes * self.scales[:, None] ** 2  # A^(−½) Q
        mean = (self.turned * damped[:, None, :]) @ axes.swapaxes(1, 2)
        return mean, (axes * damped[:, None, :]) @ axes.swapaxes(1, 2)


class _Monomials:
    """Integrals of monomials at ``N(mean, cov)``, written in powers of ``x − mean``."""

    def __init__(self, family: Monomials, mean: Array, cov: Array) -> None:
        self.cov = cov
        self.shifts, self.factors = _shifted(family.powers, mean)
        self.moments = _PowerMoments(np.zeros((len(mean), 1, mean.shape[1])), cov)
        self.expected = self.moments.table(self.shifts)[:, :, 0]
        self.first = np.einsum("nmk,nk->nm", self.factors, self.expected)

    def slope(self, weights: Array) -> Array:
        factors = np.einsum("nmk,m->nk", self.factors, weights)
        out = np.zeros((len(factors), self.cov.shape[1]))
        for k, powers in enumerate(self.shifts):
            for d, power in enumerate(powers):
                if power:
                    lower = _lowered(powers, d)
                    out[:, d] += factors[:, k] * power * self.moments(lower)[:, 0]
        return out

    def between(self, other: _Monomials) -> Array:
        """Covariances, (n, M, M')."""
        inner = np.empty((len(self.factors), len(self.shifts), len(other.shifts)))
        for i, ours in enumerate(self.shifts):
            for j, theirs in enumerate(other.shifts):
                both = tuple(a + b for a, b in zip(ours, theirs, strict=True))
                product = self.expected[:, i] * other.expected[:, j]
                inner[:, i, j] = self.moments(both)[:, 0] - product
        return self.factors @ inner @ other.factors.swapaxes(1, 2)

    def with_bumps(self, bumps: _Bumps) -> Array:
        """Covariances with bumps, (n, M, M')."""
        moved = _PowerMoments(*bumps.tilted()).table(self.shifts) - self.expected[:, :, None]
        return (self.factors @ moved) * bumps.first[:, None, :]


class _PowerMoments:
    """``E Π_d x_d^k_d`` under Gaussians that share a covariance; means (n, M, D)."""

    def __init__(self, mean: Array, cov: Array) -> None:
        self.mean, self.cov = mean, cov
        self.known = {(0,) * mean.shape[2]: np.ones(mean.shape[:2])}

    def table(self, powers: list[tuple[int, ...]]) -> Array:
        """(n, K, M)."""
        out = np.empty((len(self.mean), len(powers), self.mean.shape[1]))
        for k, each in enumerate(powers):
            out[:, k] = self(each)
        return out

    def __call__(self, powers: tuple[int, ...]) -> Array:
        """(n, M)."""
        if powers not in self.known:
            # E[x_d p(x)] = m_d E[p] + Σ_e C_de E[∂p/∂x_e]
            d = next(d for d, power in enumerate(powers) if power)
            rest = _lowered(powers, d)
            value = self.mean[:, :, d] * self(rest)
            for e, power in enumerate(rest):
                if power:
                    lower = _lowered(rest, e)
                    value = value + power * self.cov[:, d, e, None] * self(lower)
            self.known[powers] = value
        return self.known[powers]


def _lowered(powers: tuple[int, ...], d: int) -> tuple[int, ...]:
    return (*powers[:d], powers[d] - 1, *powers[d + 1 :])


def _shifted(powers: Array, mean: Array) -> tuple[list[tuple[int, ...]], Array]:
    """Powers of ``x − mean`` in which monomials of x are written, and the factors, (n, M, K)."""
    terms = [list(_terms(tuple(map(int, row)))) for row in powers]
    shifts = sorted({shift for row in terms for shift, _, _ in row})
    place = {shift: k for k, shift in enumerate(shifts)}
    factors = np.zeros((len(mean), len(powers), len(shifts)))
    for m, row in enumerate(terms):
        for shift, rest, count in row:
            factors[:, m, place[shift]] = count * np.prod(mean ** np.array(rest), axis=1)
    return shifts, factors


def _terms(powers: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """The terms of ``Π (m_d + δ_d)^k_d``: powers of δ, powers of m, and how often they occur."""
    if not powers:
        yield (), (), 1
        return
    for shift, rest, count in _terms(powers[1:]):
        for k in range(powers[0] + 1):
            yield (k, *shift), (powers[0] - k, *rest), comb(powers[0], k) * count


def _integrate(family: Functions, mean: Array, cov: Array) -> _Bumps | _Monomials:
    make = _Bumps if isinstance(family, Bumps) else _Monomials
    return make(family, mean, cov)  # type: ignore[arg-type]


def _contract(ours: _Bumps | _Monomials, theirs: _Bumps | _Monomials, form: Array) -> Array:
    """``Σ_ij form_ij cov(φ_i, φ_j)`` for each input, (n,)."""
    if isinstance(ours, _Bumps) and isinstance(theirs, _Bumps):
        excess = ours.within() if ours is theirs else ours.between(theirs)
        np.minimum(excess, _LARGEST, out=excess)
        np.expm1(excess, out=excess)
        excess *= form
        inside = (ours.first[:, None, :] @ excess)[:, 0, :]
        return np.einsum("nj,nj->n", inside, theirs.first)
    if isinstance(ours, _Monomials) and isinstance(theirs, _Monomials):
        covariance = ours.between(theirs)
    elif isinstance(ours, _Monomials) and isinstance(theirs, _Bumps):
        covariance = ours.with_bumps(theirs)
    else:
        covariance = theirs.with_bumps(ours).swapaxes(1, 2)  # type: ignore
    return np.einsum("nij,ij->n", covariance, form)
