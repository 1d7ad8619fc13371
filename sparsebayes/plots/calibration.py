"""The display of a regression's calibration; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr
from scipy.stats import binom
from sklearn.base import is_regressor

from sparsebayes._support.calibration import normal_width
from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_coverage, positive_number, whole_number
from sparsebayes.plots._style import BLUE, GREY, INK, check_axes, check_fitted, mean_and_std
from sparsebayes.scores import pit_values

_GRID = np.linspace(0.01, 0.99, 99)  # nominal coverages of the curve


class CalibrationDisplay:
    """Whether the predictive distributions of a regression are right.

    On the left the histogram of the PIT values (the predicted distribution function at each
    target), which is flat for right predictions: high ends mean that the predicted standard
    deviations are too small, a hump in the middle that they are too large. On the right the share
    of targets inside the central intervals, against the probability that the intervals claim.
    The grey bands hold what chance leaves of right predictions, point by point.

    For classifiers there is :class:`sklearn.calibration.CalibrationDisplay`, which compares class
    probabilities with shares. Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    pit : ndarray of shape (n_samples,)
        PIT values, as of :func:`sparsebayes.scores.pit_values`.
    n_bins : int, default=10
        Bins of the histogram.
    band : float, default=0.95
        Probability inside the bands.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        The histogram and the coverage curve.
    figure_ : matplotlib Figure
    histogram_ : matplotlib BarContainer
    line_ : matplotlib Line2D
        The coverage curve.
    bands_ : list of two matplotlib PolyCollection
        What is expected of right predictions.

    See Also
    --------
    sparsebayes.scores.interval_coverage : The coverage of one interval, as a number.
    sparsebayes.scores.pit_values : The values behind the figure.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.datasets import make_sinc
    >>> from sparsebayes.plots import CalibrationDisplay
    >>> X, y, _ = make_sinc(200, random_state=0)
    >>> model = RVR().fit(X[::2], y[::2])
    >>> display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.pit.shape
    (100,)
    """

    def __init__(self, *, pit, n_bins=10, band=0.95, name=None):
        self.pit = finite_array("pit", pit)
        if not self.pit.size:
            raise ValueError(f"pit must be some values, got {pit!r}.")
        self.n_bins = whole_number("n_bins", n_bins)
        self.band = check_coverage(band, "band")
        self.name = None if name is None else str(name)

    def plot(self, axes=None):
        """Draw the display.

        Parameters
        ----------
        axes : pair of matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        CalibrationDisplay
            This display, drawn.
        """
        require("matplotlib", "CalibrationDisplay")
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        self.axes_ = check_axes("axes", axes, 2)
        self.figure_ = self.axes_[0].figure
        self.bands_ = []
        self._draw_histogram(self.axes_[0])
        self._draw_coverage(self.axes_[1])
        return self

    def _limits(self, probability):
        """The central interval of the shares that chance leaves of a probability."""
        tail = (1.0 - self.band) / 2
        number = self.pit.size
        return [binom.ppf(q, number, probability) / number for q in (tail, 1.0 - tail)]

    def _label(self):
        return f"{100 * self.band:g} % of right predictions"

    def _draw_histogram(self, ax):
        counts, edges = np.histogram(self.pit, self.n_bins, (0.0, 1.0))
        low, high = self._limits(1.0 / self.n_bins)
        self.histogram_ = ax.bar(
            edges[:-1],
            counts / self.pit.size * self.n_bins,
            width=1.0 / self.n_bins,
            align="edge",
            color=BLUE,
            alpha=0.75,
            edgecolor="white",
            label=self.name or "observed",
            zorder=1,
        )
        self.bands_.append(
            ax.fill_between(
                [0.0, 1.0],
                low * self.n_bins,
                high * self.n_bins,
                color=GREY,
                alpha=0.35,
                linewidth=0,
                label=self._label(),
                zorder=2,
            )
        )
        ax.axhline(1.0, color=INK, linestyle="--", linewidth=1.0, zorder=3)
        top = max(high, counts.max() / self.pit.size) * self.n_bins
        # Room for the legend above the bars.
        ax.set(xlabel="PIT value", ylabel="density", xlim=(0, 1), ylim=(0, 1.25 * top))
        ax.legend(loc="upper center", ncols=2, fontsize="small", frameon=False)

    def _draw_coverage(self, ax):
        # A target lies in the interval of coverage p if its PIT is within p/2 of one half.
        needed = np.sort(np.abs(2.0 * self.pit - 1.0))
        observed = np.searchsorted(needed, _GRID, side="right") / needed.size
        self.bands_.append(
            ax.fill_between(
                _GRID,
                *self._limits(_GRID),
                color=GREY,
                alpha=0.3,
                linewidth=0,
                label=self._label(),
            )
        )
        ax.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1.0)
        name = self.name or "observed"
        (self.line_,) = ax.plot(_GRID, observed, color=BLUE, label=f"{name} (n = {needed.size})")
        ax.set(
            xlabel="nominal coverage",
            ylabel="observed coverage",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
        )
        ax.legend(loc="upper left", fontsize="small", frameon=False)

    @classmethod
    def from_estimator(cls, estimator, X, y, *, axes=None, n_bins=10, band=0.95, name=None):
        """Draw the calibration of a fitted regression on data it was not fitted to.

        Parameters
        ----------
        estimator : RVR, or another regression whose `predict` has ``return_std``, or a Pipeline
            The fitted model.
        X : array-like of shape (n_samples, n_features)
            Inputs, of a test set as a rule.
        y : array-like of shape (n_samples,)
            Their targets.
        axes : pair of matplotlib Axes, default=None
            Where to draw; None is a new figure.
        n_bins : int, default=10
            Bins of the histogram.
        band : float, default=0.95
            Probability inside the bands.
        name : str, default=None
            Name of the model in the legend; None is that of its class.

        Returns
        -------
        CalibrationDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        check_fitted(estimator)
        if not is_regressor(estimator):
            raise ValueError(
                f"estimator must be a regression, got {estimator!r}; for a classifier use "
                "sklearn.calibration.CalibrationDisplay."
            )
        mean, std = mean_and_std(estimator, X)
        _check_one_target("estimator", mean)
        model = estimator[-1] if hasattr(estimator, "steps") else estimator
        if name is None:
            name = type(model).__name__
        nu = getattr(model, "nu_", None)
        return cls.from_predictions(
            y, mean, std, nu=nu, axes=axes, n_bins=n_bins, band=band, name=name
        )

    @classmethod
    def from_predictions(cls, y, mean, std, *, nu=None, axes=None, n_bins=10, band=0.95, name=None):
        """Draw the calibration of Gaussian predictions, or of Student's t.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Targets.
        mean, std : array-like of shape (n_samples,)
            Mean and standard deviation of the predictions, the noise included.
        nu : float, default=None
            Degrees of freedom of Student's t; `std` is then where a standard deviation of a normal
            distribution would be, with 68 % inside. None is a normal distribution.
        axes : pair of matplotlib Axes, default=None
            Where to draw; None is a new figure.
        n_bins : int, default=10
            Bins of the histogram.
        band : float, default=0.95
            Probability inside the bands.
        name : str, default=None
            Name of the model in the legend.

        Returns
        -------
        CalibrationDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        for argument, values in (("y", y), ("mean", mean)):
            _check_one_target(argument, values)
        pit = pit_values(y, mean, std)
        if nu is not None and not (isinstance(nu, float) and nu == np.inf):
            nu = positive_number("nu", nu)
            y, mean, std = (np.ravel(one).astype(np.float64) for one in (y, mean, std))
            pit = stdtr(nu, normal_width(nu) * (y - mean) / std)
        return cls(pit=pit, n_bins=n_bins, band=band, name=name).plot(axes)


def _check_one_target(argument, values):
    """Values of one target, or an error that says how to draw one of several."""
    shape = np.shape(values)
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"CalibrationDisplay draws one target, got {argument} with {shape[1]}; choose one, k, "
            "with from_predictions(y[:, k], mean[:, k], std[:, k]), where mean, std = "
            "estimator.predict(X, return_std=True)."
        )
