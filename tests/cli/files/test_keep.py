"""``predict --keep``: columns of the file beside the predictions, as they stand in it."""

import io
import json
import sys

import jsonschema
import numpy as np
import pytest

from sparsebayes import persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.reports.test_json import SCHEMA
from tests.cli.tables import read_csv, write_csv

IDS = ["007", "1e3", " b, c", 'say "x"', "", "NA", "12 345", "3.10"]
TEMPERATURES = ["300", "150", "", "310", "305.50", "+3e2", "NA", "299"]
RESULTS = ["mean", "std", "lower", "upper", "inside"]
BAD = "=1+2"


@pytest.fixture
def table(folder):
    write_csv("new.csv", {"id": IDS, "temperature": TEMPERATURES, "note": [BAD, *"-@abcde"]})


def predicted(model_file, *argv):
    assert main(["predict", model_file, "new.csv", "-o", "p.csv", "--quiet", *argv]) == 0
    return read_csv("p.csv")


@pytest.mark.parametrize("cells", [1 << 19, 9])
def test_cells_are_written_as_they_were(table, model_file, monkeypatch, cells):
    monkeypatch.setattr("sparsebayes.rows.files._CELLS", cells)  # all at once, and three rows
    alone = predicted(model_file)
    found = predicted(model_file, "--keep", "id")
    assert found == {"id": IDS, **alone} and list(found) == ["id", *RESULTS]
    assert [k for k, mean in enumerate(found["mean"]) if not mean] == [2, 6]
    found = predicted(model_file, "--keep", "temperature, id")
    assert found == {"temperature": TEMPERATURES, "id": IDS, **alone}
    assert list(found) == ["temperature", "id", *RESULTS]


def test_all_and_what_a_spreadsheet_would_run(table, model_file):
    found = predicted(model_file, "--keep", "all")
    assert list(found) == ["id", "temperature", "note", *RESULTS]
    assert found["note"] == [f"'{BAD}", "'-", "'@", *"abcde"]
    assert found["temperature"] == TEMPERATURES  # a number, also one with a sign, stays
    assert predicted(model_file, "--keep", "note", "--formulas")["note"] == [BAD, *"-@abcde"]


def test_numbers_stay_as_the_file_writes_them(folder, model_file):
    (folder / "new.csv").write_text(
        "# a comment\r\nbatch;temperature;blank;day\r\n3.123;-300,5;-0,25;31.12.2024\r\n"
        "\r\n12'345;300,50;1.234,5;01.01.2025\r\n",
        newline="",
    )
    found = predicted(model_file, "--keep", "all", "--decimal", ",")
    assert found["batch"] == ["3.123", "12'345"] and found["temperature"] == ["-300,5", "300,50"]
    assert found["blank"] == ["-0,25", "1.234,5"] and found["day"] == ["31.12.2024", "01.01.2025"]
    assert found["inside"] == ["0", "1"]


def test_no_row_is_complete(folder, model_file):
    write_csv("new.csv", {"id": ["a", "b"], "temperature": ["", "NA"]})
    found = predicted(model_file, "--keep", "id")
    assert found == {"id": ["a", "b"], **{name: ["", ""] for name in RESULTS}}


def test_standard_input(folder, model_file, capsys, monkeypatch):
    text = "id,temperature\na,300\nb,310\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["predict", model_file, "-", "--keep", "id"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "id,mean,std,lower,upper,inside"
    assert [line.partition(",")[0] for line in lines[1:]] == ["a", "b"]


def test_json(table, model_file, capsys):
    assert main(["predict", model_file, "new.csv", "--keep", "id,note", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["predictions"]["id"] == IDS
    assert found["predictions"]["note"][0] == BAD  # no spreadsheet reads it
    assert found["predictions"]["mean"][2] is None


def test_other_files(folder, model_file):
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    openpyxl = pytest.importorskip("openpyxl")
    columns = {"id": ["007", "b", None], "temperature": [300.5, None, 310.0]}
    pq.write_table(pa.table(columns), "new.parquet")
    book = openpyxl.Workbook()
    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        book.active.append(row)
    book.save("new.xlsx")
    for name in ("new.parquet", "new.xlsx"):
        assert main(["predict", model_file, name, "--keep", "all", "-o", "p.csv", "--quiet"]) == 0
        found = read_csv("p.csv")
        assert found["id"] == ["007", "b", ""]
        assert [cell.removesuffix(".0") for cell in found["temperature"]] == ["300.5", "", "310"]
        assert [bool(mean) for mean in found["mean"]] == [True, False, True]


def test_classes(folder, classifier_file, capsys):
    names = persistence.load_record(classifier_file).feature_names
    rows = {name: np.linspace(0, 1, 3) for name in names}
    write_csv("new.csv", {"who": ["x", "y", "z"], **rows})
    found = predicted(classifier_file, "--keep", "who")
    assert found["who"] == ["x", "y", "z"] and list(found)[1] == "label"


def test_readings_have_a_row_for_each_branch(folder, capsys):
    x = np.linspace(-3, 3, 40)
    write_csv("curve.csv", {"x": x, "y": x**2})
    argv = ["fit", "curve.csv", "--target", "y", "-o", "m.skops", "--length-scale", "2", "--quiet"]
    assert main([*argv, "--folds", "0"]) == 0
    write_csv("new.csv", {"id": ["p", "q", "r", "s"], "y": ["4", "NA", "", "1"]})
    found = predicted("m.skops", "--inverse", "--keep", "id,y")
    assert list(found)[:4] == ["id", "y", "reading", "branch"]
    assert found["reading"] == ["1", "1", "2", "3", "4", "4"]
    assert found["id"] == ["p", "p", "q", "r", "s", "s"]
    assert found["y"] == ["4", "4", "NA", "", "1", "1"]
    write_csv("new.csv", {"id": ["p", "q"], "y": ["NA", ""]})
    assert predicted("m.skops", "--inverse", "--keep", "id")["id"] == ["p", "q"]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("id,z", "new.csv: no column 'z'; the columns are 'id', 'temperature', 'mean', 'all'"),
        ("id,id", "column 'id' is named more than once"),
        ("", "no column ''"),
        ("mean", "--keep: the column 'mean' of new.csv has the name of a result; rename it"),
        ("all", "--keep: the column 'mean' of new.csv has the name of a result"),
    ],
)
def test_what_is_refused(folder, model_file, capsys, keep, message):
    columns = {"id": ["a"], "temperature": [300], "mean": [1], "all": ["x"]}
    write_csv("new.csv", columns)
    for output in (["-o", "p.csv"], []):
        fails(capsys, ["predict", model_file, "new.csv", "--keep", keep, *output], message)
    assert predicted(model_file, "--keep", '"all"')["all"] == ["x"]
