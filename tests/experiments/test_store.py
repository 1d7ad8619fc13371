"""Units of work are kept as they end; verdicts follow the stated rule."""

import os

import pytest

import experiments
from experiments import _code, _store
from experiments._report import Report, duration, repeat
from experiments._rows import DOCUMENTS, ROWS
from experiments._verdicts import of_all, of_number

NAME = "tipping2001.sinc"


def unit(folder, number):
    """Fails for a number whose file is there, and tells that it was called."""
    if os.path.exists(os.path.join(folder, f"stop{number}")):
        raise KeyboardInterrupt
    with open(os.path.join(folder, "calls"), "a") as calls:
        calls.write(f"{number} ")
    return 10 * number


def test_a_run_that_was_stopped_goes_on(tmp_path):
    stop = tmp_path / "stop3"
    stop.touch()
    tasks = [(str(tmp_path), number) for number in range(5)]
    with _store.kept(_store.Units(tmp_path / "units", NAME)):
        with pytest.raises(KeyboardInterrupt):
            repeat(unit, tasks, jobs=1, label="units")
        stop.unlink()
        assert repeat(unit, tasks, jobs=1, label="units") == [0, 10, 20, 30, 40]
    assert (tmp_path / "calls").read_text().split() == ["0", "1", "2", "3", "4"]


def test_nothing_is_kept_of_other_code(tmp_path, monkeypatch):
    first = _store.Units(tmp_path, NAME)
    with monkeypatch.context() as changed:
        changed.setattr(_code, "package", lambda: "other")
        assert _store.Units(tmp_path, NAME).folder != first.folder
    path = first.path(unit, ("a", 1))
    with pytest.raises(KeyError):
        first.load(path)
    first.save(path, [1.5], 2.0)
    assert first.load(path) == [1.5] and path != first.path(unit, ("a", 2))
    monkeypatch.setattr(_code, "function", lambda called: "changed")
    assert first.path(unit, ("a", 1)) != path


def test_a_result_holds_while_the_bits_are_the_same(monkeypatch):
    monkeypatch.setattr(_store, "ALIKE", {"new": ("old", ("schmolck2008.table",))})
    for package, name, holds in (
        ("new", NAME, True),
        ("old", NAME, True),
        ("older", NAME, False),
        ("new", "schmolck2008.table", True),
        ("old", "schmolck2008.table", False),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(_code, "package", lambda package=package: package)
            state = _store.state_of(name)
        monkeypatch.setattr(_code, "package", lambda: "new")
        assert _store.holds(state, name) is holds
        assert not _store.holds(state | {"module": "changed"}, name)
        monkeypatch.setattr(_code, "package", lambda: "newer")
        assert _store.holds(state, name) is False


def test_the_time_of_what_was_computed_before_counts(tmp_path):
    again = _store.Units(tmp_path, NAME)
    for count in (1, 2):
        again.save(again.path(unit, ("a", count)), count, 2.5)
    assert again.seconds == 0
    with _store.kept(again):
        assert repeat(unit, [("a", 1), ("a", 2)], jobs=1, label="units") == [1, 2]
    assert again.seconds == 5
    with _store.kept(again):
        repeat(unit, [(str(tmp_path), 0)], jobs=1, label="units")
    assert again.seconds == 5  # this run's own time is not among it


def test_without_a_store_nothing_is_kept(tmp_path):
    for _ in range(2):
        repeat(unit, [(str(tmp_path), 0)], jobs=1, label="units")
    assert (tmp_path / "calls").read_text() == "0 0 "


@pytest.mark.parametrize(
    ("ours", "spread", "best", "verdict"),
    [
        (10.9, None, None, "agrees"),
        (11.1, None, None, "short"),
        (11.1, 1.5, None, "agrees"),
        (8.0, None, "low", "better"),
        (8.0, None, "high", "short"),
        (12.0, None, "high", "better"),
    ],
)
def test_a_number_beside_the_paper_s(ours, spread, best, verdict):
    assert of_number(10.0, ours, spread, best) == verdict


def test_a_table_by_its_numbers():
    assert of_all([]) == "missing"
    assert of_all(["agrees"] * 4 + ["short"]) == "agrees"
    assert of_all(["agrees"] * 3 + ["short"]) == "short"
    assert of_all(["better"] * 3 + ["agrees"] * 2) == "better"


def test_statements_hold_or_do_not():
    report = Report("title", row="T01 Fig. 1")
    report.claim("one", True)
    report.claim("other", False)
    report.add("text", "36", "35")
    report.row = ""
    report.add("ours alone", 1.0, 2.0)
    assert [value.verdict for value in report.values] == ["agrees", "short", None, None]


def test_every_table_and_figure_has_an_experiment():
    assert len(ROWS) == len({row.id for row in ROWS}) == 64
    assert {row.document for row in ROWS} == set(DOCUMENTS)
    for row in ROWS:
        assert row.experiment and set(row.experiments) <= set(experiments.NAMES), row


def test_durations():
    assert [duration(s) for s in (5, 300, 7260)] == ["5 s", "5 min", "2 h 01 min"]
