"""What a basis is."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes.basis.centres import Some
from sparsebayes.engine.moments import Functions

if TYPE_CHECKING:
    from sparsebayes.basis.kernels import Centred

Array = np.ndarray


def column_hashes(columns: Array) -> Array:
    """A number for each column, the same for the same column."""
    rows = np.ascontiguousarray((columns + 0.0).T)  # + 0.0: −0 is 0
    return np.array([hash(row.tobytes()) for row in rows], dtype=np.int64)


class Basis(GuidedMixin, BaseEstimator, ABC):
    """M functions of x, numbered from 0.

    A new basis implements `fit`, which sets the attributes, `columns` and `select`.

    Attributes
    ----------
    n_functions_ : int
        How many functions there are, M.
    distinct_ : ndarray of int
        The candidates: functions that do not repeat an earlier one on rows that have weight.
    center_index_ : ndarray of int, (M,)
        The row of the training inputs on which a function is centred, -1 for none, and for
        functions centred elsewhere.

    See Also
    --------
    RBF : The basis that estimators take if nothing else is said.
    Union : Several bases together.
    as_basis : A basis from its name.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import RBF, Linear
    >>> basis = (RBF(1.0) + Linear()).fit(np.array([[0.0], [1.0]]))
    >>> basis.columns(np.array([[0.0]])).round(2)
    array([[1.  , 0.61, 0.  ]])
    """

    n_functions_: int
    distinct_: Array
    center_index_: Array

    @abstractmethod
    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
        """Learn the functions from rows.

        Parameters
        ----------
        X : ndarray, (N, D)
            The rows.
        weights : ndarray, (N,), or None, default=None
            Their weights; rows without weight have no function.
        some : Some or None, default=None
            Which rows these are, where they are some of many.

        Returns
        -------
        Basis
            This basis, fitted.
        """

    @abstractmethod
    def columns(self, X: Array, index: Array | None = None) -> Array:
        """Evaluate the functions.

        Parameters
        ----------
        X : ndarray, (n, D)
            The rows to evaluate them at.
        index : ndarray of int, (k,), or None, default=None
            Which functions; None takes all.

        Returns
        -------
        ndarray, (n, k)
            A column for each function.
        """

    @abstractmethod
    def select(self, index: Array) -> Basis:
        """Take some of the functions.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which ones, in the order of the basis.

        Returns
        -------
        Basis
            A fitted copy with these functions only, in this order.
        """

    def kinds(self) -> Array:
        """Tell which kernel of a union each function belongs to.

        Returns
        -------
        ndarray of int, (M,)
            The number of the kernel, -1 for a function without centre.
        """
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
        """Take the logarithms of all length scales.

        Returns
        -------
        ndarray
            Those of one kernel after those of another.
        """
        return np.log(np.concatenate([*self.length_scales, np.empty(0)]))

    def rescaled(self, log_scales: Array) -> Basis:
        """Give the length scales other values.

        Parameters
        ----------
        log_scales : ndarray
            Their logarithms, as `log_scales` has them.

        Returns
        -------
        Basis
            A fitted copy.
        """
        return self

    def scale_slopes(
        self, X: Array, index: Array, slopes: Array, values: Array | None = None
    ) -> Array:
        """Pass derivatives with respect to the columns on to the length scales.

        The result is ``Σ_nm slopes_nm ∂φ_m(x_n)/∂log ℓ``.  # T01 (53)

        Parameters
        ----------
        X : ndarray, (n, D)
            The rows.
        index : ndarray of int, (k,)
            Which functions.
        slopes : ndarray, (n, k)
            Derivatives of some number with respect to their columns.
        values : ndarray, (n, k), or None, default=None
            The columns, where they are known already.

        Returns
        -------
        ndarray
            The derivatives of that number with respect to the log scales.
        """
        return np.empty(0)

    @property
    def centred(self) -> tuple[Centred, ...]:
        """The kernels in it, whose functions can be centred anywhere: none, one or several."""
        return ()

    def recentred(self, X: Array, rows: Array, points: Array) -> Basis:
        """Put some points among the centres, where these were left to a rule.

        Parameters
        ----------
        X : ndarray, (n, D)
            Rows that tell functions apart.
        rows : ndarray of int, (k,)
            The row numbers of the points.
        points : ndarray, (k, D)
            The points.

        Returns
        -------
        Basis
            A fitted copy, or this one if its centres were given.
        """
        return self

    def functions(self) -> tuple[Functions, ...] | None:
        """List the functions as Gaussian bumps and monomials, whose moments are known.

        Returns
        -------
        tuple of Functions, or None
            In their order; None if some are neither.
        """
        return None

    def gradients(self) -> Array | None:
        """Find the slope of each function, if all are linear in the inputs.

        A basis has gradients or has none, whichever of its functions are selected.

        Returns
        -------
        ndarray, (M, D), or None
            The gradients; None if some function is not linear.
        """
        return None

    def function_names(self, inputs: Sequence[str]) -> list[str]:
        """Name the functions by the names of the inputs.

        Parameters
        ----------
        inputs : sequence of str
            Names of the inputs.

        Returns
        -------
        list of str
            A name for each function; empty where it has none of its own.
        """
        return [""] * self.n_functions_

    def reach(self) -> Array | None:
        """Tell how far each input can go before the functions change.

        Returns
        -------
        ndarray, (D,), one number for all inputs, or None
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
