"""Sums over the samples in their place, and products that are formed once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from sparsebayes.engine import Dense, Exact, Flat, Gaussian, InTurns, Sequential, Smoothness, run
from sparsebayes.engine.model.design import Lazy
from sparsebayes.engine.model.gram import Crossed
from sparsebayes.engine.model.sums import Sums

Array = np.ndarray


def bumps(n_rows: int, n_functions: int, width: float = 0.05) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 1.0, n_rows))
    columns = np.exp(-0.5 * ((x[:, None] - np.linspace(0, 1, n_functions)) / width) ** 2)
    y = np.sin(12.0 * x) + 0.1 * rng.standard_normal(n_rows)
    return columns, y


def fitted(problem, tol: float = 0.01):
    return run(Sequential(), problem, max_iter=5000, tol=tol, rng=np.random.default_rng(0))


@pytest.mark.sampled
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_sums_give_the_fit_of_the_samples(shift: float) -> None:
    columns, y = bumps(1500, 60)
    weights = np.random.default_rng(1).integers(1, 4, 1500).astype(float)
    mean = np.average(y, weights=weights)
    rows = fitted(Exact(Dense(columns), Flat(), Gaussian(y - mean, weights)))
    parts = [slice(0, 300), slice(300, 1000), slice(1000, 1500)]
    first, *others = (Sums.of(columns[p], y[p, None] + shift, weights[p]) for p in parts)
    sums = first + (others[0] + others[1])
    problem = Exact(sums.design(), Flat(), sums.sites(sums.offset))
    found = fitted(problem)
    assert sorted(found.state.active) == sorted(rows.state.active)
    assert found.state.evidence == pytest.approx(rows.state.evidence, rel=1e-9)
    values = columns[:, found.state.active] @ found.state.mean
    expected = columns[:, rows.state.active] @ rows.state.mean
    assert np.abs(values - expected).max() < 1e-7
    assert sums.offset[0] - shift == pytest.approx(mean, abs=1e-9)


def test_addition_is_associative_and_subtraction_undoes_it() -> None:
    columns, y = bumps(90, 7)
    targets = np.column_stack([y, 3.0 * y + 1e5])
    weights = np.linspace(0.5, 2.0, 90)
    a, b, c = (Sums.of(columns[i::3], targets[i::3], weights[i::3]) for i in range(3))
    whole = Sums.of(columns, targets, weights).centred()
    for found in ((a + b) + c, a + (b + c), c + a + b, (a + b + c + b) - b):
        found = found.centred()
        assert found.n_rows == 90 and found.count == pytest.approx(whole.count)
        for name in ("shift", "squares", "masses", "moments", "gram"):
            assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-8)
    again = pickle.loads(pickle.dumps(a + b + c))
    assert np.array_equal(again.gram, (a + b + c).gram)


def test_several_targets_take_their_levels_in_turns() -> None:
    columns, y = bumps(800, 40)
    noise = np.random.default_rng(2).standard_normal((800, 2)) * [0.05, 1.0]
    targets = np.column_stack([y, 5.0 * np.cos(3.0 * y)]) + noise
    targets -= targets.mean(axis=0)
    levels = np.sqrt((targets**2).mean(axis=0))
    levels /= np.exp(np.log(levels).mean())
    ones = np.ones(800)
    rows = Exact(Dense(columns), Flat(), Gaussian(targets / levels, ones, levels=levels))
    sums = Sums.of(columns, targets, ones)
    summed = Exact(sums.design(), Flat(), sums.sites(np.zeros(2), np.arange(2), levels=levels))
    ends = [
        run(InTurns(Sequential()), one, max_iter=5000, tol=0.01, rng=np.random.default_rng(0))
        for one in (rows, summed)
    ]
    assert ends[0].state.evidence == pytest.approx(ends[1].state.evidence, rel=1e-8)
    assert ends[0].problem.sites.levels == pytest.approx(ends[1].problem.sites.levels, rel=1e-6)


def test_sums_have_no_samples_and_say_so() -> None:
    columns, y = bumps(50, 5)
    sums = Sums.of(columns, y[:, None], np.ones(50))
    problem = Exact(sums.design(), Flat(), sums.sites(sums.offset))
    state = problem.evaluate(np.arange(2), np.ones(2), 1.0)
    with pytest.raises(TypeError, match="before the sums are formed"):
        problem.derivatives(state)


def test_sums_know_equal_functions() -> None:
    columns, y = bumps(50, 5)
    sums = Sums.of(columns[:, [0, 1, 1, 2, 0]], y[:, None], np.ones(50))
    problem = Exact(sums.design(), Flat(), sums.sites(sums.offset))
    assert problem.distinct().tolist() == [0, 1, 3]


@pytest.mark.parametrize("weights", [None, "some"])
def test_cross_is_the_product_of_columns(weights: str | None) -> None:
    columns, _ = bumps(30, 6)
    some = None if weights is None else np.linspace(0.0, 2.0, 30)
    a, b = np.array([4, 0]), np.array([1, 2, 4])
    weighted = columns if some is None else columns * some[:, None]
    whole = weighted.T @ columns
    lazy = Lazy(lambda index: columns[:, index], (30, 6), 1 << 20)
    for design in (Dense(columns), Crossed(columns), lazy):
        assert design.cross(a, b, some) == pytest.approx(whole[np.ix_(a, b)], rel=1e-12)
        assert design.cross(a, None, some) == pytest.approx(whole[a], rel=1e-12)
    crossed = Crossed(columns)
    crossed.cross(a, b, None)
    other = np.arange(30.0)
    assert crossed.cross(a, b, other) == pytest.approx((columns.T * other @ columns)[np.ix_(a, b)])


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.03, 0.4])  # wide functions ask for more digits than products
@pytest.mark.parametrize("prior", [Flat(), Smoothness(1.0)])
def test_products_formed_once_change_nothing(width: float, prior) -> None:
    columns, y = bumps(2400, 100, width)
    z, ones = y - y.mean(), np.ones(2400)
    found = Exact(Dense(columns), prior, Gaussian(z, ones))
    assert isinstance(found.design, Crossed)
    plain = Exact(Dense(columns), prior, Gaussian(z, ones))
    plain.design = Dense(columns)
    ends = [fitted(one).state for one in (found, plain)]
    assert sorted(ends[0].active) == sorted(ends[1].active)
    values = [columns[:, end.active] @ end.mean for end in ends]
    assert np.abs(values[0] - values[1]).max() < 1e-7
    assert ends[0].evidence == pytest.approx(ends[1].evidence, abs=1e-5)


def test_few_samples_keep_their_rows() -> None:
    columns, y = bumps(1999, 20)
    assert not isinstance(Exact(Dense(columns), Flat(), Gaussian(y, np.ones(1999))).design, Crossed)
    columns, y = bumps(2000, 501)
    assert not isinstance(Exact(Dense(columns), Flat(), Gaussian(y, np.ones(2000))).design, Crossed)


def test_squares_of_equal_targets_are_not_negative() -> None:
    rng = np.random.default_rng(0)
    below = []
    for n_rows in range(3, 40):
        value = np.full((n_rows, 1), rng.standard_normal())
        parts = [
            Sums.of(rng.standard_normal((n_rows, 2)), value, rng.uniform(0.1, 1.0, n_rows))
            for _ in range(2)
        ]
        sums = parts[0] + parts[1]
        below.append(sums.centred().squares[0] < 0.0)  # by rounding
        assert sums.sites(sums.offset).squares[0] >= 0.0
    assert any(below)
