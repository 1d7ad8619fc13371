"""One autoregression for all series of a panel, each measured in its own units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from sparsebayes._support.validation import as_random_state, whole_number
from sparsebayes.forecasting.autoregression import fit_rows
from sparsebayes.forecasting.calibration import check_calibrate, held_out_factors
from sparsebayes.forecasting.candidates.combination import Combination, ForecastCandidate
from sparsebayes.forecasting.candidates.missing import guess_missing
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.recursive import Recursive
from sparsebayes.forecasting.candidates.seasons import Seasons, short
from sparsebayes.forecasting.fitting import Fitted, as_seasons, usable
from sparsebayes.forecasting.lag_choice import Choice, as_choice, choose_common, stacked
from sparsebayes.forecasting.lags import Differences, Embedding, as_exog_lags, standardised
from sparsebayes.forecasting.one_series import OneSeries, read_training
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.tables.exogenous import Exogenous
from sparsebayes.forecasting.tables.timeline import check_range
from sparsebayes.forecasting.transforms import worth_trying

Array = np.ndarray
_ROWS = 5000  # at most, from which the model learns
_SERIES = 50  # at most, by which lags and differences are chosen
_LEARNED = 2 / 3  # of each series, to calibrate by the rest


def learn_together(
    forecaster: Any, names: Sequence[Any], series: Sequence[Any], inputs: Sequence[Any]
) -> dict[Any, Any]:
    """Copies of a forecaster that share the model of one step, each for one series, by name.

    Parameters
    ----------
    forecaster : Forecaster
    names, series, inputs : sequence
        Name, values and exogenous inputs, or None, of each series.
    """
    given = as_choice(forecaster.lags, forecaster.step, forecaster.difference, forecaster.transform)
    read = []
    for name, y, X in zip(names, series, inputs, strict=True):
        try:
            read.append(read_training(y, X))
            if given.transform is not None:
                check_range(read[-1][0], given.transform, "y")
        except ValueError as error:
            raise ValueError(f"Series {name!r}: {error}") from error
    exogenous = Exogenous.of(np.concatenate([one[1] for one in read]), read[0][2])
    lagged = as_exog_lags(forecaster.exog_lags, forecaster.step) if exogenous.count else ()
    of_inputs = Embedding((1,), lagged)
    records = [
        Record(values, of_inputs.lagged(exogenous.standardised(X))) for values, X, *_ in read
    ]
    season = _common_season(records, read[0][3], as_seasons(forecaster.seasons))
    transforms = [
        worth_trying(record.values) if given.transform is None else [given.transform]
        for record in records
    ]
    seasons = [
        Seasons((season,), (0,)) if short(season) and len(record) > 2 * season else Seasons()
        for record in records
    ]
    records = [guess_missing(*one) for one in zip(records, transforms, seasons, strict=True)]
    shared = SharedModel(forecaster, _chosen(forecaster, records, lagged, season, given), lagged)
    _check_lengths(names, records, shared)
    models, factors = shared.models(records)
    found = {}
    for name, model, factor, record, functions, cycles, (y, X, columns, timeline, label) in zip(
        names, models, factors, records, transforms, seasons, read, strict=True
    ):
        alone = Combination(
            [model], np.ones(1), [ForecastCandidate(f"pooled {model}", 1.0, np.nan)]
        )
        fitted = Fitted(record, alone, factor, functions, cycles)
        own = Exogenous(columns, exogenous.center, exogenous.scale)
        one = OneSeries(y, X, label, timeline, own, of_inputs, fitted, len(y))
        found[name] = shared.copy(model)._learned(one)
    return found


class SharedModel:
    """One autoregression of several series.

    Parameters
    ----------
    forecaster : Forecaster
    choice : Choice
        With nothing left to choose.
    exog_lags : tuple of int
    """

    def __init__(self, forecaster: Any, choice: Choice, exog_lags: tuple[int, ...]) -> None:
        assert choice.lags is not None and choice.transform is not None
        self.forecaster, self.transform = forecaster, choice.transform
        self.embedding = Embedding(choice.lags, exog_lags)
        self.differences = Differences(choice.periods or ())

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        return self.differences.order + self.embedding.memory

    def models(self, records: Sequence[Record]) -> tuple[list[Recursive], list[Array]]:
        """The model in the units of each series, and factors of standard deviations."""
        estimator = self._fitted(records, self.forecaster.estimator)
        models = [self._own(estimator, record) for record in records]
        count = check_calibrate(self.forecaster.calibrate)
        if not count:
            return models, [np.ones(1)] * len(records)
        ends = [max(int(_LEARNED * len(record)), self.n_past + 1) for record in records]
        parts = [
            Record(record.filled[:end], record.inputs[:end])
            for record, end in zip(records, ends, strict=True)
        ]
        early = self._fitted(parts, estimator)
        return models, [
            held_out_factors(model, lambda part: self._own(early, part), record, count)
            for model, record in zip(models, records, strict=True)
        ]

    def _fitted(self, records: Sequence[Record], estimator: Any) -> Any:
        first = self.embedding.first_target(self.differences)
        rows, targets, _ = stacked(records, self.embedding, self.differences, self.transform, first)
        if len(rows) > _ROWS:
            chosen = np.sort(self._generator().choice(len(rows), _ROWS, replace=False))
            rows, targets = rows[chosen], targets[chosen]
        return fit_rows(rows, targets, estimator, self.forecaster.random_state)

    def _generator(self) -> Any:
        state = self.forecaster.random_state
        return as_random_state(0 if state is None else state)

    def _own(self, estimator: Any, record: Record) -> Recursive:
        values = self.transform.of(record.filled)
        _, center, scale = standardised(values, self.differences)
        lags, differences = self.embedding.lags, self.differences
        return Recursive(Recursion(estimator, lags, self.transform, differences, center, scale))

    def copy(self, model: Recursive) -> Any:
        """The forecaster of one series: alone it would be the same autoregression."""
        return clone(self.forecaster).set_params(
            estimator=clone(model.recursion.model),
            lags=list(self.embedding.lags),
            difference=list(self.differences.periods) or None,
            transform=self.transform.parameter,
            pool=False,
            n_jobs=None,
            verbose=0,
        )


def _common_season(
    records: Sequence[Record], timeline: Any, given: tuple[float, ...] | None
) -> int:
    """Steps in the shortest season that the longest series has seen twice, 1 for none."""
    longest = max(records, key=len)
    dated = None if timeline is None else timeline.seasons()
    if dated is None and given is None:
        return 1  # the choice looks for one that most series have
    periods = usable(longest, dated, given)
    return round(periods[0]) if periods else 1


def _chosen(
    forecaster: Any,
    records: Sequence[Record],
    exog_lags: tuple[int, ...],
    season: int,
    given: Choice,
) -> Choice:
    if given.complete:
        return given
    reach = min(len(record) for record in records) - 1
    if len(records) > _SERIES:
        state = forecaster.random_state
        rng = as_random_state(0 if state is None else state)
        some = np.sort(rng.choice(len(records), _SERIES, replace=False))
        records = [records[k] for k in some]
    step = whole_number("step", forecaster.step)
    return choose_common(records, exog_lags, season, step, given, reach=reach)


def _check_lengths(names: Sequence[Any], records: Sequence[Record], shared: SharedModel) -> None:
    for name, record in zip(names, records, strict=True):
        if len(record) < shared.n_past + 1:
            raise ValueError(
                f"Series {name!r} has {len(record)} values, too few for "
                f"lags={list(shared.embedding.lags)} after differences at "
                f"{list(shared.differences.periods)}: at least {shared.n_past + 1} are needed. Use "
                "fewer lags or differences, or leave the series out."
            )
    first = shared.embedding.first_target(shared.differences)
    if sum(int(record.known[first:].sum()) for record in records) < 2:
        raise ValueError(
            f"y has {sum(map(len, records))} values in {len(records)} series, too few for "
            f"lags={list(shared.embedding.lags)}: at least 2 must come after the first {first} of "
            "their series. Use fewer lags or differences, or longer series."
        )
