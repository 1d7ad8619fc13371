"""The model of one step of a fitted forecaster, for those who take it elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes.forecasting.candidates.recursive import Recursive
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.tables.exogenous import Exogenous

if TYPE_CHECKING:
    from sparsebayes.forecasting.forecaster import Forecaster

Array = np.ndarray


@dataclass(frozen=True)
class OneStep:
    """An autoregression by an estimator, one step ahead.

    Attributes
    ----------
    recursion : Recursion
    exogenous : Exogenous
        The inputs besides, each at all of `exog_lags`.
    exog_lags : tuple of int
    factor : float
        Of the standard deviation.
    """

    recursion: Recursion
    exogenous: Exogenous
    exog_lags: tuple[int, ...]
    factor: float

    @property
    def n_past(self) -> int:
        """How many past values of the series it needs."""
        return self.recursion.differences.order + self.recursion.lags[-1]

    def predict(self, rows: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the next value.

        Parameters
        ----------
        rows : ndarray, (n, D)
            The last `n_past` values, the latest first; then all inputs at each of `exog_lags`.
        """
        past, known = rows[:, : self.n_past][:, ::-1], rows[:, self.n_past :]
        if self.exog_lags:
            each = known.reshape(len(rows), len(self.exog_lags), -1)
            known = self.exogenous.standardised(each).reshape(len(rows), -1)
        found = self.recursion.gaussian(past, known[:, None], "auto")
        mean, std = found.widened(np.array([self.factor])).levels()
        return mean[:, 0], std[:, 0]


def one_step(forecaster: Forecaster) -> OneStep:
    """That of a forecaster of one series by one autoregression; a clear error for others."""
    if forecaster._panel is not None:
        raise ValueError(
            "This Forecaster was fitted to several series, each with a model of its own; take one "
            "of forecasters_."
        )
    one = forecaster._one
    models = one.fitted.combination.models
    if len(models) != 1 or not isinstance(models[0], Recursive):
        raise ValueError(
            "This Forecaster is a mixture of models, which has no single model of one step; fit "
            "one autoregression, as Forecaster(lags=2) or Forecaster(RVR(), lags=[1, 12])."
        )
    exog_lags = tuple(one.embedding.exog_lags) if one.exogenous.count else ()
    factor = float(one.factors(1)[0])
    return OneStep(models[0].recursion, one.exogenous, exog_lags, factor)
