"""Files of all kinds: read by what their name says."""

from __future__ import annotations

import io
import math
import mmap
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.cli.media import images, sounds
from sparsebayes.cli.media.media import CHUNK, Media, MediaError
from sparsebayes.cli.media.size import MOST_VALUES
from sparsebayes.denoising import LONGEST

SUFFIXES = {
    ".npy": ".npy",
    ".wav": ".wav",
    ".flac": ".flac",
    ".ogg": ".ogg",
    ".png": ".png",
    ".jpg": ".jpg",
    ".jpeg": ".jpg",
    ".tif": ".tif",
    ".tiff": ".tif",
}
# What else a file can be written as.
OTHERS = {".flac": ".wav", ".ogg": ".wav", ".jpg": ".png"}
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_MAPPED = (".npy", ".wav")  # read piece by piece if they are long


def read_media(
    path: str | os.PathLike[str],
    output: str | None = None,
    *,
    volume: bool = False,
    max_values: int = MOST_VALUES,
) -> Media:
    """Read a file of the kind that its name says.

    Parameters
    ----------
    path : str or PathLike
    output : str or None
        Name of the file that will be written; None if it is of the same kind.
    volume : bool
        Whether the pages of a TIFF file make a volume.
    max_values : int
        Compressed files that announce more are refused before they are decoded.
    """
    source = os.fspath(path)
    suffix = SUFFIXES[Path(path).suffix.lower()]
    target = suffix if output is None else SUFFIXES[Path(output).suffix.lower()]
    read: dict[str, Callable[[str, Any, int], Media]] = {
        ".npy": _read_npy,
        ".wav": sounds.read_wav,
        ".flac": partial(sounds.read_compressed, target=target),
        ".ogg": partial(sounds.read_compressed, target=target),
        ".png": images.read_png,
        ".jpg": partial(images.read_jpeg, target=target),
        ".tif": partial(images.read_tiff, volume=volume),
    }
    content = _content(Path(path), suffix)
    if not len(content):
        raise MediaError(f"{source}: the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            media = read[suffix](source, content, max_values)
    except (MediaError, ImportError):
        raise
    except Exception as error:  # of a damaged file the readers raise whatever they stumble on
        text = str(error) or type(error).__name__
        raise MediaError(f"{source}: not a readable {suffix} file ({text})") from error
    if not media.values.size:
        raise MediaError(f"{source}: there are no values in the file")
    return media


def _content(path: Path, suffix: str) -> Any:
    """The bytes of a file, of a long one mapped into memory."""
    if suffix in _MAPPED and path.stat().st_size > LONGEST:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return path.read_bytes()


def encode_npy(values: np.ndarray) -> Any:
    """The bytes of a .npy file; those of a long one piece by piece."""
    if values.size <= LONGEST:
        stream = io.BytesIO()
        np.lib.format.write_array(stream, values, allow_pickle=False)
        return stream.getvalue()
    step = max(1, CHUNK * len(values) // values.size)
    parts = (values[k : k + step] for k in range(0, len(values), step))
    return _npy_parts(values.shape, values.dtype, parts)


def _npy_parts(
    shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
) -> Iterator[bytes]:
    """A header and arrays, one after another."""
    stream = io.BytesIO()
    described = np.lib.format.dtype_to_descr(dtype)
    header = {"descr": described, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    yield stream.getvalue()
    for part in parts:
        yield np.ascontiguousarray(part).tobytes()


def _check_npy(content: bytes) -> None:
    """ValueError if a file announces more numbers than it holds."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version in _NPY_HEADERS:
        shape, _, dtype = _NPY_HEADERS[version](stream)
        if math.prod(shape) * dtype.itemsize > len(content) - stream.tell():
            raise ValueError(f"it announces an array of shape {shape}, and is truncated")


def _read_npy(source: str, content: Any, most: int) -> Media:
    del most  # what it announces, it holds, or it is refused
    if isinstance(content, bytes):
        _check_npy(content)
        values = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    else:
        values = np.load(source, mmap_mode="r", allow_pickle=False)
    if values.dtype.kind not in "iuf":
        raise MediaError(f"{source}: holds {values.dtype}; real numbers are needed")
    if not 1 <= values.ndim <= 3:
        raise MediaError(f"{source}: has {values.ndim} dimensions; 1 to 3 can be denoised")
    about = f"{values.dtype} of shape {values.shape}"
    stored = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return Media(
        source,
        values,
        (("", ...),),
        about,
        write_parts=partial(_npy_parts, values.shape, stored),
        stored=stored,
    )
