"""Picture of a model along each of its inputs."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array

from sparsebayes._rvm.input_range import input_range, training_range_of
from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import as_names, check_coverage, whole_number
from sparsebayes.plots._style import COLORS, check_axes, check_fitted

_COLUMNS = 3  # panels side by side
_PANEL = (4.2, 3.2)  # inches
_DASHES = ("-", "--", ":")  # where there are more outputs than colours


class EffectsDisplay:
    """The prediction along each input, while the other inputs stay where they are.

    A panel for each input: the mean with its interval, of a classifier the probability of each
    class. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    places : ndarray of shape (n_features, n_grid)
        Values of each input at which the model was asked.
    values : ndarray of shape (n_features, n_grid, n_outputs)
        Means, or probabilities.
    at : ndarray of shape (n_features,)
        Where the other inputs stay.
    outputs : list of str
        Names of targets or classes.
    feature_names : list of str
        Names of the inputs.
    lower, upper : ndarray of shape (n_features, n_grid, n_outputs), default=None
        Ends of the intervals, of a regression.
    ylabel : str, default="prediction"
        Label of the vertical axes.

    Attributes
    ----------
    axes_ : ndarray of Axes
        The panels.
    figure_ : matplotlib Figure
        The figure they are in.

    See Also
    --------
    RegressionDisplay : Data, mean and interval of a regression on one input.
    ClassificationDisplay : Probabilities of a classifier in the plane of two inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.plots import EffectsDisplay
    >>> X = np.random.default_rng(0).uniform(-3, 3, (60, 2))
    >>> model = RVR().fit(X, np.sin(X[:, 0]) + 0.1 * X[:, 1])
    >>> EffectsDisplay.from_estimator(model).axes_.shape
    (2,)
    """

    def __init__(
        self,
        *,
        places,
        values,
        at,
        outputs,
        feature_names,
        lower=None,
        upper=None,
        ylabel="prediction",
    ):
        self.places = finite_array("places", places, (None, None))
        self.outputs = as_names("outputs", outputs)
        shape = (*self.places.shape, len(self.outputs))
        self.values = finite_array("values", values, shape, like="places and outputs")
        if (lower is None) != (upper is None):
            raise ValueError(f"lower and upper belong together, got {lower!r} and {upper!r}.")
        self.lower = None if lower is None else finite_array("lower", lower, shape)
        self.upper = None if upper is None else finite_array("upper", upper, shape)
        self.at = finite_array("at", at, (len(self.places),))
        self.feature_names = as_names("feature_names", feature_names)
        if len(self.feature_names) != len(self.places):
            raise ValueError(
                f"feature_names must be {len(self.places)} names, got {feature_names!r}."
            )
        self.ylabel = ylabel

    def plot(self, axes=None):
        """Draw the display.

        Parameters
        ----------
        axes : array-like of n_features Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        EffectsDisplay
            This display, drawn.
        """
        require("matplotlib", "EffectsDisplay")
        count = len(self.places)
        self.axes_ = _panels(count) if axes is None else check_axes("axes", axes, count)
        self.figure_ = self.axes_[0].figure
        one = len(self.outputs) == 1
        for j, panel in enumerate(self.axes_):
            for k, name in enumerate(self.outputs):
                turn, number = divmod(k, len(COLORS))
                style = {"color": COLORS[number], "linestyle": _DASHES[turn % len(_DASHES)]}
                panel.plot(self.places[j], self.values[j, :, k], label=name, **style)
                if self.lower is not None and self.upper is not None:
                    ends = self.lower[j, :, k], self.upper[j, :, k]
                    shade = {"color": COLORS[number], "alpha": 0.2, "linewidth": 0}
                    panel.fill_between(self.places[j], *ends, **shade)
            panel.set_xlabel(self.feature_names[j])
            if count > 1:
                panel.axvline(self.at[j], color="0.7", linewidth=0.8, linestyle=":", zorder=0)
        lows, highs = zip(*(panel.get_ylim() for panel in self.axes_), strict=True)
        for panel in self.axes_:  # one scale, so that inputs can be compared
            panel.set_ylim(min(lows), max(highs))
        self.axes_[0].set_ylabel(self.outputs[0] if one else self.ylabel)
        if not one:
            self.axes_[0].legend()
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X=None,
        *,
        axes=None,
        coverage=0.95,
        n_grid=200,
        feature_names=None,
        target_names=None,
    ):
        """Draw a fitted model along each of its inputs.

        Parameters
        ----------
        estimator : RVR, RVC or ReducedRankGPR, or a Pipeline that ends in one
            The fitted model.
        X : array-like of shape (n_samples, n_features), default=None
            Rows whose ranges are drawn; the other inputs stay at their medians. None takes the
            range of the training data, and its middle.
        axes : array-like of n_features Axes, default=None
            Where to draw; None is a new figure.
        coverage : float, default=0.95
            Probability inside the interval, which includes the noise.
        n_grid : int, default=200
            Points of each curve.
        feature_names : list of str, default=None
            Names of the inputs; None takes the column names of `X`, or those of the fit.
        target_names : list of str, default=None
            Names of the targets of a regression.

        Returns
        -------
        display : EffectsDisplay
            The display, drawn.
        """
        require("matplotlib", cls.__name__)
        check_fitted(estimator)
        _check_model(estimator, X)
        n_grid, coverage = whole_number("n_grid", n_grid, least=2), check_coverage(coverage)
        if feature_names is None:
            found = getattr(X, "columns", getattr(estimator, "feature_names_in_", None))
            count = int(estimator.n_features_in_)
            feature_names = [f"x{j}" for j in range(count)] if found is None else list(found)
        if X is None:
            bounds = training_range_of(estimator)
            at = bounds.mean(axis=0)
        else:
            X = check_array(X, dtype=np.float64)
            bounds, at = input_range(X), np.median(X, axis=0)
        names = as_names("feature_names", feature_names)
        if len(names) != len(at):
            raise ValueError(
                f"feature_names must be {len(at)} names, one for each input, got {feature_names!r}."
            )
        places = np.linspace(bounds[0], bounds[1], n_grid).T
        rows = np.repeat(at[None], len(at) * n_grid, axis=0)
        for j, own in enumerate(places):
            rows[j * n_grid : (j + 1) * n_grid, j] = own
        if hasattr(estimator, "feature_names_in_"):
            pandas = require("pandas", "A model that was fitted to a table with column names")
            rows = pandas.DataFrame(rows, columns=estimator.feature_names_in_)
        shape = (len(at), n_grid, -1)
        common = {"places": places, "at": at, "feature_names": names}
        if is_classifier(estimator):
            values = np.reshape(estimator.predict_proba(rows), shape)
            outputs = [str(label) for label in estimator.classes_]
            if len(outputs) == 2:  # the other one says the same
                values, outputs = values[..., 1:], [f"probability of {outputs[1]}"]
            return cls(values=values, outputs=outputs, ylabel="probability", **common).plot(axes)
        final, inputs = estimator, rows
        if isinstance(estimator, Pipeline):
            final, inputs = estimator[-1], estimator[:-1].transform(rows)
        lower, upper = (
            np.reshape(end, shape) for end in final.predict_interval(inputs, coverage=coverage)
        )
        values = np.reshape(estimator.predict(rows), shape)
        count = values.shape[2]
        if target_names is None:
            target_names = ["prediction"] if count == 1 else [f"y{k}" for k in range(count)]
        outputs = as_names("target_names", target_names)
        if len(outputs) != count:
            raise ValueError(f"target_names must be {count} names, got {target_names!r}.")
        return cls(values=values, lower=lower, upper=upper, outputs=outputs, **common).plot(axes)


def _check_model(estimator, X):
    """A clear error for models without intervals, and for columns in another order."""
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(final, "predict_proba" if is_classifier(final) else "predict_interval"):
        raise TypeError(
            f"estimator is a {type(final).__name__}, and must be an RVR, RVC or ReducedRankGPR, or "
            "a Pipeline that ends in one; for others use "
            "sklearn.inspection.PartialDependenceDisplay."
        )
    columns, names = getattr(X, "columns", None), getattr(estimator, "feature_names_in_", None)
    if columns is not None and names is not None and list(columns) != list(names):
        raise ValueError(
            f"X must have the columns of the fit, {list(names)}, in their order, got "
            f"{list(columns)}; use X[model.feature_names_in_]."
        )


def _panels(count):
    """Axes of a new figure, side by side and below each other."""
    import matplotlib.pyplot as plt

    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    size = (_PANEL[0] * columns, _PANEL[1] * rows)
    _, panels = plt.subplots(rows, columns, figsize=size, layout="constrained")
    panels = np.ravel(panels)
    for unused in panels[count:]:
        unused.remove()
    return panels[:count]
