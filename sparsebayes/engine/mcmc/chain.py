"""What samplers share: where a chain is, and draws that follow a density in steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sparsebayes.engine.mcmc.posterior import SparsePosterior

Array = np.ndarray


class Chain(ABC):
    """Where a chain is; `sweep` moves it, and `warm` before its states count.

    Attributes
    ----------
    active_set : ActiveSet
        The functions in the model, and their x.
    beta : float
    """

    def __init__(self, posterior: SparsePosterior, rng: np.random.Generator) -> None:
        self.posterior, self.rng = posterior, rng
        self.active_set = posterior.active_set()
        self.beta = posterior.first_beta

    def start(self, active: Array, x: Array, beta: float) -> None:
        """Begin at this state; x is moved into the slab."""
        self.active_set.set(active, np.clip(x, *self.posterior.slab.ends))
        if self.posterior.noise.fixed is None:
            self.beta = beta

    @abstractmethod
    def sweep(self) -> None:
        """Move on; the active set is fresh after it."""

    def warm(self) -> None:
        """A sweep that is no draw, from which a sampler may learn how to move."""
        self.sweep()

    def _accept(self, log_ratio: float) -> bool:
        return bool(np.log(1.0 - self.rng.random()) < log_ratio)


class Cells:
    """Draws of x that follow a density in steps: constant in each of K equal parts of an interval.

    It is never the very density that is wanted, so whoever uses it accepts or rejects with the
    ratio of the two; with narrow cells next to nothing is rejected.
    """

    def __init__(self, low: float, high: float, width: float = 1.0) -> None:
        self.count = max(1, int(np.ceil((high - low) / width)))
        self.low = low
        self.width = (high - low) / self.count
        self.centres = low + self.width * (np.arange(self.count) + 0.5)
        self.log_width = float(np.log(self.width)) if self.width > 0 else 0.0

    def cell(self, x: float) -> int:
        if self.width == 0:
            return 0
        return min(max(int((x - self.low) / self.width), 0), self.count - 1)

    def within(self, cell: int, rng: np.random.Generator) -> float:
        """A place in a cell, all equally likely."""
        return self.low + self.width * (cell + rng.random())


def pick(weights: Array, rng: np.random.Generator) -> int:
    """A number drawn with these weights."""
    total = np.cumsum(weights)
    return int(np.searchsorted(total[:-1], rng.random() * total[-1], side="right"))
