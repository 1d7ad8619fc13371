"""Transforms: dictionaries on a grid of samples, as operators that never hold their matrix.

`Transform` says what one must answer. Here are those of cosines, of kernels, and of several
dictionaries together; that of wavelets is in a file of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.fft

from sparsebayes.basis.kernels import Centred

Array = np.ndarray

# Up to so many points a kernel's matrix and its squares are held, 32 MB each.
_HELD = 2048
# Kernel values of a block, 32 MB: blocks as large as the memory budget took twice as long.
_BLOCK = 1 << 22
# Steps between points that differ by less than this part of one are equal: it is rounding.
_EQUAL_STEPS = 1e-9


@dataclass(frozen=True)
class Band:
    """Coefficients that are alike: of one scale and orientation, say.

    How large they are is learned for all of a band together.

    Parameters
    ----------
    index : tuple of slice
        Where they are among the coefficients.
    kinds : tuple of (int, bool), default=()
        Of wavelets: for each axis how often it was split, and whether these are the details of
        the last split.

    See Also
    --------
    Transform : Its method `bands` lists them.

    Examples
    --------
    >>> from sparsebayes.dictionaries import Wavelet
    >>> for band in Wavelet("haar", level=2).bind((8,)).bands():
    ...     print(band)
    Band(index=(slice(0, 4, None),), kinds=((1, False),))
    Band(index=(slice(4, 8, None),), kinds=((1, True),))
    """

    index: tuple[slice, ...]
    kinds: tuple[tuple[int, bool], ...] = ()


class Transform(ABC):
    """The functions of a dictionary on a grid of samples: ``y = Φw``, without the matrix Φ.

    A transform of your own sets the three attributes and writes the four products. The rest has
    answers that are right for any transform; better ones make better fits.

    Attributes
    ----------
    shape : tuple of int
        Shape of a signal.
    coefficient_shape : tuple of int
        Shape of its coefficients.
    orthonormal : bool
        Whether ``ΦᵀΦ = ΦΦᵀ = I``. Fits to whole signals are then closed forms.
    n_bases : int
        How many orthonormal bases the functions make up: they have unit norm and
        ``ΦΦᵀ = n_bases · I``, so that ``synthesise(analyse(y)) / n_bases`` is y. 0 if that is
        not so; 1 or 0 if not overridden.
    complex_axis : int or None
        The axis of the coefficients along which the real and the imaginary part of complex ones
        follow each other; None if they are real.

    See Also
    --------
    Dictionary : Its method `bind` makes one.
    Band : Coefficients that are alike.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import Wavelet
    >>> transform = Wavelet("sym8").bind((256,))
    >>> y = np.random.default_rng(0).standard_normal(256)
    >>> coefficients = transform.analyse(y)
    >>> bool(np.allclose(transform.synthesise(coefficients), y))
    True
    """

    shape: tuple[int, ...]
    coefficient_shape: tuple[int, ...]
    orthonormal: bool
    complex_axis: int | None = None

    @property
    def n_bases(self) -> int:
        """How many orthonormal bases the functions make up; 0 if they do not."""
        return 1 if self.orthonormal else 0

    @abstractmethod
    def analyse(self, signal: Array) -> Array:
        """Compute ``Φᵀy``, the products of signals with all functions.

        Parameters
        ----------
        signal : ndarray
            Signals in the last axes.

        Returns
        -------
        ndarray
            Coefficients in the last axes.
        """

    @abstractmethod
    def synthesise(self, coefficients: Array) -> Array:
        """Compute ``Φw``, the signals that coefficients make.

        Parameters
        ----------
        coefficients : ndarray
            Coefficients in the last axes.

        Returns
        -------
        ndarray
            Signals in the last axes.
        """

    @abstractmethod
    def spread(self, variances: Array) -> Array:
        """Compute ``Σ_i v_i φ_i(n)²`` for each sample n, of one signal.

        Parameters
        ----------
        variances : ndarray
            Variances v of the coefficients.

        Returns
        -------
        ndarray
            Those of the samples.
        """

    @abstractmethod
    def gather(self, weights: Array) -> Array:
        """Compute ``Σ_n b_n φ_i(n)²`` for each coefficient i, of one signal.

        Parameters
        ----------
        weights : ndarray
            Weights b of the samples.

        Returns
        -------
        ndarray
            Those of the coefficients.
        """

    def bands(self) -> list[Band]:
        """List groups of coefficients that are alike, coarse to fine; all in one if not overridden.

        How large coefficients are is learned for each band, and the noise from the finest.

        Returns
        -------
        list of Band
            Each coefficient is in one of them.
        """
        return [Band(tuple(slice(0, n) for n in self.coefficient_shape))]

    def shifts(self, count: int) -> list[tuple[int, ...]]:
        """List shifts of a signal on a circle that its coefficients change with most.

        Parameters
        ----------
        count : int
            How many at most.

        Returns
        -------
        list of tuple of int
            The first is none at all, which is also the only one if not overridden.
        """
        return [(0,) * len(self.shape)]

    def places(self) -> Array | None:
        """Tell where along the first axis each function is.

        The error in gaps is judged with an orthonormal transform that has places.

        Returns
        -------
        ndarray or None
            From 0 to 1, flat, in the order of the coefficients; None if they are everywhere.
        """
        return None

    @property
    def members(self) -> tuple[Transform, ...]:
        """The transforms it was joined from; itself, if it was not."""
        return (self,)

    def split(self, coefficients: Array) -> list[Array]:
        """Take the coefficients of each member.

        Parameters
        ----------
        coefficients : ndarray
            Of all members.

        Returns
        -------
        list of ndarray
            Those of each, in the member's shape.
        """
        return [coefficients]

    def parts(self, coefficients: Array) -> list[Array]:
        """Make the signal of each member.

        Parameters
        ----------
        coefficients : ndarray
            Of all members.

        Returns
        -------
        list of ndarray
            What each adds to the signal.
        """
        pairs = zip(self.members, self.split(coefficients), strict=True)
        return [member.synthesise(own) for member, own in pairs]


class CosineTransform(Transform):
    """The orthonormal cosine transform (DCT-II) over all axes of a signal.  # S08 (A.4)"""

    orthonormal = True

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = self.coefficient_shape = shape
        self._axes = tuple(range(-len(shape), 0))

    def analyse(self, signal: Array) -> Array:
        return scipy.fft.dctn(signal, type=2, norm="ortho", axes=self._axes)

    def synthesise(self, coefficients: Array) -> Array:
        return scipy.fft.idctn(coefficients, type=2, norm="ortho", axes=self._axes)

    def spread(self, variances: Array) -> Array:
        # cos² x = ½ + ½ cos 2x: a mean and a cosine series with every frequency doubled.
        for axis in self._axes:
            values = np.moveaxis(np.asarray(variances, dtype=np.float64), axis, -1)
            length = values.shape[-1]
            double, sign = _doubled(length)
            part = values / length
            series = np.zeros_like(part)
            half = (length + 1) // 2  # up to there the doubles are all different, and beyond too
            series[..., double[:half]] += (sign * part)[..., :half]
            series[..., double[half:]] += (sign * part)[..., half:]
            out = part.sum(axis=-1, keepdims=True) + 0.5 * scipy.fft.dct(series, type=3, axis=-1)
            variances = np.moveaxis(out, -1, axis)
        return variances

    def gather(self, weights: Array) -> Array:
        for axis in self._axes:
            values = np.moveaxis(np.asarray(weights, dtype=np.float64), axis, -1)
            length = values.shape[-1]
            double, sign = _doubled(length)
            cosines = 0.5 * scipy.fft.dct(values, type=2, axis=-1)
            out = (values.sum(axis=-1, keepdims=True) + sign * cosines[..., double]) / length
            weights = np.moveaxis(out, -1, axis)
        return weights

    def bands(self) -> list[Band]:
        """Octaves of the first axis."""
        edges = [0, 1]
        while edges[-1] < self.shape[0]:
            edges.append(min(2 * edges[-1], self.shape[0]))
        whole = tuple(slice(0, n) for n in self.shape[1:])
        return [Band((slice(low, high), *whole)) for low, high in pairwise(edges)]


