"""Regression on rows that come in chunks."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import RVR, Statistics, StudentT, persistence
from sparsebayes.basis import RBF, Bias
from sparsebayes.datasets import make_friedman1
from sparsebayes.rows.sample import SAMPLE

Array = np.ndarray
CLASSICAL = {"adapt": None, "calibrate": None}


@pytest.fixture(scope="module")
def wave() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (12_000, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(len(X))


def points() -> Array:
    return np.random.default_rng(1).uniform(-3, 3, (60, 2))


def parts(X: Array, *others: Array, size: int = 1700) -> list[tuple[Array, ...]]:
    starts = range(0, len(X), size)
    return [tuple(one[i : i + size] for one in (X, *others)) for i in starts]


def same(model: RVR, other: RVR, X: Array, tol: float = 1e-8) -> None:
    assert np.array_equal(model.relevance_, other.relevance_)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-9)
    found, expected = (one.predict(X[:200], return_std=True) for one in (model, other))
    assert np.array(found) == pytest.approx(np.array(expected), abs=tol)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rows", "noise"),
    [
        (1000, 0.04),
        (12_000, "estimate"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [(1000, "estimate"), (12_000, 0.04)]
        ),
    ],
)
def test_ten_parts_are_the_whole(wave, n_rows, noise) -> None:
    X, y = wave[0][:n_rows], wave[1][:n_rows]
    model = RVR(RBF(0.9, centres=points()), noise=noise, **CLASSICAL)
    whole = clone(model).fit(X, y)
    for k in range(10):
        model.partial_fit(X[k::10], y[k::10])
    assert model.approximation_ == f"sums over all {n_rows} rows"
    same(model, whole, X)
    in_chunks = clone(model).fit(parts(X, y))
    same(in_chunks, whole, X)
    assert np.array_equal(model.inside(X * 1.2), whole.inside(X * 1.2))
    assert model.feature_importances_ == pytest.approx(whole.feature_importances_, abs=0.05)


@pytest.mark.slow
def test_weights_and_several_targets(wave) -> None:
    X, y = wave
    weights = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
    both = np.column_stack([y, 5.0 - 3.0 * y + X[:, 1] ** 2])
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL)
    whole = clone(model).fit(X, both, weights)
    same(clone(model).fit(parts(X, both, weights)), whole, X, 1e-6)
    for part in parts(X, both, weights, size=4000):
        model.partial_fit(*part)
    same(model, whole, X, 1e-6)


def test_sums_of_parts_in_any_order_and_from_elsewhere(wave) -> None:
    X, y = wave
    basis = Bias() + RBF(0.9, centres=points())
    sums = [Statistics(basis).update(*part) for part in parts(X, y)]
    order = np.random.default_rng(0).permutation(len(sums))
    total = pickle.loads(pickle.dumps(sums[order[0]]))
    for k in order[1:]:
        total = total + pickle.loads(pickle.dumps(sums[k]))
    whole = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(X, y)
    found = RVR(**CLASSICAL).fit_statistics(total)
    same(found, whole, X)
    assert np.array_equal(total.input_range, [X.min(axis=0), X.max(axis=0)])
    with pytest.raises(TypeError, match="fit takes rows"):
        RVR().fit_statistics(X)


@pytest.mark.slow
def test_sums_are_stored_and_merged(wave, tmp_path) -> None:
    X, y = wave
    basis = Bias() + RBF(0.9, centres=points())
    for number, part in enumerate(parts(X, y, size=6000)):
        persistence.save(Statistics(basis).update(*part), tmp_path / str(number))
    one, other = (persistence.load(tmp_path / str(number)) for number in range(2))
    expected = Statistics(basis).update(X, y)
    total = one + other
    assert total.n_rows == 12_000 and total.gram == pytest.approx(expected.gram, rel=1e-12)
    same(RVR(**CLASSICAL).fit_statistics(total), RVR(**CLASSICAL).fit_statistics(expected), X)
    with pytest.raises(persistence.ModelFileError, match="sums over rows and no model"):
        persistence.load_record(tmp_path / "0")
    with pytest.raises(ValueError, match="no samples yet"):
        persistence.dumps(Statistics(basis))
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL).partial_fit(X[:6000], y[:6000])
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model").partial_fit(X[6000:], y[6000:])
    same(again, RVR(**CLASSICAL).fit_statistics(expected), X)


@pytest.mark.slow
def test_the_default_is_the_same_in_memory_mapped_and_in_chunks(tmp_path) -> None:
    X, y, f = make_friedman1(14_000, random_state=0)
    whole = RVR().fit(X, y)
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    model = RVR().fit(mapped, y)
    same(model, whole, X, np.inf)  # error bars are told by other rows
    assert np.array_equal(model.weights_, whole.weights_)
    assert model.approximation_ == whole.approximation_
    assert model.calibration_ == pytest.approx(whole.calibration_, rel=0.05)
    mean, std = model.predict(mapped, return_std=True)
    assert np.array_equal(mean, model.predict(X))
    assert np.mean(np.abs(y - mean) < 1.96 * std) == pytest.approx(0.95, abs=0.01)
    again = RVR().fit(parts(X, y))
    # The last digits of the sums are others, and where a search ends hangs on them.
    assert again.length_scale_ == pytest.approx(whole.length_scale_)
    assert again.log_evidence_ == pytest.approx(whole.log_evidence_, abs=25.0)
    assert np.sqrt(np.mean((again.predict(X) - f) ** 2)) < 0.15


@pytest.mark.slow
def test_single_precision_is_read_as_it_is(wave, tmp_path) -> None:
    X, y = wave
    mapped = np.memmap(tmp_path / "X", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL)
    y = y.astype(np.float32)
    expected = clone(model).fit(np.asarray(mapped, dtype=np.float64), y)
    same(model.fit(mapped, y), expected, X)


@pytest.mark.slow
def test_a_generator_is_read_once(wave) -> None:
    X, y = wave
    given = parts(X, y)
    model = RVR(RBF(centres=80), calibrate=None).fit(part for part in given)
    assert model.approximation_.endswith("sums over all 12000 rows")
    assert np.mean((model.predict(X) - y) ** 2) == pytest.approx(0.04, rel=0.05)
    given = parts(X, y, size=600)
    few = RVR(RBF(0.9), **CLASSICAL).fit(part for part in given[:2])
    expected = RVR(RBF(0.9), **CLASSICAL).fit(X[:1200], y[:1200])
    assert few.approximation_ is None and np.array_equal(few.predict(X), expected.predict(X))


@pytest.mark.slow
def test_the_first_part_chooses_the_functions(wave) -> None:
    X, y = wave
    model = RVR().partial_fit(X[:2000], y[:2000])
    scales = model.length_scale_
    assert "1000 centres" in model.approximation_
    for part in parts(X[2000:], y[2000:], size=5000):
        model.partial_fit(*part)
    assert np.array_equal(model.length_scale_, scales)
    assert len(model._statistics[0].sample.X) == SAMPLE
    mean, std = model.predict(X, return_std=True)
    assert np.mean(np.abs(y - mean) < 1.96 * std) == pytest.approx(0.95, abs=0.01)
    assert model.fit(X[:100], y[:100]).approximation_ is None  # begins anew
    assert "1000 rows" in model.partial_fit(X[:1000], y[:1000]).approximation_


@pytest.mark.slow
def test_a_part_that_is_refused_leaves_the_model_as_it_was(wave) -> None:
    X, y = wave
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL).partial_fit(X[:2000], y[:2000])
    before = model.log_evidence_
    for bad, match in [
        ((X[:50, :1], y[:50]), "expecting 2 features"),
        (([(X[:50, :1], y[:50])],), "X has 1 features"),
        ((X[:50], np.full(50, np.nan)), "NaN"),
        ((X[:50], np.column_stack([y[:50]] * 2)), "do not add up"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.partial_fit(*bad)
        assert model.log_evidence_ == before and "2000 rows" in model.approximation_
    model.partial_fit(X[2000:4000], y[2000:4000])
    assert "4000 rows" in model.approximation_


@pytest.mark.parametrize(
    "options",
    [{"augment": True}, {"noise": "student"}, {"noise": StudentT()}, {"noise": "varying"}],
)
def test_what_needs_the_rows_says_so(wave, options) -> None:
    X, y = wave
    model = RVR(RBF(0.9, centres=points()), **options)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute") as raised:
        model.fit_statistics(None)
    assert "in memory" in str(raised.value.__cause__)
    with pytest.raises(ValueError, match="in memory"):
        model.fit(parts(X, y))


def test_folds_of_row_numbers_need_the_rows(wave) -> None:
    X, y = wave
    model = RVR(RBF(0.9, centres=points()), calibrate=[(np.arange(10), np.arange(10, 20))])
    with pytest.raises(ValueError, match="number of folds"):
        model.fit(parts(X, y))


@pytest.mark.slow
def test_error_bars_of_chunks_cover(wave) -> None:
    X, y = wave
    model = RVR(RBF(0.9, centres=points()), adapt=None).fit(parts(X, y))
    other = RVR(RBF(0.9, centres=points()), adapt=None).fit(X, y)
    assert model.calibration_ == pytest.approx(other.calibration_, rel=0.05)
    mean, std = model.predict(X, return_std=True)
    assert np.mean(np.abs(y - mean) < 1.96 * std) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("n_rows", [100, 12_000])
def test_names_of_inputs_come_with_the_chunks(wave, n_rows) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(wave[0][:n_rows], columns=["a", "b"]), wave[1][:n_rows]
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit([(X[:60], y[:60]), (X[60:], y[60:])])
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_wrong_calls() -> None:
    X, y = np.zeros((10, 1)), np.zeros(10)
    with pytest.raises(ValueError, match="requires y"):
        RVR().fit(X)
    with pytest.raises(ValueError, match="comes with its chunk"):
        RVR().fit([(X, y)], None, y)
    with pytest.raises(ValueError, match="at least one chunk"):
        RVR().fit(iter([]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert RVR().fit([(X, y)]).predict([[0.0]]) == pytest.approx([0.0])
