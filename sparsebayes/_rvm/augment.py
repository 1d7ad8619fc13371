"""The augmented predictive distribution: one more function, centred where a prediction is made.

Each test point x* gets ``φ* = k(·, x*)`` with a weight of prior variance v = 1/α*, which the
training data then determine as far as they can [1]_. With `slope` and B the derivatives of the log
likelihood at the fitted model, Σ its weight covariance, and φ(x*) its functions at x*,

    w = Σ ΦᵀBφ*           how the model imitates φ*
    q = φ*ᵀ slope         what φ* would explain
    s = φ*ᵀB(φ* − Φw)     how well the data determine its weight
    e = φ*(x*) − φ(x*) w  how far the imitation errs at x*

and the latent mean gains ``e v q/(1 + v s)``, its variance ``e² v/(1 + v s)``. With J kernels and
K outputs there are L = JK extra weights: q and w have one entry or row for each, s is a matrix.
T targets of a regression have the same B: for them all is as with one output, but for the slopes.

References
----------
.. [1] C. Rasmussen, J. Quiñonero-Candela, "Healing the relevance vector machine through
   augmentation", ICML 2005, (5)-(9).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparsebayes._rvm.covariance import Covariance
from sparsebayes.basis import Basis
from sparsebayes.basis.kernels import Centred

Array = np.ndarray

_REPRESENTATIVES = 512  # rows that stand for all others, over all extra weights of a test point
_FEWEST = 32
_ROWS = 2048  # rows summed over at a time
_RANK = 1e-10  # singular values below this are rounding


@dataclass(frozen=True, eq=False)
class KeptWeights:
    """The functions that a fit has kept, and the posterior of their weights.

    Attributes
    ----------
    basis : Basis
    mean, sigma, alpha : ndarray, (P,), Covariance, and ndarray, (P,)
        Posterior mean and covariance, and prior precisions, of the weights; with several targets a
        mean for each, (P, T).
    output, column : ndarray of int, (P,)
        The output and the function of each weight.
    """

    basis: Basis
    mean: Array
    sigma: Covariance
    alpha: Array
    output: Array
    column: Array

    def functions(self, X: Array) -> Array:
        """The function of each weight at the rows of X, (n, P)."""
        return self.basis.columns(X)[:, self.column]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training inputs, with the derivatives of the log likelihood at the fitted model.

    Attributes
    ----------
    rows : ndarray, (N, D)
        The training inputs that have weight.
    slope, curvature : ndarray, (N, K) and (N, K, K)
        The first derivatives of the log likelihood with respect to the K latent values of a row,
        and the negative second ones, a block of B for each row. With T targets (N, T) and
        (N, 1, 1).
    variance : float
        v, the prior variance of an extra weight.
    """

    rows: Array
    slope: Array
    curvature: Array
    variance: float

    @property
    def outputs(self) -> int:
        """K."""
        return self.curvature.shape[1]

    def augmentation(self, kept: KeptWeights) -> Augmentation:
        """The extra functions, with these data."""
        return _Full(self, kept)

    def refined(self, kept: KeptWeights) -> TrainingRows:
        """The same with ``Φᵀ slope = Aμ``, as it should be.

        A small noise makes large slopes of the rounding of residuals; a few Newton steps for μ,
        followed in the slopes themselves, take it out as far as the kept functions see it.
        """
        slope, mean, functions = self.slope.copy(), kept.mean, kept.functions(self.rows)
        for _ in range(3):
            if mean.ndim == 1:
                pull = np.einsum("np,np->p", functions, slope[:, kept.output])
            else:
                pull = functions.T @ slope
            step = kept.sigma @ (pull - (kept.alpha * mean.T).T)
            mean = mean + step
            if mean.ndim == 1:
                for k in range(slope.shape[1]):
                    slope[:, k] -= (functions * self.curvature[:, k, kept.output]) @ step
            else:
                slope -= self.curvature[:, 0] * (functions @ step)
        return replace(self, slope=slope)


