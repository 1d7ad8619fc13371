"""Contours of functions whose lines are known."""

import numpy as np
import pytest

from sparsebayes.explore.contours import contour


def test_a_straight_line():
    x, y = np.linspace(0, 1, 5), np.linspace(0, 2, 7)
    pieces = contour(x, y, x[None, :] + 0.0 * y[:, None], 0.3)
    assert len(pieces) == 6
    np.testing.assert_allclose(pieces[:, :, 0], 0.3)
    assert pieces[:, :, 1].min() == 0.0 and pieces[:, :, 1].max() == 2.0


def test_a_circle_is_closed():
    x = np.linspace(-2, 2, 60)
    values = x[None, :] ** 2 + x[:, None] ** 2
    pieces = contour(x, x, values, 1.0)
    np.testing.assert_allclose(np.hypot(*pieces.reshape(-1, 2).T), 1.0, atol=2e-3)
    length = np.hypot(*(pieces[:, 0] - pieces[:, 1]).T).sum()
    assert length == pytest.approx(2 * np.pi, rel=1e-2)
    ends, counts = np.unique(np.round(pieces.reshape(-1, 2), 9), axis=0, return_counts=True)
    assert len(ends) == len(pieces) and set(counts) == {2}


def test_every_kind_of_cell():
    """Corners above and below in all 16 ways: ends lie on edges between unlike corners."""
    for kind in range(16):
        corners = [float(kind >> k & 1) for k in range(4)]
        values = np.array([corners[:2], [corners[3], corners[2]]])
        ends = contour(np.arange(2.0), np.arange(2.0), values, 0.5).reshape(-1, 2)
        unlike = sum(corners[k] != corners[(k + 1) % 4] for k in range(4))
        assert len(ends) == unlike
        middles = {(0.5, 0.0): 0, (1.0, 0.5): 1, (0.5, 1.0): 2, (0.0, 0.5): 3}
        edges = [middles[tuple(end)] for end in ends.tolist()]
        assert len(set(edges)) == len(edges)
        assert all(corners[k] != corners[(k + 1) % 4] for k in edges)


def test_nothing_at_a_level_that_is_not_reached():
    assert contour(np.arange(3.0), np.arange(3.0), np.zeros((3, 3)), 0.5).shape == (0, 2, 2)
