"""Series to forecast, and what the library says of them."""

import numpy as np
import pandas as pd

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster

N = 48
T = np.arange(N + 6)
Y = 10.0 + np.sin(0.5 * T) + 0.1 * np.random.default_rng(0).standard_normal(T.size)
INPUT = np.random.default_rng(1).standard_normal(T.size)
MONTHS = pd.date_range("2020-01-01", periods=T.size, freq="MS")
FEW = ["--lags", "3", "--difference", "0", "--transform", "none"]
MODEL = RVR("linear")
DATED = ["--column", "y", "--horizon", "3", "--time", "t", *FEW]
PLAIN = ["--column", "y", "--horizon", "3", *FEW]


def numbers(table):
    names = ("mean", "std", "lower", "upper")
    return np.array([[float(cell) for cell in table[name]] for name in names])


def expected(model, horizon, coverage=0.95, X=None, method="auto"):
    mean, std = model.predict(horizon, X, True, method)
    limits = model.predict_interval(horizon, coverage, X, method)
    limits = limits if isinstance(limits, tuple) else np.asarray(limits).T
    return np.array([mean, std, *limits])


def fitted(y, X=None, **options):
    given = {"lags": 3, "difference": 0, "transform": None, "random_state": 0} | options
    return Forecaster(MODEL, **given).fit(y, X)
