"""The bytes and the text of a file: packed, from a pipe, in one encoding or another."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, TextIO

from sparsebayes._support.streams import naming
from sparsebayes.rows.table import TableError

STDIN = "-"
STDIN_NAME = "standard input"
_MOST_PIPED = 4 << 30  # bytes of a pipe that are kept in a temporary file
_LOOKED_AT = 1 << 24  # bytes from which the encoding is found
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_ZIP = b"PK\x03\x04"
_RATIO = 4  # of packed text, about
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an Excel file of the old kind (.xls); save it as .xlsx or .csv",
    b"PAR1": "a Parquet file; let its name end in .parquet",
    b"%PDF": "a PDF file; export the table as .csv",
    b"\x89HDF": "an HDF5 file; export the table as .csv or .parquet",
    b"\x93NUMPY": "a .npy array; save it by numpy.savetxt",
}


class FileBytes:
    """A file, or what comes through a pipe, that is read as often as one likes.

    Parameters
    ----------
    path : str or path
        "-" for standard input. What comes through a pipe is kept in a temporary file.

    Attributes
    ----------
    path : str
        Where the bytes are.
    name : str
        What messages call it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = self.name = os.fspath(path)
        self.piped = self.path == STDIN
        if self.piped:
            self.name = STDIN_NAME
            self._keep(sys.stdin.buffer)
        elif os.path.isdir(self.path):
            raise TableError(f"{self.name}: is a directory; name a file in it")
        elif not os.path.exists(self.path):
            raise TableError(f"{self.name}: no such file")
        elif not os.path.isfile(self.path):
            if not stat.S_ISFIFO(os.stat(self.path).st_mode):
                raise TableError(f"{self.name}: is a device, which may have no end; name a file")
            self.piped = True
            with open(self.path, "rb") as stream:
                self._keep(stream)
        with open(self.path, "rb") as stream:
            self.start = stream.read(8)
        if not self.start:
            raise TableError(f"{self.name}: the file is empty")
        for magic, what in _OTHERS.items():
            if self.start.startswith(magic) and not self.is_parquet:
                raise TableError(f"{self.name}: is {what}")

    def _keep(self, stream: BinaryIO) -> None:
        """Read a pipe to its end, into a file that is gone when this object is."""
        self.path = os.path.join(tempfile.gettempdir(), f"sparsebayes-{secrets.token_hex(8)}")
        weakref.finalize(self, _remove, self.path)  # before there is such a file
        private = partial(os.open, mode=0o600)
        with naming(self.path), open(self.path, "xb", opener=private) as file:
            while block := stream.read(1 << 20):
                file.write(block)
                if file.tell() > _MOST_PIPED:
                    raise TableError(
                        f"{self.name}: more than {_MOST_PIPED >> 30} GB; store it in a file and "
                        "name that"
                    )

    @property
    def is_parquet(self) -> bool:
        """By the name, or by what was piped."""
        piped = self.piped and self.start.startswith(b"PAR1")
        return piped or self.name.lower().endswith((".parquet", ".pq"))

    @property
    def is_excel(self) -> bool:
        """Whether the file holds sheets of Excel."""
        return "xl/workbook.xml" in self._members()

    def _members(self) -> list[str]:
        if not self.start.startswith(_ZIP):
            return []
        try:
            with zipfile.ZipFile(self.path) as archive:
                return [one.filename for one in archive.infolist() if not one.is_dir()]
        except zipfile.BadZipFile:
            raise TableError(f"{self.name}: a damaged .zip or .xlsx file; store it again") from None

    def stamp(self) -> tuple[int, int]:
        """What changes when the file does."""
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns

    @property
    def size(self) -> int:
        """Bytes of the text, about."""
        packed = self.start.startswith((*_PACKED, _ZIP))
        return os.path.getsize(self.path) * (_RATIO if packed else 1)

    def open(self) -> tuple[BinaryIO, BinaryIO]:
        """The bytes, unpacked, and the file itself, which tells how much was read."""
        if self.start.startswith(_ZIP):
            members = self._members()
            if len(members) != 1:
                listed = ", ".join(members[:5])
                raise TableError(f"{self.name}: holds {len(members)} files ({listed}); give one")
        file = open(self.path, "rb")  # noqa: SIM115
        for magic, unpack in _PACKED.items():
            if self.start.startswith(magic):
                return unpack(file), file
        if self.start.startswith(_ZIP):
            return zipfile.ZipFile(file).open(members[0]), file  # type: ignore[return-value]
        return file, file

    def text(self, encoding: str) -> tuple[TextIO, BinaryIO]:
        """The text, whose lines end in one character, and the file itself."""
        stream, file = self.open()
        return io.TextIOWrapper(stream, encoding, newline=None), file

    def find_encoding(self) -> str:
        """UTF-8 if the bytes are such, else UTF-16 or Windows-1252."""
        stream, file = self.open()
        with file, stream:
            start = stream.read(_LOOKED_AT)
        for mark, encoding in _BOMS.items():
            if start.startswith(mark):
                return encoding
        if b"\0" in start[:4096]:
            return self._without_mark(start[:4096])
        try:
            codecs.getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError:
            try:
                start.decode("cp1252")
            except UnicodeDecodeError:
                raise TableError(
                    f"{self.name}: text that is neither UTF-8, UTF-16 nor Windows-1252; say what "
                    "it is (option encoding), or store it as UTF-8"
                ) from None
            return "cp1252"
        return "utf-8"

    def _without_mark(self, start: bytes) -> str:
        """The kind of UTF-16 of a text that does not begin with its mark."""
        for encoding, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[0::2])):
            if zeros.count(0) > 0.7 * len(zeros) and start.count(0) < 0.6 * len(start):
                return encoding
        raise TableError(f"{self.name}: a binary file, not a table of text; export it as .csv")


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
