"""The display of a forecast; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_choice, check_coverage, whole_number
from sparsebayes.forecasting.propagation import METHODS
from sparsebayes.plots._style import BLUE, GREY, ORANGE, axes

_PATHS = 1000  # of method="monte_carlo"
_FEW = 30  # values of a line, up to which each gets a dot


class ForecastDisplay:
    """A series, the forecast of its next values with error bands, and what came.

    Use :meth:`from_forecaster` to make one, or the constructor for forecasts that are arrays.

    Parameters
    ----------
    mean : array-like of shape (horizon,)
        The forecast.
    lower, upper : array-like of shape (n_bands, horizon)
        Limits of the bands; of shape (horizon,) if there is one.
    coverage : float or sequence of float, default=(0.5, 0.95)
        Probability inside each band.
    history : array-like of shape (n_times,), default=()
        The values before the forecast.
    truth : array-like of shape (horizon,), default=None
        The values that came; there may be fewer than forecasts.
    times, history_times : array-like, default=None
        Numbers or dates of `mean` and of `history`; None counts steps from the first value.
    target_name, time_name : str, default="y" and ""
        Axis labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The mean; it starts at the last value of the history, as the bands do.
    bands_ : list of matplotlib PolyCollection
        The error bands, in the order of `coverage`.
    history_, truth_ : matplotlib Line2D or None

    See Also
    --------
    sparsebayes.Forecaster : Makes the forecasts.
    RegressionDisplay : A curve that is no series.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.forecasting import Forecaster
    >>> from sparsebayes.plots import ForecastDisplay
    >>> y = np.sin(0.4 * np.arange(90)) + 0.1 * np.random.default_rng(0).standard_normal(90)
    >>> model = Forecaster(lags=4, difference=0).fit(y[:75])
    >>> display = ForecastDisplay.from_forecaster(model, 15, truth=y[75:])
    >>> [band.get_label() for band in display.bands_]
    ['50 % interval', '95 % interval']
    """

    def __init__(
        self,
        *,
        mean,
        lower,
        upper,
        coverage=(0.5, 0.95),
        history=(),
        truth=None,
        times=None,
        history_times=None,
        target_name="y",
        time_name="",
    ):
        self.mean = mean
        self.lower = lower
        self.upper = upper
        self.coverage = coverage
        self.history = history
        self.truth = truth
        self.times = times
        self.history_times = history_times
        self.target_name = target_name
        self.time_name = time_name

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        ForecastDisplay
            This display, drawn.
        """
        require("matplotlib", type(self).__name__)
        history, mean = _vector("history", self.history), _vector("mean", self.mean)
        lower, upper, coverage = self._bands(mean.size)
        truth = None if self.truth is None else _vector("truth", self.truth)
        if truth is not None and truth.size > mean.size:
            raise ValueError(
                f"truth must have at most {mean.size} values like mean, got {truth.size}."
            )
        before = _positions("history_times", self.history_times, history.size, 0)
        after = _positions("times", self.times, mean.size, history.size)
        if history.size and (before.dtype.kind == "M") != (after.dtype.kind == "M"):
            raise ValueError("times and history_times must both be dates, or both be numbers.")
        # From the last value on, so that no gap looks as if something were missing.
        x = np.concatenate([before[-1:], after]) if history.size else after
        last = history[-1:]

        ax = _dated(axes(ax, type(self).__name__), x)
        self.history_ = self.truth_ = None
        if history.size:
            (self.history_,) = ax.plot(before, history, color=GREY, label="history", zorder=2)
        self.bands_ = [
            ax.fill_between(
                x,
                np.concatenate([last, low]),
                np.concatenate([last, high]),
                color=_shade(np.mean(coverage > share)),
                linewidth=0,
                label=f"{100 * share:g} % interval",
                zorder=1 + 0.5 * np.mean(coverage > share),  # narrow ones above wide ones
            )
            for low, high, share in zip(lower, upper, coverage, strict=True)
        ]
        (self.line_,) = ax.plot(
            x,
            np.concatenate([last, mean]),
            color=BLUE,
            marker="o" if mean.size <= _FEW else None,
            markersize=3,
            markevery=slice(last.size, None),
            label="mean",
            zorder=3,
        )
        if truth is not None:
            (self.truth_,) = ax.plot(
                after[: truth.size],
                truth,
                color=ORANGE,
                marker="o" if truth.size <= _FEW else None,
                markersize=3,
                linewidth=1.2,
                label="truth",
                zorder=4,
            )
        ax.set(xlabel=self.time_name, ylabel=self.target_name)
        ax.margins(x=0.02)
        handles = [self.history_, self.line_, *self.bands_, self.truth_]
        # The forecast is on the right; the best place takes long to find among many values.
        place = "best" if history.size + mean.size <= 2000 else "upper left"
        ax.legend(handles=[h for h in handles if h is not None], fontsize="small", loc=place)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bands(self, horizon):
        """Limits of shape (n_bands, horizon) and their probabilities."""
        coverage = np.array(_shares(self.coverage))
        limits = []
        for name, values in (("lower", self.lower), ("upper", self.upper)):
            array = np.atleast_2d(finite_array(name, values, None))
            if array.shape != (coverage.size, horizon):
                raise ValueError(
                    f"{name} must have shape {(coverage.size, horizon)}, a row for each coverage "
                    f"of {self.coverage!r} and a column for each value of mean, got "
                    f"{array.shape if np.ndim(values) else repr(values)}."
                )
            limits.append(array)
        return *limits, coverage

    @classmethod
    def from_forecaster(
        cls,
        forecaster,
        horizon,
        X=None,
        method="auto",
        *,
        truth=None,
        history=None,
        coverage=(0.5, 0.95),
        ax=None,
        target_name=None,
        time_name=None,
    ):
        """Forecast and draw.

        Parameters
        ----------
        forecaster : Forecaster
            A fitted one.
        horizon : int
            The number of steps ahead.
        X, method : array-like and str
            As in :meth:`Forecaster.predict`.
        truth : array-like, default=None
            The values that came. A pandas Series is matched by its index if the forecaster has
            one; other values follow the history.
        history : int, default=None
            How many values before the forecast are shown; None is four times the horizon, and
            40 at least.
        coverage : float or sequence of float, default=(0.5, 0.95)
            Probability inside each error band, noise included.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        target_name, time_name : str, default=None
            Axis labels; None takes the names of the series and of its index.

        Returns
        -------
        ForecastDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        if isinstance(forecaster, type) or not hasattr(forecaster, "predict_interval"):
            raise TypeError(f"forecaster must be a fitted Forecaster, got {forecaster!r}.")
        check_is_fitted(forecaster)
        check_choice("method", method, METHODS)
        shares = _shares(coverage)
        mean, lower, upper, ahead = _forecast(forecaster, horizon, X, method, shares)
        past = forecaster.y_
        shown = max(4 * len(mean), 40) if history is None else whole_number("history", history, 0)
        start = max(0, len(past) - shown)
        if forecaster.index_ is None:
            before, times = np.arange(len(past)), len(past) + np.arange(len(mean))
        else:
            before, times = _plain(forecaster.index_), _plain(ahead)
        names = (forecaster.name_, None if ahead is None else ahead.name)
        return cls(
            mean=mean,
            lower=lower,
            upper=upper,
            coverage=shares,
            history=past[start:],
            truth=None if truth is None else _matched(truth, ahead),
            times=times,
            history_times=before[start:],
            target_name=str(names[0] or "y") if target_name is None else target_name,
            time_name=str(names[1] or "") if time_name is None else time_name,
        ).plot(ax)


def _forecast(
    forecaster: Any, horizon: Any, X: Any, method: str, shares: list[float]
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray], Any]:
    """Mean, lower and upper limits for each coverage, and the index of pandas or None."""
    if method == "monte_carlo":  # mean and bands of the same paths
        paths = forecaster.simulate(horizon, _PATHS, X)
        ahead, values = getattr(paths, "columns", None), np.asarray(paths)
        mean = values.mean(axis=0)
        limits = [np.quantile(values, [0.5 - s / 2, 0.5 + s / 2], axis=0) for s in shares]
    else:
        mean = forecaster.predict(horizon, X, method=method)
        ahead, mean = getattr(mean, "index", None), np.asarray(mean)
        limits = [
            np.asarray(forecaster.predict_interval(horizon, share, X, method)) for share in shares
        ]
        if ahead is not None:  # columns of a DataFrame
            limits = [limit.T for limit in limits]
    return mean, [low for low, _ in limits], [high for _, high in limits], ahead


def _shares(coverage: Any) -> list[float]:
    """The probability inside each band."""
    several = isinstance(coverage, (list, tuple, np.ndarray)) and np.size(coverage)
    return [check_coverage(share) for share in (np.ravel(coverage) if several else [coverage])]


def _matched(truth: Any, ahead: Any) -> np.ndarray:
    """The values that came, at the times of the forecast, NaN where there are none."""
    if ahead is None or not hasattr(truth, "reindex"):
        return _vector("truth", truth)
    found = truth.squeeze(axis=1) if truth.ndim == 2 else truth
    values = found.reindex(ahead).to_numpy(dtype=float)
    if np.isnan(values).all():
        raise ValueError(
            f"truth has no value at the times of the forecast, {ahead[0]} to {ahead[-1]}; its "
            f"index goes from {truth.index[0]} to {truth.index[-1]}."
        )
    return values


def _plain(index: Any) -> np.ndarray:
    """An index of pandas as numbers or dates of numpy."""
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    if getattr(index, "tz", None) is not None:
        index = index.tz_localize(None)
    return index.to_numpy()


def _vector(name: str, values: Any) -> np.ndarray:
    return finite_array(name, values, gaps=True)


def _positions(name: str, times: Any, size: int, first: int) -> np.ndarray:
    """Where the values are drawn: numbers, or dates of numpy."""
    if times is None:
        return first + np.arange(size)
    array = _plain(times) if hasattr(times, "to_numpy") else np.asarray(times)
    if array.shape != (size,):
        of = "history" if name == "history_times" else "mean"
        raise ValueError(
            f"{name} must have one time for each of the {size} values of {of}, got {times!r}."
        )
    return array.astype("datetime64[us]") if array.dtype.kind in "OU" else array


def _shade(depth: float) -> tuple[float, ...]:
    """A blue that hides what is below, so that bands look as they do in the legend."""
    from matplotlib.colors import to_rgb

    weight = 0.22 + 0.4 * depth
    return tuple(1.0 - weight * (1.0 - part) for part in to_rgb(BLUE))


def _dated(ax: Any, x: np.ndarray) -> Any:
    """Axes whose labels of dates say no more than they must."""
    if x.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        ax.xaxis.update_units(x)
        locator = AutoDateLocator(minticks=4, maxticks=9)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    return ax
