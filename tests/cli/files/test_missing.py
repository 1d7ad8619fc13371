"""Rows with missing cells: left out of a fit, with a place but no number in predictions."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsebayes import persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

N = 40
RNG = np.random.default_rng(1)
A, B = RNG.uniform(0, 6, N), RNG.uniform(-1, 1, N)
Y = np.sin(A) + B + 0.05 * RNG.standard_normal(N)
FAST = ["--length-scale", "1", "--folds", "0"]
GAPS = {"a": {3: "", 8: "NA"}, "b": {8: "-", 20: "nan"}, "y": {30: "N/A"}}
LEFT = [k for k in range(N) if k not in (3, 8, 20, 30)]
TOLD = "4 rows left out: cells empty or NA in 'a' (2), 'b' (2), 'y' (1)"


@pytest.fixture
def gaps(folder):
    columns = {"a": A.astype(str), "b": B.astype(str), "y": Y.astype(str)}
    columns = {name: cells.astype(object) for name, cells in columns.items()}
    for name, cells in GAPS.items():
        for k, cell in cells.items():
            columns[name][k] = cell
    write_csv("gaps.csv", columns)
    write_csv("full.csv", {"a": A[LEFT], "b": B[LEFT], "y": Y[LEFT]})


@pytest.mark.sampled
@pytest.mark.parametrize("argv", [[], ["--chunk-rows", "7"]])
def test_the_fit_is_that_of_the_other_rows(gaps, capsys, argv):
    assert main(["fit", "gaps.csv", "--target", "y", "-o", "m.skops", *FAST, *argv]) == 0
    out = capsys.readouterr().out
    assert f"gaps.csv: {len(LEFT)} rows, target y" in out and TOLD in out
    assert main(["fit", "full.csv", "--target", "y", "-o", "f.skops", *FAST, *argv]) == 0
    assert "left out" not in capsys.readouterr().out
    X = np.column_stack([A, B])[LEFT]
    one, other = (persistence.load(name).predict(X) for name in ("m.skops", "f.skops"))
    if argv:  # sums of other chunks differ in their last digits
        np.testing.assert_allclose(one, other, rtol=1e-8)
    else:
        assert_array_equal(one, other)
    fails(
        capsys,
        ["fit", "gaps.csv", "--target", "y", "--missing", "error", *argv],
        "gaps.csv: line 5, column 'a': the cell is empty; a number is needed",
    )


@pytest.mark.sampled
@pytest.mark.parametrize("cells", [1 << 19, 6])
def test_predictions_line_up_with_the_rows(gaps, capsys, monkeypatch, cells):
    monkeypatch.setattr("sparsebayes.rows.files._CELLS", cells)
    assert main(["fit", "full.csv", "--target", "y", "-o", "m.skops", *FAST]) == 0
    capsys.readouterr()
    assert main(["predict", "m.skops", "gaps.csv", "-o", "p.csv"]) == 0
    out, err = capsys.readouterr()
    assert "40 rows written to p.csv" in out
    assert "sparsebayes: 3 of 40 rows have cells that are empty or NA, and no prediction" in err
    found = read_csv("p.csv")
    complete = [k for k in range(N) if k not in (3, 8, 20)]
    model = persistence.load("m.skops")
    means = np.array(found["mean"])
    np.testing.assert_allclose(
        means[complete].astype(float), model.predict(np.column_stack([A, B])[complete]), rtol=1e-9
    )
    for name, column in found.items():
        assert [column[k] for k in (3, 8, 20)] == ["", "", ""], name
    assert main(["predict", "m.skops", "gaps.csv", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["predictions"]["mean"][3] is None and data["predictions"]["inside"][8] is None
    assert len(data["notes"]) == 1 and data["rows"] == 40
    fails(
        capsys,
        ["predict", "m.skops", "gaps.csv", "--missing", "error", "-o", "other.csv"],
        "gaps.csv: line 5, column 'a': the cell is empty",
    )


def test_labels_line_up_with_the_rows(folder, capsys):
    labels = np.where(A > 3, "up", "down").astype(object)
    labels[4] = ""
    write_csv("d.csv", {"a": A, "b": B, "kind": labels})
    argv = ["fit", "d.csv", "--target", "kind", "-o", "m.skops", "--link", "logit", *FAST]
    assert main(argv) == 0
    assert "1 row left out: cells empty or NA in 'kind' (1)" in capsys.readouterr().out
    write_csv("new.csv", {"a": ["1", "NA", "5"], "b": [0, 0, 0]})
    assert main(["predict", "m.skops", "new.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "label,p_down,p_up,inside" and lines[2] == ",,,"
    assert lines[1].startswith("down,") and lines[3].startswith("up,")


def test_readings_line_up_with_the_rows(folder, capsys):
    x = np.linspace(0, 5, 30)
    write_csv("curve.csv", {"x": x, "y": 2 * x + 0.01 * RNG.standard_normal(30)})
    argv = ["fit", "curve.csv", "--target", "y", "-o", "m.skops", "--length-scale", "5"]
    assert main([*argv, "--folds", "0"]) == 0
    (folder / "r.csv").write_text("y;batch\n4,5;a\nNA;b\n6,25;c\n")
    capsys.readouterr()
    assert main(["predict", "m.skops", "r.csv", "--inverse"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["reading", "1", "2", "3"]
    assert lines[2] == "2,,,,,,"
    assert float(lines[1].split(",")[3]) == pytest.approx(2.25, abs=0.05)
    assert "1 of 3 rows have cells" in err and "decimal comma" in err
    (folder / "none.csv").write_text("y,batch\nNA,b\n-,c\n")
    assert main(["predict", "m.skops", "none.csv", "--inverse"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1,,,,,,", "2,,,,,,"]


def test_no_row_is_complete(folder, capsys):
    (folder / "d.csv").write_text("a,b,y\n1,,2\n2,,3\n")
    fails(
        capsys,
        ["fit", "d.csv", "--target", "y"],
        r"d.csv: no row is complete: cells empty or NA in 'b' \(2\); leave columns out",
    )
    write_csv("full.csv", {"a": A, "b": B, "y": Y})
    assert main(["fit", "full.csv", "--target", "y", "-o", "m.skops", "--quiet", *FAST]) == 0
    assert main(["predict", "m.skops", "d.csv"]) == 0
    out, err = capsys.readouterr()
    assert out == "mean,std,lower,upper,inside\n,,,,\n,,,,\n" and "2 of 2 rows have cells" in err
