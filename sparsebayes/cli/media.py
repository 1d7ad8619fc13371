"""Arrays in files (.npy, .wav, .png, .tif): read, and written like the file they came from.

A column of a CSV file is `Media` too; that is made in `sparsebayes.cli.denoise`.
"""

from __future__ import annotations

import io
import logging
import os
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.cli import wav

SUFFIXES = {
    ".npy": ".npy",
    ".wav": ".wav",
    ".png": ".png",
    ".tif": ".tif",
    ".tiff": ".tif",
}
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = 33  # bytes of signature and first chunk
_PNG_LOOK = (b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"pHYs")  # how values are to be shown
_TIFF_GREY, _TIFF_RGB = (0, 1), 2  # 0: white is zero
_TIFF_ALPHA = (1, 2)
_TIFF_MOST_SHRUNK = 2000  # zlib makes data at most 1032 times smaller


class MediaError(ValueError):
    """A file does not hold what its name says, or something that cannot be denoised."""


@dataclass(frozen=True)
class Media:
    """The array of a file, and how to write another in its place.

    Parameters
    ----------
    source : str
        Name of the file.
    values : ndarray
        As stored: (frames, channels) of a sound, (rows, columns[, channels]) of an image.
    channels : tuple of (str, index)
        The parts that are denoised one by one: name (empty if it is all) and place in `values`.
    about : str
        The format in words.
    write : callable
        Values of the same shape and dtype -> the bytes of a file.
    limits : tuple of (int, int) or None
        Smallest and largest value that the format has; None for floats.
    image : bool
        Whether the values are those of an image.
    holds_std : bool
        Whether the file has a place for standard deviations; `write` then takes them too.
    t : ndarray or None
        Positions of the samples; None if they are equally spaced.
    """

    source: str
    values: np.ndarray
    channels: tuple[tuple[str, Any], ...]
    about: str
    write: Callable[..., bytes]
    limits: tuple[int, int] | None = None
    image: bool = False
    holds_std: bool = False
    t: np.ndarray | None = None

    def encode(self, values: np.ndarray, std: np.ndarray | None = None) -> bytes:
        """The file with other values, rounded and clipped if it holds whole numbers."""
        if self.limits is not None:
            values = np.clip(np.rint(values), *self.limits)
        values = values.astype(self.values.dtype)
        return self.write(values, std) if self.holds_std else self.write(values)


