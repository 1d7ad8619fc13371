"""The regression tasks: a training set, test points and the noise-free function there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_friedman1

from sparsebayes.datasets import make_sinc

Array = np.ndarray
N_TEST = 1000


@dataclass(frozen=True)
class Task:
    """One data set and the width of the kernel ``exp(-gamma ‖x − z‖²)``."""

    name: str
    seed: int
    gamma: float
    X: Array
    y: Array
    X_test: Array
    f_test: Array

    @property
    def offset(self) -> float:
        """The mean of the targets, for models that do not centre them."""
        return float(self.y.mean())

    @property
    def centred(self) -> Array:
        """The targets without their mean."""
        return self.y - self.offset


def sinc(n_samples: int = 100, seed: int = 0) -> Task:
    """``sin(x)/x`` with noise 0.1; T01's width r = 3 is gamma = 1/r²."""
    X, y, _ = make_sinc(n_samples, noise=0.1, random_state=seed)
    X_test, _, f_test = make_sinc(N_TEST, noise=0.0)
    return Task(f"sinc {n_samples}", seed, 1.0 / 9.0, X, y, X_test, f_test)


def friedman(n_samples: int, gamma: float = 0.1, seed: int = 0) -> Task:
    """Friedman #1 with noise 1, inputs standardised by the training set.

    The data are scikit-learn's, with random_state = seed + 1; the test points those of 1000 + seed.
    """
    X, y = make_friedman1(n_samples, noise=1.0, random_state=seed + 1)
    X_test, f_test = make_friedman1(N_TEST, noise=0.0, random_state=1000 + seed)
    mean, std = X.mean(axis=0), X.std(axis=0)
    name = f"Friedman #1 {n_samples}"
    return Task(name, seed, gamma, (X - mean) / std, y, (X_test - mean) / std, f_test)
