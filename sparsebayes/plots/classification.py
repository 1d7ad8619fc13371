"""The display of a classifier; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import zoom
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import as_names, check_switches, finite_number, whole_number
from sparsebayes.plots._style import COLORS, GREY, INK, MARKERS, axes, check_fitted

_PALEST, _DARKEST = 0.03, 0.5  # how much colour the surface has at even and at sure odds
_WIDEST = 1e6  # margin, in ranges of the data
_STEP = 0.1  # of probability, from one shade to the next
_FINER = 5  # by how much the grid is refined before classes are compared


def _mixed(color, amount):
    """White with some of a colour."""
    from matplotlib.colors import to_rgb

    return tuple(1.0 - amount * (1.0 - np.array(to_rgb(color))))


def _finer(values):
    """Values on a grid, interpolated linearly to a finer one."""
    factor = [((n - 1) * _FINER + 1) / n for n in values.shape[:2]]
    return zoom(values, [*factor, *[1] * (values.ndim - 2)], order=1)


def _boundary(ax, xx0, xx1, lead):
    return ax.contour(xx0, xx1, lead, [0.0], colors=INK, linewidths=1.6, linestyles="-", zorder=1)


class ClassificationDisplay:
    """Class probabilities, decision boundary, data and relevance vectors on two inputs.

    With two classes the colour is the probability of the second. With more it is the most probable
    class, and the shade its probability. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (n_grid, n_grid)
        Inputs of the surface, as :func:`numpy.meshgrid` makes them.
    probability : ndarray of shape (n_grid, n_grid, n_classes)
        Class probabilities there.
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    X : ndarray of shape (n_samples, 2)
        Inputs of the data shown.
    y : ndarray of shape (n_samples,) or None
        Their labels.
    relevance : ndarray of shape (n_relevant, 2)
        Positions of the relevance vectors.
    feature_names : tuple of two str
        Axis labels.
    target_name : str or None
        Title of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    surface_ : list of matplotlib ContourSet
        The filled contours of probability: one set for two classes, else one for each class that
        is the most probable somewhere.
    boundary_ : list of matplotlib ContourSet
        Where two classes are the most probable.
    data_ : list of matplotlib PathCollection
        The data, one collection for each class.
    relevance_ : matplotlib PathCollection
        The circles around relevance vectors.
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    sparsebayes.RVC : A classifier whose probabilities are drawn.
    RegressionDisplay : The same for regressions.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import RVC
    >>> from sparsebayes.plots import ClassificationDisplay
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> display = ClassificationDisplay.from_estimator(RVC().fit(X, y), X, y)
    >>> display.probability.shape
    (100, 100, 2)
    """

    def __init__(
        self,
        *,
        xx0,
        xx1,
        probability,
        classes,
        X,
        y,
        relevance,
        feature_names=("x0", "x1"),
        target_name=None,
    ):
        self.xx0 = finite_array("xx0", xx0, (None, None))
        self.xx1 = finite_array("xx1", xx1, self.xx0.shape, like="xx0")
        self.classes = np.asarray(classes)
        if self.classes.ndim != 1 or self.classes.size < 2:
            raise ValueError(f"classes must be two labels or more, got {classes!r}.")
        shape = (*self.xx0.shape, self.classes.size)
        self.probability = finite_array("probability", probability, shape, like="xx0 and classes")
        self.X = finite_array("X", X, (None, 2))
        self.y = None if y is None else np.asarray(y)
        if self.y is not None and self.y.shape != (len(self.X),):
            raise ValueError(f"y must be a label for each of the {len(self.X)} rows, got {y!r}.")
        self.relevance = finite_array("relevance", relevance, (None, 2))
        self.feature_names = as_names("feature_names", feature_names)
        if len(self.feature_names) != 2:
            raise ValueError(f"feature_names must be two names, got {feature_names!r}.")
        self.target_name = None if target_name is None else str(target_name)

    def plot(self, ax=None, *, colorbar=True):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        colorbar : bool, default=True
            Whether to draw the scale of the probabilities beside the axes.

        Returns
        -------
        ClassificationDisplay
            This display, drawn.
        """
        check_switches(colorbar=colorbar)
        ax = axes(ax, "ClassificationDisplay")
        if len(self.classes) == 2:
            scale, label = self._draw_two(ax), f"probability of class {self.classes[1]}"
        else:
            scale, label = self._draw_many(ax), "probability of the most probable class"
        self._draw_data(ax)
        self.relevance_ = ax.scatter(
            *self.relevance.T,
            s=95,
            facecolors="none",
            edgecolors=INK,
            linewidths=1.5,
            label=f"relevance vectors ({len(self.relevance)})",
            zorder=4,
        )
        self.colorbar_ = ax.figure.colorbar(scale, ax=ax, label=label) if colorbar else None
        ax.set(
            xlabel=self.feature_names[0],
            ylabel=self.feature_names[1],
            xlim=(self.xx0.min(), self.xx0.max()),
            ylim=(self.xx1.min(), self.xx1.max()),
        )
        ax.legend(title=self.target_name, framealpha=0.9, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_two(self, ax):
        """Shades of the probability of the second class; what a colour bar shows."""
        from matplotlib.colors import LinearSegmentedColormap

        ends = [_mixed(color, _DARKEST) for color in COLORS[:2]]
        colors = LinearSegmentedColormap.from_list("classes", [ends[0], _mixed(INK, 0.01), ends[1]])
        levels = np.linspace(0.0, 1.0, round(1.0 / _STEP) + 1)
        p = np.clip(self.probability[..., 1], 0.0, 1.0)
        self.surface_ = [
            ax.contourf(self.xx0, self.xx1, p, levels, cmap=colors, vmin=0.0, vmax=1.0, zorder=0)
        ]
        self.boundary_ = []
        if p.min() < 0.5 < p.max():
            self.boundary_ = [_boundary(ax, self.xx0, self.xx1, p - 0.5)]
        return self.surface_[0]

    def _draw_many(self, ax):
        """Each class in its own colour where it leads, shaded by its probability."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import BoundaryNorm, ListedColormap

        even = 1.0 / len(self.classes)
        levels = np.arange(np.floor(even / _STEP + 1e-9), round(1.0 / _STEP) + 1) * _STEP
        shades = np.linspace(_PALEST, _DARKEST, len(levels) - 1)
        # A maximum over classes has kinks, which contours at the grid's own step would show.
        xx0, xx1, probability = map(_finer, (self.xx0, self.xx1, self.probability))
        self.surface_, self.boundary_ = [], []
        for k in range(len(self.classes)):
            p = probability[..., k]
            lead = p - np.delete(probability, k, axis=-1).max(axis=-1)
            if lead.max() <= 0:
                continue
            colors = [_mixed(COLORS[k % len(COLORS)], shade) for shade in shades]
            p = np.clip(p, levels[0], 1.0)  # rounding may lead out of the levels
            surface = ax.contourf(xx0, xx1, p, levels, colors=colors, zorder=0)
            if lead.min() < 0:
                region = ax.contourf(xx0, xx1, lead, [0.0, 2.0])
                surface.set_clip_path(region.get_paths()[0], ax.transData)
                region.remove()
                self.boundary_.append(_boundary(ax, xx0, xx1, lead))
            self.surface_.append(surface)
        greys = ListedColormap([_mixed(INK, shade) for shade in shades])
        return ScalarMappable(BoundaryNorm(levels, greys.N), greys)

    def _draw_data(self, ax):
        if self.y is None:
            self.data_ = [ax.scatter(*self.X.T, s=16, color=GREY, label="data", zorder=3)]
            return
        self.data_ = [
            ax.scatter(
                *self.X[self.y == label].T,
                s=26,
                color=COLORS[k % len(COLORS)],
                marker=MARKERS[k % len(MARKERS)],
                edgecolors="white",
                linewidths=0.6,
                label=str(label),
                zorder=3,
            )
            for k, label in enumerate(self.classes)
        ]

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y=None,
        *,
        ax=None,
        grid_resolution=100,
        margin=0.08,
        colorbar=True,
        feature_names=None,
        target_name=None,
    ):
        """Draw a fitted classifier on two inputs.

        Parameters
        ----------
        estimator : RVC, or a Pipeline that ends in one
            The fitted model. Any other classifier with `predict_proba` is drawn without
            relevance vectors.
        X : array-like of shape (n_samples, 2)
            Inputs to show, the training inputs as a rule.
        y : array-like of shape (n_samples,), default=None
            Their labels; None shows the inputs without classes.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        grid_resolution : int, default=100
            Number of points of the surface along each input.
        margin : float, default=0.08
            How far the surface reaches beyond the data, as a part of their range.
        colorbar : bool, default=True
            Whether to draw the scale of the probabilities beside the axes.
        feature_names : pair of str, default=None
            Axis labels; None takes the column names of `X` where it has them.
        target_name : str, default=None
            Title of the legend; None takes the name of `y` where it has one.

        Returns
        -------
        ClassificationDisplay
            The figure: axes and what was drawn.

        Notes
        -----
        The relevance vectors of a Pipeline are circled where they are among the rows of `X`: there
        alone their place in the units of `X` is known.
        """
        require("matplotlib", cls.__name__)
        check_fitted(estimator)
        if not (is_classifier(estimator) and hasattr(estimator, "predict_proba")):
            raise ValueError(
                "estimator: ClassificationDisplay needs a classifier with predict_proba, "
                f"got {type(estimator).__name__}."
            )
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] != 2:
            raise ValueError(
                "ClassificationDisplay draws two inputs: X must have shape (n_samples, 2), "
                f"got {shape}."
            )
        grid_resolution = whole_number("grid_resolution", grid_resolution, least=2)
        margin = finite_number("margin", margin, 0.0, _WIDEST)
        columns = getattr(X, "columns", None)
        if feature_names is None:
            feature_names = ("x0", "x1") if columns is None else tuple(map(str, columns))
        elif len(as_names("feature_names", feature_names)) != 2:
            raise ValueError(f"feature_names must be two names, got {feature_names!r}.")
        if target_name is None:
            target_name = getattr(y, "name", None)

        def like_fitted(values):  # a frame where the estimator was fitted with one
            return values if columns is None else type(X)(values, columns=columns)

        inputs = check_array(X, dtype=float)
        classes = np.asarray(estimator.classes_)
        xx0, xx1 = np.meshgrid(*(_reach(x, margin, grid_resolution) for x in inputs.T))
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        probability = estimator.predict_proba(like_fitted(grid))
        return cls(
            xx0=xx0,
            xx1=xx1,
            probability=probability.reshape(*xx0.shape, len(classes)),
            classes=classes,
            X=inputs,
            y=None if y is None else _labels(y, classes, len(inputs)),
            relevance=_relevance_points(estimator, like_fitted(inputs), inputs),
            feature_names=tuple(map(str, feature_names)),
            target_name=None if target_name is None else str(target_name),
        ).plot(ax, colorbar=colorbar)


def _reach(values, margin, n):
    """Grid points over the range of some values, and a little more."""
    low, high = values.min(), values.max()
    more = margin * (high - low) if high > low else 0.5
    return np.linspace(low - more, high + more, n)


def _labels(y, classes, n_samples):
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(f"y must have shape {(n_samples,)} like X, got {labels.shape}.")
    strange = sorted({str(label) for label in labels[~np.isin(labels, classes)]})
    if strange:
        raise ValueError(
            f"y holds labels that the estimator does not know: {', '.join(strange[:5])}; "
            f"its classes are {', '.join(map(str, classes))}."
        )
    return labels


def _relevance_points(estimator, X, inputs):
    """Positions of the relevance vectors in the units of `inputs`, as far as they are known."""
    estimator = getattr(estimator, "best_estimator_", estimator)  # of a search
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    vectors = getattr(model, "relevance_vectors_", None)
    if vectors is None or len(vectors) == 0:
        return np.empty((0, 2))
    if model is estimator or len(estimator) == 1:
        return np.asarray(vectors, dtype=float)
    seen = np.asarray(estimator[:-1].transform(X), dtype=float)
    hits = (np.flatnonzero((seen == vector).all(axis=1)) for vector in vectors)
    return inputs[[rows[0] for rows in hits if rows.size]]
