"""What a fitted model offers about its predictions, and the methods of a regressor that follow.

A regressor gives a `Predictive` by one method, `predictive()`; `GaussianRegressorMixin` makes
`predict`, `predict_interval`, `sample_y` and `predict_uncertain` of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.data import CheckedScoreMixin, check_inputs
from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import (
    as_random_state,
    check_coverage,
    check_switches,
    whole_number,
)

if TYPE_CHECKING:
    from sparsebayes.engine.moments import Functions, Moments
    from sparsebayes.uncertain.moment_maps import MomentMethod

Array = np.ndarray

# Why a model with `augment` has no closed form at Gaussian inputs.
EXTRA_WEIGHT = "augment, whose extra weight is divided by a function of the input"


class ClosedForm(Protocol):
    """A model whose mean and variance at Gaussian inputs are known; variances include the noise."""

    @property
    def noise(self) -> float:
        """The part of every variance that no knowledge of the input removes."""

    @property
    def numbers(self) -> int:
        """How many a test point takes, besides its covariance."""

    @property
    def functions(self) -> Sequence[Functions]:
        """The functions of the input that the model is made of."""

    def predict(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at the rows of X."""

    def exact(self, mean: Array, cov: Array) -> Moments:
        """Moments at ``N(mean, cov)``; (n, D) and (n, D, D), or (1, D, D) for all alike."""

    def taylor(self, mean: Array, cov: Array) -> Moments:
        """The same by expansion about the mean."""


