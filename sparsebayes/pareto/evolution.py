"""The evolution of sparse classifiers: pymoo's engine, with the mutations of S08 3.0.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.infill import InfillCriterion
from pymoo.core.population import Population
from pymoo.core.problem import Problem

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.reporting import Reporter
from sparsebayes.pareto.front import Archive, hull_area, rates
from sparsebayes.pareto.smoothness import Correlations

Array = np.ndarray

_RATE = 0.1  # of weights that a perturbation changes; S08 3.0.1
_STEP = 0.3  # scale of the Laplacian that perturbs, in standard deviations of the scores
_BIRTH = 1.0  # scale of the Laplacian that a new weight comes from
_CANCELLED = 1e-7  # scores that are so much smaller than their terms are rounding errors


def spreads(scores: Array, weights: Array) -> Array:
    """Standard deviations of scores over the samples; 0 where they are rounding errors."""
    spread = scores.std(axis=1)
    spread[spread <= _CANCELLED * np.abs(weights).sum(axis=1)] = 0.0
    return spread


def complexity(
    weights: Array, spread: Array, penalty: str, correlations: Correlations | None = None
) -> Array:
    """Of classifiers with these weights of columns of standard deviation 1, (P, M).

    The rates stay the same where all weights and the intercept are multiplied by a number, so
    that the sum of absolute weights itself says nothing. Divided by the standard deviation of
    the scores it does: it is 1 for one function and grows as functions cancel each other.
    With the correlations of the columns, for "smoothness", it is the degrees of freedom instead.
    """
    if correlations is not None:
        return correlations.degrees_of_freedom(weights, spread)
    kept = np.count_nonzero(weights, axis=1)
    mass = np.divide(np.abs(weights).sum(axis=1), spread, out=np.zeros(len(kept)), where=spread > 0)
    mass = np.round(mass, 8)  # the same weights, scaled anew, must not seem better or worse
    return mass if penalty == "l1" else kept + mass / (1.0 + mass)  # S08 (3.3)


class Rates(Problem):
    """False positive rate, negative true positive rate, complexity; all are minimised.

    A row of genes is the weights of the columns, then the intercept.
    """

    def __init__(self, columns: Array, positive: Array, penalty: str) -> None:
        super().__init__(n_var=columns.shape[1] + 1, n_obj=3)
        self.columns = columns
        self.positive = positive
        self.penalty = penalty
        self.correlations = Correlations(columns) if penalty == "smoothness" else None

    def _evaluate(self, x: Array, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        weights = x[:, :-1]
        used = np.flatnonzero(weights.any(axis=0))
        scores = weights[:, used] @ self.columns[:, used].T
        spread = spreads(scores, weights)
        fpr, tpr = rates(scores + x[:, -1:] > 0, self.positive)
        cost = complexity(weights, spread, self.penalty, self.correlations)
        void = (spread == 0) & weights.any(axis=1)  # let these be dominated
        fpr[void], tpr[void], cost[void] = 1.0, 0.0, weights.shape[1] + 1.0
        out["F"] = np.column_stack([fpr, -tpr, cost])
        out["spread"] = np.where(spread > 0, spread, 1.0)


class Mutants(InfillCriterion):
    """Mutated copies of the winners of binary tournaments.

    With equal probability some weights of a parent are perturbed, or one is flipped [S08 3.0.1].
    Only weights that are not zero are perturbed, the intercept among them: else each step would
    add a tenth of all functions. A flip takes one of the kept functions as often as one of the
    others: else it would hardly ever take one away.
    """

    def __init__(self, intercept: bool) -> None:
        super().__init__()
        self.intercept = intercept

    def _do(
        self, problem: Any, pop: Any, n_offsprings: int, random_state: Any = None, **kwargs: Any
    ) -> Any:
        rank, crowding, spread = (pop.get(name) for name in ("rank", "crowding", "spread"))
        first, second = random_state.integers(len(pop), size=(2, n_offsprings))
        wins = (rank[first] < rank[second]) | (
            (rank[first] == rank[second]) & (crowding[first] >= crowding[second])
        )
        parent = np.where(wins, first, second)
        # Scores of standard deviation 1: a step of fixed scale then means the same everywhere.
        genes = pop.get("X")[parent] / spread[parent, None]
        return Population.new("X", mutate(genes, self.intercept, random_state))


def mutate(genes: Array, intercept: bool, rng: np.random.Generator) -> Array:
    """One mutation of each row."""
    genes = genes.copy()
    flips = rng.random(len(genes)) < 0.5
    if not intercept:
        flips |= ~genes.any(axis=1)  # nothing to perturb
    genes[flips, :-1] = _flipped(genes[flips, :-1], rng)
    genes[~flips] = _perturbed(genes[~flips], intercept, rng)
    return genes


def _perturbed(genes: Array, intercept: bool, rng: np.random.Generator) -> Array:
    free = genes != 0
    free[:, -1] = intercept
    hit = free & (rng.random(genes.shape) < _RATE)
    one = _one_of(free, rng)
    idle = ~hit.any(axis=1)  # at least one weight moves
    hit[idle, one[idle]] = True
    return genes + hit * rng.laplace(scale=_STEP, size=genes.shape)


def _flipped(weights: Array, rng: np.random.Generator) -> Array:
    kept = weights != 0
    absent = rng.random(len(weights)) < 0.5
    some = np.where(absent[:, None], ~kept, kept)
    some[~some.any(axis=1)] = True
    rows, one = np.arange(len(weights)), _one_of(some, rng)
    drawn = rng.laplace(scale=_BIRTH, size=len(weights))
    flipped = weights.copy()
    flipped[rows, one] = np.where(kept[rows, one], 0.0, drawn)
    return flipped


def _one_of(allowed: Array, rng: np.random.Generator) -> Array:
    """For each row the column of one of its True entries, all equally probable."""
    return np.where(allowed, rng.random(allowed.shape), -1.0).argmax(axis=1)


def constants(n_columns: int, intercept: bool) -> Array:
    """The genes of classifiers that always say the same."""
    signs = [-1.0, 1.0] if intercept else [0.0]
    return np.array([np.append(np.zeros(n_columns), sign) for sign in signs])


def starts(
    columns: Array, seed: Array, population: int, intercept: bool, rng: np.random.Generator
) -> Array:
    """The first population: constants, the seed, and single functions.

    The seed, (M,), unless it is 0, makes half of it, with thresholds along its ROC curve.
    """
    n_samples, n_columns = columns.shape
    rows = list(constants(n_columns, intercept))
    if seed.any():
        scores = np.sort(columns @ seed)
        gaps = np.linspace(0, n_samples - 2, population // 2).astype(int)
        middles = (scores[gaps] + scores[gaps + 1]) / 2.0 if intercept else [0.0]
        rows += [np.append(seed, -middle) for middle in middles]
    while len(rows) < population:
        single = np.zeros(n_columns + 1)
        single[rng.integers(n_columns)] = rng.choice([-1.0, 1.0])
        single[-1] = rng.laplace() if intercept else 0.0
        rows.append(single)
    return np.array(rows[:population])


def evolve(
    columns: Array,
    positive: Array,
    *,
    penalty: str,
    intercept: bool,
    seed: Array,
    n_evaluations: int,
    population: int,
    rng: np.random.Generator,
    verbose: int = 0,
) -> tuple[Archive, int]:
    """All undominated classifiers that an evolution has seen, and how many it has tried.

    Parameters
    ----------
    columns : ndarray, (N, M)
        Basis functions over the samples, of standard deviation 1.
    positive : ndarray of bool, (N,)
    penalty : {"l0+", "l1", "smoothness"}
    intercept : bool
        Whether there is one.
    seed : ndarray, (M,)
        Weights to start from; 0 for none.
    n_evaluations, population : int
    rng : numpy Generator
    verbose : int
        1 prints ten lines, 2 one for each generation.
    """
    problem = Rates(columns, positive, penalty)
    archive = Archive(3, columns.shape[1] + 1)
    if columns.shape[1] == 0:
        genes = constants(0, intercept)
        archive.add(problem.evaluate(genes, return_values_of=["F"]), genes)
        return archive, 0
    algorithm = NSGA2(
        pop_size=population,
        sampling=starts(columns, seed, population, intercept, rng),
        mating=Mutants(intercept),
        eliminate_duplicates=False,
    )
    generations = n_evaluations // population
    algorithm.setup(problem, termination=("n_gen", generations), seed=int(rng.integers(2**31)))
    reporter = Reporter("ParetoClassifier", verbose, total=generations)
    for generation in range(1, generations + 1):
        mutants = algorithm.ask()
        algorithm.evaluator.eval(problem, mutants)
        archive.add(mutants.get("F"), mutants.get("X") / mutants.get("spread")[:, None])
        algorithm.tell(mutants)
        if reporter.due(generation):
            area = hull_area(archive.objectives[:, 0], -archive.objectives[:, 1])
            reporter.tell(
                f"{generation * population:7d} evaluations  front {len(archive)}  "
                f"area under the training hull {area:.4f}"
            )
        if time_is_up():
            break
    return archive, generation * population
