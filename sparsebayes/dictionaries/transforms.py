"""Cosine transforms, kernels on a grid, and stacks of transforms, as operators on arrays.

A transform is bound to the shape of a signal. It may be asked for ``analyse`` (Φᵀy),
``synthesise`` (Φw), ``spread`` (Σ_i v_i φ_i²) and ``gather`` (the adjoint of that), and never
holds Φ. `WaveletTransform` is in a file of its own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
import scipy.fft

from sparsebayes.basis.kernels import RBF, Centred, Laplacian, ThinPlateSpline
from sparsebayes.dictionaries.wavelets import Band

Array = np.ndarray

_STATIONARY = (RBF, Laplacian, ThinPlateSpline)
_SMALL = 2048  # points
_BLOCK = 1 << 22  # kernel values at a time


class Transform(Protocol):
    """What a dictionary is once the shape of the signal is known."""

    shape: tuple[int, ...]
    coefficient_shape: tuple[int, ...]
    orthonormal: bool

    def analyse(self, signal: Array) -> Array:
        """``Φᵀy`` for signals in the last axes."""
        ...

    def synthesise(self, coefficients: Array) -> Array:
        """``Φw`` for coefficients in the last axes."""
        ...

    def spread(self, variances: Array) -> Array:
        """``Σ_i v_i φ_i(n)²`` for each sample n, of one signal."""
        ...

    def gather(self, weights: Array) -> Array:
        """``Σ_n b_n φ_i(n)²`` for each coefficient i, of one signal."""
        ...

    def bands(self) -> list[Band]:
        """Coefficients that are alike, coarse to fine."""
        ...

    def places(self) -> Array | None:
        """Where along the first axis each function is, from 0 to 1; None if it is everywhere."""
        ...


class CosineTransform:
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
        return [Band((slice(low, high), *whole), ()) for low, high in pairwise(edges)]

    def places(self) -> None:
        return None


def _doubled(length: int) -> tuple[Array, Array]:
    """Where ``cos 2x`` of each cosine x is among them, and its sign; 0 if it is not needed."""
    double = 2 * np.arange(length)
    sign = np.where(double < length, 1.0, -1.0)
    sign[(double == 0) | (double == length)] = 0.0  # the constant; a cosine that is zero
    double = np.where(double <= length, double, 2 * length - double) % length
    return double, sign


class KernelTransform:
    """Kernel functions centred on the points of a grid.

    Products with those that depend on the difference of two points are convolutions, and cost
    O(N log N) on an even grid; others, and uneven ones, are computed in blocks. Of few points the
    matrix is held: kernels are nearly dependent, and convolutions round more than it does.

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
        if len(grid) <= _SMALL:
            matrix = self._kernel.between(grid, grid)
            self._matrices = [matrix, matrix**2]
        elif isinstance(kernel, _STATIONARY) and even:
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

    def bands(self) -> list[Band]:
        return [Band(tuple(slice(0, n) for n in self.shape), ())]

    def places(self) -> Array:
        along = (np.arange(self.shape[0]) + 0.5) / self.shape[0]
        return np.repeat(along, len(self._grid) // self.shape[0])


def _evenly(points: Array) -> bool:
    steps = np.diff(points)
    return steps.size < 2 or bool(np.ptp(steps) <= 1e-9 * np.abs(steps).max())


def _lags(points: Array) -> Array:
    """Differences of points on a circle large enough that they do not meet around it."""
    step = points[1] - points[0] if len(points) > 1 else 1.0
    size = scipy.fft.next_fast_len(2 * len(points), real=True)
    lag = np.arange(size)
    return step * np.where(lag < len(points), lag, lag - size)


class StackedTransform:
    """Several transforms of the same signal; coefficients are flat, one after another."""

    orthonormal = False

    def __init__(self, members: tuple[Transform, ...]) -> None:
        self.members = members
        self.shape = members[0].shape
        sizes = [int(np.prod(member.coefficient_shape)) for member in members]
        edges = np.concatenate([[0], np.cumsum(sizes)])
        self.slices = [slice(int(low), int(high)) for low, high in pairwise(edges)]
        self.coefficient_shape: tuple[int, ...] = (int(edges[-1]),)

    def analyse(self, signal: Array) -> Array:
        batch = signal.shape[: signal.ndim - len(self.shape)]
        return np.concatenate(
            [member.analyse(signal).reshape(*batch, -1) for member in self.members], axis=-1
        )

    def synthesise(self, coefficients: Array) -> Array:
        return np.sum([part for part in self.parts(coefficients)], axis=0)

    def parts(self, coefficients: Array) -> list[Array]:
        """What each member adds to the signal."""
        batch = coefficients.shape[:-1]
        return [
            member.synthesise(coefficients[..., part].reshape(*batch, *member.coefficient_shape))
            for member, part in zip(self.members, self.slices, strict=True)
        ]

    def spread(self, variances: Array) -> Array:
        pairs = zip(self.members, self.slices, strict=True)
        return np.sum(
            [m.spread(variances[part].reshape(m.coefficient_shape)) for m, part in pairs], axis=0
        )

    def gather(self, weights: Array) -> Array:
        return np.concatenate([member.gather(weights).ravel() for member in self.members])

    def bands(self) -> list[Band]:
        return [Band((part,), ()) for part in self.slices]

    def places(self) -> None:
        return None
