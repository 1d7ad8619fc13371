"""What reads the output ends first: exit code 141, and nothing on stderr."""

import os
import subprocess
import sys

import numpy as np
import pytest

from sparsebayes.cli import main
from tests.cli.tables import write_csv

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


def test_other_errors_of_files_are_told(capsys, folder):
    assert main(["inspect", "nothing.skops"]) == 2
    assert "nothing.skops: No such file or directory" in capsys.readouterr().err


def test_exit_codes_are_documented(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.split()).partition("exit codes:")[2]
    for code in ("0;", "2 after an error", "130 after Ctrl-C", "141 if the reader"):
        assert code in told
