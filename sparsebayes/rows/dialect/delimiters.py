"""What stands between cells."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from sparsebayes.rows.dialect.numerals import is_missing, looks_like_number

BLANKS = " "  # any run of blanks and tabs
ONE_COLUMN = "\x1f"  # nothing is between cells: there is one in each line
_NAMES = {BLANKS: "blanks", "\t": "tabs", ONE_COLUMN: "nothing"}
# Where two do as well, the first is taken. Thousands may be set apart by blanks next to the former.
_CANDIDATES = ("\t", ";", "|", ",", BLANKS, ONE_COLUMN)
_CLEAR = ("\t", ";", "|")
_LINES = 200  # that are looked at
_LIKELY = 0.6  # of the best score, for others that are tried
_TEXT = 0.1  # what a line of text tells, compared with one of numbers


def name_of(delimiter: str) -> str:
    """A delimiter in words."""
    return _NAMES.get(delimiter, delimiter)


def split(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Cells of each line that has any, and the number of the line on which they end."""
    if delimiter == BLANKS:
        lines = (" ".join(line.split()) for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for row in reader:
        if row:
            yield reader.line_num, row


def split_plainly(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The same for lines without quotes."""
    between = None if delimiter == BLANKS else delimiter
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line.split(between)


def find_delimiters(lines: Sequence[str], decimal: str | None) -> list[str]:
    """What may stand between cells, the most likely first.

    A delimiter is likely if it makes most of the lines rows of as many cells, numbers if there are
    any.

    Parameters
    ----------
    lines : sequence of str
        Without comments.
    decimal : str or None
        The decimal mark, if it is known.
    """
    order = list(_CANDIDATES)
    if decimal == ",":  # 1,5 in a line by itself is one number
        order.remove(ONE_COLUMN)
        order.insert(order.index(","), ONE_COLUMN)
    if len(lines) > _LINES:
        lines = [*lines[: _LINES // 2], *lines[-_LINES // 2 :]]
    scores = {delimiter: _score(lines, delimiter, decimal) for delimiter in order}
    order.sort(key=lambda delimiter: -scores[delimiter])
    least = _LIKELY * scores[order[0]]
    order = [delimiter for delimiter in order if scores[delimiter] >= least > 0]
    if order[:1] == [BLANKS] and "\t" in order and not any("\t\t" in line for line in lines):
        order.insert(0, "\t")  # names may have blanks in them
    if BLANKS in order and _has_one_name(lines):
        order.remove(BLANKS)
        order = [one for one in order if one not in (",", ONE_COLUMN)] + [",", ONE_COLUMN]
    return order or [ONE_COLUMN]


def _has_one_name(lines: Sequence[str]) -> bool:
    """Whether one word stands above the first line of several, which are no words: a date."""
    above: list[str] = []
    for line in lines:
        words = line.split()
        if len(words) > 1:
            return len(above) == 1 and any(word[0].isdecimal() for word in words)
        above = words or above
    return False


def _score(lines: Sequence[str], delimiter: str, decimal: str | None) -> float:
    """How many lines are rows of the same number of cells; lines of numbers count most."""
    found: dict[int, float] = {}
    blanks = delimiter in _CLEAR
    if delimiter == ONE_COLUMN and decimal is None:  # 1,5 is two numbers unless that is known
        lines, decimal = [line for line in lines if "," not in line], "."
    try:
        for _, row in split(lines, delimiter):
            if delimiter != ONE_COLUMN and len(row) == 1:
                continue
            filled = [cell for cell in row if not is_missing(cell)]
            numbers = sum(looks_like_number(cell, decimal, blanks=blanks) for cell in filled)
            text = 0.0 if delimiter == ONE_COLUMN else _TEXT
            found[len(row)] = found.get(len(row), 0.0) + text + numbers / max(len(filled), 1)
    except csv.Error:
        return -1.0
    return max(found.values(), default=0.0)
