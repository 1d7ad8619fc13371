"""``sparsebayes predict --inverse``: a row for each branch of each reading."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import RVR, persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv


def test_inverse(folder, capsys, model_file):
    (folder / "r.csv").write_text("sample,response\na,40\nb,24\nc,99\n")
    assert main(["predict", model_file, "r.csv", "--inverse", "-o", "out.csv"]) == 0
    told = capsys.readouterr()
    assert told.err.endswith(
        "sparsebayes: 1 of 3 readings is explained by no temperature from 102.8 to 499.4 "
        "(explained is 0)\n"
    )
    with open("out.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = ["reading", "branch", "probability", "mean", "lower", "upper", "explained"]
    assert list(rows[0]) == names
    assert f"{len(rows)} rows written to out.csv" in told.out
    found = persistence.load(model_file).inverse_predict([40.0, 24.0, 99.0])
    counts = [len(branches) for branches in found.branches]
    assert [row["reading"] for row in rows] == list(np.repeat(["1", "2", "3"], counts))
    assert [row["branch"] for row in rows[:3]] == ["1", "2", "3"]
    assert [row["explained"] for row in rows[-2:]] == ["1", "0"]
    flat = [branch for branches in found.branches for branch in branches]
    for row, branch in zip(rows, flat, strict=True):
        for name in names[2:6]:
            assert float(row[name]) == getattr(branch, name)


def test_coverage_replicates_and_stdout(folder, capsys, model_file):
    (folder / "r.csv").write_text("response\n24\n")
    argv = ["predict", model_file, "r.csv", "--inverse", "--coverage", "0.5", "--replicates", "4"]
    assert main(argv) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    model = persistence.load(model_file)
    (expected,) = model.inverse_predict([24.0], coverage=0.5, n_replicates=4).branches[0]
    assert_allclose([float(row["lower"]), float(row["upper"])], expected[:2])


@pytest.fixture
def two_inputs(folder):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1000, 2000, 60), rng.uniform(0, 1, 60)
    write_csv("data.csv", {"a": a, "b": b, "y": a / 500 + b + 0.01 * rng.normal(size=60)})
    argv = ["fit", "data.csv", "--target", "y", "--basis", "linear", "-o", "m.skops", "--quiet"]
    assert main([*argv, "--folds", "0"]) == 0
    return "m.skops"


def test_one_of_several_inputs_behind_a_scaler(two_inputs, capsys):
    write_csv("r.csv", {"b": [0.5, 0.1], "y": [3.5, 3.5]})
    argv = ["predict", two_inputs, "r.csv", "--inverse", "--unknown", "a", "-o", "out.csv"]
    assert main(argv) == 0
    mean = np.array(read_csv("out.csv")["mean"], dtype=float)
    assert_allclose(mean, [1500, 1700], atol=15)


def test_several_targets(folder, capsys):
    x = np.linspace(0, 10, 50)[:, None]
    y = np.hstack([x, -x]) + 0.1 * np.random.default_rng(0).normal(size=(50, 2))
    model = RVR("linear").fit(x, y)
    persistence.save(model, "m.skops", feature_names=["x"], target_name=["p", "q"])
    write_csv("r.csv", {"q": [-3.0], "p": [3.0]})
    assert main(["predict", "m.skops", "r.csv", "--inverse"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert_allclose(float(row["mean"]), 3.0, atol=0.1)


@pytest.mark.slow
def test_refusals(two_inputs, capsys, model_file, classifier_file):
    capsys.readouterr()
    write_csv("r.csv", {"b": [0.5], "y": [3.5]})
    argv = ["predict", two_inputs, "r.csv"]
    fails(capsys, [*argv, "--inverse"], "2 inputs, 'a', 'b'; say which one .* --unknown")
    fails(capsys, [*argv, "--inverse", "--unknown", "c"], "--unknown 'c' is no input")
    fails(capsys, [*argv, "--inverse", "--unknown", "b"], "no column 'a'")
    fails(capsys, [*argv, "--replicates", "2"], "--replicates belongs to --inverse")
    fails(capsys, [*argv, "--unknown", "a"], "--unknown belongs to --inverse")
    fails(capsys, [*argv, "--inverse", "--replicates", "0"], "must be a whole number, 1 or more")
    fails(capsys, ["predict", model_file, "r.csv", "--inverse"], "no column 'response'")
    fails(capsys, ["predict", classifier_file, "r.csv", "--inverse"], "is for regression")
