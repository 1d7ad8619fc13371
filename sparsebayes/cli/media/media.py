"""The array of a file, and how another is written in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebayes._support.files import temporary_array
from sparsebayes.denoising import LONGEST

CHUNK = 1 << 20  # numbers that are written at a time


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
    write_parts : callable or None
        Such values, a few at a time -> the bytes piece by piece; for what may be long, instead of
        `write`.
    limits : tuple of (int, int) or None
        Smallest and largest value that the format has; None for floats.
    colours : index or None
        The place of red, green and blue, which can be denoised together.
    holds_std : bool
        Whether the file has a place for standard deviations; `write` then takes them too.
    stored : dtype or None
        The type of the values that are written; None if it is that of `values`.
    t : ndarray or None
        Positions of the samples; None if they are equally spaced.
    notes : list of str
        How the file was read.
    """

    source: str
    values: np.ndarray
    channels: tuple[tuple[str, Any], ...]
    about: str
    write: Callable[..., bytes] | None = None
    write_parts: Callable[[Iterable[np.ndarray]], Iterator[bytes]] | None = None
    limits: tuple[int, int] | None = None
    colours: Any = None
    holds_std: bool = False
    stored: np.dtype | None = None
    t: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)

    def encode(self, values: np.ndarray, std: np.ndarray | None = None) -> Any:
        """The bytes of the file with other values; those of a long one piece by piece."""
        if self.write_parts is None:
            assert self.write is not None
            stored = self._stored(values)
            return self.write(stored, std) if self.holds_std else self.write(stored)
        step = max(1, CHUNK * len(values) // values.size)
        starts = range(0, len(values), step)
        parts = self.write_parts(self._stored(values[k : k + step]) for k in starts)
        return parts if values.size > LONGEST else b"".join(parts)

    def _stored(self, values: np.ndarray) -> np.ndarray:
        """As the file has them: rounded and clipped if it holds whole numbers."""
        if self.limits is not None:
            values = np.clip(np.rint(values), *self.limits)
        return values.astype(self.stored or self.values.dtype)


def place(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An empty array; a large one is in a temporary file."""
    return (temporary_array if np.prod(shape) > LONGEST else np.empty)(shape, dtype)


def n_channels(count: int) -> str:
    """The number of channels in words."""
    return "1 channel" if count == 1 else f"{count} channels"
