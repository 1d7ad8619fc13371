"""The parts of the benchmarks that need no other package: splits and tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import _splits, defaults, uncertainty


@pytest.fixture
def data(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    test = np.arange(40).reshape(4, 10).astype(np.uint16)
    np.savez(tmp_path / "uci_yacht.npz", X=X, y=y, test_idx=test)
    np.savez(tmp_path / "kin40k.npz", X_train=X[:30], y_train=y[:30], X_test=X[30:], y_test=y[30:])
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    return X, y


def test_stored_split_leaves_the_other_rows_to_learn_from(data):
    X, y = data
    split = _splits.stored("uci_yacht").make(1)
    assert_array_equal(split.y_test, y[10:20])
    assert_array_equal(split.X, np.delete(X, np.arange(10, 20), axis=0))
    assert len(split.y) == 50


def test_parts_of_kin40k_are_disjoint_and_run_out(data):
    _, y = data
    source = _splits.kin40k(10, 15)
    first, second = source.make(0), source.make(1)
    assert_array_equal(first.y, y[:10])
    assert_array_equal(second.y_test, y[45:60])
    with pytest.raises(IndexError, match="no split 2 of 10 and 15"):
        source.make(2)


def test_random_splits_differ_and_share_no_row():
    splits = [_splits.RAW_CLASSIFICATIONS[1].make(k) for k in (0, 1, 0)]
    assert_array_equal(splits[0].X_test, splits[2].X_test)
    assert not np.array_equal(splits[0].X_test, splits[1].X_test)
    assert len(splits[0].y) + len(splits[0].y_test) == 178


def test_standardised_by_the_training_rows():
    split = uncertainty.standardised(_splits.FRIEDMAN.make(0))
    assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(split.X.std(axis=0), 1)
    assert abs(split.X_test.mean()) > 1e-4


def record(kind="regression", **ratios):
    """Two splits, in which each variant has the given multiple of the reference's values."""
    keys = defaults.MEASURES[kind]
    fits = {name: [{key: factor for key in keys}] * 2 for name, factor in ratios.items()}
    shape = [100, 3]
    return {
        "kind": kind,
        "name": "set",
        "inputs": "raw",
        "shape": shape,
        "splits": 2,
        "fits": fits,
    }


def test_defaults_are_compared_with_the_reference():
    records = [record(none=1.0, ard=0.25), record(none=0.5, ard=0.5)]
    row = defaults.summary(records, "ard")
    # geometric mean of 1/4 and 1; smaller once; median of −0.75 and 0
    assert row == ("ard", "0.500", "1 of 2", "−0.38", "0.500", "37.5")
    assert defaults.summary(records, "none")[1] == "1.000"


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_one_variant_is_fitted_and_described(kind):
    source = _splits.REGRESSIONS[0] if kind == "regression" else _splits.RAW_CLASSIFICATIONS[1]
    parameters = defaults.variants()["none"]
    result = defaults.one(kind, "standardised", parameters, source.make(0))
    assert set(result) == set(defaults.MEASURES[kind])
    assert result["fit"] > 0 and result["kept"] > 0
    assert result["rmse" if kind == "regression" else "error"] < 0.2


def test_models_are_compared_with_the_peer():
    keys = ("fit", "predict", "kept", "rmse", "nlpd", "crps", "coverage")
    ours, peer = dict.fromkeys(keys, 0.5), dict.fromkeys(keys, 2.0)
    result = {"shape": [10, 2], "splits": 1, "fits": {"RVR": [ours], uncertainty.PEER: [peer]}}
    text = uncertainty.to_markdown({"set": result})
    cells = next(line for line in text.splitlines() if line.startswith("| RVR")).split("|")
    assert [cell.strip() for cell in cells[2:4]] == ["0.500", "0.250"]
    assert cells[9].strip() == "−1.50"
