"""Picture of a regression: data, mean, interval, relevance vectors."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_coverage
from sparsebayes.plots._style import BLUE, GREY, ORANGE, axes


class RegressionDisplay:
    """Data, mean, error band and relevance vectors of a regression on one input.

    Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    X : ndarray of shape (n_samples,)
        Inputs of the data shown.
    y : ndarray of shape (n_samples,)
        Their targets.
    grid : ndarray of shape (n_grid,)
        Inputs of the curve.
    mean, std : ndarray of shape (n_grid,)
        Predictive mean and standard deviation (noise included) on the grid.
    relevance : ndarray of shape (n_relevant, 2)
        Positions of the relevance vectors.
    coverage : float
        Probability inside the error band.
    feature_name, target_name : str
        Axis labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The mean.
    band_ : matplotlib PolyCollection
        The error band.
    data_, relevance_ : matplotlib PathCollection
        The data and the circles around relevance vectors.

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
        self, *, X, y, grid, mean, std, relevance, coverage, feature_name="x", target_name="y"
    ):
        self.X = X
        self.y = y
        self.grid = grid
        self.mean = mean
        self.std = std
        self.relevance = relevance
        self.coverage = coverage
        self.feature_name = feature_name
        self.target_name = target_name

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        display : RegressionDisplay
        """
        ax = axes(ax, "RegressionDisplay")
        half = ndtri(0.5 + self.coverage / 2) * self.std
        self.band_ = ax.fill_between(
            self.grid,
            self.mean - half,
            self.mean + half,
            color=BLUE,
            alpha=0.2,
            linewidth=0,
            label=f"{100 * self.coverage:g} % interval",
        )
        self.data_ = ax.scatter(self.X, self.y, s=12, color=GREY, label="data", zorder=2)
        (self.line_,) = ax.plot(self.grid, self.mean, color=BLUE, label="mean", zorder=3)
        self.relevance_ = ax.scatter(
            *self.relevance.T,
            s=90,
            facecolors="none",
            edgecolors=ORANGE,
            linewidths=1.8,
            label=f"relevance vectors ({len(self.relevance)})",
            zorder=4,
        )
        ax.set(xlabel=self.feature_name, ylabel=self.target_name)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

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
        """Draw a fitted regression on one input.

        Parameters
        ----------
        estimator : RVR, or a Pipeline that ends in one
            The fitted model.
        X : array-like of shape (n_samples, 1)
            Inputs to show, the training inputs as a rule.
        y : array-like of shape (n_samples,)
            Their targets.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        coverage : float, default=0.95
            Probability inside the error band, which includes the noise.
        n_grid : int, default=400
            Number of points of the curve.
        feature_name, target_name : str, default=None
            Axis labels; None takes the column name of `X` and the name of `y` where they
            have one.

        Returns
        -------
        display : RegressionDisplay
        """
        require("matplotlib", cls.__name__)
        check_is_fitted(estimator)
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] != 1:
            raise ValueError(
                f"RegressionDisplay draws one input: X must have shape (n_samples, 1), got {shape}."
            )
        coverage = check_coverage(coverage)
        columns = getattr(X, "columns", None)
        if feature_name is None:
            feature_name = "x" if columns is None else str(columns[0])
        if target_name is None:
            target_name = str(getattr(y, "name", None) or "y")

        def like_fitted(values):  # a frame where the estimator was fitted with one
            return values if columns is None else type(X)(values, columns=columns)

        x, y = np.asarray(X, dtype=float)[:, 0], np.asarray(y, dtype=float)
        if y.shape != x.shape:
            raise ValueError(f"y must have shape {x.shape} like X, got {y.shape}.")
        margin = 0.02 * np.ptp(x)
        grid = np.linspace(x.min() - margin, x.max() + margin, n_grid)
        mean, std = estimator.predict(like_fitted(grid[:, None]), return_std=True)
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
        ).plot(ax)


def _relevance_points(estimator, X, x, y):
    """Positions (x, y) of the relevance vectors that are among the data shown."""
    if isinstance(estimator, Pipeline):
        model = estimator[-1]
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
    else:
        model = estimator
    vectors = getattr(model, "relevance_vectors_", None)
    if vectors is None or len(vectors) == 0:
        return np.empty((0, 2))
    inputs, rows = np.asarray(X, dtype=float)[:, 0], []
    for vector in np.asarray(vectors, dtype=float)[:, 0]:
        # Two relevance vectors at a repeated input are two samples there.
        rows += [i for i in np.flatnonzero(inputs == vector) if i not in rows][:1]
    return np.column_stack([x[rows], y[rows]])
