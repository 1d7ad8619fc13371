"""Everything of the package that writes files, each with two contents, one for the other."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sparsebayes import RVR, persistence
from sparsebayes.basis import RBF
from sparsebayes.cli import main
from sparsebayes.datasets import make_signal, make_sinc
from tests.cli.tables import write_csv

STRAY = re.compile(r"\..+\.sparsebayes-[0-9a-f]{16}")
"""The name of what a killed process may leave behind."""

Contents = dict[str, bytes]
_SOURCES: list[TemporaryDirectory[str]] = []


class CommandError(Exception):
    """A command has failed.

    Parameters
    ----------
    code : int
        Its exit status.
    text : str
        What it wrote to stderr.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text


def command(*argv: str | os.PathLike[str]) -> None:
    """Run a command of ours in this process."""
    err = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(err):
        code = main([os.fspath(word) for word in argv])
    if code:
        raise CommandError(code, err.getvalue())


class Writer:
    """Something that writes.

    Parameters
    ----------
    name : str
        What it is called.
    write : callable
        `write(folder, k)` writes its k-th content, k = 0 or 1.
    """

    def __init__(self, name: str, write: Callable[[Path, int], None]) -> None:
        self.name, self.write = name, write

    @cached_property
    def _measured(self) -> tuple[list[Contents], list[float]]:
        """Both contents, which differ in all files, and how long they take."""
        contents, seconds = [], []
        for k in (0, 1):
            with TemporaryDirectory() as folder:
                begin = time.monotonic()
                self.write(Path(folder), k)
                seconds.append(time.monotonic() - begin)
                contents.append(read(Path(folder)))
        old, new = contents
        assert old.keys() == new.keys() != set()
        assert not any(same(name, old[name], new[name]) for name in old)
        return contents, seconds

    @property
    def contents(self) -> list[Contents]:
        return self._measured[0]

    @property
    def seconds(self) -> float:
        """Of the second time, which imports nothing."""
        return self._measured[1][1]

    def put(self, folder: Path, k: int) -> None:
        """Put a content in place without the writer."""
        for name, content in self.contents[k].items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)

    def faults(self, folder: Path, wanted: tuple[int, ...]) -> list[str]:
        """Files that have none of the wanted contents, and those that nobody asked for."""
        found = read(folder)
        wrong = [
            name
            for name in self.contents[0]
            if not any(same(name, found.get(name), self.contents[k][name]) for k in wanted)
        ]
        strays = [name for name in found if name not in self.contents[0]]
        return [
            *(f"{name} is not what it should be" for name in wrong),
            *(f"{name} is left behind" for name in strays),
        ]


def read(folder: Path) -> Contents:
    """All files in a folder, by their names in it."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def same(name: str, one: bytes | None, other: bytes) -> bool:
    """Whether two contents of a file agree; those of models do if the models predict the same."""
    if one is None or one == other or not name.endswith(".skops"):
        return one == other  # model files of one model differ, by numbers that skops gives objects
    try:
        return all(map(np.array_equal, _predictions(one), _predictions(other)))
    except persistence.ModelFileError:
        return False


def _predictions(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    grid = np.linspace(-10.0, 10.0, 20)[:, None]
    return persistence.load(io.BytesIO(content)).predict(grid, return_std=True)


def _prepare(folder: Path) -> None:
    """Two of each: tables, series, arrays, sounds, images and models."""
    for k in (0, 1):
        X, y, _ = make_sinc(40, noise=0.1, random_state=k)
        write_csv(folder / f"table_{k}.csv", {"x": X[:, 0], "y": y})
        steps = np.arange(60)
        series = 10.0 + np.sin(steps * (0.5 + k)) + 0.1 * y[steps % 40]
        write_csv(folder / f"series_{k}.csv", {"t": steps, "sales": series})
        signal = make_signal("doppler", 256, snr=5, random_state=k)[1]
        np.save(folder / f"signal_{k}.npy", signal)
        write_csv(folder / f"signal_{k}.csv", {"v": signal})
        persistence.save(
            RVR(RBF(2.0 + k), calibrate=None).fit(X, y),
            folder / f"model_{k}.skops",
            feature_names=["x"],
            target_name="y",
        )


@cache
def writers() -> dict[str, Writer]:
    """All of them, by name."""
    _SOURCES.append(TemporaryDirectory())  # gone when this process ends
    folder = Path(_SOURCES[0].name)
    _prepare(folder)
    models = [persistence.load(folder / f"model_{k}.skops") for k in (0, 1)]

    def of(kind: str, k: int) -> Path:
        stem, dot, suffix = kind.partition(".")
        return folder / f"{stem}_{k}{dot}{suffix}"

    def denoise(suffix: str, *options: str) -> Callable[[Path, int], None]:
        def write(place: Path, k: int) -> None:
            more = [place / word if word.endswith(".npy") else word for word in options]
            source = of(f"signal{suffix}", k)
            command("denoise", source, "-o", place / f"clean{suffix}", *more)

        return write

    def export(name: str) -> Callable[[Path, int], None]:
        return lambda place, k: command("export", of("model.skops", k), "-o", place / name)

    def fit(place: Path, k: int) -> None:
        options = ["--target", "y", "--length-scale", "2", "--folds", "0"]
        table, figures = of("table.csv", k), ["--figures", place / "figures"]
        command("fit", table, *options, "-o", place / "model.skops", *figures)

    def predict(place: Path, k: int) -> None:
        command("predict", of("model.skops", k), of("table.csv", k), "-o", place / "mean.csv")

    def forecast(place: Path, k: int) -> None:
        options = ["--column", "sales", "--time", "t", "--horizon", "5", "--lags", "3"]
        output, figure = ["-o", place / "next.csv"], ["--figure", place / "next.png"]
        command("forecast", of("series.csv", k), *options, *output, *figure)

    listed = [
        Writer("save", lambda place, k: persistence.save(models[k], place / "model.skops")),
        Writer("fit", fit),
        Writer("predict", predict),
        Writer(
            "inspect",
            lambda place, k: command("inspect", of("model.skops", k), "--figures", place / "all"),
        ),
        Writer("denoise npy", denoise(".npy", "--std", "std.npy")),
        Writer("denoise csv", denoise(".csv", "--column", "v")),
        Writer("forecast", forecast),
        *(Writer(f"export {kind}", export(f"model.{kind}")) for kind in ("c", "json", "onnx")),
    ]
    return {writer.name: writer for writer in listed}
