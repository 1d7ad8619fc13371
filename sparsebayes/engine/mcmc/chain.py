"""What samplers share: where a chain is, and draws that follow a density in steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.products import Products

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Draw:
    """A state after a sweep.

    Attributes
    ----------
    index, x, means, weights : ndarray
        Active functions, log(α/g), and the weights in the units of the functions as they were
        given: their conditional means, and a draw of them.
    beta, log_density : float
        Noise precision, and the log density of data and state.
    """

    index: Array
    x: Array
    means: Array
    weights: Array
    beta: float
    log_density: float


class ModelSampler(ABC):
    """What moves, and what is drawn of it."""

    @abstractmethod
    def sweep(self) -> None:
        """Move on."""

    def warm(self) -> None:
        """A sweep that is no draw, from which a sampler may learn how to move."""
        self.sweep()

    @abstractmethod
    def draw(self) -> Draw:
        """The state after a sweep."""

    @property
    @abstractmethod
    def status(self) -> str:
        """The state in a few words."""


class Chain(ModelSampler):
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

    def observe(self, products: Products) -> None:
        """Stay at this state, given other data about the same functions."""
        self.active_set.observe(products)

    @abstractmethod
    def sweep(self) -> None:
        """Move on; the active set is fresh after it."""

    def draw_weights(self) -> Array:
        """Weights of the scaled functions given the active set, x and β, (S,)."""
        normal = self.rng.standard_normal(self.active_set.size)
        return self.active_set.mean + self.active_set.root @ normal / np.sqrt(self.beta)

    def draw(self) -> Draw:
        posterior, active_set = self.posterior, self.active_set
        units = np.sqrt(posterior.norms[active_set.active])
        return Draw(
            active_set.active.copy(),
            active_set.x.copy(),
            active_set.mean / units,
            self.draw_weights() / units,
            self.beta,
            posterior.log_joint(active_set, self.beta),
        )

    @property
    def status(self) -> str:
        return f"functions {self.active_set.size}  noise variance {1.0 / self.beta:.3g}"

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
