"""The files of docs/howto/files.md are read as it says."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from sparsebayes.cli import main
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.files import open_file

TEXT = (Path(__file__).parents[3] / "docs" / "howto" / "files.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^### ([^\n]+)\n\n`([\w.]+)`:\n\n```text\n(.*?)^```\n\n```console\n(.*?)^```\n"
    r"(?:\nRead: ([^\n]+)\n)?",
    re.DOTALL | re.MULTILINE,
)
EXAMPLES = [pytest.param(*found.groups(), id=found[1]) for found in EXAMPLE.finditer(TEXT)]


def lines_of(command, capsys):
    """What is printed, or the first line of it with a word that is asked for."""
    command, _, wanted = command.removeprefix("$ sparsebayes ").partition(" | grep -m 1 ")
    main(shlex.split(command))
    out, err = capsys.readouterr()
    found = [line for line in (out + err).splitlines() if wanted in line]
    return found[:1] if wanted else found


@pytest.mark.parametrize(("title", "name", "content", "session", "read"), EXAMPLES)
def test_files(folder, capsys, title, name, content, session, read):
    (folder / name).write_text(content, encoding="utf-8")
    shown, printed, decimal = session.splitlines(), [], None
    for command in [line for line in shown if line.startswith("$")]:
        printed += [command, *lines_of(command, capsys)]
        decimal = "," if "--decimal ," in command else decimal
    assert printed == shown
    if read is None:
        return
    file = open_file(folder / name, Reading(decimal=decimal))
    (table,) = file.tables([], None)
    told = []
    for column in file.header.columns:
        if column in file.header.text:
            cells = table.texts(column)
        else:
            values = table.values([column])[:, 0]
            cells = [np.format_float_positional(value, trim="-") for value in values]
        told.append(f"{column} = {', '.join(cells)}")
    assert "; ".join(told) == read


def test_there_are_files():
    assert len(EXAMPLES) >= 10
