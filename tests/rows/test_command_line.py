"""The command line with files that are read in chunks, and with Parquet."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import persistence
from sparsebayes.cli import chunks, main
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv
from tests.sweeps import thinned

N = 12_000


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 1000, N), rng.uniform(-1, 1, N)
    y = np.sin(a / 150) + b + 0.1 * rng.standard_normal(N)
    return {"a": a, "b": b, "y": y}


FAST = ["--length-scale", "0.7", "--chunk-rows", "7000"]


def lines(out):
    """What the report says, by the name of the line."""
    return {line[:17].strip(): line[19:] for line in out.splitlines() if line[:17].strip()}


@pytest.mark.slow
def test_a_regression_in_chunks(table, capsys):
    write_csv("big.csv", table)
    assert main(["fit", "big.csv", "--target", "y", "-o", "m.skops", *FAST]) == 0
    out, err = capsys.readouterr()
    report = lines(out)
    assert err == ""
    assert report["data"] == f"big.csv: {N} rows, target y"
    assert "more than 10000 different numbers" in report["task"]
    assert report["many rows"].endswith(f"sums over all {N} rows")
    assert re.match(
        r"RMSE (0\.1|0\.09)\d*, R² 0\.9\d+ \(on 10000 of the rows\)", report["training data"]
    )
    assert "no cross-validation: it needs all rows in memory" in report["note"]
    scaler, model = persistence.load("m.skops")
    X = np.column_stack([table["a"], table["b"]])
    assert_allclose(scaler.mean_, X.mean(axis=0))
    assert_allclose(scaler.scale_, X.std(axis=0))
    assert 0.09 < np.sqrt(model.noise_variance_) < 0.11
    # The same model as that of all rows at once, except for the last digits of the scaler.
    argv = ["fit", "big.csv", "--target", "y", "-o", "whole.skops", "--folds", "0", "--quiet"]
    assert main([*argv, *FAST[:2]]) == 0
    assert_array_equal(persistence.load("whole.skops")[1].relevance_, model.relevance_)
    # Predictions in chunks.
    assert main(["predict", "m.skops", "big.csv", "-o", "out.csv"]) == 0
    assert f"{N} rows written to out.csv" in capsys.readouterr().out
    found = read_csv("out.csv")
    assert_array_equal(np.array(found["mean"], dtype=float), persistence.load("m.skops").predict(X))
    assert main(["inspect", "m.skops"]) == 0
    assert f"sums over all {N} rows" in capsys.readouterr().out


def test_predictions_are_written_chunk_by_chunk(table, capsys, monkeypatch):
    write_csv("big.csv", {name: values[:500] for name, values in table.items()})
    argv = ["fit", "big.csv", "--target", "y", "-o", "m.skops", "--folds", "0", "--quiet"]
    assert main([*argv, "--length-scale", "1"]) == 0
    texts = []
    for cells in (1 << 19, 30):
        monkeypatch.setattr("sparsebayes.rows.files._CELLS", cells)
        assert main(["predict", "m.skops", "big.csv", "-o", "out.csv"]) == 0
        assert "500 rows written" in capsys.readouterr().out
        texts.append(read_csv("out.csv"))
        assert main(["predict", "m.skops", "big.csv"]) == 0
        assert capsys.readouterr().out.count("\n") == 501
    assert len(texts[0]["mean"]) == 500
    for name, values in texts[0].items():
        assert_allclose(np.array(texts[1][name], float), np.array(values, float), rtol=1e-9)
    # An error late in the file leaves no output.
    with open("big.csv", "a") as stream:
        stream.write("1,x,2\n")
    before = Path("out.csv").read_bytes()
    assert main(["predict", "m.skops", "big.csv", "-o", "out.csv"]) == 2
    assert "line 502, column 'b': 'x' is not a number" in capsys.readouterr().err
    assert Path("out.csv").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", thinned(["csv", "parquet"]))
def test_classes_in_chunks(table, capsys, kind):
    labels = np.where(table["y"] > 0, "up", "down")
    data = {"a": table["a"], "b": table["b"], "c": labels}
    if kind == "csv":
        write_csv("big.csv", data)
    else:
        pq.write_table(pa.table(data), "big.parquet")
    argv = ["fit", f"big.{kind}", "--target", "c", "-o", "m.skops", "--link", "least_squares"]
    assert main([*argv, *FAST]) == 0
    report = lines(capsys.readouterr().out)
    assert report["task"] == "classification: the target holds text"
    counts = np.unique(labels, return_counts=True)[1]
    assert report["rows by class"] == f"down: {counts[0]}, up: {counts[1]}"
    assert f"over all {N} rows" in report["many rows"]
    assert main(["predict", "m.skops", f"big.{kind}", "-o", "out.csv"]) == 0
    assert np.mean(np.array(read_csv("out.csv")["label"]) == labels) > 0.9


@pytest.mark.slow
def test_files_above_a_size_are_read_in_chunks(table, capsys, monkeypatch):
    few = {name: values[:300] for name, values in table.items()}
    write_csv("d.csv", few)
    pq.write_table(pa.table(few), "d.parquet")
    for name in ("d.csv", "d.parquet"):
        argv = ["fit", name, "--target", "y", "--length-scale", "1", "--folds", "2"]
        assert main(argv) == 0
        whole = capsys.readouterr().out
        assert "2-fold CV" in whole
        monkeypatch.setattr("sparsebayes.cli.fit.LARGE", 1000)
        assert main(argv) == 0
        report = capsys.readouterr().out
        assert "2-fold CV" not in report and "read in chunks" in report
        assert lines(report)["relevance vectors"] == lines(whole)["relevance vectors"]
        monkeypatch.setattr("sparsebayes.cli.fit.LARGE", chunks.LARGE)


@pytest.mark.slow
def test_parquet_that_fits_into_memory(table, capsys):
    few = {name: values[:200] for name, values in table.items()}
    pq.write_table(pa.table({**few, "n": np.arange(200) % 3}), "d.parquet")
    assert main(["fit", "d.parquet", "--target", "n", "--folds", "0", "--length-scale", "1"]) == 0
    report = lines(capsys.readouterr().out)
    assert report["rows by class"] == "0: 67, 1: 67, 2: 66"
    argv = ["fit", "d.parquet", "--target", "y,n", "--task", "regression", "--folds", "0"]
    assert main([*argv, "--length-scale", "1"]) == 0
    assert "targets y, n" in capsys.readouterr().out


@pytest.mark.slow
def test_several_targets_in_chunks(table, capsys):
    table["z"] = 2 * table["y"] + 1
    write_csv("big.csv", {name: values[:11_000] for name, values in table.items()})
    assert main(["fit", "big.csv", "--target", "y,z", *FAST, "-o", "m.skops"]) == 0
    assert re.search(r"\bz: RMSE 0\.(19|20)", capsys.readouterr().out)
    assert main(["predict", "m.skops", "big.csv", "-o", "out.csv"]) == 0
    assert "mean_z" in read_csv("out.csv")


@pytest.mark.slow
def test_figures_show_the_sample(table):
    write_csv("big.csv", {name: table[name][:11_000] for name in ("b", "y")})
    argv = ["fit", "big.csv", "--target", "y", *FAST, "--quiet", "--figures", "f"]
    assert main(argv) == 0
    assert Path("f/fit.png").read_bytes().startswith(b"\x89PNG")


def test_refusals(table, capsys):
    few = {name: values[:300] for name, values in table.items()}
    write_csv("d.csv", few)
    pq.write_table(pa.table({**few, "word": ["x"] * 300}), "d.parquet")
    fit = ["fit", "d.csv", "--target", "y", "--chunk-rows", "100"]
    fails(capsys, [*fit, "--augment"], "--augment needs all rows in memory, but d.csv is read in")
    fails(capsys, [*fit, "--noise", "student"], "--noise student needs all rows in memory")
    fails(capsys, [*fit[:-1], "0"], "--chunk-rows: must be a whole number, 1 or more")
    message = "d.parquet: column 'word' holds 'x' in all rows; leave it out with --exclude or"
    fails(capsys, ["fit", "d.parquet", "--target", "y"], message)
    message = "d.parquet: the inputs 'word' hold text; leave them out with --exclude or"
    fails(capsys, ["fit", "d.parquet", "--target", "y", "--categorical", "error"], message)
    message = "d.parquet: the inputs 'word' hold text, which is encoded only where all rows"
    fails(capsys, ["fit", "d.parquet", "--target", "y", "--chunk-rows", "100"], message)
    fails(capsys, ["fit", "d.parquet", "--target", "z"], "d.parquet: no column 'z'; the columns")
    with open("d.csv", "a") as stream:
        stream.write("1,2,\n")
    fit += ["--missing", "error"]
    fails(capsys, fit, "d.csv: line 302, column 'y': the cell is empty; a number or a label")
    with open("d.csv", "a") as stream:
        stream.write("1,,1\n")
    fails(capsys, fit, "d.csv: line 303, column 'b': the cell is empty; a number is needed")


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal(table, monkeypatch):
    from sparsebayes.cli.reports.progress_line import ProgressLine
    from sparsebayes.rows.files import open_file

    write_csv("d.csv", {name: values[:300] for name, values in table.items()})
    line = ProgressLine(Terminal())
    rows = chunks.ScaledChunks(open_file("d.csv"), ["a", "b"], ["y"], 100, line)
    told = []
    for _ in rows.first_pass():
        told.append(line.text)
    for _ in rows:
        told.append(line.text)
    assert told[0] == "" and "d.csv, pass 1" in told[1] and told[-1].endswith("pass 2")
    assert line.text == "[####################] 100 % of d.csv, pass 2"
