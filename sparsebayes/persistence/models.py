"""Saving and loading fitted models."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.files import write_files
from sparsebayes._support.validation import as_names, check_path
from sparsebayes._support.version import package_version
from sparsebayes.persistence import archive, objects, trusted
from sparsebayes.regression import Statistics

Source = str | os.PathLike[str] | IO[bytes]

_PIECE = 1 << 20  # bytes of a stream that are read at a time
_ENTRIES = {"format", "format_version", "version", "feature_names", "target_name", "objects"}


class ModelFileError(ValueError):
    """The file is not a model of this package, or cannot be trusted.

    The message says what was found, and where.

    See Also
    --------
    load : Raises it for files that it does not build.
    save : Raises it for models that cannot be stored safely.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sparsebayes.persistence import ModelFileError, load
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letter.skops")
    ...     size = path.write_text("Dear reader")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print(str(error).partition("' ")[2])
    is damaged or not a model file (BadZipFile: File is not a zip file).
    """


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds.

    A file has the names of the columns besides the model, so that tables can be checked against
    them.

    Parameters
    ----------
    model : estimator
        The fitted model, or a Pipeline that ends in one.
    feature_names : list of str
        Names of the input columns; empty if unknown.
    target_name : str, list of str or None
        Name of the target column; a list of names if there are several targets.
    version : str
        Version of the package that wrote the file.

    See Also
    --------
    load_record : Reads one from a file.
    save : Writes the file.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.persistence import StoredModel
    >>> record = StoredModel(RVR(), feature_names=["voltage"], target_name="gas")
    >>> record.feature_names, record.final
    (['voltage'], RVR())
    """

    model: Any
    feature_names: list[str] = field(default_factory=list)
    target_name: str | list[str] | None = None
    version: str = "unknown"

    @property
    def final(self) -> Any:
        """The model itself, without the steps before it."""
        return final_estimator(self.model)


