"""``sparsebayes forecast``: a column in, its next values out, one clear line for errors."""

import os
import re
import sys
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.cli import main
from sparsebayes.forecasting import Forecaster
from sparsebayes.plots import ForecastDisplay
from tests.cli.refusal import fails
from tests.cli.series.forecasts import (
    DATED,
    FEW,
    INPUT,
    MODEL,
    MONTHS,
    PLAIN,
    N,
    T,
    Y,
    expected,
    fitted,
    numbers,
)
from tests.cli.tables import read_csv, write_csv


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import_module("sparsebayes.summaries.describe")  # needs the class itself when it is imported
    # A model that is fitted at once.
    monkeypatch.setattr("sparsebayes.forecasting.Forecaster", partial(Forecaster, MODEL))
    return tmp_path


def test_default_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_csv("a.csv", {"y": Y[:30].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "2", "--lags", "2"]
    assert main([*argv, "--difference", "0", "--transform", "none", "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    model = Forecaster(lags=2, difference=0, transform=None, random_state=0).fit(Y[:30])
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 2))
    assert int(re.search(r"functions kept +(\d+)\n", out)[1]) > 0
    assert re.search(r"model +linear\n", out)


def test_widened_bands_are_reported(folder, capsys):
    y = np.cumsum(np.repeat([0.5, -1.0, 2.0, -0.5, 3.0], 12) + 0.1 * np.sin(np.arange(60.0)))
    write_csv("a.csv", {"y": y.tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "4", "--lags", "1"]
    argv += ["--difference", "1", "--transform", "none"]
    assert main(argv) == 0 and "calibration" not in capsys.readouterr().out
    assert main([*argv, "--calibrate", "-o", "b.csv"]) == 0
    model = fitted(y, lags=1, difference=1, calibrate=15)
    factors = model.calibration_
    assert factors[0] > 1
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 4))
    told = re.search(r"calibration +std times (.*) at step 1, (.*) at 4 ", capsys.readouterr().out)
    assert told.groups() == (f"{factors[0]:.2f}", f"{factors[3]:.2f}")


