"""The command line with files as laboratories write them: the model is that of the plain file."""

import gzip
import io
import sys

import numpy as np
import openpyxl
import pytest

from sparsebayes.cli import main
from sparsebayes.cli.arguments import tables
from sparsebayes.rows.dialect.numerals import MARKS
from sparsebayes.rows.missing import MISSING
from tests.cli.refusal import fails

N = 30
RNG = np.random.default_rng(0)
A, B = RNG.uniform(0, 2000, N).round(3), RNG.uniform(0, 1, N).round(3)
Y = (np.sin(A / 300) + B + 0.05 * RNG.standard_normal(N)).round(4)
FAST = ["--length-scale", "1", "--folds", "0"]


def rows(number=repr, delimiter=",", head="a,b,y", end="\n"):
    table = np.column_stack([A, B, Y]).tolist()
    lines = [delimiter.join(map(number, row)) for row in table]
    return end.join([*head.split("\n"), *lines]) + end


def comma(value):
    return repr(value).replace(".", ",")


def german(value):
    return f"{value:,.4f}".translate(str.maketrans(",.", ".,"))


def sheet():
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["nothing", "here"])
    table = book.create_sheet("data")
    table.append(["Logger 7"])
    table.append([])
    table.append(["a", "b", "y"])
    for row in zip(A.tolist(), B.tolist(), Y.tolist(), strict=True):
        table.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


# Name of the file, its content, further arguments, and what is said of it.
FILES = {
    "d.csv": (rows(comma, ";", "a;b;y").encode(), [], "separated by ;, decimal comma"),
    "d.tsv": (rows(repr, "\t", "a\tb\ty", "\r\n").encode("utf-16"), [], "tabs, UTF-16"),
    "d.txt": (rows(german, ";", "a;b;y").encode(), [], "thousands set apart by ."),
    "d.dat": (rows(repr, "  ", "# a  b  y").encode(), [], "separated by blanks"),
    "u.csv": (
        rows(head="Model,X,1\n\na,b,y\ns,%,mV").encode(),
        [],
        "1 line above the header left out, a row of units (s, %, mV)",
    ),
    "d.csv.gz": (gzip.compress(rows().encode()), [], None),
    "d.xlsx": (sheet(), ["--sheet", "data"], "sheet 'data', 1 line above the header left out"),
    "odd.csv": (rows(comma, "!", "a!b!y").encode(), ["--delimiter", "!"], "separated by !"),
}


def predictions(capsys, source, argv=()):
    """What a fit to a file predicts of its own rows, and what is said of it."""
    fit = ["fit", source, "--target", "y", "-o", "m.skops", *argv, *FAST]
    assert main(fit) == 0
    report = capsys.readouterr().out
    assert f"{N} rows, target y" in report
    assert main(["predict", "m.skops", source, *argv]) == 0
    out, err = capsys.readouterr()
    return out, report, err


@pytest.fixture
def plain(folder, capsys):
    (folder / "plain.csv").write_text(rows())
    out, report, err = predictions(capsys, "plain.csv")
    assert "was read as" not in report and err == ""
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILES)
def test_models_are_those_of_the_plain_file(folder, capsys, plain, name):
    content, argv, told = FILES[name]
    (folder / name).write_bytes(content)
    out, report, err = predictions(capsys, name, argv)
    assert out == plain  # to the last digit
    for text in (report, err):
        assert (told in text) if told else ("was read as" not in text)


class Piped:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.xlsx"])
def test_standard_input(folder, capsys, monkeypatch, plain, name):
    content, argv, _ = FILES[name]
    monkeypatch.setattr(sys, "stdin", Piped(content))
    fit = ["fit", "-", "--target", "y", "-o", "m.skops", *argv, *FAST]
    assert main([*fit, "--chunk-rows", "8"]) == 0  # is read several times
    assert main(["inspect", "m.skops"]) == 0
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert main(fit) == 0
    assert "standard input: 30 rows, target y" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert main(["predict", "m.skops", "-", *argv]) == 0
    assert capsys.readouterr().out == plain
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert main(["export", "m.skops", "--to", "json", "--check", "-", *argv]) == 0
    assert "largest difference from Python at 30 rows" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert main(["compare", "m.skops", "--data", "-", *argv]) == 0
    assert "regression on 30 held-out rows" in capsys.readouterr().out


