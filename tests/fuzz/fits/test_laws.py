"""Laws of fits on random problems, a few of them; `python -m tests.fuzz --part laws` tries many."""

from itertools import islice

import numpy as np
import pytest

from benchmarks.tools.random_problems import (
    random_classification,
    random_problem,
    random_regression,
    real_problems,
)
from sparsebayes.engine.solvers import strategies, trials
from tests.fuzz.fits.laws import SOLVERS, Laws, laws_of
from tests.fuzz.law import Verdict, judge


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_regression, random_classification])
def test_laws(make):
    for case in laws_of(make(3, most_rows=25)):
        outcome = judge(case)
        assert outcome.verdict is Verdict.ANSWERED, outcome


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(12))
def test_laws_of_all_solvers(seed, solver):
    make = random_classification if seed % 2 else random_regression
    for case in laws_of(make(100 + seed, most_rows=60), solver):
        outcome = judge(case)
        assert outcome.verdict is Verdict.ANSWERED, outcome


@pytest.fixture
def by_number(monkeypatch):
    """Functions that are chosen blindly are chosen by their number, as rows are ordered."""

    def spread(problem, state, size):
        return trials.spread_over(problem, min(size, problem.n_functions))

    monkeypatch.setattr(strategies, "blindly", spread)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [700399, 419849671])
def test_the_order_of_rows_does_not_decide_where_a_search_of_labels_ends(seed):
    Laws(random_classification(seed, most_rows=100), "sequential").rows_in_another_order()


def test_by_number_it_does(by_number):
    laws = Laws(random_classification(700399, most_rows=100), "sequential")
    with pytest.raises(AssertionError, match="predictions differ"):
        laws.rows_in_another_order()


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_certain_labels_leave_no_curvature_and_no_warning(by_number):
    laws = Laws(random_classification(700418, most_rows=100), "sequential")
    assert np.isfinite(laws._fitted.log_evidence_)


def test_a_broken_law_is_found():
    laws = Laws(random_regression(3, most_rows=25), "sequential")
    model = laws._fitted
    model.evidence_path_ = model.evidence_path_[::-1]
    model.log_evidence_ += 1.0
    for name in ("the_path_rises", "the_evidence_is_dense"):
        with pytest.raises(AssertionError):
            getattr(laws, name)()


def test_a_seed_decides_the_problem():
    for seed in range(6):
        one, other = random_problem(seed), random_problem(seed)
        assert one.name == other.name
        assert one.labelled == bool(seed % 2)
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.y, other.y)
        assert len(np.unique(one.y)) > 1 and np.isfinite(one.X).all()


def test_real_problems_are_standardised():
    bundled = list(islice(real_problems(0), 6))
    assert [problem.labelled for problem in bundled] == [False, True, False, True, True, True]
    for problem in bundled:
        spread = problem.X.std(axis=0)
        np.testing.assert_allclose(spread[spread > 0], 1.0)
