"""Picture of the evidence along a fit."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes.plots._style import BLUE, ORANGE, axes, check_fitted


class EvidenceDisplay:
    """The objective of a fit, step by accepted step.

    Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    path : ndarray of shape (n_iter,)
        Objective after each accepted step, in nats.
    label : str, default="log evidence"
        Name of the objective.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The path.
    best_ : matplotlib PathCollection
        Its highest point.

    See Also
    --------
    sparsebayes.RVR : Its `evidence_path_` is drawn.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.datasets import make_sinc
    >>> from sparsebayes.plots import EvidenceDisplay
    >>> X, y, _ = make_sinc(random_state=0)
    >>> EvidenceDisplay.from_estimator(RVR().fit(X, y)).ax_.get_xlabel()
    'accepted step'
    """

    def __init__(self, *, path, label="log evidence"):
        self.path = finite_array("path", path, gaps=True)
        if np.isnan(self.path).all():
            raise ValueError(f"path must have a value, got {path!r}.")
        self.label = label

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        EvidenceDisplay
            This display, drawn.
        """
        ax = axes(ax, "EvidenceDisplay")
        steps = np.arange(1, len(self.path) + 1)
        best = int(np.nanargmax(self.path))
        (self.line_,) = ax.plot(steps, self.path, color=BLUE, marker=".", markersize=4)
        self.best_ = ax.scatter(
            steps[best],
            self.path[best],
            s=60,
            facecolors="none",
            edgecolors=ORANGE,
            linewidths=1.8,
            zorder=3,
            label=f"best: {self.path[best]:.6g} at step {steps[best]}",
        )
        ax.set(xlabel="accepted step", ylabel=f"{self.label} (nats)")
        ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the evidence path of a fitted model.

        Parameters
        ----------
        estimator : RVR or RVC, or a Pipeline that ends in one
            The fitted model.
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        EvidenceDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        check_fitted(estimator, "evidence_path_")
        model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        path = np.asarray(model.evidence_path_, dtype=float)
        if path.size == 0:
            raise ValueError("The estimator has an empty evidence_path_: there is nothing to draw.")
        flat = getattr(model, "prior", "flat") == "flat"
        label = "log evidence" if flat else "log evidence + log prior"
        return cls(path=path, label=label).plot(ax)
