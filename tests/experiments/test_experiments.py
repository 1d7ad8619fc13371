"""The runner of the experiments; the experiments themselves take minutes."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import experiments
from experiments import _classification
from experiments.__main__ import main
from experiments._report import Options, Report, number
from experiments.classification import augmented, class_average, from_svc
from experiments.quinonero2004 import subspace_mnist
from experiments.tipping2001 import classification, log_odds
from tests.experiments.records import numbers


def test_list_names_each_experiment_with_one_line(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(experiments.NAMES)
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


def test_unknown_name_is_an_error_that_lists_the_known(tmp_path, capsys):
    assert main(["tipping2001.nothing", "--results", str(tmp_path / "r")]) == 2
    streams = capsys.readouterr()
    assert "tipping2001.nothing" in streams.err and "tipping2001.sinc" in streams.err
    assert not streams.out and not (tmp_path / "r").exists()


@pytest.mark.slow
def test_tiny_run_prints_and_writes_the_same_table(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    arguments = [
        "tipping2001.sinc",
        "--quick",
        "--repetitions",
        "2",
        "--results",
        str(tmp_path / "r"),
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    names = {p.name for p in (tmp_path / "r").iterdir()}
    assert names == {
        ".units",
        *(f"tipping2001.sinc{e}" for e in (".json", "_fig1.png", "_fig2.png")),
    }
    record = json.loads((tmp_path / "r" / "tipping2001.sinc.json").read_text("utf-8"))
    assert record["quick"] and set(record["state"]) == {"sparsebayes", "module"}
    assert record["versions"]["numpy"] == np.__version__
    for value in record["values"]:
        assert value["name"] in printed
        if not isinstance(value["ours"], str):
            assert number(value["ours"]) in printed
    assert (tmp_path / "r" / "tipping2001.sinc_fig1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name",
    [
        "tipping2001.ripley",
        "tipping2001.classification",
        "quinonero2004.subspace_kin40k",
        "quinonero2004.subspace_mnist",
        "pareto.choices",
    ],
)
def test_missing_data_is_one_clear_line(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    assert main([name, "--quick", "--results", str(tmp_path / "r")]) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_row_holds_mean_standard_error_and_count():
    report = Report("title")
    report.add("a", 2.0, np.array([1.0, 2.0, 3.0]))
    assert report.values[0].cells() == ("a", "2", "2.000", "0.58", "3", "")
    assert "a |     2 | 2.000 |" in report.text().replace("-", "")


@pytest.mark.parametrize(
    ("holds", "told", "verdict", "strict"),
    [
        ([True] * 6 + [False] * 5, "holds, on 6 of 11", "agrees", "agrees"),
        ([True, False], "holds, on 1 of 2", "agrees", "short"),
        ([True] + [False] * 9, "holds, on 1 of 10", "agrees", "short"),
        ([True] + [False] * 10, "does not hold, on 1 of 11", "short", "short"),
        ([], "does not hold, on 0 of 0", "short", "short"),
    ],
)
def test_what_one_draw_shows_is_not_rare_among_ours(holds, told, verdict, strict):
    report = Report("title", row="QC04 Fig. 2.3")
    report.shown("it rises", holds)
    (value,) = report.values
    assert (value.ours, value.verdict, value.strict) == (told, verdict, strict)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0187, "0.01870"), (3505.4, "3505"), (0.0, "0"), (1.9e-6, "1.900e-06"), (-22.6, "-22.60")],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text


def test_repetitions_override_the_defaults():
    assert Options().count(100, 5) == 100
    assert Options(quick=True).count(100, 5) == 5
    assert Options(quick=True, repetitions=2).count(100, 5) == 2


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Small data under the names of the real ones, and short grids."""

    def split(name, **blobs):
        X, y = make_blobs(180, random_state=0, cluster_std=8.0, **blobs)
        X = X / 20
        parts = {"X_train": X[:110], "y_train": y[:110], "X_test": X[110:], "y_test": y[110:]}
        np.savez(tmp_path / f"{name}.npz", **parts)

    split("ripley_synth", centers=2)
    split("usps", centers=4, n_features=16)
    split("mnist", centers=3, n_features=20)
    X, y = make_blobs(60, centers=2, random_state=1, cluster_std=5.0)
    rows = np.arange(60)[None]
    for name in ("banana", "german", "thyroid", "titanic", "waveform"):
        parts = {"X": X, "y": 2 * y - 1, "train_idx": rows[:, :40], "test_idx": rows[:, 40:]}
        np.savez(tmp_path / f"raetsch_{name}.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(classification, "TASKS", classification.TASKS[1:3])
    monkeypatch.setattr(subspace_mnist, "N_FUNCTIONS", 15)
    for module in (classification, subspace_mnist):
        monkeypatch.setattr(module, "WIDTHS", (2.0, 1.0))
    for module in (_classification, classification, log_odds):
        monkeypatch.setattr(module, "COSTS", (1.0,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("tipping2001.ripley", ("RVM: test error (%)", "SVM: vectors")),
        pytest.param(
            "tipping2001.classification",
            ("U.S.P.S., RVM: error (%)", "Banana, SVM: vectors"),
            marks=pytest.mark.slow,
        ),
        ("tipping2001.log_odds", ("RVM: error (%)", "SVM: negative log density")),
        pytest.param(
            "quinonero2004.subspace_mnist",
            ("SSEM: functions", "batch EM: test error (%)"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "kth2019.classification",
            ("Thyroid, RVMF: fit time", "linear, RVM: error"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_classification_experiment_on_small_data(name, rows, small, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main([name, "--quick", "--repetitions", "1", "--results", str(tmp_path / "r")]) == 0
    found = numbers(tmp_path / "r", name)
    assert set(rows) <= set(found) and np.isfinite(list(found.values())).all()
    assert (tmp_path / "r" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "left out" not in capsys.readouterr().out


@pytest.mark.slow
def test_support_vectors_beside_relevance_vectors(tmp_path, monkeypatch):
    monkeypatch.setattr(from_svc, "NAMES", ("wine",))
    arguments = ["classification.from_svc", "--repetitions", "1", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    table = numbers(tmp_path / "r", "classification.from_svc")
    assert len(table) == 21
    assert table["wine, RVC: vectors"] < 0.5 * table["wine, SVC: vectors"]
    assert table["wine, RVC: loss"] < 0.3


@pytest.mark.slow
def test_likelihoods_and_ways_to_have_three_classes(tmp_path):
    arguments = [
        "classification.likelihoods",
        "--repetitions",
        "1",
        "--results",
        str(tmp_path / "r"),
    ]
    assert main(arguments) == 0
    table = numbers(tmp_path / "r", "classification.likelihoods")
    assert len(table) == 35
    assert table["two moons, probit, tap: error (%)"] < 15.0
    shared = "gases, multinomial, shared"
    assert table[f"{shared}: weights"] == 3 * table[f"{shared}: functions"]


def test_augmented_losses_of_the_sets_that_are_there(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(augmented, "NAMES", ("banana", "heart", "ripley", "iris"))
    arguments = ["classification.augmented", "--quick", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    assert "heart: left out, the data are missing." in capsys.readouterr().out
    table = numbers(tmp_path / "r", "classification.augmented")
    assert len(table) == 3 * 4 and np.isfinite(list(table.values())).all()
    assert table["iris, augment=True: loss"] < 0.5


@pytest.mark.slow
def test_errors_of_the_average_of_a_softmax(tmp_path, monkeypatch):
    monkeypatch.setattr(class_average, "NAMES", ("iris", "gases", "4 digits"))
    monkeypatch.setattr(class_average, "CLASSES", (4,))
    monkeypatch.setattr(class_average, "SCALES", (1.0,))
    arguments = ["classification.class_average", "--quick", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    table = numbers(tmp_path / "r", "classification.class_average")
    assert len(table) == 3 * 2 * 4 + 2 + 2
    assert 0 < table["all sets: mean error"] < 6e-4 and table["all sets: largest error"] < 0.01
    assert table["made up, 4 classes, std 1: largest error"] < 0.01
    for name in ("iris", "gases, augment", "4 digits, augment"):
        assert abs(table[f"{name}: loss"] - table[f"{name}: loss by draws"]) < 2e-3


def test_calibration_error_counts_what_is_too_sure():
    probability = np.array([[0.95, 0.05]] * 10)
    labels = np.array([0] * 8 + [1] * 2)
    assert np.isclose(from_svc.calibration_error(probability, labels), 0.15)


@pytest.mark.slow
def test_sets_without_data_are_left_out_and_named(small, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "raetsch_thyroid.npz").unlink()
    arguments = ["kth2019.classification", "--repetitions", "1", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "Thyroid: left out, the data are missing." in printed
    assert "Thyroid, RVM: error" not in printed and "Titanic, RVM: error" in printed


def test_log_odds_of_the_true_classes_have_the_least_error_and_loss():
    class Truth:
        def decision_function(self, X):
            return np.where(X[:, 0] < 0.75, 1.0, -1.0)

        def predict_proba(self, X):
            own = np.where(X[:, 0] < 0.5, 1 - 1e-9, np.where(X[:, 0] > 1, 1e-9, 0.5))
            return np.stack([1 - own, own], axis=1)

    deviation, largest, _, error, loss, _ = log_odds._measure(Truth(), Truth(), 0)
    np.testing.assert_allclose([deviation, largest], 0, atol=1e-12)
    np.testing.assert_allclose([error, loss], [25, log_odds.BAYES_LOSS], atol=1e-6)
