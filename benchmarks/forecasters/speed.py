"""Time: many short series, and one long one."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.forecasters import ours
from benchmarks.forecasters.scores import naive_error
from benchmarks.forecasters.series import need
from benchmarks.peers import forecasters as peers
from benchmarks.tools import tables
from sparsebayes import Forecaster

Array = np.ndarray

SERIES, POINTS, STEPS, SEASON = 1000, 100, 12, 12
SOME = 50  # of the series, where not all are timed
LONG, FAR = 5000, 100
LEAST = 2.0  # seconds of repeated forecasts


def simulated(number: int, size: int) -> Array:
    """A random walk, a season with noise, an autoregression or a trend, in turns."""
    rng = np.random.default_rng([7, number])
    noise, t = rng.standard_normal(size), np.arange(size)
    level = 50.0 + 10.0 * rng.standard_normal()
    kind = number % 4
    if kind == 0:
        return level + noise.cumsum()
    if kind == 1:
        wave = 3.0 * np.sin(2 * np.pi * (t / SEASON + rng.uniform()))
        return level + wave + 0.5 * noise.cumsum() + noise
    if kind == 2:
        y = np.zeros(size)
        for i in range(2, size):
            y[i] = 1.2 * y[i - 1] - 0.5 * y[i - 2] + noise[i]
        return level + y
    return level + 0.2 * rng.standard_normal() * t + 2.0 * noise


def wide(count: int) -> Any:
    """A DataFrame of monthly series, one in each column, with the months to be forecast."""
    need("pandas")
    import pandas

    months = pandas.period_range("2000-01", periods=POINTS + STEPS, freq="M")
    columns = {f"s{i:04d}": simulated(i, POINTS + STEPS) for i in range(count)}
    return pandas.DataFrame(columns, months)


def mean_error(frame: Any, forecasts: Array) -> float:
    """The mean MASE of forecasts (steps, series) of the first columns."""
    y = frame.to_numpy()[:, : forecasts.shape[1]]
    units = np.array([naive_error(column, SEASON) for column in y[:POINTS].T])
    return float(np.mean(np.abs(y[POINTS:] - forecasts).mean(axis=0) / units))


def own_panel(frame: Any) -> tuple[Array, float, str]:
    """Forecasts (steps, series), seconds for all series, and how they were made."""
    known = frame.iloc[:POINTS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        try:
            found = np.asarray(Forecaster().fit(known).predict(STEPS))
        except (TypeError, ValueError) as error:
            print(f"all columns at once: {error}", file=sys.stderr, flush=True)
            found = np.empty(0)
        if found.shape == (STEPS, known.shape[1]):
            return found, time.process_time() - before, "one fit of all columns"
        count = min(SOME, known.shape[1])
        before = time.process_time()
        each = [Forecaster().fit(known.iloc[:, i]).predict(STEPS) for i in range(count)]
        seconds = (time.process_time() - before) * known.shape[1] / count
    return np.column_stack(each), seconds, f"a loop over {count} series, time scaled"


def peer_panel(frame: Any) -> tuple[Array, float, str]:
    """The same by statsforecast's AutoARIMA in one process."""
    need("statsforecast")
    import pandas
    from statsforecast import StatsForecast

    count = min(SOME, frame.shape[1])
    some = frame.iloc[:POINTS, :count]
    some.index = some.index.to_timestamp()
    table = pandas.DataFrame(
        {
            "unique_id": np.repeat(some.columns.to_numpy(), len(some)),
            "ds": np.tile(some.index.to_numpy(), count),
            "y": some.to_numpy().T.ravel(),
        }
    )
    peers.warm(peers.ARIMA, SEASON)
    engine = StatsForecast(models=[peers.model(peers.ARIMA, SEASON)], freq="MS", n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        found = engine.forecast(df=table, h=STEPS)
        seconds = (time.process_time() - before) * frame.shape[1] / count
    means = found[peers.ARIMA].to_numpy().reshape(count, STEPS).T
    return means, seconds, f"{count} series, time scaled"


def panel(count: int = SERIES) -> str:
    """The table of many series."""
    frame = wide(count)
    rows = []
    for name, run in ((ours.NAME, own_panel), (peers.ARIMA, peer_panel)):
        forecasts, seconds, how = run(frame)
        some = forecasts[:, : min(SOME, count)]
        rows.append((name, how, tables.seconds(seconds), tables.fixed(mean_error(frame, some), 3)))
    header = ("", "how", f"seconds, {count} series", f"MASE of the first {min(SOME, count)}")
    return f"{PANEL_NOTES}\n{tables.table(header, rows)}\n"


def speed() -> str:
    """The table of one long series."""
    y = simulated(1, LONG)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        model = Forecaster().fit(y)
        fit = time.process_time() - before
        model.predict(FAR, return_std=True)
        count, before = 0, time.process_time()
        while time.process_time() - before < LEAST:
            model.predict(FAR, return_std=True)
            count += 1
        rate = count / (time.process_time() - before)
    rows = [(f"fit, {LONG} values, s", tables.seconds(fit))]
    rows.append((f"forecasts of {FAR} steps with `std`, per second", tables.number(rate, 3)))
    return tables.table((ours.NAME, ""), rows) + "\n"


PANEL_NOTES = f"""\
Monthly series of {POINTS} simulated values (random walks, seasons, autoregressions, trends),
{STEPS} steps ahead, one process on one thread, CPU seconds.
"""
