"""PNG, JPEG and TIFF images."""

from __future__ import annotations

import io
import logging
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.cli.media.media import Media, MediaError, n_channels
from sparsebayes.cli.media.size import check_size, jpeg_size, png_size

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = 33  # bytes of signature and first chunk
_PNG_LOOK = (b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"pHYs")  # how values are to be shown
_TIFF_GREY, _TIFF_RGB = (0, 1), 2  # 0: white is zero
_TIFF_ALPHA = (1, 2)
_TIFF_MOST_SHRUNK = 2000  # zlib makes data at most 1032 times smaller
_JPEG_QUALITY = 95


def read_png(source: str, content: bytes, most: int) -> Media:
    codec = require("imagecodecs", source)
    if content[:8] != _PNG_SIGNATURE:
        raise ValueError("not a PNG file")
    check_size(source, png_size(content), most)
    look = b"".join(chunk for name, chunk in _png_chunks(content) if name in _PNG_LOOK)
    values = codec.png_decode(content)
    alpha = values.ndim == 3 and values.shape[2] in (2, 4)

    def write(new: np.ndarray) -> bytes:
        plain = codec.png_encode(np.ascontiguousarray(new))
        return plain[:_PNG_HEAD] + look + plain[_PNG_HEAD:]

    return _image(source, values, [values.shape[2] - 1] if alpha else [], write)


def read_jpeg(source: str, content: bytes, most: int, *, target: str) -> Media:
    """A JPEG image, to be written as one or, without further loss, as PNG."""
    codec = require("imagecodecs", source)
    if content[:2] != b"\xff\xd8":
        raise ValueError("not a JPEG file")
    if content.rstrip(b"\0")[-2:] != b"\xff\xd9":
        raise ValueError("it is truncated")
    check_size(source, jpeg_size(content), most)
    values = codec.jpeg8_decode(content)
    if values.ndim == 3 and values.shape[2] != 3:
        raise MediaError(f"{source}: the pixels have {values.shape[2]} colours; convert to RGB")

    def write(new: np.ndarray) -> bytes:
        pixels = np.ascontiguousarray(new)
        if target == ".png":
            return codec.png_encode(pixels)
        return codec.jpeg8_encode(pixels, level=_JPEG_QUALITY)

    return _image(source, values, [], write)


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


def read_tiff(source: str, content: bytes, most: int, *, volume: bool) -> Media:
    codec = require("tifffile", source)
    require("imagecodecs", source)  # tifffile's decompressors
    with _silent("tifffile"), codec.TiffFile(io.BytesIO(content)) as file:
        pages = [one.aspage() for one in file.pages]
        check_size(source, sum(math.prod(one.shape) for one in pages), most)
        page = pages[0]
        if any(
            (one.shape, one.dtype, one.axes) != (page.shape, page.dtype, page.axes) for one in pages
        ):
            raise MediaError(f"{source}: the {len(pages)} pages are not all alike; split the file")
        for one in pages:
            _check_tiff(source, one, len(content))
        values = np.stack([one.asarray() for one in pages])
        if page.axes == "SYX":
            values = np.moveaxis(values, 1, -1)
        if len(pages) == 1:
            values = values[0]
        settings: dict[str, Any] = {
            "photometric": int(page.photometric),
            "planarconfig": None if page.axes == "YX" else "contig",
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

    return _image(source, values, kept, write, n_pages=len(pages), volume=volume)


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


def _image(
    source: str,
    values: np.ndarray,
    kept: list[int],
    write: Any,
    n_pages: int = 1,
    volume: bool = False,
) -> Media:
    """An image of one or more channels, of which some stay as they are; or pages of them."""
    shape = values.shape[n_pages > 1 :]
    whole = values.dtype.kind != "f"
    count = 1 if len(shape) == 2 else shape[2]
    shown = [k for k in range(count) if k not in kept]
    if volume and (n_pages == 1 or count > 1):
        raise MediaError(f"{source}: --volume is for several pages of one channel")
    pages = [None] if n_pages == 1 or volume else list(range(n_pages))
    channels = tuple(
        (_name(page, k, shown), _place(page, None if len(shape) == 2 else k))
        for page in pages
        for k in shown
    )
    info = np.iinfo(values.dtype) if whole else None
    return Media(
        source,
        values,
        channels,
        f"{f'{n_pages} pages, ' if n_pages > 1 else ''}{shape[1]} × {shape[0]} pixels, "
        f"{n_channels(count)}{' (alpha kept)' if kept else ''}, {values.dtype}",
        write,
        limits=None if info is None else (int(info.min), int(info.max)),
        colours=(..., slice(0, 3)) if len(shown) == 3 and n_pages == 1 else None,
    )


def _name(page: int | None, channel: int, shown: list[int]) -> str:
    """What a part of an image is called; empty if it is all."""
    colour = ("red", "green", "blue")[channel] if len(shown) == 3 else f"channel {channel + 1}"
    words = [] if page is None else [f"page {page + 1}"]
    return " ".join(words if len(shown) == 1 else [*words, colour])


def _place(page: int | None, channel: int | None) -> Any:
    place: Any = ... if channel is None else (..., channel)
    if page is None:
        return place
    return page if channel is None else (page, ..., channel)


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a package from logging to stderr; what matters it raises."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
