"""Sums over the samples in the place of the samples.

For Gaussian noise the posterior and the evidence depend on the samples through n, ``zᵀWz``,
``ΦᵀWz`` and ``ΦᵀWΦ`` only. These are sums: those of two sets of samples add up to those of both.
Targets are counted from a shift, their mean in the first set, so that what they have in common does
not cancel the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

import numpy as np

from sparsebayes.engine.model.design import Design, probe
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.model.gram import gram
from sparsebayes.engine.model.sites import OneOutput, Sites

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sums:
    """Of samples that count so often, M functions and T targets.

    Attributes
    ----------
    n_rows : int
        Samples, however often each counts.
    count : float
        ``Σ w``.
    shift : ndarray, (T,)
        c, from which targets are counted.
    totals, squares : ndarray, (T,)
        ``Σ w (z − c)`` and ``Σ w (z − c)²``.
    masses : ndarray, (M,)
        ``Φᵀw``.
    moments : ndarray, (M, T)
        ``ΦᵀW(z − c)``.
    gram : ndarray, (M, M)
        ``ΦᵀWΦ``.
    """

    n_rows: int
    count: float
    shift: Array
    totals: Array
    squares: Array
    masses: Array
    moments: Array
    gram: Array

    @classmethod
    def of(cls, columns: Array, targets: Array, weights: Array, shift: Array | None = None) -> Sums:
        """Of samples of the functions, (N, M), and targets, (N, T); their mean is the shift."""
        equal = bool(np.all(weights == 1.0))
        if shift is None:
            shift = np.average(targets, axis=0, weights=None if equal else weights)
        seen = targets - shift
        weighted = seen if equal else weights[:, None] * seen
        return cls(
            len(columns),
            float(weights.sum()),
            shift,
            weighted.sum(axis=0),
            np.einsum("nt,nt->t", weighted, seen),
            weights @ columns,
            columns.T @ weighted,
            gram(columns, None if equal else weights),
        )

    def __add__(self, other: Sums) -> Sums:
        other = other.counted_from(self.shift)
        return self._joined(other, 1)

    def __sub__(self, other: Sums) -> Sums:
        """Those without some of the samples."""
        return self._joined(other.counted_from(self.shift), -1)

    def _joined(self, other: Sums, sign: int) -> Sums:
        return Sums(
            self.n_rows + sign * other.n_rows,
            self.count + sign * other.count,
            self.shift,
            self.totals + sign * other.totals,
            self.squares + sign * other.squares,
            self.masses + sign * other.masses,
            self.moments + sign * other.moments,
            self.gram + sign * other.gram,
        )

    def counted_from(self, shift: Array) -> Sums:
        """The same with another shift."""
        step = shift - self.shift
        if not step.any():
            return self
        return replace(
            self,
            shift=shift,
            totals=self.totals - self.count * step,
            squares=self.squares - step * (2.0 * self.totals - self.count * step),
            moments=self.moments - np.multiply.outer(self.masses, step),
        )

    def times(self, factor: float) -> Sums:
        """The same with other weights, all of them by this factor."""
        return replace(
            self,
            count=factor * self.count,
            totals=factor * self.totals,
            squares=factor * self.squares,
            masses=factor * self.masses,
            moments=factor * self.moments,
            gram=factor * self.gram,
        )

    @property
    def offset(self) -> Array:
        """The means of the targets, (T,)."""
        return self.shift + self.totals / self.count

    def centred(self) -> Sums:
        """The same with the means as shift."""
        return self.counted_from(self.offset)

    def design(self) -> Summed:
        return Summed(self.gram, self.n_rows)

    def sites(
        self, offset: Array | float, which: Array | None = None, **options: Any
    ) -> GaussianSums:
        """Those of the targets less `offset`, (T,), the only one, or those of the numbers `which`.

        `options` are those of `Gaussian`: its noise, and the levels by which targets are divided.
        """
        seen = self.counted_from(np.broadcast_to(offset, self.shift.shape))
        squares = np.maximum(seen.squares, 0.0)
        if which is None:
            none = np.empty(0)
            return GaussianSums(
                none, none, **options, n_counted=self.count, squares=squares,
                moments=seen.moments[:, 0],
            )  # fmt: skip
        levels = options.get("levels")
        levels = 1.0 if levels is None else levels
        return GaussianSums(
            np.empty((0, which.size)), np.empty(0), **options, n_counted=self.count,
            squares=squares[which] / levels**2, moments=seen.moments[:, which] / levels,
        )  # fmt: skip


class Summed:
    """A design of which only ``ΦᵀWΦ`` is known, for weights of the samples that stay as they are.

    Parameters
    ----------
    gram : ndarray, (M, M)
    n_rows : int
    """

    def __init__(self, gram: Array, n_rows: int) -> None:
        self.gram = gram
        self.shape = (n_rows, len(gram))
        self.capacity = len(gram)

    def cross(self, a: Array, b: Array | None, weights: Array | None) -> Array:
        return self.gram[a] if b is None else self.gram[a[:, None], b]

    def restrict(self, index: Array) -> Summed:
        return Summed(self.gram[index[:, None], index], self.shape[0])

    def project(self, rhs: Array) -> Array:
        _no_samples()

    def columns(self, index: Array) -> Array:
        _no_samples()

    def squared_norms(self, weights: Array) -> Array:
        _no_samples()

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        _no_samples()


def _no_samples() -> NoReturn:
    raise TypeError(
        "Sums over the samples do not tell the samples; length scales and noise that differs "
        "between samples have to be found from rows, before the sums are formed."
    )


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Sums over samples with labels, whose likelihood is expanded to second order about f = Φw.

    With them a step of Newton's method is a regression with known noise, for all functions.

    Attributes
    ----------
    n_rows : int
        Samples, however often each counts.
    count : float
        ``Σ w`` of their weights.
    values : ndarray, (P,)
        The log likelihood there, and elsewhere.
    pull : ndarray, (M,)
        Φᵀτ, its derivatives.
    gram : ndarray, (M, M)
        ``ΦᵀBΦ``, minus its second derivatives.
    """

    n_rows: int
    count: float
    values: Array
    pull: Array
    gram: Array

    @classmethod
    def nothing(cls, n_functions: int, n_values: int) -> LabelSums:
        """Of no samples."""
        none = np.zeros(n_functions)
        return cls(0, 0.0, np.zeros(n_values), none, np.zeros((n_functions, n_functions)))

    @classmethod
    def of(cls, columns: Array, sites: Sites, f: Array) -> LabelSums:
        """Of samples of the functions, (N, M), about the first f, (N, P); sites have one output."""
        expansion = sites.expand(f[:, :1], None)
        assert isinstance(expansion, OneOutput)
        others = [sites.expand(one[:, None], None).value for one in f.T[1:]]
        return cls(
            len(columns),
            float(sites.weights.sum()),
            np.array([expansion.value, *others]),
            columns.T @ expansion.slope[:, 0],
            gram(columns, expansion.curve),
        )

    def __add__(self, other: LabelSums) -> LabelSums:
        return LabelSums(
            self.n_rows + other.n_rows,
            self.count + other.count,
            self.values + other.values,
            self.pull + other.pull,
            self.gram + other.gram,
        )

    def design(self) -> Summed:
        return Summed(self.gram, self.n_rows)

    def sites(self, weights: Array) -> ExpandedLabels:
        """As a regression; `weights` are w, (M,), about which it was expanded."""
        moved = self.gram @ weights
        constant = float(self.values[0]) - float(weights @ self.pull) - 0.5 * float(weights @ moved)
        none = np.empty(0)
        return ExpandedLabels(
            none, none, 1.0, n_counted=self.count, squares=np.array([self.count]),
            moments=self.pull + moved, constant=constant,
        )  # fmt: skip


