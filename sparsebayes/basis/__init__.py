"""Basis functions of x: what an estimator turns its inputs into.

A basis is unfitted until `fit` has seen the inputs: most have one function per row, centred on
it. ``RBF() + Linear()`` is the union of two bases.
"""

from sparsebayes._support.homes import settle
from sparsebayes.basis.base import Basis
from sparsebayes.basis.fixed import Bias, Linear, Polynomial, Precomputed
from sparsebayes.basis.kernels import RBF, KernelFunction, Laplacian
from sparsebayes.basis.names import as_basis
from sparsebayes.basis.splines import LinearSpline, ThinPlateSpline
from sparsebayes.basis.union import Union

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

settle(globals())
