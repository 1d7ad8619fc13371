"""Picture of a regression: data, mean, interval, relevance vectors."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from sparsebayes._support.calibration import interval_width
from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_coverage, positive_number, whole_number
from sparsebayes.plots._style import BLUE, GREY, ORANGE, axes, check_fitted, mean_and_std

_PANEL = (6.4, 3.2)  # inches, width and height of one of several


class RegressionDisplay:
    """Data, mean, error band and relevance vectors of a regression on one input.

    Of several targets each has a panel. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    X : ndarray of shape (n_samples,)
        Inputs of the data shown.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    grid : ndarray of shape (n_grid,)
        Inputs of the curve.
    mean, std : ndarray of shape (n_grid,) or (n_grid, n_targets)
        Predictive mean and standard deviation (noise included) on the grid.
    relevance : ndarray of shape (n_relevant, 2) or (n_relevant, 1 + n_targets)
        Positions of the relevance vectors: the input, and the targets there.
    coverage : float
        Probability inside the error band.
    feature_name : str
        Label of the horizontal axis.
    target_name : str, or list of n_targets str
        Label of the vertical axis. Of several targets each has its own; a single str is numbered,
        as in "y0" and "y1".
    nu : float, default=None
        Degrees of freedom of predictions with Student's t distribution, which the error band then
        has too; `std` is where a standard deviation of a normal distribution would be, with 68 %
        inside. None is a normal distribution.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of n_targets Axes
        Here and below, with a second axis of `y` there is one for each target.
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D, or list of n_targets
        The mean.
    band_ : matplotlib PolyCollection, or list of n_targets
        The error band.
    data_, relevance_ : matplotlib PathCollection, or list of n_targets
        The data and the circles around relevance vectors.

    See Also
    --------
    sparsebayes.RVR : A regressor whose error bars are drawn.
    CalibrationDisplay : Whether the error bars are right.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.datasets import load_sensor
    >>> from sparsebayes.plots import RegressionDisplay
    >>> X, y = load_sensor().data, load_sensor().target
    >>> display = RegressionDisplay.from_estimator(RVR().fit(X, y), X, y)
    >>> display.line_.get_label()
    'mean'
    """

    def __init__(
        self,
        *,
        X,
        y,
        grid,
        mean,
        std,
        relevance,
        coverage,
        feature_name="x",
        target_name="y",
        nu=None,
    ):
        self.X = finite_array("X", X)
        self.grid = finite_array("grid", grid)
        targets = np.shape(mean)[1:] if np.ndim(mean) == 2 else ()
        self.mean = finite_array("mean", mean, (len(self.grid), *targets), like="grid")
        self.std = finite_array("std", std, self.mean.shape, like="mean")
        self.y = finite_array("y", y, (len(self.X), *targets), like="X and mean")
        self.relevance = finite_array("relevance", relevance, (None, 1 + (targets or (1,))[0]))
        self.coverage = check_coverage(coverage)
        self.feature_name = feature_name
        self.target_name = target_name
        normal = nu is None or (isinstance(nu, float) and nu == np.inf)
        self.nu = nu if normal else positive_number("nu", nu)

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, or array-like of n_targets Axes, default=None
            Where to draw; None is a new figure. Of several targets each takes Axes of its own, as
            from ``plt.subplots(n_targets, sharex=True)``.

        Returns
        -------
        RegressionDisplay
            This display, drawn.
        """
        if np.ndim(self.mean) == 1:
            ax = axes(ax, "RegressionDisplay")
            self.band_, self.data_, self.line_, self.relevance_ = self._draw(
                ax, self.y, self.mean, self.std, self.relevance
            )
            ax.set(xlabel=self.feature_name, ylabel=self.target_name)
            ax.legend()
            self.ax_, self.figure_ = ax, ax.figure
            return self
        names = _target_names(self.target_name, self.mean.shape[1])
        self.ax_ = _panels(ax, len(names))
        self.figure_ = self.ax_[0].figure
        self.band_, self.data_, self.line_, self.relevance_ = [], [], [], []
        for k, (panel, name) in enumerate(zip(self.ax_, names, strict=True)):
            drawn = self._draw(
                panel, self.y[:, k], self.mean[:, k], self.std[:, k], self.relevance[:, [0, k + 1]]
            )
            lists = (self.band_, self.data_, self.line_, self.relevance_)
            for one, kept in zip(drawn, lists, strict=True):
                kept.append(one)
            panel.set_ylabel(name)
            ticks = panel.xaxis.get_tick_params()
            if ticks["labelbottom"] or ticks["labeltop"]:  # else a panel below shares its inputs
                panel.set_xlabel(self.feature_name)
        self.ax_[0].legend()  # the others have the same
        return self

    def _draw(self, ax, y, mean, std, relevance):
        """Band, data, mean and relevance vectors of one target."""
        half = interval_width(self.coverage, self.nu) * std
        band = ax.fill_between(
            self.grid,
            mean - half,
            mean + half,
            color=BLUE,
            alpha=0.2,
            linewidth=0,
            label=f"{100 * self.coverage:g} % interval",
        )
        data = ax.scatter(self.X, y, s=12, color=GREY, label="data", zorder=2)
        (line,) = ax.plot(self.grid, mean, color=BLUE, label="mean", zorder=3)
        circles = ax.scatter(
            *relevance.T,
            s=90,
            facecolors="none",
            edgecolors=ORANGE,
            linewidths=1.8,
            label=f"relevance vectors ({len(relevance)})",
            zorder=4,
        )
        return band, data, line, circles

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        ax=None,
        coverage=0.95,
        n_grid=400,
        feature_name=None,
        target_name=None,
    ):
        """Draw a fitted regression on one input, with a panel for each of its targets.

        Parameters
        ----------
        estimator : RVR, or a Pipeline that ends in one
            The fitted model.
        X : array-like of shape (n_samples, 1)
            Inputs to show, the training inputs as a rule.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets, as many as the model was fitted to.
        ax : matplotlib Axes, or array-like of n_targets Axes, default=None
            Where to draw; None is a new figure, of as many panels as there are targets.
        coverage : float, default=0.95
            Probability inside the error band, which includes the noise.
        n_grid : int, default=400
            Number of points of the curve.
        feature_name : str, default=None
            Label of the horizontal axis; None takes the column name of `X` where it has one.
        target_name : str, or list of n_targets str, default=None
            Label of the vertical axis; None takes the name of `y`, or the names of its columns,
            where there are some. For several targets a single str is numbered.

        Returns
        -------
        RegressionDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        check_fitted(estimator)
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] != 1:
            raise ValueError(
                f"RegressionDisplay draws one input: X must have shape (n_samples, 1), got {shape}."
            )
        coverage, n_grid = check_coverage(coverage), whole_number("n_grid", n_grid, least=2)
        columns = getattr(X, "columns", None)
        if feature_name is None:
            feature_name = "x" if columns is None else str(columns[0])
        if target_name is None:
            target_name = _names_of(y)

        def like_fitted(values):  # a frame where the estimator was fitted with one
            return values if columns is None else type(X)(values, columns=columns)

        x, y = np.asarray(X, dtype=float)[:, 0], np.asarray(y, dtype=float)
        margin = 0.02 * np.ptp(x)
        grid = np.linspace(x.min() - margin, x.max() + margin, n_grid)
        mean, std = mean_and_std(estimator, like_fitted(grid[:, None]))
        if y.shape != (len(x), *mean.shape[1:]):
            targets = f"{mean.shape[1]} targets" if mean.ndim == 2 else "one target"
            raise ValueError(
                f"y must have shape {(len(x), *mean.shape[1:])} like X and the {targets} of the "
                f"fit, got {y.shape}."
            )
        return cls(
            X=x,
            y=y,
            grid=grid,
            mean=mean,
            std=std,
            relevance=_relevance_points(estimator, like_fitted(x[:, None]), x, y),
            coverage=coverage,
            feature_name=feature_name,
            target_name=target_name,
            nu=getattr(_last_step(estimator), "nu_", None),
        ).plot(ax)


def _last_step(estimator):
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _names_of(y):
    """The name of a series, or those of the columns of a frame; "y" if there are none."""
    columns = getattr(y, "columns", None)
    return str(getattr(y, "name", None) or "y") if columns is None else [str(c) for c in columns]


def _target_names(names, count):
    """One for each of several targets."""
    if isinstance(names, str):
        return [names] if count == 1 else [f"{names}{k}" for k in range(count)]
    if np.ndim(names) != 1 or len(names) != count:
        raise ValueError(
            f"target_name must be one name, or a list of {count}, one for each target, "
            f"got {names!r}."
        )
    return list(names)


def _panels(ax, count):
    """Axes for each of several targets, one above the other if they are new."""
    require("matplotlib", "RegressionDisplay")
    if ax is None:
        import matplotlib.pyplot as plt

        width, height = _PANEL
        size = (width, count * height)
        figure, ax = plt.subplots(
            count, squeeze=False, sharex=True, figsize=size, layout="constrained"
        )
        figure.align_ylabels(np.ravel(ax))
    elif np.size(ax) != count:
        raise ValueError(
            f"ax must be an array of {count} matplotlib Axes, one for each target, got {ax!r}; "
            f"plt.subplots({count}) makes them, and None makes a figure."
        )
    return np.ravel(ax)


def _relevance_points(estimator, X, x, y):
    """Positions (x, and y of each target) of the relevance vectors that are among the data."""
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
    vectors = getattr(_last_step(estimator), "relevance_vectors_", None)
    inputs, rows = np.asarray(X, dtype=float)[:, 0], []
    for vector in [] if vectors is None else np.asarray(vectors, dtype=float)[:, 0]:
        # Two relevance vectors at a repeated input are two samples there.
        rows += [i for i in np.flatnonzero(inputs == vector) if i not in rows][:1]
    return np.column_stack([x[rows], y[rows]])
