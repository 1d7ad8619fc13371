"""The forecaster for sktime; needs ``pip install "sparsebayes[sktime]"``."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.optional import require
from sparsebayes.forecasting import Forecaster

require("sktime.forecasting.base", "sparsebayes.sktime")
import pandas  # noqa: E402
from sktime.forecasting.base import BaseForecaster  # noqa: E402

__all__ = ["SparseBayesForecaster"]

Array = np.ndarray
_PATHS = 1000  # of method="monte_carlo"


class SparseBayesForecaster(BaseForecaster):
    """:class:`sparsebayes.forecasting.Forecaster` with the interface of sktime.

    Forecasts of known times are one step ahead of the values before them; they are NaN where
    these are too few for the lags.

    Parameters
    ----------
    estimator : estimator with ``predict(return_std=True)``, default=None
        The model of one step; None is the default of `Forecaster`.
    lags : int, list of int or "auto", default="auto"
        As in `Forecaster`, like `step`, `difference`, `transform`, `exog_lags` and `calibrate`.
    step : int, default=1
        Between lags.
    difference : int, list of int, None or "auto", default="auto"
        Periods of the differences.
    transform : {"auto", "log"} or None, default="auto"
        Whether the logarithm of the series is modelled.
    exog_lags : int or list of int, default=0
        Lags of the exogenous inputs. Forecasts need them for each step up to the last.
    calibrate : "auto", int or None, default=None
        Whether standard deviations are widened by what the end of the series tells.
    method : str, default="auto"
        How the uncertainty of one step enters the next, as in `Forecaster.predict`.
    random_state : int, RandomState instance or None, default=None
        For ``method="monte_carlo"``.

    Attributes
    ----------
    forecaster_ : Forecaster
        The fitted model. ``update(y, update_params=False)`` appends observations and leaves the
        model; with ``update_params=True``, sktime's default, the model is fitted anew to all of
        them. Observations of times that are known already are left out.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from sparsebayes import RVR
    >>> from sparsebayes.sktime import SparseBayesForecaster
    >>> y = load_airline()
    >>> model = SparseBayesForecaster(RVR("linear"), lags=13, difference=12).fit(y[:-12])
    >>> model.predict(fh=[1, 2, 3]).index.astype(str).tolist()
    ['1960-01', '1960-02', '1960-03']
    """

    _tags = {  # noqa: RUF012
        "authors": "The sparsebayes developers",
        "maintainers": "The sparsebayes developers",
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": False,
        "capability:exogenous": True,
        "capability:insample": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:missing_values": False,
        "capability:non_contiguous_X": False,
        "capability:categorical_in_X": False,
        "capability:update": True,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
    }
    # The forecaster keeps the series; sktime need not.
    _config = {"remember_data": False}  # noqa: RUF012
    _y = _X = None

    def __init__(
        self,
        estimator=None,
        lags="auto",
        step=1,
        difference="auto",
        transform="auto",
        exog_lags=0,
        calibrate=None,
        method="auto",
        random_state=None,
    ):
        self.estimator = estimator
        self.lags = lags
        self.step = step
        self.difference = difference
        self.transform = transform
        self.exog_lags = exog_lags
        self.calibrate = calibrate
        self.method = method
        self.random_state = random_state
        super().__init__()

    def _fit(self, y, X, fh):
        self._train(y, None if X is None else X.loc[y.index])
        self._name, self._times, self._last = y.name, y.index, self.cutoff
        return self

    def _train(self, y, X):
        self.forecaster_ = Forecaster(
            self.estimator,
            lags=self.lags,
            step=self.step,
            difference=self.difference,
            transform=self.transform,
            exog_lags=self.exog_lags,
            calibrate=self.calibrate,
            random_state=self.random_state,
        ).fit(y, X)

    def _update(self, y, X=None, update_params=True):
        new = y[y.index > self._last[0]]
        if not len(new):
            return self
        model = self.forecaster_.update(new, None if X is None else X.loc[new.index])
        self._times, self._last = self._times.append(new.index), self.cutoff
        if update_params:
            y = pandas.Series(model.y_, self._times, name=self._name)
            self._train(y, model.X_ if model.n_inputs_ else None)
        return self

    def _predict(self, fh, X):
        mean, _ = self._moments(self._steps(fh), X)
        return pandas.Series(mean, self._index(fh), name=self._name)

    def _predict_quantiles(self, fh, X, alpha):
        steps, probabilities = self._steps(fh), np.array(alpha)
        values = _quantiles(*self._moments(steps, X), probabilities, self._log)
        later = steps > 0
        if self.method == "monte_carlo" and later.any():
            paths = self._paths(steps.max(), X)[:, steps[later] - 1]
            values[later] = np.quantile(paths, probabilities, axis=0).T
        columns = self._get_columns(method="predict_quantiles", alpha=alpha)
        return pandas.DataFrame(values, self._index(fh), columns)

    def _predict_var(self, fh, X=None, cov=False):
        steps, index, names = self._steps(fh), self._index(fh), self._get_varnames()
        if not cov:
            _, std = self._moments(steps, X)
            return pandas.DataFrame(std[:, None] ** 2, index, names)
        if steps.min() < 1:
            raise NotImplementedError(
                "predict_var(cov=True) is for times after the last known one; leave out the "
                "others, or use cov=False."
            )
        _, full = self.forecaster_.predict(
            int(steps.max()), self._later(X), method=self.method, return_cov=True
        )
        chosen = np.asarray(full)[np.ix_(steps - 1, steps - 1)]
        return pandas.DataFrame(chosen, index, pandas.MultiIndex.from_product([names, index]))

    def _predict_proba(self, fh, X, marginal=True):
        if self.method == "monte_carlo" or not marginal:
            raise NotImplementedError(
                "predict_proba gives one distribution for each time, and none of the paths of "
                "method='monte_carlo'; use predict_quantiles, predict_var(cov=True) or "
                "forecaster_.simulate."
            )
        if not self._log:
            return super()._predict_proba(fh=fh, X=X, marginal=marginal)
        LogNormal = require("skpro.distributions", "predict_proba").LogNormal
        mean, std = (values[:, None] for values in self._moments(self._steps(fh), X))
        mu, sigma = _of_logarithm(mean, std)
        return LogNormal(mu, sigma, index=self._index(fh), columns=self._get_varnames())

    @property
    def _log(self) -> bool:
        return self.forecaster_.transform_ == "log"

    def _index(self, fh):
        return fh.to_absolute_index(self.cutoff)

    def _steps(self, fh) -> Array:
        """Steps after the last known value, which `cutoff` is not after an update with old ones."""
        return fh.to_absolute(self.cutoff).to_relative(self._last).to_numpy().astype(int)

    def _later(self, X):
        return None if X is None else X[X.index > self._last[0]]

    def _paths(self, horizon, X) -> Array:
        return np.asarray(self.forecaster_.simulate(int(horizon), _PATHS, self._later(X)))

    def _moments(self, steps: Array, X) -> tuple[Array, Array]:
        """Mean and standard deviation of each step."""
        model, later = self.forecaster_, steps > 0
        moments = np.full((2, len(steps)), np.nan)
        if later.any():
            ahead = model.predict(int(steps.max()), self._later(X), True, self.method)
            moments[:, later] = np.asarray(ahead)[:, steps[later] - 1]
        if not later.all():
            inputs = model.X_ if model.n_inputs_ else None
            first = model.n_past_
            # One step ahead all methods agree.
            scores = model.backtest(model.y_, 1, X=inputs, start=first, methods="naive")["naive"]
            known = np.full((2, len(model.y_)), np.nan)
            known[:, first:] = scores.mean[:, 0], scores.std[:, 0]
            within = ~later & (steps > -len(model.y_))
            moments[:, within] = known[:, steps[within] - 1]
        return moments[0], moments[1]

    @classmethod
    def get_test_params(cls, parameter_set="default"):
        """Settings for sktime's tests.

        Parameters
        ----------
        parameter_set : str, default="default"
            There is one set.

        Returns
        -------
        params : list of dict
        """
        from sklearn.linear_model import BayesianRidge

        from sparsebayes.regression import RVR

        return [
            {"estimator": RVR("linear"), "lags": 2, "difference": None, "transform": None},
            {
                "estimator": BayesianRidge(),
                "lags": [1, 3],
                "difference": 1,
                "transform": None,
                "exog_lags": [0, 1],
                "method": "naive",
            },
        ]


def _of_logarithm(mean: Array, std: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the logarithm of a lognormal variable."""
    variance = np.log1p((std / mean) ** 2)
    return np.log(mean) - 0.5 * variance, np.sqrt(variance)


def _quantiles(mean: Array, std: Array, probabilities: Array, log: bool) -> Array:
    """Quantiles of normal or lognormal variables, (times, probabilities)."""
    center, spread = _of_logarithm(mean, std) if log else (mean, std)
    values = center[:, None] + spread[:, None] * ndtri(probabilities)
    return np.exp(values) if log else values
