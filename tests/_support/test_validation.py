"""Checks of parameters: what passes, and what does not."""

import numpy as np
import pytest

from sparsebayes._support.validation import (
    as_number,
    check_coverage,
    check_limits,
    positive_number,
    whole_number,
)


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