@dataclass(frozen=True, eq=False)
class RowSummary:
    """Some of the training rows, Z, through which sums over all of them are approximated.

    A function centred at x* is ``k(·, x*) ≈ k(·, Z) k(Z, Z)⁻¹ k(Z, x*)``, which is exact at Z. With
    R features ``t = Uᵀk(Z, x*)`` all sums over the training rows are sums of their products.

    Attributes
    ----------
    rows : ndarray, (m, D)
    turns : list of ndarray, (m, R_j)
        U of each kernel.
    slope, fits, s : ndarray, (R, K), (K, R, P) and (K, R, K, R)
        What makes q, w and s of features; with T targets K is 1, and `slope` (R, T).
    variance : float
    """

    rows: Array
    turns: list[Array]
    slope: Array
    fits: Array
    s: Array
    variance: float

    @property
    def outputs(self) -> int:
        """K."""
        return len(self.fits)

    def augmentation(self, kept: KeptWeights) -> Augmentation:
        """The extra functions, with this summary."""
        return _Fast(self, kept)


class Augmentation(ABC):
    """The extra functions of a fitted model, ready to correct predictions.

    Attributes
    ----------
    data : TrainingRows or RowSummary
    kept : KeptWeights
    kernels : tuple of Centred
    variance : float
        The prior variance of each extra weight.
    numbers : int
        How many a test point takes.
    """

    data: TrainingRows | RowSummary
    numbers: int

    def __init__(self, data: TrainingRows | RowSummary, kept: KeptWeights) -> None:
        self.kernels, self.kept, self.rows = kept.basis.centred, kept, data.rows
        self.outputs = data.outputs
        # The kernels share the variance: the same kernel twice is as good as once.
        self.variance = data.variance / len(self.kernels)
        extra = self.outputs * len(self.kernels)
        # Kernels may need several arrays of their own size.
        self.numbers = 16 * len(self.kernels) * len(data.rows)
        self.numbers += 4 * extra * (kept.alpha.size + extra)

    @abstractmethod
    def _terms(self, kernels: list[Array]) -> tuple[Array, Array, Array]:
        """q (n, 1, L), s (n, L, L) and w (n, L, P), from the extra functions at `rows`, (N, n).

        With T targets q is (n, T, L).
        """

    def _by_target(self, q: Array) -> Array:
        """q as `_terms` has it, from (n, J, K) or (n, J, T)."""
        return q.swapaxes(1, 2) if self.outputs == 1 else q.reshape(len(q), 1, -1)

    @abstractmethod
    def _weights(self) -> Array:
        """How much each of `rows` counts, (N,)."""

    def correct(self, X: Array, columns: Array) -> tuple[Array, Array]:
        """What the latent mean gains, (n, K), and a root of what its covariance gains, (n, K, L).

        With T targets the mean of each gains, (n, T), and K is 1. `columns` has the kept weights'
        functions at the rows of X, (n, P). The covariance gains ``root rootᵀ``; L counts the
        kernels, and the outputs within each.
        """
        q, s, fits = self._terms([kernel.between(self.rows, X) for kernel in self.kernels])
        e = self._errors(X, columns, fits)
        size = q.shape[2]
        precision = self.variance * s
        precision[:, np.arange(size), np.arange(size)] += 1.0
        if size == 1:
            values, vectors = precision[:, :, 0], np.ones((1, 1, 1))
        else:
            values, vectors = np.linalg.eigh(precision)
        values = np.maximum(values, 1.0)[:, None, :]  # less is rounding
        turned = self.variance**0.5 * (e @ vectors)
        moved = self.variance**0.5 * (q @ vectors)
        root = turned / np.sqrt(values) @ vectors.swapaxes(1, 2)
        return np.sum(turned / values * moved, axis=2), root

    def _errors(self, X: Array, columns: Array, fits: Array) -> Array:
        """e, (n, K, L)."""
        peaks = np.array([_diagonal(kernel, X) for kernel in self.kernels]).T
        e = np.empty((len(X), self.outputs, len(self.kernels), self.outputs))
        for k in range(self.outputs):
            own = np.flatnonzero(self.kept.output == k)
            imitation = fits[:, :, own] @ columns[:, own, None]
            e[:, k] = -imitation.reshape(len(X), -1, self.outputs)
            e[:, k, :, k] += peaks
        return e.reshape(len(X), self.outputs, -1)

    def correlations(self, X: Array) -> list[Array]:
        """For each kernel, the correlations between the extra weights of the rows of X, (n, n).

        ``k(·, x*)`` is what a Gaussian process g with covariance v k is expected to be given its
        value at x*, and its weight is that value, both in units of ``k(x*, x*)``: so the weights
        have the correlation of g. A kernel that is no covariance takes the cosine between the
        extra functions instead, over training rows and rows of X together.
        """
        return [self._correlation(kernel, X) for kernel in self.kernels]

    def _correlation(self, kernel: Centred, X: Array) -> Array:
        out = kernel.between(X, X)
        if not kernel.positive_definite:
            weights = self._weights()
            weights = np.sqrt(weights / weights.mean())
            rows = kernel.between(self.rows, X) * weights[:, None]
            out = out.T @ out + rows.T @ rows
        norm = np.sqrt(out.diagonal())
        norm[norm == 0.0] = 1.0
        out = 0.5 * (out + out.T) / np.multiply.outer(norm, norm)
        out[np.diag_indices_from(out)] = 1.0
        return out


