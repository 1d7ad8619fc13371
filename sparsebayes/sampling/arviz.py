"""Draws in ArviZ's structure, of its versions before and after 1.0."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from sparsebayes._support.optional import require

Array = np.ndarray


def load_arviz(caller: str) -> Any:
    """The package, or an ImportError with the remedy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # 0.23 announces 1.0
        return require("arviz", caller)


def as_arviz(
    groups: dict[str, dict[str, Array]], coords: dict[str, Array], dims: dict[str, list[str]]
) -> Any:
    """An InferenceData, or a DataTree from version 1.0 on."""
    arviz = load_arviz("PosteriorSamples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # more chains than draws
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups, coords=coords, dims=dims)
        return arviz.from_dict(**groups, coords=coords, dims=dims)


def summarise(values: dict[str, Array], dims: dict[str, list[str]]) -> Any:
    """ArviZ's summary of some quantities as a DataFrame, unrounded."""
    arviz = load_arviz("PosteriorSamples.summary")
    data = as_arviz({"posterior": values}, {}, dims)
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # R-hat of a single chain is NaN, which says enough
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # 0/0 of what never changes
            return arviz.summary(data, round_to="none")
    finally:
        logging.disable(before)