@dataclass(frozen=True)
class GaussianSums(Gaussian):
    """Gaussian sites of which only sums are known; `target` and `counts` are empty.

    Attributes
    ----------
    n_counted : float
        ``Σ w``.
    squares : ndarray, (T,)
        ``zᵀWz`` of each target.
    moments : ndarray, (M,), or (M, T)
        ``ΦᵀWz``.
    """

    n_counted: float = 0.0
    squares: Array | None = None
    moments: Array | None = None

    @property
    def size(self) -> float:
        return self.n_counted

    @property
    def energies(self) -> Array:
        assert self.squares is not None
        return self.squares

    def products(self, design: Design) -> tuple[Array, Array]:
        assert isinstance(design, Summed) and self.moments is not None
        return design.gram.diagonal().copy(), self.moments

    def fingerprints(self, design: Design) -> Array:
        assert isinstance(design, Summed)
        return design.gram @ probe(design.shape[1])

    def restrict(self, index: Array) -> Self:
        assert self.moments is not None
        return replace(self, moments=self.moments[index])

    def relevelled(self, misfits: Array) -> Gaussian:
        other = super().relevelled(misfits)
        if other is self or self.levels is None or other.levels is None:
            return other
        assert isinstance(other, GaussianSums) and self.moments is not None
        factors = other.levels / self.levels
        return replace(other, squares=self.energies / factors**2, moments=self.moments / factors)


@dataclass(frozen=True)
class ExpandedLabels(GaussianSums):
    """Labels as a regression with noise of variance one: the evidence is that of the expansion.

    At the mode about which they were expanded that is Laplace's.

    Attributes
    ----------
    constant : float
        What the evidence of the empty model is.
    """

    constant: float = 0.0

    def log_normaliser(self, beta: float) -> float:
        return self.constant + 0.5 * float(self.energies[0])
