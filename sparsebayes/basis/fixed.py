"""Bases whose functions do not depend on the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from sparsebayes._support.data import LARGEST_FUNCTION, check_columns, check_size
from sparsebayes._support.validation import LARGEST, whole_number
from sparsebayes.basis.base import Basis, column_hashes
from sparsebayes.basis.centres import Some
from sparsebayes.engine.moments import Functions, Monomials

Array = np.ndarray

_EXACT_DEGREE = 3  # the moments of higher polynomials are too many to be quick


class Fixed(Basis):
    """Functions that do not depend on the data; `_kept` lists those in use."""

    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
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

    @abstractmethod
    def powers(self) -> Array:
        """List the powers of the inputs whose product each function is.

        Returns
        -------
        ndarray of int, (M, D)
            A row for each function.
        """

    def function_names(self, inputs: Sequence[str]) -> list[str]:
        names = []
        for powers in self.powers():
            factors = [
                name if power == 1 else f"{name}^{power}"
                for name, power in zip(inputs, powers, strict=True)
                if power
            ]
            names.append(" ".join(factors) or "bias")
        return names

    def columns(self, X: Array, index: Array | None = None) -> Array:
        return self._compute(X)[:, self._kept if index is None else self._kept[index]]

    def select(self, index: Array) -> Basis:
        part = self._selected(index)
        part._kept = self._kept[index]
        return part


class Bias(Fixed):
    """The constant function.

    Estimators add it by themselves, unless ``bias=False``.

    See Also
    --------
    Linear : The inputs themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import Bias
    >>> X = np.array([[2.0], [3.0]])
    >>> Bias().fit(X).columns(X)
    array([[1.],
           [1.]])
    """

    def _compute(self, X: Array) -> Array:
        return np.ones((len(X), 1))

    def powers(self) -> Array:
        return np.zeros((len(self._kept), self._width), dtype=int)

    def functions(self) -> tuple[Functions, ...] | None:
        return (Monomials(self.powers()),)

    def gradients(self) -> Array | None:
        return self.powers().astype(np.float64)

    def reach(self) -> Array | None:
        return np.asarray(np.inf)


class Linear(Fixed):
    """The inputs themselves, one function for each.

    A relevance vector machine with this basis is linear regression that drops inputs without
    effect.

    See Also
    --------
    Polynomial : Products of the inputs too.
    sparsebayes.RVR : Its `coef_` and `intercept_` are those of the linear model.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.basis import Linear
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> y = 2 * X[:, 0] - X[:, 2] + 0.1 * np.random.default_rng(1).standard_normal(50)
    >>> RVR(Linear()).fit(X, y).coef_.round(1)
    array([ 2.,  0., -1.])
    """

    def _compute(self, X: Array) -> Array:
        return X

    def powers(self) -> Array:
        return (self._kept[:, None] == np.arange(self._width)).astype(int)

    def functions(self) -> tuple[Functions, ...] | None:
        return (Monomials(self.powers()),)

    def gradients(self) -> Array | None:
        return self.powers().astype(np.float64)

    def reach(self) -> Array | None:
        return np.where(self.powers().any(axis=0), 0.0, np.inf)


class Precomputed(Fixed):
    """Columns of X that are basis functions already, as with a precomputed kernel.

    Predictions need the same columns at the new samples.

    See Also
    --------
    KernelFunction : A kernel as a function, which estimators evaluate themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.basis import Precomputed
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> waves = np.cos(np.pi * np.outer(x, np.arange(1, 10)))
    >>> y = 3 * waves[:, 4] + 0.1 * np.random.default_rng(0).standard_normal(50)
    >>> RVR(Precomputed(), prior="ric", bias=False).fit(waves, y).relevance_
    array([4])
    """

    def _compute(self, X: Array) -> Array:
        return X

    def powers(self) -> Array:
        return (self._kept[:, None] == np.arange(self._width)).astype(int)

    def reach(self) -> Array | None:
        return None


class Polynomial(Fixed):
    """All monomials of the inputs up to a degree, without the constant.

    With two inputs and degree 2 these are x₁, x₂, x₁², x₁x₂ and x₂².

    Parameters
    ----------
    degree : int, default=2
        The largest sum of powers in a monomial.

    See Also
    --------
    Linear : The inputs alone.
    LinearSpline : Piecewise cubic functions, centred on training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import Polynomial
    >>> X = np.array([[2.0, 3.0]])
    >>> Polynomial(2).fit(X).columns(X)
    array([[2., 3., 4., 6., 9.]])
    """

    def __init__(self, degree: Any = 2) -> None:
        self.degree = degree

    def fit(self, X: Array, weights: Array | None = None, some: Some | None = None) -> Basis:
        degree = whole_number("degree of Polynomial", self.degree)
        largest = LARGEST ** (1.0 / degree)
        check_columns("X", check_size("X", X, largest), 1.0 / largest)
        self._features = PolynomialFeatures(degree, include_bias=False).fit(X)
        return super().fit(X, weights)

    def _compute(self, X: Array) -> Array:
        check_size("X", X, LARGEST_FUNCTION ** (1.0 / self.degree))
        return self._features.transform(X)

    def powers(self) -> Array:
        return self._features.powers_[self._kept]

    def functions(self) -> tuple[Functions, ...] | None:
        return None if self.degree > _EXACT_DEGREE else (Monomials(self.powers()),)

    def gradients(self) -> Array | None:
        return None if self.degree > 1 else self.powers().astype(np.float64)

    def reach(self) -> Array | None:
        return np.where(self.powers().any(axis=0), 0.0, np.inf)
