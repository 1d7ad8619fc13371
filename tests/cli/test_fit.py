"""``sparsebayes fit``, and one clear line for each thing that goes wrong."""

import csv
import os
import re
import sys

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline

from sparsebayes import persistence
from sparsebayes.cli import main
from sparsebayes.datasets import load_gases, load_sensor, make_friedman1
from tests.cli.refusal import fails
from tests.cli.tables import write_csv

FAST = ["--length-scale", "30", "--folds", "0"]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_fit_reports_and_writes(folder, capsys):
    assert main(["fit", "-o", "m.skops", "--figures", "figures/new"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    model = persistence.load("m.skops")
    assert "150 rows, target response" in out
    assert re.search(rf"relevance vectors +{len(model.relevance_vectors_)}\b", out)
    assert f"{model.log_evidence_:.4f}" in out
    assert model.stop_reason_ in out
    assert re.search(r"5-fold CV +RMSE \d\.\d+, 95 % intervals cover (8[5-9]|9\d)\.\d %", out)
    assert re.search(r"length scale learned: \d+\.?\d*\n", out)
    assert out.count("\n") > 15 + len(model.weights_) - 1
    assert sorted(os.listdir()) == ["figures", "m.skops"]
    for name in ("fit.png", "evidence.png"):
        assert (folder / "figures" / "new" / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_bundled_data_are_fitted_well(folder):
    assert main(["fit", "-o", "m.skops", "--quiet", "--folds", "0"]) == 0
    model = persistence.load("m.skops")
    assert 5 <= len(model.relevance_) <= 20
    assert 1.2 < np.sqrt(model.noise_variance_) < 1.8  # made with 1.5
    sensor = load_sensor()
    assert model.score(sensor.data, sensor.target) > 0.98


def test_options_reach_the_estimator(folder, capsys):
    argv = ["fit", "-o", "m.skops", "--basis", "laplacian", "--length-scale", "40"]
    argv += ["--solver", "em", "--prior", "bic", "--noise", "2.25", "--no-bias", "--seed", "7"]
    assert main([*argv, "--folds", "0"]) == 0
    params = persistence.load("m.skops").get_params()
    assert params["basis__length_scale"] == 40
    assert (params["solver"], params["prior"], params["noise"]) == ("em", "bic", 2.25)
    assert (params["bias"], params["random_state"]) == (False, 7)
    out = capsys.readouterr().out
    assert "solver" in out and "em, prior bic, noise variance 2.25" in out and "CV" not in out


@pytest.mark.slow
def test_several_inputs_are_standardised(folder, capsys):
    X, y, _ = make_friedman1(60, random_state=0)
    rows = [",".join(map(str, row)) for row in np.column_stack([y, 1000 * X[:, :3]])]
    write(folder / "d.csv", "t,a,b,c\n" + "\n".join(rows))
    argv = ["fit", "d.csv", "--target", "t", "-o", "m.skops", "--figures", "f", "--folds", "2"]
    assert main([*argv, "--length-scale", "2"]) == 0
    assert "standardised" in capsys.readouterr().out
    record = persistence.load_record("m.skops")
    assert isinstance(record.model, Pipeline)
    assert record.feature_names == ["a", "b", "c"] and record.target_name == "t"
    assert sorted(os.listdir("f")) == ["evidence.png", "fit.png"]
    assert (
        main(["fit", "d.csv", "--target", "t", "--features", "c, a", "-o", "n.skops", *FAST]) == 0
    )
    assert persistence.load_record("n.skops").feature_names == ["c", "a"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def labelled(labels, n_rows=24):
    """A CSV text with an input x and a target y that takes these labels in turn."""
    rows = [(i + 30 * (i % len(labels)), labels[i % len(labels)]) for i in range(n_rows)]
    return "x,y\n" + "".join(f"{x},{label}\n" for x, label in rows)


@pytest.mark.slow
def test_fit_reports_a_classification(folder, capsys):
    argv = ["fit", "--task", "classification", "-o", "m.skops", "--figures", "f", "--folds", "3"]
    assert main([*argv, "--length-scale", "1"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "relevance vector classification" in out
    assert "240 rows, target gas" in out and "classification: asked for by --task" in out
    assert "ammonia: 80, ethanol: 77, methane: 83" in out
    pipeline, gases = persistence.load("m.skops"), load_gases()
    model = pipeline[-1]
    kept = dict(zip(model.classes_, np.isfinite(model.alpha_).sum(axis=1), strict=True))
    assert ", ".join(f"{label}: {n}" for label, n in kept.items()) in out
    wrong = np.sum(pipeline.predict(gases.data) != gases.target)
    loss = log_loss(gases.target, pipeline.predict_proba(gases.data))
    assert f"error {wrong / 2.4:.1f} % ({wrong} of 240), log loss {loss:.4f}" in out
    held = cross_val_predict(
        pipeline, gases.data, gases.target, method="predict_proba",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )  # fmt: skip
    wrong = np.sum(model.classes_[held.argmax(axis=1)] != gases.target)
    told = (
        f"error {wrong / 2.4:.1f} % ({wrong} of 240), log loss {log_loss(gases.target, held):.4f}"
    )
    assert re.search(rf"3-fold CV +{re.escape(told)}", out)
    assert 0.05 < wrong / 240 < 0.2
    assert sorted(os.listdir("f")) == ["evidence.png", "fit.png"]


@pytest.mark.slow
def test_learned_length_scales_and_augment(folder, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{np.sin(a)}" for a, b in rng.uniform(-3, 3, (40, 2))]
    write(folder / "d.csv", "a,b,y\n" + "\n".join(rows))
    argv = ["fit", "d.csv", "--target", "y", "-o", "m.skops", "--folds", "0"]
    assert main([*argv, "--augment"]) == 0
    told = re.search(
        r"length scale learned: (\S+), (\S+) \(of each input\)", capsys.readouterr().out
    )
    assert float(told[2]) > 5 * float(told[1])  # the second has no effect
    grown = persistence.load("m.skops").predict([[50.0, 0.0]], return_std=True)[1]
    assert main(argv) == 0
    assert grown > 5 * persistence.load("m.skops").predict([[50.0, 0.0]], return_std=True)[1]
    assert main([*argv, "--length-scale", "scale"]) == 0
    assert "learned" not in capsys.readouterr().out.split("written")[-1]
    assert persistence.load("m.skops")[-1].adapt is None


@pytest.mark.slow
def test_a_classification_tells_what_it_chose(folder, capsys):
    X, y = load_gases().data[:60], load_gases().target[:60]
    rows = [f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)]
    write(folder / "d.csv", "a,b,y\n" + "\n".join(rows))
    argv = ["fit", "d.csv", "--target", "y", "-o", "m.skops", "--folds", "0"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    model = persistence.load("m.skops")[-1]
    words = {"least_squares": "least squares", "logit": "softmax"}
    assert re.search(rf"likelihood +{words[model.link_]}.*chosen by rows held out", out)
    assert re.search(r"length scale learned: \S+, \S+ \(of each input\)", out)
    for link, told in (("logit", "softmax, laplace"), ("least_squares", "least squares\n")):
        assert main([*argv, "--link", link]) == 0
        assert re.search(rf"likelihood +{told}", capsys.readouterr().out)
        assert persistence.load("m.skops")[-1].link_ == link


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("labels", "task", "told"),
    [
        (["yes", "no"], "auto", "classification: the target holds text"),
        (["True", "False"], "auto", "classification: the target holds text"),
        (["1", "0"], "auto", "classification: .* 2 different whole numbers; --task regression"),
        (["3", "1", "2"], "auto", "classification: .* 3 different whole numbers"),
        (["1.5", "2.5"], "auto", "regression: .* 2 different numbers; --task classification"),
        ([str(k) for k in range(5)], "auto", "regression: .* 5 different whole numbers"),
        (["1", "0"], "regression", "regression: asked for by --task"),
        (["1.5", "2.5"], "classification", "classification: asked for by --task"),
    ],
)
def test_the_task_is_chosen_and_told(folder, capsys, labels, task, told):
    write(folder / "d.csv", labelled(labels))
    argv = ["fit", "d.csv", "--target", "y", "--task", task, "-o", "m.skops", *FAST]
    assert main(argv) == 0
    assert re.search(told, capsys.readouterr().out)
    assert hasattr(persistence.load("m.skops"), "classes_") == told.startswith("classification")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no"],
        ["b, c", 'quo"te', "häßlich"],
        ["true", "false"],
        ["01", "02"],
        ["+1", "-1"],
        ["1.0", "2.0"],
        ["10", "9", "-1"],
    ],
)
def test_labels_come_back_as_they_were_written(folder, capsys, labels):
    cells = ['"' + label.replace('"', '""') + '"' for label in labels]
    write(folder / "d.csv", labelled(cells))
    argv = ["fit", "d.csv", "--target", "y", "--task", "classification", "-o", "m.skops"]
    assert main([*argv, "--length-scale", "10", "--folds", "0"]) == 0
    assert main(["predict", "m.skops", "d.csv", "-o", "out.csv"]) == 0
    header, rows = rows_of("out.csv")
    assert sorted(header) == sorted(["label", *(f"p_{label}" for label in labels), "inside"])
    _, given = rows_of("d.csv")
    assert [row[0] for row in rows] == [row[1] for row in given]  # they can be told apart
    model = persistence.load("m.skops")
    X = np.array([[float(row[0])] for row in given])
    np.testing.assert_array_equal(np.array(rows)[:, 1:-1].astype(float), model.predict_proba(X))
    whole = labels == ["10", "9", "-1"]
    assert (model.classes_.dtype.kind == "i") == whole
    assert header == ["label", *(f"p_{label}" for label in model.classes_), "inside"]
    assert not whole or header[1:-1] == ["p_-1", "p_9", "p_10"]


@pytest.mark.slow
def test_options_of_a_classification_reach_the_estimator(folder, capsys):
    write(folder / "d.csv", labelled(["a", "b", "c"], n_rows=6))
    argv = ["fit", "d.csv", "--target", "y", "-o", "m.skops", "--length-scale", "10"]
    argv += ["--prior", "bic", "--class-weight", "balanced", "--folds", "0"]
    assert main([*argv, "--link", "probit", "--inference", "mean_field"]) == 0
    out = capsys.readouterr().out
    assert "probit link, mean_field inference, one model for each class, class weight" in out
    params = persistence.load("m.skops").get_params()
    assert (params["link"], params["inference"]) == ("probit", "mean_field")
    assert (params["prior"], params["class_weight"]) == ("bic", "balanced")
    write(folder / "d.csv", labelled(["a", "b", "c"], n_rows=12))
    assert main([*argv, "--multi-class", "ovr"]) == 0
    assert len(persistence.load("m.skops").estimators_) == 3
    assert main([*argv, "--share-alpha"]) == 0
    assert "classes share precisions" in capsys.readouterr().out
    assert np.ptp(persistence.load("m.skops").alpha_, axis=0).max() == 0


@pytest.mark.slow
def test_more_inputs_have_the_evidence_figure_only(folder):
    text = labelled(["u", "v"]).replace("x,y", "x,y,z,w").splitlines()
    write(
        folder / "d.csv",
        "\n".join([text[0], *(row + f",{i},{i**2}" for i, row in enumerate(text[1:]))]),
    )
    argv = ["fit", "d.csv", "--target", "y", "--figures", "f", "--folds", "0", "--quiet"]
    assert main([*argv, "--length-scale", "2"]) == 0
    assert os.listdir("f") == ["evidence.png"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["a"] * 12 + ["b"], "no cross-validation: class b has one row only"),
        (["a", "b", "c"] * 4, "no cross-validation: no class has 5 rows"),
    ],
)
def test_no_cross_validation_without_rows_enough(folder, capsys, labels, told):
    write(folder / "d.csv", labelled(labels, n_rows=len(labels)))
    assert main(["fit", "d.csv", "--target", "y", "--length-scale", "10"]) == 0
    out = capsys.readouterr().out
    assert told in out and "-fold CV" not in out


def test_a_function_without_centre_is_not_called_the_bias(folder, capsys):
    rows = [f"{x},{3 * x + 0.1 * (-1) ** x}\n" for x in range(-10, 11)]
    write(folder / "d.csv", "x,y\n" + "".join(rows))
    argv = ["fit", "d.csv", "--target", "y", "--basis", "linear", "-o", "m.skops", "--folds", "0"]
    assert main(argv) == 0
    assert list(persistence.load("m.skops").relevance_) == [1]  # 0 is the bias
    assert "bias" not in capsys.readouterr().out


def test_a_stalled_fit_says_so(folder, capsys):
    assert main(["fit", "--max-iter", "1", *FAST]) == 0
    out = capsys.readouterr().out
    assert "NOT CONVERGED" in out and "max_iter" in out


def test_a_constant_target_is_no_error(folder, capsys):
    write(folder / "d.csv", "x,y\n" + "".join(f"{i},4\n" for i in range(20)))
    assert main(["fit", "d.csv", "--target", "y", "-o", "m.skops", "--figures", "f", *FAST]) == 0
    assert "20 rows" in capsys.readouterr().out
    assert_allclose(persistence.load("m.skops").predict([[3.0], [99.0]]), 4.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "d.csv: no such file"),
        ("", "d.csv: the file is empty"),
        ("\n\n", "d.csv: the file is empty"),
        ("x,y\n", "header but no row"),
        ("x,z\n1,2\n", "no column 'y'; the columns are 'x', 'z'"),
        ("y\n1\n", "no input column besides 'y'"),
        ("x,y\n1,2\nabc,3\n", "line 3, column 'x': 'abc' is not a number"),
        ("x,y\n1,2\n\n2,nan\n", "line 4, column 'y': 'nan' is not a finite number"),
        ("x,y\n1,2\ninf,3\n", "line 3, column 'x': 'inf' is not a finite number"),
        ("x,y\n1,2\n,3\n", "line 3, column 'x': the cell is empty"),
        ("x,y\n1,2\n2,\n", "line 3, column 'y': the cell is empty; a number or a label is needed"),
        ("x,y\n1,a\n2,nan\n", "line 3, column 'y': 'nan' is not a finite number"),
        ("x,y\n1,2\n2,3\n3,N/A\n", "line 4, column 'y': 'N/A' is not a number, other cells are"),
        ("x,y\n1,a\n2,7\n3,b\n", "line 3, column 'y': '7' is a number, other .* --task class"),
        ("x,y\n1,a\n2,a\n3,a\n", "column 'y' holds one label only, 'a'"),
        ("x,y\n1,a\n2,b\n3,c\n", "column 'y': 'a' is one of 3 different labels in 3 rows"),
        ("x,y\n1,2\n1,2,3\n", "line 3 has 3 cells, the header has 2"),
        ("1,2\n3,4\n", "no column 'y'; the columns are 'c1', 'c2'"),
        ("x,x,y\n1,2,3\n", "column name 'x' occurs more than once"),
        (b"x,y\n\x81\xfe,2\n", "neither UTF-8, UTF-16 nor Windows-1252"),
    ],
)
def test_fit_refuses_bad_tables(folder, capsys, text, message):
    if isinstance(text, bytes):
        (folder / "d.csv").write_bytes(text)
    elif text is not None:
        write(folder / "d.csv", text)
    fails(
        capsys,
        ["fit", "d.csv", "--target", "y", "--missing", "error", "-o", "m.skops", "--figures", "f"],
        message,
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "name a command"),
        (["fly"], "invalid choice"),
        (["fit", "d.csv", "-o", "m"], "--target is needed: which column of 'x', 'y'"),
        (["fit", "d.csv", "--target", "y", "--features", "x,y"], "'y' is the target"),
        (["fit", "d.csv", "--target", "y", "-o", "none/m"], "no directory 'none'"),
        (["fit", "d.csv", "--target", "y", "-o", "."], "is a directory"),
        (["fit", "d.csv", "--target", "y", "-o", "d.csv"], "also an input"),
        (["fit", "d.csv", "--target", "y", "--figures", "d.csv"], "not a directory"),
        (["fit", "--basis", "linear", "--length-scale", "2"], "'linear' has no length scale"),
        (["fit", "--basis", "cubic"], "argument --basis: invalid choice: 'cubic'"),
        (["fit", "--length-scale", "-1"], "--length-scale: must be a positive number, got -1"),
        (["fit", "--noise", "low"], "--noise: must be 'estimate', .* positive number, got 'low'"),
        (["fit", "--seed", "x"], "--seed: must be a whole number"),
        (["fit", "--task", "sorting"], "argument --task: invalid choice: 'sorting'"),
        (["fit", "--link", "cauchit"], "argument --link: invalid choice: 'cauchit'"),
        (["fit", "--link", "probit"], "--link is for classification, but the task is regression"),
        (["fit", "--share-alpha"], "--share-alpha is for class.*147 different numbers; --task"),
        (["fit", "t.csv", "--target", "y", "--noise", "1"], "--noise is for regression, .* text"),
        (["fit", "t.csv", "--target", "y", "--inference", "tap"], "'tap' needs link='probit'"),
        (["fit", "t.csv", "--target", "y", "--task", "regression"], "column 'y': 'a' is not a num"),
        (["fit", "d.csv", "--target", "y", "--task", "classification"], "4 different labels in 4"),
        (["predict", "none", "d.csv"], "none: No such file"),
        (["predict", "d.csv", "d.csv"], "'d.csv' is damaged or not a model file"),
        (["predict", "MODEL", "d.csv", "-o", "o"], "no column 'temperature'"),
        (["predict", "MODEL", "text.csv", "-o", "o"], "line 2, column 'temperature': 'warm'"),
        (["predict", "MODEL", "none.csv", "-o", "o"], "none.csv: no such file"),
        (["predict", "CLASSIFIER", "c.csv", "--coverage", "0.9"], "--coverage is for regression"),
        (["predict", "CLASSIFIER", "d.csv", "-o", "o"], "no column 'film_a', 'film_b'"),
        (["predict", "MODEL", "d.csv", "--coverage", "95"], "--coverage: must lie between 0 and 1"),
        (["predict", "MODEL", "d.csv", "-o", "d.csv"], "also an input"),
        (["predict", "ridge.skops", "d.csv", "-o", "o"], "not a sparsebayes model.*Ridge"),
        (["inspect", "ridge.skops"], "not a sparsebayes model.*Ridge"),
        (["inspect", "d.csv"], "damaged or not a model file"),
    ],
)
def test_one_clear_line(folder, capsys, model_file, classifier_file, argv, message):
    write(folder / "d.csv", "x,y\n1,2\n2,3\n3,5\n4,4\n")
    write(folder / "t.csv", labelled(["a", "b"]))
    write(folder / "c.csv", "film_a,film_b\n1,2\n")
    write(folder / "text.csv", "temperature\nwarm\n")
    skops.io.dump(Ridge().fit([[0.0], [1.0]], [0, 1]), "ridge.skops")
    files = {"MODEL": model_file, "CLASSIFIER": classifier_file}
    fails(capsys, [files.get(a, a) for a in argv], message)


