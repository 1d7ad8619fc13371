"""The report says what was done with many rows."""

import re

import numpy as np

from sparsebayes.cli import main
from tests.cli.tables import write_csv


def test_the_report_says_what_was_done(folder, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 10_001)
    write_csv("rows.csv", {"x": x, "y": 2.0 * x + rng.standard_normal(x.size)})
    arguments = [
        "fit",
        "rows.csv",
        "--target",
        "y",
        "--basis",
        "linear",
        "--folds",
        "0",
        "-o",
        "m.skops",
    ]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert re.search(r"many rows +sums over all 10001 rows\n", out)
    assert main(["inspect", "m.skops"]) == 0
    assert "sums over all 10001 rows" in capsys.readouterr().out
