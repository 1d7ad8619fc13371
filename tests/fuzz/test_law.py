"""The law finds what it is there to find."""

import time
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils import check_array

from sparsebayes import RVR
from sparsebayes._support.validation import whole_number
from tests.fuzz.catalogue import ALL, changed
from tests.fuzz.law import Case, Verdict, judge, not_finite


def reason(run, **options):
    outcome = judge(Case("a case", run, **options))
    assert outcome.verdict is Verdict.VIOLATION
    assert outcome.label == "a case"
    return outcome.reason


def test_an_answer():
    assert judge(Case("", lambda: {"mean": [1.0, np.ones(3)]})).verdict is Verdict.ANSWERED


def test_an_error_of_ours():
    case = Case("", lambda: whole_number("lags", 1.5), names=("lags",), shown=("1.5",))
    assert judge(case).verdict is Verdict.REFUSED


def test_an_error_of_scikit_learn_that_users_know():
    case = Case("", lambda: check_array([[np.nan]], input_name="X"), names=("X",))
    assert judge(case).verdict is Verdict.REFUSED


@pytest.mark.parametrize(
    "run",
    [
        lambda: [][1],
        lambda: {}["a"],
        lambda: 1 // 0,
        lambda: np.ones(2) + np.ones(3),
        lambda: float("a"),
        lambda: np.linalg.cholesky(-np.eye(2)),
        lambda: None.shape,
        lambda: whole_number(),
    ],
)
def test_a_raw_error_is_found(run):
    assert "not an error of ours" in reason(run)


def test_an_error_of_others_is_found():
    def run():
        raise ValueError("X is wrong")

    assert "not an error of ours: ValueError: X is wrong" in reason(run)


def test_an_error_that_does_not_name_the_argument_is_found():
    wrong = {"run": lambda: whole_number("lags", "few")}
    assert "does not name y" in reason(**wrong, names=("y",))
    assert "does not name lag:" in reason(**wrong, names=("lag",))
    assert "does not show many" in reason(**wrong, names=("lags",), shown=("many",))


@pytest.mark.parametrize(
    "answer",
    [
        np.nan,
        np.array([1.0, np.inf]),
        [np.zeros(2), (0.0, -np.inf)],
        {"std": np.float32("nan")},
        scipy.sparse.csr_array([[np.nan, 0.0]]),
        np.array([1.0, np.nan], dtype=object),
    ],
)
def test_a_number_that_is_not_finite_is_found(answer):
    assert "not finite" in reason(lambda: answer)
    assert judge(Case("", lambda: answer, finite=False)).verdict is Verdict.ANSWERED


def test_where_a_number_is_not_finite():
    assert not_finite({"a": [1.0, np.nan]}).startswith("answer['a'][1]")
    assert not_finite({"a": ["text", None, 1]}) is None


def test_a_warning_of_others_is_found():
    def run():
        return np.log(np.zeros(2)).size

    assert "RuntimeWarning: divide by zero" in reason(run)
    assert "1 warnings that are not ours" in reason(lambda: warnings.warn("x", stacklevel=1))


def test_a_warning_of_ours_is_none():
    model = RVR("linear", adapt=None, calibrate=None, max_iter=1)
    case = Case("", lambda: model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.5]).n_iter_)
    with pytest.warns(match="max_iter"):
        case.run()
    assert judge(case).verdict is Verdict.ANSWERED


def test_a_call_that_does_not_end_is_found():
    assert reason(lambda: time.sleep(5.0), seconds=0.01) == "not ended after 0.01 s"


def test_a_call_cannot_swallow_the_end_of_its_time():
    def run():
        try:
            time.sleep(5.0)
        except Exception:
            return 0.0

    assert "not ended" in reason(run, seconds=0.01)


@pytest.mark.parametrize("good", [np.arange(12.0), np.arange(24.0).reshape(12, 2)], ids=["y", "X"])
def test_entries_leave_good_data_alone(good):
    before = good.copy()
    made = {name: changed(good, (name,)) for name in ALL}
    assert np.array_equal(good, before)
    assert sum(found is not NotImplemented for found in made.values()) > 80
    assert changed(good, ()) is good
