"""Forecasts by models that are weighted by their past, with propagated uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.fits.clock import current_limit, under
from sparsebayes._support.fits.timed import timed
from sparsebayes._support.fits.whole import all_or_nothing
from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.summary import SummaryMixin
from sparsebayes._support.validation import (
    as_random_state,
    check_choice,
    check_coverage,
    check_switches,
    whole_number,
)
from sparsebayes.forecasting.backtest import Backtest, as_methods, origins_of, score_methods
from sparsebayes.forecasting.calibration import check_options
from sparsebayes.forecasting.one_series import OneSeries, learn, learn_again, read_training
from sparsebayes.forecasting.panels import fit_each, predict_each, simulate_each, update_each
from sparsebayes.forecasting.propagation import METHODS, ForecastMethod
from sparsebayes.forecasting.tables.panel import Panel, as_panel
from sparsebayes.forecasting.tables.panel_inputs import inputs_of_each
from sparsebayes.forecasting.transforms import TransformName

Array = np.ndarray


class Forecaster(GuidedMixin, SummaryMixin, BaseEstimator):
    """Forecasts of a series, or of many, by models that are weighted by their past.

    Candidates are exponential smoothing with and without trend and seasons, linear autoregressions
    of the series and of its differences, a Gaussian process of its lags where it is curved, each of
    the series and of its logarithm or root, and the naive forecast of a season. All forecast the
    past from many origins; a forecast is the mixture of those that did well there.

    With `estimator`, `lags` or `difference` it is one autoregression instead, ``y_t = f(y_{t−l} for
    l in lags, x_{t−m} for m in exog_lags) + noise``, whose steps are Gaussian inputs of the later
    ones [1]_ [2]_. Means, intervals and covariances are those of the whole path.

    Parameters
    ----------
    estimator : estimator with ``predict(X, return_std=True)``, default=None
        The model of one step of an autoregression, whose standard deviation includes the noise:
        `RVR`, `ReducedRankGPR`, scikit-learn's GaussianProcessRegressor with a WhiteKernel, or a
        pipeline that ends in one of them. None is the mixture; with given `lags`, `step` or
        `difference` it is ``RVR("linear")``, or ``ReducedRankGPR(n_support=256,
        selection="random", augment=False)`` if its log evidence is higher by more than 5.
    lags : int, list of int or "auto", default="auto"
        Of one autoregression. A number L stands for the lags ``step, 2 step, ..., L step``; a list
        is taken as it is. "auto" chooses by the evidence of linear models, see Notes.
    step : int, default=1
        Between the lags that a number or "auto" stands for.
    difference : int, list of int, None or "auto", default="auto"
        Of one autoregression: periods p of differences ``y_t − y_{t−p}``, taken in turn:
        ``[1, 12]`` for the monthly changes of a yearly change. None or 0 takes none.
    transform : {"auto", "log", "sqrt"} or None, default="auto"
        Which function of the series is modelled. "auto" tries the logarithm of a positive series,
        and of counts with zeros the root; counts have no forecasts below 0.
    seasons : "auto", None, float or list of float, default="auto"
        Steps in each season, which need not be whole. "auto" takes those that dates tell (a week
        and a year for days), and looks for one in a series without dates.
    exog_lags : int or list of int, default=0
        Lags of the exogenous inputs; 0 is the time of the target, a number M > 0 stands for
        ``step, ..., M step``.
    calibrate : "auto", int or None, default="auto"
        Whether standard deviations are widened by what forecasts of the past tell of each step
        ahead; see `calibration_`. For one autoregression this costs a second fit, to the first two
        thirds of the series, and is done for a number of origins only.
    pool : bool, default=False
        Whether the series of a panel share one autoregression, which suits many short ones: it is
        fitted to rows of all of them (5000 at random, if there are more), each standardised by
        itself; `transform`, `difference` and `lags` are common.
    max_time : float or None, default=None
        The most seconds that a fit, of each series of a panel, may take, about: models that would
        take longer are left out, and a warning is given.
    n_jobs : int or None, default=None
        Series of a panel that are fitted and forecast at once, as in joblib, which does not change
        results. Within ``joblib.parallel_config(backend="dask")`` they are on a Dask cluster.
    verbose : int, default=0
        1 shows on stderr how many series of a panel are done.
    random_state : int, RandomState instance or None, default=None
        Of sampled paths, and of the support inputs of a process, for which None stands for 0: fits
        of the same series agree.

    Attributes
    ----------
    candidates_ : list of ForecastCandidate
        What was tried, with `name`, `weight` and `score`: the continuous ranked probability score
        of forecasts of the past in units of that of the naive forecast.
    chosen_ : str
        One line that says which have weight, and how forecasts of the past went.
    estimator_ : estimator or None
        Of the autoregression by an estimator, if one takes part: fitted to standardised
        differences; columns are the lags, then the inputs at each of their lags.
    lags_, exog_lags_, difference_, transform_ : lists of int, and "log", "sqrt" or None
        Of the model with the largest weight; smoothing has neither lags nor differences.
    y_, X_ : ndarray of shape (n_times,) and (n_times, n_inputs)
        What is known, with updates; NaN where values are missing.
    index_, name_
        Of pandas: the index of `y_`, and the name of the series; None for arrays.
    log_evidence_ : float or None
        Of one autoregression, if the estimator has one: of the series from its value number
        `n_past_` on.
    noise_variance_ : float or None
        Of one step of `estimator_`, in squared units of the series as it is modelled (of its
        logarithm, of its differences), if it has one.
    calibration_ : ndarray of shape (n_steps,)
        The factor, at least 1, of the standard deviation at each step ahead, of the logarithm if
        that is modelled; steps after the last take the last. ``[1.]`` without calibration.
    n_past_ : int
        The number of values that a forecast needs.
    n_times_, n_inputs_, n_features_in_ : int
        Lengths of the training series, and numbers of inputs and of columns.
    forecasters_ : dict
        Of a panel: a fitted Forecaster for each series, by name. A panel has no other attributes.

    See Also
    --------
    Backtest : Scores of forecasts of the past, from `Forecaster.backtest`.
    sparsebayes.sktime.SparseBayesForecaster : The same for sktime.
    sparsebayes.plots.ForecastDisplay : A figure of a series and its forecasts.

    Notes
    -----
    Missing values may be NaN or missing times. What is thought of them is carried as forecasts
    are: smoothing steps over them, and autoregressions take Gaussian guesses, with their
    covariance, among their lags.

    Weights fall like a bell with the distance of scores from the best, of width 0.15, or more where
    there are few values to judge by. Where the mixture would have done worse than the naive
    forecast, it is that. For one autoregression "auto" compares, on the same values, the evidence
    of linear models of no difference, that of one step, that of a season (twelve for monthly data
    and so on, or the peak of the autocorrelation), and the last two together; no difference is
    preferred by 3 nats. Where the series or its logarithm takes some, differences of logarithms are
    tried too, and preferred by 5. Then it compares numbers of lags, of which those stay that get
    weight.

    Errors of the function of an estimator at different steps are taken as independent given the
    inputs, as in [1]_: what all steps share, such as an unsure slope, makes bands too narrow, and
    so does change; `calibrate` widens them. An estimator never calibrates itself. Exogenous inputs
    are taken as known, and not differenced.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.2.
    .. [2] A. Girard, C. Rasmussen, J. Quiñonero-Candela, R. Murray-Smith, "Gaussian process
       priors with uncertain inputs: application to multiple-step ahead time series
       forecasting", NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.forecasting import Forecaster
    >>> t = np.arange(100)
    >>> y = np.sin(0.4 * t) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> model = Forecaster().fit(y)
    >>> mean, std = model.predict(10, return_std=True)
    >>> bool(np.abs(mean - np.sin(0.4 * np.arange(100, 110))).max() < 0.4)
    True
    >>> Forecaster(n_jobs=1).fit(np.column_stack([y, 3.0 * y])).predict(10).shape
    (10, 2)
    """

    _panel: Panel | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        lags: int | Sequence[int] | Literal["auto"] = "auto",
        step: int = 1,
        difference: int | Sequence[int] | Literal["auto"] | None = "auto",
        transform: TransformName | Literal["auto"] | None = "auto",
        seasons: float | Sequence[float] | Literal["auto"] | None = "auto",
        exog_lags: Any = 0,
        calibrate: int | Literal["auto"] | None = "auto",
        pool: bool = False,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.lags = lags
        self.step = step
        self.difference = difference
        self.transform = transform
        self.seasons = seasons
        self.exog_lags = exog_lags
        self.calibrate = calibrate
        self.pool = pool
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @timed
    def fit(self, y: Any, X: Any = None, *, id: Any = None) -> Forecaster:
        """Fit to a series, or to each series of a panel.

        Parameters
        ----------
        y : array-like of shape (n_times,)
            The series, at equal steps of time; a pandas Series brings its index. Values may be NaN,
            and times may be missing. Several series: a DataFrame with a column for each, a Series
            whose index has the times as its last level, a long DataFrame with `id`, or an array of
            shape (n_times, n_series).
        X : array-like of shape (n_times, n_inputs), default=None
            Exogenous inputs at the same times. Those of a panel are the same for all series, or a
            table that tells them apart as `y` does, by the levels of its index or by `id`.
        id : str, default=None
            The column of a long DataFrame that tells the series apart.

        Returns
        -------
        Forecaster
            This forecaster, fitted.
        """
        check_options(self)
        panel = as_panel(y, id)
        if panel is not None:
            return self._fit_panel(panel, inputs_of_each(panel, X))
        if self.pool:
            raise ValueError(
                "pool=True is for several series that share one model, but y is a single one; give "
                "a table of several, or pool=False."
            )
        return self._learned(learn(self, *read_training(y, X)))

    def _fit_panel(self, panel: Panel, inputs: list[Any]) -> Forecaster:
        with under(current_limit() if self.pool else None):  # else each series has its own
            forecasters = fit_each(self, panel.names, panel.series, inputs)
        for name in [name for name in vars(self) if name.endswith("_") or name == "_one"]:
            delattr(self, name)  # of a single series
        self.forecasters_, self._panel = forecasters, replace(panel, series=[])
        return self

    def _learned(self, one: OneSeries) -> Forecaster:
        """Attributes of what was fitted."""
        self._panel = None
        self._one, fitted = one, one.fitted
        self.y_, self.X_, self.name_ = one.y, one.X, one.name
        self.n_times_, self.n_inputs_ = one.n_times, one.exogenous.count
        self.calibration_, self.log_evidence_ = fitted.factors, fitted.log_evidence
        self.candidates_ = fitted.combination.candidates
        self.exog_lags_, self.chosen_ = list(one.embedding.exog_lags), fitted.chosen
        self.n_past_ = max(fitted.combination.n_past, *self.exog_lags_, 1)
        self.estimator_, self.noise_variance_ = fitted.estimator
        self.lags_, self.difference_, self.transform_ = fitted.leading
        self.n_features_in_ = len(self.lags_) + len(self.exog_lags_) * self.n_inputs_
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_one") or hasattr(self, "forecasters_")

    @property
    def index_(self) -> Any:
        """The index of `y_`, None for arrays."""
        return None if self._one.timeline is None else self._one.timeline.index

    @guided
    def predict(
        self,
        horizon: int,
        X: Any = None,
        return_std: bool = False,
        method: ForecastMethod = "auto",
        *,
        return_cov: bool = False,
        n_paths: int = 1000,
    ) -> Any:
        """Forecast the next values.

        Parameters
        ----------
        horizon : int
            The number of steps ahead.
        X : array-like of shape (rows, n_inputs), default=None
            The exogenous inputs of the next steps, as far as `exog_lags` reaches; of a panel for
            all series or for each, as in `fit`.
        return_std : bool, default=False
            Whether to return the standard deviation of each value, noise included.
        method : str, default="auto"
            How the uncertainty of one step of an autoregression by an estimator enters the next:
            "exact", "quadrature" or "taylor" as in `predict_uncertain`; "auto" takes the best that
            applies; "monte_carlo" draws paths; "naive" feeds means back and keeps the variance of
            each step alone. Other models are linear and need no choice.
        return_cov : bool, default=False
            Whether to return the covariance of all steps.
        n_paths : int, default=1000
            The number of paths of "monte_carlo".

        Returns
        -------
        mean : ndarray of shape (horizon,), or Series with the index continued
            Of a panel a table in the form of `y`.
        std : the same, or cov : ndarray or DataFrame of shape (horizon, horizon)
            Only if asked for.
        """
        check_switches(return_std=return_std, return_cov=return_cov)
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not for both; both are True.")
        check_is_fitted(self)
        if self._panel is not None:
            if return_cov:
                raise ValueError(
                    "return_cov is for one series; ask forecasters_[name].predict for that of each."
                )
            options = dict(horizon=horizon, method=method, n_paths=n_paths, return_std=return_std)
            return predict_each(self, self._panel, "predict", X, options)
        horizon = whole_number("horizon", horizon)
        check_choice("method", method, METHODS)
        if method == "monte_carlo":
            paths = self._paths(horizon, X, n_paths, 2, None)
            mean, std = paths.mean(axis=0), paths.std(axis=0, ddof=1)
            cov = np.atleast_2d(np.cov(paths.T)) if return_cov else None
        else:
            found = self._one.ahead(horizon, X, method, return_cov)
            mean, std = (values[0] for values in found.levels())
            cov = found.levels_cov()[0] if return_cov else None
        ahead = self._one.as_series
        if cov is None:
            return (ahead(mean), ahead(std)) if return_std else ahead(mean)
        if self._one.timeline is None:
            return mean, cov
        return ahead(mean), self._one.as_frame(cov, self._one.timeline.ahead(len(cov)))

    @guided
    def predict_interval(
        self,
        horizon: int,
        coverage: float = 0.95,
        X: Any = None,
        method: ForecastMethod = "auto",
        *,
        n_paths: int = 1000,
    ) -> Any:
        """Forecast central intervals of the next values.

        Parameters
        ----------
        horizon : int
            The number of steps ahead.
        coverage : float, default=0.95
            Probability inside each interval.
        X, method, n_paths : array-like, str and int
            As in `predict`. "monte_carlo" takes quantiles of the paths.

        Returns
        -------
        lower : ndarray of shape (horizon,)
            Lower ends. For a pandas series one DataFrame with these columns, the index continued;
            of several series with the columns (series, "lower") and (series, "upper").
        upper : ndarray of shape (horizon,)
            Upper ends.
        """
        check_coverage(coverage)
        check_is_fitted(self)
        if self._panel is not None:
            options = dict(horizon=horizon, coverage=coverage, method=method, n_paths=n_paths)
            return predict_each(self, self._panel, "predict_interval", X, options)
        horizon = whole_number("horizon", horizon)
        check_choice("method", method, METHODS)
        if method == "monte_carlo":
            paths = self._paths(horizon, X, n_paths, 2, None)
            lower, upper = np.quantile(paths, [0.5 - coverage / 2, 0.5 + coverage / 2], axis=0)
        else:
            found = self._one.ahead(horizon, X, method)
            lower, upper = (limit[0] for limit in found.interval(coverage))
        if self._one.timeline is None:
            return lower, upper
        return self._one.as_frame(np.column_stack([lower, upper]), ["lower", "upper"])

    def simulate(
        self, horizon: int, n_paths: int = 100, X: Any = None, random_state: Any = None
    ) -> Any:
        """Draw paths of the next values.

        Parameters
        ----------
        horizon : int
            The number of steps ahead.
        n_paths : int, default=100
            How many paths.
        X : array-like of shape (rows, n_inputs), default=None
            As in `predict`.
        random_state : int, RandomState instance or None, default=None
            None takes that of the forecaster.

        Returns
        -------
        ndarray of shape (n_paths, horizon), or DataFrame with the times as columns
            A row for each path. Of a panel a dict with those of each series.
        """
        check_is_fitted(self)
        if self._panel is not None:
            return simulate_each(self, self._panel, horizon, n_paths, X, random_state)
        paths = self._paths(whole_number("horizon", horizon), X, n_paths, 1, random_state)
        return paths if self._one.timeline is None else self._one.as_frame(paths.T).T

    def _paths(self, horizon: int, X: Any, n_paths: Any, least: int, random_state: Any) -> Array:
        rng = as_random_state(self.random_state if random_state is None else random_state)
        return self._one.paths(horizon, X, whole_number("n_paths", n_paths, least), rng)

    @all_or_nothing
    def update(self, y_new: Any, X_new: Any = None) -> Forecaster:
        """Append observations; the model stays as it was fitted.

        Parameters
        ----------
        y_new : array-like of shape (n_new,)
            The values that follow those known, in the form that `fit` had; some may be NaN, and an
            index may skip times.
        X_new : array-like of shape (n_new, n_inputs), default=None
            The exogenous inputs at the same times.

        Returns
        -------
        Forecaster
            This forecaster, which knows the new values.
        """
        check_is_fitted(self)
        if self._panel is not None:
            update_each(self, self._panel, y_new, X_new)
            return self
        return self._learned(self._one.longer(y_new, X_new))

    def backtest(
        self,
        y: Any,
        horizon: int,
        step: int = 1,
        X: Any = None,
        *,
        start: int | None = None,
        coverage: float = 0.95,
        methods: Any = ("auto",),
        refit: bool = False,
        n_paths: int = 1000,
    ) -> Backtest:
        """Forecast from many origins of a known series, and score by steps ahead.

        Parameters
        ----------
        y : array-like of shape (n_times,)
            A series, whole in itself; it may begin with the training series. A pandas series
            whose index begins where the known one ends is taken to continue that.
        horizon : int
            The number of steps ahead.
        step : int, default=1
            From one origin to the next.
        X : array-like of shape (n_times, n_inputs), default=None
            The exogenous inputs at the times of `y`.
        start : int, default=None
            How many values of `y` the first forecast knows. None: the training series, if `y`
            begins with it or continues it, else as few as the lags allow.
        coverage : float, default=0.95
            Of the intervals to be checked.
        methods : str or list of str, default=("auto",)
            As in `predict`. The forecasts of "monte_carlo" are scored by mean and variance.
        refit : bool, default=False
            Whether to fit a new model for each origin, to all values before it.
        n_paths : int, default=1000
            The number of paths of "monte_carlo" for each origin.

        Returns
        -------
        Backtest
            Scores of each method by steps ahead; ``print`` shows a table.
        """
        check_is_fitted(self)
        horizon, step = whole_number("horizon", horizon), whole_number("step", step)
        check_coverage(coverage)
        if self._panel is not None:
            raise ValueError("backtest is for one series; ask forecasters_[name].backtest.")
        methods = as_methods(methods)
        check_switches(refit=refit)
        values, inputs, first = self._one.whole(y, X, self.n_past_)
        if start is not None:
            first = whole_number("start", start, self.n_past_)
        origins = origins_of(len(values), first, horizon, step)
        models = [(self._one, origins)]
        if refit:
            models = learn_again(self, self._one, values, inputs, origins)
        return score_methods(
            models, values, inputs, horizon, methods, coverage, n_paths, self.random_state
        )
