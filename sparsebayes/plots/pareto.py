"""The display of a front of classifiers; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_switches, whole_number
from sparsebayes.pareto import ParetoClassifier
from sparsebayes.pareto.front import hull_area, roc_hull
from sparsebayes.plots._style import GREY, INK, axes

_MANY = 12  # kernels: above that the colours no longer count single ones


class ParetoDisplay:
    """A front of classifiers in a ROC diagram, coloured by the number of kernels.

    Rings are the classifiers with their rates on the training samples, which the evolution sought;
    dots are the same ones on other samples. The lines are the convex hulls of both, with the
    areas under them in the legend. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        Rates on the training samples.
    n_kernels : ndarray of int of shape (n_points,)
        How many kernels each classifier has.
    other_fpr, other_tpr : ndarray of shape (n_points,) or None
        Rates on other samples.
    other_name : str, default="held-out"
        What the other samples are.
    chosen : int or None, default=None
        A classifier to mark.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    train_, other_ : matplotlib PathCollection
        The rings and the dots; `other_` is None without other samples.
    hulls_ : list of matplotlib Line2D
    chosen_ : matplotlib Line2D or None
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    sparsebayes.ParetoClassifier : The front that is drawn.
    sparsebayes.pareto.hull_area : The area in the legend.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import ParetoClassifier
    >>> from sparsebayes.plots import ParetoDisplay
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = ParetoClassifier(n_evaluations=500, random_state=0).fit(X, y)
    >>> display = ParetoDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'false positive rate'
    """

    def __init__(
        self,
        *,
        fpr,
        tpr,
        n_kernels,
        other_fpr=None,
        other_tpr=None,
        other_name="held-out",
        chosen=None,
    ):
        self.fpr = finite_array("fpr", fpr)
        self.tpr = finite_array("tpr", tpr, self.fpr.shape, like="fpr")
        self.n_kernels = finite_array("n_kernels", n_kernels, self.fpr.shape, like="fpr").astype(
            int
        )
        if (other_fpr is None) != (other_tpr is None):
            raise ValueError(
                f"other_fpr and other_tpr belong together, got {other_fpr!r} and {other_tpr!r}."
            )
        given = other_fpr is not None
        self.other_fpr = finite_array("other_fpr", other_fpr, self.fpr.shape) if given else None
        self.other_tpr = finite_array("other_tpr", other_tpr, self.fpr.shape) if given else None
        self.other_name = other_name
        if chosen is not None and whole_number("chosen", chosen, 0) >= self.fpr.size:
            raise ValueError(f"chosen must be below {self.fpr.size}, got {chosen!r}.")
        self.chosen = chosen

    def plot(self, ax=None, *, colorbar=True):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        colorbar : bool, default=True
            Whether to draw the scale of the colours beside the axes.

        Returns
        -------
        ParetoDisplay
            This display, drawn.
        """
        check_switches(colorbar=colorbar)
        ax = axes(ax, "ParetoDisplay")
        ax.plot([0, 1], [0, 1], ":", color=GREY, linewidth=1, zorder=0)
        self.hulls_ = []
        scale = self._scale()
        colors = scale.to_rgba(self.n_kernels)
        self.train_ = ax.scatter(
            self.fpr, self.tpr, s=18, facecolors="none", edgecolors=colors, linewidths=0.8, zorder=2
        )
        style = {"color": GREY, "linestyle": "--", "markerfacecolor": "none"}
        keys = [self._draw_hull(ax, self.fpr, self.tpr, "training", **style)]
        self.other_ = None
        if self.other_fpr is not None:
            self.other_ = ax.scatter(self.other_fpr, self.other_tpr, s=14, color=colors, zorder=3)
            rates = self.other_fpr, self.other_tpr
            keys.append(self._draw_hull(ax, *rates, self.other_name, color=INK))
        self.chosen_ = self._mark(ax) if self.chosen is not None else None
        keys += [] if self.chosen_ is None else [self.chosen_]
        self.colorbar_ = self._draw_colorbar(ax, scale) if colorbar else None
        ax.set(
            xlabel="false positive rate",
            ylabel="true positive rate",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
        )
        ax.legend(handles=keys, loc="lower right", fontsize="small", framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _scale(self):
        """Colours of the numbers of kernels: one for each if they are few."""
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import BoundaryNorm, Normalize

        most = max(int(self.n_kernels.max()), 1)
        colors = colormaps["viridis_r"]
        if most > _MANY:
            return ScalarMappable(Normalize(0, most), colors)
        edges = np.arange(most + 2) - 0.5
        return ScalarMappable(BoundaryNorm(edges, colors.N), colors)

    def _draw_colorbar(self, ax, scale):
        most = int(self.n_kernels.max())
        ticks = np.arange(most + 1) if most <= _MANY else None
        bar = ax.figure.colorbar(scale, ax=ax, label="kernels", ticks=ticks)
        bar.minorticks_off()
        return bar

    def _draw_hull(self, ax, fpr, tpr, name, **style):
        """Draw a hull; the entry of the legend for it and its points."""
        from matplotlib.lines import Line2D

        label = f"{name}: area {hull_area(fpr, tpr):.3f}"
        self.hulls_ += ax.plot(*roc_hull(fpr, tpr).T, linewidth=1.2, zorder=1, **style)
        return Line2D([], [], marker="o", markersize=4.5, linewidth=1.2, label=label, **style)

    def _mark(self, ax):
        fpr, tpr = self.fpr, self.tpr
        if self.other_fpr is not None and self.other_tpr is not None:
            fpr, tpr = self.other_fpr, self.other_tpr
        kernels = self.n_kernels[self.chosen]
        (mark,) = ax.plot(
            fpr[self.chosen],
            tpr[self.chosen],
            "o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=INK,
            markeredgewidth=1.6,
            label=f"chosen: {kernels} kernel{'' if kernels == 1 else 's'}",
            zorder=4,
        )
        return mark

    @classmethod
    def from_estimator(
        cls, estimator, X=None, y=None, *, ax=None, chosen=None, colorbar=True, name=None
    ):
        """Draw the front of a fitted classifier.

        Parameters
        ----------
        estimator : ParetoClassifier
            A fitted one.
        X, y : array-like, default=None
            Samples to evaluate the front on; None takes the held-out ones of the fit.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        chosen : int or dict, default=None
            A classifier to mark: its index, or arguments of :meth:`ParetoClassifier.choose`.
        colorbar : bool, default=True
            Whether to draw the scale of the colours beside the axes.
        name : str, default=None
            What `X` is, for the legend; None is "new" for given samples, else "held-out".

        Returns
        -------
        ParetoDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        if not isinstance(estimator, ParetoClassifier):
            raise ValueError(
                "estimator: ParetoDisplay needs a ParetoClassifier, got "
                f"{type(estimator).__name__}."
            )
        check_is_fitted(estimator)
        if (X is None) != (y is None):
            raise ValueError(f"X and y belong together; {'X' if X is None else 'y'} is missing.")
        front = estimator.front_
        rates = (None, None)
        if X is not None:
            other = estimator.evaluate(X, y)
            rates = (other.fpr, other.tpr)
        elif estimator.counts_[1].all():
            rates = (front.held_out_fpr, front.held_out_tpr)
        if chosen is not None and not isinstance(chosen, dict):
            if whole_number("chosen", chosen, 0) >= len(front):
                raise ValueError(f"chosen must be below {len(front)}, got {chosen!r}.")
            chosen = {"point": chosen}
        if chosen is not None:
            chosen = estimator.choose(**chosen)
        return cls(
            fpr=front.fpr,
            tpr=front.tpr,
            n_kernels=front.n_kernels,
            other_fpr=rates[0],
            other_tpr=rates[1],
            other_name=("held-out" if X is None else "new") if name is None else str(name),
            chosen=chosen,
        ).plot(ax, colorbar=colorbar)
