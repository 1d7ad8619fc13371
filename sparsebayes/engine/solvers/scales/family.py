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
    def inputs(self) -> Array | None: ...

    def covariances(self, theta: Array, Z: Array) -> list[Array]:
        """Those of each kernel between the rows of Z, (n, n)."""
        ...

    def covariance_slopes(
        self, theta: Array, Z: Array, slopes: Array, signals: Array, values: list[Array]
    ) -> Array:
        """``Σ_j signals_j Σ_nm slopes_nm ∂K_j,nm/∂θ``, (T,), where the values are K_j."""
        ...

    def fixed(self, Z: Array) -> Array:
        """The functions without scales at the rows of Z, (n, k)."""
        ...


class Family(CovarianceFamily, Protocol):
    """Designs that depend on a vector θ of log scales.

    Attributes
    ----------
    lower : ndarray, (T,)
        The lower bound of θ where functions share a precision: an input of a few levels must not
        become one of categories.
    trials : ndarray, (k, T)
        Points from which a search may start, far apart.
    fine : bool
        Whether to search at all, or to choose among `trials`.
    """

    lower: Array
    trials: Array
    fine: bool

    def design(self, theta: Array) -> Design:
        """All functions."""
        ...

    def columns(self, theta: Array, index: Array, rows: slice | Array | None = None) -> Array:
        """The functions of `index`, at some of the samples."""
        ...

    def slopes(
        self,
        theta: Array,
        index: Array,
        slopes: Array,
        rows: slice | None = None,
        values: Array | None = None,
    ) -> Array:
        """``Σ_nm slopes_nm ∂φ_m(x_n)/∂θ``, (T,); the values are those of `columns`, if known."""
        ...

    def kinds(self, index: Array) -> Array:
        """Functions of the same number may share a precision; those of a negative one may not."""
        ...
