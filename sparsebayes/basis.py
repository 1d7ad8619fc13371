"""Basis functions of x: what an estimator turns its inputs into.

A basis is unfitted until `fit` has seen the inputs: most have one function per row, centred on
it. ``RBF() + Linear()`` is the union of two bases.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import PolynomialFeatures

__all__ = [
    "RBF",
    "Basis",
    "Bias",
    "KernelFunction",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Polynomial",
    "Precomputed",
    "ThinPlateSpline",
    "Union",
    "as_basis",
]

Array = np.ndarray

_SLOPE_BLOCK = 1 << 16  # pairs of a sample and a centre that derivatives are computed for at once


def squared_distances(X: Array, Z: Array) -> Array:
    """``‖x − z‖²`` for all pairs: exactly where that is fast, else through a matrix product."""
    if X.shape[1] <= 16 or len(Z) == 0:
        return cdist(X, Z, "sqeuclidean")
    shift = Z.mean(axis=0)  # distances far from the origin would cancel
    return euclidean_distances(X - shift, Z - shift, squared=True)


def _weighted_squares(X: Array, Z: Array, weights: Array) -> Array:
    """``Σ_nm w_nm (x_nd − z_md)²`` for each d, through matrix products."""
    shift = Z.mean(axis=0) if len(Z) else 0.0  # far from the origin the parts would cancel
    X, Z = X - shift, Z - shift
    squares = weights.sum(axis=1) @ X**2 + weights.sum(axis=0) @ Z**2
    return squares - 2.0 * np.einsum("nd,nd->d", X, weights @ Z)


def _hashes(columns: Array) -> Array:
    """A number for each column, the same for the same column."""
    rows = np.ascontiguousarray((columns + 0.0).T)  # + 0.0: −0 is 0
    return np.array([hash(row.tobytes()) for row in rows], dtype=np.int64)


def _sums(columns: Array) -> Array:
    """A weighted sum of each column, the same to the last bit for the same column."""
    weights = np.cos(np.arange(1.0, len(columns) + 1.0))
    return (columns * weights[:, None]).sum(axis=0)


class Basis(BaseEstimator, ABC):
    """M functions of x, numbered from 0.

    A new basis implements `fit`, which sets the attributes, `columns` and `select`.

    Attributes
    ----------
    n_functions_ : int
    distinct_ : ndarray of int
        The candidates: functions that do not repeat an earlier one on rows that have weight.
    center_index_ : ndarray of int, (M,)
        The row of the training inputs on which a function is centred, -1 for none.
    """

    n_functions_: int
    distinct_: Array
    center_index_: Array

    @abstractmethod
    def fit(self, X: Array, weights: Array | None = None) -> Basis:
        """Learn the functions from the rows of X, (N, D), which may have weights."""

    @abstractmethod
    def columns(self, X: Array, index: Array | None = None) -> Array:
        """The functions (all, or those of `index`) at the rows of X, (n, k)."""

    @abstractmethod
    def select(self, index: Array) -> Basis:
        """A fitted copy with these functions only, in this order."""

    def kinds(self) -> Array:
        """For each function the number of its centred basis in a union, -1 if it has no centre."""
        return np.where(self.center_index_ < 0, -1, 0)

    @property
    def scales_given(self) -> bool:
        """Whether some length scale was given as a number."""
        return False

    def log_scales(self) -> Array:
        """Logarithms of the length scales that can be learned, one for each input.

        A union has those of its first member, then those of its second; most bases have none.
        """
        return np.empty(0)

    def rescaled(self, log_scales: Array) -> Basis:
        """A fitted copy with other length scales."""
        return self

    def scale_slopes(self, X: Array, index: Array, slopes: Array) -> Array:
        """``Σ_nm slopes_nm ∂φ_m(x_n)/∂log ℓ`` for each length scale, of the functions of `index`.

        With the derivatives of a function of the columns as slopes, (n, k), these are its
        derivatives with respect to the log scales.  # T01 (53)
        """
        return np.empty(0)

    @property
    def centred(self) -> tuple[Centred, ...]:
        """The kernels in it, whose functions can be centred anywhere: none, one or several."""
        return ()

    def __add__(self, other: Basis) -> Union:
        return Union(self, as_basis(other))

    def _hashes(self, X: Array, index: Array) -> Array:
        """Those of the columns, computed a few at a time."""
        parts = [index[i : i + 256] for i in range(0, len(index), 256)]
        some = [_hashes(self.columns(X, part)) for part in parts]
        return np.concatenate([*some, np.empty(0, dtype=np.int64)])

    def _selected(self, index: Array) -> Basis:
        part = copy.copy(self)
        part.n_functions_ = len(index)
        part.distinct_ = np.arange(len(index))
        part.center_index_ = self.center_index_[index]
        return part


class Fixed(Basis):
    """Functions that do not depend on the data; `_kept` lists those in use."""

    def fit(self, X: Array, weights: Array | None = None) -> Basis:
        columns = self._compute(X if weights is None else X[weights > 0])
        _, first = np.unique(_hashes(columns), return_index=True)
        self.distinct_ = np.sort(first)
        self.n_functions_ = columns.shape[1]
        self._kept = np.arange(self.n_functions_)
        self.center_index_ = np.full(self.n_functions_, -1)
        return self

    @abstractmethod
    def _compute(self, X: Array) -> Array:
        """All functions at the rows of X."""

    def columns(self, X: Array, index: Array | None = None) -> Array:
        return self._compute(X)[:, self._kept if index is None else self._kept[index]]

    def select(self, index: Array) -> Basis:
        part = self._selected(index)
        part._kept = self._kept[index]
        return part


class Bias(Fixed):
    """The constant function."""

    def _compute(self, X: Array) -> Array:
        return np.ones((len(X), 1))


class Linear(Fixed):
    """The inputs themselves."""

    def _compute(self, X: Array) -> Array:
        return X


class Precomputed(Fixed):
    """The columns of X are the basis functions already, as with a precomputed kernel."""

    def _compute(self, X: Array) -> Array:
        return X


class Polynomial(Fixed):
    """All monomials of the inputs up to a degree, without the constant.

    Parameters
    ----------
    degree : int, default=2
    """

    def __init__(self, degree: Any = 2) -> None:
        self.degree = degree

    def fit(self, X: Array, weights: Array | None = None) -> Basis:
        whole = not isinstance(self.degree, bool) and isinstance(self.degree, Integral)
        if not whole or self.degree < 1:
            raise ValueError(f"Polynomial needs a whole degree >= 1, got {self.degree!r}.")
        self._features = PolynomialFeatures(int(self.degree), include_bias=False).fit(X)
        return super().fit(X, weights)

    def _compute(self, X: Array) -> Array:
        return self._features.transform(X)


class Centred(Basis):
    """One function per training row, ``x ↦ k(x, centre)``.

    Attributes
    ----------
    positive_definite : bool
        Whether k is known to be a covariance.
    """

    positive_definite = False

    def fit(self, X: Array, weights: Array | None = None) -> Basis:
        self._prepare(X, weights)
        self.centers_ = X
        self.n_functions_ = len(X)
        self.center_index_ = np.arange(len(X))
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        _, first = np.unique(X[rows], axis=0, return_index=True)
        self.distinct_ = rows[np.sort(first)]
        return self

    def _prepare(self, X: Array, weights: Array | None) -> None:
        """Resolve parameters that depend on the inputs."""

    @abstractmethod
    def _kernel(self, X: Array, Z: Array) -> Array:
        """The kernel between the rows of X and of Z."""

    @property
    def centred(self) -> tuple[Centred, ...]:
        return (self,)

    def between(self, X: Array, Z: Array) -> Array:
        """``k(x, z)`` for the rows of X and of Z, (len(X), len(Z))."""
        if len(Z) == 0:  # kernels need not know about that
            return np.empty((len(X), 0))
        return self._kernel(X, Z)

    def columns(self, X: Array, index: Array | None = None) -> Array:
        return self.between(X, self.centers_ if index is None else self.centers_[index])

    def select(self, index: Array) -> Basis:
        part = self._selected(index)
        part.centers_ = self.centers_[index]
        return part


class Scaled(Centred):
    """A kernel of inputs divided by `length_scale`.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        One for all inputs, one for each, or ``sqrt(D var(X) / 2)``, which is
        ``gamma="scale"`` of scikit-learn's support vector machines.

    Attributes
    ----------
    length_scale_ : float or ndarray of shape (D,)
    """

    length_scale_: float | Array

    def __init__(self, length_scale: Any = "scale") -> None:
        self.length_scale = length_scale

    def _prepare(self, X: Array, weights: Array | None) -> None:
        name = type(self).__name__
        if isinstance(self.length_scale, str):
            if self.length_scale != "scale":
                raise ValueError(
                    f"length_scale of {name} must be positive numbers or 'scale', "
                    f"got {self.length_scale!r}."
                )
            rows = None if weights is None else np.broadcast_to(weights[:, None], X.shape)
            spread = np.sqrt(np.average((X - np.average(X, weights=rows)) ** 2, weights=rows))
            # A constant input leaves rounding; any scale does then.
            usable = spread > 1e-12 * np.abs(X).max()
            self.length_scale_ = float(spread * np.sqrt(0.5 * X.shape[1])) if usable else 1.0
            return
        try:
            scale = np.asarray(self.length_scale, dtype=np.float64)
        except (TypeError, ValueError):
            scale = np.asarray(np.nan)
        if scale.ndim > 1 or not np.all(np.isfinite(scale)) or not np.all(scale > 0):
            raise ValueError(
                f"length_scale of {name} must be positive numbers or 'scale', "
                f"got {self.length_scale!r}."
            )
        if scale.ndim == 1 and scale.size != X.shape[1]:
            raise ValueError(
                f"length_scale of {name} has {scale.size} entries for {X.shape[1]} features; "
                "give one number, or one for each feature."
            )
        self.length_scale_ = scale if scale.ndim else float(scale)

    @property
    def scales_given(self) -> bool:
        return not isinstance(self.length_scale, str)

    def log_scales(self) -> Array:
        return np.log(np.broadcast_to(self.length_scale_, self.centers_.shape[1:]))

    def rescaled(self, log_scales: Array) -> Basis:
        part = copy.copy(self)
        scale = np.exp(log_scales)
        one = np.ndim(self.length_scale_) == 0 and np.all(log_scales == log_scales[0])
        part.length_scale_ = float(scale[0]) if one else scale
        return part

    def scale_slopes(self, X: Array, index: Array, slopes: Array) -> Array:
        scale = np.broadcast_to(self.length_scale_, X.shape[1:])
        centers = self.centers_[index] / scale
        total = np.zeros(scale.size)
        rows = max(1, _SLOPE_BLOCK // max(1, len(centers)))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            total += self._scale_slopes(X[part] / scale, centers, slopes[part])
        return total

    @abstractmethod
    def _scale_slopes(self, X: Array, Z: Array, slopes: Array) -> Array:
        """The same for some rows; X and Z are in units of the length scale."""


class RBF(Scaled):
    """``exp(-½ Σ_d (x_d − z_d)² / ℓ_d²)``, centred on the training rows.

    The width r of Tipping's ``exp(-‖x − z‖²/r²)`` is ``ℓ = r/√2``.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        ℓ; "scale" takes ``sqrt(D var(X) / 2)``.
    """

    positive_definite = True

    def _kernel(self, X: Array, Z: Array) -> Array:
        return self._decay(X / self.length_scale_, Z / self.length_scale_)

    @staticmethod
    def _decay(X: Array, Z: Array) -> Array:
        out = squared_distances(X, Z)
        out *= -0.5
        return np.exp(out, out=out)

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array) -> Array:
        return _weighted_squares(X, Z, slopes * self._decay(X, Z))  # QC04 (2.38)


class Laplacian(Scaled):
    """``exp(-Σ_d |x_d − z_d| / ℓ_d)``, centred on the training rows.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
    """

    positive_definite = True

    def _kernel(self, X: Array, Z: Array) -> Array:
        return np.exp(-cdist(X / self.length_scale_, Z / self.length_scale_, "cityblock"))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array) -> Array:
        weights = slopes * np.exp(-cdist(X, Z, "cityblock"))
        pairs = zip(X.T, Z.T, strict=True)
        return np.array([np.vdot(weights, np.abs(np.subtract.outer(x, z))) for x, z in pairs])


class ThinPlateSpline(Scaled):
    """``r² log r`` of the distance r from the centre, in units of `length_scale` [1]_.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (A.3).
    """

    def _kernel(self, X: Array, Z: Array) -> Array:
        squared = squared_distances(X / self.length_scale_, Z / self.length_scale_)
        return 0.5 * squared * np.log(np.where(squared > 0, squared, 1.0))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array) -> Array:
        squared = squared_distances(X, Z)
        weights = -slopes * (1.0 + np.log(np.where(squared > 0, squared, 1.0)))
        return _weighted_squares(X, Z, weights)


class LinearSpline(Scaled):
    """Vapnik's linear spline kernel, the product over inputs [1]_, [2]_.

    ``1 + xz + xz min(x, z) − ½(x + z) min(x, z)² + ⅓ min(x, z)³`` with x and z in units of
    `length_scale`.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default=1.0

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, (29).
    .. [2] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (A.1).
    """

    def __init__(self, length_scale: Any = 1.0) -> None:
        self.length_scale = length_scale

    def _kernel(self, X: Array, Z: Array) -> Array:
        out = np.ones((len(X), len(Z)))
        for x, z in zip((X / self.length_scale_).T, (Z / self.length_scale_).T, strict=True):
            square, cubic = self._powers(x, z)
            out *= 1.0 + square + cubic
        return out

    @staticmethod
    def _powers(x: Array, z: Array) -> tuple[Array, Array]:
        """The parts of one input's factor that go with the second and third power of its unit."""
        product = np.multiply.outer(x, z)
        least = np.minimum.outer(x, z)
        half_sum = 0.5 * np.add.outer(x, z)
        return product, least * (product - least * (half_sum - least / 3.0))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array) -> Array:
        powers = [self._powers(x, z) for x, z in zip(X.T, Z.T, strict=True)]
        factors = [1.0 + square + cubic for square, cubic in powers]
        after = [np.ones_like(slopes)]  # the product of the factors after each
        for factor in factors[:0:-1]:
            after.append(after[-1] * factor)
        total = np.empty(len(factors))
        before = -slopes
        for d, (square, cubic) in enumerate(powers):
            total[d] = np.vdot(before * (2.0 * square + 3.0 * cubic), after.pop())
            before = before * factors[d]
        return total


