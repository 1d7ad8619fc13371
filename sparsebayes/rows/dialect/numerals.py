"""How numbers and missing values are written in cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MARKS = {".": "point", ",": "comma"}  # between whole numbers and fractions
_BLANKS = "\u00a0\u2009\u202f"  # that typesetters put between thousands
_MINUS = "\u2212"
# In columns of text, where a dash may be a label.
_ABSENT = frozenset(("", "na", "n/a", "#n/a", "#nv", "nan", "null", "<na>"))
_ABSENT_NUMBERS = _ABSENT | {"none", "-", "--", "—", "–", "?", ".", "n.a."}
_WITH_UNIT = re.compile(
    r"[-+]?(?:\d[\d.,]*)(?:[eE][-+]?\d+)?\s*(%|‰|°\s?[CFK]?|[A-Za-zµμΩ][A-Za-zµμΩ/²³0-9]{0,5})"
)


def is_missing(cell: str, *, text: bool = False) -> bool:
    """Whether a cell of a column of numbers, or of text, stands for a missing value."""
    return cell.strip().lower() in (_ABSENT if text else _ABSENT_NUMBERS)


def unit_of(cell: str) -> str | None:
    """The unit that follows a number in a cell."""
    found = _WITH_UNIT.fullmatch(cell.strip())
    return None if found is None else found[1]


@lru_cache(maxsize=4)
def _grammar(decimal: str, blanks: bool) -> re.Pattern[str]:
    """Numbers with this decimal mark: plain, or in groups of three digits."""
    other = "," if decimal == "." else "."
    mark, between = re.escape(decimal), f"{re.escape(other)}'’" + (f" {_BLANKS}" if blanks else "")
    plain = rf"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    groups = rf"[1-9][0-9]{{0,2}}(?P<between>[{between}])[0-9]{{3}}(?:(?P=between)[0-9]{{3}})*"
    return re.compile(rf"\s*[-+{_MINUS}]?(?:{plain}|{groups}(?:{mark}[0-9]*)?)\s*")


def looks_like_number(cell: str, decimal: str | None = None, *, blanks: bool = True) -> bool:
    """Whether a cell is a number with this decimal mark, or with any."""
    marks = MARKS if decimal is None else (decimal,)
    return any(_grammar(mark, blanks).fullmatch(cell) is not None for mark in marks)


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a file are written.

    Parameters
    ----------
    decimal : str
        The decimal mark, a point or a comma.
    sure : bool
        Whether numbers of the file, or the user, have told it. Only then the other mark may stand
        between thousands.
    thousands : str
        What stands between thousands in the first lines, if anything does.
    """

    decimal: str = "."
    sure: bool = False
    thousands: str = ""

    @property
    def other(self) -> str:
        """The mark that is not the decimal one."""
        return "," if self.decimal == "." else "."

    def plain(self, cell: str) -> str | None:
        """A number as Python writes it; None for anything else."""
        found = _grammar(self.decimal, True).fullmatch(cell)
        if found is None or (not self.sure and self.other in cell):
            return None
        cell = cell.strip().replace(_MINUS, "-")
        if found["between"] is not None:
            cell = cell.replace(found["between"], "")
        return cell.replace(self.decimal, ".")


def decimal_told_by(cell: str) -> str | None:
    """The decimal mark that a number tells: a point, a comma, "either", or None."""
    by_point, by_comma = (looks_like_number(cell, mark) for mark in MARKS)
    if by_point != by_comma:
        return "." if by_point else ","
    return "either" if by_point and ("." in cell or "," in cell) else None


def find_numerals(cells: Iterable[tuple[str, str]], delimiter: str | None) -> Numerals:
    """How numbers are written, from those of a file and their places; ValueError if none can tell.

    A number such as 1.5 tells that the decimal mark is a point, 1,5 that it is a comma. 1.234 may
    be either; where nothing else tells, it is a fraction in files separated by commas or blanks.
    """
    told: dict[str, tuple[str, str]] = {}
    cells = list(cells)
    for cell, place in cells:
        if ("." in cell or "," in cell) and (mark := decimal_told_by(cell)) is not None:
            told.setdefault(mark, (cell.strip(), place))
    if "." in told and "," in told:
        (point, where), (comma, there) = told["."], told[","]
        raise ValueError(
            f"{there}: {comma!r} has a decimal comma, but {point!r} ({where}) a decimal point; "
            "write all numbers with one of them, or say which it is (option decimal) and leave the "
            "other column out"
        )
    if told.keys() & MARKS.keys():
        return with_thousands("." if "." in told else ",", (cell for cell, _ in cells))
    if "either" in told:
        cell, place = told["either"]
        if delimiter not in (",", " ") or "," in cell:
            raise ValueError(
                f"{place}: {cell!r} may be a fraction or a number above a thousand, and no other "
                "number of the file tells; say what the decimal mark is (option decimal, '.' or "
                "',')"
            )
    return with_thousands(".", (cell for cell, _ in cells), sure=False)


def refuse_fractions(column: Sequence[tuple[str, str]]) -> None:
    """ValueError if all numbers of a column are such as 48.123, though others have decimal commas.

    Numbers above a thousand would be mixed with smaller or larger ones; these may be fractions of
    another program.
    """
    numbers = [one for one in column if looks_like_number(one[0])]
    if numbers and all("." in cell and decimal_told_by(cell) == "either" for cell, _ in numbers):
        cell, place = numbers[0]
        raise ValueError(
            f"{place}: {cell.strip()!r} may be a fraction or a number above a thousand, though "
            "other columns have decimal commas; say what the decimal mark is (option decimal, '.' "
            "or ',')"
        )


def with_thousands(decimal: str, cells: Iterable[str], *, sure: bool = True) -> Numerals:
    """Numbers with a known decimal mark, and what stands between their thousands."""
    grammar = _grammar(decimal, True)
    found = (match["between"] for cell in cells if (match := grammar.fullmatch(cell)) is not None)
    return Numerals(decimal, sure, next(filter(None, found), ""))
