"""Summaries of forecasters."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.printed_table import PrintedColumn, PrintedTable
from sparsebayes.summaries.summary import SHOWN, Fact, Summary, joined, unprinted

_MODELLED = {"log": "the logarithm", "sqrt": "the root", None: "the series itself"}


def forecaster(model: Any) -> Summary:
    """Of a Forecaster, of one series or of a panel."""
    if hasattr(model, "forecasters_"):
        return _panel(model)
    missing = int(np.isnan(model.y_).sum())
    told = f"{len(model.y_)} values{f', {missing} missing' if missing else ''}"
    name = "" if model.name_ is None else f"{model.name_}: "
    facts = [
        Fact("series", "series", f"{name}{told}", model.name_),
        unprinted("n_values", len(model.y_)),
        unprinted("n_missing", missing),
    ]
    periods = list(model._one.fitted.seasons.periods)
    steps = f"{joined([f'{period:g}' for period in periods])} steps" if periods else "none"
    facts.append(Fact("seasons", "seasons", steps, periods))
    if model.n_inputs_:
        lags = joined([str(lag) for lag in model.exog_lags_])
        facts.append(Fact("n_inputs", "inputs", f"{model.n_inputs_}, lags {lags}", model.n_inputs_))
    facts.append(
        Fact("transform", "modelled", _MODELLED[model.transform_], model.transform_ or "none")
    )
    if model.lags_:
        differences = joined([str(period) for period in model.difference_]) or "none"
        facts += [
            Fact("lags", "lags", joined([str(lag) for lag in model.lags_]), model.lags_),
            Fact("differences", "differences", differences, model.difference_),
        ]
    if model.noise_variance_ is not None:
        std = float(np.sqrt(model.noise_variance_))
        facts.append(Fact("noise_std", "noise std", f"{std:.4g}, of one step", std))
    if model.log_evidence_ is not None:
        value = model.log_evidence_
        facts.append(Fact("log_evidence", "log evidence", f"{value:.4f}", value))
    facts += [
        Fact("calibration", "error bars", _calibration(model.calibration_), model.calibration_),
        unprinted("chosen", model.chosen_),
    ]
    past = model._one.fitted.past
    if past:
        facts.append(Fact("past", "forecasts", past, past))
    return Summary("Forecaster: models of a series", facts, {"candidates": _candidates(model)})


def _calibration(factors: np.ndarray) -> str:
    if not (factors > 1.0).any():
        return "as the models say"
    ends = f"{factors[0]:.2f} at step 1, {factors[-1]:.2f} at {len(factors)}"
    return f"std times {ends}, from forecasts of the past"


def _candidates(model: Any) -> PrintedTable:
    """What was tried, the best first."""
    rows = [
        {
            "model": one.name,
            "weight": one.weight,
            "score": None if np.isnan(one.score) else one.score,
        }
        for one in model.candidates_
    ]
    columns = [
        PrintedColumn("model", "model", left=True),
        PrintedColumn("weight", "weight", ".2f"),
        PrintedColumn("score", "score", ".3f"),
    ]
    return _first(columns, rows)


def _panel(model: Any) -> Summary:
    """Of several series: a line for each."""
    rows = [
        {
            "series": str(name),
            "values": len(one.y_),
            "missing": int(np.isnan(one.y_).sum()),
            "chosen": one.chosen_,
            "leading": max(one.candidates_, key=lambda candidate: candidate.weight).name,
        }
        for name, one in model.forecasters_.items()
    ]
    columns = [
        PrintedColumn("series", "series", left=True),
        PrintedColumn("values", "values"),
        PrintedColumn("missing", "missing"),
        PrintedColumn("leading", "largest weight", left=True),
    ]
    shared = "one autoregression for all" if model.pool else "one by one"
    facts = [
        Fact("n_series", "series", f"{len(rows)}", len(rows)),
        Fact("pool", "fitted", shared, model.pool),
    ]
    return Summary("Forecaster: models of several series", facts, {"each": _first(columns, rows)})


def _first(columns: list[PrintedColumn], rows: list[dict[str, Any]]) -> PrintedTable:
    """A table of which the first rows are printed."""
    if len(rows) <= SHOWN:
        return PrintedTable(columns, rows)
    return PrintedTable(columns, rows, range(SHOWN), [f"({len(rows) - SHOWN} more)"])
