"""Checks of parameters name what is wrong, show it, and say what may be."""

import numpy as np
import pytest

from sparsebayes._support.data import finite_array
from sparsebayes._support.validation import (
    as_generator,
    as_n_jobs,
    as_names,
    as_number,
    as_random_state,
    check_coverage,
    check_limits,
    check_path,
    finite_number,
    positive_number,
    whole_number,
)


def test_numbers_beyond_all_floats_are_none():
    assert as_number(10**400) is None and as_number(np.inf) is None
    assert as_number(np.float16(0.5)) == 0.5 and as_number(10**30) == 1e30


def test_what_is_counted_fits_an_array():
    assert whole_number("n", 2**63 - 1) == 2**63 - 1
    with pytest.raises(ValueError, match=r"n must be a whole number .* below 2\*\*63, got 92"):
        whole_number("n", 2**63)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "c must be a finite number, got None"),
        (np.nan, "c must be a finite number, got nan"),
        (-1, "c must be a number >= 0 and <= 5, got -1"),
        (6.0, "c must be a number >= 0 and <= 5, got 6.0"),
    ],
)
def test_numbers_within_bounds(value, message):
    assert finite_number("c", 5, 0.0, 5.0) == 5.0
    with pytest.raises(ValueError, match=message):
        finite_number("c", value, 0.0, 5.0)


@pytest.mark.parametrize(
    ("values", "shape", "message"),
    [
        (["a"], (None,), "series: could not convert string to float: 'a'"),
        (object(), (None,), "series: float.. argument must be .* not 'object'"),
        (3.0, (None,), "series must have one dimension, got 3.0"),
        (np.zeros((2, 3)), (None, 2), r"series must have shape \(n, 2\), got shape \(2, 3\)"),
        ([1.0, np.nan], (2,), "series contains NaN"),
    ],
)
def test_arrays_of_a_shape(values, shape, message):
    with pytest.raises((TypeError, ValueError), match=message):
        finite_array("series", values, shape)


def test_gaps_are_allowed_where_they_are_asked_for():
    assert np.isnan(finite_array("y", [1.0, np.nan], gaps=True)).tolist() == [False, True]


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, "3", True, [1], np.random.default_rng(0)])
def test_seeds_that_are_none(seed):
    with pytest.raises(ValueError, match=r"random_state must be None, a whole number from 0 to .*"):
        as_random_state(seed)


def test_seeds_are_those_of_scikit_learn():
    assert as_random_state(None) is as_random_state(np.random)
    assert as_random_state(7).randint(1000) == np.random.RandomState(7).randint(1000)
    assert as_generator(7).integers(1000) == np.random.default_rng(7).integers(1000)
    with pytest.raises(ValueError, match=r"random_state must be None, a whole number >= 0 .*-1"):
        as_generator(-1)


@pytest.mark.parametrize("jobs", [0, 0.5, "all", True, np.array(2)])
def test_jobs_that_are_none(jobs):
    with pytest.raises(ValueError, match="n_jobs must be None, a whole number of jobs, or -1"):
        as_n_jobs(jobs, 3)


def test_no_more_jobs_than_tasks():
    assert [as_n_jobs(jobs, 3) for jobs in (None, -1, 2, 10**30)] == [None, -1, 2, 3]


def test_names_and_paths():
    assert as_names("names", "a") == ["a"] and as_names("names", np.array(["a", "b"])) == ["a", "b"]
    for given in (None, 3, b"a", np.array("a"), np.zeros((2, 2))):
        with pytest.raises(TypeError, match="names must be a list of texts, got"):
            as_names("names", given)
    for given in (None, 0, b"file", ""):
        with pytest.raises(TypeError, match="path must be the name of a file, got"):
            check_path(given)


@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, True, "1", None, [1.0]])
def test_what_is_no_positive_number_is_refused(value):
    with pytest.raises(ValueError, match="width must be a positive number, got "):
        positive_number("width", value)
    with pytest.raises(ValueError, match="tol must be a positive number"):
        check_limits(1, value)


@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, np.nan, True, "1", None])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ValueError, match="folds must be a whole number >= 1, got "):
        whole_number("folds", value)
    with pytest.raises(ValueError, match="max_iter must be a whole number >= 1"):
        check_limits(value, 1.0)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.5, 95, np.nan, True, "0.9", None])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got "):
        check_coverage(value)


def test_numbers_of_any_kind_pass():
    assert as_number(np.float32(0.5)) == positive_number("width", np.float64(0.5)) == 0.5
    assert whole_number("folds", np.int8(3)) == whole_number("folds", 3, least=3) == 3
    assert whole_number("folds", 0, least=0) == 0
    assert check_coverage(np.float32(0.5)) == 0.5
    check_limits(1, 1e-300)
