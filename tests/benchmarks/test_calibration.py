"""The benchmark of the default regression: splits, scores, resumed runs, tables and limits."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

from benchmarks.calibration import cost, coverage, known_noise, many_inputs, page, summary
from benchmarks.peers import error_bars
from benchmarks.tools import measure
from benchmarks.tools.splits import Split


@pytest.fixture(autouse=True)
def timed_once(monkeypatch):
    monkeypatch.setattr(measure, "REPEATS", ())


@pytest.fixture
def yacht(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(50, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=50)
    np.savez(tmp_path / "uci_yacht.npz", X=X, y=y)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    return X, y


def test_a_split_is_a_permutation_by_its_number(yacht):
    _, y = yacht
    order = np.random.default_rng(3).permutation(50)
    split = coverage.make_split("yacht", 300, 3)
    assert split.X.shape == (40, 2) and split.X_test.shape == (10, 2)  # four fifths
    assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose([split.y.mean(), split.y.std()], [0, 1], atol=1e-12)
    mean, std = y[order[:40]].mean(), y[order[:40]].std()
    assert_allclose(split.y_test, (y[order[40:]] - mean) / std)
    assert_array_equal(coverage.make_split("yacht", 20, 3).y_test.shape, (30,))


def test_plan_of_a_full_run_and_of_parts():
    every = list(coverage.plan(quick=False))
    assert len(every) == len(set(every)) == 15 * 5 + 6 * 3
    assert list(coverage.plan(True)) == [("yacht", 300, 0), ("kin8nm", 300, 0)]
    some = list(coverage.plan(False, 2, 1000, None, ["sml", "boston"]))
    assert some == [("sml", 1000, 0), ("sml", 1000, 1)]
    assert list(coverage.plan(False, number=4, only=["boston"])) == [("boston", 300, 4)]


def test_thirds_are_those_of_the_predicted_bars():
    std = np.array([3.0, 1.0, 2.0, 3.1, 1.1, 2.1])
    y = np.array([9.0, 0.0, 9.0, 0.0, 0.0, 9.0])
    assert coverage.thirds(y, np.zeros(6), std) == [1.0, 0.0, 0.5]
    assert coverage.thirds(y, np.zeros(6), np.ones(6)) is None


def test_constant_bar_is_that_of_held_out_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 10))
    y = X[:, 0] + rng.normal(size=30)
    model = error_bars.ConstantBar(LinearRegression()).fit(X, y)
    mean, std = model.predict(X)
    held_out = y - cross_val_predict(LinearRegression(), X, y, cv=error_bars.FOLDS)
    assert_allclose(std, held_out.std())
    assert std[0] > 1.2 * np.std(y - mean)


def line(n=40):
    X = np.linspace(-1, 1, n)[:, None]
    y = np.sin(3 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=n)
    return Split(X[::2], y[::2], X[1::2], y[1::2])


@pytest.mark.slow
def test_our_fits_are_measured():
    split = line()
    truth = np.sin(3 * split.X_test[:, 0])
    record = coverage.measured(error_bars.rvr("RVR()"), split, truth)
    assert 0 < record["error"] < 0.5 and 0 < record["rmse"] < 0.5
    assert record["file"] > 1000 and record["kept"] >= 2 and len(record["thirds"]) == 3
    assert record["fit"] > 0 and record["predict"] > 0
    ridge = coverage.measured(error_bars.bayesian_ridge(), split)
    assert ridge["file"] is None and ridge["calibration"] is None and "error" not in ridge


def test_warnings_of_a_fit_are_stored():
    import warnings

    def fit(split):
        warnings.warn("weak", RuntimeWarning, stacklevel=1)
        return error_bars.bayesian_ridge().fit(split)

    model = error_bars.Probabilistic("loud", fit, error_bars.predicted, lambda fitted: 1)
    assert coverage.measured(model, line())["warnings"] == ["RuntimeWarning"]


def named(name, calls):
    model = error_bars.bayesian_ridge()

    def fit(split):
        calls.append(name)
        return model.fit(split)

    return error_bars.Probabilistic(name, fit, model.predict, model.kept)


@pytest.mark.slow
def test_a_resumed_run_fits_only_what_is_missing(yacht):
    calls = []
    models = [named("a", calls), named("b", calls)]
    entries = [("yacht", 300, 0), ("yacht", 300, 1)]
    stored = dict(coverage.run(entries[:1], models[:1], {}, False))
    assert calls == ["a"] and stored["yacht/300/0"]["shape"] == [40, 2]
    first = stored["yacht/300/0"]["fits"]["a"]
    resumed = dict(coverage.run(entries, models, stored, True))
    assert calls == ["a", "b", "a", "b"]
    assert resumed["yacht/300/0"]["fits"]["a"] == first
    assert list(resumed["yacht/300/1"]["fits"]) == ["a", "b"]
    assert list(coverage.run(entries, models, resumed, True)) == []
    again = dict(coverage.run(entries[:1], models[:1], resumed, False))
    assert calls[-1] == "a" and set(again["yacht/300/0"]["fits"]) == {"a", "b"}


def fit(rmse=1.0, nlpd=0.0, share=0.95, kept=30, **others):
    base = {"rmse": rmse, "nlpd": nlpd, "coverage": share, "kept": kept, "thirds": [0.9, 0.95, 1.0]}
    base |= {"fit": 1.0, "predict": 0.001, "file": 5000, "calibration": 1.5, "warnings": []}
    return base | others


def records(**sets):
    """Of each set, the fits of the default in its splits; those of the process have no error."""
    return {
        f"{name}/300/{i}": {
            "name": name,
            "size": 300,
            "split": i,
            "shape": [300, 8],
            "fits": {error_bars.OURS: one, error_bars.PEER: fit(kept=300, file=None)},
        }
        for name, fits in sets.items()
        for i, one in enumerate(fits)
    }


def test_limits_of_the_default():
    found = records(
        kin8nm=[fit(share=0.87), fit(share=0.95)],
        naval=[fit(rmse=4.0, kept=150), fit(rmse=1.0, kept=150)],
        boston=[fit(share=0.84, nlpd=0.3), fit(share=0.99)],
    )
    rows = {what: (shown, met) for what, _, shown, met in summary.limits(found)}
    what = "N = 300, 3 sets: "
    assert rows[what + "coverage of a set, lowest and highest, %"] == (
        "91.0 (kin8nm) to 95.0 (naval)",
        True,
    )
    assert rows[what + "fits that cover less than 85 %, of 6"] == ("1", True)
    assert rows[what + "NLPD − GP, median"] == ("+0.000", True)
    assert rows[what + "RMSE / GP, geometric mean"] == ("1.260", False)  # 2 ** (1/3)
    assert rows[what + "RMSE / GP, largest"] == ("2.00 (naval)", False)
    assert rows[what + "functions / N, median"] == ("0.100", True)
    assert rows["N = 300, kin8nm: coverage of a fit, lowest, %"] == ("87.0", False)


def cells(text, first):
    row = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_tables_of_sets_and_models():
    found = records(boston=[fit(2.0, 0.5, 0.8), fit(2.0, 1.5, 0.9)], naval=[fit(8.0)])
    found["boston/300/1"]["fits"]["RVR()"]["warnings"] = ["RuntimeWarning"]
    text = summary.to_markdown(found)
    assert cells(text, "boston") == [
        "boston", "300 × 8", "2", "85.0", "80.0", "90", "95", "100", "2.000", "+1.00", "0.100",
        "1.50", "1",
    ]  # fmt: skip
    assert cells(text, "RVR()") == [
        "RVR()", "2.00", "4.000", "2.000", "2", "+0.50", "90.0", "85.0", "1 of 3", "0.100", "1.00",
        "1.00", "5.00",
    ]  # fmt: skip
    assert cells(text, error_bars.PEER)[1:3] == ["1.00", "1.000"]


def test_a_model_fitted_to_some_sets_has_no_rank():
    found = records(boston=[fit()], yacht=[fit()])
    found["yacht/300/0"]["fits"]["fastrvm"] = fit(kept=None)
    row = cells(summary.to_markdown(found), "fastrvm")
    assert row[1] == "–" and row[2] == "1.000" and row[9] == "–"


def test_friedman_has_unit_variance_and_the_noise_is_as_said():
    split, truth = many_inputs.make("Friedman #1", 200, 50, 0)
    assert split.X.shape == (200, 50) and len(truth) == 2000
    U = np.random.default_rng(1).random((200_000, 5))
    assert_allclose(many_inputs.friedman(U).std(), many_inputs.friedman_std(), rtol=5e-3)
    assert_allclose(truth.std(), 1.0, rtol=0.05)
    assert_allclose(np.std(split.y_test - truth), 0.3, rtol=0.05)
    split, truth = many_inputs.make("linear", 80, 300, 0)
    assert_allclose(np.linalg.lstsq(split.X_test, truth)[0][5:], 0, atol=1e-12)


@pytest.mark.slow
def test_cost_and_many_inputs_are_measured_and_printed(yacht, monkeypatch):
    monkeypatch.setattr(many_inputs, "QUICK", (("linear", 30, 40),))
    monkeypatch.setattr(cost, "WARM_UP", 20)
    options = SimpleNamespace(
        quick=True, splits=None, size=None, seed=None, data=None, models=None, resume=False
    )
    results = {name: dict(page.run(name, options, {})) for name in ("cost", "many-inputs")}
    assert set(results["cost"]["yacht/300"]["fit"]) == {error_bars.OURS, error_bars.PLAIN}
    assert results["many-inputs"]["linear/30/40"]["fits"]["BayesianRidge"][0]["error"] > 0
    text = "\n".join(page.section(results))
    assert "### What calibration costs" in text and "| linear" in text
    options.resume = True
    assert all(list(page.run(name, options, results[name])) == [] for name in results)


@pytest.mark.slow
def test_known_noise_is_measured_and_printed():
    options = SimpleNamespace(quick=True, splits=2, resume=False, data=None)
    results = {"known-noise": dict(page.run("known-noise", options, {}))}
    assert set(results["known-noise"]) == set(known_noise.FUNCTIONS)
    for record in results["known-noise"].values():
        assert np.mean(record["shares"]["auto"]) >= np.mean(record["shares"]["None"])
    text = "\n".join(page.section(results))
    assert "### Known noise" in text and "| product of waves" in text
    (found,) = known_noise.limits({"sinc": {"shares": {"auto": [0.9, 0.96]}}})
    assert found[1:] == ("92 to 98", "93.0 to 93.0", True)


def test_unknown_names_are_refused():
    options = SimpleNamespace(data="bostn", resume=False)
    with pytest.raises(SystemExit, match="no 'bostn'; there are boston, concrete"):
        list(page.run("cost", options, {}))