def final_estimator(model: Any) -> Any:
    """The last step of a Pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def dumps(model: BaseEstimator, *, feature_names: Any = None, target_name: Any = None) -> bytes:
    """The content of a model file; see :func:`save`."""
    final = final_estimator(model)
    kind = trusted.name_of_class(type(final))
    if kind not in (*trusted.ESTIMATORS, trusted.SUMS):
        raise TypeError(
            f"model must be an estimator of sparsebayes, a Pipeline that ends in one, or "
            f"Statistics, got {type(final).__name__}."
        )
    _check_fitted(model)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", ())
    names = as_names("feature_names", feature_names)
    count = getattr(model, "n_features_in_", None)
    if names and count not in (None, len(names)):
        raise ValueError(
            f"feature_names must name each of the model's {count} inputs, got {len(names)} names."
        )
    try:
        content = archive.write(
            {
                "version": package_version(),
                "feature_names": names,
                "target_name": _target_names(target_name),
                "objects": objects.pack(model),
            }
        )
        _restore(content)  # what cannot be loaded is not saved
    except archive.Refused as refusal:
        raise ModelFileError(f"The model {refusal}.") from refusal
    return content


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    target_name: Any = None,
) -> None:
    """Store a fitted model, or sums over rows.

    The file is written under a temporary name and renamed, so it is there whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, a Pipeline that ends in one, or `Statistics`.
    path : str or path
        The file, by custom ``*.skops``.
    feature_names : sequence of str, default=None
        Names of the input columns; None takes the model's ``feature_names_in_``, if any.
    target_name : str or sequence of str, default=None
        Name of the target column, or the names of all if there are several targets.

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be stored safely, such as a callable basis.

    See Also
    --------
    load : Brings it back.
    sparsebayes.export.to_c : A model as C, for devices without Python.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.persistence import load, save
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> model = RVR("linear").fit(X, 3 * X[:, 0] + np.sin(9 * X[:, 0]))
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "model.skops"), target_name="dose")
    ...     again = load(Path(folder, "model.skops"))
    >>> np.array_equal(again.predict(X), model.predict(X))
    True
    """
    check_path(path)
    content = dumps(model, feature_names=feature_names, target_name=target_name)
    write_files({Path(path): content})


def _check_fitted(model: Any) -> None:
    """The model is fitted, or the sums are those of some rows; or a clear error."""
    if isinstance(model, Statistics):
        model.sums  # noqa: B018
    else:
        check_is_fitted(model)


def _target_names(names: Any) -> str | list[str] | None:
    """The name of one target, or a list of those of several, one at least."""
    if names is None or isinstance(names, str) or not isinstance(names, Iterable):
        return None if names is None else str(names)
    listed = as_names("target_name", names)
    if not listed:
        raise ValueError(
            f"target_name must be a name or a sequence of names, got {names!r}; None is for "
            "targets without names."
        )
    return listed


def load(path: Source) -> Any:
    """Bring back the model stored by :func:`save`.

    Nothing that the file brings along is run: it holds plain data, from which objects of known
    classes are built.

    Parameters
    ----------
    path : str, path or binary file
        The file, or a stream of its bytes.

    Returns
    -------
    estimator
        The fitted model, or `Statistics`.

    Raises
    ------
    ModelFileError
        If the file is damaged, holds something else, or holds types that are not trusted.

    See Also
    --------
    save : Writes the file.
    load_record : The names of the columns too.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.persistence import load, save
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.skops")
    ...     save(RVR("linear").fit(X, 3 * X[:, 0] + np.sin(9 * X[:, 0])), path)
    ...     print(load(path))
    RVR(basis='linear')
    """
    return _load(path).model


def load_record(path: Source) -> StoredModel:
    """Bring back a model together with its feature names, target name and version.

    A program that reads tables can check their columns against these names.

    Parameters
    ----------
    path : str, path or binary file
        The file, or a stream of its bytes.

    Returns
    -------
    StoredModel
        The model and what is known of its data.

    See Also
    --------
    load : The model alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.persistence import load_record, save
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.skops")
    ...     model = RVR("linear").fit(X, np.exp(X[:, 0]))
    ...     save(model, path, feature_names=["time"], target_name="dose")
    ...     record = load_record(path)
    >>> record.feature_names, record.target_name
    (['time'], 'dose')
    """
    found = _load(path)
    if isinstance(found.model, Statistics):
        raise ModelFileError(
            f"{_name(path)!r} holds sums over rows and no model; persistence.load gives them, "
            "and RVR().fit_statistics a model."
        )
    return found


def _load(path: Source) -> StoredModel:
    try:
        return _restore(_read(path))
    except archive.Refused as refusal:
        raise ModelFileError(f"{_name(path)!r} {refusal}.") from refusal


def _name(path: Source) -> str:
    if isinstance(path, (str, os.PathLike)):
        return os.fspath(path)
    return str(getattr(path, "name", "the stream"))


def _read(path: Source) -> bytes:
    """The bytes of a file or a stream, unless they are too many."""
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "read"):
            raise TypeError(f"path must be the name of a file, or a stream, got {path!r}.")
        return _read_stream(path)
    with open(path, "rb") as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode):  # a pipe
            return _read_stream(stream)
        archive.check_size(found.st_size)
        return stream.read(found.st_size)


def _read_stream(stream: IO[bytes]) -> bytes:
    """All that a stream gives; of what is no model file the beginning."""
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        archive.check_size(len(content))
        if not content.startswith(b"PK"):  # no zip archive; it may have no end
            break
    return bytes(content)


def _are_names(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _restore(content: bytes) -> StoredModel:
    """What a file holds, or `Refused`."""
    record = archive.read(content)
    if record.keys() != _ENTRIES:
        raise archive.damaged(f"entries {sorted(record)}")
    features, target, version = (record[key] for key in ("feature_names", "target_name", "version"))
    several = _are_names(target) and len(target) > 0
    named = _are_names(features) and (several or isinstance(target, (str, type(None))))
    if not named or not isinstance(version, str):
        raise archive.damaged("names that are no text")
    try:
        model = objects.unpack(record["objects"])
        final = final_estimator(model)
        if trusted.name_of_class(type(final)) not in (*trusted.ESTIMATORS, trusted.SUMS):
            raise archive.Refused(f"holds no estimator of sparsebayes but a {type(final).__name__}")
        _check_fitted(model)
    except (archive.Refused, ImportError):  # the latter says what to install
        raise
    except Exception as error:  # objects of the list in places where they do not belong
        raise archive.damaged(f"{type(error).__name__}: {error}") from error
    return StoredModel(model, features, target, version)
