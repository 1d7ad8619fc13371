"""Factors that make the errors of held-out rows most likely."""

import numpy as np
import pytest

from sparsebayes._support.calibration import Forecast, most_likely

ROWS = 2000


def likeliest(weights, squares, variance, further, most, known=0.0):
    return most_likely(weights, squares, Forecast(None, variance, known, further), most)


def held(factor, further, seed=0):
    """Errors with variance ``c² s² + v g``."""
    rng = np.random.default_rng(seed)
    variance, shape = rng.uniform(0.5, 2.0, ROWS), rng.uniform(0.0, 1.0, ROWS) ** 4
    errors = np.sqrt(factor**2 * variance + further * shape) * rng.standard_normal(ROWS)
    return np.ones(ROWS), errors**2, variance, shape


@pytest.mark.parametrize(("factor", "further"), [(1.0, 4.0), (1.5, 4.0), (1.5, 30.0)])
def test_both_are_found(factor, further):
    found = likeliest(*held(factor, further), most=100.0)
    assert found.factor == pytest.approx(factor, rel=0.07)
    assert found.further == pytest.approx(further, rel=0.25)


@pytest.mark.parametrize("factor", [0.7, 1.0, 2.0])
def test_the_factor_alone(factor):
    weights, squares, variance, shape = held(factor, 0.0)
    found = likeliest(weights, squares, variance, shape, most=100.0)
    assert found.further == 0.0
    assert found.factor == pytest.approx(np.sqrt(np.mean(squares / variance)))
    assert found == likeliest(weights, squares, variance, np.zeros(ROWS), most=100.0)


def test_bounds():
    samples = held(1.0, 30.0)
    assert likeliest(*samples, most=3.0).further == pytest.approx(3.0)
    assert likeliest(*samples, most=0.0).further == 0.0
    assert likeliest(*held(0.5, 4.0), most=100.0).factor == 1.0  # never less with a further one


def test_weights_count_as_repetitions():
    weights, squares, variance, shape = (part[:200] for part in held(1.2, 9.0))
    twice = likeliest(2 * weights, squares, variance, shape, 100.0)
    repeated = likeliest(*(np.tile(p, 2) for p in (weights, squares, variance, shape)), 100.0)
    assert twice == pytest.approx(repeated, rel=1e-5)


@pytest.mark.parametrize(("factor", "further"), [(1.5, 0.0), (4.0, 0.0), (1.5, 9.0)])
def test_known_noise_is_not_multiplied(factor, further):
    _, _, variance, shape = held(1.0, 0.0)
    rng = np.random.default_rng(1)
    known = rng.uniform(0.1, 3.0, ROWS)
    errors = np.sqrt(known + factor**2 * variance + further * shape) * rng.standard_normal(ROWS)
    found = likeliest(np.ones(ROWS), errors**2, variance, shape, 100.0, known)
    assert found.factor == pytest.approx(factor, rel=0.1)
    alone = likeliest(np.ones(ROWS), errors**2, variance, np.zeros(ROWS), 100.0, known)
    assert alone.further == 0.0 and alone.factor >= found.factor
    assert found.further == pytest.approx(further, rel=0.3, abs=0.5 * factor**2)


def test_no_errors_at_all():
    assert likeliest(np.ones(5), np.zeros(5), np.ones(5), np.ones(5), 1.0) == (1.0, 0.0)
