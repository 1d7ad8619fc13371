"""Forecasts of time series, with propagated uncertainty."""

from sparsebayes._support.homes import settle
from sparsebayes.forecasting.backtest import Backtest
from sparsebayes.forecasting.forecaster import Forecaster
from sparsebayes.forecasting.propagation import METHODS

__all__ = ["METHODS", "Backtest", "Forecaster"]

settle(globals())
