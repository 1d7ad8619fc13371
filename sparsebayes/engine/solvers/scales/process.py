"""The evidence of a Gaussian process whose covariance is the kernel itself.

It is the judge of length scales where the kernels of a basis are covariances and the noise is
Gaussian. All functions with one precision, w ~ N(0, I/α), make a process too, with the covariance
ΦΦᵀ/α; but that is rougher or smoother than the kernel, and so are the scales that suit it.

With a covariance ``C = Σ_j K_j/ρ_j + W⁻¹`` in units of the noise variance σ², the evidence has its
maximum over σ² in closed form, so that scales and the ratios ρ_j of noise and signal are left to
search. Several targets have the same ratios, and a σ² for each. The prior density of an inverse
length scale η, in units of the input's standard deviation, is ``(1 + η)^−price``: it falls from
zero on, so that inputs without effect are left out, and has a long tail. A signal variance above
that of the targets has the right half of a lognormal one: for a function that is nearly linear both
would grow without end, until no function differs from a constant. Rows that are equal count as one
with the mean of their targets: were they kept apart, a set in which rows are repeated by mistake
would seem to have no noise at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.fits.clock import time_is_up
from sparsebayes.engine import linalg
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.solvers.scales.family import CovarianceFamily

Array = np.ndarray

HUGE = 1e20  # what a minimiser sees where there is no model

_RATIOS = (1.0, 0.1, 1e-2, 1e-4, 1e-6)  # at which a search may begin
# Below the least of these bounds the functions that such a process needs are alike in rounding.
_RATIO_BOUNDS = float(np.log(1e-6)), float(np.log(1e3))

# A search for the minimum.
ENOUGH = 1e-3  # nats in a step, at which it ends
FLAT = 1e-2  # nats for a factor e of any scale or precision, at which it ends too
_TIE, _STEPS_LEFT = 1.0, 8  # nats above another end, and steps to it, at which it ends there
# One that begins with a known curvature: the longest step, in log scales, how much shorter the next
# is where it does not fall, and how often; a difference for derivatives; the least curvature.
_LONGEST, _SHORTER, _TRIES = 1.0, 0.3, 5
_DIFFERENCE, _LEAST_CURVE = 1e-3, 0.1
# Logarithms of scales in the spread of their inputs: where an input makes no difference, nor would
# a little more or less, and where it makes one.
NO_EFFECT, _SOME_EFFECT = 4.0, 2.0


class ProcessModel:
    """Minus the log evidence of a Gaussian process, up to a constant, with its derivatives.

    The prior on the scales is included. A point is θ, then log ρ of each kernel and, if there
    are functions without scales other than a constant, of all of these together.

    Parameters
    ----------
    sites : Gaussian
    family : CovarianceFamily
    size : int
        The most rows that are looked at, a fixed random choice of the distinct ones.
    price : float
        Of the prior; 0 for none.
    """

    ratios = _RATIOS

    def __init__(
        self, sites: Gaussian, family: CovarianceFamily, size: int, price: float = 0.0
    ) -> None:
        assert family.inputs is not None
        self.family, self.price, self.noise_shape = family, price, sites.noise_shape
        # Sorted, so that the order of samples and inputs does not matter.
        first, place = distinct_rows(family.inputs)
        rows = family.inputs[first]
        weights = np.bincount(place, sites.weights)
        each = sites.weighted_target.reshape(len(place), -1).T
        targets = np.array([np.bincount(place, one) / weights for one in each])  # (T, n)
        by_target = np.argsort(targets[0], kind="stable")
        chosen = by_target[np.random.default_rng(0).permutation(len(rows))[:size]]
        self.rows, self.weights, self.targets = rows[chosen], weights[chosen], targets[:, chosen]
        self.n_rows = chosen.size
        self.targets -= np.array([[np.average(z, weights=self.weights)] for z in self.targets])
        unit = np.array([np.sqrt(np.mean(z**2)) for z in self.targets])
        self.energy = chosen.size * float(np.mean(unit**2))
        self.n_targets = unit.size
        if self.energy > 0:  # a target may be constant at the rows that are looked at
            self.targets, unit = self.targets[unit > 0], unit[unit > 0]
        else:
            unit = np.ones(unit.size)
        self.targets /= unit[:, None]  # so that value and prior have no unit
        self.units = unit
        self.noise_rate = sites.noise_rate / unit**2
        self.noise_variance = (
            None if sites.noise_variance is None else (sites.noise_variance / unit**2)
        )
        fixed = family.fixed(self.rows)
        fixed = fixed[:, np.ptp(fixed, axis=0) > 0] if len(fixed) else fixed
        self.fixed = fixed / np.sqrt(np.mean(fixed**2, axis=0)) if fixed.size else None
        self.n_groups = len(family.covariances(family.start, self.rows[:1]))
        self.n_groups += self.fixed is not None
        self._space = np.empty((chosen.size, chosen.size))  # for C, its factor and its inverse
        self.bounds = [
            *zip(family.narrowest, family.upper, strict=True),
            *[_RATIO_BOUNDS] * self.n_groups,
        ]

    def begin(self, theta: Array, ratio: float) -> Array:
        """The point with this θ and ratio for all kernels."""
        return np.concatenate([theta, np.full(self.n_groups, np.log(ratio))])

    def trials(self, theta: Array) -> list[tuple[float, Array]]:
        """Values and points with this θ and each ratio, without derivatives."""
        parts = self._parts(theta)
        points = [self.begin(theta, ratio) for ratio in self.ratios]
        found = [self._evaluate(parts, point) for point in points]
        values = [HUGE if at is None else at.value for at in found]
        return list(zip(values, points, strict=True))

    def misfits(self, point: Array) -> Array | None:
        if self.n_targets == 1 or len(self.targets) < self.n_targets:
            return None
        at = self._evaluate(self._parts(point[: self.family.start.size]), point)
        return None if at is None else at.misfits * self.units**2

    def _parts(self, theta: Array) -> list[Array]:
        """The parts of the covariance in units of the signal."""
        parts = self.family.covariances(theta, self.rows)
        return parts if self.fixed is None else [*parts, self.fixed @ self.fixed.T]

    def _evaluate(self, parts: list[Array], point: Array) -> _Evaluation | None:
        theta = point[: self.family.start.size]
        inverse = np.exp(-point[theta.size :])  # signal over noise
        total = np.multiply(parts[0], inverse[0], out=self._space)
        for scale, part in zip(inverse[1:], parts[1:], strict=True):
            total += scale * part
        total.flat[:: len(self.weights) + 1] += 1.0 / self.weights
        with linalg.own_threads(len(total) ** 3 / 6):
            factor = linalg.cholesky(total, in_place=True)
        if factor is None:
            return None
        solved = linalg.solve(factor, self.targets.T)
        products = [float(z @ one) for z, one in zip(self.targets, solved.T, strict=True)]
        misfits = np.array(products)
        energy = misfits + 2.0 * self.noise_rate
        if self.noise_variance is None:
            count = len(self.weights) + 2.0 * self.noise_shape
            variance = energy / count
            value = 0.5 * count * float(np.log(variance).mean())
        else:
            variance = self.noise_variance
            value = 0.5 * float((energy / variance).mean())
        value += 0.5 * linalg.log_det(factor)
        # Log signal variance, where it is larger than that of the targets, which is 1.
        excess = np.maximum(np.log(np.outer(inverse, variance)), 0.0)
        value += 0.5 * self.price * float((excess**2).sum(axis=0).mean())
        value += self.price * float(np.log1p(np.exp(self.family.spread - theta)).sum())
        share = 1.0 / variance
        if self.noise_variance is None:  # which moves with all parameters
            share = share + 2.0 * self.price * excess.sum(axis=0) / energy
        return _Evaluation(value, factor, solved, misfits, share, excess)

    def __call__(self, point: Array) -> tuple[float, Array]:
        theta = point[: self.family.start.size]
        parts = self._parts(theta)
        at = self._evaluate(parts, point)
        if at is None:
            return HUGE, np.zeros(point.size)
        inverse = np.exp(-point[theta.size :])
        # The covariances are symmetric, so that one triangle will do.
        columns = at.solved * np.sqrt(at.share / at.share.size)
        with linalg.own_threads(len(columns) ** 3 / 3):
            by_total = linalg.halved_inverse(at.factor, columns)
        by_ratio = [
            -scale * float(np.vdot(by_total, part)) - self.price * float(over.mean())
            for scale, part, over in zip(inverse, parts, at.excess, strict=True)
        ]
        kernels = parts if self.fixed is None else parts[:-1]
        by_theta = self.family.covariance_slopes(
            theta, self.rows, by_total, inverse[: len(kernels)], kernels
        )
        inverse_scale = np.exp(self.family.spread - theta)
        by_theta = by_theta - self.price * inverse_scale / (1.0 + inverse_scale)
        return at.value, np.concatenate([by_theta, by_ratio])


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """What the value at a point is made of.

    Attributes
    ----------
    value : float
    factor : ndarray, (n, n)
        A Cholesky factor of C, until the next evaluation takes its place.
    solved : ndarray, (n, T)
        ``C⁻¹z``.
    misfits : ndarray, (T,)
        ``zᵀC⁻¹z``.
    share : ndarray, (T,)
        Twice the derivative of the value by ``zᵀC⁻¹z``.
    excess : ndarray, (groups, T)
        Log signal variances, where they are larger than that of the targets.
    """

    value: float
    factor: Array
    solved: Array
    misfits: Array
    share: Array
    excess: Array


class ScaleModel(Protocol):
    """What is minimised: a function of θ, of ratios of noise and signal, and of others.

    Attributes
    ----------
    family : Family
    bounds : list of (low, high)
        Of each coordinate.
    n_groups : int
        How many ratios of noise and signal there are.
    n_rows : int
        How many samples it looks at.
    """

    @property
    def family(self) -> CovarianceFamily: ...
    @property
    def bounds(self) -> list[tuple[float, float]]: ...
    @property
    def n_groups(self) -> int: ...
    @property
    def n_rows(self) -> int: ...

    def trials(self, theta: Array) -> list[tuple[float, Array]]:
        """Values and points with this θ and each ratio, the same for all groups."""
        ...

    def misfits(self, point: Array) -> Array | None:
        """``zᵀC⁻¹z`` of each of several targets, up to a factor; None where there is but one."""
        ...

    def __call__(self, point: Array) -> tuple[float, Array]:
        """Value and derivatives."""
        ...


def descend(
    model: ScaleModel, point: Array, steps: int, *, together: bool = False, known: float = HUGE
) -> tuple[float, Array]:
    """Value and place of the minimum near a point; `together`, θ moves by one number only.

    It ends before that a little above a value that is `known`, if steps would not soon reach it.
    """
    size = model.family.start.size if together else 0

    def place(moved: Array) -> Array:
        return np.concatenate([point[:size] + moved[0], moved[1:]]) if together else moved

    def value(moved: Array) -> tuple[float, Array]:
        found, slope = model(place(moved))
        return found, np.append(slope[:size].sum(), slope[size:]) if together else slope

    bounds = model.bounds
    if together:
        room = np.array(bounds[:size]) - point[:size, None]
        bounds = [(room[:, 0].max(), room[:, 1].min()), *bounds[size:]]
    begin = np.append(0.0, point[size:]) if together else point
    first = value(begin)
    last = first[0]

    def again(moved: Array) -> tuple[float, Array]:
        return first if np.array_equal(moved, begin) else value(moved)

    def look(intermediate_result: OptimizeResult) -> None:
        nonlocal last
        gain, last = last - intermediate_result.fun, intermediate_result.fun
        if time_is_up() or _STEPS_LEFT * gain < last - known < _TIE:
            raise StopIteration

    found = minimize(
        again, begin, jac=True, method="L-BFGS-B", bounds=bounds, callback=look,
        options={"maxiter": steps, "gtol": FLAT, "ftol": ENOUGH / max(1.0, abs(first[0]))},
    )  # fmt: skip
    return float(found.fun), place(found.x)


def follow(
    model: ScaleModel, before: ScaleModel, point: Array, steps: int, *, known: float = HUGE
) -> tuple[float, Array]:
    """The same from near the minimum of a model with fewer rows, `before`.

    That gives the curvature, but for a factor, and each step revises it (BFGS).
    """
    low, high = np.array(model.bounds).T
    curve = _curvature(before, point) * (model.n_rows / before.n_rows)
    value, slope = model(point)
    for _ in range(steps):
        free = ~((point <= low) & (slope > 0) | (point >= high) & (slope < 0))
        step = np.zeros(point.size)
        step[free] = -np.linalg.solve(curve[free][:, free], slope[free])
        step *= _LONGEST / max(float(np.abs(step).max()), _LONGEST)
        for _ in range(_TRIES):
            there = np.clip(point + step, low, high)
            moved = there - point
            if -slope @ moved < ENOUGH:
                return value, point
            new, other = model(there)
            if new < value:
                break
            step *= _SHORTER
        else:
            return value, point
        change, old = other - slope, curve @ moved
        if change @ moved > 0:
            curve = curve + np.outer(change, change) / (change @ moved)
            curve = curve - np.outer(old, old) / (moved @ old)
        gain = value - new
        point, value, slope = there, new, other
        if gain < ENOUGH or time_is_up() or _STEPS_LEFT * gain < value - known < _TIE:
            break
    return value, point


def revived(model: ScaleModel, point: Array) -> Array:
    """The same, with scales that are too wide to matter made narrower where the model asks for it.

    From where they were it could not tell.
    """
    spread = model.family.spread
    moved = point.copy()
    theta = moved[: spread.size]
    gone = np.isfinite(spread) & (theta > spread + NO_EFFECT)
    theta[gone] = spread[gone] + _SOME_EFFECT
    wanted = gone & (model(moved)[1][: spread.size] > 0.0)
    theta[gone & ~wanted] = point[: spread.size][gone & ~wanted]
    return moved


def _curvature(model: ScaleModel, point: Array) -> Array:
    """Second derivatives by differences of the first, made positive."""
    high = np.array(model.bounds)[:, 1]
    rows, slope = [], model(point)[1]
    for i in range(point.size):
        there = point.copy()
        there[i] += _DIFFERENCE if there[i] + _DIFFERENCE <= high[i] else -_DIFFERENCE
        rows.append((model(there)[1] - slope) / (there[i] - point[i]))
    values, vectors = np.linalg.eigh(0.5 * (np.array(rows) + np.array(rows).T))
    return (vectors * np.maximum(np.abs(values), _LEAST_CURVE)) @ vectors.T
