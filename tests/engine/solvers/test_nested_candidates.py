"""More candidates are no worse."""

from __future__ import annotations

import numpy as np
import pytest

from sparsebayes import Statistics
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1, make_friedman2
from sparsebayes.engine import Policy, Sequential, run

SCALES = np.array([0.8, 0.8, 0.9, 3.0, 4.0, *[30.0] * 5])


def ends(width: float, solver: Sequential, n_rows: int = 20_000, most: int = 1000) -> list[float]:
    """The evidence with 125, 250 and so on candidates of one draw."""
    X, y, _ = make_friedman1(n_rows, random_state=0)
    rng = np.random.default_rng(0)
    points = X[rng.permutation(n_rows)[:most]]
    problem = Statistics(RBF(width * SCALES, centres=points)).update(X, y).problem()
    found = []
    for size in 125 * 2 ** np.arange(int(np.log2(most // 125)) + 1):
        part = problem.restrict(np.arange(size))
        end = run(solver, part, max_iter=10_000, tol=0.2, rng=np.random.default_rng(0))
        assert end.stop.converged
        found.append(end.state.evidence)
    return found


def test_evidence_does_not_fall_with_a_few_more_candidates() -> None:
    assert np.diff(ends(0.6, Sequential(), 4000, 500)).min() > -5.0


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.6, 1.0])
def test_evidence_does_not_fall_with_more_candidates(width: float) -> None:
    assert np.diff(ends(width, Sequential())).min() > -5.0


@pytest.mark.slow
def test_more_work_is_allowed_where_the_products_took_more() -> None:
    usual = Sequential(Policy(route_share=0.0, search_share=0.0))
    assert sum(ends(1.0, Sequential())) > sum(ends(1.0, usual)) + 5.0


def smooth(solver: Sequential, n_rows: int = 20_000) -> list[float]:
    """The evidence with 250, 500 and 1000 candidates, for a function that needs few."""
    X, y, _ = make_friedman2(n_rows, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y / y.std()
    points = X[np.random.default_rng(2).permutation(n_rows)[:1000]]
    scales = np.array([1000.0, 3.5, 3.4, 1000.0])
    problem = Statistics(RBF(scales, centres=points)).update(X, y).problem()
    parts = [problem.restrict(np.arange(size)) for size in (250, 500, 1000)]
    rng = np.random.default_rng(0)
    return [run(solver, one, max_iter=10_000, tol=0.2, rng=rng).state.evidence for one in parts]


@pytest.mark.slow
def test_candidates_that_begin_with_others_end_no_lower() -> None:
    found = smooth(Sequential(Policy(start_share=1.0)))
    without = smooth(Sequential(Policy(start_share=0.0)))
    assert np.diff(found).min() > -0.5
    assert sum(found) > sum(without) + 1.0
