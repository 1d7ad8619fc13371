"""Dictionaries: bases of a signal or an image, to be joined by ``+``.

A dictionary is a description; `bind` gives the transform for signals of one shape. `Wavelet`
and `DCT` are orthonormal: as many functions as samples, and a closed form for the fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pywt

from sparsebayes.basis.kernels import RBF, Centred, Laplacian, LinearSpline, ThinPlateSpline
from sparsebayes.dictionaries.transforms import (
    CosineTransform,
    KernelTransform,
    StackedTransform,
    Transform,
)
from sparsebayes.dictionaries.wavelets import WaveletTransform

Array = np.ndarray

_KERNELS: dict[str, type[Centred]] = {
    "gauss": RBF,
    "rbf": RBF,
    "laplacian": Laplacian,
    "linear_spline": LinearSpline,
    "thin_plate": ThinPlateSpline,
}


class Dictionary(ABC):
    """A set of functions that signals of any shape can be made of."""

    @property
    @abstractmethod
    def orthonormal(self) -> bool:
        """Whether its functions are orthonormal and as many as the samples."""

    @property
    def members(self) -> tuple[Dictionary, ...]:
        """The dictionaries it was joined from; itself, if it was not."""
        return (self,)

    @abstractmethod
    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        """Its transform for signals of this shape, whose samples are at `points`."""

    def __add__(self, other: Any) -> Union:
        return Union((*self.members, *as_dictionary(other).members))

    def __radd__(self, other: Any) -> Union:
        return as_dictionary(other) + self


@dataclass(frozen=True)
class Wavelet(Dictionary):
    """The wavelets of an orthogonal family, periodised, along all axes of a signal.

    Parameters
    ----------
    name : str, default="sym8"
        Any orthogonal wavelet of PyWavelets: "haar", "db2", "sym8", "coif3" and so on.
    level : int or None, default=None
        How often to split; None goes on until fewer than eight samples are left of an axis.

    Notes
    -----
    Where a length is odd its last sample is set aside as a coefficient of its own.
    """

    name: str = "sym8"
    level: int | None = None

    def __post_init__(self) -> None:
        if not _is_orthogonal(self.name):
            raise ValueError(
                f"Wavelet needs the name of an orthogonal wavelet of PyWavelets, such as 'sym8', "
                f"'haar' or 'db4', got {self.name!r}."
            )
        level = self.level
        if level is not None and (
            isinstance(level, bool) or not isinstance(level, int) or level < 0
        ):
            raise ValueError(
                f"level of Wavelet must be a whole number >= 0 or None, got {level!r}."
            )

    @property
    def orthonormal(self) -> bool:
        return True

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return WaveletTransform(self.name, shape, self.level)


@dataclass(frozen=True)
class DCT(Dictionary):
    """Cosines of all frequencies, along all axes of a signal."""

    @property
    def orthonormal(self) -> bool:
        return True

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return CosineTransform(shape)


@dataclass(frozen=True)
class Kernel(Dictionary):
    """One kernel function centred on each sample.

    Parameters
    ----------
    kernel : str, default="rbf"
        "rbf" (also "gauss"), "laplacian", "thin_plate" or "linear_spline".
    length_scale : float or None, default=None
        In samples, or in units of the positions where these are given. None takes 3/20 of the
        longest axis (for "rbf" over √2), the width of most examples of the smooth RVM [1]_.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, A.1: r = 3 for x in [−10, 10].
    """

    kernel: str = "rbf"
    length_scale: float | None = None

    def __post_init__(self) -> None:
        if self.kernel not in _KERNELS:
            raise ValueError(f"kernel must be one of {sorted(_KERNELS)}, got {self.kernel!r}.")
        scale = self.length_scale
        number = not isinstance(scale, bool) and isinstance(scale, Real)
        if scale is not None and not (number and 0 < scale < np.inf):
            raise ValueError(f"length_scale of Kernel must be a positive number, got {scale!r}.")

    @property
    def orthonormal(self) -> bool:
        return False

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        if points is None:
            points = tuple(np.arange(float(n)) for n in shape)
        kind = _KERNELS[self.kernel]
        scale = self.length_scale
        if scale is None:
            longest = max(float(np.ptp(axis)) for axis in points)
            scale = 0.15 * (longest or 1.0) * (np.sqrt(0.5) if kind is RBF else 1.0)
        if kind is LinearSpline:  # it is not stationary: zero is the middle
            points = tuple(axis - 0.5 * (axis[0] + axis[-1]) for axis in points)
        return KernelTransform(kind(scale), points)


@dataclass(frozen=True)
class Union(Dictionary):
    """Several dictionaries as one, overcomplete; made by ``+``."""

    parts: tuple[Dictionary, ...]

    @property
    def orthonormal(self) -> bool:
        return False

    @property
    def members(self) -> tuple[Dictionary, ...]:
        return self.parts

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return StackedTransform(tuple(part.bind(shape, points) for part in self.parts))


def as_dictionary(dictionary: Any) -> Dictionary:
    """A dictionary from its name, names joined by "+", or a dictionary."""
    if isinstance(dictionary, Dictionary):
        return dictionary
    if not isinstance(dictionary, str) or not dictionary.strip():
        raise ValueError(
            "dictionary must be a name such as 'sym8', 'dct' or 'haar+thin_plate', or an object of "
            f"sparsebayes.dictionaries, got {dictionary!r}."
        )
    names = [name.strip().lower() for name in dictionary.split("+")]
    found = [_named(name, dictionary) for name in names]
    return found[0] if len(found) == 1 else Union(tuple(found))


def _named(name: str, given: str) -> Dictionary:
    if name == "dct":
        return DCT()
    if name in _KERNELS:
        return Kernel(name)
    if _is_orthogonal(name):
        return Wavelet(name)
    raise ValueError(
        f"dictionary={given!r}: {name!r} is not known; use 'dct', one of {sorted(_KERNELS)}, or an "
        "orthogonal wavelet of PyWavelets such as 'sym8', 'haar' or 'db4'."
    )


def _is_orthogonal(name: str) -> bool:
    """Whether PyWavelets has such a wavelet with a filter that is orthonormal to rounding.

    The one of "dmey", which says so, is not: a signal comes back changed by 2 %.
    """
    if name not in pywt.wavelist(kind="discrete"):
        return False
    wavelet = pywt.Wavelet(name)
    low = np.array(wavelet.rec_lo)
    products = np.correlate(low, low, "full")[low.size - 1 :: 2]  # with its even translates
    products[0] -= 1.0
    return wavelet.orthogonal and float(np.abs(products).max()) < 1e-9
