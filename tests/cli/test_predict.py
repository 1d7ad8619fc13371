"""``sparsebayes predict``: a CSV file of predictions, row by row."""

import csv
import os

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from sparsebayes import RVR, ReducedRankGPR, persistence
from sparsebayes.cli import main


def test_predict(folder, capsys, model_file):
    # Other columns, their order and text in them do not matter; the order of rows stays.
    (folder / "x.csv").write_text(
        "\ufeffid,temperature\nfirst,300\n\nsecond,150\n", encoding="utf-8"
    )
    assert main(["predict", model_file, "x.csv", "-o", "out.csv", "--coverage", "0.5"]) == 0
    assert "2 rows written to out.csv" in capsys.readouterr().out
    with open("out.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["mean", "std", "lower", "upper", "inside"]
    mean, std, lower, upper, _ = np.array(rows, dtype=float).T
    model = persistence.load(model_file)
    expected = model.predict(np.array([[300.0], [150.0]]), return_std=True)
    np.testing.assert_array_equal([mean, std], expected)
    assert_allclose([lower, upper], norm.ppf([[0.25], [0.75]], mean, std))


def test_predict_to_stdout(folder, capsys, model_file):
    (folder / "x.csv").write_text("temperature\n300\n")
    assert main(["predict", model_file, "x.csv"]) == 0
    assert capsys.readouterr().out.startswith("mean,std,lower,upper,inside\n")
    assert os.listdir() == ["x.csv"]


def predicted(capsys, model, table):
    """The column `inside`, and what was said on stderr."""
    with open("x.csv", "w") as stream:
        stream.write(table)
    assert main(["predict", model, "x.csv"]) == 0
    told = capsys.readouterr()
    rows = list(csv.DictReader(told.out.splitlines()))
    return [row["inside"] for row in rows], told.err


def test_rows_outside_the_training_data_are_marked_and_counted(folder, capsys, model_file):
    # The temperatures are 102.8 to 499.4.
    inside, told = predicted(capsys, model_file, "temperature\n300\n2000\n510\n-50\n")
    assert inside == ["1", "0", "1", "0"]
    assert told == "sparsebayes: 2 of 4 rows lie outside the training data (inside is 0)\n"
    assert predicted(capsys, model_file, "temperature\n300\n110\n") == (["1", "1"], "")
    inside, told = predicted(capsys, model_file, "temperature\n2000\n")
    assert told == "sparsebayes: the row lies outside the training data (inside is 0)\n"


def test_inside_is_in_the_units_of_the_table(folder, capsys):
    # Two inputs are standardised before the model.
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1000, 2000, 80), rng.uniform(0, 1, 80)
    rows = "".join(f"{i},{j},{np.sin(i / 200) + j}\n" for i, j in zip(a, b, strict=True))
    (folder / "data.csv").write_text("a,b,y\n" + rows)
    fit = ["fit", "data.csv", "--target", "y", "-o", "m.skops", "--quiet", "--folds", "0"]
    assert main(fit) == 0
    capsys.readouterr()
    inside, told = predicted(capsys, "m.skops", "a,b\n1500,0.5\n1500,1.5\n2500,0.5\n")
    assert inside == ["1", "0", "0"] and told.startswith("sparsebayes: 2 of 3 rows lie")


def test_classes_have_a_column_inside(folder, capsys, classifier_file):
    names = persistence.load_record(classifier_file).feature_names
    near = ",".join(names) + "\n" + ",".join(["1e9"] * len(names)) + "\n"
    inside, told = predicted(capsys, classifier_file, near)
    assert inside == ["0"] and "the row lies outside" in told


def test_models_that_cannot_tell_have_no_such_column(folder, capsys):
    X = np.random.default_rng(0).normal(size=(30, 1))
    persistence.save(ReducedRankGPR(random_state=0).fit(X, X[:, 0]), "gp.skops", feature_names="a")
    columns = RVR("precomputed").fit(np.hstack([X, X**2]), X[:, 0])
    persistence.save(columns, "columns.skops", feature_names=["a", "b"])
    for name, table in (("gp.skops", "a\n99\n"), ("columns.skops", "a,b\n99,99\n")):
        (folder / "x.csv").write_text(table)
        assert main(["predict", name, "x.csv"]) == 0
        told = capsys.readouterr()
        assert told.out.startswith("mean,std,lower,upper\n") and told.err == ""
