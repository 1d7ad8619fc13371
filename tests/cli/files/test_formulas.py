"""Cells that a spreadsheet would run are made harmless, unless they are asked for."""

import numpy as np
import pytest

from sparsebayes.cli import main
from sparsebayes.cli.csv_table import format_table
from tests.cli.tables import read_csv, write_csv

BAD = '=HYPERLINK("http://x";"y")'


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_gets_an_apostrophe_and_numbers_do_not(start):
    columns = {
        f"{start}head": np.array([f"{start}cmd", "plain", "-1.5", "+2e3"], dtype=object),
        "n": np.array([-1.0, 2.0, 3.0, 4.0]),
    }
    written = format_table(columns)
    assert f"'{start}head" in written and f"'{start}cmd" in written
    assert "\n-1.5,3.0\n+2e3,4.0\n" in written and "'plain" not in written
    assert "'" not in format_table(columns, formulas=True)


@pytest.mark.slow
def test_labels_of_predict(folder, capsys):
    x = np.arange(40.0)
    write_csv("d.csv", {"x": x, "y": np.where(x < 20, BAD, "-ok")})
    assert main(["fit", "d.csv", "--target", "y", "-o", "m.skops", "--folds", "0", "--quiet"]) == 0
    assert main(["predict", "m.skops", "d.csv", "-o", "p.csv"]) == 0
    assert set(read_csv("p.csv")["label"]) == {f"'{BAD}", "'-ok"}
    assert main(["predict", "m.skops", "d.csv", "-o", "q.csv", "--formulas"]) == 0
    assert set(read_csv("q.csv")["label"]) == {BAD, "-ok"}


def test_names_of_series(folder):
    y = np.sin(np.arange(60) / 3)
    write_csv("s.csv", {"who": [BAD] * 30 + ["b"] * 30, "y": y})
    argv = ["forecast", "s.csv", "--column", "y", "--id", "who", "--horizon", "2", "--lags", "2"]
    assert main([*argv, "-o", "f.csv", "--quiet"]) == 0
    assert read_csv("f.csv")["who"] == [f"'{BAD}"] * 2 + ["b"] * 2
