"""``sparsebayes predict``: a CSV file of predictions, row by row."""

import csv
import os

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from sparsebayes import persistence
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
    assert header == ["mean", "std", "lower", "upper"]
    mean, std, lower, upper = np.array(rows, dtype=float).T
    model = persistence.load(model_file)
    expected = model.predict(np.array([[300.0], [150.0]]), return_std=True)
    np.testing.assert_array_equal([mean, std], expected)
    assert_allclose([lower, upper], norm.ppf([[0.25], [0.75]], mean, std))


def test_predict_to_stdout(folder, capsys, model_file):
    (folder / "x.csv").write_text("temperature\n300\n")
    assert main(["predict", model_file, "x.csv"]) == 0
    assert capsys.readouterr().out.startswith("mean,std,lower,upper\n")
    assert os.listdir() == ["x.csv"]
