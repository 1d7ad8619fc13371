"""What a basis is, and those whose functions do not depend on the data."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import PolynomialFeatures

from sparsebayes.engine.moments import Functions, Monomials

if TYPE_CHECKING:
    from sparsebayes._kernels import Centred

Array = np.ndarray

_EXACT_DEGREE = 3  # the moments of higher polynomials are too many to be quick


def column_hashes(columns: Array) -> Array:
    """A number for each column, the same for the same column."""
    rows = np.ascontiguousarray((columns + 0.0).T)  # + 0.0: −0 is 0
    return np.array([hash(row.tobytes()) for row in rows], dtype=np.int64)


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

    def functions(self) -> tuple[Functions, ...] | None:
        """Its functions as bumps and monomials in their order, None if some are neither."""
        return None

    def __add__(self, other: Basis) -> Basis:
        from sparsebayes.basis import Union, as_basis

        return Union(self, as_basis(other))

    def _hashes(self, X: Array, index: Array) -> Array:
        """Those of the columns, computed a few at a time."""
        parts = [index[i : i + 256] for i in range(0, len(index), 256)]
        some = [column_hashes(self.columns(X, part)) for part in parts]
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
        _, first = np.unique(column_hashes(columns), return_index=True)
        self.distinct_ = np.sort(first)
        self.n_functions_ = columns.shape[1]
        self._kept = np.arange(self.n_functions_)
        self._width = X.shape[1]
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

    def functions(self) -> tuple[Functions, ...] | None:
        return (Monomials(np.zeros((len(self._kept), self._width), dtype=int)),)


class Linear(Fixed):
    """The inputs themselves."""

    def _compute(self, X: Array) -> Array:
        return X

    def functions(self) -> tuple[Functions, ...] | None:
        return (Monomials(np.eye(self._width, dtype=int)[self._kept]),)


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

    def functions(self) -> tuple[Functions, ...] | None:
        if self.degree > _EXACT_DEGREE:
            return None
        return (Monomials(self._features.powers_[self._kept]),)