class _Full(Augmentation):
    """With all training rows."""

    data: TrainingRows

    def __init__(self, data: TrainingRows, kept: KeptWeights) -> None:
        super().__init__(data, kept)
        self.data, self.functions = data, kept.functions(data.rows)

    @cached_property
    def _turn(self) -> Array:
        """ΣΦᵀB, once for all test points: where large weights cancel, all then err alike."""
        return self.kept.sigma @ (self.functions.T * self.data.curvature[:, 0, 0])

    def _weights(self) -> Array:
        return self.data.curvature[:, 0, 0]

    def _terms(self, kernels: list[Array]) -> tuple[Array, Array, Array]:
        s, fits = self._one(kernels) if self.outputs == 1 else self._several(kernels)
        q = np.stack([kernel.T @ self.data.slope for kernel in kernels], axis=1)
        return self._by_target(q), s, fits

    def _one(self, kernels: list[Array]) -> tuple[Array, Array]:
        curve, alpha = self.data.curvature[:, 0, 0], self.kept.alpha
        fits = [self._turn @ kernel for kernel in kernels]  # (P, n)
        rests = [kernel - self.functions @ w for kernel, w in zip(kernels, fits, strict=True)]
        count = len(kernels)
        s = np.empty((count, count, kernels[0].shape[1]))
        for i in range(count):
            for j in range(i + 1):
                # s is the least of (φ* − Φw)ᵀB(φ* − Φw) + wᵀAw over w. As a difference it would
                # drown in rounding where the noise is small.
                s[i, j] = curve @ (rests[i] * rests[j]) + alpha @ (fits[i] * fits[j])
                s[j, i] = s[i, j]
        return s.transpose(2, 0, 1), np.array(fits).transpose(2, 0, 1)

    def _several(self, kernels: list[Array]) -> tuple[Array, Array]:
        count, n = len(kernels), kernels[0].shape[1]
        overlap = np.empty((n, count, self.outputs, self.kept.alpha.size))  # φ*ᵀBΦ
        s = np.empty((n, count, self.outputs, count, self.outputs))
        for k in range(self.outputs):
            weighted = (self.functions * self.data.curvature[:, k, self.kept.output]).T
            between = self.data.curvature[:, k].T
            for i, kernel in enumerate(kernels):
                overlap[:, i, k] = (weighted @ kernel).T
                for j, other in enumerate(kernels):
                    s[:, i, k, j] = (between @ (kernel * other)).T
        rows = overlap.reshape(n, count * self.outputs, -1)
        fits = rows @ self.kept.sigma
        rest = s.reshape(n, count * self.outputs, -1) - fits @ rows.swapaxes(1, 2)
        return 0.5 * (rest + rest.swapaxes(1, 2)), fits


