"""A table that two experiments make together."""

import pytest

from experiments import _page, _rows
from experiments.__main__ import PAGE, STORED
from experiments._report import Report

ROW = _rows.Row("KTH19", "Table 1", "kth2019.classification", "kth2019.regression")


def store(folder, name, *, quick=False, **found):
    report = Report(name)
    report.row = ROW.id
    for key, (paper, ours) in found.items():
        report.add(key, paper, ours, best="low")
    report.note(f"{ROW.id}: why {name} is so")
    about = {"commit": "abc", "date": "2026-01-01", "seconds": 1.0, "quick": quick, "state": {}}
    report.save(folder, name, about)


@pytest.fixture
def judged(tmp_path, monkeypatch):
    monkeypatch.setattr(_page, "ROWS", (ROW,))
    return lambda: next(_page.judged(tmp_path))


def test_one_half_of_a_table_is_not_judged(tmp_path, judged):
    store(tmp_path, ROW.experiment, a=(1.0, 1.0))
    assert judged().verdict == "missing" and not judged().values
    assert "Not stored yet." in _page.page([judged()], "")
    store(tmp_path, ROW.also, quick=True, b=(1.0, 1.0))
    assert judged().verdict == "missing"


def test_values_of_both_halves_count(tmp_path, judged):
    store(tmp_path, ROW.experiment, a=(1.0, 1.0), **{"mean |a|": (None, 3.0)})
    store(tmp_path, ROW.also, b=(1.0, 2.0))
    assert judged().verdict == "short"  # one of two
    assert [value.name for value in judged().values] == ["a", "mean |a|", "b"]
    assert judged().commit == "abc" and len(judged().reasons) == 2
    text = _page.page([judged()], "")
    assert "**short** (1 / 0 / 1); " in text and "| short | 1 / 0 / 1 |" in text
    assert "\n\nWhy kth2019.regression is so\n" in text  # a paragraph of its own
    assert r"| mean \|a\| |  | 3.000 |  |" in text  # a bar in a name ends no cell
    assert ROW.experiment in text and f"python -m experiments {ROW.also}" in text


def test_the_page_counts_what_holds_on_few_draws(tmp_path, judged):
    report = Report("a", row=ROW.id)
    report.shown("it rises", [True, False, False])
    about = {"commit": "abc", "date": "2026-01-01", "seconds": 1.0, "quick": False, "state": {}}
    report.save(tmp_path, ROW.experiment, about)
    store(tmp_path, ROW.also)
    assert (judged().verdict, judged().strict) == ("agrees", "short")
    assert "shows of one, 1 more would be short" in _page.page([judged()], "")


def test_the_page_of_the_site_says_what_is_stored():
    """But for which rows are stale: that changes with the package, without a new result."""
    page = _page.page(list(_page.judged(STORED)), "../experiments/results")
    stored = PAGE.read_text("utf-8")
    assert stored.replace(" (stale)", "") == page.replace(" (stale)", ""), "experiments report"
