"""Forecasts by an autoregressive model, with the uncertainty of each step carried to the next."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.validation import check_choice, check_coverage, whole_number
from sparsebayes.forecasting.autoregression import fit_recursion
from sparsebayes.forecasting.backtest import Backtest, score
from sparsebayes.forecasting.calibration import check_calibrate, step_factors
from sparsebayes.forecasting.exogenous import Exogenous, training_inputs
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lag_choice import Choice, as_choice, choose
from sparsebayes.forecasting.lags import Differences, Embedding, as_exog_lags
from sparsebayes.forecasting.propagation import METHODS
from sparsebayes.forecasting.timeline import Timeline, check_positive, read_inputs, read_series

Array = np.ndarray


class Forecaster(BaseEstimator):
    """Forecasts by a nonlinear autoregression, with propagated uncertainty [1]_ [2]_.

    The model is ``y_t = f(y_{t−l} for l in lags, x_{t−m} for m in exog_lags) + noise``, with f by
    any estimator that predicts with a standard deviation. A forecast of many steps takes each
    step as a Gaussian input of the later ones, and carries the covariance of all steps.

    Parameters
    ----------
    estimator : estimator with ``predict(X, return_std=True)``, default=None
        The model of one step, whose standard deviation includes the noise: `RVR`,
        `ReducedRankGPR`, scikit-learn's GaussianProcessRegressor with a WhiteKernel, or a pipeline
        that ends in one of them. None fits ``RVR("linear")`` and ``ReducedRankGPR(n_support=256,
        selection="random", augment=False)``, and takes the linear one unless the log evidence of
        the other is higher by more than 5.
    lags : int, list of int or "auto", default="auto"
        A number L stands for the lags ``step, 2 step, ..., L step``; a list is taken as it is.
        "auto" chooses by the evidence of linear models, see Notes.
    step : int, default=1
        Between the lags that a number or "auto" stands for.
    difference : int, list of int, None or "auto", default="auto"
        Periods p of differences ``y_t − y_{t−p}``, taken in turn: ``[1, 12]`` for the monthly
        changes of a yearly change. None or 0 takes none.
    transform : {"auto", "log"} or None, default="auto"
        Whether to model the logarithm; "auto" does for a positive series that needs a difference,
        unless the evidence is clearly against it. Forecasts of the series are then lognormal.
    exog_lags : int or list of int, default=0
        Lags of the exogenous inputs; 0 is the time of the target, a number M > 0 stands for
        ``step, ..., M step``.
    calibrate : "auto", int or None, default=None
        Whether standard deviations are widened by what forecasts of the last third of the series
        from a number of origins, 15 for "auto", tell of each step ahead; see `calibration_`.
    random_state : int, RandomState instance or None, default=None
        Of sampled paths, and of the support inputs of the default estimator, for which None stands
        for 0: fits of the same series agree.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to the standardised differences; columns are the lags, then the inputs at each of
        their lags.
    lags_, exog_lags_, difference_ : list of int
    transform_ : "log" or None
    y_, X_ : ndarray of shape (n_times,) and (n_times, n_inputs)
        What is known, with updates.
    index_, name_
        Of pandas: the index of `y_`, and the name of the series; None for arrays.
    log_evidence_ : float or None
        Log evidence of the series from its value number `n_past_` on, if the estimator has one.
    noise_variance_ : float or None
        Of one step, in squared units of the series as it is modelled (of its logarithm, of its
        differences), if the estimator has one.
    calibration_ : ndarray of shape (n_steps,)
        The factor, at least 1, of the standard deviation at each step ahead, of the logarithm if
        that is modelled; steps after the last take the last. ``[1.]`` without calibration, and
        where the series is too short to hold some of it out.
    n_past_ : int
        The number of values that a forecast needs.
    n_times_, n_inputs_, n_features_in_ : int
        Lengths of the training series, and numbers of inputs and of columns.

    Notes
    -----
    "auto" compares, on the same values, the evidence of linear models of no difference, that of
    one step, that of a season (twelve for monthly data and so on, or the peak of the
    autocorrelation), and the last two together; no difference is preferred by 3 nats. Where the
    series or its logarithm takes some, differences of logarithms are tried too, and preferred by
    5. Then it compares numbers of lags, of which those stay that get weight.

    Errors of the function at different steps are taken as independent given the inputs, as
    in [1]_: what all steps share, such as an unsure slope, makes bands too narrow, and so does
    change. With `calibrate` a model of the first two thirds of the series forecasts the rest, and
    where its errors are too large for the standard deviations, these are widened. The factors are
    those of ``method="auto"`` and serve all methods. An estimator never calibrates itself.
    Exogenous inputs are taken as known, and not differenced.

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
    >>> model = Forecaster(lags=4, difference=None).fit(y)
    >>> mean, std = model.predict(10, return_std=True)
    >>> bool(np.abs(mean - np.sin(0.4 * np.arange(100, 110))).max() < 0.3)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        lags: Any = "auto",
        step: int = 1,
        difference: Any = "auto",
        transform: str | None = "auto",
        exog_lags: Any = 0,
        calibrate: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.lags = lags
        self.step = step
        self.difference = difference
        self.transform = transform
        self.exog_lags = exog_lags
        self.calibrate = calibrate
        self.random_state = random_state

    def fit(self, y: Any, X: Any = None) -> Forecaster:
        """Fit the model to a series.

        Parameters
        ----------
        y : array-like of shape (n_times,)
            The series, at equal steps of time; a pandas Series brings its index.
        X : array-like of shape (n_times, n_inputs), default=None
            Exogenous inputs at the same times.

        Returns
        -------
        self : Forecaster
        """
        check_calibrate(self.calibrate)
        values, index, self.name_ = read_series(y)
        self._timeline = None if index is None else Timeline(index)
        inputs, columns = training_inputs(X, len(values), index)
        return self._fit_arrays(values, inputs, columns)

    def _fit_arrays(self, y: Array, X: Array, columns: list[Any] | None) -> Forecaster:
        self.y_, self.X_ = y, X
        self.n_times_, self.n_inputs_ = X.shape
        self._exogenous = Exogenous.of(X, columns)
        lagged = as_exog_lags(self.exog_lags, self.step)
        exog_lags = lagged if self.n_inputs_ else ()
        inputs = self._exogenous.standardised(X)
        choice = self._chosen(y, inputs, exog_lags)
        self.transform_ = "log" if choice.log else None
        self.lags_, self.difference_ = list(choice.lags or ()), list(choice.periods or ())
        self.exog_lags_ = list(exog_lags)
        self._embedding = Embedding(tuple(self.lags_), exog_lags)
        differences = Differences(tuple(self.difference_))
        self.n_past_ = self._embedding.first_target(differences)
        fit = partial(
            fit_recursion,
            embedding=self._embedding,
            differences=differences,
            log=bool(choice.log),
            random_state=self.random_state,
        )
        model, self.log_evidence_ = fit(y, inputs, estimator=self.estimator)
        self.calibration_ = step_factors(
            model,
            lambda past, given: fit(past, given, estimator=model.model)[0],
            y,
            inputs,
            self._embedding,
            self.calibrate,
        )
        self._recursion = model.calibrated(self.calibration_)
        self.estimator_ = self._recursion.model
        self.n_features_in_ = len(self.lags_) + len(exog_lags) * self.n_inputs_
        noise = getattr(self.estimator_, "noise_variance_", None)
        self.noise_variance_ = None if noise is None else self._recursion.scale**2 * float(noise)
        return self

    def _chosen(self, y: Array, X: Array, exog_lags: tuple[int, ...]) -> Choice:
        """Transform, differences and lags, as given or by the evidence."""
        given = as_choice(self.lags, self.step, self.difference, self.transform)
        if given.log:
            check_positive(y, "y")
        if given.complete:
            return given
        season = 1 if self._timeline is None else self._timeline.season()
        return choose(y, X, exog_lags, season, whole_number("step", self.step), given)

    @property
    def index_(self) -> Any:
        return None if self._timeline is None else self._timeline.index

    def predict(
        self,
        horizon: int,
        X: Any = None,
        return_std: bool = False,
        method: str = "auto",
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
            The exogenous inputs of the next steps, as far as `exog_lags` reaches.
        return_std : bool, default=False
            Whether to return the standard deviation of each value, noise included.
        method : str, default="auto"
            How the uncertainty of one step enters the next: "exact", "quadrature" or "taylor" as in
            `predict_uncertain`; "auto" takes the best that applies; "monte_carlo" draws paths;
            "naive" feeds means back and keeps the variance of each step alone.
        return_cov : bool, default=False
            Whether to return the covariance of all steps.
        n_paths : int, default=1000
            The number of paths of "monte_carlo".

        Returns
        -------
        mean : ndarray of shape (horizon,), or Series with the index continued
        std : the same, or cov : ndarray or DataFrame of shape (horizon, horizon)
            Only if asked for.
        """
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not for both.")
        known = self._future(horizon, X)
        check_choice("method", method, METHODS)
        if method == "monte_carlo":
            paths = self._sample(known, whole_number("n_paths", n_paths, least=2), None)
            mean, std = paths.mean(axis=0), paths.std(axis=0, ddof=1)
            cov = np.atleast_2d(np.cov(paths.T)) if return_cov else None
        else:
            found = self._recursion.gaussian(self.y_[None], known, method, with_cov=return_cov)
            mean, std = (values[0] for values in found.levels())
            cov = found.levels_cov()[0] if return_cov else None
        if cov is None:
            return (self._series(mean), self._series(std)) if return_std else self._series(mean)
        if self._timeline is None:
            return mean, cov
        later = self._timeline.ahead(len(cov))
        return self._series(mean), self._timeline.frame_ahead(cov, later)

    def predict_interval(
        self,
        horizon: int,
        coverage: float = 0.95,
        X: Any = None,
        method: str = "auto",
        *,
        n_paths: int = 1000,
    ) -> Any:
        """Central intervals of the next values.

        Parameters
        ----------
        horizon : int
        coverage : float, default=0.95
            Probability inside each interval.
        X, method, n_paths
            As in `predict`. "monte_carlo" takes quantiles of the paths.

        Returns
        -------
        lower, upper : ndarray of shape (horizon,)
            For a pandas series one DataFrame with these columns, the index continued.
        """
        check_coverage(coverage)
        known = self._future(horizon, X)
        check_choice("method", method, METHODS)
        if method == "monte_carlo":
            paths = self._sample(known, whole_number("n_paths", n_paths, least=2), None)
            lower, upper = np.quantile(paths, [0.5 - coverage / 2, 0.5 + coverage / 2], axis=0)
        else:
            found = self._recursion.gaussian(self.y_[None], known, method)
            lower, upper = (limit[0] for limit in found.interval(coverage))
        if self._timeline is None:
            return lower, upper
        limits = np.column_stack([lower, upper])
        return self._timeline.frame_ahead(limits, ["lower", "upper"])

    def simulate(
        self, horizon: int, n_paths: int = 100, X: Any = None, random_state: Any = None
    ) -> Any:
        """Draw paths of the next values.

        Parameters
        ----------
        horizon : int
        n_paths : int, default=100
        X : array-like of shape (rows, n_inputs), default=None
            As in `predict`.
        random_state : int, RandomState instance or None, default=None
            None takes that of the forecaster.

        Returns
        -------
        paths : ndarray of shape (n_paths, horizon), or DataFrame with the times as columns
        """
        known = self._future(horizon, X)
        paths = self._sample(known, whole_number("n_paths", n_paths), random_state)
        return paths if self._timeline is None else self._timeline.frame_ahead(paths.T).T

    def update(self, y_new: Any, X_new: Any = None) -> Forecaster:
        """Append observations; the model stays as it was fitted.

        Parameters
        ----------
        y_new : array-like of shape (n_new,)
            The values that follow those known; the index of a pandas Series must go on.
        X_new : array-like of shape (n_new, n_inputs), default=None
            The exogenous inputs at the same times.

        Returns
        -------
        self : Forecaster
        """
        check_is_fitted(self)
        values, index, _ = read_series(y_new, "y_new")
        if self.transform_ == "log":
            check_positive(values, "y_new")
        inputs = self._later_inputs(X_new, len(values), "X_new")
        if len(inputs) != len(values):
            raise ValueError(
                f"X_new must have a row for each of the {len(values)} values of y_new, "
                f"got {len(inputs)}."
            )
        if self._timeline is not None:
            if index is None:
                index = self._timeline.ahead(len(values))
            self._timeline = self._timeline.extended(index, "y_new")
        self.y_ = np.concatenate([self.y_, values])
        self.X_ = np.vstack([self.X_, inputs])
        return self

    def _series(self, values: Array) -> Any:
        if self._timeline is None:
            return values
        return self._timeline.series_ahead(values, self.name_)

    def _later_inputs(self, X: Any, needed: int, name: str) -> Array:
        return self._exogenous.read_later(X, needed, name, self.exog_lags_, self._timeline)

    def _future(self, horizon: Any, X: Any) -> Array:
        """The lagged inputs of the next steps, (1, horizon, ...)."""
        check_is_fitted(self)
        horizon = whole_number("horizon", horizon)
        needed = self._embedding.rows_needed(horizon) if self.n_inputs_ else 0
        later = self._later_inputs(X, needed, "X")[:needed]
        inputs = self._exogenous.standardised(np.vstack([self.X_, later]))
        times = len(self.y_) + np.arange(horizon)
        return self._embedding.inputs_at(inputs, times[None])

    def _sample(self, known: Array, n_paths: int, random_state: Any) -> Array:
        rng = check_random_state(self.random_state if random_state is None else random_state)
        paths = self._recursion.sample(self.y_[None], known, n_paths, rng)[0]
        return np.exp(paths) if self.transform_ == "log" else paths

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
        result : Backtest
        """
        check_is_fitted(self)
        horizon, step = whole_number("horizon", horizon), whole_number("step", step)
        check_coverage(coverage)
        methods = [methods] if isinstance(methods, str) else list(methods)
        for method in methods:
            check_choice("methods", method, METHODS)
        values, inputs, first = self._whole_series(y, X)
        if start is not None:
            first = whole_number("start", start, self.n_past_)
        origins = np.arange(first, len(values) - horizon + 1, step)
        if not origins.size:
            raise ValueError(
                f"The series has {len(values)} values, too few for a forecast of {horizon} steps "
                f"after the first {first}; give a longer series, or a smaller start or horizon."
            )
        models = [(self, origins)]
        if refit:
            models = [(self._refitted(values, inputs, int(o)), np.array([o])) for o in origins]
        truth = values[origins[:, None] + np.arange(horizon)]
        scores = {}
        for method in methods:
            rng = check_random_state(self.random_state)
            found = [
                model._from(values, inputs, known, horizon, method, n_paths, rng)
                for model, known in models
            ]
            scores[method] = score(found, truth, coverage)
        return Backtest(origins, truth, coverage, scores)

    def _whole_series(self, y: Any, X: Any) -> tuple[Array, Array, int]:
        """A series to test on, its inputs, and how much of it the first forecast knows."""
        values, index, _ = read_series(y)
        if self.transform_ == "log":
            check_positive(values, "y")
        if (X is None) != (self.n_inputs_ == 0):
            raise ValueError("X must be given to backtest if it was given to fit, and only then.")
        inputs = np.empty((len(values), 0)) if X is None else read_inputs(X)[0]
        if inputs.shape != (len(values), self.n_inputs_):
            raise ValueError(
                f"X must have shape {(len(values), self.n_inputs_)}, got {inputs.shape}."
            )
        if index is not None and self._timeline is not None:
            later = Timeline(index)
            if later.index[0] == self._timeline.ahead(1)[0]:
                known = len(self.y_)
                return np.append(self.y_, values), np.vstack([self.X_, inputs]), known
        known = self.n_times_
        begins = len(values) > known and np.array_equal(values[:known], self.y_[:known])
        return values, inputs, known if begins else self.n_past_

    def _refitted(self, values: Array, inputs: Array, origin: int) -> Forecaster:
        model = clone(self)
        model._timeline, model.name_ = self._timeline, self.name_
        return model._fit_arrays(values[:origin], inputs[:origin], self._exogenous.columns)

    def _from(
        self,
        values: Array,
        inputs: Array,
        origins: Array,
        horizon: int,
        method: str,
        n_paths: int,
        rng: Any,
    ) -> Forecasts:
        """Forecasts from origins in a series."""
        inputs = self._exogenous.standardised(inputs)
        known = self._embedding.inputs_at(inputs, origins[:, None] + np.arange(horizon))
        history = values[origins[:, None] + np.arange(-self.n_past_, 0)]
        if method == "monte_carlo":
            return self._recursion.summary(history, known, n_paths, rng)
        return self._recursion.gaussian(history, known, method)