def read_media(path: str | os.PathLike[str]) -> Media:
    """Read a file of the kind that its name says."""
    source = os.fspath(path)
    read = {".npy": _read_npy, ".wav": _read_wav, ".png": _read_png, ".tif": _read_tiff}
    suffix = SUFFIXES[Path(path).suffix.lower()]
    content = Path(path).read_bytes()
    if not content:
        raise MediaError(f"{source}: the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            media = read[suffix](source, content)
    except (MediaError, ImportError):
        raise
    except Exception as error:  # of a damaged file the readers raise whatever they stumble on
        text = str(error) or type(error).__name__
        raise MediaError(f"{source}: not a readable {suffix} file ({text})") from error
    if not media.values.size:
        raise MediaError(f"{source}: there are no values in the file")
    return media


def encode_npy(values: np.ndarray) -> bytes:
    """The bytes of a .npy file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, values, allow_pickle=False)
    return stream.getvalue()


def _read_npy(source: str, content: bytes) -> Media:
    values = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if values.dtype.kind not in "iuf":
        raise MediaError(f"{source}: holds {values.dtype}; real numbers are needed")
    if not 1 <= values.ndim <= 3:
        raise MediaError(f"{source}: has {values.ndim} dimensions; 1 to 3 can be denoised")
    about = f"{values.dtype} of shape {values.shape}"
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    return Media(source, values, (("", ...),), about, encode_npy)


def _read_wav(source: str, content: bytes) -> Media:
    samples, bits, rate, replace = wav.parse(content)
    frames, count = samples.shape
    whole = samples.dtype.kind != "f"
    if whole:
        limits = (0, 255) if bits == 8 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    about = f"{frames} samples, {_channels(count)}, {rate} Hz, {bits}-bit"
    return Media(
        source,
        samples,
        tuple(("" if count == 1 else f"channel {k + 1}", (..., k)) for k in range(count)),
        f"{about} {'integers' if whole else 'floats'}",
        replace,
        limits if whole else None,
    )


def _read_png(source: str, content: bytes) -> Media:
    codec = require("imagecodecs", source)
    if content[:8] != _PNG_SIGNATURE:
        raise ValueError("not a PNG file")
    look = b"".join(chunk for name, chunk in _png_chunks(content) if name in _PNG_LOOK)
    values = codec.png_decode(content)
    alpha = values.ndim == 3 and values.shape[2] in (2, 4)

    def write(new: np.ndarray) -> bytes:
        plain = codec.png_encode(np.ascontiguousarray(new))
        return plain[:_PNG_HEAD] + look + plain[_PNG_HEAD:]

    return _image(source, values, [values.shape[2] - 1] if alpha else [], write)


def _png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and bytes of each chunk; ValueError if one is not whole."""
    name, start = b"", 8
    while name != b"IEND":
        if start + 12 > len(content):
            raise ValueError("it is truncated")
        size, name = struct.unpack_from(">I4s", content, start)
        chunk = content[start : start + 12 + size]
        if len(chunk) < 12 + size:
            raise ValueError("it is truncated")
        if zlib.crc32(chunk[4:-4]) != int.from_bytes(chunk[-4:], "big"):
            raise ValueError("it is damaged: a checksum is wrong")
        yield name, chunk
        start += len(chunk)


def _read_tiff(source: str, content: bytes) -> Media:
    codec = require("tifffile", source)
    require("imagecodecs", source)  # tifffile's decompressors
    with _silent("tifffile"), codec.TiffFile(io.BytesIO(content)) as file:
        if len(file.pages) != 1:
            raise MediaError(
                f"{source}: holds {len(file.pages)} pages; images of one page are read, a stack "
                "of them can be given as .npy"
            )
        page = file.pages[0]
        _check_tiff(source, page, len(content))
        values = page.asarray()
        if page.axes == "SYX":
            values = np.moveaxis(values, 0, -1)
        settings: dict[str, Any] = {
            "photometric": int(page.photometric),
            "planarconfig": "contig" if values.ndim == 3 else None,
            "extrasamples": [k if k in _TIFF_ALPHA else 0 for k in page.extrasamples] or None,
            "compression": None if page.compression == 1 else "zlib",
            "resolution": page.resolution,
            "resolutionunit": page.resolutionunit if page.resolutionunit in (1, 2, 3) else None,
            "iccprofile": page.iccprofile,
            "metadata": None,
        }
        colours = page.samplesperpixel - len(page.extrasamples)
        kept = [colours + k for k, kind in enumerate(page.extrasamples) if kind in _TIFF_ALPHA]

    def write(new: np.ndarray) -> bytes:
        stream = io.BytesIO()
        codec.imwrite(stream, new, **settings)
        return stream.getvalue()

    return _image(source, values, kept, write)


def _check_tiff(source: str, page: Any, length: int) -> None:
    """Refuse what is not whole, or no image of brightness in whole numbers of bytes."""
    places = zip(page.dataoffsets, page.databytecounts, strict=True)
    if max(start + size for start, size in places) > length:
        raise ValueError("it is truncated")
    if page.photometric not in (*_TIFF_GREY, _TIFF_RGB):
        raise MediaError(
            f"{source}: the pixels are {page.photometric.name.lower()}; convert to grey or RGB"
        )
    dtype = page.dtype
    full = dtype is not None and page.bitspersample == 8 * dtype.itemsize
    if not full or dtype.kind not in "iuf" or (dtype.kind in "iu" and dtype.itemsize > 4):
        raise MediaError(
            f"{source}: pixels of {page.bitspersample} bits ({dtype}) are not supported; convert "
            "to integers of 8, 16 or 32 bits or to floats"
        )
    if page.axes not in ("YX", "YXS", "SYX"):
        raise MediaError(f"{source}: axes {page.axes} are not those of an image")
    # A damaged size must not fill the memory.
    shrunk = 1 if page.compression == 1 else _TIFF_MOST_SHRUNK
    if page.nbytes > shrunk * sum(page.databytecounts):
        raise ValueError("it announces more pixels than it can hold")


def _image(source: str, values: np.ndarray, kept: list[int], write: Any) -> Media:
    """An image of one or more channels, of which some stay as they are."""
    whole = values.dtype.kind != "f"
    count = 1 if values.ndim == 2 else values.shape[2]
    shown = [k for k in range(count) if k not in kept]
    names = ("red", "green", "blue")
    channels = tuple(
        (
            "" if len(shown) == 1 else names[k] if len(shown) == 3 else f"channel {k + 1}",
            ... if values.ndim == 2 else (..., k),
        )
        for k in shown
    )
    info = np.iinfo(values.dtype) if whole else None
    return Media(
        source,
        values,
        channels,
        f"{values.shape[1]} × {values.shape[0]} pixels, {_channels(count)}"
        f"{' (alpha kept)' if kept else ''}, {values.dtype}",
        write,
        None if info is None else (int(info.min), int(info.max)),
        image=True,
    )


def _channels(count: int) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a package from logging to stderr; what matters it raises."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
