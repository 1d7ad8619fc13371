"""What `sample_posterior` returns: draws, averaged predictions, and diagnostics of the chains."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length

from sparsebayes._support.batching import batches
from sparsebayes._support.predictive import check_inputs
from sparsebayes._support.validation import remedies, whole_number
from sparsebayes.regression import RVR
from sparsebayes.sampling.arviz import as_arviz, summarise
from sparsebayes.sampling.draws import DrawMixture, Draws
from sparsebayes.sampling.sampled_model import SampledModel

Array = np.ndarray

# A larger R-hat means that the chains disagree; usual limits are 1.01 (Vehtari et al. 2021) to 1.1.
_AGREE = 1.05
_ROWS = 10  # training rows at which the predictions of the chains are compared


class PosteriorSamples:
    """Draws from the posterior of a regression, made by :func:`sample_posterior`.

    Attributes
    ----------
    optimum : RVR
        The fitted RVR whose length scales are used.
    basis : Basis
        Fitted, with these length scales.
    n_chains, n_draws : int
    functions : ndarray of int, (M,)
        The candidates among the functions of the basis, numbered as in `relevance_`; functions
        that repeat another one or are zero at all samples are not among them.
    centers : ndarray, (n_functions,) or None
        With one input, where each function of the basis is centred, NaN for one without a centre.
    """

    def __init__(
        self, optimum: RVR, model: SampledModel, draws: Draws, n_chains: int, X: Array
    ) -> None:
        self.optimum = optimum
        self.basis = model.basis
        self.functions = model.functions
        self.n_chains = n_chains
        self.n_draws = draws.beta.size // n_chains
        rows = self.basis.center_index_
        self.centers = np.where(rows >= 0, X[rows, 0], np.nan) if X.shape[1] == 1 else None
        self._draws = draws
        self._norms = model.posterior.norms
        self._mixture = DrawMixture(draws, model.posterior)
        self._part = self.basis.select(self.functions[self._mixture.used])

    def __repr__(self) -> str:
        return (
            f"PosteriorSamples(n_chains={self.n_chains}, n_draws={self.n_draws}, "
            f"n_functions={self.functions.size})"
        )

    @cached_property
    def data(self) -> Any:
        """The draws in ArviZ's structure: InferenceData, or a DataTree from ArviZ 1.0 on.

        Group "posterior", over chain, draw and, for the first three, function (the coordinate has
        the numbers of `functions`): `active`; `alpha`, which is ∞ for a function that is out;
        `weights`, a draw of them, 0 there; `noise_variance`; `n_active`. Group
        "sample_stats": `lp`, the log density of data, active set, log(α σ²/φᵀφ) and σ² together.
        """
        draws = self._draws
        alpha = np.exp(draws.x) * np.repeat(draws.beta, draws.sizes) * self._norms[draws.index]
        posterior = {
            "active": self._shaped(draws.table(np.ones(draws.index.size, dtype=bool), False)),
            "alpha": self._shaped(draws.table(alpha, np.inf)),
            "weights": self._shaped(draws.table(draws.weights, 0.0)),
            **self._numbers(),
        }
        lp = {"lp": self._shaped(draws.lp)}
        dims = {name: ["function"] for name in ("active", "alpha", "weights")}
        groups = {"posterior": posterior, "sample_stats": lp}
        return as_arviz(groups, {"function": self.functions}, dims)

    def _shaped(self, values: Array) -> Array:
        """Draws (T, ...) by chain."""
        return values.reshape(self.n_chains, self.n_draws, *values.shape[1:])

    def _numbers(self) -> dict[str, Array]:
        draws = self._draws
        both = {"noise_variance": 1.0 / draws.beta, "n_active": draws.sizes}
        return {name: self._shaped(values) for name, values in both.items()}

    @property
    def inclusion(self) -> Array:
        """The probability of each function of the basis to be in the model, (n_functions,)."""
        draws = self._draws
        share = np.zeros(self.basis.n_functions_)
        counts = np.bincount(draws.index, minlength=draws.n_functions)
        share[self.functions] = counts / draws.beta.size
        return share

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict with the mean over all draws.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation. It includes the noise,
            the uncertainty of the weights given the functions, and that about which functions
            belong in the model: how far the draws differ.

        Returns
        -------
        mean : ndarray, (n,)
        std : ndarray, (n,)
            Only if asked for.
        """
        X = check_inputs(self.optimum, X)
        mean, variance = np.empty(len(X)), np.full(len(X), (1.0 / self._draws.beta).mean())
        for part in self._batches(len(X)):
            columns = self._part.columns(X[part])
            each = self._mixture.means(columns)
            mean[part] = self.optimum.offset_ + each.mean(axis=0)
            if return_std:
                variance[part] += each.var(axis=0) + self._mixture.variance(columns)
        return (mean, np.sqrt(variance)) if return_std else mean

    def predictions(self, X: Any) -> Array:
        """The mean prediction of each draw, for diagnostics.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        means : ndarray, (n_chains, n_draws, n)
        """
        X = check_inputs(self.optimum, X)
        means = self._mixture.means(self._part.columns(X))
        return self._shaped(self.optimum.offset_ + means)

    def log_density(self, X: Any, y: Any) -> Array:
        """The log predictive density of observations, one by one.

        It is that of the mixture of all draws' normal distributions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Returns
        -------
        log_density : ndarray, (n,)
        """
        X = check_inputs(self.optimum, X)
        with remedies():
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if y.ndim != 1:
            raise ValueError(f"y must have one dimension, got shape {y.shape}.")
        check_consistent_length(X, y)
        y = y - self.optimum.offset_
        out, noise = np.empty(len(X)), 1.0 / self._draws.beta[:, None]
        for part in self._batches(len(X)):
            columns = self._part.columns(X[part])
            variance = noise + self._mixture.variances(columns)
            misfit = (y[part] - self._mixture.means(columns)) ** 2 / variance
            each = -0.5 * (np.log(2.0 * np.pi * variance) + misfit)
            out[part] = logsumexp(each, axis=0) - np.log(len(each))
        return out

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw observations from the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0

        Returns
        -------
        samples : ndarray, (n, n_samples)
            For each column a draw is chosen at random, then weights from its posterior, and noise.
        """
        X = check_inputs(self.optimum, X)
        n_samples = whole_number("n_samples", n_samples)
        rng, beta = check_random_state(random_state), self._draws.beta
        columns = self._part.columns(X)
        samples = np.empty((len(X), n_samples))
        for k, number in enumerate(rng.randint(beta.size, size=n_samples)):
            noise = rng.standard_normal(len(X)) / np.sqrt(beta[number])
            samples[:, k] = self._mixture.drawn(number, columns, rng) + noise
        return self.optimum.offset_ + samples

    def _batches(self, n_rows: int) -> Iterator[slice]:
        """Slices of rows that keep arrays over draws and rows within the memory budget."""
        return batches(n_rows, 4 * (self._draws.beta.size + self._part.n_functions_))

    def summary(self, X: Any = None) -> Any:
        """Means, standard deviations and diagnostics by ArviZ; R-hat should be near 1.

        Parameters
        ----------
        X : array-like of shape (n, n_features), default=None
            Rows whose mean prediction is summarised too.

        Returns
        -------
        table : pandas.DataFrame
            Rows: noise_variance, n_active, lp, and prediction[k] for each row of X.
            Columns: ArviZ's, such as mean, sd, ess_bulk, ess_tail and r_hat.
        """
        values = {**self._numbers(), "lp": self._shaped(self._draws.lp)}
        if X is not None:
            values["prediction"] = self.predictions(X)
        return summarise(values, {"prediction": ["row"]})

    def _compare_chains(self, X: Array) -> None:
        rows = np.unique(np.linspace(0, len(X) - 1, _ROWS).astype(int))
        means = self.optimum.offset_ + self._mixture.means(self._part.columns(X[rows]))
        values = {**self._numbers(), "prediction": self._shaped(means)}
        table = summarise(values, {"prediction": ["row"]})["r_hat"].astype(float)
        if table.max() > _AGREE:
            warnings.warn(
                f"The chains disagree: R-hat of {table.idxmax()} is {table.max():.2f}, and should "
                f"be below {_AGREE}. Raise n_samples or thin, and n_warmup; summary() has more.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the inclusion probabilities along the basis.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        display : sparsebayes.plots.InclusionDisplay
        """
        from sparsebayes.plots.inclusion import InclusionDisplay

        return InclusionDisplay.from_samples(self, ax=ax)
