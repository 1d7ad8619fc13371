"""Unions of bases."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from sparsebayes.basis.base import Basis
from sparsebayes.basis.centres import Some
from sparsebayes.basis.kernels import Centred
from sparsebayes.engine.moments import Functions

Array = np.ndarray


def _sums(columns: Array) -> Array:
    """A weighted sum of each column, the same to the last bit for the same column."""
    weights = np.cos(np.arange(1.0, len(columns) + 1.0))
    return (columns * weights[:, None]).sum(axis=0)


class Union(Basis):
    """The functions of two bases, those of `left` first; made by ``left + right``.

    Functions that both have are candidates once. Unions of unions have any number of bases.

    Parameters
    ----------
    left, right : Basis
        The bases.

    See Also
    --------
    as_basis : In a sum one of them may be a name, as in ``RBF() + "linear"``.
    sparsebayes.dictionaries.Union : The same for dictionaries of signals.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.basis import RBF, Linear
    >>> X = np.linspace(0.0, 10.0, 60)[:, None]
    >>> y = X[:, 0] + np.exp(-0.5 * (X[:, 0] - 5) ** 2)
    >>> y += 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> RVR(Linear() + RBF(1.0)).fit(X, y).predict([[5.0], [20.0]]).round(1)
    array([ 6. , 20.2])
    """

    def __init__(self, left: Basis, right: Basis) -> None:
        self.left = left
        self.right = right

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.left!r} + {self.right!r}"

    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
        for name, part in (("left", self.left), ("right", self.right)):
            if not isinstance(part, Basis):
                raise TypeError(f"{name} must be a Basis, such as RBF(), got {part!r}.")
        told = () if some is None else (some,)
        self.left_ = copy.copy(self.left).fit(X, weights, *told)  # the parameters stay as they are
        self.right_ = copy.copy(self.right).fit(X, weights, *told)
        self._join(X if weights is None else X[weights > 0])
        return self

    def _join(self, seen: Array) -> None:
        """What follows from both bases, and from rows with weight."""
        first = self.left_.n_functions_
        self.n_functions_ = first + self.right_.n_functions_
        self.distinct_ = np.concatenate([self.left_.distinct_, first + self._new(seen)])
        self.center_index_ = np.concatenate([self.left_.center_index_, self.right_.center_index_])

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

    def functions(self) -> tuple[Functions, ...] | None:
        left, right = self.left_.functions(), self.right_.functions()
        return None if left is None or right is None else left + right

    def gradients(self) -> Array | None:
        left, right = self.left_.gradients(), self.right_.gradients()
        return None if left is None or right is None else np.vstack([left, right])

    def function_names(self, inputs: Sequence[str]) -> list[str]:
        return self.left_.function_names(inputs) + self.right_.function_names(inputs)

    def reach(self) -> Array | None:
        left, right = self.left_.reach(), self.right_.reach()
        return None if left is None or right is None else np.minimum(left, right)

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

    def _hashes(self, X: Array, index: Array) -> Array:
        inside, left, right = self._split(index)
        out = np.empty(len(index), dtype=np.int64)
        # Each basis by itself: the last bit may depend on what is computed together.
        out[inside], out[~inside] = self.left_._hashes(X, left), self.right_._hashes(X, right)
        return out

    def kinds(self) -> Array:
        left, right = self.left_.kinds(), self.right_.kinds()
        return np.concatenate([left, np.where(right < 0, -1, right + left.max(initial=-1) + 1)])

    @property
    def scales_given(self) -> bool:
        return self.left_.scales_given or self.right_.scales_given

    @property
    def length_scales(self) -> tuple[Array, ...]:
        return self.left_.length_scales + self.right_.length_scales

    def rescaled(self, log_scales: Array) -> Basis:
        first = self.left_.log_scales().size
        part = copy.copy(self)
        part.left_ = self.left_.rescaled(log_scales[:first])
        part.right_ = self.right_.rescaled(log_scales[first:])
        return part

    def recentred(self, X: Array, rows: Array, points: Array) -> Basis:
        part = copy.copy(self)
        part.left_ = self.left_.recentred(X, rows, points)
        part.right_ = self.right_.recentred(X, rows, points)
        part._join(X)
        return part

    def scale_slopes(
        self, X: Array, index: Array, slopes: Array, values: Array | None = None
    ) -> Array:
        inside, left, right = self._split(index)
        ours, theirs = (None, None) if values is None else (values[:, inside], values[:, ~inside])
        parts = (
            self.left_.scale_slopes(X, left, slopes[:, inside], ours),
            self.right_.scale_slopes(X, right, slopes[:, ~inside], theirs),
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
