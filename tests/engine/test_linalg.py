"""Products, factors and inverses."""

import numpy as np
import pytest

from sparsebayes.engine import linalg


@pytest.mark.parametrize("size", [1, 5, 64, 65, 200])
def test_halved_inverse(size):
    rng = np.random.default_rng(0)
    half = rng.standard_normal((size, size + 3))
    matrix, columns = half @ half.T + np.eye(size), rng.standard_normal((size, 2))
    other = rng.standard_normal((size, size))
    other = other + other.T
    expected = 0.5 * np.sum((np.linalg.inv(matrix) - columns @ columns.T) * other)
    factor = linalg.cholesky(matrix.copy(), in_place=True)
    found = linalg.halved_inverse(factor, columns)
    assert found.flags.c_contiguous
    assert np.sum(found * other) == pytest.approx(expected, rel=1e-10)


def test_cholesky_keeps_its_matrix_unless_told():
    matrix = np.array([[4.0, 2.0], [2.0, 3.0]])
    given = matrix.copy()
    factor = linalg.cholesky(matrix)
    np.testing.assert_array_equal(matrix, given)
    np.testing.assert_allclose(factor @ factor.T, given)
    again = linalg.cholesky(matrix, in_place=True)
    np.testing.assert_array_equal(again, factor)
    assert np.shares_memory(again, matrix)


def test_weights_of_functions_are_added_up_in_pairs():
    values = np.random.default_rng(0).standard_normal((6, 6))
    blocks = [[values[i : i + 3, j : j + 3].sum() for j in (0, 3)] for i in (0, 3)]
    np.testing.assert_allclose(linalg.fold_matrix(values, 3), blocks)
    assert linalg.fold_matrix(values, 1) is values