def test_standard_input_that_is_empty_or_too_long(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    fails(capsys, ["fit", "-", "--target", "y"], "standard input: the file is empty")
    monkeypatch.setattr(sys, "stdin", Piped(rows().encode()))
    monkeypatch.setattr("sparsebayes.rows.dialect.opening._MOST_PIPED", 10)
    fails(capsys, ["fit", "-", "--target", "y"], "standard input: more than 0 GB; store it in a")


@pytest.mark.slow
def test_series(folder, capsys, monkeypatch):
    signal = np.sin(np.arange(64) / 5)
    cells = [f"{value:.5f}" for value in signal]
    cells[5] = "NA"
    plain = "\n".join(["t,v", *(f"{k},{cell}" for k, cell in enumerate(cells))])
    other = plain.replace(",", ";").replace(".", ",").replace("t;v", "# logger\nt;v\n[s];[mV]")
    for name, content in (("plain.csv", plain), ("other.dat", other)):
        (folder / name).write_text(content)
    results, argv = [], ["--column", "v", "--time", "t"]
    for name in ("plain.csv", "other.dat"):
        assert main(["denoise", name, "-o", "out.csv", *argv]) == 0
        said = capsys.readouterr().out
        assert "64 rows, column v, 1 missing (filled)" in said
        assert ("separated by ;, decimal comma, 1 comment" in said) == (name == "other.dat")
        results.append((folder / "out.csv").read_text())
    assert results[0] == results[1]
    monkeypatch.setattr(sys, "stdin", Piped(other.encode()))
    assert main(["denoise", "-", "-o", "out.csv", *argv]) == 0
    assert (folder / "out.csv").read_text() == results[0]
    results = []
    capsys.readouterr()
    for name in ("plain.csv", "other.dat", "-"):
        monkeypatch.setattr(sys, "stdin", Piped(other.encode()))
        forecast = ["forecast", name, *argv, "--horizon", "3", "--lags", "2", "-o", "next.csv"]
        assert main(forecast) == 0
        said = capsys.readouterr().out
        assert ("separated by ;, decimal comma" in said) == (name != "plain.csv")
        results.append((folder / "next.csv").read_text())
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--delimiter", "ab"], "delimiter must be one character"),
        (["--decimal", "x"], "--decimal: invalid choice: 'x'"),
        (["--header", "first"], "--header: must be the number of a line or 'none', got 'first'"),
        (["--encoding", "utf-9"], "encoding 'utf-9' is not known"),
        (["--sheet", "data"], "d.csv: no Excel file, and has no sheet; leave it out"),
    ],
)
def test_wrong_options(folder, capsys, argv, message):
    (folder / "d.csv").write_text(rows())
    fails(capsys, ["fit", "d.csv", "--target", "y", *argv], message)


def test_files_are_refused_in_a_line(folder, capsys):
    (folder / "d.csv").write_text("a;y\n1,234;1\n2,345;2\n")
    fails(capsys, ["fit", "d.csv", "--target", "y"], "d.csv: line 2, column 'a': '1,234' may be a")
    fails(capsys, ["fit", ".", "--target", "y"], "is a directory; name a file in it")
    (folder / "d.xlsx").write_bytes(FILES["d.xlsx"][0])
    message = "d.xlsx: no sheet 'x'; the sheets are 'notes', 'data'"
    fails(capsys, ["fit", "d.xlsx", "--target", "y", "--sheet", "x"], message)
    fails(capsys, ["fit", "d.xlsx", "--target", "y"], "there is a header but no row|no column 'y'")


def test_the_lists_are_those_of_the_library():
    assert tuple(MARKS) == tables.DECIMALS
    assert tables.MISSING == MISSING
