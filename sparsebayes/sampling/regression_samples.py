"""What `sample_posterior` returns for a regression: draws and averaged predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from sparsebayes._support.data import check_inputs, check_lengths, check_numbers, check_size
from sparsebayes._support.validation import as_random_state, check_switches, whole_number
from sparsebayes.regression import RVR
from sparsebayes.sampling.draws import DrawMixture, Draws
from sparsebayes.sampling.sampled_model import SampledModel
from sparsebayes.sampling.samples import BaseSamples

Array = np.ndarray


class PosteriorSamples(BaseSamples):
    """Draws from the posterior of a regression, made by :func:`sample_posterior`.

    Predictions are averages over all draws, so their standard deviations include the uncertainty
    about which functions belong in the model.

    Parameters
    ----------
    optimum : RVR
        The fitted RVR whose length scales are used.
    model : SampledModel
        What was sampled: the posterior, the functions and the training samples.
    draws : Draws
        The active functions, precisions and weights of all chains.
    n_chains : int
        How many chains there are.
    X : ndarray, (n, D)
        The training inputs.

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

    See Also
    --------
    sample_posterior : Makes these draws.
    ClassificationSamples : The same for labels.
    sparsebayes.plots.InclusionDisplay : A figure of the inclusion probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, sample_posterior
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> y = 2 * X[:, 1] + 0.1 * np.random.default_rng(1).standard_normal(40)
    >>> samples = sample_posterior(RVR("linear", bias=False), X, y, 200, 2, random_state=0)
    >>> mean, std = samples.predict([[0.0, 1.0, 0.0]], return_std=True)
    >>> print(f"{mean[0]:.1f} ± {std[0]:.1f}")
    2.1 ± 0.1
    >>> samples.predictions(X).shape
    (2, 200, 40)
    """

    def __init__(
        self, optimum: RVR, model: SampledModel, draws: Draws, n_chains: int, X: Array
    ) -> None:
        super().__init__(model, draws, n_chains, X)
        self.optimum = optimum
        self._mixture = DrawMixture(draws, model.posterior)

    @property
    def _axes(self) -> dict[str, Array]:
        return {}

    def _numbers(self) -> dict[str, Array]:
        draws = self._draws
        both = {"noise_variance": 1.0 / draws.beta, "n_active": draws.sizes}
        return {name: self._shaped(values) for name, values in both.items()}

    def _log_likelihood(self) -> Array:
        observed, beta = self._observed, self._draws.beta[:, None]
        out = np.empty((beta.size, len(observed.rows)))
        for part in self._batches(len(observed.rows)):
            f = self._drawn.values(self._part.columns(observed.rows[part]))[:, :, 0]
            misfit = observed.targets[part] - self.optimum.offset_ - f
            each = 0.5 * (np.log(beta / (2.0 * np.pi)) - beta * misfit**2)
            out[:, part] = observed.weights[part] * each
        return out

    def _replicates(self, rng: np.random.RandomState) -> Array:
        rows, beta = self._observed.rows, self._draws.beta
        out: Array = rng.standard_normal((beta.size, len(rows))) / np.sqrt(beta)[:, None]
        out += self.optimum.offset_
        for part in self._batches(len(rows)):
            out[:, part] += self._drawn.values(self._part.columns(rows[part]))[:, :, 0]
        return out

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict with the mean over all draws.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation. It includes the noise,
            the uncertainty of the weights given the functions, and that about which functions
            belong in the model: how far the draws differ.

        Returns
        -------
        mean : ndarray, (n,)
            The mean over all draws.
        std : ndarray, (n,)
            Only if asked for.
        """
        X = check_inputs(self.optimum, X)
        check_switches(return_std=return_std)
        mean, variance = np.empty(len(X)), np.full(len(X), (1.0 / self._draws.beta).mean())
        for part in self._batches(len(X)):
            columns = self._part.columns(X[part])
            each = self._mixture.means(columns)
            mean[part] = self.optimum.offset_ + each.mean(axis=0)
            if return_std:
                variance[part] += each.var(axis=0) + self._mixture.variance(columns)
        return (mean, np.sqrt(variance)) if return_std else mean

    def _predictions(self, X: Array) -> Array:
        means: Array = self.optimum.offset_ + self._mixture.means(self._part.columns(X))
        return means

    def log_density(self, X: Any, y: Any) -> Array:
        """Compute the log predictive density of observations, one by one.

        It is that of the mixture of all draws' normal distributions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The inputs.
        y : array-like of shape (n,)
            What was observed there.

        Returns
        -------
        ndarray, (n,)
            In nats.
        """
        X = check_inputs(self.optimum, X)
        y = check_size("y", check_numbers("y", y))
        if y.ndim != 1:
            raise ValueError(f"y must have one dimension, got shape {y.shape}.")
        check_lengths(X, y)
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
            Inputs to draw at.
        n_samples : int, default=1
            How many draws.
        random_state : int, RandomState instance or None, default=0
            The seed; the same one gives the same draws.

        Returns
        -------
        ndarray, (n, n_samples)
            For each column a draw is chosen at random, then weights from its posterior, and noise.
        """
        X = check_inputs(self.optimum, X)
        n_samples = whole_number("n_samples", n_samples)
        rng, beta = as_random_state(random_state), self._draws.beta
        columns = self._part.columns(X)
        samples = np.empty((len(X), n_samples))
        for k, number in enumerate(rng.randint(beta.size, size=n_samples)):
            noise = rng.standard_normal(len(X)) / np.sqrt(beta[number])
            samples[:, k] = self._mixture.drawn(number, columns, rng) + noise
        return self.optimum.offset_ + samples
