"""The forecaster for sktime; needs ``pip install "sparsebayes[sktime]"``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_choice
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.forecasts import ForecastMixture
from sparsebayes.forecasting.marginals import marginals
from sparsebayes.forecasting.propagation import METHODS

require("sktime.forecasting.base", "sparsebayes.sktime")
import pandas  # noqa: E402
from sktime.forecasting.base import BaseForecaster  # noqa: E402

__all__ = ["SparseBayesForecaster"]

Array = np.ndarray
_PATHS = 1000  # of method="monte_carlo"
_LEVELS = (np.arange(200) + 0.5) / 200  # quantiles of a distribution that skpro does not have
_TABLES = ["pd-multiindex", "pd_multiindex_hier"]


@guided
class SparseBayesForecaster(BaseForecaster):
    """:class:`sparsebayes.forecasting.Forecaster` with the interface of sktime.

    Parameters are those of `Forecaster`, and `method`. Values may be missing. Panels and
    hierarchies are fitted in one call, each series by itself or all with ``pool=True``. Forecasts
    of known times are one step ahead of the values before them; they are NaN where these are too
    few.

    Parameters
    ----------
    estimator : estimator with ``predict(return_std=True)``, default=None
        The model of one step of an autoregression; None is the mixture of `Forecaster`.
    lags : int, list of int or "auto", default="auto"
        As in `Forecaster`, like all that follow but `method`.
    step : int, default=1
        Between lags.
    difference : int, list of int, None or "auto", default="auto"
        Periods of the differences.
    transform : {"auto", "log", "sqrt"} or None, default="auto"
        Which function of the series is modelled.
    seasons : "auto", None, float or list of float, default="auto"
        Steps in each season.
    exog_lags : int or list of int, default=0
        Lags of the exogenous inputs. Forecasts need them for each step up to the last.
    calibrate : "auto", int or None, default="auto"
        Whether standard deviations are widened by what forecasts of the past tell.
    pool : bool, default=False
        Whether series of a panel share one model.
    n_jobs : int or None, default=None
        Series of a panel that are fitted at once.
    verbose : int, default=0
        Whether to show how many are done.
    method : str, default="auto"
        How the uncertainty of one step enters the next, as in `Forecaster.predict`.
    random_state : int, RandomState instance or None, default=None
        Of sampled paths, and of the support inputs of a process.

    Attributes
    ----------
    forecaster_ : Forecaster
        The fitted model. ``update(y, update_params=False)`` appends observations and leaves the
        model; with ``update_params=True``, sktime's default, the model is fitted anew to all of
        them. Observations of times that are known already are left out.

    See Also
    --------
    sparsebayes.Forecaster : The forecaster itself, without sktime.

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
        "y_inner_mtype": ["pd.Series", *_TABLES],
        "X_inner_mtype": ["pd.DataFrame", *_TABLES],
        "capability:multivariate": False,
        "capability:exogenous": True,
        "capability:insample": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:missing_values": True,
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
        seasons="auto",
        exog_lags=0,
        calibrate="auto",
        pool=False,
        n_jobs=None,
        verbose=0,
        method="auto",
        random_state=None,
    ):
        self.estimator = estimator
        self.lags = lags
        self.step = step
        self.difference = difference
        self.transform = transform
        self.seasons = seasons
        self.exog_lags = exog_lags
        self.calibrate = calibrate
        self.pool = pool
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.random_state = random_state
        super().__init__()

    def _fit(self, y, X, fh):
        self._name = y.name if y.ndim == 1 else None
        self._levels = list(y.index.names)
        self._columns = None if X is None else list(X.columns)
        return self._train(y, None if X is None else X.loc[y.index])

    def _train(self, y, X):
        options = self.get_params(deep=False)
        del options["method"]
        check_choice("method", self.method, METHODS)
        self.forecaster_ = Forecaster(**options).fit(y, X)
        return self

    @property
    def _models(self) -> dict:
        """The forecaster of each series by name; None is that of the only one."""
        return getattr(self.forecaster_, "forecasters_", {None: self.forecaster_})

    def _together(self, tables: dict):
        """Tables of all series as one."""
        if None in tables:
            return tables[None]
        return pandas.concat(tables, names=self._levels)

    def _update(self, y, X=None, update_params=True):
        new = self._later(y)
        if not len(new):
            return self
        self.forecaster_.update(new, None if X is None else X.loc[new.index])
        if update_params:
            models = self._models
            tables = {
                key: pandas.DataFrame({self._name: model.y_}, model.index_)
                for key, model in models.items()
            }
            known = self._together(tables)
            inputs = None
            if self._columns is not None:
                tables = {
                    key: pandas.DataFrame(model.X_, model.index_, self._columns)
                    for key, model in models.items()
                }
                inputs = self._together(tables)
            self._train(known[self._name] if None in models else known, inputs)
        return self

    def _later(self, table):
        """Rows after the last known value of each series."""
        if table is None:
            return None
        if None in self._models:
            return table[table.index > self.forecaster_.index_[-1]]
        parts = [
            rows[rows.index.get_level_values(-1) > self._models[key].index_[-1]]
            for key, rows in self._groups(table).items()
            if key in self._models
        ]
        return pandas.concat(parts) if parts else table.iloc[:0]

    def _groups(self, table) -> dict:
        """Rows of each series."""
        ids = list(range(len(self._levels) - 1))
        return dict(list(table.groupby(level=ids if len(ids) > 1 else 0, sort=False)))

    def _of_each(self, fh, X, work, columns):
        """A table of what is found for each series."""
        index, tables, later = self._index(fh), {}, self._later(X)
        inputs = {None: later}
        if later is not None and None not in self._models:
            ids = list(range(len(self._levels) - 1))
            inputs = {key: rows.droplevel(ids) for key, rows in self._groups(later).items()}
        for key, model in self._models.items():
            steps = fh.to_absolute(self.cutoff).to_relative(model.index_[-1:])
            values = work(model, steps.to_numpy().astype(int), inputs.get(key))
            tables[key] = pandas.DataFrame(values, index, columns)
        return self._together(tables)

    def _predict(self, fh, X):
        found = self._of_each(fh, X, lambda *of: self._moments(*of)[0], self._get_varnames())
        return found.iloc[:, 0].rename(self._name) if None in self._models else found

    def _predict_quantiles(self, fh, X, alpha):
        columns = self._get_columns(method="predict_quantiles", alpha=alpha)
        return self._of_each(
            fh,
            X,
            lambda model, steps, later: self._quantiles(model, steps, later, np.array(alpha)),
            columns,
        )

    def _predict_var(self, fh, X=None, cov=False):
        names = self._get_varnames()
        if not cov:
            return self._of_each(fh, X, lambda *of: self._moments(*of)[1] ** 2, names)
        if None not in self._models:
            raise NotImplementedError(
                "predict_var(cov=True) is for one series; ask forecaster_.forecasters_[name]"
                ".predict(horizon, return_cov=True), or use cov=False."
            )
        index = self._index(fh)
        return self._of_each(fh, X, self._cov, pandas.MultiIndex.from_product([names, index]))

    def _cov(self, model, steps: Array, X) -> Array:
        if steps.min() < 1:
            raise NotImplementedError(
                "predict_var(cov=True) is for times after the last known one; leave out the "
                "others, or use cov=False."
            )
        _, full = model.predict(int(steps.max()), X, method=self.method, return_cov=True)
        return np.asarray(full)[np.ix_(steps - 1, steps - 1)]

    def _predict_proba(self, fh, X, marginal=True):
        if self.method == "monte_carlo" or not marginal:
            raise NotImplementedError(
                "predict_proba gives one distribution for each time, and none of the paths of "
                "method='monte_carlo'; use predict_quantiles, predict_var(cov=True) or "
                "forecaster_.simulate."
            )
        names, mixtures = self._get_varnames(), []

        def mean(model, steps, later):
            mixtures.append(marginals(model, steps, later, self.method))
            return mixtures[-1].levels()[0].T

        index = self._of_each(fh, X, mean, names).index
        found = _of_skpro(mixtures, index, names)
        if found is not None:
            return found
        columns = pandas.Index(_LEVELS)
        table = self._of_each(
            fh,
            X,
            lambda model, steps, later: self._quantiles(model, steps, later, _LEVELS),
            columns,
        )
        return _by_quantiles(table, names)

    def _index(self, fh):
        return fh.to_absolute_index(self.cutoff)

    def _moments(self, model, steps: Array, X) -> tuple[Array, Array]:
        """Mean and standard deviation of each step."""
        mean, std = (values[0] for values in self._marginals(model, steps, X).levels())
        later = steps > 0
        if self.method == "monte_carlo" and later.any():
            paths = self._paths(model, steps, X)
            mean[later], std[later] = paths.mean(axis=0), paths.std(axis=0, ddof=1)
        return mean, std

    def _quantiles(self, model, steps: Array, X, probabilities: Array) -> Array:
        """Quantiles of each step, (steps, probabilities)."""
        mixture = self._marginals(model, steps, X)
        values = np.column_stack([mixture.quantile(float(p))[0] for p in probabilities])
        later = steps > 0
        if self.method == "monte_carlo" and later.any():
            values[later] = np.quantile(self._paths(model, steps, X), probabilities, axis=0).T
        return values

    def _marginals(self, model, steps: Array, X):
        return marginals(model, steps, X, "naive" if self.method == "monte_carlo" else self.method)

    def _paths(self, model, steps: Array, X) -> Array:
        paths = np.asarray(model.simulate(int(steps.max()), _PATHS, X))
        return paths[:, steps[steps > 0] - 1]

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


