"""Airline passengers, sunspots and a laser: rolling forecasts against ETS, ARIMA and naive ones.

All models learn from the first part of a series once, and then forecast from origins in the rest,
where they know everything before the origin. All forecasts are Gaussian, or lognormal where a model
takes logarithms, and are scored alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments._report import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    Options,
    Report,
    new_figure,
    number,
    repeat,
)
from sparsebayes import RVR, Forecaster
from sparsebayes.datasets import load_benchmark
from sparsebayes.forecasting.backtest import PathScores, score
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import LEVEL, LOG, ValueTransform

Array = np.ndarray
COVERAGE = 0.95


@dataclass(frozen=True)
class Case:
    """A series and how it is forecast.

    Attributes
    ----------
    part : slice
        Of the stored series.
    known : int
        Values to learn from.
    horizon, step : int
        Steps ahead, and from one origin to the next.
    near : int
        The last step of the first group of steps.
    season : int
        Of the naive forecast.
    order : tuple
        Arguments of ARIMA.
    trend : dict
        Arguments of ETS.
    log : bool
        Whether ARIMA and ETS take logarithms, as is usual for this series.
    first : str or None
        The first month, for monthly series.
    """

    part: slice
    known: int
    horizon: int
    step: int
    near: int
    season: int
    order: dict[str, Any]
    trend: dict[str, Any]
    log: bool = False
    first: str | None = None

    @property
    def transform(self) -> ValueTransform:
        return LOG if self.log else LEVEL


DAMPED = {"trend": "add", "damped_trend": True}
CASES = {
    "airline": Case(
        slice(None),
        96,
        24,
        1,
        12,
        12,
        {"order": (0, 1, 1), "seasonal_order": (0, 1, 1, 12)},
        {"trend": "add", "seasonal": "add", "seasonal_periods": 12},
        log=True,
        first="1949-01",
    ),
    "sunspot_year": Case(slice(None), 189, 12, 1, 4, 11, {"order": (9, 0, 0)}, DAMPED),
    "sunspot_month": Case(
        slice(-1200, None), 900, 24, 6, 6, 132, {"order": (2, 0, 1)}, DAMPED, first="1924-11"
    ),
    "laser": Case(slice(1500), 1000, 50, 10, 10, 7, {"order": (20, 0, 0)}, DAMPED),
}


def require_statsmodels() -> None:
    """A clear error where the models to compare with are absent."""
    try:
        import statsmodels  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "forecasting.series compares with statsmodels, which is not installed; "
            "pip install 'sparsebayes[bench]'."
        ) from error


def forecaster(estimator: Any, method: str = "auto") -> Callable[[Case, Array, Array], PathScores]:
    """Our own model with this estimator."""

    def scores(case: Case, y: Array, origins: Array) -> PathScores:
        series: Any = y
        if case.first is not None:
            import pandas as pd

            months = pd.period_range(case.first, periods=len(y), freq="M")
            series = pd.Series(y, index=months)
        model = Forecaster(estimator, calibrate=None, random_state=0).fit(series[: case.known])
        return model.backtest(series, case.horizon, case.step, start=case.known, methods=method)[
            method
        ]

    return scores


def arima(case: Case, y: Array, origins: Array) -> Forecasts:
    """Statsmodels' ARIMA; long autoregressions by Burg's method."""
    from statsmodels.tsa.arima.model import ARIMA

    values = np.log(y) if case.log else y
    long = case.order["order"][0] > 10
    fitted = ARIMA(values[: case.known], **case.order).fit(method="burg" if long else None)
    found = [fitted.apply(values[:origin]).get_forecast(case.horizon) for origin in origins]
    mean = np.stack([part.predicted_mean for part in found])
    return Forecasts(mean, np.stack([part.var_pred_mean for part in found]), case.transform)


def ets(case: Case, y: Array, origins: Array) -> Forecasts:
    """Statsmodels' exponential smoothing with additive errors."""
    import pandas as pd
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    values = pd.Series(np.log(y) if case.log else y)  # predictions of arrays fail
    params = ETSModel(values[: case.known], **case.trend).fit(disp=False, maxiter=1000).params
    mean, variance = np.empty((2, len(origins), case.horizon))
    for i, origin in enumerate(origins):
        known = ETSModel(values[:origin], **case.trend).smooth(params)
        found = known.get_prediction(start=origin, end=origin + case.horizon - 1)
        mean[i], variance[i] = found.predicted_mean, found.forecast_variance
    return Forecasts(mean, variance, case.transform)


