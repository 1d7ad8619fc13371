"""Equal rows are found as NumPy finds them."""

import re
from pathlib import Path

import numpy as np
import pytest

import sparsebayes
from sparsebayes._support.equal_rows import distinct_rows


@pytest.mark.parametrize("shape", [(1, 1), (40, 1), (60, 2), (60, 3), (7, 0), (0, 2)])
def test_as_numpy(shape):
    matrix = np.random.default_rng(0).integers(-2, 3, shape).astype(float)
    first, place = distinct_rows(matrix)
    if shape[1] and len(matrix):
        rows, index, inverse = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
        np.testing.assert_array_equal(matrix[first], rows)
        np.testing.assert_array_equal(first, index)
        np.testing.assert_array_equal(place, inverse.ravel())
    np.testing.assert_array_equal(matrix[first][place], matrix)
    assert len(first) == len({tuple(row) for row in matrix})


def test_zeros_of_both_signs_and_missing_values_are_equal():
    matrix = np.array([[np.nan, 1.0], [0.0, 2.0], [np.nan, 1.0], [-0.0, 2.0], [np.nan, 2.0]])
    first, place = distinct_rows(matrix)
    assert first.tolist() == [1, 0, 4] and place.tolist() == [1, 0, 1, 0, 2]


def test_all_find_them_so():
    """`np.unique` of rows makes a `TypeError` of Ctrl-C."""
    package = Path(sparsebayes.__file__).parent
    by_numpy = re.compile(r"np\.unique\([^\n]*axis=0")
    found = [path for path in package.rglob("*.py") if by_numpy.search(path.read_text("utf-8"))]
    assert [path.name for path in found] == ["equal_rows.py"]  # which says so
