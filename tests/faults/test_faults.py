"""Some of each kind of fault; `python -m tests.faults` tries many."""

import os
import signal
import sys
import tempfile

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sparsebayes._support import files
from sparsebayes._support.files import write_files
from sparsebayes.cli.parser import COMMANDS
from sparsebayes.cli.reports.answer import write_outputs
from sparsebayes.rows.files import open_file
from tests.faults.__main__ import PARTS, run
from tests.faults.at_once import at_once
from tests.faults.children import in_child
from tests.faults.disk import mounting, on_full_disk, read_only, with_small_files
from tests.faults.estimators import CASES, public_estimators
from tests.faults.every_line import at_every_line, interrupted_when
from tests.faults.interrupts import in_command
from tests.faults.kills import killed
from tests.faults.workers import fork_beside_fits
from tests.faults.writers import STRAY, writers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
needs_mounts = pytest.mark.skipif(
    not hasattr(os, "fork") or mounting() is not None, reason="nothing can be mounted here"
)
QUICK = ["save", "predict", "export json"]


def test_every_estimator_is_tried():
    assert {type(case.make()).__name__ for case in CASES.values()} == public_estimators()


def test_every_command_that_writes_is_tried():
    assert {name.split()[0] for name in writers()} - {"save"} == set(COMMANDS) - {
        "compare",
        "completion",
        "explore",
    }


@pytest.mark.sampled
@pytest.mark.parametrize("delay", [0.0, 1e-4, 1e-3])
def test_kills(delay, tmp_path):
    assert killed(writers()["save"], delay, tmp_path).faults == ()


def test_a_file_that_was_left_is_recognised(tmp_path):
    """The process ends while its file is half written."""

    def half():
        yield b"half"
        os.kill(os.getpid(), signal.SIGKILL)

    name = "ü" * 127  # the longest that there is
    assert in_child(lambda: write_files({tmp_path / name: half()})).signal == signal.SIGKILL
    (stray,) = os.listdir(tmp_path)
    assert STRAY.fullmatch(stray) and len(os.fsencode(stray)) < 256
    write_files({tmp_path / name: b"whole"})
    assert sorted(os.listdir(tmp_path)) == sorted([name, stray])


def test_writers_at_once(tmp_path):
    assert at_once(writers()["save"], tmp_path).faults == ()


@pytest.mark.sampled
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("share", [0.0, 0.9])
def test_files_that_may_not_grow(name, share, tmp_path):
    writer = writers()[name]
    assert writer.contents
    assert in_child(lambda: with_small_files(writer, share, tmp_path)).answer == []


@needs_mounts
@pytest.mark.parametrize("name", QUICK)
def test_a_full_disk(name, tmp_path):
    writer = writers()[name]
    assert writer.contents
    assert in_child(lambda: on_full_disk(writer, 0.5, tmp_path)).answer == []


@needs_mounts
@pytest.mark.parametrize("name", QUICK)
def test_a_directory_that_is_read_only(name, tmp_path):
    writer = writers()[name]
    assert writer.contents
    assert in_child(lambda: read_only(writer, tmp_path)).answer == []


def test_a_directory_for_figures_is_not_left_empty(tmp_path):
    """Where the files could not be written."""

    def fails():
        yield b"half"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_outputs({tmp_path / "a" / "b" / "figure.png": fails()}, str(tmp_path / "a" / "b"))
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore:unclosed file")  # which it was about to give to `with`
def test_a_writer_is_interrupted_at_every_line(tmp_path):
    """Then all files are old, or all are new, and there are no others."""
    one, two = tmp_path / "one", tmp_path / "two"
    found = []
    for _ in at_every_line(
        lambda: write_files({one: b"new", two: iter([b"n", b"ew"])}), files.__file__
    ):
        assert sorted(os.listdir(tmp_path)) in ([], ["one", "two"])
        found.append(tuple(path.read_bytes() for path in (one, two) if path.exists()))
        assert found[-1] in ((), (b"old", b"old"), (b"new", b"new"))
        for path in (one, two):
            path.write_bytes(b"old")
    assert {(b"old", b"old"), (b"new", b"new")} <= set(found) and len(found) > 30


def test_what_came_through_a_pipe_is_not_left(tmp_path, monkeypatch):
    """Ctrl-C while it is read."""

    class Pipe:
        def __init__(self):
            self.buffer, self.begun = self, False

        def read(self, size):
            if self.begun:
                assert len(os.listdir(tmp_path)) == 1
                raise KeyboardInterrupt
            self.begun = True
            return b"a,b\n"

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Pipe())
    with pytest.raises(KeyboardInterrupt):
        open_file("-")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("share", [0.1, 0.8])
def test_an_interrupted_command(share):
    assert in_command(writers()["predict"], share).faults == ()


@pytest.mark.parametrize("name", [name for name in CASES if "Forecaster" not in name])
def test_a_fit_that_is_interrupted_changes_nothing(name):
    """As soon as it has changed an attribute."""
    case = CASES[name]
    model = case.make()
    model.n_features_in_ = 7  # as if it had been fitted
    before = vars(model).copy()

    def changed(frame):
        return vars(model).keys() != before.keys() or any(
            vars(model)[key] is not before[key] for key in before
        )

    assert interrupted_when(lambda: case.fit(model), changed)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)
    del model.n_features_in_
    if name != "LeaveOneOutGPR":  # which answers before it is fitted, as scikit-learn's do
        with pytest.raises(NotFittedError):
            case.arrays(model)


@pytest.mark.slow
def test_a_fork_in_the_middle_of_a_fit():
    assert fork_beside_fits() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_many(name):
    make, wanted = PARTS[name]
    tried, violations = run(name, make(np.random.default_rng(1)), wanted and wanted // 10)
    assert tried and not violations
