"""What the user says of how a file is to be read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from sparsebayes.rows.dialect.numerals import MARKS

_WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "blanks": " "}


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; None for what is found in the file.

    Parameters
    ----------
    delimiter : str, default=None
        One character, or "tab"; "space" is any run of blanks.
    decimal : {".", ","}, default=None
    encoding : str, default=None
        As Python names it.
    header : int or "none", default=None
        The line that names the columns, the first being 1; "none" if there is none.
    sheet : str, default=None
        Of an Excel file; None for the first.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: int | str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "decimal", "encoding", "sheet"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be a text, got {value!r}.")
        if self.delimiter is not None:
            mark = _WORDS.get(self.delimiter, self.delimiter)
            if len(mark) != 1 or mark.isalnum() or mark in '".-+\r\n':
                raise ValueError(
                    f"delimiter must be one character, such as ';', or 'tab' or 'space', got "
                    f"{self.delimiter!r}."
                )
            object.__setattr__(self, "delimiter", mark)
        if self.decimal is not None and self.decimal not in MARKS:
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"encoding {self.encoding!r} is not known; utf-8, utf-16, cp1252 and latin-1 "
                    "are, and others that Python has."
                ) from None
        whole = isinstance(self.header, int) and not isinstance(self.header, bool)
        word = self.header is None or (isinstance(self.header, str) and self.header == "none")
        if not (word or (whole and int(self.header or 0) >= 1)):
            raise ValueError(
                f"header must be the number of a line, 1 or more, or 'none', got {self.header!r}."
            )
