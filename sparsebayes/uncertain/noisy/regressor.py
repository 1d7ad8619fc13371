"""Gaussian process regression on training inputs that are known with noise."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._rvm.options import as_noise
from sparsebayes._support.data import check_fit
from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.fits.timed import timed
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.guesses.values import hint
from sparsebayes._support.predictive import GaussianRegressorMixin
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.validation import as_random_state, check_switches
from sparsebayes.gp.kernels import check_kernel, default_kernel, noise_start, split_noise
from sparsebayes.gp.targets import centred
from sparsebayes.uncertain.noisy.imputation import Imputation
from sparsebayes.uncertain.noisy.method import Learned, LearningMethod
from sparsebayes.uncertain.noisy.mixture import InputMixture
from sparsebayes.uncertain.noisy.slope import Slope
from sparsebayes.uncertain.noisy.space import (
    NoisyData,
    Space,
    check_input_noise,
    check_squared_exponential,
)
from sparsebayes.uncertain.noisy.stochastic_em import StochasticEM

MethodName = Literal["auto", "stochastic_em", "imputation", "slope"]
METHODS: dict[str, type[LearningMethod]] = {
    "stochastic_em": StochasticEM,
    "imputation": Imputation,
    "slope": Slope,
}
FEW = 100  # samples up to which stochastic EM, the most accurate, takes some seconds
NOISE = (1e-8, 10.0)  # bounds of the output noise, in units of the variance of the targets
Array = np.ndarray

FAR = 1e4  # standard deviations: squares of so large inputs have lost half of their digits
FACTOR = (0.01, (1e-6, 1.0))  # input noise to begin with and its bounds, in variances of the inputs


class NoisyInputGPR(
    GuidedMixin, NamedSummaryMixin, GaussianRegressorMixin, RegressorMixin, BaseEstimator
):
    """Gaussian process regression on training inputs that are known with noise.

    The inputs of the training set are observed as ``u_n``, and the true ones are
    ``x_n ~ N(u_n, S_n)`` with diagonal S_n [1]_. A Gaussian process that takes u_n for x_n is too
    smooth and blames the outputs for the noise of the inputs; this one is not and does not.
    Predictions are at clean inputs, and at noisy ones with `predict_uncertain`.

    Parameters
    ----------
    kernel : kernel of scikit-learn or None, default=None
        The covariance of the centred targets without noise: ``ConstantKernel() * RBF()`` or
        ``RBF()``, with one length scale or one for each input. None takes one for each, all
        scaled to the data. The search stays within the kernel's bounds and leaves "fixed"
        parameters alone. A WhiteKernel that is added to it says where the search for the noise of
        the outputs begins, and its bounds; `noise` must not be given then.
    input_noise : float, array-like or "estimate"
        Variance of the noise of the inputs: one for all, (D,) or (1, D) for each input, (N,) or
        (N, 1) for each sample, or (N, D). With "estimate" it is learned as one fraction of the
        variance of each input, so that units do not matter; data tell it apart from the noise of
        the outputs only where the slope of the function varies, so give it if you know it.
    method : "auto", "stochastic_em", "imputation", "slope" or an object, default="auto"
        How to learn. `StochasticEM` samples the inputs from their posterior and learns
        hyperparameters from the samples [1]_: the most accurate, for a few hundred samples.
        `Imputation` maximises the posterior of the inputs while the output noise is lowered step
        by step [1]_. `Slope` takes the noise of the inputs for noise of the outputs that is larger
        where the function is steep [2]_: fast, for a few thousand samples. A name stands for the
        object with its defaults; ``StochasticEM(n_chains=4)`` is one with others. "auto" is
        "stochastic_em" for up to 100 samples and "slope" for more.
    noise : "estimate" or float, default="estimate"
        A fixed variance of the noise of the outputs, or its estimate.
    optimize : bool, default=True
        Whether to learn the kernel's parameters.
    max_time : float or None, default=None
        The most seconds that a fit may take, about: then it ends with the best model found, and a
        warning is given.
    random_state : int, RandomState instance or None, default=None
        Draws the samples, or the folds, or the subset of samples that `Slope` begins with.
    verbose : int, default=0
        1 prints every tenth turn of `StochasticEM`, 2 each.

    Attributes
    ----------
    method_ : StochasticEM, Imputation or Slope
        What was used.
    inputs_ : ndarray, (N, D)
        Imputed inputs, or the posterior mean of the sampled ones; for `Slope` those observed.
    kernel_ : kernel
        With the parameters learned.
    noise_variance_ : float
        Of the outputs.
    input_noise_ : ndarray, (N, D)
        Variances of the noise of the inputs.
    offset_ : float
        The mean of the targets, which are centred before the fit.
    evidence_path_ : ndarray
        For each turn or level: the mean log evidence of the samples, the joint log density of
        targets and imputed inputs, or for `Slope` the leave-one-out log density.
    n_iter_ : int
        Turns, or levels.
    converged_ : bool
    samples_ : ndarray, (n_samples, N, D)
        `StochasticEM`: sampled sets of inputs, chain after chain.
    sample_log_density_ : ndarray, (n_samples,)
        `StochasticEM`: log posterior density of each, up to a constant.
    acceptance_, step_size_ : float
        `StochasticEM`: of the Hamiltonian trajectories.
    effective_sample_size_ : ndarray, (N, D)
        `StochasticEM`: how many independent draws the last ``n_samples × thin`` moves were worth.
    noise_path_ : ndarray
        The noise variance of the outputs after each turn of `StochasticEM`, or at each level of
        `Imputation`.
    level_scores_ : ndarray, (n_levels, 2)
        `Imputation`: noise variances tried, and the log density of left-out samples at each.
    log_evidence_ : float
        Log density of the centred targets: for `Slope` of the Gaussian that stands for them, for
        `Imputation` jointly with the inputs, up to a constant.
    n_features_in_, feature_names_in_

    See Also
    --------
    predict_uncertain : Predictions at uncertain inputs, of any model.
    sparsebayes.ReducedRankGPR : For inputs that are known exactly.

    Notes
    -----
    Predictive standard deviations include the noise. With `input_noise` 0 there is nothing to
    sample, and `StochasticEM` and `Slope` are both the ordinary Gaussian process; `Imputation` is
    so with a noise that is one of its levels. If `input_noise` is estimated, `Imputation` takes the
    estimate of `Slope`, which the search of `StochasticEM` begins with too.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.3.
    .. [2] A. McHutchon, C. Rasmussen, "Gaussian process training with input noise", NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import NoisyInputGPR
    >>> rng = np.random.default_rng(0)
    >>> x = np.linspace(-10, 10, 200)
    >>> y = np.sinc(x / np.pi) + 0.05 * rng.standard_normal(200)
    >>> observed = (x + rng.standard_normal(200))[:, None]
    >>> model = NoisyInputGPR(input_noise=1.0, method="slope", random_state=0).fit(observed, y)
    >>> plain = NoisyInputGPR(input_noise=0.0, method="slope", random_state=0).fit(observed, y)
    >>> bool(model.noise_variance_ < 0.5 * plain.noise_variance_)
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        input_noise: Any,
        method: MethodName | LearningMethod = "auto",
        noise: Literal["estimate"] | float = "estimate",
        optimize: bool = True,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.input_noise = input_noise
        self.method = method
        self.noise = noise
        self.optimize = optimize
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    @timed
    def fit(self, X: Any, y: Any) -> NoisyInputGPR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs as observed.
        y : array-like of shape (n_samples,)
            The targets.

        Returns
        -------
        NoisyInputGPR
            This model, fitted.
        """
        if self.kernel is not None:
            check_kernel(self.kernel)
        check_switches(optimize=self.optimize, verbose=self.verbose)
        fixed = as_noise(self.noise)
        X, y, _ = check_fit(self, X, y)
        method = as_method(self.method, len(y))
        variances = check_input_noise(self.input_noise, X)
        target, offset, variance = centred(y)
        kernel, white = default_kernel(X, variance), None
        if self.kernel is not None:
            kernel, white = split_noise(clone(self.kernel), self.noise)
            check_squared_exponential(kernel, X.shape[1])
        noise, bounds = noise_start(white, fixed, variance, NOISE)
        estimated = variances is None
        shift = distance_from_zero(X)
        data = NoisyData(target, X - shift, X.var(axis=0)[None] if variances is None else variances)
        space = Space(
            kernel,
            noise,
            X.shape[1],
            by_kernel=bool(self.optimize),
            noise_bounds=None if bounds is None else tuple(np.exp(bounds)),
            factor=FACTOR[0] if estimated else 1.0,
            factor_bounds=FACTOR[1] if estimated else None,
        )
        rng = np.random.default_rng(as_random_state(self.random_state).randint(2**31 - 1))
        reporter = Reporter(type(self).__name__, self.verbose)
        found = method.learn(space, data, variance, rng, reporter)
        self._store(method, offset, found.moved(shift) if shift.any() else found)
        return self

    def _store(self, method: LearningMethod, offset: float, found: Learned) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            if name not in ("n_features_in_", "feature_names_in_"):
                delattr(self, name)  # an earlier fit may have had another method
        self.method_, self.offset_ = method, offset
        self.kernel_, self.noise_variance_, factor = found.space.read(found.vector)
        data = found.data
        self.input_noise_ = np.broadcast_to(factor * data.variances, data.X.shape).copy()
        self.inputs_ = found.inputs.copy()
        self.evidence_path_ = found.path
        self.n_iter_ = max(1, len(found.path))
        self.converged_ = bool(found.converged)
        self._mixture = InputMixture(found.processes, offset, self.noise_variance_)
        for name, value in found.attributes.items():
            setattr(self, name, value)
        if not self.converged_ and not time_is_up():
            warnings.warn(
                f"NoisyInputGPR with method={method} had not settled after {len(found.path)} "
                f"turns; {found.remedy}.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def predictive(self) -> InputMixture:
        return self._mixture


def distance_from_zero(X: Array) -> Array:
    """The means of inputs that lie far from zero, as time stamps do: differences lose digits."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    return np.where(np.abs(mean) > FAR * spread, mean, 0.0)


def as_method(method: Any, n_samples: int) -> LearningMethod:
    """A method from its name or an object, with parameters that are what they should be."""
    if isinstance(method, str) and method == "auto":
        method = "stochastic_em" if n_samples <= FEW else "slope"
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    if isinstance(method, LearningMethod):
        method.check()
        return clone(method)
    raise ValueError(
        f"method must be one of {['auto', *METHODS]}, or an object such as "
        f"StochasticEM(n_chains=4), got {method!r}{hint('method', method, METHODS)}."
    )
