"""The distributions of single values: of those to come, and of known ones given those before."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.forecasting.forecasts import ForecastMixture, Forecasts

Array = np.ndarray


def marginals(
    forecaster: Any, steps: Array, X: Any = None, method: str = "auto"
) -> ForecastMixture:
    """What a fitted forecaster of one series says of single times.

    Parameters
    ----------
    forecaster : Forecaster
    steps : ndarray of int, (n,)
        Steps after the last known value. 0 is that value itself, which like all before it is
        forecast one step ahead; NaN where too few values are before it.
    X : array-like, default=None
        Exogenous inputs of the times after the last known one.
    method : str, default="auto"
        As in `Forecaster.predict`, but for "monte_carlo".

    Returns
    -------
    mixture : ForecastMixture
        Of one row, with a column for each step.
    """
    one = forecaster._one
    combination, size = one.fitted.combination, len(one.y)
    found = np.full((len(combination.models), 2, len(steps)), np.nan)
    later, places = steps > 0, size - 1 + steps
    if later.any():
        ahead = one.ahead(int(steps.max()), X, method).parts
        for values, part in zip(found, ahead, strict=True):
            values[:, later] = part.mean[0, steps[later] - 1], part.variance[0, steps[later] - 1]
    within = ~later & (places >= forecaster.n_past_)
    if within.any():
        origins, back = np.unique(places[within], return_inverse=True)
        known = one.from_origins(one.y, one.X, origins, 1, method, 0, None)
        for k, values in enumerate(found):
            mean = np.concatenate([piece.parts[k].mean[:, 0] for piece in known])
            variance = np.concatenate([piece.parts[k].variance[:, 0] for piece in known])
            values[:, within] = mean[back], variance[back]
    parts = [
        Forecasts(mean[None], variance[None], model.transform)
        for (mean, variance), model in zip(found, combination.models, strict=True)
    ]
    return ForecastMixture(parts, combination.weights, combination.whole)
