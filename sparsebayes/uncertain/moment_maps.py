"""Ways from a Gaussian input to the moments of a prediction: exact, quadrature, Taylor, draws."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri
from scipy.stats.qmc import Sobol
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from sparsebayes._support.batching import batches
from sparsebayes._support.predictive import ClosedForm, Marginals
from sparsebayes._support.validation import as_random_state, check_choice, whole_number
from sparsebayes.engine.moments import Bumps, Moments
from sparsebayes.uncertain.models import marginals_of

Array = np.ndarray

MomentMethod = Literal["auto", "exact", "quadrature", "taylor", "monte_carlo"]
METHODS: tuple[str, ...] = get_args(MomentMethod)

_TURNS = 8  # of the nodes of quadrature, among which the error shows
_FIRST = 8  # nodes of a turn to begin with, which do where the correction is small
_ENOUGH, _FEW = 64, 0.3  # nodes of a turn to trust its errors; with fewer they must be smaller by
_MOST = 1 << 15  # nodes of all turns, unless `n_samples` is given
_DRAWS = 10_000
_PRECISE = (0.0025, 0.0075)  # errors of mean and variance to end with, in units of std and variance
_COARSE = (0.01, 0.03)  # errors that are warned of
_STEP = 1e-2  # of a difference, in standard deviations of the input
_ROWS = 1 << 12  # rows predicted at once
_CACHE = 1 << 20  # numbers of a batch that stay near the processor


class MomentMap(ABC):
    """From ``N(mean, cov)`` to the moments of a fitted model's prediction.

    Attributes
    ----------
    method : str
    """

    method: str

    def __init__(self, marginals: Marginals) -> None:
        self.marginals = marginals

    def predict(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at the rows of X, noise included."""
        return self.marginals.observed(X)

    def __call__(self, mean: Array, cov: Array) -> Moments:
        """Moments at inputs with means (n, D) and covariances (n, D, D).

        A covariance that all share may be (1, D, D), and covariances that are diagonal may be
        variances (n, D): neither is ever spread out for more inputs than a batch has.
        """
        out = self._moments(mean, cov)
        certain = np.broadcast_to(~cov.any(axis=tuple(range(1, cov.ndim))), len(mean))
        if certain.any():  # to the last digit, whatever rounding does to a closed form
            out.mean[certain], out.variance[certain] = self.predict(mean[certain])
        return out

    @abstractmethod
    def _moments(self, mean: Array, cov: Array) -> Moments:
        """The same, but for rounding."""


class _Exact(MomentMap):
    method = "exact"

    def __init__(self, marginals: Marginals, known: ClosedForm) -> None:
        super().__init__(marginals)
        self.known = known

    def _moments(self, mean: Array, cov: Array) -> Moments:
        return _in_batches(self.known.exact, mean, cov, self.known.numbers)


class _Taylor(MomentMap):
    """By derivatives of mean and variance, differences where no others are known."""

    method = "taylor"

    def __init__(self, marginals: Marginals, known: ClosedForm | None) -> None:
        super().__init__(marginals)
        self.known = known

    def _moments(self, mean: Array, cov: Array) -> Moments:
        if self.known is not None:
            return _in_batches(self.known.taylor, mean, cov, self.known.numbers)
        return _in_batches(self._differences, mean, cov, 12 * mean.shape[1] ** 2)

    def _differences(self, mean: Array, cov: Array) -> Moments:
        n, D = mean.shape
        values, axes, back = _axes(cov, np.ones(D))
        columns = axes * np.sqrt(values)[:, None, :]
        stencil = _STEP * np.array([-2.0, -1.0, 1.0, 2.0])
        moved = stencil[:, None, None, None] * columns.swapaxes(1, 2)  # (4, n, D, D)
        m, v = (
            part.reshape(4, n, D) for part in self.predict((mean[:, None] + moved).reshape(-1, D))
        )
        centre, variance = self.predict(mean)
        along = (m[0] - 8.0 * m[1] + 8.0 * m[2] - m[3]) / (12.0 * _STEP)
        bend = -v[0] + 16.0 * v[1] - 30.0 * variance[:, None] + 16.0 * v[2] - v[3]
        inherent = np.maximum(variance + bend.sum(axis=1) / (24.0 * _STEP**2), 0.0)
        slope = _steepness(along, values, back)
        return Moments(centre, inherent + (along**2).sum(axis=1), slope)


