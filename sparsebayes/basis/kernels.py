"""Bases with functions centred on training rows: kernels, and how they change with their scales."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import LARGEST
from sparsebayes.basis.base import Basis
from sparsebayes.basis.centres import (
    Some,
    given_centres,
    is_number,
    number_of_centres,
    smallest,
)
from sparsebayes.engine.moments import Bumps, Functions

Array = np.ndarray

_BY_PRODUCT = 5  # inputs from which on a product of matrices is faster than sums of squares
_SLOPE_BLOCK = 1 << 16  # pairs of a sample and a centre that derivatives are computed for at once


def squared_distances(X: Array, Z: Array) -> Array:
    """``‖x − z‖²`` for all pairs: of few inputs one by one, else by a product of matrices.

    The product's error is some roundings of the squared distances from the mean of Z.
    """
    if X.shape[1] < _BY_PRODUCT or len(Z) == 0:
        return cdist(X, Z, "sqeuclidean")
    shift = Z.mean(axis=0)  # far from the origin the parts would cancel
    X, Z = X - shift, Z - shift
    left, right = (np.ones((len(part), X.shape[1] + 2)) for part in (X, Z))
    left[:, :-2], left[:, -2] = X, np.einsum("nd,nd->n", X, X)
    right[:, :-2], right[:, -1] = -2.0 * Z, np.einsum("nd,nd->n", Z, Z)
    out = left @ right.T
    return np.maximum(out, 0.0, out=out)


def weighted_squares(X: Array, Z: Array, weights: Array) -> Array:
    """``Σ_nm w_nm (x_nd − z_md)²`` for each d, through matrix products."""
    shift = Z.mean(axis=0) if len(Z) else 0.0  # far from the origin the parts would cancel
    X, Z = X - shift, Z - shift
    squares = weights.sum(axis=1) @ X**2 + weights.sum(axis=0) @ Z**2
    return squares - 2.0 * np.einsum("nd,nd->d", X, weights @ Z)


class Centred(Basis):
    """Functions ``x ↦ k(x, centre)``, centred on training rows or on points that are given.

    Parameters
    ----------
    centres : int, array-like of shape (M, D) or None, default=None
        So many rows, drawn by a fixed rule (a larger number has all rows of a smaller one); these
        points; or all rows, beyond 10,000 of them 1000.

    Attributes
    ----------
    positive_definite : bool
        Whether k is known to be a covariance.
    stationary : bool
        Whether k depends on the difference of its arguments only.
    """

    positive_definite = False
    stationary = False
    centres: Any = None

    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
        self._prepare(X, weights)
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        if is_number(self.centres) or self.centres is None:
            numbers = rows if some is None else some.numbers[rows]
            count = number_of_centres(self.centres, rows.size if some is None else some.n_rows)
            drawn = None if count >= rows.size else rows[smallest(numbers, count)]
            self.centers_ = X if drawn is None else X[drawn]
            rows = rows if drawn is None else np.arange(drawn.size)
            drawn = np.arange(len(X)) if drawn is None else drawn
            self.center_index_ = drawn if some is None else some.numbers[drawn]
        else:
            self.centers_ = given_centres(self.centres, X.shape[1])
            rows = np.arange(len(self.centers_))
            self.center_index_ = np.full(rows.size, -1)
        self.n_functions_ = len(self.centers_)
        first = distinct_rows(self.centers_[rows]).first
        self.distinct_ = rows[np.sort(first)]
        return self

    def kinds(self) -> Array:
        return np.zeros(self.n_functions_, dtype=int)

    def _prepare(self, X: Array, weights: Array | None) -> None:
        """Resolve parameters that depend on the inputs."""

    @abstractmethod
    def _kernel(self, X: Array, Z: Array) -> Array:
        """The kernel between the rows of X and of Z."""

    @property
    def centred(self) -> tuple[Centred, ...]:
        return (self,)

    @property
    def kernel_reach(self) -> Array:
        """`reach` of a function centred anywhere."""
        return np.asarray(0.0)

    def reach(self) -> Array | None:
        return self.kernel_reach if self.n_functions_ else np.asarray(np.inf)

    def between(self, X: Array, Z: Array) -> Array:
        """Evaluate the kernel between rows.

        Parameters
        ----------
        X, Z : ndarray, (n, D) and (m, D)
            Rows, the second the centres.

        Returns
        -------
        ndarray, (n, m)
            ``k(x, z)`` for all pairs.
        """
        if len(Z) == 0:  # kernels need not know about that
            return np.empty((len(X), 0))
        return self._kernel(X, Z)

    def columns(self, X: Array, index: Array | None = None) -> Array:
        return self.between(X, self.centers_ if index is None else self.centers_[index])

    def centred_on(self, Z: Array) -> Centred:
        """Centre a function on each of some points.

        Parameters
        ----------
        Z : ndarray, (m, D)
            The points.

        Returns
        -------
        Centred
            A fitted copy with the same kernel.
        """
        part = copy.copy(self)
        part.centers_, part.n_functions_ = Z, len(Z)
        part.center_index_ = part.distinct_ = np.arange(len(Z))
        return part

    def recentred(self, X: Array, rows: Array, points: Array) -> Basis:
        if self.centres is not None:
            return self
        others = np.flatnonzero(~np.isin(self.center_index_, rows))
        room = max(0, self.n_functions_ - rows.size)
        others = others[smallest(self.center_index_[others], room)]
        index = np.concatenate([rows, self.center_index_[others]])
        order = np.argsort(index)
        part = copy.copy(self)
        part.center_index_ = index[order]
        part.centers_ = np.concatenate([points, self.centers_[others]])[order]
        part.n_functions_ = len(part.centers_)
        first = distinct_rows(part.centers_).first
        part.distinct_ = np.sort(first)
        return part

    def select(self, index: Array) -> Basis:
        part = self._selected(index)
        part.centers_ = self.centers_[index]
        return part


def centres_of(basis: Basis, n_features: int) -> Array:
    """The points on which functions are centred, in the order of the basis, (R, D)."""
    return np.vstack([np.empty((0, n_features)), *(one.centers_ for one in basis.centred)])


class Scaled(Centred):
    """A kernel of inputs divided by `length_scale`.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        One for all inputs, one for each, or ``sqrt(D var(X) / 2)``, which is
        ``gamma="scale"`` of scikit-learn's support vector machines.
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    Attributes
    ----------
    length_scale_ : float or ndarray of shape (D,)
    """

    length_scale_: float | Array

    def __init__(self, length_scale: Any = "scale", *, centres: Any = None) -> None:
        self.length_scale = length_scale
        self.centres = centres

    def _prepare(self, X: Array, weights: Array | None) -> None:
        name = type(self).__name__
        if isinstance(self.length_scale, str):
            if self.length_scale != "scale":
                raise ValueError(
                    f"length_scale of {name} must be positive numbers or 'scale', "
                    f"got {self.length_scale!r}{hint('length_scale', self.length_scale)}."
                )
            rows = None if weights is None else np.broadcast_to(weights[:, None], X.shape)
            spread = np.sqrt(np.average((X - np.average(X, weights=rows)) ** 2, weights=rows))
            # A constant input leaves rounding; any scale does then.
            usable = spread > 1e-12 * np.abs(X).max()
            self.length_scale_ = float(spread * np.sqrt(0.5 * X.shape[1])) if usable else 1.0
            return
        try:
            scale = np.asarray(self.length_scale, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            scale = np.asarray(np.nan)
        # Powers of what is larger or smaller are no numbers.
        if scale.ndim > 1 or not np.all((scale > 1.0 / LARGEST) & (scale < LARGEST)):
            raise ValueError(
                f"length_scale of {name} must be positive numbers or 'scale', "
                f"got {self.length_scale!r}{hint('length_scale', self.length_scale)}."
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

    @property
    def length_scales(self) -> tuple[Array, ...]:
        return (np.broadcast_to(self.length_scale_, self.centers_.shape[1:]),)

    @property
    def kernel_reach(self) -> Array:
        # A stationary covariance is largest at its centre; the unit of another kernel says little.
        if self.stationary and self.positive_definite:
            return self.length_scales[0]
        return super().kernel_reach

    def rescaled(self, log_scales: Array) -> Basis:
        part = copy.copy(self)
        scale = np.exp(log_scales)
        one = np.ndim(self.length_scale_) == 0 and np.all(log_scales == log_scales[0])
        part.length_scale_ = float(scale[0]) if one else scale
        return part

    def scale_slopes(
        self, X: Array, index: Array, slopes: Array, values: Array | None = None
    ) -> Array:
        scale = np.broadcast_to(self.length_scale_, X.shape[1:])
        centers = self.centers_[index] / scale
        total = np.zeros(scale.size)
        rows = max(1, _SLOPE_BLOCK // max(1, len(centers)))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            known = None if values is None else values[part]
            total += self._scale_slopes(X[part] / scale, centers, slopes[part], known)
        return total

    @abstractmethod
    def _scale_slopes(self, X: Array, Z: Array, slopes: Array, values: Array | None) -> Array:
        """The same for some rows; X and Z are in units of the length scale."""


class RBF(Scaled):
    """``exp(-½ Σ_d (x_d − z_d)² / ℓ_d²)``, centred on training rows.

    The width r of Tipping's ``exp(-‖x − z‖²/r²)`` is ``ℓ = r/√2``.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        The width ℓ; "scale" takes ``sqrt(D var(X) / 2)``.
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    See Also
    --------
    Laplacian : Functions with a peak, for curves that are less smooth.
    sparsebayes.RVR : Its `adapt` learns the length scales.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import RBF
    >>> X = np.array([[0.0], [1.0]])
    >>> RBF(1.0).fit(X).columns(X).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """

    positive_definite = True
    stationary = True

    def _kernel(self, X: Array, Z: Array) -> Array:
        return self._decay(X / self.length_scale_, Z / self.length_scale_)

    @staticmethod
    def _decay(X: Array, Z: Array) -> Array:
        out = squared_distances(X, Z)
        out *= -0.5
        return np.exp(out, out=out)

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array, values: Array | None) -> Array:
        values = self._decay(X, Z) if values is None else values
        return weighted_squares(X, Z, slopes * values)  # QC04 (2.38)

    def functions(self) -> tuple[Functions, ...] | None:
        scales = np.broadcast_to(self.length_scale_, self.centers_.shape[1:])
        return (Bumps(self.centers_, scales.astype(np.float64)),)


class Laplacian(Scaled):
    """``exp(-Σ_d |x_d − z_d| / ℓ_d)``, centred on training rows.

    It has a peak at its centre, so that sums of it are continuous and not smooth.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        The width ℓ; "scale" takes ``sqrt(D var(X) / 2)``.
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    See Also
    --------
    RBF : Smooth functions.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import Laplacian
    >>> X = np.array([[0.0], [1.0]])
    >>> Laplacian(1.0).fit(X).columns(X).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    positive_definite = True
    stationary = True

    def _kernel(self, X: Array, Z: Array) -> Array:
        return self._decay(X / self.length_scale_, Z / self.length_scale_)

    @staticmethod
    def _decay(X: Array, Z: Array) -> Array:
        return np.exp(-cdist(X, Z, "cityblock"))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array, values: Array | None) -> Array:
        weights = slopes * (self._decay(X, Z) if values is None else values)
        pairs = zip(X.T, Z.T, strict=True)
        return np.array([np.vdot(weights, np.abs(np.subtract.outer(x, z))) for x, z in pairs])


