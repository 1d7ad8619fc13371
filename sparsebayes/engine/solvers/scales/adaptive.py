"""Length scales learned from the evidence.

The evidence of a sparse model is a poor guide to the scales of its functions. Each function has a
precision of its own, which costs nothing, so the evidence goes on rising where many functions fit
what is not there; and from a bad width the wrong functions are chosen, which no change of their
scales repairs. So the scales are learned before there is anything to choose: `learn` maximises the
evidence of a Gaussian process over log scales and its other parameters. That function has few bad
maxima, and a coarse search along the width finds a good start from anywhere. The sparse model is
then fitted at these scales.

The covariance of the process is the kernel itself (`ProcessModel`). With labels, and with kernels
that are no covariances, it is that of many functions which share one precision
(`SharedPrecisionModel`). The sparse evidence may then be lower than at the scales given: `polish`
moves scales and precisions of the chosen functions together, and functions are chosen again from
there, until the evidence is at least what it was; failing that, the scales stay as given.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from scipy.optimize import minimize

from sparsebayes._support.fits.clock import end_in_time, share_of_time, time_is_up
from sparsebayes.engine.model.design import Dense
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import AdaptableProblem
from sparsebayes.engine.solvers.driver import Climb, Solver, Step, Stop, collapsed, finish, start
from sparsebayes.engine.solvers.refine import Refiner
from sparsebayes.engine.solvers.scales.family import Family
from sparsebayes.engine.solvers.scales.process import (
    FLAT,
    HUGE,
    NO_EFFECT,
    ProcessModel,
    ScaleModel,
    descend,
    follow,
    revived,
)
from sparsebayes.engine.solvers.sequential import Sequential

Array = np.ndarray

_RATIOS = (1e-2, 1e-4, 1e-6)  # of α and β N, at which a search may begin
_RATIO_BOUNDS = float(np.log(1e-9)), 30.0  # of their logarithm: lost in rounding, nothing left
_LEAST_BETA = 0.01  # of that of the targets' mean square: noise of ten times their spread
_APART = 0.3  # log scales at which another search begins
_OTHER_NOISE = 1.5  # the same for log ratios of noise and signal
_LITTLE_NOISE, _SOME_NOISE = float(np.log(1e-3)), float(np.log(0.03))
_SAME = 0.01  # scales this close, relatively, are the same
_DIGITS = 2  # of learned log scales: a hundredth matters to nobody

# What a search may cost. The small model tries all starts, so a step takes it a twentieth.
_SMALL_WORK = 1e7  # multiplications for a product of the functions: some milliseconds
_FULL_WORK = 2e8
_SMALL_ROWS, _FULL_ROWS = 128, 1000  # of a process, which costs their number cubed
# Where the full one has so many rows, one with these goes before it and finds most of the way. Ends
# of it so many nats above its lowest are left out. Not with more scales than these: its curvature
# would take longer than it saves.
_LARGE, _BETWEEN_ROWS, _NEAR, _MANY_SLOPES = 500, 350, 20.0, 100
_PRICE = 2.0  # nats for a scale far below the spread of its input, for each factor e
_MANY = 20  # scales from which on each has a higher price
_MOST_ROWS = 4000  # samples that are looked at, evenly spaced: they tell scales well enough
_FEWEST = 64  # functions, however many rows there are
_CLIMBS, _ENDS = 4, 2  # of the best starts, and how many of their ends the full model goes on from
_SMALL_STEPS, _FULL_STEPS = 30, 200
_SHARE = 0.5  # of the time that is left, where that is limited: the model itself has the rest

# `polish`, in parts of `tol`.
_POLISH_STEPS, _POLISH_ENOUGH = 50, 0.1
_NEWTON_STEPS, _NEWTON_ENOUGH = 20, 0.01


@dataclass(frozen=True, eq=False)
class Found:
    """The end of a fit at some scales."""

    problem: AdaptableProblem
    theta: Array
    state: State
    stop: Stop

    @property
    def sane(self) -> bool:
        """Whether its noise can be believed."""
        return self.stop.converged and not collapsed(self.problem, self.state)

    def above(self, level: float) -> bool:
        return self.sane and self.state.objective >= level


@dataclass(frozen=True)
class Adaptive(Solver[AdaptableProblem]):
    """Fit by another solver, at scales that are learned.

    The scales are those at which a Gaussian process has most evidence, or a model whose functions
    share a precision. Then the model itself is fitted, and both are polished together.

    Parameters
    ----------
    solver : Solver
        The search at given scales.
    family : Family
        The functions at all scales.
    rounds : int, default=10
        The largest number of times that the model is polished.

    See Also
    --------
    learn : The scales alone.
    sparsebayes.RVR : Its `adapt` chooses this solver.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.basis import RBF
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> RVR(RBF(10.0), adapt="ard").fit(X, y).length_scale_.round(1)
    array([2.4])
    """

    solver: Solver
    family: Family
    rounds: int = 10
    needs = AdaptableProblem

    def climb(self, problem: AdaptableProblem, tol: float, rng: np.random.Generator) -> Climb:
        theta = self.family.start
        if theta.size and problem.energy > 0 and as_process(problem, self.family):
            theta, misfits = learn_with_misfits(problem, self.family)
            problem = problem.rebase(self.family.design(theta))
            if misfits is not None:
                problem = problem.relevelled(misfits)
            return (yield from self._fit(problem, theta, tol, rng, accepted=True)).stop
        first = yield from self._fit(problem, theta, tol, rng, accepted=True)
        if theta.size == 0 or problem.energy == 0 or first.stop is Stop.SINGULAR:
            return first.stop
        theta = learn(problem, self.family)
        if np.all(np.abs(theta - self.family.start) < _SAME):
            return first.stop
        problem = problem.rebase(self.family.design(theta))
        found = yield from self._fit(problem, theta, tol, rng, accepted=False)
        goal = first.state.objective if first.sane else -np.inf
        if self.family.fine:
            found = yield from self._polish(found, goal, tol, rng)
        if not found.above(goal):
            return first.stop
        yield Step(found.state, back=True, theta=found.theta, problem=found.problem)
        return found.stop

    def _fit(
        self,
        problem: AdaptableProblem,
        theta: Array,
        tol: float,
        rng: np.random.Generator,
        *,
        accepted: bool,
    ) -> Generator[Step, None, Found]:
        """The whole search at one θ."""
        climb = self.solver.climb(problem, tol, rng)
        state = start(problem)
        while True:
            try:
                step = next(climb)
            except StopIteration as end:
                return Found(problem, theta, state, end.value)
            if step.accepted:
                state = step.state
            accept = step.accepted and accepted
            yield replace(step, accepted=accept, theta=theta, problem=problem)

    def _polish(
        self, found: Found, goal: float, tol: float, rng: np.random.Generator
    ) -> Generator[Step, None, Found]:
        """Rounds of `polish` and of choosing functions, until the objective reaches `goal`.

        They are chosen from where the model is, or, if that gains nothing, all over again.
        """
        for _ in range(self.rounds):
            if not found.sane or found.state.objective >= goal or not found.state.active.size:
                return found
            theta, state = polish(found.problem, self.family, found.theta, found.state, tol)
            problem = found.problem.rebase(self.family.design(theta))
            moved = problem.evaluate(state.active, state.alpha, state.beta)
            for step in Sequential().resume(problem, moved, tol) if moved is not None else ():
                moved = step.state
                yield replace(step, accepted=False, theta=theta)
            new = None if moved is None else Found(problem, theta, moved, finish(problem, moved))
            if new is None or not new.above(found.state.objective + tol):
                new = yield from self._fit(problem, theta, tol, rng, accepted=False)
            if not new.above(found.state.objective + tol):
                return found
            found = new
        return found


def as_process(problem: AdaptableProblem, family: Family) -> bool:
    """Whether a Gaussian process with the kernels as covariances judges the scales."""
    return family.fine and problem.gaussian is not None and family.inputs is not None


def _models(
    problem: AdaptableProblem, family: Family
) -> tuple[ScaleModel, ProcessModel | None, ScaleModel]:
    """A small one that tries all starts, the full one, and one between them where that is large."""
    sites = problem.gaussian
    if sites is None or not as_process(problem, family):
        small_one = SharedPrecisionModel(problem, family, _SMALL_WORK)
        return small_one, None, SharedPrecisionModel(problem, family)
    # One factor for all scales needs no prior: with one the start would be nearly linear.
    small = ProcessModel(sites, family, _SMALL_ROWS)
    count = np.isfinite(family.spread).sum()  # of scales that some function has
    price = _PRICE * max(1.0, float(np.log(count) / np.log(_MANY)))
    full, between = ProcessModel(sites, family, _FULL_ROWS, price=price), None
    if len(full.rows) >= _LARGE and family.start.size <= _MANY_SLOPES:
        between = ProcessModel(sites, family, _BETWEEN_ROWS, price=price)
    return (
        small if small.energy > 0 else full,
        between if between is not None and between.energy > 0 else None,
        full,
    )


def learn(problem: AdaptableProblem, family: Family) -> Array:
    """Find the scales at which a Gaussian process has most evidence.

    No sparse model is fitted. Several searches start far apart.

    Parameters
    ----------
    problem : AdaptableProblem
        The samples.
    family : Family
        The functions at all scales.

    Returns
    -------
    ndarray, (T,)
        The log scales θ.

    See Also
    --------
    Adaptive : Learns scales and the model together.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian, learn
    >>> class Bumps:
    ...     start = narrowest = upper = lower = spread = np.zeros(1)
    ...     trials, fine, inputs = np.log([[0.01], [0.2]]), False, None
    ...     x = np.linspace(0.0, 1.0, 40)
    ...
    ...     def columns(self, theta, index, rows=None):
    ...         away = np.subtract.outer(self.x, self.x[index]) / np.exp(theta)
    ...         return np.exp(-0.5 * away**2)[slice(None) if rows is None else rows]
    ...
    ...     def design(self, theta):
    ...         return Dense(self.columns(theta, np.arange(40)))
    ...
    ...     def kinds(self, index):
    ...         return np.zeros(len(index), dtype=int)
    >>> family = Bumps()
    >>> z = np.sin(9 * family.x) + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> problem = Exact(family.design(family.start), Flat(), Gaussian(z, np.ones(40)))
    >>> float(np.exp(learn(problem, family))[0].round(2))
    0.2
    """
    return learn_with_misfits(problem, family)[0]


def learn_with_misfits(problem: AdaptableProblem, family: Family) -> tuple[Array, Array | None]:
    """The θ at which a Gaussian process has most evidence, and how noisy each target is there.

    A small model tries all starts and climbs from some of the best, with one factor for all
    scales; the full one goes on from the highest end, and from another if there is one, with
    all of them. Where it is large, one between them goes first. There are maxima at which the
    function is nearly linear in some inputs, and others at which it goes through every target.
    """
    with share_of_time(_SHARE):
        return _learn_with_misfits(problem, family)


def _learn_with_misfits(problem: AdaptableProblem, family: Family) -> tuple[Array, Array | None]:
    small, between, full = _models(problem, family)
    size = family.start.size
    tried: list[tuple[float, Array]] = []
    for theta in family.trials:
        tried += small.trials(theta)
        if time_is_up():
            break
    tried.sort(key=itemgetter(0))
    if tried[0][0] >= HUGE:
        return family.start, None
    if not family.fine:
        return tried[0][1][:size], None
    ratios = slice(size, size + small.n_groups)

    def apart(points: list[Array], count: int, wide: Array | float = np.inf) -> list[Array]:
        """The first of these points that differ in θ up to `wide`, or in the noise."""
        kept: list[Array] = []
        for point in points:
            theta = np.minimum(point[:size], wide)
            if len(kept) < count and all(
                np.abs(theta - np.minimum(other[:size], wide)).max() > _APART
                or np.abs(point[ratios] - other[ratios]).max() > _OTHER_NOISE
                for other in kept
            ):
                kept.append(point)
        return kept

    def noisy(ends: list[Array]) -> list[Array]:
        """With one that has some noise among them."""
        if any(end[ratios].min() >= _LITTLE_NOISE for end in ends):
            return ends
        noisier = ends[0].copy()
        noisier[ratios] = np.maximum(noisier[ratios], _SOME_NOISE)
        return [*ends[: _ENDS - 1], noisier]

    starts = apart([point for value, point in tried if value < HUGE], _CLIMBS)
    climbs = (descend(small, point, _SMALL_STEPS, together=True) for point in starts)
    ends = apart([end for _, end in sorted(climbs, key=itemgetter(0))], _ENDS)
    ends = noisy(ends)
    if time_is_up():
        return ends[0][:size], None
    if between is not None:
        passed = sorted((descend(between, end, _FULL_STEPS) for end in ends), key=itemgetter(0))
        near = [end for value, end in passed if value < passed[0][0] + _NEAR]
        wide = np.where(np.isfinite(family.spread), family.spread + NO_EFFECT, np.inf)
        ends = [revived(full, end) for end in noisy(apart(near, _ENDS, wide))]
    lowest, point = HUGE, ends[0]
    for end in ends:
        if between is None:
            found = descend(full, end, _FULL_STEPS, known=lowest)
        else:
            found = follow(full, between, end, _FULL_STEPS, known=lowest)
        lowest, point = min(found, (lowest, point), key=itemgetter(0))
        if time_is_up():
            break
    # Rounded, so that rounding errors do not decide what is chosen later.
    theta = np.clip(np.round(point[:size], _DIGITS), *np.array(full.bounds[:size]).T)
    return theta, full.misfits(point)


class SharedPrecisionModel:
    """Minus the log evidence of functions that share precisions, with its derivatives.

    It is relative to that of noise alone.

    A point is θ, then log α/(β N) of each group of functions, then log β where it is free.

    Parameters
    ----------
    problem : AdaptableProblem
    family : Family
    work : float
        About how many multiplications a product of the functions may take.
    """

    ratios = _RATIOS

    def __init__(self, problem: AdaptableProblem, family: Family, work: float = _FULL_WORK) -> None:
        self.family = family
        n_rows, n_columns = problem.design.shape
        self.rows = slice(None, None, -(-n_rows // _MOST_ROWS))
        n_rows = self.n_rows = -(-n_rows // self.rows.step)
        kinds = family.kinds(np.arange(n_columns))
        alone, shared = np.flatnonzero(kinds < 0), np.flatnonzero(kinds >= 0)
        size = max(_FEWEST, int(np.sqrt(work / n_rows) / problem.n_outputs))
        some = np.unique(np.linspace(0, shared.size - 1, min(size, shared.size)).astype(np.intp))
        self.index = np.concatenate([alone, shared[some]])
        labels = np.concatenate([-1 - np.arange(alone.size), kinds[shared[some]]])
        _, group = np.unique(labels, return_inverse=True)
        self.group = np.tile(group, problem.n_outputs)
        self.n_groups = int(group.max()) + 1
        self.problem = problem.plain(self._design(family.start), self.rows)
        if self.problem.energy == 0:  # all that there is to explain is in the other rows
            self.rows = slice(None)
            self.problem = problem.plain(self._design(family.start), self.rows)
        # Values are relative to targets that are noise alone, so that their unit does not matter.
        self.noise_alone = self._noise_alone()
        self.bounds = [
            *zip(family.lower, family.upper, strict=True),
            *[_RATIO_BOUNDS] * self.n_groups,
        ]
        noise = self.problem.noise
        if noise is not None:
            least = _LEAST_BETA * self.problem.n_samples / self.problem.energy
            self.bounds.append((np.log(least), np.log(noise.max_beta)))

    def _noise_alone(self) -> float:
        problem = self.problem
        beta = problem.beta if problem.noise is None else problem.n_samples / problem.energy
        state = problem.evaluate(np.empty(0, dtype=np.intp), np.empty(0), beta)
        assert state is not None
        return state.objective

    def _design(self, theta: Array) -> Dense:
        return Dense(self.family.columns(theta, self.index, self.rows))

    def begin(self, theta: Array, ratio: float) -> Array:
        """The point with this θ and ratio for all groups, and with the best β for them."""
        return self._begin(self._at(theta), theta, ratio)

    def _begin(self, problem: AdaptableProblem, theta: Array, ratio: float) -> Array:
        point = np.concatenate([theta, np.full(self.n_groups, np.log(ratio))])
        if self.problem.noise is None:
            return point
        state = self._state(problem, np.append(point, np.log(self.problem.beta)))
        beta, noise = problem.beta, problem.noise
        if state is not None and noise is not None:
            spread = noise.scatter(state) + state.prior_energy / state.beta
            beta = noise.count / max(spread, noise.count / noise.max_beta)
        return np.append(point, np.log(beta))

    def trials(self, theta: Array) -> list[tuple[float, Array]]:
        """Values and points with this θ and each ratio, without derivatives."""
        problem, found = self._at(theta), []
        for ratio in self.ratios:
            point = self._begin(problem, theta, ratio)
            state = self._state(problem, point)
            found.append((HUGE if state is None else self.noise_alone - state.objective, point))
        return found

    def misfits(self, point: Array) -> Array | None:
        return None

    def _at(self, theta: Array) -> AdaptableProblem:
        return self.problem.rebase(self._design(theta))

    def _state(self, problem: AdaptableProblem, point: Array) -> State | None:
        size = self.family.start.size
        beta = problem.beta if problem.noise is None else float(np.exp(point[-1]))
        ratio = np.exp(point[size : size + self.n_groups])
        alpha = beta * problem.n_samples * ratio[self.group]
        return problem.evaluate(np.arange(alpha.size), alpha, beta)

    def __call__(self, point: Array) -> tuple[float, Array]:
        theta = point[: self.family.start.size]
        design = self._design(theta)
        problem = self.problem.rebase(design)
        state = self._state(problem, point)
        if state is None:
            return HUGE, np.zeros(point.size)
        by_alpha, by_beta, slopes = problem.derivatives(state)
        by_theta = self.family.slopes(theta, self.index, slopes, self.rows, design.matrix)
        by_group = np.bincount(self.group, by_alpha, self.n_groups)
        rest = [] if problem.noise is None else [by_beta + by_alpha.sum()]
        value = self.noise_alone - state.objective
        return value, -np.concatenate([by_theta, by_group, rest])


def polish(
    problem: AdaptableProblem, family: Family, theta: Array, state: State, tol: float
) -> tuple[Array, State]:
    """Move θ and the hyperparameters of the state's functions uphill; some may be pruned.

    The precisions are re-estimated at each θ, which costs little once the products of the
    functions are known, so that only θ is left to search: by L-BFGS, with the derivatives of the
    evidence at fixed precisions, which are those of its maximum over them.
    """
    used = problem.used(state.active)
    inner = problem.restrict(state.active)
    best = theta, replace(state, active=np.arange(state.active.size))

    def lowered(point: Array) -> tuple[float, Array]:
        nonlocal best
        at = inner.rebase(Dense(family.columns(point, used)))
        last = best[1]
        new = at.evaluate(last.active, last.alpha, last.beta)
        if new is None:
            return HUGE, np.zeros(point.size)
        new = Refiner(at).climb(new, free=True, steps=_NEWTON_STEPS, tol=_NEWTON_ENOUGH * tol)
        if new.objective > best[1].objective:
            best = point.copy(), new
        if not new.active.size:
            return -new.objective, np.zeros(point.size)
        slopes = at.derivatives(new)[2]
        return -new.objective, -family.slopes(point, used[at.used(new.active)], slopes)

    minimize(
        lowered, theta, jac=True, method="L-BFGS-B", callback=end_in_time,
        bounds=list(zip(family.lower, family.upper, strict=True)),
        options={
            "maxiter": _POLISH_STEPS, "gtol": FLAT,
            "ftol": _POLISH_ENOUGH * tol / max(1.0, abs(state.objective)),
        },
    )  # fmt: skip
    return best[0], replace(best[1], active=state.active[best[1].active])