class Marginals(ABC):
    """The predictions of a fitted model, each on its own.

    With K targets what is said of the rows of X has a last axis of this length.

    Attributes
    ----------
    noise : float, or ndarray, (K,)
        The variance that a new observation has besides; 0 if `marginal` includes it.
    """

    noise: float | Array

    def noise_at(self, X: Array) -> float | Array:
        """The same at the rows of X, where it varies."""
        return self.noise

    @abstractmethod
    def marginal(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at each row of X, (n,), without the noise."""

    def observed(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance of a new observation at each row of X, (n,)."""
        mean, variance = self.marginal(X)
        return mean, variance + self.noise_at(X)

    @abstractmethod
    def closed_form(self) -> tuple[ClosedForm | None, str]:
        """The part of the model whose moments at Gaussian inputs are known, if there is one.

        The text says what has no closed form, for the error of ``method="exact"``; it is empty if
        the part is all of the model.
        """


class Predictive(Marginals):
    """The predictions of a fitted regressor, also of several inputs together."""

    @abstractmethod
    def mean(self, X: Array) -> Array:
        """The mean alone, (n,)."""

    @abstractmethod
    def joint(self, X: Array) -> tuple[Array, Array]:
        """Mean (n,) and covariance (n, n) of all rows of X, without the noise."""

    @abstractmethod
    def draw(self, X: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        """Draws at all rows of X together, (n, n_samples), without the noise.

        With K targets (n, K, n_samples).
        """

    def interval(self, X: Array, coverage: float) -> tuple[Array, Array]:
        """Both ends of the central interval of a new observation at each row of X, (n,)."""
        mean, variance = self.observed(X)
        half = float(ndtri(0.5 + 0.5 * coverage)) * np.sqrt(variance)
        return mean - half, mean + half

    def draw_noise(self, X: Array, shape: tuple[int, ...], rng: np.random.RandomState) -> Array:
        """Draws of the noise at the rows of X, of the shape of `draw`."""
        scale = np.sqrt(np.broadcast_to(self.noise_at(X), shape[:-1]))
        return scale[..., None] * rng.standard_normal(shape)


class GaussianRegressorMixin(CheckedScoreMixin, ABC):
    """The methods of a regressor whose predictions have a mean and a covariance."""

    @abstractmethod
    def predictive(self) -> Predictive:
        """Give the predictive distribution of the fitted model.

        `predict`, `predict_interval`, `sample_y` and `predict_uncertain` are made of it; they also
        check what they are given. A new regressor implements this method.

        Returns
        -------
        Predictive
            Means, variances, covariances and draws at rows of X.
        """

    @guided
    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        include_noise: Any = True,
    ) -> Array | tuple[Array, Array]:
        """Predict with the posterior mean.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included.
        return_cov : bool, default=False
            Whether to return the covariance of new observations, noise included.
        include_noise : bool or array-like of shape (n,), default=True
            Whether standard deviation and covariance are those of new observations, or with
            False those of the function; or the noise variances of new observations, where these
            are known, as those of other sensors.

        Returns
        -------
        mean : ndarray, (n,)
            After a fit to K targets, (n, K).
        std : ndarray, (n,), or cov : ndarray, (n, n)
            Only if asked for; with K targets (n, K) and (n, n, K).
        """
        X = check_inputs(self, X)
        check_switches(return_std=return_std, return_cov=return_cov)
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not for both; both are True.")
        found = self.predictive()
        given = _given_noise(include_noise, len(X))
        if not (return_std or return_cov):
            return found.mean(X)
        mean, variance = found.joint(X) if return_cov else found.marginal(X)
        noise = found.noise_at(X) if given is None else given
        if given is not None and np.ndim(given):  # the same for every target
            noise = np.reshape(given, (-1,) + (1,) * (mean.ndim - 1))
        noise = np.broadcast_to(noise, mean.shape)
        if return_cov:
            rows = np.arange(len(X))
            variance[rows, rows] += noise
            return mean, variance
        return mean, np.sqrt(variance + noise)

    @guided
    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Array, Array]:
        """Predict central intervals of new observations, noise included.

        As much lies below the interval as above. With normal predictions it is the mean and so many
        standard deviations on both sides, 1.96 for 95 %; with ``noise=StudentT()`` it has the tails
        of the noise, and with several sets of inputs (`NoisyInputGPR`) those of their mixture.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        coverage : float, default=0.95
            Probability inside the interval.

        Returns
        -------
        lower : ndarray, (n,)
            Lower ends of the intervals. After a fit to K targets, (n, K); each interval is that of
            one target on its own.
        upper : ndarray, (n,)
            Upper ends, of the same shape.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsebayes import RVR
        >>> X = np.linspace(-10, 10, 100)[:, None]
        >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
        >>> lower, upper = RVR().fit(X, y).predict_interval(X, coverage=0.9)
        >>> print(f"{np.mean((lower <= y) & (y <= upper)):.2f}")
        0.92
        """
        coverage = check_coverage(coverage)
        return self.predictive().interval(check_inputs(self, X), coverage)

    @guided
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
            Each column is one draw at all rows together, noise included. After a fit to K targets,
            (n, K, n_samples).
        """
        X = check_inputs(self, X)
        n_samples = whole_number("n_samples", n_samples)
        rng, found = as_random_state(random_state), self.predictive()
        samples = found.draw(X, n_samples, rng)
        return samples + found.draw_noise(X, samples.shape, rng)

    def predict_uncertain(
        self, mean: Any, cov: Any = None, method: MomentMethod = "auto", *, variances: Any = None
    ) -> tuple[Array, ...]:
        """Predict at inputs that are known up to a normal distribution.

        This is `sparsebayes.predict_uncertain` with this model.

        Parameters
        ----------
        mean : array-like of shape (n, n_features)
            The means of the inputs.
        cov : float or array-like, default=None
            For all inputs alike a variance, variances of shape (n_features,) or a covariance of
            shape (n_features, n_features); or one for each, (n, n_features, n_features).
        method : {"auto", "exact", "quadrature", "taylor", "monte_carlo"}, default="auto"
            How the average over the input is formed; "auto" takes the closed form where there is
            one.
        variances : array-like of shape (n, n_features), default=None
            In place of `cov`, the variances of each input.

        Returns
        -------
        means : ndarray, (n,)
            Means of new observations.
        variances : ndarray, (n,)
            Their variances, noise included.
        """
        # Imported here: it lies above the regressors, and few of their users need it.
        from sparsebayes.uncertain import predict_uncertain

        return predict_uncertain(self, mean, cov, variances=variances, method=method)


def _given_noise(include_noise: Any, n_rows: int) -> float | Array | None:
    """The noise of new observations, None where it is the model's; or a clear error."""
    if isinstance(include_noise, (bool, np.bool_)):
        return None if include_noise else 0.0
    try:
        switches = np.asarray(include_noise).dtype == bool
        variances = np.asarray(np.nan if switches else include_noise, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        variances = np.asarray(np.nan)
    if variances.shape == (n_rows,) and np.all(variances >= 0) and np.all(variances < np.inf):
        return variances
    told = repr(include_noise) if variances.ndim == 0 else f"an array of shape {variances.shape}"
    if variances.shape == (n_rows,):
        told = f"{variances[~((variances >= 0) & (variances < np.inf))][0]} among them"
    raise ValueError(
        "include_noise must be True, False, or one finite noise variance >= 0 for each of the "
        f"{n_rows} rows of X, got {told}."
    )
