"""Checks of data: each gives arrays of finite numbers in range, or says what is wrong where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from sparsebayes._support.validation import LARGEST, check_range

Array = np.ndarray

SMALLEST_WEIGHT = 1e-20
"""If all weights are smaller, next to nothing is said of the noise, and its square is lost."""

LARGEST_FUNCTION = LARGEST**2
"""Of a function of the inputs: squares of it are still numbers."""

_LARGEST_LABEL = 2.0**53  # whole numbers up to here are told apart

_REMEDIES = {
    r"contains (NaN|infinity)": "\nDrop these samples or repair their values.",
    r"convert|argument must be|setting an array element": (
        "\nGive numbers only; encode text, as scikit-learn's OneHotEncoder does, and leave out "
        "what is missing."
    ),
}


@contextmanager
def remedies(*names: str) -> Iterator[None]:
    """Add to errors of scikit-learn and NumPy which argument is wrong, and what to do about it."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error)
        known = any(re.search(rf"(?<!\w){name}(?!\w)", text) for name in names)
        told = "" if known else f"{' and '.join(names)}: "
        remedy = next((words for cause, words in _REMEDIES.items() if re.search(cause, text)), "")
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{told}{text}{remedy}") from error


@contextmanager
def checks(*names: str) -> Iterator[None]:
    """Around checks of scikit-learn: they add all values up to find those that are not finite."""
    with remedies(*names), np.errstate(over="ignore", invalid="ignore"):
        yield


def check_plain(name: str, values: Any, *, gaps: bool = False) -> Any:
    """Data without a mask, as they are given otherwise; or a clear error for dates and the like.

    Parameters
    ----------
    name : str
        The argument.
    values : array-like
        The data.
    gaps : bool, default=False
        Whether values may be missing: what a mask hides is then NaN.

    Returns
    -------
    array-like
        What scikit-learn's checks understand as it is meant.
    """
    if values is None:
        role = "the target " if name == "y" else ""
        raise ValueError(f"This requires {name} to be passed, but {role}{name} is None.")
    if np.ma.isMaskedArray(values):
        hidden = int(np.ma.count_masked(values))
        if hidden and not gaps:
            raise ValueError(
                f"{name} is a masked array that hides {hidden} value(s); drop these samples, or "
                f"fill them in with {name}.filled()."
            )
        values = np.ma.filled(values.astype(np.float64), np.nan) if hidden else values.data
    columns = getattr(values, "columns", None)
    if columns is not None and hasattr(values, "dtypes"):
        _check_kinds(name, list(columns), list(values.dtypes))
    elif _is_date(getattr(values, "dtype", None)):
        raise ValueError(
            f"{name} holds dates or times ({values.dtype}); give numbers, such as days since the "
            "first of them."
        )
    return values


def _check_kinds(name: str, columns: list[Any], kinds: list[Any]) -> None:
    """Columns of a table have names of their own, and none holds dates; or a clear error."""
    twice = [column for number, column in enumerate(columns) if column in columns[:number]]
    if twice:
        raise ValueError(
            f"{name} has more than one column {twice[0]!r}; give each column a name of its own."
        )
    for column, kind in zip(columns, kinds, strict=True):
        if _is_date(kind):
            raise ValueError(
                f"{name} holds dates or times in column {column!r} ({kind}); give numbers, such as "
                "days since the first of them."
            )


def _is_date(dtype: Any) -> bool:
    told = getattr(dtype, "kind", None) or str(dtype)
    return told in ("M", "m") or str(told).startswith(("Date", "Duration", "Time"))


def check_size(name: str, values: Array, largest: float = LARGEST) -> Array:
    """Numbers whose squares are numbers too, or a clear error."""
    worst = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))  # without a copy
    if worst > largest:
        raise ValueError(
            f"{name} has a value of size {worst:.3g}, and its square is out of range; rescale "
            f"{name} to at most {largest:.3g}."
        )
    return values


def check_columns(name: str, X: Array, smallest: float = 1.0 / LARGEST) -> None:
    """Columns whose squares are not lost, or a clear error; zeros may be in them, or all of it."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    lost = np.flatnonzero((largest > 0) & (largest < smallest))
    if lost.size:
        raise ValueError(
            f"The largest value in column {lost[0]} of {name} is {largest[lost[0]]:.3g}, and its "
            f"square is out of range; rescale {name} to at least {smallest:.3g}."
        )


def check_numbers(name: str, values: Any, **options: Any) -> Array:
    """Finite numbers of any dimension above 0, as floats; `options` are scikit-learn's."""
    values = check_plain(name, values)
    with checks(name):
        options = {"ensure_2d": False, "dtype": np.float64, **options}
        return check_array(values, input_name=name, **options)


