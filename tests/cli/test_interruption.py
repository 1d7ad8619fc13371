"""Commands that end early: Ctrl-C is exit code 130 and no file, a closed pipe 141 and no word."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from sparsebayes.cli import main
from sparsebayes.engine import Sequential
from tests.cli.tables import write_csv

# The command as it is, but it says when the search has begun.
COMMAND = """
import signal
import sys
from sparsebayes.cli import main
from sparsebayes.engine import Sequential

climb = Sequential.climb

def told(self, problem, tol, rng):
    print("searching", flush=True)
    return climb(self, problem, tol, rng)

Sequential.climb = told
# A process that was started in the background by a shell ignores the signal otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def large(path, n_rows=1500):
    """A table whose fit takes far longer than the test."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((n_rows, 6))
    y = np.sin(2 * inputs[:, 0]) * inputs[:, 1] + 0.3 * rng.standard_normal(n_rows)
    write_csv(path, {**{f"x{j}": x for j, x in enumerate(inputs.T)}, "y": y})


def test_ctrl_c_of_a_fit(tmp_path):
    table, output, figures = tmp_path / "data.csv", tmp_path / "model.skops", tmp_path / "figures"
    large(table)
    argv = ["fit", str(table), "--target", "y", "-o", str(output), "--figures", str(figures)]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "searching\n"
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "sparsebayes: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    assert set(out.splitlines()) <= {"searching"}


@pytest.mark.parametrize("folds", ["0", "3"])
def test_a_cut_fit_is_not_a_model(tmp_path, monkeypatch, capsys, folds):
    """Neither in the fit itself nor, the model being done, in its cross-validation."""
    monkeypatch.chdir(tmp_path)
    climb, searches = Sequential.climb, []

    def cut(self, problem, tol, rng):
        searches.append(problem)
        if len(searches) > int(folds):
            yield next(climb(self, problem, tol, rng))
            raise KeyboardInterrupt
        return (yield from climb(self, problem, tol, rng))

    monkeypatch.setattr(Sequential, "climb", cut)
    assert main(["fit", "-o", "m.skops", "--length-scale", "30", "--folds", folds]) == 130
    assert capsys.readouterr() == ("", "sparsebayes: interrupted\n")
    assert len(searches) == int(folds) + 1
    assert list(tmp_path.iterdir()) == []


# Closed pipes.

# With the variable, Python writes at once; users seldom have it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def reader_gone(argv, lines=0, **streams):
    """Run the command, close its output after some lines; exit code, these lines, stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sparsebayes", *argv],
        stdout=subprocess.PIPE,
        stderr=streams.get("stderr", subprocess.PIPE),
        env=ENVIRONMENT,
    )
    try:
        read = [process.stdout.readline() for _ in range(lines)]
        process.stdout.close()
        err = b"" if process.stderr is None else process.stderr.read()
        return process.wait(60), read, err
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


@pytest.mark.slow
def test_predictions_for_head(tmp_path, model_file):
    """More text than a pipe holds: the first write that nobody reads fails."""
    table = tmp_path / "big.csv"
    write_csv(table, {"temperature": np.linspace(100.0, 300.0, 20_000)})
    status, read, err = reader_gone(["predict", model_file, str(table)], lines=1)
    assert (status, err) == (141, b"")
    assert read == [b"mean,std,lower,upper,inside\n"]


@pytest.mark.parametrize("argv", [["--version"], ["--help"]])
def test_text_that_is_written_at_the_end(argv):
    """It is still in the buffer when the command is done; the interpreter must not find it."""
    assert reader_gone(argv) == (141, [], b"")


def test_errors_that_nobody_reads():
    """As in ``sparsebayes fly 2>&1 | head -0``."""
    assert reader_gone(["fly"], stderr=subprocess.STDOUT)[0] == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("argv", [["--version"], ["inspect"], ["inspect", "--json"]])
def test_a_disk_that_is_full(argv, model_file, monkeypatch, capsys):
    """Standard output goes to a file on it."""
    command = [*argv[:1], model_file, *argv[1:]] if argv != ["--version"] else argv
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(command) == 2
    told = "sparsebayes: error: standard output: No space left on device\n"
    assert capsys.readouterr().err == told


def test_other_errors_of_files_are_told(capsys, folder):
    assert main(["inspect", "nothing.skops"]) == 2
    assert "nothing.skops: No such file or directory" in capsys.readouterr().err


def test_exit_codes_are_documented(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.split()).partition("exit codes:")[2]
    for code in ("0;", "2 after an error", "130 after Ctrl-C", "141 if the reader"):
        assert code in told
