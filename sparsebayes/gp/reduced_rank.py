"""Gaussian process regression of reduced rank. Full Gaussian processes are scikit-learn's own."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel

from sparsebayes._rvm.options import as_noise
from sparsebayes._support.calibration import (
    Forecast,
    Forecaster,
    as_folds,
    calibrated,
    check_calibrate,
)
from sparsebayes._support.data import check_fit
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.fits.timed import timed
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.predictive import GaussianRegressorMixin
from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.validation import (
    as_random_state,
    check_choice,
    check_limits,
    check_switches,
    is_auto,
    whole_number,
)
from sparsebayes.engine.linalg import one_thread
from sparsebayes.gp.kernels import check_kernel, default_kernel, noise_start, split_noise
from sparsebayes.gp.predictive import SupportPredictive
from sparsebayes.gp.support import (
    NOISE_RANGE,
    Model,
    SupportPosterior,
    climb,
    evaluate,
    select,
)
from sparsebayes.gp.targets import centred
from sparsebayes.gp.trained import TrainedSupport
from sparsebayes.regression.inverse.methods import InverseMixin

Array = np.ndarray

PATIENCE = 2  # turns without a gain that end the search: one may be an unlucky draw
LOOSE, FINE = 0.1, 1e-9  # when the optimiser ends: in a turn, as a part of tol; at last
MOST = 512  # support inputs of "auto"
SelectionName = Literal["evidence", "posterior", "random"]
SELECTIONS: tuple[str, ...] = get_args(SelectionName)

# What predictions keep of the training data, by model: no part of it, so that copies and files
# do not hold it.
_PREPARED: WeakKeyDictionary[Any, TrainedSupport] = WeakKeyDictionary()


class ReducedRankGPR(
    GuidedMixin,
    NamedSummaryMixin,
    InverseMixin,
    GaussianRegressorMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Gaussian process regression of reduced rank, on a support set of the training inputs.

    The model is ``f(x) = Σ_m w_m k(x, x_m)`` over M support inputs with ``w ~ N(0, K_mm⁻¹)``: at
    the training inputs it approximates the Gaussian process with kernel k, for ``O(N M²)`` instead
    of ``O(N³)`` [1]_. Support set and hyperparameters are learned in turns, both by the evidence.

    Parameters
    ----------
    kernel : kernel of scikit-learn or None, default=None
        The covariance of the centred targets without noise. None takes
        ``ConstantKernel() * RBF()`` with a length scale for each input, all scaled to the data.
        The search stays within the kernel's bounds and leaves "fixed" parameters alone. A
        WhiteKernel that is added to it is taken out: its level is where the search for the noise
        begins, its bounds are those of the noise. `noise` must not be given then.
    n_support : "auto" or int, default="auto"
        Size of the support set. With at least as many as samples, all are taken, and the model is
        the full Gaussian process. With "auto" these are all of up to 512 samples; of more as many
        as the evidence asks for: the set grows until it has three times the size at which the
        evidence rose last by more than `tol` (in the units of `tol`), and to 512 at most.
    selection : {"evidence", "posterior", "random"}, default="evidence"
        How support inputs are chosen: one at a time by the evidence, by the posterior objective of
        Smola and Bartlett [2]_, or all at random.
    optimize : bool, default=True
        Whether to learn the kernel's parameters.
    n_cycles : int, default=10
        The largest number of turns of selection and optimisation. The best turn is kept; a
        random support set is drawn once.
    augment : bool, default=True
        Whether to predict with one more weight, on the test input. Without it predictive
        variances shrink to the noise away from the support inputs; with it predictions cost
        ``O(N M)`` each, and the first one computes an M × N array that is kept (not in files).
    calibrate : "auto", None, int, splitter or list of pairs, default="auto"
        How the standard deviations are made to cover: with "auto" each of five folds is predicted
        from the four others, with kernel and noise as learned, and the factor by which it is missed
        multiplies them (`calibration_`). The other choices are those of `RVR`; None is no factor.
    noise : "estimate" or float, default="estimate"
        A fixed noise variance, or its estimate from the evidence.
    n_search : int, default=59
        Candidates per step of the selection, drawn at random.
    max_iter : int, default=200
        The largest number of steps of the optimiser in one turn.
    max_time : float or None, default=None
        The most seconds that a fit may take, about: then it ends with the best model found, and a
        warning is given.
    tol : float, default=0.001
        Turns end when two in a row gain less than this in log evidence per sample, or with fewer
        than 1000 samples less than this times 1000.
    random_state : int, RandomState instance or None, default=None
        Draws the candidates.

    Attributes
    ----------
    support_ : ndarray of int, (M,)
        Rows of X in the support set, in the order of their choice.
    support_vectors_, X_train_ : ndarray, (M, D) and (N, D)
        Support inputs, and all training inputs, which the extra weight needs.
    kernel_ : kernel
        With the parameters learned, without noise.
    weights_, sigma_ : ndarray, (M,) and (M, M)
        Posterior mean and covariance of the support inputs' weights.
    offset_ : float
        The mean of the targets, which are centred before the fit.
    noise_variance_ : float
    calibration_ : float
        The factor of all standard deviations; 1 for ``calibrate=None``.
    log_evidence_ : float
        Of the centred targets.
    evidence_path_ : ndarray
        The best log evidence after each turn.
    n_iter_ : int
        Turns.
    converged_ : bool
    n_features_in_, feature_names_in_

    See Also
    --------
    sparsebayes.RVR : Sparser, and with a basis of any functions.
    LeaveOneOutGPR : A full Gaussian process, tuned by its leave-one-out density.
    sparsebayes.NoisyInputGPR : For inputs that are known with errors only.

    Notes
    -----
    Predictive standard deviations include the noise. The diagonal of K_mm is raised by 1e-10 of its
    mean (more if rounding demands it), and inputs whose variance given the support is less than
    1e-9 of their own are not taken into it. The evidence has local maxima, and a support set of
    random candidates differs from seed to seed.

    A fit holds a few N × M arrays. An extra weight belongs to one test input alone; in the
    covariance of several, what their weights add is correlated as the Gaussian process given the
    support inputs is.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, chapter 3.
    .. [2] A. Smola, P. Bartlett, "Sparse greedy Gaussian process regression", NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import ReducedRankGPR
    >>> X = np.linspace(-10, 10, 200)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(200)
    >>> model = ReducedRankGPR(n_support=20, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.0], [15.0]], return_std=True)
    >>> bool(std[0] < std[1]), model.support_.shape
    (True, (20,))
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        n_support: int | Literal["auto"] = "auto",
        selection: SelectionName = "evidence",
        optimize: bool = True,
        n_cycles: int = 10,
        augment: bool = True,
        calibrate: Any = "auto",
        noise: Literal["estimate"] | float = "estimate",
        n_search: int = 59,
        max_iter: int = 200,
        max_time: float | None = None,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_support = n_support
        self.selection = selection
        self.optimize = optimize
        self.n_cycles = n_cycles
        self.augment = augment
        self.calibrate = calibrate
        self.noise = noise
        self.n_search = n_search
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.random_state = random_state

    @timed
    def fit(self, X: Any, y: Any) -> ReducedRankGPR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs.
        y : array-like of shape (n_samples,)
            The targets.

        Returns
        -------
        ReducedRankGPR
            This model, fitted.
        """
        self._check_parameters()
        fixed = as_noise(self.noise)
        X, y, _ = check_fit(self, X, y, copy=True)
        folds = as_folds(self.calibrate, X, y)
        target, self.offset_, variance = centred(y)
        kernel, white = default_kernel(X, variance), None
        if self.kernel is not None:
            kernel, white = split_noise(clone(self.kernel), self.noise)
        noise, bounds = noise_start(white, fixed, variance, NOISE_RANGE)

        def held_out(rows: Array) -> Forecaster:
            model = self._of_fold(X[rows], y[rows])
            return lambda test: Forecast(*model.observed(X[test]))

        with one_thread():
            self._learn(X, target, kernel, noise, bounds, variance)
            once = np.ones(len(y))
            found = calibrated(held_out, X, y, once, folds, type(self).__name__)
        self.calibration_ = found.factor
        return self

    def _check_parameters(self) -> None:
        if self.kernel is not None:
            split_noise(check_kernel(self.kernel), self.noise)
        check_choice("selection", self.selection, SELECTIONS)
        check_calibrate(self.calibrate)
        check_switches(optimize=self.optimize, augment=self.augment, verbose=0)
        check_limits(self.max_iter, self.tol)
        if not is_auto(self.n_support):
            if isinstance(self.n_support, str):
                raise ValueError(f"n_support must be 'auto' or a number, got {self.n_support!r}.")
            whole_number("n_support", self.n_support)
        for name in ("n_cycles", "n_search"):
            whole_number(name, getattr(self, name))

    def _learn(
        self,
        X: Array,
        y: Array,
        kernel: Kernel,
        noise: float,
        noise_bounds: Array | None,
        scale: float,
    ) -> None:
        """Take turns in selecting and optimising, keep the best, and polish it."""
        rng = as_random_state(self.random_state)
        distinct = np.sort(distinct_rows(X).first)
        by_kernel = bool(self.optimize) and kernel.n_dims > 0
        by_noise = noise_bounds is not None
        size = self._largest(distinct)
        greedy = self.selection != "random" and size < distinct.size
        turns = int(self.n_cycles) if greedy and (by_kernel or by_noise) else 1

        def climb_from(start: Model, tol: float) -> tuple[Model, bool]:
            if not (by_kernel or by_noise):
                return replace(start, evidence=evaluate(start)[0].evidence), True
            return climb(start, by_kernel, noise_bounds, scale, int(self.max_iter), tol)

        model = best = Model(kernel, X, y, np.empty(0, dtype=np.intp), noise, -np.inf)
        path: list[float] = []
        idle = 0
        for _ in range(turns):
            support = self._select(model, distinct, rng, size)
            model = climb_from(replace(model, support=support), LOOSE * self.tol)[0]
            gain = model.evidence - best.evidence
            if gain > 0:
                best = model
            path.append(best.evidence)
            idle = idle + 1 if gain < self.tol * max(len(y), 1000) else 0
            if idle == PATIENCE or time_is_up():
                break
        settled = turns == 1 or idle > 0
        best, finished = climb_from(best, FINE)
        path[-1] = best.evidence
        self.evidence_path_ = np.array(path)
        self.n_iter_ = len(path)
        self.converged_ = bool(settled and finished)
        self._store(best)
        if not self.converged_ and not time_is_up():
            remedy = "max_iter" if settled else "n_cycles or tol"
            warnings.warn(
                f"ReducedRankGPR was still gaining evidence when it stopped; raise {remedy}, "
                f"or check the bounds of kernel_={self.kernel_}.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _largest(self, distinct: Array) -> int:
        """The largest size of the support set."""
        if not isinstance(self.n_support, str):
            return int(self.n_support)
        return MOST

    def _select(
        self, model: Model, distinct: Array, rng: Any, size: int, grow: bool = True
    ) -> Array:
        """Support inputs of a setting of the hyperparameters; `grow` is where "auto" chooses."""
        if size >= distinct.size:
            return distinct
        grow = grow and isinstance(self.n_support, str)
        if self.selection == "random" and not grow:
            return rng.choice(distinct, size, replace=False)
        return select(
            model,
            size,
            by_evidence=self.selection == "evidence",
            n_search=1 if self.selection == "random" else int(self.n_search),
            rng=rng,
            candidates=distinct,
            slack=self.tol * max(len(model.y), 1000) if grow else None,
        )[0]

    def _store(self, model: Model) -> None:
        self._posterior: SupportPosterior = evaluate(model)[0]
        self.X_train_ = model.X
        self.support_ = model.support
        self.support_vectors_ = model.X[model.support]
        self.kernel_ = model.kernel
        self.noise_variance_ = float(model.noise)
        self.log_evidence_ = self._posterior.evidence
        self.weights_, root = self._posterior.weights()
        self.sigma_ = root.T @ root

    def _of_fold(self, X: Array, y: Array) -> SupportPredictive:
        """The predictions of a fit to some of the samples, with kernel and noise as learned."""
        target, offset, _ = centred(y)
        none = np.empty(0, dtype=np.intp)
        model = Model(self.kernel_, X, target, none, self.noise_variance_)
        distinct = np.sort(distinct_rows(X).first)
        size = len(self.support_)
        support = self._select(model, distinct, np.random.RandomState(0), size, grow=False)
        posterior = evaluate(replace(model, support=support))[0]
        trained = TrainedSupport(self.kernel_, X, support, posterior, model.noise)
        return SupportPredictive(trained, offset, bool(self.augment))

    def _training_range(self) -> Array:
        return np.array([self.X_train_.min(axis=0), self.X_train_.max(axis=0)])

    def predictive(self) -> SupportPredictive:
        trained = _PREPARED.get(self)
        if trained is None or trained.posterior is not self._posterior:  # of another fit
            trained = TrainedSupport(
                self.kernel_, self.X_train_, self.support_, self._posterior, self.noise_variance_
            )
            _PREPARED[self] = trained
        return SupportPredictive(trained, self.offset_, bool(self.augment), self.calibration_)
