"""Spline kernels, whose functions do not fade away from their centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.data import LARGEST
from sparsebayes.basis.kernels import Scaled, squared_distances, weighted_squares

Array = np.ndarray


class ThinPlateSpline(Scaled):
    """``r² log r`` of the distance r from the centre, in units of `length_scale` [1]_.

    It grows with the distance: a sum of it goes on where the data end.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default="scale"
        The unit of the distance; "scale" takes ``sqrt(D var(X) / 2)``.
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    See Also
    --------
    LinearSpline : Another kernel that is not localised.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (A.3).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import ThinPlateSpline
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> ThinPlateSpline(1.0).fit(X).columns(X[2:]).round(2)
    array([[2.77, 0.  , 0.  ]])
    """

    stationary = True

    def _kernel(self, X: Array, Z: Array) -> Array:
        squared = squared_distances(X / self.length_scale_, Z / self.length_scale_)
        return 0.5 * squared * np.log(np.where(squared > 0, squared, 1.0))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array, values: Array | None) -> Array:
        squared = squared_distances(X, Z)
        weights = -slopes * (1.0 + np.log(np.where(squared > 0, squared, 1.0)))
        return weighted_squares(X, Z, weights)


class LinearSpline(Scaled):
    """Vapnik's linear spline kernel, the product over inputs [1]_, [2]_.

    ``1 + xz + xz min(x, z) − ½(x + z) min(x, z)² + ⅓ min(x, z)³`` with x and z in units of
    `length_scale`.

    Parameters
    ----------
    length_scale : float, array-like of shape (D,) or "scale", default=1.0
        The unit of the inputs; "scale" takes ``sqrt(D var(X) / 2)``.
    centres : int, array-like of shape (M, D) or None, default=None
        How many rows to centre functions on, or on which points; all rows up to 10,000 of them,
        beyond 1000.

    See Also
    --------
    ThinPlateSpline : Splines of the distance from a centre.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, (29).
    .. [2] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (A.1).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.basis import LinearSpline
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> LinearSpline().fit(X).columns(X[1:]).round(2)
    array([[1.  , 2.33, 3.83],
           [1.  , 3.83, 7.67]])
    """

    def __init__(self, length_scale: Any = 1.0, *, centres: Any = None) -> None:
        self.length_scale = length_scale
        self.centres = centres

    def _kernel(self, X: Array, Z: Array) -> Array:
        out = np.ones((len(X), len(Z)))
        with np.errstate(over="ignore", invalid="ignore"):  # told of below
            for x, z in zip((X / self.length_scale_).T, (Z / self.length_scale_).T, strict=True):
                square, cubic = self._powers(x, z)
                out *= 1.0 + square + cubic
        largest = float(np.abs(out).max(initial=0.0))
        if not largest <= LARGEST:
            raise ValueError(
                f"LinearSpline has values of size {largest:.3g} at X of size "
                f"{np.abs(X).max():.3g}, and their squares are out of range; rescale X."
            )
        return out

    @staticmethod
    def _powers(x: Array, z: Array) -> tuple[Array, Array]:
        """The parts of one input's factor that go with the second and third power of its unit."""
        product = np.multiply.outer(x, z)
        least = np.minimum.outer(x, z)
        half_sum = 0.5 * np.add.outer(x, z)
        return product, least * (product - least * (half_sum - least / 3.0))

    def _scale_slopes(self, X: Array, Z: Array, slopes: Array, values: Array | None) -> Array:
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
