"""Dates in columns of text: the forms that are known, how they are read and written again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from sparsebayes._support.optional import require
from sparsebayes.rows.table import Table, TableError, is_number

Writer = Callable[[Any], str]

_KNOWN = "2024-01-31, 31.01.2024, Jan 2024, 2024Q1 or 2024W05"
_DAY_MONTH_YEAR = re.compile(r"(\d\d?)([./-])(\d\d?)\2(\d{4}|\d\d)([ T]\d\d?:\d\d(:\d\d)?)?")
_ISO = re.compile(r"\d{4}-\d\d(-\d\d([T ].*)?)?")
_WEEK = re.compile(r"(\d{4})(-?)W(\d\d)")
_QUARTERS = {
    r"(?P<year>\d{4})(?P<between>[- ]?)[Qq](?P<quarter>[1-4])": "{year}{between}Q{quarter}",
    r"[Qq](?P<quarter>[1-4])(?P<between>[- /]?)(?P<year>\d{4})": "Q{quarter}{between}{year}",
}
# Of digits alone, which are dates only where all of them can be.
_DIGITS = {r"(1[6-9]|2[01])\d{6}": "%Y%m%d", r"(19|20)\d{4}": "%Y%m"}
_STRPTIME = {
    **_DIGITS,
    r"\d{4}/\d\d?/\d\d?": "%Y/%m/%d",
    r"\d{4}\.\d\d?\.\d\d?": "%Y.%m.%d",
    r"\d{4}/\d\d?": "%Y/%m",
    r"\d\d?/\d{4}": "%m/%Y",
    r"\d\d?-\d{4}": "%m-%Y",
    r"\d{4}M\d\d?": "%YM%m",
}
for _between in (" ", "-", "/"):
    for _word, _directive in ((r"[A-Za-z]{3}", "%b"), (r"[A-Za-z]{3,9}", "%B")):
        _STRPTIME[f"{_word}{_between}" r"\d{4}"] = f"{_directive}{_between}%Y"
        _STRPTIME[r"\d{4}" f"{_between}{_word}"] = f"%Y{_between}{_directive}"
        _STRPTIME[f"{_word}{_between}" r"\d\d"] = f"{_directive}{_between}%y"
        _STRPTIME[r"\d\d?" f"{_between}{_word}{_between}" r"\d{4}"] = (
            f"%d{_between}{_directive}{_between}%Y"
        )
        _STRPTIME[r"\d\d?" f"{_between}{_word}{_between}" r"\d\d"] = (
            f"%d{_between}{_directive}{_between}%y"
        )
        _STRPTIME[f"{_word} " r"\d\d?, \d{4}"] = f"{_directive} %d, %Y"


@dataclass(frozen=True)
class Dates:
    """A column of dates.

    Attributes
    ----------
    index : pandas.DatetimeIndex
    write : callable
        Writes a date in the form of the column.
    """

    index: Any
    write: Writer


def are_dates(cells: list[str]) -> bool:
    """Whether cells that are all numbers are dates such as 20240131 nevertheless."""
    for pattern, style in _DIGITS.items():
        if all(re.fullmatch(pattern, cell) for cell in cells):
            pandas = require("pandas", "A column of dates")
            return not pandas.to_datetime(cells, format=style, errors="coerce").isna().any()
    return False


def read_dates(table: Table, name: str, style: str | None = None) -> Dates:
    """A column of dates in one of the usual forms, or in that which `style` tells strptime."""
    cells = [cell.strip() for cell in table.texts(name)]
    caller = f"{table.source}: column {name!r} of dates (without --time the steps are counted)"
    require("pandas", caller)
    if style is not None:
        return _by_style(table, name, cells, style)
    for reader in (_iso, _weeks, _quarters, _numeric, _other):
        found = reader(table, name, cells)
        if found is not None:
            return found
    return _complain(table, name, cells)


def _complain(table: Table, name: str, cells: list[str]) -> Any:
    """Of the first cell that is no date, or is not in the form of the first."""
    patterns = [_ISO, _WEEK, _DAY_MONTH_YEAR]
    patterns += [re.compile(pattern) for pattern in (*_QUARTERS, *_STRPTIME)]
    usual = [pattern for pattern in patterns if pattern.fullmatch(cells[0])]
    for i, cell in enumerate(cells):
        if not any(pattern.fullmatch(cell) for pattern in usual or patterns):
            what = f"is not in the form of {cells[0]!r}" if usual else "is neither a number nor"
            known = "" if usual else f" a date such as {_KNOWN}"
            raise TableError(
                f"{table.where(i, name)}: {cell!r} {what}{known}; tell the form with --date-format"
            )
    raise TableError(
        f"{table.source}: column {name!r} has dates in several forms, such as {cells[0]!r}; tell "
        "the form with --date-format"
    )


def _parsed(table: Table, name: str, cells: list[str], style: str) -> Any:
    """The dates, or a clear error that points at the first cell that is none."""
    pandas = require("pandas", "A column of dates")
    try:
        return pandas.DatetimeIndex(pandas.to_datetime(cells, format=style), name=name)
    except ValueError as error:
        try:
            none = pandas.to_datetime(cells, format=style, errors="coerce").isna()
        except ValueError:
            none = []
        for i, missing in enumerate(none):
            if missing:
                form = "" if style == "ISO8601" else f" in the form {style!r}"
                raise TableError(
                    f"{table.where(i, name)}: {cells[i]!r} is no date{form}; correct it or tell "
                    "the form with --date-format"
                ) from error
        raise TableError(f"{table.source}: column {name!r}: {error}") from error


def _by_style(table: Table, name: str, cells: list[str], style: str) -> Dates:
    return Dates(_parsed(table, name, cells, style), _writer(style, cells))


def _writer(style: str, cells: list[str]) -> Writer:
    """Writes as strptime reads, without leading zeros or in capitals if the cells are so."""
    bare = any(re.search(r"(?<![\d:])\d(?![\d:])", cell) for cell in cells)
    loud = "%b" in style.lower() and all(cell == cell.upper() for cell in cells)

    def write(value: Any) -> str:
        form = style
        if bare:
            form = form.replace("%d", str(value.day)).replace("%m", str(value.month))
        text = value.strftime(form)
        return text.upper() if loud else text

    return write


def _iso(table: Table, name: str, cells: list[str]) -> Dates | None:
    if not all(map(_ISO.fullmatch, cells)):
        return None
    index = _parsed(table, name, cells, "ISO8601")
    day = r"\d{4}-\d\d-\d\d"
    for pattern, style in (
        (r"\d{4}-\d\d", "%Y-%m"),
        (day, "%Y-%m-%d"),
        (day + r" \d\d:\d\d", "%Y-%m-%d %H:%M"),
        (day + r"T\d\d:\d\d", "%Y-%m-%dT%H:%M"),
    ):
        if all(re.fullmatch(pattern, cell) for cell in cells):
            return Dates(index, partial(_strftime, style))
    separator = "T" if "T" in cells[-1] else " "
    if all(cell.endswith("Z") for cell in cells):
        return Dates(index, lambda v: v.isoformat(sep=separator).replace("+00:00", "Z"))
    return Dates(index, lambda value: value.isoformat(sep=separator))


def _weeks(table: Table, name: str, cells: list[str]) -> Dates | None:
    """ISO weeks, of which the Monday stands for all days."""
    pandas = require("pandas", "A column of dates")
    found = [_WEEK.fullmatch(cell) for cell in cells]
    days = []
    for i, match in enumerate(found):
        if match is None:
            return None
        try:
            days.append(date.fromisocalendar(int(match[1]), int(match[3]), 1))
        except ValueError as error:
            raise TableError(f"{table.where(i, name)}: {cells[i]!r} is no week: {error}") from error
    between = found[0][2] if found[0] is not None else ""

    def write(value: Any) -> str:
        year, week, _ = value.isocalendar()
        return f"{year}{between}W{week:02d}"

    return Dates(pandas.DatetimeIndex(days, name=name), write)


def _quarters(table: Table, name: str, cells: list[str]) -> Dates | None:
    """Quarters, of which the first day stands for all."""
    pandas = require("pandas", "A column of dates")
    for pattern, form in _QUARTERS.items():
        found = [match for cell in cells if (match := re.fullmatch(pattern, cell)) is not None]
        if len(found) == len(cells):
            days = [f"{match['year']}-{3 * int(match['quarter']) - 2:02d}-01" for match in found]
            index = pandas.DatetimeIndex(pandas.to_datetime(days, format="%Y-%m-%d"), name=name)
            return Dates(index, partial(_quarter, form, found[0]["between"]))
    return None


def _quarter(form: str, between: str, value: Any) -> str:
    return form.format(year=value.year, quarter=value.quarter, between=between)


def _strftime(style: str, value: Any) -> str:
    return str(value.strftime(style))


def _numeric(table: Table, name: str, cells: list[str]) -> Dates | None:
    """Days, months and years as numbers; the whole column tells which of the first two is which."""
    found = [match for match in map(_DAY_MONTH_YEAR.fullmatch, cells) if match is not None]
    if len(found) < len(cells):
        return None
    forms = {(match[2], len(match[4]), bool(match[5]), bool(match[6])) for match in found}
    if len(forms) > 1:
        return None
    ((mark, digits, timed, seconds),) = forms
    first = max(int(match[1]) for match in found)
    second = max(int(match[3]) for match in found)
    if max(first, second) <= 12 and mark != ".":
        raise TableError(
            f"{table.source}: column {name!r} has dates such as {cells[0]!r}, of which the day or "
            f"the month may come first; tell it with --date-format %d{mark}%m{mark}%Y or "
            f"%m{mark}%d{mark}%Y"
        )
    year = "%Y" if digits == 4 else "%y"
    month_first = second > 12 >= first
    style = mark.join(["%m", "%d", year] if month_first else ["%d", "%m", year])
    if timed:
        style += found[0][5][0] + ("%H:%M:%S" if seconds else "%H:%M")
    return _by_style(table, name, cells, style)


def _other(table: Table, name: str, cells: list[str]) -> Dates | None:
    for pattern, style in _STRPTIME.items():
        if not all(re.fullmatch(pattern, cell) for cell in cells):
            continue
        # Short names of months are long ones in May.
        if "%B" in style or "%b" in style:
            pandas = require("pandas", "A column of dates")
            if pandas.to_datetime(cells, format=style, errors="coerce").isna().any():
                continue
        return _by_style(table, name, cells, style)
    return None


def all_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers and no dates."""
    return all(map(is_number, cells)) and not are_dates(cells)
