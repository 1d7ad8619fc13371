"""WAV files: samples in, samples out, and everything else in the file left as it is."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsebayes.cli.media.media import CHUNK, place

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_DTYPES = {
    (_PCM, 8): "u1",
    (_PCM, 16): "<i2",
    (_PCM, 24): "<i4",  # three bytes in the file
    (_PCM, 32): "<i4",
    (_FLOAT, 32): "<f4",
    (_FLOAT, 64): "<f8",
}


class Sound(NamedTuple):
    """The samples of a WAV file.

    Parameters
    ----------
    samples : ndarray of shape (n_frames, n_channels)
        As they are stored; those of 24 bits as int32.
    bits : int
        Of a sample.
    rate : int
        Frames a second.
    replace : callable
        Other samples of the same shape and type, a few frames at a time -> the bytes of the file
        with these, piece by piece.
    """

    samples: np.ndarray
    bits: int
    rate: int
    replace: Callable[[Iterable[np.ndarray]], Iterator[bytes]]


def parse(content: Any) -> Sound:
    """Find the samples in the bytes of a file; ValueError if they are not all there.

    The bytes may be mapped into memory; the samples then are too, unless they have 24 bits.
    """
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise ValueError("not a WAV file (RIFF)")
    places = dict(_chunks(content))
    if b"fmt " not in places or b"data" not in places:
        raise ValueError("no format or no samples; it is truncated or damaged")
    kind, channels, rate, bits = _format(content[slice(*places[b"fmt "])])
    dtype = _DTYPES.get((kind, bits))
    if dtype is None or not channels:
        raise ValueError(
            f"format {kind} with {bits} bits and {channels} channels is not supported; convert it "
            "to integers of 8, 16, 24 or 32 bits or to floats of 32 or 64"
        )
    start, stop = places[b"data"]
    if (stop - start) % (channels * bits // 8):
        raise ValueError("the samples end within a frame; it is truncated or damaged")
    samples = _unpack(content, start, stop, dtype, bits).reshape(-1, channels)

    def replace(parts: Iterable[np.ndarray]) -> Iterator[bytes]:
        yield content[:start]
        for part in parts:
            yield _pack(part, dtype, bits)
        yield content[stop:]

    return Sound(samples, bits, rate, replace)


def _chunks(content: Any) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Name, start and end of each chunk up to the samples."""
    name, start = b"", 12
    while name != b"data" and start + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, start)
        start += 8
        if start + size > len(content):
            raise ValueError(
                f"it is truncated: {size} bytes are announced, {len(content) - start} follow"
            )
        yield name, (start, start + size)
        start += size + size % 2


def _format(chunk: bytes) -> tuple[int, int, int, int]:
    """Kind of samples, channels, rate and bits."""
    if len(chunk) < 16:
        raise ValueError("its format is truncated")
    kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if kind == _EXTENSIBLE and len(chunk) >= 26:
        (kind,) = struct.unpack_from("<H", chunk, 24)
    return kind, channels, rate, bits


def _unpack(content: Any, start: int, stop: int, dtype: str, bits: int) -> np.ndarray:
    size = 8 * (stop - start) // bits
    if bits != 24:
        return np.frombuffer(content, dtype, size, start)
    out = place((size,), np.dtype(dtype))
    triples = np.frombuffer(content, np.uint8, 3 * size, start).reshape(-1, 3)
    for first in range(0, size, CHUNK):
        part = triples[first : first + CHUNK]
        padded = np.zeros((len(part), 4), np.uint8)
        padded[:, 1:] = part
        out[first : first + CHUNK] = padded.view(dtype).ravel() >> 8  # brings the sign down
    return out


def _pack(samples: np.ndarray, dtype: str, bits: int) -> bytes:
    packed = np.ascontiguousarray(samples, dtype)
    if bits != 24:
        return packed.tobytes()
    return packed.reshape(-1, 1).view(np.uint8)[:, :3].tobytes()
