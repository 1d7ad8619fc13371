"""The display of inclusion probabilities; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

import numpy as np

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes.plots._style import BLUE, GREY, ORANGE, axes
from sparsebayes.sampling import ClassificationSamples, PosteriorSamples


class InclusionDisplay:
    """How likely each function is in the model, along the basis.

    Functions of one input are drawn where they are centred, and a function without a centre, the
    bias, as a line across; otherwise functions are drawn by their numbers. Use
    :meth:`from_samples` to make one.

    Parameters
    ----------
    position : ndarray of shape (n_functions,)
        Where to draw each function; NaN for one that has no place.
    inclusion : ndarray of shape (n_functions,)
        Probabilities.
    optimum : ndarray of int
        The functions that an optimum of the evidence keeps.
    position_name : str, default="function"
        Label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    stems_ : matplotlib LineCollection
    heads_, optimum_ : matplotlib PathCollection
        The ends of the stems, and rings around those that the optimum keeps.
    lines_ : list of matplotlib Line2D
        The functions that have no place.

    See Also
    --------
    sparsebayes.sample_posterior : Draws the models that are counted.

    Examples
    --------
    >>> from sparsebayes import RVR, sample_posterior
    >>> from sparsebayes.datasets import make_sinc
    >>> from sparsebayes.plots import InclusionDisplay
    >>> X, y, _ = make_sinc(30, noise=0.1, random_state=0)
    >>> samples = sample_posterior(RVR(), X, y, n_samples=100, n_chains=1, random_state=0)
    >>> InclusionDisplay.from_samples(samples).ax_.get_xlabel()
    'x of the centre'
    """

    def __init__(self, *, position, inclusion, optimum, position_name="function"):
        self.position = finite_array("position", position, gaps=True)
        self.inclusion = finite_array("inclusion", inclusion, self.position.shape, like="position")
        self.optimum = finite_array("optimum", optimum).astype(int)
        self.position_name = position_name

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        InclusionDisplay
            This display, drawn.
        """
        ax = axes(ax, "InclusionDisplay")
        placed = np.isfinite(self.position)
        x, share = self.position[placed], self.inclusion[placed]
        kept = np.isin(np.arange(self.inclusion.size), self.optimum)
        self.stems_ = ax.vlines(x, 0.0, share, color=BLUE, linewidth=1.0, alpha=0.6, zorder=2)
        self.heads_ = ax.scatter(x, share, s=12, color=BLUE, zorder=3, label="functions")
        self.lines_ = [
            ax.axhline(
                self.inclusion[number],
                color=ORANGE if kept[number] else GREY,
                linestyle="--",
                linewidth=1.2,
                zorder=1,
                label=f"function {number}, without a centre",
            )
            for number in np.flatnonzero(~placed)
        ]
        rings = placed & kept
        self.optimum_ = ax.scatter(
            self.position[rings],
            self.inclusion[rings],
            s=70,
            facecolors="none",
            edgecolors=ORANGE,
            linewidths=1.6,
            zorder=4,
            label=f"kept by the optimum ({kept.sum()})",
        )
        ax.set(xlabel=self.position_name, ylabel="inclusion probability", ylim=(0.0, 1.05))
        # Above the axes: stems are everywhere within.
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, fontsize="small", frameon=False
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_samples(cls, samples, *, ax=None):
        """Draw the inclusion probabilities of posterior samples.

        Parameters
        ----------
        samples : PosteriorSamples or ClassificationSamples
            With more than two classes, how likely each function is in the model of any class.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        InclusionDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        if not isinstance(samples, (PosteriorSamples, ClassificationSamples)):
            raise TypeError(f"samples must be what sample_posterior() gives, got {samples!r}.")
        inclusion = samples.inclusion_of_any
        centers, total = samples.centers, inclusion.size
        position, name = np.arange(float(total)), "function"
        # More than one function without a centre would be a heap of lines.
        if centers is not None and np.isnan(centers).sum() <= min(1, total - 1):
            position = centers
            name = f"{getattr(samples.optimum, 'feature_names_in_', ['x'])[0]} of the centre"
        return cls(
            position=position,
            inclusion=inclusion,
            optimum=samples.optimum.relevance_,
            position_name=name,
        ).plot(ax)
