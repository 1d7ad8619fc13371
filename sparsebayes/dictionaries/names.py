"""Dictionaries by name."""

from __future__ import annotations

from typing import Any, cast

from sparsebayes.dictionaries.dictionary import Dictionary, Union
from sparsebayes.dictionaries.families import (
    DCT,
    KERNELS,
    MDCT,
    DualTree,
    Kernel,
    KernelName,
    Wavelet,
    is_orthogonal,
)

NAMED: dict[str, type[DCT | DualTree | MDCT]] = {"dct": DCT, "dual_tree": DualTree, "mdct": MDCT}


def as_dictionary(dictionary: Any) -> Dictionary:
    """Make a dictionary of its name, of names joined by "+", or of a dictionary.

    `denoise` does this with its argument `dictionary`.

    Parameters
    ----------
    dictionary : str or Dictionary
        Such as "sym8", "dct" or "haar+thin_plate"; a dictionary is given back.

    Returns
    -------
    Dictionary
        Of the first kind that has this name: cosines, kernels, then wavelets of PyWavelets.

    See Also
    --------
    Wavelet : By the names of PyWavelets.
    Union : What several names give.

    Examples
    --------
    >>> from sparsebayes.dictionaries import as_dictionary
    >>> as_dictionary("haar+dct").label
    'haar + DCT'
    """
    if isinstance(dictionary, Dictionary):
        return dictionary
    if not isinstance(dictionary, str) or not dictionary.strip():
        raise ValueError(
            "dictionary must be a name such as 'sym8', 'dct' or 'haar+thin_plate', or an object of "
            f"sparsebayes.dictionaries, got {dictionary!r}."
        )
    names = [name.strip().lower() for name in dictionary.split("+")]
    found = [_named(name, dictionary) for name in names]
    return found[0] if len(found) == 1 else Union(tuple(found))


def _named(name: str, given: str) -> Dictionary:
    if name in NAMED:
        return NAMED[name]()
    if name in KERNELS:
        return Kernel(cast(KernelName, name))
    if is_orthogonal(name):
        return Wavelet(name)
    listed = ", ".join(map(repr, NAMED))
    raise ValueError(
        f"dictionary={given!r}: {name!r} is not known; use {listed}, one of {sorted(KERNELS)}, or "
        "an orthogonal wavelet of PyWavelets such as 'sym8', 'haar' or 'db4'."
    )