class KernelFunction(Centred):
    """Any callable ``k(X, Z)`` that returns an array of shape (len(X), len(Z)).

    It need not be a covariance. Estimators take the function itself too, ``RVR(k)``.

    Parameters
    ----------
    function : callable
        The kernel ``k(X, Z)``, of arrays of shape (n, D) and (m, D).
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    See Also
    --------
    RBF : The kernel that is used if nothing else is said.
    Precomputed : Values of functions in place of the functions.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import KernelFunction
    >>> X = np.array([[0.0], [1.0]])
    >>> KernelFunction(lambda X, Z: np.cos(X - Z.T)).fit(X).columns(X).round(2)
    array([[1.  , 0.54],
           [0.54, 1.  ]])
    """

    def __init__(self, function: Callable[[Array, Array], Array], *, centres: Any = None) -> None:
        self.function = function
        self.centres = centres

    def _kernel(self, X: Array, Z: Array) -> Array:
        if not callable(self.function) or isinstance(self.function, type):
            raise TypeError(f"function must be a callable k(X, Z), got {self.function!r}.")
        out = np.asarray(self.function(X, Z), dtype=np.float64)
        if out.shape != (len(X), len(Z)):
            raise ValueError(
                f"The basis function {self.function!r} returned shape {out.shape} for inputs of "
                f"{len(X)} and {len(Z)} rows; it must return ({len(X)}, {len(Z)})."
            )
        if not np.isfinite(out).all():
            raise ValueError(f"The basis function {self.function!r} returned NaN or infinity.")
        return out
