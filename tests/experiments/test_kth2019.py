"""The regression experiment of KTH19, its parts and a small run."""

import json

import numpy as np
import pytest

from experiments.__main__ import main
from experiments._classification import Score
from experiments.kth2019 import _figures, _tables, _updates, classification, regression
from sparsebayes.basis import RBF
from tests.experiments.records import numbers

ALL = (*regression.MACHINES, *_tables.OTHER_STOPS)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Small sets under the names of the real ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez(tmp_path / "boston.npz", X=X, y=20 + X[:, 0])
    y = np.where(X.sum(axis=1) + 0.3 * rng.normal(size=60) > 0, 1, -1)
    rows = np.arange(60)[None]
    parts = {"X": X, "y": y, "train_idx": rows[:, :40], "test_idx": rows[:, 40:]}
    np.savez(tmp_path / "raetsch_banana.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(regression, "QUICK_ROWS", 40)


def test_folds_are_in_order_and_machines_are_those_of_the_tables():
    task = regression.TASKS[0]
    scores = {name: regression.one(task, name, 0, 0, False) for name in regression.MACHINES}
    X, y = regression.load(task, 0)
    assert len(X) == task.size
    expected = regression.make("SVM").fit(X[6:], y[6:])
    error = np.mean((expected.predict(X[:6]) - y[:6]) ** 2)
    np.testing.assert_allclose(scores["SVM"].error, error)
    assert scores["RVM"].vectors == scores["RVM*"].vectors < scores["SVM"].vectors
    kernel = RBF(_tables.SVM_LENGTH_SCALE).fit(X).columns(X[:1])[0]
    np.testing.assert_allclose(kernel, np.exp(-regression.GAMMA * (X[:, 0] - X[0, 0]) ** 2))


def test_a_copied_row_and_times_of_another_computer_are_not_compared():
    report = regression.Report("")
    score = {name: [regression.Score(1.0, 2, 3.0)] for name in ALL}
    for task in regression.TASKS:
        if task.name in ("Friedman 2", "Friedman 3"):
            regression._add(report, task, score)
    compared = {value.name for value in report.values if value.verdict}
    assert {"Friedman 2, SVM: MSE", "Friedman 2, SVM: vectors"} <= compared
    assert not any("Friedman 3" in name or "fit time" in name for name in compared)


def test_a_misprint_and_what_a_choice_was_made_by_are_not_compared():
    report = regression.Report("")
    score = {name: [regression.Score(1.0, 2, 3.0)] for name in ALL}
    for task in regression.TASKS:
        if task.name in ("sinc", "Airfoil"):
            regression._add(report, task, score)
    compared = {value.name for value in report.values if value.verdict}
    assert {"Airfoil, RVMF: MSE", "Airfoil, RVM: MSE", "sinc, RVM: vectors"} <= compared
    left = {"Airfoil, SVM: vectors", "Airfoil, RVM: vectors", "sinc, SVM: vectors"}
    left |= {f"{name}, RVMF: vectors" for name in ("sinc", "Airfoil")}
    assert not left & compared


def test_made_up_data_and_what_chose_the_kernel_are_not_compared():
    report = classification.Report("")
    names = (*classification.MACHINES, *_tables.OTHER_STOPS)
    score = {name: [Score(1.0, 2, 2, seconds=3.0)] for name in names}
    for task in classification.TASKS:
        if task.name in ("linear", "Waveform"):
            classification._add(report, task, score)
    compared = {value.name for value in report.values if value.verdict}
    assert {"Waveform, RVM: vectors", "Waveform, RVMF: error"} <= compared
    assert "Waveform, RVM: error" not in compared
    assert not any("linear" in name for name in compared)


def test_misses_of_the_reading_are_named():
    report = regression.Report("", row="KTH19 Table 1")
    report.add("a, RVM: MSE", 1.0, 1.05, best="low")
    report.add("b, RVMF: vectors", 10.0, 20.0, best="low")
    report.add("c, RVM: vectors", 10.0, 2.0, best="low")
    report.add("d, SVM: vectors", 10.0, 20.0, best="low")
    report.add("e, RVM: vectors", "10 (fitted)", 20.0, best="low")
    _tables.name_misses(report, "regression")
    (note,) = report.notes
    assert "agree: a, RVM: MSE. " in note and "either: c, RVM: vectors. " in note
    assert note.endswith("Missed: b, RVMF: vectors.")


def test_the_printed_updates_end_near_our_optimum():
    X, y = _figures.cosine(0, 40, reach=5.0)
    assert np.allclose(3 * X, _figures.cosine(0, 40)[0])
    path = [update.vectors for update in _updates.left(RBF(0.5), X, y)]
    assert path[0] == 40 and np.all(np.diff(path) <= 0)
    ours = len(_figures.fit_cosine(X, y, 0.5).relevance_vectors_)
    assert abs(path[-1] - ours) <= 2
    early, late, stopped = _updates.counts(RBF(0.5), X, y, (5, 10**6))
    assert early == path[4] and early > late == stopped >= path[-1]
    assert _updates.end(RBF(0.5), X, y).vectors == stopped
    by_stop = _updates.vectors_by_stop(RBF(0.5), X, y)
    assert by_stop[_updates.STOPS.index(_updates.STOP)] == stopped
    assert by_stop == sorted(by_stop, reverse=True)
    assert _updates.end(RBF(0.5), X, y, noise=0.3).sigma == pytest.approx(0.3)


def test_the_fast_one_is_sparser_if_it_stops_early():
    X, y = regression.cosine(0, 40, reach=5.0)
    stops = {"RVMF": _tables.STOP} | _tables.OTHER_STOPS
    vectors = [
        len(regression.make(name).fit(X, y).relevance_vectors_)
        for name in sorted(stops, key=stops.__getitem__)
    ]
    assert vectors == sorted(vectors, reverse=True) and vectors[0] > vectors[-1]


def test_the_stop_of_the_fast_one_is_the_nearest_of_those_tried():
    counts = {"RVMF": 10, **dict.fromkeys(_tables.OTHER_STOPS, 30)}
    score = {name: [regression.Score(1.0, count, 3.0)] for name, count in counts.items()}
    off = _tables.nearest_stop({"a": score, "b": score}, {"a": 10.0, "b": 5.0})
    assert list(off) == sorted(off) and min(off, key=off.__getitem__) == _tables.STOP
    np.testing.assert_allclose(off[_tables.STOP], 0.5 * np.log(10.5 / 5.5))


def test_one_climb_ends_where_no_step_gains():
    X, y = regression.cosine(0, 40, reach=5.0)
    model = regression.make("RVMF, gains of 0.01 nats").fit(X, y)
    assert model.converged_
    assert np.all(np.diff(model.evidence_path_) >= 0)
    assert model.log_evidence_ == pytest.approx(
        regression.make("RVM").fit(X, y).log_evidence_, abs=3
    )


@pytest.mark.slow
def test_small_run_has_all_figures(data, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    name = "kth2019.regression"
    folder = tmp_path / "r"
    assert main([name, "--quick", "--repetitions", "1", "--results", str(folder)]) == 0
    found = numbers(folder, name)
    assert "Airfoil: left out, the data are missing." in capsys.readouterr().out
    assert np.isfinite(list(found.values())).all()
    assert found["RVM*: mean std far away"] > 2 * found["RVM: mean std far away"]
    record = json.loads((folder / f"{name}.json").read_text("utf-8"))
    assert list(record["pictures"].values()) == [[f"KTH19 Fig. {n}"] for n in (1, 2, 3)]
