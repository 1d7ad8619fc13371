"""WAV sounds; FLAC and OGG sounds by `soundfile`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.cli.media import wav
from sparsebayes.cli.media.media import Media, n_channels
from sparsebayes.cli.media.size import check_size

# How soundfile reads samples of a kind, by how many bits these are too long, and their bits.
_WHOLE = {"PCM_S8": ("int16", 8, 8), "PCM_16": ("int16", 0, 16), "PCM_24": ("int32", 8, 24)}
_FORMATS = {".flac": "FLAC", ".ogg": "OGG", ".wav": "WAV"}


def read_wav(source: str, content: Any, most: int) -> Media:
    """A WAV file; everything in it but the samples stays as it is.

    It is not compressed: what it announces, it holds, and long ones are read piece by piece.
    """
    del most
    samples, bits, rate, replace = wav.parse(content)
    whole = samples.dtype.kind != "f"
    return _sound(source, samples, bits if whole else None, rate, f"{bits}-bit", parts=replace)


def read_compressed(source: str, content: bytes, most: int, *, target: str) -> Media:
    """A FLAC or OGG file, to be written as one or as WAV."""
    codec = require("soundfile", source)
    with codec.SoundFile(io.BytesIO(content)) as file:
        kind, rate = file.subtype, file.samplerate
        check_size(source, file.frames * file.channels, most)
        dtype, shift, bits = _WHOLE.get(kind, ("float32", 0, None))
        samples = file.read(dtype=dtype, always_2d=True)
    if shift:
        samples = samples >> shift
    if target == ".wav":
        kind = {"PCM_S8": "PCM_U8"}.get(kind, kind if kind in _WHOLE else "FLOAT")

    def write(new: np.ndarray) -> bytes:
        stream = io.BytesIO()
        stored = new << shift if shift else new
        codec.write(stream, stored, rate, subtype=kind, format=_FORMATS[target])
        return stream.getvalue()

    return _sound(source, samples, bits, rate, f"{bits or 32}-bit", write=write)


def _sound(
    source: str,
    samples: np.ndarray,
    bits: int | None,
    rate: int,
    stored: str,
    *,
    write: Any = None,
    parts: Any = None,
) -> Media:
    """Samples of so many bits; None for floats."""
    frames, count = samples.shape
    limits = None
    if bits is not None:
        unsigned = samples.dtype.kind == "u"
        limits = (0, 255) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return Media(
        source,
        samples,
        tuple(("" if count == 1 else f"channel {k + 1}", (..., k)) for k in range(count)),
        f"{frames} samples, {n_channels(count)}, {rate} Hz, {stored} "
        f"{'floats' if bits is None else 'integers'}",
        write,
        parts,
        limits,
    )
