"""Sums over many rows in their place."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from sparsebayes import RVR, Statistics, basis, sample_posterior
from sparsebayes.basis import RBF, Bias, Linear
from sparsebayes.datasets import make_friedman1
from sparsebayes.engine import Sequential, run
from sparsebayes.regression import many_rows
from tests.sweeps import thinned

Array = np.ndarray
N_ROWS = 16_000


@pytest.fixture(scope="module")
def wave() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (N_ROWS, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(N_ROWS)


def points(count: int = 80) -> Array:
    return np.random.default_rng(1).uniform(-3, 3, (count, 2))


def by_rows(monkeypatch, model: RVR, *data) -> RVR:
    with monkeypatch.context() as context:
        context.setattr("sparsebayes.regression.rvr.from_sums", lambda *_: False)
        return model.fit(*data)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["estimate", 0.04])
@pytest.mark.parametrize("calibrate", thinned([None, "auto", 3], 2))
def test_sums_give_the_model_of_the_rows(monkeypatch, wave, noise, calibrate) -> None:
    X, y = wave
    weights = np.random.default_rng(2).integers(0, 3, N_ROWS).astype(float)
    model = RVR(RBF(0.7, centres=points()), noise=noise, calibrate=calibrate)
    rows = by_rows(monkeypatch, RVR(**model.get_params(deep=False)), X, y, weights)
    model.fit(X, y, weights)
    assert rows.approximation_ is None and "sums over all" in model.approximation_
    assert np.array_equal(model.relevance_, rows.relevance_)
    assert model.log_evidence_ == pytest.approx(rows.log_evidence_, abs=1e-4)
    found, expected = (one.predict(X[:500], return_std=True) for one in (model, rows))
    assert found[0] == pytest.approx(expected[0], abs=1e-7)
    # Folds are fitted to a looser end, and rows are held with more digits there.
    assert found[1] == pytest.approx(expected[1], rel=1e-3)
    assert model.calibration_ == pytest.approx(rows.calibration_, rel=1e-3)


@pytest.mark.slow
def test_a_large_constant_changes_nothing(wave) -> None:
    X, y = wave
    model, moved = (RVR(RBF(0.7, centres=points())).fit(X, target) for target in (y, y + 1e6))
    assert np.array_equal(model.relevance_, moved.relevance_)
    assert moved.predict(X[:100]) - 1e6 == pytest.approx(model.predict(X[:100]), abs=1e-7)
    assert moved.noise_variance_ == pytest.approx(model.noise_variance_, rel=1e-7)


@pytest.mark.slow
def test_several_targets(monkeypatch, wave) -> None:
    X, y = wave
    noise = np.random.default_rng(3).standard_normal(N_ROWS)
    both = np.column_stack([y, 10.0 * np.cos(X[:, 0]) + noise, np.ones(N_ROWS)])
    model = RVR(RBF(0.7, centres=points()))
    rows = by_rows(monkeypatch, RVR(**model.get_params(deep=False)), X, both)
    model.fit(X, both)
    assert model.predict(X[:50]) == pytest.approx(rows.predict(X[:50]), abs=1e-5)
    assert model.noise_variance_ == pytest.approx(rows.noise_variance_, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("augment", thinned([2.0, "fast"]))
def test_extra_functions(monkeypatch, wave, augment) -> None:
    X, y = wave
    model = RVR(RBF(0.7, centres=points()), augment=augment, calibrate=None)
    rows = by_rows(monkeypatch, RVR(**model.get_params(deep=False)), X, y)
    model.fit(X, y)
    away = np.array([[0.0, 0.0], [9.0, 9.0]])
    found, expected = (one.predict(away, return_std=True) for one in (model, rows))
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-5, abs=1e-6)
    assert found[1][1] > 3 * found[1][0]


@pytest.mark.slow
def test_the_default_learns_scales_and_centres_from_some_rows() -> None:
    X, y, f = make_friedman1(N_ROWS, random_state=0)
    model = RVR().fit(X, y)
    assert model.approximation_.startswith("length scales from 1500 rows; 1000 centres, ")
    assert model.approximation_.endswith("kept by a fit to 1500 rows; sums over all 16000 rows")
    assert model.length_scale_[5:].min() > 3 * model.length_scale_[:3].max()
    mean, std = model.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - f) ** 2)) < 0.15
    assert np.mean(np.abs(y - mean) < 1.96 * std) == pytest.approx(0.95, abs=0.01)
    assert model.converged_ and np.all(np.diff(model.evidence_path_) >= 0)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X[:9]), model.predict(X[:9]))
    rows = {tuple(row) for row in X}
    assert all(tuple(row) in rows for row in model.relevance_vectors_)


@pytest.mark.slow
def test_samples_of_the_posterior_have_the_same_functions(wave) -> None:
    X, y = wave
    model = RVR(RBF(0.7), calibrate=None).fit(X, y)
    assert model.approximation_.startswith("1000 centres, ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few draws do not agree
        samples = sample_posterior(model, X, y, 3, n_chains=1, n_warmup=1, random_state=0)
    assert samples.predict(X[:50]) == pytest.approx(model.predict(X[:50]), abs=0.05)


def test_bases_without_centres_need_no_start(wave) -> None:
    X, y = wave
    model = RVR("linear").fit(X, y)
    assert model.approximation_ == "sums over all 16000 rows"
    assert model.coef_[1] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("noise", ["student", "varying"])
def test_noise_of_single_rows_needs_the_rows(wave, noise) -> None:
    X, y = wave
    model = RVR(RBF(1.0, centres=points(20)), noise=noise, calibrate=None, max_iter=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y).approximation_ is None


def test_constant_targets(wave) -> None:
    model = RVR(RBF(1.0, centres=points(20))).fit(wave[0], np.full(N_ROWS, 0.1))
    assert model.predict(wave[0][:3]) == pytest.approx([0.1] * 3)


def test_few_rows_have_a_function_each(wave) -> None:
    X, y = wave
    assert RVR(RBF(1.0), calibrate=None).fit(X[:100], y[:100]).approximation_ is None
    fitted = basis.RBF(1.0).fit(X[:10_000])
    plain = many_rows.Noise(None)
    assert not many_rows.from_sums(fitted, np.ones(10_000), plain)
    assert many_rows.from_sums(basis.RBF(1.0).fit(X), np.ones(N_ROWS), plain)


class TestStatistics:
    def test_parts_in_any_order(self, wave) -> None:
        X, y = wave[0][:600], wave[1][:600] + 1e6
        functions = Bias() + RBF(1.0, centres=points(30)) + Linear()
        weights = np.linspace(0.0, 2.0, 600)
        whole = Statistics(functions).update(X, y, weights)
        order = np.random.default_rng(0).permutation(600)
        a, b, c = (
            pickle.loads(pickle.dumps(Statistics(functions).update(X[i], y[i], weights[i])))
            for i in np.array_split(order, 3)
        )
        mean = np.average(y, weights=weights)
        columns = whole.basis.columns(X)
        for found in (whole, a + (b + c), (c + a) + b):
            assert found.n == pytest.approx(weights.sum())
            assert found.offset == pytest.approx(mean, abs=1e-8)
            assert found.energy == pytest.approx(weights @ (y - mean) ** 2, rel=1e-8)
            expected = columns.T @ (weights * (y - mean))
            assert found.moments == pytest.approx(expected, abs=1e-6)
            assert found.gram == pytest.approx((columns.T * weights) @ columns)
        assert (a + b + c - c).n_rows == (a + b).n_rows

    def test_several_targets(self, wave) -> None:
        X, both = wave[0][:100], np.column_stack([wave[1][:100], wave[1][100:200]])
        found = Statistics(RBF(1.0, centres=points(5))).update(X, both)
        assert found.energy == pytest.approx(100 * both.var(axis=0))
        assert found.moments.shape == (5, 2) and found.offset == pytest.approx(both.mean(axis=0))

    def test_the_engine_fits_from_them(self, wave) -> None:
        X, y = wave
        model = RVR(RBF(0.7, centres=points()), bias=False, calibrate=None).fit(X, y)
        problem = Statistics(RBF(0.7, centres=points())).update(X, y).problem()
        rng = np.random.default_rng(0)
        end = run(Sequential(), problem, max_iter=10_000, tol=0.01 * 16, rng=rng)
        assert end.state.evidence == pytest.approx(model.log_evidence_, abs=1e-4)

    def test_functions_must_not_depend_on_the_rows(self) -> None:
        for one in (RBF(1.0), RBF(1.0, centres=5), Bias() + RBF(1.0)):
            with pytest.raises(ValueError, match="centres=points"):
                Statistics(one)
        with pytest.raises(ValueError, match="as a number"):
            Statistics(RBF(centres=points()))

    def test_other_functions_do_not_add_up(self, wave) -> None:
        X, y = wave[0][:50], wave[1][:50]
        a = Statistics(RBF(1.0, centres=points(5))).update(X, y)
        for scale, count in ((2.0, 5), (1.0, 6)):
            with pytest.raises(ValueError, match="do not add up"):
                a + Statistics(RBF(scale, centres=points(count))).update(X, y)
        with pytest.raises(ValueError, match=r"call update\(X, y\)"):
            _ = Statistics(RBF(1.0, centres=points(5))).n
