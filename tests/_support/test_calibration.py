"""Factors that make the errors of held-out rows most likely."""

import numpy as np
import pytest

from sparsebayes._support.calibration import most_likely

ROWS = 2000


def held(factor, further, seed=0):
    """Errors with variance ``c² s² + v g``."""
    rng = np.random.default_rng(seed)
    variance, shape = rng.uniform(0.5, 2.0, ROWS), rng.uniform(0.0, 1.0, ROWS) ** 4
    errors = np.sqrt(factor**2 * variance + further * shape) * rng.standard_normal(ROWS)
    return np.ones(ROWS), errors**2, variance, shape


@pytest.mark.parametrize(("factor", "further"), [(1.0, 4.0), (1.5, 4.0), (1.5, 30.0)])
def test_both_are_found(factor, further):
    found = most_likely(*held(factor, further), most=100.0)
    assert found.factor == pytest.approx(factor, rel=0.07)
    assert found.further == pytest.approx(further, rel=0.25)


@pytest.mark.parametrize("factor", [0.7, 1.0, 2.0])
def test_the_factor_alone(factor):
    weights, squares, variance, shape = held(factor, 0.0)
    found = most_likely(weights, squares, variance, shape, most=100.0)
    assert found.further == 0.0
    assert found.factor == pytest.approx(np.sqrt(np.mean(squares / variance)))
    assert found == most_likely(weights, squares, variance, np.zeros(ROWS), most=100.0)


def test_bounds():
    samples = held(1.0, 30.0)
    assert most_likely(*samples, most=3.0).further == pytest.approx(3.0)
    assert most_likely(*samples, most=0.0).further == 0.0
    assert most_likely(*held(0.5, 4.0), most=100.0).factor == 1.0  # never less with a further one


def test_weights_count_as_repetitions():
    weights, squares, variance, shape = (part[:200] for part in held(1.2, 9.0))
    twice = most_likely(2 * weights, squares, variance, shape, 100.0)
    repeated = most_likely(*(np.tile(p, 2) for p in (weights, squares, variance, shape)), 100.0)
    assert twice == pytest.approx(repeated, rel=1e-5)


def test_no_errors_at_all():
    assert most_likely(np.ones(5), np.zeros(5), np.ones(5), np.ones(5), 1.0) == (1.0, 0.0)
