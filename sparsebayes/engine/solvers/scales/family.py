"""Designs and covariances that depend on length scales."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparsebayes.engine.model.design import Design

Array = np.ndarray


class CovarianceFamily(Protocol):
    """Covariances that depend on a vector θ of log scales.

    Attributes
    ----------
    start : ndarray, (T,)
    narrowest, upper : ndarray, (T,)
        Bounds of θ.
    spread : ndarray, (T,)
        θ at which a length scale is the standard deviation of its input.
    inputs : ndarray, (N, D), or None
        The inputs of the samples; None if the kernels are no covariances.
    """

    start: Array
    narrowest: Array
    upper: Array
    spread: Array

    @property
    def inputs(self) -> Array | None:
        """The inputs of the samples, (N, D); None if the kernels are no covariances."""

    def covariances(self, theta: Array, Z: Array) -> list[Array]:
        """Evaluate each kernel between points.

        Parameters
        ----------
        theta : ndarray, (T,)
            The log scales.
        Z : ndarray, (n, D)
            The points.

        Returns
        -------
        list of ndarray, (n, n)
            One for each kernel.
        """
        ...

    def covariance_slopes(
        self, theta: Array, Z: Array, slopes: Array, signals: Array, values: list[Array]
    ) -> Array:
        """Pass derivatives with respect to covariances on to θ.

        Parameters
        ----------
        theta : ndarray, (T,)
            The log scales.
        Z : ndarray, (n, D)
            The points.
        slopes : ndarray, (n, n)
            Derivatives of some number with respect to the sum of the covariances.
        signals : ndarray
            The variance of each kernel, by which it is multiplied in that sum.
        values : list of ndarray, (n, n)
            What `covariances` gives.

        Returns
        -------
        ndarray, (T,)
            ``Σ_j signals_j Σ_nm slopes_nm ∂K_j,nm/∂θ``.
        """
        ...

    def fixed(self, Z: Array) -> Array:
        """Evaluate the functions without scales.

        Parameters
        ----------
        Z : ndarray, (n, D)
            The points.

        Returns
        -------
        ndarray, (n, k)
            A column for each.
        """
        ...


class Family(CovarianceFamily, Protocol):
    """Designs that depend on a vector θ of log scales.

    Estimators make one of a basis. One of your own has the attributes and methods listed here.

    Attributes
    ----------
    start, narrowest, upper, spread : ndarray, (T,)
        Where θ begins, its bounds, and θ at which a length scale is the standard deviation of its
        input.
    lower : ndarray, (T,)
        The lower bound of θ where functions share a precision: an input of a few levels must not
        become one of categories.
    trials : ndarray, (k, T)
        Points from which a search may start, far apart.
    fine : bool
        Whether to search at all, or to choose among `trials`.

    See Also
    --------
    Adaptive : A solver that learns θ.
    learn : Finds θ alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense
    >>> class Bumps:
    ...     start = narrowest = upper = lower = spread = np.zeros(1)
    ...     trials, fine, inputs = np.zeros((1, 1)), False, None
    ...     x = np.linspace(0.0, 1.0, 5)
    ...
    ...     def columns(self, theta, index, rows=None):
    ...         away = np.subtract.outer(self.x, self.x[index]) / np.exp(theta)
    ...         return np.exp(-0.5 * away**2)[slice(None) if rows is None else rows]
    ...
    ...     def design(self, theta):
    ...         return Dense(self.columns(theta, np.arange(5)))
    >>> Bumps().design(np.zeros(1)).shape
    (5, 5)
    """

    lower: Array
    trials: Array
    fine: bool

    def design(self, theta: Array) -> Design:
        """Make the design of all functions.

        Parameters
        ----------
        theta : ndarray, (T,)
            The log scales.

        Returns
        -------
        Design
            At these scales.
        """
        ...

    def columns(self, theta: Array, index: Array, rows: slice | Array | None = None) -> Array:
        """Evaluate some functions.

        Parameters
        ----------
        theta : ndarray, (T,)
            The log scales.
        index : ndarray of int, (k,)
            Which functions.
        rows : slice, ndarray or None, default=None
            Which samples; None is all.

        Returns
        -------
        ndarray, (n, k)
            A column for each function.
        """
        ...

    def slopes(
        self,
        theta: Array,
        index: Array,
        slopes: Array,
        rows: slice | None = None,
        values: Array | None = None,
    ) -> Array:
        """Pass derivatives with respect to columns on to θ.

        Parameters
        ----------
        theta : ndarray, (T,)
            The log scales.
        index : ndarray of int, (k,)
            Which functions.
        slopes : ndarray, (n, k)
            Derivatives of some number with respect to their columns.
        rows : slice or None, default=None
            Which samples; None is all.
        values : ndarray, (n, k), or None, default=None
            What `columns` gives, if it is known.

        Returns
        -------
        ndarray, (T,)
            ``Σ_nm slopes_nm ∂φ_m(x_n)/∂θ``.
        """
        ...

    def kinds(self, index: Array) -> Array:
        """Tell which functions may share a precision.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which functions.

        Returns
        -------
        ndarray of int, (k,)
            The same number for those that may; negative for one that may not.
        """
        ...
