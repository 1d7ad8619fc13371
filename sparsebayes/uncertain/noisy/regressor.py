"""Gaussian process regression on training inputs that are known with noise."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sparsebayes._rvm.options import as_noise
from sparsebayes._support.predictive import GaussianRegressorMixin
from sparsebayes._support.validation import (
    check_choice,
    check_limits,
    check_range,
    check_switches,
    remedies,
)
from sparsebayes.engine.linalg import one_thread
from sparsebayes.engine.noisy_gp import precisions
from sparsebayes.gp.kernels import check_kernel, default_kernel
from sparsebayes.uncertain.noisy import impute, slope, stochastic_em
from sparsebayes.uncertain.noisy.mixture import InputMixture, Process
from sparsebayes.uncertain.noisy.space import (
    Data,
    Space,
    check_input_noise,
    check_squared_exponential,
)

Array = np.ndarray

METHODS = ("stochastic_em", "impute", "slope")
NOISE = (1e-8, 10.0)  # bounds of the output noise, in units of the variance of the targets
FACTOR = (0.01, (1e-6, 1.0))  # input noise to begin with and its bounds, in variances of the inputs
TURNS = 20  # of "slope"
OPTIONAL = (
    "samples_",
    "sample_log_density_",
    "noise_path_",
    "level_scores_",
    "acceptance_",
    "step_size_",
    "effective_sample_size_",
    "log_evidence_",
)


class NoisyInputGPR(GaussianRegressorMixin, RegressorMixin, BaseEstimator):
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
        parameters alone.
    input_noise : float, array-like or "estimate"
        Variance of the noise of the inputs: one for all, (D,) or (1, D) for each input, (N,) or
        (N, 1) for each sample, or (N, D). With "estimate" it is learned as one fraction of the
        variance of each input, so that units do not matter; data tell it apart from the noise of
        the outputs only where the slope of the function varies, so give it if you know it.
    method : {"stochastic_em", "impute", "slope"}, default="stochastic_em"
        "stochastic_em" samples the inputs from their posterior and learns hyperparameters from
        the samples [1]_: the most accurate, for a few hundred samples. "impute" maximises the
        posterior of the inputs while the output noise is lowered step by step [1]_. "slope" takes
        the noise of the inputs for noise of the outputs that is larger where the function is
        steep [2]_, of a process averaged over the inputs [3]_: fast, for a few thousand samples.
    noise : "estimate" or float, default="estimate"
        A fixed variance of the noise of the outputs, or its estimate.
    optimize : bool, default=True
        Whether to learn the kernel's parameters.
    n_samples : int, default=64
        "stochastic_em": the number of sampled sets of inputs to predict with.
    n_chains : int, default=8
        "stochastic_em": chains that are sampled side by side.
    thin : int, default=4
        "stochastic_em": moves of the sampler for each set that is kept.
    n_levels : int, default=20
        "impute": levels of the output noise, from half the variance of the targets down to
        `noise`, or to 1e-4 of the variance. With 1 there is no annealing.
    n_folds : int, default=5
        "impute": parts that are left out in turn to choose the level, if the noise is estimated.
    max_iter : int, default=100
        The largest number of turns of "stochastic_em", and of steps of the optimiser at a level
        of "impute".
    tol : float, default=0.1
        "stochastic_em" ends when no logarithm of a hyperparameter has drifted by more than this,
        or than its scatter, between the last ten turns and the ten before. "slope" ends when
        turns gain less than a hundredth of this in leave-one-out log density per sample.
    random_state : int, RandomState instance or None, default=None
        Draws the samples, or the folds, or the subset of samples that "slope" begins with.
    verbose : int, default=0
        1 tells of every tenth turn of "stochastic_em", 2 of each.

    Attributes
    ----------
    inputs_ : ndarray, (N, D)
        Imputed inputs, or the posterior mean of the sampled ones; for "slope" those observed.
    samples_ : ndarray, (n_samples, N, D)
        Sampled sets of inputs, chain after chain ("stochastic_em" only).
    sample_log_density_ : ndarray, (n_samples,)
        Log posterior density of each, up to a constant.
    kernel_ : kernel
        With the parameters learned.
    noise_variance_ : float
        Of the outputs.
    input_noise_ : ndarray, (N, D)
        Variances of the noise of the inputs.
    offset_ : float
        The mean of the targets, which are centred before the fit.
    log_evidence_ : float
        Log density of the centred targets: for "slope" of the Gaussian that stands for them, for
        "impute" jointly with the inputs, up to a constant. Absent for "stochastic_em".
    evidence_path_ : ndarray
        For each turn or level: the mean log evidence of the samples, the joint log density of
        targets and imputed inputs, or for "slope" the leave-one-out log density.
    noise_path_ : ndarray
        The noise variance of the outputs after each turn of "stochastic_em", or at each level.
    level_scores_ : ndarray, (n_levels, 2)
        Noise variances tried by "impute" and the log density of left-out samples at each.
    acceptance_, step_size_ : float
        Of the Hamiltonian trajectories.
    effective_sample_size_ : ndarray, (N, D)
        How many independent draws the last ``n_samples × thin`` moves were worth.
    n_iter_ : int
        Turns, or levels.
    converged_ : bool
    n_features_in_, feature_names_in_

    Notes
    -----
    Predictive standard deviations include the noise. With `input_noise` 0 there is nothing to
    sample, and "stochastic_em" and "slope" are both the ordinary Gaussian process; "impute" is so
    with a noise that is one of its levels.

    "stochastic_em" keeps an N × N matrix for each sampled set. Its predictive distribution is a
    mixture; `predict` gives mean and standard deviation, `sample_y` draws from the mixture itself.
    "impute" chooses the noise level that predicts left-out samples best, with their own inputs
    integrated out; its standard deviations know nothing of what is uncertain about the inputs. If
    `input_noise` is estimated, it takes the estimate of "slope", which the search of
    "stochastic_em" begins with too. "slope" often underestimates the noise of the outputs when
    samples are few.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.3.
    .. [2] A. McHutchon, C. Rasmussen, "Gaussian process training with input noise", NIPS 2011.
    .. [3] P. Dallaire, C. Besse, B. Chaib-draa, "Learning Gaussian process models from uncertain
       data", ICONIP 2009.

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
        method: str = "stochastic_em",
        noise: Any = "estimate",
        optimize: bool = True,
        n_samples: int = 64,
        n_chains: int = 8,
        thin: int = 4,
        n_levels: int = 20,
        n_folds: int = 5,
        max_iter: int = 100,
        tol: float = 0.1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.input_noise = input_noise
        self.method = method
        self.noise = noise
        self.optimize = optimize
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.thin = thin
        self.n_levels = n_levels
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> NoisyInputGPR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs as observed.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : NoisyInputGPR
        """
        self._check_parameters()
        for name in OPTIONAL:  # of an earlier fit with another method
            self.__dict__.pop(name, None)
        fixed = as_noise(self.noise)
        with remedies():
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range(y)
        if self.kernel is not None:
            check_squared_exponential(self.kernel, X.shape[1])
        variances = check_input_noise(self.input_noise, X)
        self.offset_ = float(y.mean())
        target = y - self.offset_
        # Rounding leaves this much of a constant target after centring; it is not a signal.
        rounding = 4.0 * np.finfo(np.float64).eps * (np.abs(y).max() or 1.0)
        if np.abs(target).max() <= rounding:
            target = np.zeros_like(target)
        variance = max(float(target @ target) / len(y), rounding**2)
        kernel = default_kernel(X, variance) if self.kernel is None else clone(self.kernel)
        estimated = variances is None
        data = Data(target, X, X.var(axis=0)[None] if variances is None else variances)
        space = Space(
            kernel,
            0.1 * variance if fixed is None else fixed,
            X.shape[1],
            by_kernel=bool(self.optimize),
            noise_bounds=None if fixed else (NOISE[0] * variance, NOISE[1] * variance),
            factor=FACTOR[0] if estimated else 1.0,
            factor_bounds=FACTOR[1] if estimated else None,
        )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        getattr(self, f"_fit_{self.method}")(space, data, variance, np.random.default_rng(seed))
        return self

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        if self.kernel is not None:
            check_kernel(self.kernel)
        check_switches(optimize=self.optimize, verbose=self.verbose)
        check_limits(self.max_iter, self.tol)
        lowest = {"n_samples": 1, "n_chains": 1, "thin": 1, "n_levels": 1, "n_folds": 2}
        for name, least in lowest.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
                raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}.")

    def _fit_slope(
        self, space: Space, data: Data, variance: float, rng: np.random.Generator
    ) -> None:
        fit, path, converged = self._slope(space, data, rng)
        self._store(space, fit.vector, data, data.X, [fit.process])
        self.log_evidence_ = fit.evidence
        self._end(path, converged, "give input_noise or noise if you know them, or raise tol")

    def _slope(
        self, space: Space, data: Data, rng: np.random.Generator
    ) -> tuple[slope.SlopeFit, Array, bool]:
        return slope.learn(space, data, TURNS, 0.01 * self.tol, rng)

    def _fit_impute(
        self, space: Space, data: Data, variance: float, rng: np.random.Generator
    ) -> None:
        if space.factor_bounds:
            factor = space.input_factor(self._slope(space, data, rng)[0].vector)
            data = Data(data.y, data.X, factor * data.variances)
        with one_thread():
            path, scores, converged = impute.learn(
                space.hold(space.start, space.noise, factor=1.0),
                data,
                noise=None if space.noise_bounds else space.noise,
                variance=variance,
                n_levels=int(self.n_levels),
                n_folds=int(self.n_folds),
                max_iter=int(self.max_iter),
                rng=rng,
            )
        last = path[-1]
        process = impute.process_of(last, data)
        self._store(last.space, last.vector, data, process.inputs, [process])
        self.log_evidence_ = last.value
        self.noise_path_ = np.array([state.noise for state in path])
        if scores is not None:
            self.level_scores_ = scores
        self._end(np.array([state.value for state in path]), converged, "raise max_iter")

    def _fit_stochastic_em(
        self, space: Space, data: Data, variance: float, rng: np.random.Generator
    ) -> None:
        if not data.variances.any():
            self._fit_slope(space, data, variance, rng)
            return
        # From high noise to low: from below, samples that fit too well keep the noise too low.
        vector = space.lift(self._slope(space, data, rng)[0].vector, 1.0)
        with one_thread():
            found = stochastic_em.learn(
                space,
                vector,
                data,
                n_chains=min(int(self.n_chains), int(self.n_samples)),
                n_samples=int(self.n_samples),
                thin=int(self.thin),
                max_iter=int(self.max_iter),
                tol=float(self.tol),
                rng=rng,
                report=self._report,
            )
            samples = found.inputs.reshape(-1, *data.X.shape)[: int(self.n_samples)]
            theta = space.theta(found.vector)
            clean = np.zeros((1, data.X.shape[1]))
            P = precisions(samples, theta)[1]
            processes = [
                Process(theta, x, clean, p, p @ data.y) for x, p in zip(samples, P, strict=True)
            ]
        self._store(space, found.vector, data, data.X + (samples - data.X).mean(axis=0), processes)
        self.samples_ = samples
        self.sample_log_density_ = found.values.ravel()[: len(samples)]
        self.noise_path_ = np.array([space.theta(v).noise for v in found.vectors[1:]])
        self.acceptance_, self.step_size_ = found.acceptance, found.step
        self.effective_sample_size_ = found.effective
        self._end(
            found.path, found.converged, "raise max_iter or tol, or give noise if you know it"
        )

    def _report(self, turn: int, noise: float, value: float) -> None:
        if self.verbose and (turn % 10 == 1 or self.verbose > 1):
            print(
                f"[NoisyInputGPR] turn {turn:4d}  mean log evidence {value:.6g}  "
                f"noise variance {noise:.3g}"
            )

    def _store(
        self, space: Space, vector: Array, data: Data, inputs: Array, processes: list[Process]
    ) -> None:
        self.kernel_, self.noise_variance_, factor = space.read(vector)
        self.input_noise_ = np.broadcast_to(factor * data.variances, data.X.shape).copy()
        self.inputs_ = inputs.copy()
        self._mixture = InputMixture(processes, self.offset_, self.noise_variance_)

    def _end(self, path: Array, converged: bool, remedy: str) -> None:
        self.evidence_path_ = path
        self.n_iter_ = max(1, len(path))
        self.converged_ = bool(converged)
        if not converged:
            warnings.warn(
                f"NoisyInputGPR with method={self.method!r} had not settled after "
                f"{len(path)} turns; {remedy}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def predictive(self) -> InputMixture:
        return self._mixture
