"""What a basis is."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes.basis.centres import Some
from sparsebayes.engine.moments import Functions

if TYPE_CHECKING:
    from sparsebayes.basis.kernels import Centred

Array = np.ndarray


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
        The row of the training inputs on which a function is centred, -1 for none, and for
        functions centred elsewhere.
    """

    n_functions_: int
    distinct_: Array
    center_index_: Array

    @abstractmethod
    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
        """Learn the functions from the rows of X, (N, D), which may have weights.

        `some` says which rows these are, where they are some of many.
        """

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

    @property
    def length_scales(self) -> tuple[Array, ...]:
        """The length scales of each kernel in it that has some, one for each input, (D,)."""
        return ()

    def log_scales(self) -> Array:
        """Logarithms of all length scales, those of one kernel after those of another."""
        return np.log(np.concatenate([*self.length_scales, np.empty(0)]))

    def rescaled(self, log_scales: Array) -> Basis:
        """A fitted copy with other length scales."""
        return self

    def scale_slopes(
        self, X: Array, index: Array, slopes: Array, values: Array | None = None
    ) -> Array:
        """``Σ_nm slopes_nm ∂φ_m(x_n)/∂log ℓ`` for each length scale, of the functions of `index`.

        With the derivatives of a function of the columns as slopes, (n, k), these are its
        derivatives with respect to the log scales.  # T01 (53)
        `values` are the columns, where they are known already.
        """
        return np.empty(0)

    @property
    def centred(self) -> tuple[Centred, ...]:
        """The kernels in it, whose functions can be centred anywhere: none, one or several."""
        return ()

    def recentred(self, X: Array, rows: Array, points: Array) -> Basis:
        """The same with these points among the centres, where these were left to a rule.

        `rows` are their row numbers; X has rows that tell functions apart.
        """
        return self

    def functions(self) -> tuple[Functions, ...] | None:
        """Its functions as bumps and monomials in their order, None if some are neither."""
        return None

    def gradients(self) -> Array | None:
        """The gradient of each function, (M, D), if all are linear in the inputs; else None.

        A basis has gradients or has none, whichever of its functions are selected.
        """
        return None

    def function_names(self, inputs: Sequence[str]) -> list[str]:
        """A name for each function, by those of the inputs; empty where it has none of its own."""
        return [""] * self.n_functions_

    def reach(self) -> Array | None:
        """How far each input can go before the functions change, (D,), or one number for all.

        Infinite where no function depends on an input, 0 where any distance may count. None if
        the columns of X are functions themselves and no inputs.
        """
        return np.asarray(0.0 if self.n_functions_ else np.inf)

    def __add__(self, other: Basis) -> Basis:
        from sparsebayes.basis.names import as_basis
        from sparsebayes.basis.union import Union

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