def finite_array(
    name: str,
    values: Any,
    shape: tuple[int | None, ...] | None = (None,),
    *,
    like: str = "",
    gaps: bool = False,
) -> Array:
    """Numbers in an array of a shape, or a clear error; None is any length, or any shape.

    `like` says what else has this shape; with `gaps` some may be NaN.
    """
    array = check_numbers(
        name,
        values,
        allow_nd=True,
        ensure_min_samples=0,
        ensure_min_features=0,
        ensure_all_finite="allow-nan" if gaps else True,
    )
    if shape is not None and not _has_shape(array, shape):
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        wanted = f"shape ({wanted}{',' * (len(shape) == 1)})"
        told = f"shape {array.shape}" if array.ndim else repr(values)
        wanted = "one dimension" if shape == (None,) else wanted
        wanted += f" like {like}" if like else ""
        raise ValueError(f"{name} must have {wanted}, got {told}.")
    return array


def _has_shape(array: Array, shape: tuple[int | None, ...]) -> bool:
    return array.ndim == len(shape) and all(
        n is None or n == found for n, found in zip(shape, array.shape, strict=True)
    )


def check_weights(sample_weight: Any, X: Array, *, part: bool = False) -> Array:
    """One weight for each row, some of them positive if this is no part; or a clear error."""
    if sample_weight is None:
        return np.ones(len(X))
    sample_weight = check_plain("sample_weight", sample_weight)
    with checks("sample_weight"):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    largest = float(weights.max(initial=0.0))
    if part and largest < 1.0:
        return weights
    if not largest > 0:
        raise ValueError("sample_weight is zero for every sample; give some weight.")
    if not SMALLEST_WEIGHT <= largest <= LARGEST:
        raise ValueError(
            f"The largest sample_weight is {largest:.3g}; rescale the weights to between "
            f"{SMALLEST_WEIGHT:g} and {LARGEST:g}."
        )
    return weights


def check_fit(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    labels: bool = False,
    several: bool = False,
    part: bool = False,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """The samples of a fit, after which the model knows how many inputs there are, and their names.

    Parameters
    ----------
    model : estimator or None
        What is fitted; None where nothing needs to know.
    X, y, sample_weight
        As given to `fit`.
    labels : bool, default=False
        Whether `y` holds labels, which stay as they are.
    several : bool, default=False
        Whether there may be a column for each of several targets.
    part : bool, default=False
        Whether these are some samples of many: all may be zero, and have no weight.
    **options
        For scikit-learn's check of `X`.

    Returns
    -------
    X, y, weights : ndarray
        Of floats, but for labels.
    """
    X = check_plain("X", X)
    with checks("X"):
        options = {"dtype": np.float64, **options}
        if model is None:
            X = check_array(X, input_name="X", **options)
        else:
            X = validate_data(model, X, **options)
    check_size("X", X)
    if not part:
        check_columns("X", X)
    y = check_labels(y, model) if labels else check_targets(y, several=several, part=part)
    check_lengths(X, y)
    return X, y, check_weights(sample_weight, X, part=part)


def check_lengths(X: Any, y: Any) -> None:
    """As many inputs as targets, or a clear error."""
    with checks("X", "y"):
        check_consistent_length(X, y)


def check_targets(y: Any, *, several: bool = False, part: bool = False) -> Array:
    """Targets of a regression, in range: (n,), or (n, K) if there may be several."""
    y = check_plain("y", y)
    if not several:
        with checks("y"):
            y = column_or_1d(y, warn=True)
    y = check_numbers("y", y)
    if not part or np.abs(y).max() > 1.0:
        check_range(y)
    return y


def check_labels(y: Any, model: Any = None, *, name: str = "y") -> Array:
    """Labels that can be put in order, as they are given."""
    if y is None or np.ma.isMaskedArray(y):
        y = check_plain(name, y)
    with checks(name):
        y = _check_y(y, estimator=model)
        if y.dtype.kind == "V":
            raise ValueError(
                f"{name} is a structured array ({y.dtype}); give one label for each row."
            )
        largest = float(np.abs(y).max(initial=0)) if y.dtype.kind == "f" else 0.0
        if largest > _LARGEST_LABEL:
            raise ValueError(f"{name} has the label {largest:g}; use small whole numbers, or text.")
    kinds = sorted({type(label).__name__ for label in y.tolist()})
    if y.dtype == object and len(kinds) > 1:
        raise ValueError(
            f"{name} mixes labels of different types, {', '.join(kinds)}; "
            "use one type, and drop samples without a label."
        )
    with checks(name):
        check_classification_targets(y)
    return y


def check_inputs(model: Any, X: Any, *, name: str = "X") -> Array:
    """Inputs to predict at as an array of floats, for a model that is fitted; or a clear error."""
    check_is_fitted(model)
    X = check_plain(name, X)
    with checks(name):
        X = validate_data(model, X, dtype=np.float64, reset=False)
    return check_size(name, X)


class CheckedScoreMixin:
    """A mixin for estimators whose `score` says which argument is wrong; before scikit-learn's."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score predictions: by the share of variance explained, or of labels that are right.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The inputs.
        y : array-like of shape (n,) or (n, n_targets)
            The true targets or labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        float
            R², or the accuracy.
        """
        y = check_labels(y) if is_classifier(self) else check_targets(y, several=True)
        check_lengths(X, y)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, y)
        with remedies("X", "y"):
            return super().score(X, y, sample_weight)  # type: ignore[misc]
