"""Test signals and the snake against formulas written another way."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from sparsebayes.datasets import gauss_snake_proba, make_gauss_snake, make_signal

NAMES = ["sinc", "heavisine", "doppler", "blocks", "bumps", "blocks_sinc"]
JUMPS = [
    (0.1, 4.0),
    (0.13, -1.0),
    (0.15, 2.0),
    (0.23, -2.0),
    (0.25, 3.0),
    (0.40, -1.2),
    (0.44, 0.9),
    (0.65, 5.2),
    (0.76, 2.1),
    (0.78, 4.2),
    (0.81, 0.0),
]  # S08's steps, summed: the level after each place


def sinc(x):
    return math.sin(x) / x if x else 1.0


def heavisine(x):
    return 4 * math.sin(4 * math.pi * x) - (2 if 0.3 < x < 0.72 else 0)


def doppler(x):
    return math.sqrt(x - x * x) * math.sin(2 * math.pi * 1.05 / (x + 0.05))


def blocks(x):
    before = ([0.0] + [level for place, level in JUMPS if place < x])[-1]
    after = ([0.0] + [level for place, level in JUMPS if place <= x])[-1]
    return (before + after) / 2  # a sample on a jump


def bumps(x):
    heights = [4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2]
    widths = [5, 5, 6, 10, 10, 30, 10, 10, 5, 8, 5]  # thousandths
    return sum(
        h * (1 + 1000 * abs(x - place) / w) ** -4
        for (place, _), h, w in zip(JUMPS, heights, widths, strict=True)
    )


@pytest.mark.parametrize("formula", [sinc, heavisine, doppler, blocks, bumps])
@pytest.mark.parametrize("grid", ["closed", "wavelab"])
def test_values(formula, grid):
    t, y, f = make_signal(formula.__name__, 257, snr=None, grid=grid)
    assert t.shape == y.shape == f.shape == (257,)
    assert_allclose(f, [formula(float(x)) for x in t], atol=1e-11)
    assert_array_equal(y, f)


def test_grids():
    t, _, _ = make_signal("bumps", 5)
    assert_allclose(t, [0, 0.25, 0.5, 0.75, 1])
    t, _, _ = make_signal("bumps", 4, grid="wavelab")
    assert_allclose(t, [0.25, 0.5, 0.75, 1])
    t, _, _ = make_signal("sinc", 5)
    assert_allclose(t, [-10, -5, 0, 5, 10])
    t, _, _ = make_signal("sinc", 4, grid="wavelab")
    assert_allclose(t, [-5, 0, 5, 10])


@pytest.mark.parametrize("n", [2, 11, 256])
def test_blocks_sinc_is_a_concatenation(n):
    t, _, f = make_signal("blocks_sinc", n)
    assert_allclose(t, np.linspace(0, 1, n))
    half = n // 2
    assert_allclose(f[:half], [blocks(x) for x in np.linspace(0, 1, half)], atol=1e-12)
    assert_allclose(f[half:], [3 * sinc(x) for x in np.linspace(-10, 10, n - half)], atol=1e-12)


@pytest.mark.parametrize(
    "name, n, snr, grid, variance, digits",
    [
        ("bumps", 128, 2, "wavelab", 0.119, 1e-3),
        ("bumps", 128, 7, "wavelab", 0.010, 5e-4),
        ("sinc", 128, 2, "closed", 0.031, 5e-4),
    ],
)
def test_noise_variances_of_table_2_1(name, n, snr, grid, variance, digits):
    draws = [make_signal(name, n, snr=snr, grid=grid, random_state=seed) for seed in range(2)]
    _, y, f = draws[0]
    assert_allclose(f.var() / snr**2, variance, atol=digits)
    # The noise is the same numbers for any ratio, multiplied by the standard deviation.
    _, unit, f = make_signal(name, n, snr=f.std(), grid=grid, random_state=0)
    assert_allclose(y - f, (unit - f) * f.std() / snr, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("snr", [2.0, 7.0])
def test_snr_is_a_ratio_of_standard_deviations(name, snr):
    _, y, f = make_signal(name, 40_000, snr=snr, random_state=1)
    assert_allclose(f.std() / (y - f).std(), snr, rtol=0.02)
    assert abs((y - f).mean()) < 0.02 * f.std()


@pytest.mark.parametrize("snr", [None, np.inf])
def test_no_noise(snr):
    _, y, f = make_signal("heavisine", 64, snr=snr, random_state=0)
    assert_array_equal(y, f)
    assert y is not f


def test_seed_fixes_the_noise():
    first, again, other = (make_signal("blocks", 64, random_state=seed) for seed in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        assert_array_equal(a, b)
    assert np.all(first[1] != other[1])
    rng = np.random.default_rng(3)
    assert_array_equal(make_signal("blocks", 64, random_state=rng)[1], first[1])
    assert np.any(make_signal("blocks", 64, random_state=rng)[1] != first[1])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"name": "block"}, r"name must be one of \['sinc', .*'blocks_sinc'\], got 'block'"),
        ({"name": 3}, "name must be one of .*, got 3"),
        ({"n_samples": 1}, "n_samples must be a whole number >= 2, got 1"),
        ({"n_samples": 64.0}, "n_samples must be a whole number >= 2, got 64.0"),
        ({"n_samples": True}, "n_samples must be a whole number >= 2, got True"),
        ({"snr": 0}, "snr must be a positive number, or None .* got 0"),
        ({"snr": -2.0}, r"snr must be .* got -2\.0"),
        ({"snr": np.nan}, "snr must be .* got nan"),
        ({"snr": "7"}, "snr must be .* got '7'"),
        ({"grid": "open"}, r"grid must be one of \['closed', 'wavelab'\], got 'open'"),
    ],
)
def test_signal_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_signal(**{"name": "blocks", **arguments})


SNAKE = {"n_gaussians": 4, "separation": 1.5, "wiggle": 0.8, "width": (0.6, 0.3)}


def test_snake_probability_is_bayes_rule():
    X = np.random.default_rng(0).uniform(-2, 5, (30, 2))
    cov = np.diag([0.36, 0.09])
    below = [(0, 0), (1, 0.8), (2, 0), (3, 0.8)]
    p0 = sum(multivariate_normal(c, cov).pdf(X) for c in below)
    p1 = sum(multivariate_normal((c[0], c[1] + 1.5), cov).pdf(X) for c in below)
    assert_allclose(gauss_snake_proba(X, **SNAKE), p1 / (p0 + p1), rtol=1e-9)


def test_snake_probability_far_away_and_on_the_boundary():
    # Between a centre of one class and its twin of the other nothing prefers either, if alone.
    assert_allclose(gauss_snake_proba([[0.0, 1.0]], n_gaussians=1), 0.5)
    far = gauss_snake_proba([[0.0, 1e4], [0.0, -1e4]])
    assert_array_equal(far, [1.0, 0.0])


@pytest.mark.parametrize("arguments", [{}, SNAKE], ids=["default", "other"])
def test_snake_labels_follow_their_probability(arguments):
    X, y = make_gauss_snake(20_000, random_state=0, **arguments)
    assert X.shape == (20_000, 2) and set(y) == {0, 1}
    p = gauss_snake_proba(X, **arguments)
    for low, high in pairwise(np.linspace(0, 1, 6)):
        there = (p >= low) & (p <= high)
        error = np.sqrt((p * (1 - p))[there].mean() / there.sum())
        assert there.sum() > 100
        assert abs(y[there].mean() - p[there].mean()) < 4 * error


def test_snake_moments():
    X, y = make_gauss_snake(20_000, random_state=1, **SNAKE)
    assert_allclose(X[y == 0].mean(axis=0), [1.5, 0.4], atol=0.04)
    assert_allclose(X[y == 1].mean(axis=0), [1.5, 1.9], atol=0.04)
    # Centres 0 to 3 and two heights, and the Gaussians around them.
    assert_allclose(X[y == 0].var(axis=0), [1.25 + 0.36, 0.16 + 0.09], rtol=0.05)


def test_snake_seed_and_one_sample():
    first, again, other = (make_gauss_snake(50, random_state=seed) for seed in (3, 3, 4))
    assert_array_equal(first[0], again[0])
    assert_array_equal(first[1], again[1])
    assert np.any(first[0] != other[0])
    assert make_gauss_snake(1, random_state=0)[0].shape == (1, 2)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_samples": 0}, "n_samples must be a whole number >= 1, got 0"),
        ({"n_gaussians": 2.5}, "n_gaussians must be a whole number >= 1, got 2.5"),
        ({"separation": np.inf}, "separation must be a finite number, got inf"),
        ({"wiggle": "much"}, "wiggle must be a finite number, got 'much'"),
        ({"width": 0.0}, "width must be a positive number or two of them, got 0.0"),
        ({"width": "wide"}, "width must be a positive number or two of them, got 'wide'"),
        ({"width": (1.0, 2.0, 3.0)}, "width must be a positive number or two of them"),
    ],
)
def test_snake_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_gauss_snake(**arguments)


def test_snake_probability_needs_two_columns():
    with pytest.raises(ValueError, match=r"X must have two columns.* got shape \(3, 1\)"):
        gauss_snake_proba(np.zeros((3, 1)))