def _of_skpro(mixtures: Sequence[ForecastMixture], index, columns):
    """The distribution of normal and lognormal parts, with weights that all series share; None if
    it is another."""
    skpro = require("skpro.distributions", "predict_proba")
    kinds = {"level": skpro.Normal, "log": skpro.LogNormal}
    first = mixtures[0]
    names = [part.transform.name for part in first.parts]
    for other in mixtures:
        alike = names == [part.transform.name for part in other.parts]
        if not alike or not np.array_equal(first.weights, other.weights):
            return None
    if not kinds.keys() >= set(names):
        return None
    parts = []
    for k, name in enumerate(names):
        mean = np.concatenate([mixture.parts[k].mean[0] for mixture in mixtures])
        std = np.concatenate([mixture.parts[k].std[0] for mixture in mixtures])
        parts.append(kinds[name](mean[:, None], std[:, None], index=index, columns=columns))
    if len(parts) == 1:
        return parts[0]
    return skpro.Mixture(parts, first.weights.tolist(), index=index, columns=columns)


def _by_quantiles(quantiles, columns):
    """The distribution of equally likely values."""
    skpro = require("skpro.distributions", "predict_proba")
    several = {level: quantiles[level].to_frame(columns[0]) for level in quantiles}
    table = pandas.concat(several, names=["probability"])
    return skpro.Empirical(table, index=quantiles.index, columns=columns)
