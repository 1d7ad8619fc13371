"""Loaders of stored data; :mod:`sparsebayes.datasets` is where they are public."""

from __future__ import annotations

import csv
import os
from contextlib import AbstractContextManager
from importlib import resources
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

_DATA = resources.files("sparsebayes.datasets") / "data"


def data_file(name: str) -> AbstractContextManager[Path]:
    """A data file of the package; a copy of it where the package is in an archive."""
    return resources.as_file(_DATA / name)


def _bundled(name: str) -> tuple[str, list[str], list[list[str]]]:
    """Path, header and rows of a data file of the package."""
    path = _DATA / name
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return str(path), header, rows


def load_sensor() -> Bunch:
    """Load a regression that comes with the package: 150 readings of a gas sensor.

    It is the output of ``make_sensor(random_state=2001)``, rounded to 0.01 mV.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        ``data`` (150, 1), ``target`` (150,), ``feature_names``, ``target_names``, ``filename``
        and ``DESCR``.

    See Also
    --------
    make_sensor : Simulates more of them.
    load_gases : A classification.

    Examples
    --------
    >>> from sparsebayes.datasets import load_sensor
    >>> sensor = load_sensor()
    >>> sensor.data.shape, sensor.feature_names
    ((150, 1), ['temperature'])
    """
    path, header, rows = _bundled("sensor.csv")
    values = np.array(rows, dtype=float)
    return Bunch(
        data=values[:, :-1],
        target=values[:, -1],
        feature_names=header[:-1],
        target_names=header[-1:],
        filename=path,
        DESCR="Response (mV) of a simulated gas sensor against heater temperature (°C).",
    )


def load_gases() -> Bunch:
    """Load a classification that comes with the package: 240 readings of two sensor films.

    It is the output of ``make_gases(random_state=2001)``, rounded to 0.01 mV.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        ``data`` (240, 2), ``target`` (240,), ``feature_names``, ``target_names`` (of the classes),
        ``filename`` and ``DESCR``.

    See Also
    --------
    make_gases : Simulates more of them.
    load_sensor : A regression.

    Examples
    --------
    >>> from sparsebayes.datasets import load_gases
    >>> gases = load_gases()
    >>> gases.data.shape, gases.target_names
    ((240, 2), ['ammonia', 'ethanol', 'methane'])
    """
    path, header, rows = _bundled("gases.csv")
    target = np.array([row[-1] for row in rows])
    return Bunch(
        data=np.array([row[:-1] for row in rows], dtype=float),
        target=target,
        feature_names=header[:-1],
        target_names=np.unique(target).tolist(),
        filename=path,
        DESCR="Responses (mV) of two simulated sensor films, and the gas they were exposed to.",
    )


_CHECKOUT = Path(__file__).parents[2]
_OPENML = {"boston": ("boston", 1)}  # name and version there


def load_benchmark(name: str) -> dict[str, np.ndarray]:
    """Load a benchmark set that is too large, or not ours, to be shipped.

    Looked for as ``<name>.npz`` in the directory named by the environment variable
    ``SPARSEBAYES_DATA``, or in ``../shared/data`` seen from the working directory or from the
    checkout, then on OpenML for the sets that are there.

    Parameters
    ----------
    name : str
        Such as ``"boston"`` or ``"kin40k"``.

    Returns
    -------
    dict of ndarray
        At least ``X`` and ``y``, or the same with ``_train`` and ``_test``.

    Raises
    ------
    FileNotFoundError
        Where the set is nowhere to be had.

    See Also
    --------
    load_sensor : A set that comes with the package.

    Examples
    --------
    >>> import os
    >>> from sparsebayes.datasets import load_benchmark
    >>> os.environ["SPARSEBAYES_DATA"] = "/home/me/sets"  # doctest: +SKIP
    >>> X = load_benchmark("boston")["X"]  # doctest: +SKIP
    """
    if not isinstance(name, str) or not name.replace("_", "").isalnum():
        raise ValueError(f"name must be letters, digits and underscores, got {name!r}.")
    if os.environ.get("SPARSEBAYES_DATA"):
        places = [Path(os.environ["SPARSEBAYES_DATA"])]
    else:
        places = [p.parent / "shared" / "data" for p in (Path.cwd(), _CHECKOUT)]
    for place in places:
        if (place / f"{name}.npz").is_file():
            with np.load(place / f"{name}.npz", allow_pickle=False) as archive:
                return dict(archive)
    cause: OSError | None = None
    if name in _OPENML:
        try:
            return _from_openml(*_OPENML[name])
        except OSError as error:  # URLError is an OSError: no network
            cause = error
    raise FileNotFoundError(
        f"name={name!r}: no file {name}.npz in {places[0]}; set SPARSEBAYES_DATA to the "
        "directory that holds it." + (f" (OpenML was tried: {cause})" if cause else "")
    ) from cause


def _from_openml(name: str, version: int) -> dict[str, np.ndarray]:
    from sklearn.datasets import fetch_openml

    data = fetch_openml(name=name, version=version, as_frame=False, parser="liac-arff", n_retries=1)
    X = np.array(data.data, dtype=float)
    # Nominal columns come as codes; their category labels are the numbers wanted.
    for j, column in enumerate(data.feature_names):
        labels = (data.categories or {}).get(column)
        if labels:
            X[:, j] = np.array(labels, dtype=float)[X[:, j].astype(int)]
    names = np.array(data.feature_names)
    return {"X": X, "y": np.array(data.target, dtype=float), "feature_names": names}