class _Fast(Augmentation):
    """With a summary of the training rows."""

    data: RowSummary

    def __init__(self, data: RowSummary, kept: KeptWeights) -> None:
        super().__init__(data, kept)
        self.data = data
        self.numbers += 4 * data.slope.shape[0] * self.outputs

    def _weights(self) -> Array:
        return np.ones(len(self.rows))

    def _terms(self, kernels: list[Array]) -> tuple[Array, Array, Array]:
        features = [(turn.T @ k).T for turn, k in zip(self.data.turns, kernels, strict=True)]
        ends = np.cumsum([0, *(part.shape[1] for part in features)])
        n, count = len(features[0]), len(features)
        q = np.empty((n, count, self.data.slope.shape[1]))
        fits = np.empty((n, count, self.outputs, self.kept.alpha.size))
        s = np.empty((n, count, self.outputs, count, self.outputs))
        for i, ours in enumerate(features):
            part = slice(ends[i], ends[i + 1])
            q[:, i] = ours @ self.data.slope[part]
            for k in range(self.outputs):
                fits[:, i, k] = ours @ self.data.fits[k, part]
                for j, theirs in enumerate(features):
                    block = self.data.s[k, part, :, ends[j] : ends[j + 1]]
                    for m in range(self.outputs):
                        s[:, i, k, j, m] = np.einsum("nr,nr->n", ours @ block[:, m], theirs)
        size = count * self.outputs
        return self._by_target(q), s.reshape(n, size, size), fits.reshape(n, size, -1)


def summarise(data: TrainingRows, kept: KeptWeights) -> TrainingRows | RowSummary:
    """A summary of the data; the data themselves where they are as few as its rows would be."""
    kernels, outputs = kept.basis.centred, data.outputs
    size = max(_FEWEST, _REPRESENTATIVES // (len(kernels) * outputs))
    if len(data.rows) <= size:
        return data
    # A fixed choice, so that the same data give the same predictions.
    chosen = np.random.default_rng(0).choice(len(data.rows), size, replace=False)
    rows = data.rows[np.sort(chosen)]
    turns, backs = zip(*(_halves(kernel.between(rows, rows)) for kernel in kernels), strict=True)

    def parts() -> Iterator[tuple[slice, Array, Array]]:
        """Slices of the rows, the features' functions there, (n, R), and the kept ones, (n, P)."""
        for start in range(0, len(data.rows), _ROWS):
            X = data.rows[start : start + _ROWS]
            pairs = zip(kernels, backs, strict=True)
            features = np.hstack([kernel.between(X, rows) @ back for kernel, back in pairs])
            yield slice(start, start + _ROWS), features, kept.functions(X)

    count = sum(back.shape[1] for back in backs)
    slope = np.zeros((count, data.slope.shape[1]))
    overlap = np.zeros((outputs, count, kept.alpha.size))
    for part, features, functions in parts():
        slope += features.T @ data.slope[part]
        for k in range(outputs):
            overlap[k] += features.T @ (functions * data.curvature[part, k, kept.output])
    fits = overlap @ kept.sigma
    s = np.zeros((outputs, count, outputs, count))
    for part, features, functions in parts():
        if outputs == 1:
            features = features - functions @ fits[0].T
        for k in range(outputs):
            for m in range(outputs):
                s[k, :, m] += features.T @ (features * data.curvature[part, k, m, None])
    if outputs == 1:
        s[0, :, 0] += (fits[0] * kept.alpha) @ fits[0].T
    else:
        s -= np.einsum("krp,msp->krms", fits, overlap, optimize=True)
    return RowSummary(rows, list(turns), slope, fits, s, data.variance)


def _halves(kernel: Array) -> tuple[Array, Array]:
    """U and V with ``VUᵀ`` the inverse of a matrix, as far as rounding lets it have one."""
    left, values, right = np.linalg.svd(kernel)
    seen = values > _RANK * values[0]
    return left[:, seen], right[seen].T / values[seen]


def _diagonal(kernel: Centred, X: Array, block: int = 64) -> Array:
    """``k(x, x)`` of the rows of X, a few at a time: a kernel gives all pairs."""
    parts = [X[i : i + block] for i in range(0, len(X), block)]
    return np.concatenate([kernel.between(part, part).diagonal() for part in parts])
