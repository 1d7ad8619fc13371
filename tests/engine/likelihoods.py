"""Likelihoods of several outputs that the engine does not know: no part of it may need to."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from sparsebayes.engine.model.sites import SiteExpansion


@dataclass(frozen=True)
class IndependentLogits:
    """Several labels ±1 of each sample, (N, K), independent of each other given f."""

    labels: np.ndarray
    weights: np.ndarray
    cavity = "none"

    @property
    def outputs(self):
        return self.labels.shape[1]

    def expand(self, f, cavity):
        return _IndependentExpansion(self, f)

    def plain(self, rows):
        return IndependentLogits(self.labels[rows], self.weights[rows])


class _IndependentExpansion(SiteExpansion):
    """The blocks of B are diagonal."""

    def __init__(self, sites, f):
        margin, weights = sites.labels * f, sites.weights[:, None]
        right, wrong = expit(margin), expit(-margin)
        self.value = float((weights * log_expit(margin)).sum())
        self.slope = weights * sites.labels * wrong
        self._curve = weights * right * wrong
        self._change = self._curve * sites.labels * (wrong - right)

    def curvature(self, k):
        return self._curve * (np.arange(self._curve.shape[1]) == k)

    def tilt(self, spread):
        return np.einsum("nkk->nk", spread) * self._change


@dataclass(frozen=True)
class TemperedSoftmax:
    """``p(t = k|f) ∝ exp(f_k/T)``."""

    labels: np.ndarray
    weights: np.ndarray
    outputs: int
    temperature: float = 2.0
    cavity = "none"

    def expand(self, f, cavity):
        return _TemperedExpansion(self, f)

    def plain(self, rows):
        return TemperedSoftmax(
            self.labels[rows], self.weights[rows], self.outputs, self.temperature
        )


class _TemperedExpansion(SiteExpansion):
    """The blocks of B are dense."""

    def __init__(self, sites, f):
        logs = log_softmax(f / sites.temperature, axis=1)
        p, weights = np.exp(logs), sites.weights
        onehot = np.eye(sites.outputs)[sites.labels]
        self.value = float(weights @ logs[np.arange(len(f)), sites.labels])
        self.slope = weights[:, None] * (onehot - p) / sites.temperature
        self._p, self._scale = p, weights / sites.temperature**2
        self._temperature = sites.temperature

    def _blocks(self):
        return np.einsum("nk,kl->nkl", self._p, np.eye(self._p.shape[1])) - np.einsum(
            "nk,nl->nkl", self._p, self._p
        )

    def curvature(self, k):
        return self._scale[:, None] * self._blocks()[:, k]

    def tilt(self, spread):
        # tr(CB) through π, and dπ/df is a block over T
        by_p = np.einsum("nkk->nk", spread) - 2.0 * np.einsum("nkl,nl->nk", spread, self._p)
        slopes = np.einsum("nkl,nl->nk", self._blocks(), by_p)
        return self._scale[:, None] * slopes / self._temperature
