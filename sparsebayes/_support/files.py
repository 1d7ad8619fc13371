"""Files that appear whole or not at all."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError with a full sentence if `path` could not be written."""
    path = Path(path)
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
        if Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
            raise ValueError(f"output {path!r} is also an input; choose another name")


def write_files(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write all files under temporary names beside their own, then rename them.

    What is long comes piece by piece.
    A failure before the renaming leaves every old file as it was, and no new one.
    """
    staged: list[tuple[str, Path]] = []
    umask = os.umask(0)
    os.umask(umask)
    try:
        for path, content in files.items():
            check_writable(path)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            staged.append((name, path))
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines([content] if isinstance(content, bytes) else content)
            os.chmod(name, 0o666 & ~umask)  # mkstemp gives 0o600
        for name, path in staged:
            os.replace(name, path)
    finally:
        for name, _ in staged:
            with suppress(FileNotFoundError):
                os.unlink(name)


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
