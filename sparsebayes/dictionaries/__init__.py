"""Dictionaries: bases of a signal or an image, to be joined by ``+``.

A dictionary is a description; `bind` gives the transform for signals of one shape. `Wavelet`,
`DCT` and `MDCT` are orthonormal: as many functions as samples, and a closed form for the fit.
`DualTree` has several orthonormal bases at once. One of your own subclasses `Dictionary`, and its
transform `Transform`.
"""

from sparsebayes._support.homes import settle
from sparsebayes.dictionaries.dictionary import Dictionary, Union
from sparsebayes.dictionaries.families import DCT, MDCT, DualTree, Kernel, Wavelet
from sparsebayes.dictionaries.names import as_dictionary
from sparsebayes.dictionaries.transforms import Band, Transform

__all__ = [
    "DCT",
    "MDCT",
    "Band",
    "Dictionary",
    "DualTree",
    "Kernel",
    "Transform",
    "Union",
    "Wavelet",
    "as_dictionary",
]

settle(globals())
