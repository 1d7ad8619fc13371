"""The runner of the experiments; the experiments themselves take minutes."""

import csv

import numpy as np
import pytest

import experiments
from experiments.__main__ import main
from experiments._report import HEADER, Options, Report, number


def test_list_names_each_experiment_with_one_line(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(experiments.NAMES)
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


def test_unknown_name_is_an_error_that_lists_the_known(tmp_path, capsys):
    assert main(["tipping2001.nothing", "--out", str(tmp_path / "r")]) == 2
    streams = capsys.readouterr()
    assert "tipping2001.nothing" in streams.err and "tipping2001.sinc" in streams.err
    assert not streams.out and not (tmp_path / "r").exists()


def test_tiny_run_prints_and_writes_the_same_table(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    arguments = ["tipping2001.sinc", "--quick", "--repetitions", "2", "--out", str(tmp_path / "r")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    files = sorted(p.name for p in (tmp_path / "r").iterdir())
    assert files == [f"tipping2001.sinc{e}" for e in (".csv", ".md", "_fig1.png", "_fig2.png")]
    text = (tmp_path / "r" / "tipping2001.sinc.csv").read_text(encoding="utf-8")
    table = list(csv.reader(text.splitlines()))
    assert tuple(table[0]) == HEADER
    for row in table[1:]:
        assert row[0] in printed and row[2] in printed
    assert (tmp_path / "r" / "tipping2001.sinc_fig1.png").read_bytes().startswith(b"\x89PNG")


def test_missing_data_is_one_clear_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    arguments = ["quinonero2004.subspace_kin40k", "--quick", "--out", str(tmp_path / "r")]
    assert main(arguments) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_row_holds_mean_standard_error_and_count():
    report = Report("title")
    report.add("a", 2.0, np.array([1.0, 2.0, 3.0]))
    assert report.rows == [("a", "2", "2.000", "0.58", "3")]
    assert "| a | 2 | 2.000 | 0.58 | 3 |" in report.markdown()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0187, "0.01870"), (3505.4, "3505"), (0.0, "0"), (1.9e-6, "1.900e-06"), (-22.6, "-22.60")],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text


def test_repetitions_override_the_defaults():
    assert Options().count(100, 5) == 100
    assert Options(quick=True).count(100, 5) == 5
    assert Options(quick=True, repetitions=2).count(100, 5) == 2
