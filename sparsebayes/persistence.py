"""Models on disk, through skops: loading one runs no code that the file brings along."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.files import write_files

__all__ = ["ModelFileError", "StoredModel", "load", "load_record", "save"]

_FORMAT = "sparsebayes-model"
_FORMAT_VERSION = 1
# What a model may hold besides the types that skops trusts by itself.
_TRUSTED_PREFIX = "sparsebayes."
_TRUSTED_KERNELS = "sklearn.gaussian_process.kernels."
_TRUSTED = frozenset({"numpy.dtype", "sklearn.utils._bunch.Bunch"})


class ModelFileError(ValueError):
    """The file is not a model of this package, or cannot be trusted."""


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds.

    Parameters
    ----------
    model : estimator
        The fitted model, or a Pipeline that ends in one.
    feature_names : list of str
        Names of the input columns; empty if unknown.
    target_name : str or None
        Name of the target column.
    version : str
        Version of the package that wrote the file.
    """

    model: Any
    feature_names: list[str] = field(default_factory=list)
    target_name: str | None = None
    version: str = "unknown"

    @property
    def final(self) -> Any:
        """The model itself, without the steps before it."""
        return final_estimator(self.model)


def final_estimator(model: Any) -> Any:
    """The last step of a Pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def package_version() -> str:
    """The installed version of the package."""
    try:
        return metadata.version("sparsebayes")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


def _skops_io():
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            'Storing models needs skops: pip install "sparsebayes[persistence]"'
        ) from error
    return skops.io


def _refused(types: list[str]) -> list[str]:
    prefixes = (_TRUSTED_PREFIX, _TRUSTED_KERNELS)
    return sorted(t for t in types if not t.startswith(prefixes) and t not in _TRUSTED)


def dumps(
    model: BaseEstimator, *, feature_names: Any = None, target_name: str | None = None
) -> bytes:
    """The content of a model file; see :func:`save`."""
    io = _skops_io()
    final = final_estimator(model)
    if not type(final).__module__.startswith(_TRUSTED_PREFIX):
        raise TypeError(
            f"model must be an estimator of sparsebayes, or a Pipeline that ends in one, "
            f"got {type(final).__name__}."
        )
    check_is_fitted(model)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", ())
    record = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "version": package_version(),
        "model": model,
        "feature_names": [str(name) for name in feature_names],
        "target_name": target_name,
    }
    try:
        content = io.dumps(record)
    except (TypeError, io.exceptions.UnsupportedTypeException) as error:
        raise ModelFileError(
            f"{type(final).__name__} holds what a model file cannot keep ({error}); fit it to "
            "NumPy arrays, without pandas dates for instance."
        ) from error
    refused = _refused(io.get_untrusted_types(data=content))
    if refused:
        raise ModelFileError(
            f"The model holds {', '.join(refused)}, which a file cannot bring back safely; "
            "use a basis object of sparsebayes.basis instead of a callable."
        )
    return content


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    target_name: str | None = None,
) -> None:
    """Store a fitted model.

    The file is written under a temporary name and renamed, so it is there whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a Pipeline that ends in one.
    path : str or path
        The file, by custom ``*.skops``.
    feature_names : sequence of str, default=None
        Names of the input columns; None takes the model's ``feature_names_in_``, if any.
    target_name : str, default=None
        Name of the target column.

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be stored safely, such as a callable basis.
    """
    content = dumps(model, feature_names=feature_names, target_name=target_name)
    write_files({Path(path): content})


def load(path: str | os.PathLike[str]) -> Any:
    """Bring back the model stored by :func:`save`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator

    Raises
    ------
    ModelFileError
        If the file is damaged, holds something else, or holds types that are not trusted.
    """
    return load_record(path).model


def load_record(path: str | os.PathLike[str]) -> StoredModel:
    """Bring back a model together with its feature names, target name and version.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    record : StoredModel
    """
    io = _skops_io()
    name = repr(os.fspath(path))
    content = Path(path).read_bytes()
    try:
        types = io.get_untrusted_types(data=content)
        refused = _refused(types)
        record = None if refused else io.loads(content, trusted=types)
    except Exception as error:  # skops raises whatever its parsers do
        raise ModelFileError(
            f"{name} is damaged or not a model file ({type(error).__name__}: {error})."
        ) from error
    if refused:
        raise ModelFileError(f"{name} holds types that are not trusted: {', '.join(refused)}.")
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise ModelFileError(
            f"{name} is not a sparsebayes model: it holds an object of type "
            f"{type(record).__name__}."
        )
    if record.get("format_version") != _FORMAT_VERSION:
        raise ModelFileError(
            f"{name} has format version {record.get('format_version')!r}, this package reads "
            f"{_FORMAT_VERSION}; it was written by sparsebayes {record.get('version')}."
        )
    return StoredModel(
        model=record["model"],
        feature_names=record["feature_names"],
        target_name=record["target_name"],
        version=record["version"],
    )