def _doubled(length: int) -> tuple[Array, Array]:
    """Where ``cos 2x`` of each cosine x is among them, and its sign; 0 if it is not needed."""
    double = 2 * np.arange(length)
    sign = np.where(double < length, 1.0, -1.0)
    sign[(double == 0) | (double == length)] = 0.0  # the constant; a cosine that is zero
    double = np.where(double <= length, double, 2 * length - double) % length
    return double, sign


class KernelTransform(Transform):
    """Kernel functions centred on the points of a grid.

    Products with a stationary kernel on an even grid are convolutions and cost O(N log N); others
    are computed in blocks. Of few points the matrix is held: kernel functions are nearly
    dependent, and convolutions have larger rounding errors than a matrix product.

    Parameters
    ----------
    kernel : Centred
        With its length scales in units of the points.
    points : tuple of ndarray
        The points of each axis.
    """

    orthonormal = False

    def __init__(self, kernel: Centred, points: tuple[Array, ...]) -> None:
        self.shape = self.coefficient_shape = tuple(len(axis) for axis in points)
        grid = np.stack(np.meshgrid(*points, indexing="ij"), axis=-1).reshape(-1, len(points))
        self._kernel = kernel.fit(grid)
        self._grid = grid
        self._spectra: list[Array] | None = None
        self._matrices: list[Array] | None = None
        even = all(_evenly(axis) for axis in points)
        if len(grid) <= _HELD:
            matrix = self._kernel.between(grid, grid)
            self._matrices = [matrix, matrix**2]
        elif kernel.stationary and even:
            lags = [_lags(axis) for axis in points]
            mesh = np.stack(np.meshgrid(*lags, indexing="ij"), axis=-1)
            origin = np.zeros((1, len(points)))
            values = self._kernel.between(mesh.reshape(-1, len(points)), origin)
            values = values.reshape(mesh.shape[:-1])
            self._spectra = [scipy.fft.rfftn(values), scipy.fft.rfftn(values**2)]
            self._padded = values.shape

    def analyse(self, signal: Array) -> Array:
        return self._apply(signal, 0)  # a kernel is symmetric

    def synthesise(self, coefficients: Array) -> Array:
        return self._apply(coefficients, 0)

    def spread(self, variances: Array) -> Array:
        return self._apply(variances, 1)

    def gather(self, weights: Array) -> Array:
        return self._apply(weights, 1)

    def _apply(self, values: Array, square: int) -> Array:
        """Multiply by the kernel matrix, or by that of its squares."""
        axes = tuple(range(-len(self.shape), 0))
        if self._spectra is not None:
            spectrum = scipy.fft.rfftn(values, s=self._padded, axes=axes)
            spectrum *= self._spectra[square]
            out = scipy.fft.irfftn(spectrum, s=self._padded, axes=axes)
            return out[(Ellipsis, *[slice(0, n) for n in self.shape])].astype(values.dtype)
        flat = values.reshape(*values.shape[: values.ndim - len(self.shape)], -1)
        if self._matrices is not None:
            return (flat @ self._matrices[square]).reshape(values.shape).astype(values.dtype)
        out = np.empty(flat.shape, dtype=values.dtype)
        step = max(1, _BLOCK // len(self._grid))
        for start in range(0, len(self._grid), step):
            part = slice(start, start + step)
            block = self._kernel.between(self._grid, self._grid[part])
            out[..., part] = flat @ (block**2 if square else block)
        return out.reshape(values.shape)

    def places(self) -> Array:
        along = (np.arange(self.shape[0]) + 0.5) / self.shape[0]
        return np.repeat(along, len(self._grid) // self.shape[0])


def _evenly(points: Array) -> bool:
    steps = np.diff(points)
    return steps.size < 2 or bool(np.ptp(steps) <= _EQUAL_STEPS * np.abs(steps).max())


def _lags(points: Array) -> Array:
    """Differences of points on a circle large enough that they do not meet around it."""
    step = points[1] - points[0] if len(points) > 1 else 1.0
    size = scipy.fft.next_fast_len(2 * len(points), real=True)
    lag = np.arange(size)
    return step * np.where(lag < len(points), lag, lag - size)


class StackedTransform(Transform):
    """Several transforms of the same signal; coefficients are flat, one after another."""

    orthonormal = False

    def __init__(self, members: tuple[Transform, ...]) -> None:
        self._members = members
        self.shape = members[0].shape
        sizes = [int(np.prod(member.coefficient_shape)) for member in members]
        edges = np.concatenate([[0], np.cumsum(sizes)])
        self._slices = [slice(int(low), int(high)) for low, high in pairwise(edges)]
        self.coefficient_shape = (int(edges[-1]),)

    @property
    def members(self) -> tuple[Transform, ...]:
        return self._members

    def split(self, coefficients: Array) -> list[Array]:
        batch = coefficients.shape[:-1]
        return [
            coefficients[..., own].reshape(*batch, *member.coefficient_shape)
            for member, own in zip(self._members, self._slices, strict=True)
        ]

    def analyse(self, signal: Array) -> Array:
        batch = signal.shape[: signal.ndim - len(self.shape)]
        return np.concatenate(
            [member.analyse(signal).reshape(*batch, -1) for member in self._members], axis=-1
        )

    def synthesise(self, coefficients: Array) -> Array:
        return np.sum(self.parts(coefficients), axis=0)

    def spread(self, variances: Array) -> Array:
        pairs = zip(self._members, self.split(variances), strict=True)
        return np.sum([member.spread(own) for member, own in pairs], axis=0)

    def gather(self, weights: Array) -> Array:
        return np.concatenate([member.gather(weights).ravel() for member in self._members])

    def bands(self) -> list[Band]:
        return [Band((own,)) for own in self._slices]