def test_counted_steps(folder, capsys):
    write_csv("a.csv", {"other": ["x"] * N, "y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "4", "-o", "b.csv"]
    assert main([*argv, "--coverage", "0.8", *FEW]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    model = fitted(Y[:N])
    table = read_csv("b.csv")
    assert list(table) == ["step", "mean", "std", "lower", "upper"]
    assert table["step"] == ["1", "2", "3", "4"]
    values = expected(model, 4, 0.8)
    assert_array_equal(numbers(table), values)
    assert f"a.csv: {N} rows, column y\n" in out
    assert re.search(r"lags +1, 2, 3\n", out) and re.search(r"differences +none\n", out)
    noise = np.std(Y[:N]) * np.sqrt(model.estimator_.noise_variance_)
    assert re.search(rf"noise std +{noise:.4g}\n", out)
    errors = [Y[k] - fitted_step(model, k) for k in range(3, N)]
    rms = np.sqrt(np.mean(np.square(errors)))
    assert re.search(rf"one step ahead +error {rms:.4g} \(rms\), \d+ % inside 80 % intervals", out)
    assert f"(of the {N - 3} values fitted)" in out
    kept = len(model.estimator_.relevance_)
    assert re.search(rf"functions kept +{kept}\n", out) and re.search(r"written +b\.csv\n", out)
    rows = [line.split() for line in out.splitlines()[-4:]]
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert_allclose(np.array(rows, float)[:, 1:], values.T, rtol=1e-4)


def fitted_step(model, k):
    """The forecast of value k from those before it, by rows made here."""
    center, scale = Y[:N].mean(), Y[:N].std()
    row = (Y[[k - 1, k - 2, k - 3]] - center) / scale
    return center + scale * model.estimator_.predict(row[None])[0]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("style", "later"),
    [
        ("%Y-%m", ["2024-01", "2024-02"]),
        ("%Y-%m-%d", ["2024-01-01", "2024-02-01"]),
        ("%Y-%m-%dT%H:%M", ["2024-01-01T00:00", "2024-02-01T00:00"]),
    ],
)
def test_dates(folder, capsys, style, later):
    write_csv("a.csv", {"month": MONTHS[:N].strftime(style), "y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "2", "--time", "month", *FEW]
    assert main([*argv, "-o", "b.csv"]) == 0
    first, last = MONTHS[0].strftime(style), MONTHS[N - 1].strftime(style)
    assert f"column y, {first} to {last}\n" in capsys.readouterr().out
    table = read_csv("b.csv")
    assert next(iter(table)) == "month" and table["month"] == later
    assert_array_equal(numbers(table), expected(fitted(pd.Series(Y[:N], MONTHS[:N])), 2))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("cells", "later"),
    [
        ([str(1900 + k) for k in range(N)], ["1948", "1949", "1950"]),
        ([f"{0.5 * k:.1f}" for k in range(N)], ["24.0", "24.5", "25.0"]),
        ([f"{1949 + k / 12:.2f}" for k in range(N)], ["1953.00", "1953.08", "1953.17"]),
    ],
)
def test_numbers_as_times(folder, cells, later):
    write_csv("a.csv", {"t": cells, "y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "3", "--time", "t", *FEW]
    assert main([*argv, "--method", "naive", "-o", "b.csv", "--quiet"]) == 0
    table = read_csv("b.csv")
    assert_allclose(np.array(table["t"], float), np.array(later, float), atol=0.011)
    assert [len(cell) for cell in table["t"]] == [len(cell) for cell in later]
    assert_array_equal(numbers(table), expected(fitted(Y[:N]), 3, method="naive"))


def test_inputs_and_rows_to_be_forecast(folder, capsys):
    y = [*(f"{value!r}" for value in Y[:N].tolist()), "", "nan", " ", "", "", ""]
    columns = {"day": MONTHS.strftime("%Y-%m-%d"), "y": y, "u": INPUT.tolist()}
    write_csv("a.csv", columns)
    argv = ["forecast", "a.csv", "--column", "y", "--time", "day", "--exog", "u", *FEW]
    argv += ["--exog-lags", "0,2"]
    assert main([*argv, "--horizon", "6", "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"inputs +u, lags 0, 2\n", out) and f"{N} rows, column y" in out
    model = fitted(pd.Series(Y[:N], MONTHS[:N]), INPUT[:N, None], exog_lags=[0, 2])
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 6, X=INPUT[N:, None]))
    fails(capsys, [*argv, "--horizon", "7"], "a.csv: X has 6 .* 1 missing")
    skipping = pd.date_range("2024-02-01", periods=6, freq="MS").strftime("%Y-%m-%d")
    write_csv("a.csv", {**columns, "day": [*columns["day"][:N], *skipping]})
    fails(
        capsys,
        [*argv, "--horizon", "6"],
        "has 2024-02-01 where the dates before go on with 2024",
    )


def test_descending_rows_are_told(folder, capsys):
    cells = MONTHS[:N].strftime("%Y-%m")
    write_csv("a.csv", {"t": cells[::-1], "y": Y[:N][::-1]})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "2", "--time", "t", *FEW]
    assert main([*argv, "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"\norder +the rows were in descending order of time", out)
    assert f"column y, {cells[0]} to {cells[-1]}\n" in out
    assert_array_equal(numbers(read_csv("b.csv")), expected(fitted(Y[:N]), 2))


def test_what_was_chosen_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_csv("a.csv", {"y": Y[:N]})
    assert main(["forecast", "a.csv", "--column", "y", "--horizon", "3", "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    model = Forecaster(random_state=0).fit(Y[:N])
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 3))
    lines = re.search(r"\nchosen +((?:.|\n +)*)\n", out)[1].splitlines()
    assert " ".join(line.strip() for line in lines) == model.chosen_
    assert len(lines) > 1 and max(map(len, lines)) <= 110
    assert len(model.candidates_) > 1 and not re.search(r"\n(lags|noise std|one step)", out)


@pytest.mark.slow
def test_options_reach_the_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts = np.random.default_rng(0).poisson(2.0 + np.sin(T))
    write_csv("a.csv", {"y": counts[:N], "u": INPUT[:N]})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "2", "-o", "b.csv"]
    for options, given in (
        (["--seasons", "5,6.28"], {"seasons": [5, 6.28]}),
        (["--seasons", "none", "--transform", "sqrt"], {"seasons": None, "transform": "sqrt"}),
        (["--no-calibrate", "--transform", "none"], {"calibrate": None, "transform": None}),
        (["--exog", "u", "--exog-lags", "2,3"], {"exog_lags": [2, 3], "X": INPUT[:N, None]}),
    ):
        X = given.pop("X", None)
        assert main([*argv, *options]) == 0
        model = Forecaster(random_state=0, **given).fit(counts[:N], X)
        assert_array_equal(numbers(read_csv("b.csv")), expected(model, 2))
        assert ("\ninputs" in capsys.readouterr().out) == (X is not None)


def test_bands_are_calibrated_unless_told_otherwise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y = np.cumsum(np.repeat([0.5, -1.0, 2.0, -0.5, 3.0], 12) + 0.1 * np.sin(np.arange(60.0)))
    write_csv("a.csv", {"y": y})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "4"]
    factors = Forecaster(random_state=0).fit(y).calibration_
    assert factors[0] > 1
    assert main(argv) == 0
    told = re.search(r"calibration +std times (.*) at step 1, ", capsys.readouterr().out)
    assert told[1] == f"{factors[0]:.2f}"
    assert main([*argv, "--no-calibrate"]) == 0
    assert "calibration" not in capsys.readouterr().out


def test_options_reach_the_model(folder, capsys):
    write_csv("a.csv", {"y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "3", "-o", "b.csv", "--seed", "5"]
    argv += ["--lags", "2", "--step", "2", "--difference", "1,4", "--transform", "log"]
    assert main([*argv, "--method", "monte_carlo"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"lags +2, 4\n", out)
    assert re.search(r"differences +1, 4 \(of the logarithm\)\n", out)
    assert re.search(r"noise std +\S+ \(of the logarithm\)\n", out)
    model = fitted(Y[:N], lags=2, step=2, difference=[1, 4], transform="log", random_state=5)
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 3, method="monte_carlo"))


def test_all_rows_are_told_only_once(folder, capsys):
    write_csv("a.csv", {"y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "60", "--method", "naive", *FEW]
    assert main(argv) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[-1].split()[0] == "60" and os.listdir() == ["a.csv"]
    assert main([*argv, "-o", "b.csv"]) == 0
    assert capsys.readouterr().out.endswith("(12 more in the file)\n")
    assert len(read_csv("b.csv")["mean"]) == 60


@pytest.mark.slow
def test_figure(folder, capsys, monkeypatch):
    shown = []
    draw = ForecastDisplay.plot
    monkeypatch.setattr(
        ForecastDisplay, "plot", lambda self, ax: shown.append(draw(self, ax)) or shown[-1]
    )
    write_csv("a.csv", {"year": [1900 + k for k in range(N)], "y": Y[:N].tolist()})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "3", "--figure", "f.png", *FEW]
    assert main([*argv, "--time", "year"]) == 0
    assert (folder / "f.png").read_bytes().startswith(b"\x89PNG")
    assert re.search(r"written +f\.png\n", capsys.readouterr().out)
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    for display, first in zip(shown, (1948, 1), strict=True):
        assert_array_equal(display.line_.get_xdata(), first + np.arange(-1, 3))
        assert_array_equal(display.line_.get_ydata()[1:], fitted(Y[:N]).predict(3))
        assert_array_equal(display.history_.get_ydata(), Y[N - 40 : N])
        assert display.ax_.get_ylabel() == "y"
    assert shown[0].ax_.get_xlabel() == "year"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["a.csv", "--horizon", "3"], "the following arguments are required: --column"),
        (["a.csv", "--column", "y"], "the following arguments are required: --horizon"),
        (["a.csv", "--column", "y", "--horizon", "0"], "--horizon: must be a whole number, 1 or"),
        (["a.csv", "--column", "y", "--horizon", "x"], "--horizon: must be a whole number"),
        (["a.csv", *PLAIN, "--coverage", "95"], "--coverage: must lie between 0 and 1"),
        (["a.csv", *PLAIN, "--lags", "few"], "--lags: must be 'auto', a whole number or several"),
        (["a.csv", *PLAIN, "--exog-lags", "1,x"], "--exog-lags: must be a whole number or"),
        (["a.csv", *PLAIN, "--lags", "0"], "lags must be a whole number >= 1, got 0"),
        (["a.csv", *PLAIN, "--step", "0"], "--step: must be a whole number, 1 or more"),
        (["a.csv", *PLAIN, "--method", "best"], "--method: invalid choice"),
        (["a.csv", *PLAIN, "--seasons", "0"], "--seasons: must be 'auto', 'none', a positive num"),
        (["a.csv", *PLAIN, "--seasons", "7,x"], "--seasons: must be 'auto', 'none', a positive"),
        (["a.csv", *PLAIN, "--seasons", "0.5"], "a.csv: seasons must be longer than one step"),
        (["a.csv", *PLAIN, "--transform", "root"], "--transform: invalid choice"),
        (["a.csv", *PLAIN, "--pool"], "--pool is for several series; name their column with --id"),
        (["a.csv", *PLAIN, "--jobs", "2"], "--jobs is for several series"),
        (["a.csv", *PLAIN, "--jobs", "0"], "--jobs: must be a whole number, 1 or more"),
        (["a.csv", *PLAIN, "--quiet"], "--quiet leaves nothing to tell"),
        (["a.csv", *PLAIN, "-o", "a.csv"], "also an input"),
        (["a.csv", *PLAIN, "-o", "none/b.csv"], "no directory 'none'"),
        (["a.csv", *PLAIN, "--figure", "f.pdf"], "'f.pdf' is written as .png"),
        (["a.csv", *PLAIN, "-o", "f.png", "--figure", "./f.png"], "'./f.png' is also the output"),
        (["none.csv", *PLAIN], "none.csv: no such file"),
        (["empty.csv", *PLAIN], "empty.csv: the file is empty"),
        (["binary.csv", *PLAIN], "binary.csv: byte 0x0a is no UTF-16-LE; say what the encoding is"),
        (["ragged.csv", *PLAIN], "line 3 has 1 cells"),
        (["a.csv", "--column", "z", "--horizon", "3"], "no column 'z'; the columns are"),
        (["a.csv", *PLAIN, "--time", "z"], "no column 'z'"),
        (["a.csv", *PLAIN, "--exog", "z"], "no column 'z'"),
        (["a.csv", *PLAIN, "--time", "y"], "'y' is named more than once"),
        (["a.csv", *PLAIN, "--exog", "t,t"], "'t' is named more than once"),
        (["a.csv", "--column", "s", "--horizon", "3"], "line 2, column 's': 'u' is not a number"),
        (["a.csv", *PLAIN, "--time", "s"], "line 2, column 's': 'u' is neither a number nor a"),
        (["a.csv", *PLAIN, "--exog", "t"], "a.csv: X has 0 row.* 3 missing"),
        (["mean.csv", *PLAIN, "--time", "mean"], "'mean' has the name of a result; rename it"),
        (["gone.csv", *PLAIN], "gone.csv: column 'y' holds no number"),
        (["inf.csv", *PLAIN], "line 3, column 'y': 'inf' is not a finite number"),
        (["short.csv", *PLAIN], "short.csv: y has 4 values, too few for lags"),
        (["short.csv", "--column", "y", "--horizon", "3", "--transform", "log"], "no logarithm"),
        (["uneven.csv", *DATED], "line 5, column 't': 4.5 follows 3, but times must rise in equal"),
        (["back.csv", *DATED], "line 4, column 't': 0 follows 2, but times must rise"),
        (["timeless.csv", *DATED], "line 3, column 't': the cell is empty; a time is needed"),
        (
            ["twice.csv", *DATED],
            "line 4, column 't': 2020-02 is there more than once.*--id",
        ),
        (["a.csv", *DATED, "--id", "t"], "'t' is named more than once"),
        (["a.csv", *PLAIN, "--id", "s", "--figure", "f.png"], "--figure draws one series, not all"),
        (["a.csv", *PLAIN, "--id", "z"], "no column 'z'"),
        (["a.csv", *PLAIN, "--date-format", "%Y"], "--date-format is of the column that --time"),
        (["a.csv", *DATED, "--date-format", "%d.%m.%Y"], "'0' is no date in the form '%d.%m.%Y'"),
        (["mean.csv", *PLAIN, "--id", "mean"], "'mean' has the name of a result; rename it"),
        (["shops.csv", *PLAIN, "--id", "s"], "shops.csv: Series 'b': y has 2 values, too few"),
        (["shops.csv", *PLAIN, "--id", "e"], "line 9, column 'e': the cell is empty; a series is"),
        (["nodate.csv", *DATED], "nodate.csv: line 3, column 't': '2020-13' is no date"),
    ],
)
def test_one_clear_line(folder, capsys, argv, message):
    (folder / "a.csv").write_text("t,y,s\n" + "".join(f"{k},{k % 5}.5,u\n" for k in range(30)))
    (folder / "empty.csv").touch()
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00y\n1\n")
    (folder / "ragged.csv").write_text("t,y\n1,2\n3\n")
    (folder / "mean.csv").write_text("mean,y\n1,2\n2,3\n")
    shops = [*(f"a,{k % 3},x" for k in range(7)), "b,1,", "b,2,x"]
    (folder / "shops.csv").write_text("s,y,e\n" + "\n".join(shops) + "\n")
    (folder / "gone.csv").write_text("t,y\n1,\n2,nan\n")
    (folder / "inf.csv").write_text("t,y\n1,1\n2,inf\n")
    (folder / "short.csv").write_text("y\n1\n-2\n3\n5\n")
    for name, times in {
        "uneven": [1, 2, 3, 4.5, 5.5, 6.5],
        "back": [1, 2, 0, 3, 4],
        "timeless": [1, "", 3, 4, 5],
        "twice": ["2020-01", "2020-02", *MONTHS[1:20].strftime("%Y-%m")],
        "nodate": ["2020-12", "2020-13", "2020-14"],
    }.items():
        write_csv(f"{name}.csv", {"t": times, "y": [k % 3 for k in range(len(times))]})
    fails(capsys, ["forecast", *argv], message)


class Absent:
    """A finder for which pandas is not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)


def test_missing_packages_are_named(folder, capsys, monkeypatch):
    write_csv("a.csv", {"t": MONTHS[:N].strftime("%Y-%m"), "n": T[:N], "y": Y[:N]})
    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "3", *FEW]
    fails(
        capsys,
        [*argv, "--time", "t"],
        r"column 't' of dates .* needs pandas: .*sparsebayes\[pandas\]",
    )
    assert main([*argv, "--time", "n"]) == 0
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    fails(capsys, [*argv, "--figure", "f.png"], r"--figure needs.*sparsebayes\[plots\]")


def test_a_failed_write_leaves_nothing(folder, capsys, monkeypatch):
    write_csv("a.csv", {"y": Y[:N].tolist()})

    def full(*_):
        raise OSError(28, "No space left on device", "b.csv")

    monkeypatch.setattr(os, "replace", full)
    fails(capsys, ["forecast", "a.csv", *PLAIN, "-o", "b.csv", "--figure", "f.png"], "No space")
