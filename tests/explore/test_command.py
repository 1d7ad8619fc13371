"""``sparsebayes explore``: tables, options, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
import webbrowser
from pathlib import Path

import numpy as np
import pytest

from sparsebayes._rvm.options import SOLVERS
from sparsebayes.cli import main
from sparsebayes.explore import explore
from sparsebayes.explore.models import VIEWS
from sparsebayes.explore.start import choices, examples, make_start
from tests.cli.refusal import fails
from tests.cli.tables import write_csv

ROOT = Path(__file__).parents[2]
BRIEF = ["--no-browser", "--idle", "0.01"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shown(folder, monkeypatch):
    """What the page starts with, given a table and options."""
    import sparsebayes.cli.explore as command

    found = []
    original = command.ExplorerServer

    def server(start, **options):
        found.append(start)
        return original(start, **options)

    monkeypatch.setattr(command, "ExplorerServer", server)

    def run(columns, *argv):
        write_csv("t.csv", columns)
        assert main(["explore", "t.csv", *BRIEF, "--quiet", *argv]) == 0
        return found.pop()

    return run


def test_two_columns_are_a_regression(shown):
    start = shown({"time": [1, 2, 3, 4], "dose": [0.5, 1.5, 2.5, 2.0]})
    assert start["view"] == "regression" and start["names"]["regression"] == ["time", "dose"]
    assert start["data"]["regression"] == {"x": [1, 2, 3, 4], "y": [0.5, 1.5, 2.5, 2.0]}


def test_two_columns_and_a_label_are_a_classification(shown):
    columns = {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1], "kind": ["u", "v", "u", "v"]}
    start = shown(columns)
    assert start["view"] == "classification"
    assert start["data"]["classification"]["label"] == ["u", "v", "u", "v"]
    whole = shown({**columns, "kind": [0, 1, 0, 1]})
    assert whole["data"]["classification"]["label"] == ["0", "1", "0", "1"]


def test_one_column_is_a_signal(shown):
    start = shown({"v": list(range(20))})
    assert start["view"] == "denoise" and start["data"]["denoise"]["y"] == list(range(20))


def test_columns_are_chosen_and_incomplete_rows_left_out(shown, capsys):
    columns = {"who": list("abcde"), "a": [1, 2, "", 4, 5], "b": [5, 4, 3, 2, 1]}
    start = shown(columns, "--columns", "b,a")
    assert start["data"]["regression"] == {"x": [5, 4, 2, 1], "y": [1, 2, 4, 5]}


def test_columns_are_excluded(shown):
    columns = {"who": list("abcde"), "a": [1, 2, 3, 4, 5], "b": [5, 4, 3, 2, 1]}
    assert shown(columns, "--exclude", "who")["names"]["regression"] == ["a", "b"]


def test_of_many_rows_some_are_shown(shown):
    start = shown({"x": np.arange(5000), "y": np.arange(5000) % 7})
    x = start["data"]["regression"]["x"]
    assert len(x) == 2000 and x[0] == 0 and x[-1] == 4999 and "5000 rows" in start["notes"][0]
    start = shown({"y": np.arange(5000)})
    assert start["data"]["denoise"]["y"] == list(range(4096)) and "first" in start["notes"][0]


@pytest.mark.parametrize(
    ("columns", "argv", "message"),
    [
        ({"a": [1, 2, 3], "b": ["x", "y", "z"]}, [], "t.csv: line 2, column 'b': 'x' is not a"),
        ({"a": [1, 2], "b": [1, 2]}, [], "has 2 rows .* needs 3"),
        ({"a": [1] * 5, "b": [1] * 5, "c": [1] * 5}, [], "third column, 'c', has 1 different"),
        (dict.fromkeys("abcd", [1] * 5), [], "has 4 columns, 'a', .* name them with --columns"),
        ({"a": [1] * 5, "b": [1] * 5}, ["--columns", "a,z"], "no column 'z'"),
        ({"a": [1] * 5, "b": [1] * 5}, ["--exclude", "z"], "no column 'z'; the columns are 'a'"),
        ({"a": [1] * 5, "b": [1] * 5}, ["--exclude", "b,a"], "leaves no column of t.csv; exclude"),
        (
            {"a": [1] * 5, "b": [1] * 5},
            ["--exclude", "b", "--columns", "a"],
            "--columns 'a' and --exclude 'b' both choose columns",
        ),
        ({"a": [1] * 5, "b": [1] * 5}, ["--port", "65536"], "0 to 65535, got '65536'"),
        ({"a": [1] * 5, "b": [1] * 5}, ["--idle", "0"], "must be a positive number"),
    ],
)
def test_tables_and_options_that_are_refused(columns, argv, message, folder, capsys):
    write_csv("t.csv", columns)
    fails(capsys, ["explore", "t.csv", *BRIEF, *argv], message)


def test_columns_without_a_table(folder, capsys):
    fails(capsys, ["explore", "--columns", "a"], "name the CSV, too")
    fails(capsys, ["explore", "--exclude", "a"], "--exclude a names columns .* name the CSV, too")
    fails(capsys, ["explore", "nothing.csv"], "nothing.csv")


def test_a_port_that_is_taken(folder, capsys):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        fails(capsys, ["explore", "--port", port, *BRIEF], f"--port {port}: .* name another")


def test_the_browser_is_opened(folder, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert main(["explore", "--idle", "0.01"]) == 0
    assert opened and opened[0] in capsys.readouterr().out
    assert main(["explore", *BRIEF]) == 0
    assert len(opened) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_the_address_comes_first_and_an_interrupt_ends_it():
    argv = [sys.executable, "-m", "sparsebayes", "explore", "--no-browser", "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # where tests run in the background
    try:
        child = subprocess.Popen(argv, cwd=ROOT, **pipes)
    finally:
        signal.signal(signal.SIGINT, before)
    with child:
        try:
            url = json.loads(child.stdout.readline())["url"]
            with urllib.request.urlopen(url, timeout=30) as page:
                assert b"<title>sparsebayes explorer</title>" in page.read()
            child.send_signal(signal.SIGINT)
            assert child.wait(30) == 0
        finally:
            child.kill()
        assert child.stdout.read() == b""
        assert b"explorer ended" in child.stderr.read()


# What the page starts with.


def test_choices_are_the_librarys(monkeypatch):
    assert choices()["solver"] == list(SOLVERS)
    monkeypatch.setitem(SOLVERS, "another", None)
    assert "another" in choices()["solver"]


def test_examples_can_be_asked_for():
    for kind, data in examples().items():
        quick = {} if kind == "denoise" else {"width": 1.0, "calibrate": None}
        assert explore({"kind": kind, **data, **quick})["summary"]["converged"]
    assert list(examples()) == list(VIEWS)
    start = make_start()
    assert json.loads(json.dumps(start, allow_nan=False)) == start