def seasonal(case: Case, y: Array, origins: Array) -> Forecasts:
    """The last season again, with the spread of its errors in the part to learn from."""

    def again(starts: Array) -> Array:
        steps = np.arange(case.horizon)
        return y[starts[:, None] - case.season + steps % case.season]

    starts = np.arange(case.season, case.known - case.horizon + 1)
    errors = y[starts[:, None] + np.arange(case.horizon)] - again(starts)
    mean = again(origins)
    return Forecasts(mean, np.broadcast_to(np.mean(errors**2, axis=0), mean.shape))


MODELS: dict[str, Callable[[Case, Array, Array], Any]] = {
    "Forecaster": forecaster(None),
    "Forecaster, naive": forecaster(None, "naive"),
    "Forecaster, RVR": forecaster(RVR(calibrate=None)),
    "Forecaster, linear RVR": forecaster(RVR("linear", calibrate=None)),
    "ARIMA": arima,
    "ETS": ets,
    "seasonal naive": seasonal,
}

COLORS = dict(zip(MODELS, (BLUE, BLUE, GREEN, "#56B4E9", ORANGE, PINK, GREY), strict=True))


def one(name: str, model: str, thin: int) -> PathScores:
    """Scores of one model on one series."""
    case = CASES[name]
    y = load_benchmark("timeseries_classic")[name][case.part].astype(float)
    case = replace(case, step=thin * case.step)
    origins = np.arange(case.known, len(y) - case.horizon + 1, case.step)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels' about starting values and their kind
        found = MODELS[model](case, y, origins)
    if isinstance(found, PathScores):
        return found
    return score([found], y[origins[:, None] + np.arange(case.horizon)], COVERAGE)


def run(options: Options) -> Report:
    """Scores by groups of steps, and the figure."""
    require_statsmodels()
    report = Report("Real series: rolling forecasts, scored by steps ahead")
    names = ("airline", "sunspot_year") if options.quick else tuple(CASES)
    results: dict[str, dict[str, PathScores]] = {}
    for name in names:
        tasks = [(name, model, 6 if options.quick else 1) for model in MODELS]
        found = repeat(one, tasks, jobs=options.jobs, label=name)
        results[name] = dict(zip(MODELS, found, strict=True))
        case = CASES[name]
        for group in (slice(0, case.near), slice(case.near, case.horizon)):
            for model, scores in results[name].items():
                label = f"{name}, steps {group.start + 1} to {group.stop}: {model}"
                report.add(label, None, _line(scores, group), len(scores.mean))
        best = min(results[name], key=lambda m: results[name][m].nlpd.mean())
        report.note(f"{name}: the best mean log density over all steps is that of {best}.")
    report.note(
        "ARIMA and ETS take logarithms of the airline series. The naive forecast repeats the last "
        "season of 12, 11, 132 and 7 steps. Repetitions are the origins."
    )
    report.draw(_figure(results))
    return report


def _line(scores: PathScores, group: slice) -> str:
    values = (
        ("minus log density", scores.nlpd[group].mean()),
        ("CRPS", scores.crps[group].mean()),
        ("coverage", scores.coverage[group].mean()),
        ("RMSE", np.sqrt(scores.squared_error[group].mean())),
    )
    return ", ".join(f"{name} {number(value)}" for name, value in values)


def _figure(results: dict[str, dict[str, PathScores]]) -> Any:
    figure = new_figure(10, 3.2 * len(results))
    for row, (name, found) in zip(
        figure.subplots(len(results), 2, squeeze=False), results.items(), strict=True
    ):
        for model, scores in found.items():
            steps = np.arange(1, len(scores.nlpd) + 1)
            line = ":" if model.endswith(", naive") else "-"
            for ax, values in zip(row, (scores.nlpd, scores.crps), strict=True):
                ax.plot(steps, values, line, color=COLORS[model], label=model)
        proper = [s.nlpd for m, s in found.items() if not m.endswith(", naive")]
        row[0].set_ylim(np.min(proper) - 0.1, np.percentile(proper, 98) + 0.3)
        for ax, label in zip(row, ("minus log density", "CRPS"), strict=True):
            ax.set(xlabel="steps ahead", ylabel=label, title=name)
    figure.legend(
        *row[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    return figure
