"""Files that appear whole or not at all."""

from __future__ import annotations

import math
import os
import secrets
import shutil
import stat
import tempfile
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from sparsebayes._support.streams import naming


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError with a full sentence if `path` could not be written."""
    path = Path(os.path.realpath(path) if os.path.islink(path) else path)
    if path.is_dir():
        raise IsADirectoryError(f"Output {str(path)!r} is a directory; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"Output {str(path)!r}: no directory {str(path.parent)!r}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(f"Output {str(path)!r} cannot be written: permission denied.")


def check_output(path: str, *inputs: str | None) -> None:
    """Raise OSError if `path` could not be written, ValueError if it is one of the inputs."""
    check_writable(path)
    for source in filter(None, inputs):
        there = os.path.exists(path) and os.path.exists(source)
        if there and not is_stream(path) and os.path.samefile(path, source):
            raise ValueError(f"output {path!r} is also an input; choose another name")


def write_files(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write all files under temporary names beside their own, then rename them.

    What is long comes piece by piece.
    A failure or Ctrl-C before the renaming leaves every old file as it was, and no new one. A
    process that is killed may leave a file whose name begins with a dot and ends in
    ``.sparsebayes-`` and 16 digits; it can be deleted. A file that is there keeps its mode and,
    where the system allows it, its owner. A symbolic link stays one: what it leads to is replaced.
    What is no plain file, such as a FIFO or a device, is written to, after all others.
    """
    staged: dict[str, Path] = {}
    try:
        for path, content in files.items():
            check_writable(path)
            if is_stream(path):
                continue
            target = Path(os.path.realpath(path))
            name = _temporary_name(target)
            staged[name] = target  # before there is such a file: Ctrl-C may come at any moment
            with naming(path, name):
                _write(name, content, target)
        # In one call, which Ctrl-C does not divide.
        deque(map(os.replace, staged, staged.values()), maxlen=0)
    finally:
        for name in staged:
            with suppress(FileNotFoundError):
                os.unlink(name)
    for path, content in files.items():
        if is_stream(path):
            with naming(path), open(path, "wb") as stream:
                stream.writelines([content] if isinstance(content, bytes) else content)


def _temporary_name(target: Path) -> str:
    """A new name in the same directory, whose length a file system takes."""
    start = os.fsencode(target.name)[:200].decode(errors="ignore")
    return str(target.with_name(f".{start}.sparsebayes-{secrets.token_hex(8)}"))


def _write(name: str, content: bytes | Iterable[bytes], target: Path) -> None:
    """Write a file that has the mode and the owner of the one that it will replace."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    mode = 0o666 if old is None else 0o600  # less the umask; nobody reads what was private
    with open(name, "xb", opener=partial(os.open, mode=mode)) as stream:
        stream.writelines([content] if isinstance(content, bytes) else content)
        stream.flush()
        os.fsync(stream.fileno())
    if old is not None:
        new = os.stat(name)
        if hasattr(os, "chown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(PermissionError):  # only root may give files away
                os.chown(name, old.st_uid, old.st_gid)
        os.chmod(name, stat.S_IMODE(old.st_mode))


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether there is something that is no plain file, and is written to as it is."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def temporary_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An empty array in a temporary file, which has no name and vanishes with the array."""
    folder, needed = tempfile.gettempdir(), math.prod(shape) * dtype.itemsize
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            f"A result takes {needed} bytes, and {folder} has {free}; give arrays for it (out, "
            "std_out), or set TMPDIR to a larger place."
        )
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, "w+", shape=shape)
