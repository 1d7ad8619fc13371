"""The parts of the benchmarks that need no other package: splits and tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import defaults, inputs, sampling, stall, uncertainty
from benchmarks.tools import splits


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
    split = splits.stored("uci_yacht").make(1)
    assert_array_equal(split.y_test, y[10:20])
    assert_array_equal(split.X, np.delete(X, np.arange(10, 20), axis=0))
    assert len(split.y) == 50


def test_parts_of_kin40k_are_disjoint_and_run_out(data):
    _, y = data
    source = splits.kin40k(10, 15)
    first, second = source.make(0), source.make(1)
    assert_array_equal(first.y, y[:10])
    assert_array_equal(second.y_test, y[45:60])
    with pytest.raises(IndexError, match="no split 2 of 10 and 15"):
        source.make(2)


def test_random_splits_differ_and_share_no_row():
    made = [splits.RAW_CLASSIFICATIONS[1].make(k) for k in (0, 1, 0)]
    assert_array_equal(made[0].X_test, made[2].X_test)
    assert not np.array_equal(made[0].X_test, made[1].X_test)
    assert len(made[0].y) + len(made[0].y_test) == 178


def test_standardised_by_the_training_rows():
    split = uncertainty.standardised(splits.FRIEDMAN.make(0))
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_one_variant_is_fitted_and_described(kind):
    source = splits.REGRESSIONS[0] if kind == "regression" else splits.RAW_CLASSIFICATIONS[1]
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


@pytest.mark.slow
def test_moments_agree_with_the_draws_they_are_timed_against(monkeypatch):
    monkeypatch.setattr(inputs, "MODELS", {"process": inputs.process})
    records = dict(inputs.run("moments", quick=True))
    ((key, record),) = records.items()
    assert key == "process/100/2" and record["apart"] < 5.0 and record["draws"] > 1000
    page = "\n".join(inputs.section({"moments": records}))
    assert "## Uncertain inputs" in page and "| process |" in page


@pytest.mark.slow
def test_samplers_and_fronts_are_timed():
    results = {name: dict(sampling.run(name, quick=True)) for name in sampling.SECTIONS}
    record = results["samplers"]["64"]
    assert 2 < record["functions"] < 64 and record["gibbs"]["ess"] > 2
    assert results["fronts"]["125"]["points"] > 10
    page = "\n".join(sampling.section(results))
    assert "### Samplers" in page and "| 64 " in page and "| 125 " in page


def test_noisy_inputs_are_off_and_outputs_are_not():
    X, y, X_test, y_test = inputs.noisy_sinc(2000, 0)
    clean = np.linspace(-10, 10, 2000)
    assert_allclose(np.std(X[:, 0] - clean), 1.0, rtol=0.1)
    assert_allclose(np.std(y - np.sinc(clean / np.pi)), 0.05, rtol=0.1)
    assert_allclose(np.std(y_test - np.sinc(X_test[:, 0] / np.pi)), 0.05, rtol=0.1)


def test_draws_go_on_from_what_is_stored(monkeypatch):
    seen = []

    def shortfall(task, prior):
        seen.append((task, prior))
        return float(task), 1.0 + task

    monkeypatch.setattr(stall, "_shortfall", shortfall)
    monkeypatch.setattr(stall, "PROBLEMS", {"some": lambda draw: draw})
    monkeypatch.setattr(stall, "PRIORS", {"flat": "flat"})
    monkeypatch.setattr(stall, "EVERY", 2)
    records = [record for _, record in stall.run_draws(False, 3)]
    assert [record["draws"] for record in records] == [2, 3]
    last = records[-1]
    assert (last["below"], last["worst"], last["middle"], last["fit"]) == (1, 2.0, 1.0, 2.0)
    seen.clear()
    ((key, more),) = stall.run_draws(False, 4, None, {"some/flat": records[0]})
    assert seen == [(2, "flat"), (3, "flat")]
    assert key == "some/flat" and more["shortfalls"] == [0.0, 1.0, 2.0, 3.0]
    *_, row = stall.draws_to_markdown({key: more}).splitlines()
    assert row.replace(" ", "") == "|some|flat|4|2|3.00|1.50|2.50|"
