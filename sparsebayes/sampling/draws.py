"""Draws from the posterior: which functions, ragged, and the Gaussians they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sparsebayes.engine import linalg
from sparsebayes.engine.mcmc.chain import Draw
from sparsebayes.engine.mcmc.posterior import SparsePosterior

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Draws:
    """T draws; what belongs to functions is stored for the active ones only, draw after draw.

    Attributes
    ----------
    starts : ndarray of int, (T + 1,)
        Where each draw begins in the next four.
    index, x, means, weights : ndarray
        Active functions, log(α/g), and the weights: their conditional means and a draw of them.
        With several outputs, M functions of the first, M of the second and so on.
    beta, lp : ndarray, (T,)
        Noise precision and log joint density.
    n_functions, outputs : int
        M of all outputs together, and how many outputs there are.
    """

    starts: Array
    index: Array
    x: Array
    means: Array
    weights: Array
    beta: Array
    lp: Array
    n_functions: int
    outputs: int = 1

    @classmethod
    def of(cls, draws: Sequence[Draw], n_functions: int, outputs: int = 1) -> Draws:
        """From single draws."""
        starts = np.concatenate([[0], np.cumsum([one.index.size for one in draws])])
        return cls(
            starts=starts,
            index=np.concatenate([one.index for one in draws]),
            x=np.concatenate([one.x for one in draws]),
            means=np.concatenate([one.means for one in draws]),
            weights=np.concatenate([one.weights for one in draws]),
            beta=np.array([one.beta for one in draws]),
            lp=np.array([one.log_density for one in draws]),
            n_functions=n_functions,
            outputs=outputs,
        )

    @classmethod
    def joined(cls, chains: Sequence[Draws]) -> Draws:
        """Chain after chain."""
        sizes = np.concatenate([np.diff(chain.starts) for chain in chains])
        names = ("index", "x", "means", "weights", "beta", "lp")
        parts = {name: np.concatenate([getattr(one, name) for one in chains]) for name in names}
        starts = np.concatenate([[0], np.cumsum(sizes)])
        first = chains[0]
        return cls(starts=starts, n_functions=first.n_functions, outputs=first.outputs, **parts)

    @property
    def sizes(self) -> Array:
        """The number of active functions of each draw."""
        return np.diff(self.starts)

    @property
    def constant(self) -> Array:
        """Functions that are in all draws with the same x."""
        low, high = np.full((2, self.n_functions), [[np.inf], [-np.inf]])
        np.minimum.at(low, self.index, self.x)
        np.maximum.at(high, self.index, self.x)
        counts = np.bincount(self.index, minlength=self.n_functions)
        return np.flatnonzero((counts == self.beta.size) & (low == high))

    @property
    def places(self) -> tuple[Array, Array, Array]:
        """The draw, the output, and the function among those of its output, of each entry."""
        draw = np.repeat(np.arange(self.beta.size), self.sizes)
        output, function = np.divmod(self.index, max(1, self.n_functions // self.outputs))
        return draw, output, function

    def table(self, values: Array, fill: float) -> Array:
        """Values of active functions as an array over draws and all functions, (T, M)."""
        out = np.full((self.beta.size, self.n_functions), fill, dtype=values.dtype)
        out[self.places[0], self.index] = values
        return out


class DrawnWeights:
    """The functions f of each draw, with the weights that were drawn.

    Attributes
    ----------
    used : ndarray of int, (U,)
        Functions that are active in some draw, for any output.
    outputs : int
    """

    def __init__(self, draws: Draws) -> None:
        draw, output, function = draws.places
        self.outputs, self._count = draws.outputs, draws.beta.size
        self.used, column = np.unique(function, return_inverse=True)
        self._weights = []
        for k in range(self.outputs):
            own = output == k
            entries = draws.weights[own], (draw[own], column[own])
            self._weights.append(csr_array(entries, shape=(self._count, self.used.size)))

    def values(self, columns: Array) -> Array:
        """f at the rows of columns (n, U), (T, n, K)."""
        out = np.empty((self._count, len(columns), self.outputs))
        for k, weights in enumerate(self._weights):
            out[:, :, k] = weights @ columns.T
        return out


class DrawMixture:
    """The mixture of the Gaussian posteriors of the weights, one for each draw.

    Attributes
    ----------
    used : ndarray of int, (U,)
        Functions that are active in some draw; columns below are those of these.
    """

    def __init__(self, draws: Draws, posterior: SparsePosterior) -> None:
        self.used, self._index = np.unique(draws.index, return_inverse=True)
        self._draws = draws
        self._gram = posterior.products.columns(self.used)[self.used]
        self._units = np.sqrt(posterior.norms[self.used])
        shape = (draws.beta.size, self.used.size)
        self._means = csr_array((draws.means, self._index, draws.starts), shape=shape)

    def means(self, columns: Array) -> Array:
        """Of f at the rows of columns (n, U), for each draw, (T, n)."""
        return self._means @ columns.T

    def _factors(self) -> Iterator[tuple[Array, Array]]:
        """Functions and the Cholesky factor of ``G + diag(ρ)`` of each draw."""
        draws = self._draws
        for first, last in zip(draws.starts[:-1], draws.starts[1:], strict=True):
            index = self._index[first:last]
            yield index, self._factor(index, draws.x[first:last])

    def _factor(self, index: Array, x: Array) -> Array:
        hessian = self._gram[np.ix_(index, index)]
        hessian.flat[:: index.size + 1] += np.exp(x)
        factor = linalg.cholesky(hessian) if index.size else hessian
        assert factor is not None  # it was factorised when the draw was made
        return factor

    @cached_property
    def covariance(self) -> Array:
        """The mean over draws of the covariance of the weights, zero for those out, (U, U)."""
        total = np.zeros(self._gram.shape)
        with linalg.one_thread():
            for (index, factor), beta in zip(self._factors(), self._draws.beta, strict=True):
                if index.size:
                    total[np.ix_(index, index)] += linalg.inverse(factor) / beta
        return total / self._draws.beta.size / np.outer(self._units, self._units)

    def variance(self, columns: Array) -> Array:
        """The mean over draws of the variance of f, (n,)."""
        spread = np.einsum("nu,nu->n", columns @ self.covariance, columns)
        return np.maximum(spread, 0.0)

    def variances(self, columns: Array) -> Array:
        """The variance of f for each draw, (T, n)."""
        rows = np.ascontiguousarray((columns / self._units).T)  # (U, n)
        out = np.zeros((self._draws.beta.size, len(columns)))
        with linalg.one_thread():
            for one, (index, factor) in zip(out, self._factors(), strict=True):
                if index.size:
                    half = linalg.half_solve(factor, rows[index])
                    np.einsum("sn,sn->n", half, half, out=one)
        return out / self._draws.beta[:, None]

    def drawn(self, number: int, columns: Array, rng: np.random.RandomState) -> Array:
        """f at the rows of columns for new weights from one draw's posterior, (n,)."""
        draws = self._draws
        part = slice(draws.starts[number], draws.starts[number + 1])
        index = self._index[part]
        if not index.size:
            return np.zeros(len(columns))
        factor = self._factor(index, draws.x[part])
        normal = rng.standard_normal((index.size, 1)) / np.sqrt(draws.beta[number])
        noise = linalg.half_solve_transposed(factor, normal)[:, 0] / self._units[index]
        return columns[:, index] @ (draws.means[part] + noise)