def test_unwritable_output(folder, capsys, monkeypatch):
    (folder / "m.skops").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    fails(capsys, ["fit", "-o", "m.skops", *FAST], "'m.skops' cannot be written: permission")
    fails(capsys, ["fit", "-o", "new.skops", *FAST], "'new.skops' cannot be written: permission")


def test_a_failed_write_leaves_nothing(folder, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "m.skops")

    monkeypatch.setattr(os, "replace", full)
    fails(capsys, ["fit", "-o", "m.skops", *FAST], "m.skops: No space left on device")


def test_missing_extras_are_named(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    fails(capsys, ["fit", "--figures", "f"], r"sparsebayes\[plots\]")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setitem(sys.modules, "skops", None)
    fails(capsys, ["fit", "-o", "m.skops", *FAST], r"sparsebayes\[persistence\]")


def test_the_report_says_what_was_done_with_many_rows(folder, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 10_001)
    write_csv("rows.csv", {"x": x, "y": 2.0 * x + rng.standard_normal(x.size)})
    argv = ["fit", "rows.csv", "--target", "y", "--basis", "linear", "--folds", "0"]
    assert main([*argv, "-o", "m.skops"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"many rows +sums over all 10001 rows\n", out)
    assert main(["inspect", "m.skops"]) == 0
    assert "sums over all 10001 rows" in capsys.readouterr().out