class KernelFunction(Centred):
    """Any callable ``k(X, Z)`` that returns an array of shape (len(X), len(Z)).

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def _kernel(self, X: Array, Z: Array) -> Array:
        out = np.asarray(self.function(X, Z), dtype=np.float64)
        if out.shape != (len(X), len(Z)):
            raise ValueError(
                f"The basis function {self.function!r} returned shape {out.shape} for inputs of "
                f"{len(X)} and {len(Z)} rows; it must return ({len(X)}, {len(Z)})."
            )
        if not np.isfinite(out).all():
            raise ValueError(f"The basis function {self.function!r} returned NaN or infinity.")
        return out


class Union(Basis):
    """The functions of two bases, those of `left` first; made by ``left + right``.

    Parameters
    ----------
    left, right : Basis
    """

    def __init__(self, left: Basis, right: Basis) -> None:
        self.left = left
        self.right = right

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.left!r} + {self.right!r}"

    def fit(self, X: Array, weights: Array | None = None) -> Basis:
        self.left_ = copy.copy(self.left).fit(X, weights)  # the parameters stay as they are
        self.right_ = copy.copy(self.right).fit(X, weights)
        first = self.left_.n_functions_
        self.n_functions_ = first + self.right_.n_functions_
        seen = X if weights is None else X[weights > 0]
        self.distinct_ = np.concatenate([self.left_.distinct_, first + self._new(seen)])
        self.center_index_ = np.concatenate([self.left_.center_index_, self.right_.center_index_])
        return self

    def _new(self, X: Array) -> Array:
        """The distinct functions of `right_` that `left_` does not have."""
        left, right = self.left_.distinct_, self.right_.distinct_
        few = X[:: max(1, len(X) // 4)]  # a few rows tell most of them apart
        ours, theirs = _sums(self.left_.columns(few, left)), _sums(self.right_.columns(few, right))
        shared = theirs == ours if ours.size == 1 else np.isin(theirs, ours)
        if not shared.any():
            return right
        left, twins = left[np.isin(ours, theirs)], right[shared]
        same = np.isin(self.right_._hashes(X, twins), self.left_._hashes(X, left))
        return np.setdiff1d(right, twins[same])

    @property
    def centred(self) -> tuple[Centred, ...]:
        return self.left_.centred + self.right_.centred

    def _split(self, index: Array) -> tuple[Array, Array, Array]:
        inside = index < self.left_.n_functions_
        return inside, index[inside], index[~inside] - self.left_.n_functions_

    def columns(self, X: Array, index: Array | None = None) -> Array:
        if index is None:
            return np.hstack([self.left_.columns(X), self.right_.columns(X)])
        inside, left, right = self._split(np.asarray(index))
        if left.size == 0:  # no copy of a large block for the sake of an empty one
            return self.right_.columns(X, right)
        parts = self.left_.columns(X, left), self.right_.columns(X, right)
        if inside[: left.size].all():
            return np.hstack(parts)
        out = np.empty((len(X), len(inside)))
        out[:, inside], out[:, ~inside] = parts
        return out

    def kinds(self) -> Array:
        left, right = self.left_.kinds(), self.right_.kinds()
        return np.concatenate([left, np.where(right < 0, -1, right + left.max(initial=-1) + 1)])

    @property
    def scales_given(self) -> bool:
        return self.left_.scales_given or self.right_.scales_given

    def log_scales(self) -> Array:
        return np.concatenate([self.left_.log_scales(), self.right_.log_scales()])

    def rescaled(self, log_scales: Array) -> Basis:
        first = self.left_.log_scales().size
        part = copy.copy(self)
        part.left_ = self.left_.rescaled(log_scales[:first])
        part.right_ = self.right_.rescaled(log_scales[first:])
        return part

    def scale_slopes(self, X: Array, index: Array, slopes: Array) -> Array:
        inside, left, right = self._split(index)
        parts = (
            self.left_.scale_slopes(X, left, slopes[:, inside]),
            self.right_.scale_slopes(X, right, slopes[:, ~inside]),
        )
        return np.concatenate(parts)

    def select(self, index: Array) -> Basis:
        inside, left, right = self._split(np.asarray(index))
        if np.any(np.diff(inside.astype(int)) > 0):
            raise ValueError("select needs indices in the order of the basis.")
        part = self._selected(index)
        part.left_ = self.left_.select(left)
        part.right_ = self.right_.select(right)
        return part


_NAMES: dict[str, type[Basis]] = {
    "rbf": RBF,
    "linear_spline": LinearSpline,
    "thin_plate": ThinPlateSpline,
    "polynomial": Polynomial,
    "linear": Linear,
    "laplacian": Laplacian,
    "precomputed": Precomputed,
    "bias": Bias,
}


def as_basis(basis: Any) -> Basis:
    """A `Basis` from a name, a basis object or a callable ``k(X, Z)``."""
    if isinstance(basis, Basis):
        return basis
    if isinstance(basis, str):
        if basis in _NAMES:
            return _NAMES[basis]()
        raise ValueError(f"basis must be one of {sorted(_NAMES)}, got {basis!r}.")
    if callable(basis) and not isinstance(basis, type):
        return KernelFunction(basis)
    raise TypeError(
        f"basis must be a name of {sorted(_NAMES)}, a Basis object or a callable k(X, Z), "
        f"got {basis!r}."
    )
