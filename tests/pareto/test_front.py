"""Fronts: who dominates whom, the hull of their rates, the choice of one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull

from sparsebayes.pareto.front import (
    FRONT,
    Archive,
    choose,
    hull_area,
    roc_hull,
    undominated,
)


def dominates(a, b):
    return np.all(a <= b) and np.any(a < b)


# Dominance and hulls


@pytest.mark.parametrize("n", [0, 1, 40, 700])
def test_undominated_is_what_the_definition_says(n):
    points = np.random.default_rng(n).integers(0, 12, (n, 3)).astype(float)
    kept = undominated(points)
    unique = {tuple(p) for p in points}
    expected = {p for p in unique if not any(dominates(np.array(q), np.array(p)) for q in unique)}
    assert sorted(map(tuple, points[kept])) == sorted(expected)
    for i in kept:  # of equal ones the first
        assert not (points[:i] == points[i]).all(axis=1).any()
    assert_array_equal(kept, np.sort(kept))


def test_archive_holds_the_undominated_of_all_that_came():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 15, (600, 3)).astype(float)
    genes = np.arange(600.0)[:, None]
    archive = Archive(3, 1)
    for part in np.split(np.arange(600), 24):
        archive.add(points[part], genes[part])
    kept = undominated(points)
    assert len(archive) == kept.size
    assert_array_equal(np.sort(archive.genes[:, 0]), genes[kept, 0])
    assert_array_equal(archive.objectives, points[archive.genes[:, 0].astype(int)])


def test_hull_area_against_a_polygon():
    rng = np.random.default_rng(0)
    fpr, tpr = rng.random((2, 30))
    corners = np.array([[0, 0], [1, 1], [1, 0]])
    polygon = ConvexHull(np.vstack([np.column_stack([fpr, tpr]), corners]))
    below = tpr > fpr  # (1, 0) cuts off nothing but what lies below the diagonal
    assert below.any() and not below.all()
    assert_allclose(hull_area(fpr, tpr), polygon.volume, rtol=1e-12)


@pytest.mark.parametrize(
    ("fpr", "tpr", "area"),
    [([], [], 0.5), ([0.0], [1.0], 1.0), ([1.0], [0.0], 0.5), ([0.5, 0.5], [0.5, 1.0], 0.75)],
)
def test_hull_area_of_simple_cases(fpr, tpr, area):
    assert_allclose(hull_area(fpr, tpr), area, rtol=1e-15)
    hull = roc_hull(fpr, tpr)
    assert_array_equal(hull[[0, -1]], [[0, 0], [1, 1]])
    assert np.all(np.diff(np.diff(hull[:, 1]) / np.maximum(np.diff(hull[:, 0]), 1e-300)) <= 0)


# Choices

POINTS = np.array(
    [
        (0.0, 0.0, 0.0, 0, 0.0, 0.0),
        (0.0, 0.5, 2.5, 2, 0.1, 0.4),
        (0.1, 0.7, 1.5, 1, 0.1, 0.6),
        (0.2, 0.9, 2.6, 2, 0.3, 0.9),
        (0.2, 0.95, 4.7, 4, 0.1, 0.7),
        (0.4, 1.0, 3.6, 3, 0.3, 0.9),
        (1.0, 1.0, 0.0, 0, 1.0, 1.0),
    ],
    dtype=FRONT,
).view(np.recarray)
COUNTS = np.array([[30, 30], [10, 10]])


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({}, 3),  # 0.2 as of 4 and 5, with the fewest kernels
        ({"by": "train"}, 4),
        ({"by": "pooled"}, 4),
        ({"point": np.int64(5)}, 5),
        ({"max_kernels": 1}, 2),
        ({"max_kernels": np.int64(0)}, 0),
        ({"cost_fp": 6}, 4),
        ({"cost_fp": 100}, 0),
        ({"cost_fn": 10.0}, 6),
        ({"cost_fn": 10.0, "cost_fp": 10.0}, 3),
        ({"cost_fn": 3.0, "max_kernels": 1}, 6),
        ({"prevalence": 0.05}, 0),
        ({"cost_fn": 0}, 0),
        ({"max_fpr": 0.1}, 4),
        ({"max_fpr": 0.1, "max_kernels": 2}, 2),
        ({"max_fpr": 0.05}, 0),
        ({"min_tpr": 0.85}, 3),
        ({"min_tpr": 0.6, "by": "train"}, 2),
        ({"min_tpr": 0.65, "max_fpr": 0.2}, 4),
        ({"max_fpr": 0.3, "cost_fn": 5}, 3),
    ],
)
def test_choices(wishes, expected):
    assert choose(POINTS, COUNTS, **{"by": "held_out", **wishes}) == expected


def test_without_held_out_samples_choices_are_by_training_rates():
    bare = POINTS.copy()
    bare["held_out_fpr"] = bare["held_out_tpr"] = np.nan
    counts = [[30, 30], [0, 0]]
    assert {choose(bare, counts, by=by) for by in ("held_out", "pooled", "train")} == {4}


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"point": 7}, r"point=7 .*0 to 6; the nearest is 6"),
        ({"point": -1}, r"point=-1 .*the nearest is 0"),
        ({"point": 1.0}, r"point must be a whole number.*got 1\.0"),
        ({"point": True}, "point must be a whole number"),
        ({"point": 1, "max_fpr": 0.1}, "leave out max_fpr"),
        ({"cost_fp": -1}, r"cost_fp must be a number >= 0, got -1"),
        ({"cost_fn": np.nan}, "cost_fn must be"),
        ({"cost_fn": 0, "cost_fp": 0}, "both 0"),
        ({"prevalence": 1.5}, r"prevalence must be .* from 0 to 1, got 1\.5"),
        ({"max_kernels": -1}, "max_kernels must be a whole number >= 0, got -1"),
        ({"max_kernels": 2.5}, "max_kernels must be a whole number"),
        ({"max_fpr": "low"}, "max_fpr must be a number from 0 to 1, got 'low'"),
        ({"min_tpr": 1.01}, r"min_tpr must be a number from 0 to 1, got 1\.01"),
        (
            {"min_tpr": 0.8, "max_fpr": 0.2},
            r"min_tpr=0\.8 and max_fpr=0\.2 exclude each other; with max_fpr=0\.2 the largest "
            r"min_tpr is 0\.7, with min_tpr=0\.8 the least max_fpr is 0\.3\.",
        ),
        ({"min_tpr": 0.7, "max_fpr": 0.1, "max_kernels": 2}, "with max_kernels=2; .* is 0.6,"),
        ({"by": "test"}, r"by must be one of .*got 'test'"),
    ],
)
def test_impossible_wishes(wishes, message):
    with pytest.raises(ValueError, match=message):
        choose(POINTS, COUNTS, **{"by": "held_out", **wishes})


def test_bounds_that_no_point_meets():
    some = POINTS[1:3]
    with pytest.raises(ValueError, match=r"min_tpr=0\.9 is not reached; the largest rate is 0\.6"):
        choose(some, COUNTS, by="held_out", min_tpr=0.9)
    with pytest.raises(ValueError, match=r"max_fpr=0\.0 is not reached.*least rate is 0\.1"):
        choose(some, COUNTS, by="held_out", max_fpr=0.0)
