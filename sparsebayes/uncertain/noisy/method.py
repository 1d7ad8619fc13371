"""What `NoisyInputGPR` asks of a method, and what a method gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.reporting import Reporter
from sparsebayes.uncertain.noisy.mixture import Process
from sparsebayes.uncertain.noisy.space import NoisyData, Space

Array = np.ndarray

DRAWN = ("samples_",)  # attributes that hold inputs


@dataclass(frozen=True, eq=False)
class Learned:
    """What a method has found.

    Attributes
    ----------
    space, vector : Space and ndarray
        What was learned, and how to read it.
    data : NoisyData
        With the variances that `vector` may have a factor of.
    inputs : ndarray, (N, D)
        Imputed inputs, the mean of sampled ones, or those observed.
    processes : list of Process
        To predict with, each of the same weight.
    path : ndarray
        The objective after each turn, or at each level.
    converged : bool
    remedy : str
        What to do if it has not converged.
    attributes : dict
        Further attributes of the regressor, which this method alone has.
    """

    space: Space
    vector: Array
    data: NoisyData
    inputs: Array
    processes: list[Process]
    path: Array
    converged: bool
    remedy: str
    attributes: dict[str, Any] = field(default_factory=dict)

    def moved(self, shift: Array) -> Learned:
        """The same for inputs that are this much larger."""
        drawn = {name: self.attributes[name] + shift for name in DRAWN if name in self.attributes}
        return replace(
            self,
            data=replace(self.data, X=self.data.X + shift),
            inputs=self.inputs + shift,
            processes=[replace(each, inputs=each.inputs + shift) for each in self.processes],
            attributes={**self.attributes, **drawn},
        )


class LearningMethod(GuidedMixin, BaseEstimator, ABC):
    """A way to learn from noisy inputs. Its parameters can be searched: ``method__max_iter``."""

    @abstractmethod
    def check(self) -> None:
        """Raise a clear error if a parameter is not what it should be."""

    @abstractmethod
    def learn(
        self,
        space: Space,
        data: NoisyData,
        variance: float,
        rng: np.random.Generator,
        reporter: Reporter,
    ) -> Learned:
        """Learn from noisy inputs.

        Parameters
        ----------
        space : Space
            What is free, and within which bounds.
        data : NoisyData
            The samples and the variances of their inputs.
        variance : float
            The variance of the targets.
        rng : Generator
            Draws whatever is random.
        reporter : Reporter
            Prints the progress.

        Returns
        -------
        Learned
            The hyperparameters, the inputs, and what is needed to predict.
        """