class _Sampled(MomentMap):
    """By averages over inputs, of what is not known exactly."""

    sizes: list[int]

    def __init__(self, marginals: Marginals, known: ClosedForm | None, random_state: Any) -> None:
        super().__init__(marginals)
        self.known = known
        self.seed = as_random_state(random_state).randint(2**31 - 1)

    @abstractmethod
    def _nodes(self, size: int, n_features: int) -> Array:
        """Standard normal nodes in independent turns, (turns, size, D)."""

    def _moments(self, mean: Array, cov: Array) -> Moments:
        (n, D), left = mean.shape, np.arange(len(mean))
        out = Moments(np.empty(n), np.empty(n), np.empty((n, D)), np.empty((n, 2)))
        known = Moments(np.zeros(n), np.zeros(n), np.zeros((n, D)))
        if self.known is not None:
            known = _in_batches(self.known.exact, mean, cov, self.known.numbers)
        for size in self.sizes:
            nodes = self._nodes(size, D)
            for part in gen_batches(len(left), max(1, _ROWS // nodes[:, :, 0].size)):
                rows = left[part]
                exact = Moments(*(each[rows] for each in known[:3]))
                found = self._estimate(mean[rows], _of_rows(cov, rows), nodes, exact)
                for whole, some in zip(out, found, strict=True):
                    whole[rows] = some  # type: ignore[index]
            few = _FEW if size < _ENOUGH else 1.0
            left = left[_beyond(out, tuple(few * limit for limit in _PRECISE))[left]]
            if left.size == 0:
                break
        return out

    def _estimate(self, mean: Array, cov: Array, nodes: Array, known: Moments) -> Moments:
        n, D = mean.shape
        values, axes, back = _axes(cov, self._scales(D))
        root = axes * np.sqrt(values)[:, None, :]
        X = (nodes.reshape(-1, D) @ root.swapaxes(1, 2) + mean[:, None, :]).reshape(-1, D)
        shape = (n, *nodes.shape[:2])
        shift, gain = (part.reshape(shape) for part in self.predict(X))
        base = np.zeros(shape)
        if self.known is not None:
            # The model is a part with known moments and a correction; only this is averaged.
            base, spread = (part.reshape(shape) for part in self.known.predict(X))
            shift, gain = shift - base, gain - spread
            base = base - known.mean[:, None, None]
        firsts = shift.mean(axis=2)
        rest = shift - firsts.mean(axis=1)[:, None, None]
        seconds = (gain + rest * (rest + 2.0 * base)).mean(axis=2)
        slope = np.einsum("ntk,tkd->nd", rest, nodes) / rest[0].size
        variance = np.maximum(known.variance + seconds.mean(axis=1), self._noise)
        turns = np.stack([firsts, seconds], axis=2)
        return Moments(
            known.mean + firsts.mean(axis=1),
            variance,
            known.slope + _steepness(slope, values, back),
            turns.std(axis=1, ddof=1) / np.sqrt(turns.shape[1]),
        )

    @property
    def _noise(self) -> float:
        return 0.0 if self.known is None else self.known.noise

    def _scales(self, n_features: int) -> Array:
        """What to measure inputs by, so that their most telling directions come first."""
        parts = () if self.known is None else self.known.functions
        scales = [part.scales for part in parts if isinstance(part, Bumps)]
        return np.min(scales, axis=0) if scales else np.ones(n_features)


class _Quadrature(_Sampled):
    """By a low-discrepancy rule, with more nodes where the error asks for them."""

    method = "quadrature"

    def __init__(
        self, marginals: Marginals, known: ClosedForm | None, random_state: Any, most: int
    ) -> None:
        super().__init__(marginals, known, random_state)
        largest = 1 << max(
            0, (most // _TURNS).bit_length() - 1
        )  # Sobol's points come in powers of 2
        first = min(_FIRST, largest)
        self.sizes = [first << k for k in range((largest // first).bit_length())]

    def _nodes(self, size: int, n_features: int) -> Array:
        return _turned_sobol(size, n_features, self.seed)

    def _moments(self, mean: Array, cov: Array) -> Moments:
        out = super()._moments(mean, cov)
        beyond = np.count_nonzero(_beyond(out, _COARSE))
        if beyond:
            warnings.warn(
                f"quadrature with {_TURNS * self.sizes[-1]} nodes leaves an error of more than 1 % "
                f"of the standard deviation or 3 % of the variance at {beyond} of {len(mean)} "
                "inputs; raise n_samples, or ask for the errors with return_error=True.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return out


class _MonteCarlo(_Sampled):
    """By random inputs; each is a turn of its own."""

    method = "monte_carlo"

    def __init__(self, marginals: Marginals, random_state: Any, draws: int) -> None:
        super().__init__(marginals, None, random_state)
        self.sizes = [draws]

    def _nodes(self, size: int, n_features: int) -> Array:
        return np.random.default_rng(self.seed).standard_normal((size, 1, n_features))


@lru_cache(maxsize=32)
def _turned_sobol(size: int, n_features: int, seed: int) -> Array:
    """Normal quantiles of Sobol's points, in turns that are shifted at random bit by bit."""
    points = (Sobol(n_features, scramble=False, bits=30).random(size) * 2**30).astype(np.int64)
    shifts = np.random.default_rng(seed).integers(2**30, size=(_TURNS, 1, n_features))
    return ndtri(((points ^ shifts) + 0.5) / 2**30)


def _beyond(moments: Moments, limits: tuple[float, ...]) -> Array:
    """Where the errors of mean or variance are more than these parts of std and variance."""
    unit = np.stack([np.sqrt(moments.variance), moments.variance], axis=1)
    return np.any(moments.error > unit * limits, axis=1)  # type: ignore[operator]


def _axes(cov: Array, scales: Array) -> tuple[Array, Array, Array]:
    """λ and V with ``cov = V diag(λ) Vᵀ``, large λ first, and the inverse of Vᵀ."""
    values, axes = np.linalg.eigh(cov / np.multiply.outer(scales, scales))
    values, axes = np.maximum(values[:, ::-1], 0.0), axes[:, :, ::-1]
    return values, axes * scales[:, None], axes / scales[:, None]


def _steepness(along: Array, values: Array, back: Array) -> Array:
    """The gradient, from its components along ``V √λ``; 0 where there is no variance."""
    seen = values > 1e-14 * values[:, :1]
    along = np.divide(along, np.sqrt(values), out=np.zeros_like(along), where=seen)
    return np.einsum("nd,ned->ne", along, back)


def _of_rows(cov: Array, rows: slice | Array) -> Array:
    """Covariances of some inputs, (rows, D, D); or the one that all share, (1, D, D)."""
    if cov.ndim == 3:
        return cov if len(cov) == 1 else cov[rows]
    some = cov[rows]
    out = np.zeros((*some.shape, some.shape[1]))
    np.einsum("ndd->nd", out)[:] = some
    return out


def _in_batches(
    function: Callable[[Array, Array], Moments], mean: Array, cov: Array, numbers: int
) -> Moments:
    if len(cov) == len(mean):  # eigenvectors and the like of each input
        numbers += 6 * mean.shape[1] ** 2
    most = max(1, _CACHE // numbers)
    parts = [
        function(mean[part], _of_rows(cov, part)) for part in batches(len(mean), numbers, most)
    ]
    if len(parts) == 1:
        return parts[0]
    return Moments(*(np.concatenate([part[i] for part in parts]) for i in range(3)))


def moment_map(
    model: Any, method: str = "auto", *, n_samples: Any = None, random_state: Any = 0
) -> MomentMap:
    """The way from Gaussian inputs to moments for a fitted model.

    Parameters
    ----------
    model : RVR, ReducedRankGPR, GaussianProcessRegressor or any with ``predict(X, return_std)``
    method : {"auto", "exact", "quadrature", "taylor", "monte_carlo"}, default="auto"
    n_samples : int or None, default=None
        Draws of "monte_carlo", 10000 by default, and the most nodes of "quadrature", 32768.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    MomentMap
    """
    check_choice("method", method, METHODS)
    if n_samples is not None:
        n_samples = whole_number("n_samples", n_samples, least=2)
    marginals = marginals_of(model)
    known, rest = marginals.closed_form()
    if method == "auto":
        method = "quadrature" if known is None or rest else "exact"
    if method == "monte_carlo":
        return _MonteCarlo(marginals, random_state, n_samples or _DRAWS)
    if method == "quadrature":
        return _Quadrature(marginals, known, random_state, n_samples or _MOST)
    if method == "taylor":
        return _Taylor(marginals, None if rest else known)
    if known is None or rest:
        raise ValueError(
            f"method='exact' has no closed form for {type(model).__name__} with {rest}; use "
            "method='quadrature', or 'auto', which takes it."
        )
    return _Exact(marginals, known)
