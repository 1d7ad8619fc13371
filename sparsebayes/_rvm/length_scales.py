"""A fitted basis as a function of its length scales."""

from __future__ import annotations

import numpy as np

from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes.basis import Basis
from sparsebayes.basis.kernels import Centred
from sparsebayes.engine import Design, make_design

Array = np.ndarray

_WIDEST = 1e4  # bounds of a length scale, in standard deviations of its input
_NARROWEST = 1e-4
_FACTORS = 3.0 ** np.arange(-3.0, 4.0)  # widths tried, in units of a typical one


class ScaleFamily:
    """What `engine.scales` asks of a basis.

    θ are the log scales relative to the start: one for each centred basis of a union, or, with
    `ard`, one for each of its inputs.
    """

    def __init__(
        self,
        basis: Basis,
        X: Array,
        weights: Array,
        memory_budget: int,
        *,
        ard: bool,
        fine: bool = True,
    ) -> None:
        self._basis, self._X, self._ard, self.fine = basis, X, ard, fine
        self._memory_budget = memory_budget
        self._base = basis.log_scales()
        n_inputs = X.shape[1]
        center = np.average(X, axis=0, weights=weights)
        spread = np.sqrt(np.average((X - center) ** 2, axis=0, weights=weights))
        spread = np.where(spread > 0, spread, 1.0)
        least = np.maximum([_level_distance(x) for x in X.T], _NARROWEST * spread)
        bases = self._base.size // n_inputs
        logs = np.tile(np.log([spread, least, _NARROWEST * spread]), bases) - self._base
        if not ard:
            logs = np.array([self._fold(values) / n_inputs for values in logs])
        typical, lower, narrowest = logs
        self.start = np.zeros(typical.size)
        self.spread = typical
        if self.inputs is not None:  # a scale of no function has no prior
            own = np.repeat([own for _, own in self._kernels(self.start)], n_inputs if ard else 1)
            self.spread = np.where(own, typical, -np.inf)
        self.narrowest, self.lower = np.minimum(narrowest, 0.0), np.minimum(lower, 0.0)
        self.upper = np.maximum(typical + np.log(_WIDEST), 0.0)
        # What "scale" would be if the inputs were standardised.
        usual = typical + 0.5 * np.log(0.5 * n_inputs)
        shifts = np.log(_FACTORS) if fine else [0.0]
        trials = [base + shift for base in (self.start, usual) for shift in shifts]
        trials = np.clip(np.round(trials, 6), self.lower, self.upper)
        self.trials = trials[distinct_rows(trials).first]

    def _fold(self, values: Array) -> Array:
        return values.reshape(-1, self._X.shape[1]).sum(axis=1)

    def basis(self, theta: Array) -> Basis:
        """The basis at θ."""
        steps = theta if self._ard else np.repeat(theta, self._X.shape[1])
        return self._basis.rescaled(self._base + steps)

    def design(self, theta: Array) -> Design:
        return design_of(self.basis(theta), self._X, self._memory_budget)

    def columns(self, theta: Array, index: Array, rows: slice | Array | None = None) -> Array:
        X = self._X if rows is None else self._X[rows]
        return self.basis(theta).columns(X, self._basis.distinct_[index])

    def slopes(
        self,
        theta: Array,
        index: Array,
        slopes: Array,
        rows: slice | None = None,
        values: Array | None = None,
    ) -> Array:
        X = self._X if rows is None else self._X[rows]
        each = self.basis(theta).scale_slopes(X, self._basis.distinct_[index], slopes, values)
        return each if self._ard else self._fold(each)

    def kinds(self, index: Array) -> Array:
        return self._basis.kinds()[self._basis.distinct_[index]]

    @property
    def inputs(self) -> Array | None:
        known = covariances_known(self._basis)
        return self._X if known and any(own for _, own in self._kernels(self.start)) else None

    def _kernels(self, theta: Array) -> list[tuple[Centred, bool]]:
        """Each kernel, and whether it has functions of its own, or only repeats others."""
        own = np.unique(self._basis.kinds()[self._basis.distinct_])
        return [(kernel, j in own) for j, kernel in enumerate(self.basis(theta).centred)]

    def covariances(self, theta: Array, Z: Array) -> list[Array]:
        return [kernel.between(Z, Z) for kernel, own in self._kernels(theta) if own]

    def covariance_slopes(
        self, theta: Array, Z: Array, slopes: Array, signals: Array, values: list[Array]
    ) -> Array:
        every, parts, left = np.arange(len(Z)), [], zip(signals, values, strict=True)
        for kernel, own in self._kernels(theta):
            if own:
                signal, value = next(left)
                parts.append(signal * kernel.centred_on(Z).scale_slopes(Z, every, slopes, value))
            else:
                parts.append(np.zeros(Z.shape[1]))
        each = np.concatenate(parts)
        return each if self._ard else self._fold(each)

    def fixed(self, Z: Array) -> Array:
        functions = self._basis.distinct_
        return self._basis.columns(Z, functions[self._basis.kinds()[functions] < 0])


def covariances_known(basis: Basis) -> bool:
    """Whether all its kernels are covariances."""
    return all(kernel.positive_definite for kernel in basis.centred)


def _level_distance(values: Array) -> float:
    """How far apart the values of an input typically are, where there are more than two.

    With a length scale below that an input of a few levels would be one of categories.
    """
    levels = np.unique(values)
    return float(np.median(np.diff(levels))) if levels.size > 2 else 0.0


def design_of(basis: Basis, X: Array, memory_budget: int, *, later: bool = False) -> Design:
    """The distinct functions of a basis at the rows of X; `later`, when they are asked for."""
    functions = basis.distinct_
    return make_design(
        lambda index: basis.columns(X, functions[index]),
        (len(X), functions.size),
        memory_budget,
        tile=lambda index, rows: basis.columns(X[rows], functions[index]),
        later=later,
    )
