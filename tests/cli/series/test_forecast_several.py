"""``sparsebayes forecast`` of several series, and of series with gaps."""

import re
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sparsebayes.cli import main
from sparsebayes.forecasting import Forecaster
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


def test_several_series(folder, capsys):
    shops = np.repeat(["a", "b"], [N, N - 6])
    times = [*MONTHS[:N].strftime("%d.%m.%Y"), *MONTHS[: N - 6].strftime("%d.%m.%Y")]
    write_csv("a.csv", {"shop": shops, "t": times, "y": [*Y[:N], *(3.0 * Y[: N - 6])]})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "2", "--time", "t", *FEW]
    assert main([*argv, "--id", "shop", "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    table = read_csv("b.csv")
    assert list(table) == ["shop", "t", "mean", "std", "lower", "upper"]
    assert table["shop"] == ["a", "a", "b", "b"]
    assert table["t"] == ["01.01.2024", "01.02.2024", "01.07.2023", "01.08.2023"]
    first = expected(fitted(pd.Series(Y[:N], MONTHS[:N])), 2)
    second = expected(fitted(pd.Series(3.0 * Y[: N - 6], MONTHS[: N - 6])), 2)
    assert_array_equal(numbers(table), np.hstack([first, second]))
    assert f"a.csv: {2 * N - 6} rows, column y, 2 series by shop\n" in out
    told = "1.00 autoregression by RVR; lags 1, 2, 3"
    assert re.search(rf"\na +{N} values, 01.01.2020 to 01.12.2023; {told}\n", out)
    assert re.search(rf"\nb +{N - 6} values, 01.01.2020 to 01.06.2023; {told}\n", out)
    assert out.splitlines()[-1].split()[:2] == ["b", "01.08.2023"]


@pytest.mark.slow
def test_many_series_are_told_in_part(folder, capsys):
    keys = [f"s{k:02d}" for k in range(23)]
    columns = {"y": np.tile(Y[:12], 23), "s": np.repeat(keys, 12)}
    write_csv("a.csv", columns)
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "1", "--id", "s", *FEW]
    assert main(argv) == 0
    out = capsys.readouterr().out
    told = re.findall(r"^(s\d\d) +12 values", out, re.MULTILINE)
    assert told == keys[:20] and "(3 more series)" in out
    assert re.findall(r"^(s\d\d) +1 ", out, re.MULTILINE) == keys


def shops(count=6):
    """Series of one law, and the table of all."""
    rng = np.random.default_rng(2)
    y = 10.0 + np.sin(0.5 * T[:N])[:, None] + 0.1 * rng.standard_normal((N, count))
    keys = np.repeat([f"s{k}" for k in range(count)], N)
    return y, {"s": keys, "y": y.T.ravel()}


@pytest.mark.slow
def test_several_series_at_once(folder):
    y, columns = shops()
    write_csv("a.csv", columns)
    argv = ["forecast", "a.csv", *PLAIN, "--id", "s", "-o", "b.csv", "--quiet"]
    assert main([*argv, "--jobs", "2"]) == 0
    parts = [expected(fitted(values), 3) for values in y.T]
    assert_array_equal(numbers(read_csv("b.csv")), np.hstack(parts))


def test_a_shared_model(folder, capsys):
    y, columns = shops()
    write_csv("a.csv", columns)
    argv = ["forecast", "a.csv", *PLAIN, "--id", "s", "--pool", "-o", "b.csv"]
    assert main(argv) == 0
    given = {"lags": 3, "difference": 0, "transform": None, "random_state": 0}
    model = Forecaster(MODEL, pool=True, **given).fit(y)
    mean, std = model.predict(3, return_std=True)
    found = numbers(read_csv("b.csv"))
    assert_array_equal(found[:2], [mean.T.ravel(), std.T.ravel()])
    assert "1.00 pooled autoregression by RVR" in capsys.readouterr().out


@pytest.mark.slow
def test_many_notes_are_told_in_part(folder, capsys):
    _, columns = shops(23)
    short = np.tile(np.arange(N) >= N - 12, 23)
    write_csv("a.csv", {name: values[short] for name, values in columns.items()})
    assert main(["forecast", "a.csv", *PLAIN, "--id", "s", "--calibrate"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"\nnote +Series 's\d+': The series of 12 values", out)) == 20
    assert "(3 more notes)" in out


def test_missing_cells_and_rows(folder, capsys):
    y = Y[:N].copy()
    y[[5, 6, 20, 33]] = np.nan
    kept = np.delete(np.arange(N), [6, 33])  # the others are empty cells
    cells = ["" if np.isnan(value) else repr(float(value)) for value in y[kept]]
    write_csv("a.csv", {"t": MONTHS[kept].strftime("%d.%m.%Y"), "y": cells})
    argv = ["forecast", "a.csv", "--column", "y", "--horizon", "3", *FEW, "-o", "b.csv"]
    assert main([*argv, "--time", "t"]) == 0
    out = capsys.readouterr().out
    assert f"a.csv: {N - 2} rows, column y, 01.01.2020 to 01.12.2023\n" in out
    assert re.search(rf"\nmissing +4 of {N} values \(2 without a row\)\n", out)
    table = read_csv("b.csv")
    assert table["t"] == ["01.01.2024", "01.02.2024", "01.03.2024"]
    assert_array_equal(numbers(table), expected(fitted(pd.Series(y, MONTHS[:N])), 3))


def test_missing_cells_without_times(folder, capsys):
    y = Y[:N].copy()
    y[[5, 20]] = np.nan
    write_csv("a.csv", {"y": ["NA" if np.isnan(value) else repr(float(value)) for value in y]})
    assert main(["forecast", "a.csv", *PLAIN, "-o", "b.csv"]) == 0
    assert re.search(rf"\nmissing +2 of {N} values\n", capsys.readouterr().out)
    assert_array_equal(numbers(read_csv("b.csv")), expected(fitted(y), 3))


def test_missing_rows_of_numbers(folder):
    y = Y[:N].copy()
    y[[5, 20]] = np.nan
    kept = np.flatnonzero(~np.isnan(y))
    write_csv("a.csv", {"t": 1900 + kept, "y": y[kept]})
    assert main(["forecast", "a.csv", *DATED, "-o", "b.csv", "--quiet"]) == 0
    table = read_csv("b.csv")
    assert table["t"] == [str(1900 + N + k) for k in range(3)]
    assert_array_equal(numbers(table), expected(fitted(y), 3))


def test_missing_rows_with_inputs(folder):
    y = Y[:N].copy()
    y[[5, 20]] = np.nan
    rows = np.delete(np.arange(N + 3), [5, 20])
    cells = [repr(float(Y[k])) if k < N else "" for k in rows]
    write_csv("a.csv", {"t": MONTHS[rows].strftime("%Y-%m"), "y": cells, "u": INPUT[rows]})
    argv = ["forecast", "a.csv", *DATED, "--exog", "u", "-o", "b.csv", "--quiet"]
    assert main(argv) == 0
    filled = INPUT[:N].copy()
    filled[[5, 20]] = INPUT[[4, 19]]  # those of the row before
    model = fitted(pd.Series(y, MONTHS[:N]), filled[:, None])
    assert_array_equal(numbers(read_csv("b.csv")), expected(model, 3, X=INPUT[N : N + 3, None]))


def test_business_days_with_holidays(folder):
    days = pd.date_range("2024-01-01", periods=N, freq="B")
    kept = np.delete(np.arange(N), [0, 4, 21])
    write_csv("a.csv", {"t": days[kept].strftime("%m/%d/%Y"), "y": Y[kept]})
    assert main(["forecast", "a.csv", *DATED, "-o", "b.csv", "--quiet"]) == 0
    later = pd.date_range(days[-1] + pd.offsets.BDay(), periods=3, freq="B")
    assert read_csv("b.csv")["t"] == list(later.strftime("%m/%d/%Y"))


def test_several_series_with_gaps(folder, capsys):
    a, b = Y[:N].copy(), 3.0 * Y[:N]
    a[7] = np.nan
    columns = {
        "shop": np.repeat(["a", "b"], [N - 1, N]),
        "t": [*MONTHS[:N].delete(7).strftime("%Y-%m"), *MONTHS[:N].strftime("%Y-%m")],
        "y": [*np.delete(a, 7), *b],
    }
    write_csv("a.csv", columns)
    assert main(["forecast", "a.csv", *DATED, "--id", "shop", "-o", "b.csv"]) == 0
    out = capsys.readouterr().out
    assert re.search(rf"\na +{N} values, .*, missing 1 of {N} values \(1 without a row\)", out)
    parts = [expected(fitted(pd.Series(y, MONTHS[:N])), 3) for y in (a, b)]
    assert_array_equal(numbers(read_csv("b.csv")), np.hstack(parts))
