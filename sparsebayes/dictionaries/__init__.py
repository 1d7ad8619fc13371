"""Dictionaries: bases of a signal or an image, to be joined by ``+``.

A dictionary is a description; `bind` gives the transform for signals of one shape. `Wavelet`
and `DCT` are orthonormal: as many functions as samples, and a closed form for the fit.
"""

from sparsebayes._support.homes import settle
from sparsebayes.dictionaries.dictionary import (
    DCT,
    Dictionary,
    Kernel,
    Union,
    Wavelet,
    as_dictionary,
)

__all__ = ["DCT", "Dictionary", "Kernel", "Union", "Wavelet", "as_dictionary"]

settle(globals())
