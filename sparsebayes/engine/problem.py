"""What a solver climbs: design, prior and sites, with the products that all states share."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from sparsebayes.engine.design import Dense, Design
from sparsebayes.engine.priors import Prior
from sparsebayes.engine.sites import Gaussian

Array = np.ndarray


class Problem:
    """``log p(z | α, β) + log p(α)`` as a function of the active set, α and β.

    Products with the design are in the metric of the weights w, without β, so they stay
    valid when β changes. Rows of ``ΦᵀWΦ`` are computed for functions that are active when all
    candidates are scored, and kept as long as `memory_budget` allows.

    Attributes
    ----------
    norms, moments : ndarray, (M,)
        ``φᵀWφ`` and ``ΦᵀWz``.
    energy : float
        ``zᵀWz``.
    capacity : int
        How many functions a restricted problem may have.
    max_beta : float
        The largest β: beyond it the residual is a difference of numbers equal in rounding.
    """

    def __init__(
        self, design: Design, prior: Prior, sites: Gaussian, memory_budget: int = 1 << 30
    ) -> None:
        self.design = design
        self.prior = prior
        self.sites = sites
        weights, target = sites.weights, sites.target
        self.capacity = design.capacity
        self.energy = float(target @ (weights * target))
        self.max_beta = 1e10 * sites.size / self.energy if self.energy > 0 else np.inf
        norms = design.squared_norms(weights)
        self._set_products(norms, design.project(weights * target), memory_budget)

    def _set_products(self, norms: Array, moments: Array, memory_budget: int) -> None:
        self.norms, self.moments = norms, moments
        self._memory_budget = memory_budget
        self._slot = np.full(norms.size, -1)  # where a function's row is in _rows
        self._rows = np.empty((0, norms.size))
        self._n_rows = 0
        self._max_rows = max(64, memory_budget // (4 * 8 * max(1, norms.size)))

    def weighted(self, columns: Array) -> Array:
        """Columns, or one column, multiplied by the weights of the samples."""
        if self.sites.unweighted:
            return columns
        return (columns.T * self.sites.weights).T

    def probe(self, index: Array) -> Array:
        """Products of the functions with a fixed arbitrary vector: equal for equal functions."""
        vector = np.cos(np.arange(1.0, self.sites.weights.size + 1.0) ** 2)
        return self.design.project(self.sites.weights * vector)[index]

    def gram_rows(self, index: Array) -> Array:
        """A copy of the chosen rows of ``ΦᵀWΦ``, (k, M)."""
        slots = self._slots(index)  # may replace self._rows
        return self._rows[slots]

    def gram(self, index: Array) -> Array:
        """``Φ_aᵀWΦ_a``, (k, k)."""
        slots = self._slots(index)
        return self._rows[slots[:, None], index]

    def hold(self, beta: float) -> Problem:
        """The same problem with the noise fixed."""
        held = copy.copy(self)
        held.sites = replace(self.sites, noise_variance=1.0 / beta)
        held._set_products(self.norms, self.moments, self._memory_budget)  # its own rows
        return held

    def restrict(self, index: Array) -> Problem:
        """The same problem with these functions only, numbered in this order."""
        part = object.__new__(Problem)
        part.design = Dense(self.design.columns(index))
        part.prior, part.sites = self.prior, self.sites
        part.capacity = index.size
        part.energy, part.max_beta = self.energy, self.max_beta
        part._set_products(self.norms[index], self.moments[index], self._memory_budget)
        return part

    def _slots(self, index: Array) -> Array:
        slots = self._slot[index]
        if slots.size and slots.min() < 0:
            self._compute(index)
            slots = self._slot[index]
        return slots

    def _compute(self, index: Array) -> None:
        new = index[self._slot[index] < 0]
        if self._n_rows + new.size > self._max_rows:  # forget what is not asked for now
            kept = index[self._slot[index] >= 0]
            rows = self._rows[self._slot[kept]]
            self._slot[:] = -1
            self._slot[kept] = np.arange(kept.size)
            self._rows[: kept.size] = rows
            self._n_rows = kept.size
        end = self._n_rows + new.size
        if end > len(self._rows):
            capacity = max(end, 64, min(2 * len(self._rows), self._max_rows))
            grown = np.empty((capacity, self.norms.size))
            grown[: self._n_rows] = self._rows[: self._n_rows]
            self._rows = grown
        weighted = self.weighted(self.design.columns(new))
        self._rows[self._n_rows : end] = self.design.project(weighted).T
        self._slot[new] = np.arange(self._n_rows, end)
        self._n_rows = end
