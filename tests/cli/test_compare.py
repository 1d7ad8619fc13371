"""``sparsebayes compare``: models of files on held-out rows, each by its own columns."""

import numpy as np
import pytest

from sparsebayes import compare, persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import write_csv


@pytest.fixture
def fitted(folder):
    """A model of one input, one of two in other places, and rows that they have not seen."""
    rng = np.random.default_rng(0)
    a, b, y = rng.uniform(-3, 3, 90), rng.uniform(-3, 3, 90), rng.standard_normal(90)
    columns = {"a": a, "b": b, "y": np.sin(a) + 0.5 * b + 0.1 * y}
    write_csv("train.csv", {name: values[:60] for name, values in columns.items()})
    write_csv("test.csv", {name: columns[name][60:] for name in ("y", "b", "a")})
    common = ["fit", "train.csv", "--target", "y", "--folds", "0", "--quiet"]
    assert main([*common, "-o", "b.skops", "--features", "b"]) == 0
    assert main([*common, "-o", "both.skops"]) == 0
    return {name: values[60:] for name, values in columns.items()}


def test_each_model_takes_its_columns(fitted, capsys):
    assert main(["compare", "b.skops", "both.skops", "--data", "test.csv"]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines() if ".skops" in line]
    assert [line[0] for line in lines] == ["both.skops", "b.skops"]
    alone = compare(
        [persistence.load("b.skops")], np.array(fitted["b"])[:, None], np.array(fitted["y"])
    )
    assert float(lines[1][1]) == pytest.approx(alone.rows[0]["nlpd"], abs=1e-4)


@pytest.mark.slow
def test_classes(folder, classifier_file, capsys):
    argv = ["fit", "--task", "classification", "--folds", "0", "--length-scale", "2"]
    assert main([*argv, "-o", "c.skops"]) == 0
    from sparsebayes.datasets import load_gases

    capsys.readouterr()
    assert main(["compare", classifier_file, "c.skops", "--data", load_gases().filename]) == 0
    assert "log loss" in capsys.readouterr().out


def test_what_cannot_be_compared(fitted, model_file, classifier_file, capsys):
    fails(capsys, ["compare", "b.skops", "b.skops"], "'b.skops' is named twice")
    fails(
        capsys,
        ["compare", "b.skops", model_file, "--data", "test.csv"],
        "predicts 'y', and .* 'response'; compare models of the same target",
    )
    fails(capsys, ["compare", "b.skops", classifier_file], "regressors and classifiers")
    model = persistence.load("b.skops")
    persistence.save(model, "nameless.skops")
    fails(capsys, ["compare", "nameless.skops", "--data", "test.csv"], "does not name its target")
    write_csv("short.csv", {"y": [1.0], "a": [1.0]})
    fails(capsys, ["compare", "b.skops", "--data", "short.csv"], "no column 'b'")


@pytest.mark.slow
def test_models_of_other_targets_are_not_compared(fitted, capsys):
    argv = ["fit", "train.csv", "--target", "b", "--folds", "0", "-o", "a.skops"]
    assert main([*argv, "--quiet"]) == 0
    message = "b.skops predicts 'y', and a.skops 'b'; compare models of the same target"
    fails(capsys, ["compare", "b.skops", "a.skops"], message)
    fails(capsys, ["compare", "b.skops", "a.skops", "--data", "test.csv"], message)
