"""How the command line refuses; shared by its tests."""

import os
import re

from sparsebayes.cli import main


def fails(capsys, argv, message):
    """One line on stderr that matches, exit code 2, nothing on stdout, no file touched."""
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    try:
        status = main(argv)
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert err.startswith("sparsebayes: error: ") and err.count("\n") == 1 and err.endswith("\n")
    assert re.search(message, err), err
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before
