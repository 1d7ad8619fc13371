"""Relevance vector regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.base import RelevanceVectorMachine
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.interruption import interruptible
from sparsebayes._rvm.left_out import LeftOut
from sparsebayes._rvm.noise import NoiseVariance, StudentT
from sparsebayes._rvm.options import (
    AdaptName,
    Noise,
    NoiseName,
    PriorName,
    SolverName,
    as_noise_model,
    as_prior,
    with_restarts,
)
from sparsebayes._rvm.predictive import LinearPredictive
from sparsebayes._rvm.progress import Progress, with_callbacks
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.calibration import as_folds, check_calibrate, normal_width
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.fits.clock import OutOfTime
from sparsebayes._support.predictive import GaussianRegressorMixin
from sparsebayes.basis import Basis
from sparsebayes.basis.centres import MOST_ROWS
from sparsebayes.basis.names import BasisLike
from sparsebayes.engine import Exact, Gamma, Gaussian, Prior, Solution, Solver, Stop
from sparsebayes.engine.model.unequal_noise import Tails, UnequalNoise
from sparsebayes.regression import many_rows
from sparsebayes.regression.held_out import HeldOut
from sparsebayes.regression.incremental import FromParts
from sparsebayes.regression.inverse.methods import InverseMixin
from sparsebayes.regression.many_rows import from_sums
from sparsebayes.regression.summed import likelihood_slopes
from sparsebayes.regression.targets import Targets, as_targets, given_variances, relative_weights
from sparsebayes.regression.unequal_start import unequal_start
from sparsebayes.regression.varying_noise import noise_function
from sparsebayes.rows.predictions import by_chunks
from sparsebayes.rows.recognise import as_rows

Array = np.ndarray


class RVR(FromParts, InverseMixin, GaussianRegressorMixin, RegressorMixin, RelevanceVectorMachine):
    """Relevance vector regression: sparse, probabilistic, tuned by the evidence.

    The model is ``y = Σ_m w_m φ_m(x) + noise`` with an independent Gaussian prior on each
    weight. The precisions of these priors and the noise variance maximise the evidence [1]_; most
    precisions become infinite, and their functions leave the model. Several targets at once have
    the same functions, with weights of their own.

    Parameters
    ----------
    basis : str, Basis or callable, default="rbf"
        "rbf", "linear_spline", "thin_plate", "polynomial", "linear", "laplacian", "precomputed"
        (the columns of X are the functions), an object of `sparsebayes.basis`, or ``k(X, Z)``.
    solver : str or solver object, default="sequential"
        "sequential" [2]_, "em", "mackay" [1]_ or "subspace" [3]_. All climb the same objective.
    prior : str, float or prior object, default="flat"
        On the precisions: "flat" is the classical machine; "aic", "bic", "ric" or a number c give
        the smoothness prior [4]_, which keeps fewer functions; or ``Gamma(a, b)``.
    noise : {"estimate", "student", "varying"}, float, Gamma, StudentT or array-like, \
            default="estimate"
        A fixed noise variance, or its estimate from the evidence; ``Gamma(c, d)`` is a prior of
        the precision 1/σ² [1]_, which keeps the noise from collapsing where there is next to none
        (as an inverse-gamma prior of the variance it has shape c and scale d, in squared units of
        y). With a fixed one `sample_weight` may say how precise each sample is: ``noise=1.0`` and
        ``sample_weight=1 / sd**2``. With several targets there is one noise variance for each, and
        as many may be given. "student" is for outliers: samples far from the others hardly count
        (``StudentT(nu)`` gives the degrees of freedom). "varying" is for noise that depends on the
        inputs: its log variance is a second sparse expansion. Both take up to 6 times the time.
    adapt : "auto", "ard", "isotropic" or None, default="auto"
        Length scales to learn from the evidence: one for each input ("ard"), so that those of
        inputs without effect grow; a common factor ("isotropic"); or none. What the basis has is
        where the search starts. "auto" is "ard" for ``length_scale="scale"``, while length
        scales that are given as numbers stay; with fewer than five samples for each input it
        only chooses between "scale" for all inputs and for each. Learning takes about as long
        as the fit itself, with few samples up to three times as long.
    augment : bool, "fast" or float, default=False
        Whether predictions get a function of their own, centred at the test point, whose weight
        the data determine as far as they can [5]_: then the standard deviation grows away from
        the data. The basis needs a kernel; with several, each gets a function. A number is the
        prior variance of the extra weight, True takes that of the targets. The model keeps
        the training rows, and a prediction costs as many operations as there are rows times kept
        functions. "fast" keeps 512 rows, through which it approximates the others.
    calibrate : "auto", None, int, splitter or list of pairs, default="auto"
        How the standard deviations are made to cover. The evidence lets functions take up noise,
        so they come out too small, and say nothing of what the kept functions leave out. With
        "auto" the model is fitted again to each four of five folds, at the length scales learned,
        and the errors on the fifth tell two numbers: a factor (`calibration_`), and the variance
        of what is left out (`left_out_variance_`), a Gaussian process with the kernel as
        covariance, known at the training rows; with many samples fewer folds are enough. A number
        is that of the folds. Folds are chosen by what is in a row, so equal rows share one; where
        samples belong to groups or follow each other in time give a splitter of scikit-learn, or a
        list of pairs ``(train, test)`` of row numbers, as
        ``list(GroupKFold(5).split(X, y, groups))``.
        None is the classical machine. The mean does not depend on it.
    n_restarts : int, default=0
        Further searches from random starts, each about as long as a fit; the highest end whose
        noise has not collapsed is kept. Only for solver="sequential".
    bias : bool, default=True
        Whether a constant function is among the candidates.
    max_iter : int, default=10000
        The largest number of steps of the solver.
    max_time : float or None, default=None
        The most seconds that a fit may take, about: the search then ends with the best model found,
        the choices and error bars that would follow are left out, and a warning is given.
    tol : float, default=0.01
        The fit ends when no addition, deletion or re-estimation of a function gains more than
        this in log evidence; with more than 1000 samples, than `tol` for each 1000.
    random_state : int, RandomState instance or None, default=None
        Used by "subspace" and by `n_restarts`.
    verbose : int, default=0
        1 prints every tenth step, 2 each.

    Attributes
    ----------
    relevance_ : ndarray of int, (S,)
        The functions kept, in the order of the basis; the bias is number 0 if there is one.
    relevance_vectors_ : ndarray, (R, D)
        The rows of X on which kept functions are centred.
    weights_, sigma_ : ndarray, (S,) and (S, S)
        Posterior mean and covariance of the kept functions' weights. Where large weights cancel,
        predictions take a root of it, which has more digits. With K targets (S, K) and (S, S, K).
    alpha_, determined_ : ndarray, (S,)
        Their prior precisions, and ``1 − α Σ_ii``: 1 where the data determine a weight. With K
        targets `alpha_` is (S, K): a function has one precision, in units of each target's noise.
    coef_, intercept_ : ndarray, (D,), and float
        Only if all functions are linear in the inputs, as with ``basis="linear"``: then
        ``X @ coef_ + intercept_`` is the prediction. The inputs that were dropped have 0. With K
        targets (K, D) and (K,).
    feature_importances_ : ndarray, (D,)
        How much the prediction depends on each input: its mean squared change over the training
        rows when the input is set to a low and to a high value (those at one standard deviation
        of a normal input), divided by the sum over the inputs. All 0 if nothing was kept.
    length_scale_ : ndarray, (D,)
        Only if the basis has some: the length scales after `adapt`, one for each input. In
        a union, those of the first kernel that has some; `basis_` has the others.
    augment_variance_ : float
        With `augment`, the prior variance of an extra weight.
    offset_ : float
        The mean of the targets, which are centred before the fit. This and the three that follow
        are one for each of several targets, (K,).
    noise_variance_ : float
        As estimated, or given; the noise in `predict` is ``calibration_**2`` times an estimated
        one, and a given one as it is. With outliers it is the square of what 68 % of them are
        within, as of a normal distribution; with noise that varies, that which its relative
        variance multiplies.
    calibration_ : float
        The factor of the classical standard deviations, with the noise given of those of the
        function; 1 for ``calibrate=None``.
    left_out_variance_ : float
        What the square of a standard deviation has besides where no training row is near: the
        variance of what the kept functions leave out. It is 0 for ``calibrate=None``, with
        `augment`, for bases without a covariance kernel or with several, and where the rows held
        out show no need for it.
    nu_ : float
        With ``noise=StudentT()``, the degrees of freedom; infinite where no outliers show.
    log_evidence_ : float
        Of the centred targets, the sum over several; a lower bound of it with outliers.
    evidence_path_ : ndarray
        The objective (log evidence and log prior) along the accepted steps; it never falls.
    approximation_ : str or None
        With many rows, what was done not to look at all of them at once; else None.
    n_iter_, converged_, stop_reason_ : int, bool and str
        How many steps the solver took, whether it came to the end, and why it stopped.
    basis_ : Basis
        The fitted basis with the kept functions only.
    n_features_in_, feature_names_in_

    See Also
    --------
    sparsebayes.RVC : The same model for labels.
    sparsebayes.ReducedRankGPR : Gaussian process regression with few support points.
    sparsebayes.NoisyInputGPR : Regression for inputs that are known with errors only.
    sparsebayes.sample_posterior : Error bars that include which functions belong in the model.
    sparsebayes.basis : The functions that a model may be made of.

    Notes
    -----
    The evidence has many local maxima; the fit ends in one of them. Predictive standard
    deviations include the noise. Away from the data (`inside` tells) they grow to the square root
    of the noise and `left_out_variance_` together, with `augment` to that of the noise and
    `augment_variance_`; with neither, those of a localised basis shrink to the noise.

    Ctrl-C during a fit raises KeyboardInterrupt. The estimator then has the best model so far, with
    ``converged_ = False``; or, if the search had not begun, it is as it was before.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 2001.
    .. [2] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
       models", AISTATS 2003.
    .. [3] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4.
    .. [4] A. Schmolck, "Smooth Relevance Vector Machines", 2008.
    .. [5] C. Rasmussen, J. Quiñonero-Candela, "Healing the relevance vector machine through
       augmentation", ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> model = RVR().fit(X, y)
    >>> mean, std = model.predict([[0.0], [5.0]], return_std=True)
    >>> mean.shape, std.shape
    ((2,), (2,))
    """

    predict = by_chunks(GaussianRegressorMixin.predict)
    approximation_: str | None
    _learns_scales = True
    _left_out: LeftOut | None = None
    _noise_function: NoiseVariance | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __init__(
        self,
        basis: BasisLike = "rbf",
        *,
        solver: SolverName | Solver = "sequential",
        prior: PriorName | float | Prior = "flat",
        noise: NoiseName | float | Gamma | StudentT | ArrayLike = "estimate",
        adapt: AdaptName | None = "auto",
        augment: bool | float | Literal["fast"] = False,
        calibrate: Any = "auto",
        n_restarts: int = 0,
        bias: bool = True,
        max_iter: int = 10_000,
        max_time: float | None = None,
        tol: float = 0.01,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.basis = basis
        self.solver = solver
        self.prior = prior
        self.noise = noise
        self.adapt = adapt
        self.augment = augment
        self.calibrate = calibrate
        self.n_restarts = n_restarts
        self.bias = bias
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @interruptible
    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RVR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A memory map, a dask array or dataframe is read in parts; so is an iterable of chunks
            ``(X, y)`` or ``(X, y, sample_weight)``, without the other arguments.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets. Several columns share their functions.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice, a weight of 0 as none. With the noise
            given it may be a precision, see `noise`.

        Returns
        -------
        RVR
            This model, fitted.
        """
        solver = self._checked_solver()
        self.__dict__.pop("_statistics", None)
        self.approximation_, self._first_centres = None, None
        rows = as_rows(X, y, sample_weight)
        few = None if rows is None else rows.few(MOST_ROWS)
        if rows is not None and few is None:
            many_rows.fit_rows(self, solver, rows)
            return self
        if few is not None:
            X, y, sample_weight = few.X, few.y, few.weights
        X, y, weights = self._check_data(X, y, sample_weight, several=True)
        if rows is not None:
            self._store_names(rows.feature_names)
        noise = as_noise_model(self.noise, y.shape[1] if y.ndim == 2 else None)
        folds = as_folds(self.calibrate, X, y)
        progress = Progress(self, X, y, self.max_iter)

        self._noise_given = noise.variance is not None
        if noise.variance is not None:
            # Weights of 1 on average: a precision is no number of samples, and has a unit.
            typical = float(weights.sum()) / len(distinct_rows(X[weights > 0]).first)
            weights, noise = weights / typical, Noise(noise.variance / typical)
        fitted = self._fit_basis(X, weights)
        if from_sums(fitted, weights, noise):
            many_rows.fit_arrays(self, solver, X, y, weights, noise, folds, progress)
        else:
            self._fit_all(solver, fitted, X, y, weights, noise, folds, progress)
        if self._noise_given:
            self.noise_variance_ = given_variances(self.noise, y)
        progress.end()
        return self

    def _checked_solver(self) -> Solver:
        """The solver, after a look at all parameters."""
        solver = self._check_parameters()
        if not isinstance(self.noise, (list, tuple, np.ndarray)):
            as_noise_model(self.noise)
        check_calibrate(self.calibrate)
        return with_restarts(solver, self.n_restarts)

    def _fit_all(
        self, solver: Solver, first: Basis, X: Array, y: Array, weights: Array, noise: Noise,
        folds: Any, progress: Progress,
    ) -> None:  # fmt: skip
        """Fit to all rows, which are held."""
        samples = X, y, weights
        if not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        targets, problem = self._problem(first, X, y, weights, noise)
        unequal = unequal_start(self, problem, first, X, weights, noise)
        if unequal is not None:
            targets, problem = self._problem(first, X, y, weights, noise, unequal)
        fitted, solution = self._climb(solver, problem, first, X, weights, progress)
        if any(kernel.centres is not None for kernel in first.centred):
            solution = many_rows.ended(solution)  # where fits to parts and sums end too
        self._store(fitted, solution, targets)
        found = self._sites(solution)
        held_out = HeldOut(self, solver, fitted, *samples, noise, found, folds)
        if self._noise_function and not (self._cut_short or held_out.varying_noise_pays()):
            targets, problem = self._problem(first, X, y, weights, noise)
            fitted, solution = self._climb(solver, problem, first, X, weights, progress)
            self._store(fitted, solution, targets)
            held_out = replace(held_out, basis=fitted, sites=self._sites(solution), _fits={})
        self._store_inputs(X, relative_weights(self.weights_, targets).T, weights)
        self._drop_training_rows()
        if self.augment:
            kept = self._kept_weights()
            self._store_training_rows(X, *likelihood_slopes(kept, X, targets, solution))
        self._calibrate(held_out)

    def _problem(
        self,
        basis: Basis,
        X: Array,
        y: Array,
        weights: Array,
        noise: Noise,
        unequal: UnequalNoise | None = None,
    ) -> tuple[Targets, Exact]:
        """The targets, centred, and what is to be maximised for them."""
        targets = as_targets(y, weights, noise, unequal)
        prior = as_prior(self.prior, targets.sites.size)
        return targets, Exact(self._first_design(basis, X), prior, targets.sites, memory_budget())

    def _store(self, basis: Basis, solution: Solution, targets: Targets) -> None:
        state, sites = solution.state, self._sites(solution)
        functions = basis.distinct_[state.active]
        order = np.argsort(functions)
        self._keep(basis, functions[order])
        self.offset_ = targets.offset
        self.weights_ = np.asarray(targets.spread(state.mean[order], sites))
        self._units = targets.spread(1.0, sites)
        self._sigma = state.cov[order][:, order]
        self._sigma_root = None if state.residual is None else state.root[order]
        self._alpha = state.alpha[order]
        self.determined_ = state.determined[order]
        self.noise_variance_ = targets.noise_variances(sites, float(1.0 / state.beta))
        self.__dict__.pop("nu_", None)
        if isinstance(sites.unequal, Tails):
            self.nu_ = float(sites.unequal.nu)
            self.noise_variance_ = normal_width(self.nu_) ** 2 * self.noise_variance_
        self._noise_function = noise_function(sites)
        none = np.zeros(np.shape(self._units)) if np.ndim(self._units) else 0.0
        self.calibration_, self.left_out_variance_, self._left_out = none + 1.0, none, None
        self._store_search(solution, sites.n_targets)

    @property
    def alpha_(self) -> Array:  # type: ignore[override]
        """The prior precisions of the kept weights, (S,) or (S, K)."""
        if np.ndim(self._units) == 0:
            return self._alpha
        with np.errstate(divide="ignore"):  # the weights of a constant target are 0 for sure
            return np.multiply.outer(self._alpha, 1.0 / np.square(self._units))

    @property
    def sigma_(self) -> Array:  # type: ignore[override]
        """The posterior covariance of the kept weights, (S, S) or (S, S, K)."""
        if np.ndim(self._units) == 0:
            return self._sigma
        return np.multiply.outer(self._sigma, np.square(self._units))

    def _covariance(self) -> Covariance:
        return Covariance(self._sigma, self._sigma_root)

    def _kept_weights(self) -> KeptWeights:
        """In units of the noise where there are several targets."""
        weights = self.weights_
        if weights.ndim == 2:
            units = np.asarray(self._units)
            weights = np.divide(weights, units, out=np.zeros_like(weights), where=units > 0)
        every = np.arange(len(self._alpha))
        return KeptWeights(
            self.basis_, weights, self._covariance(), self._alpha, np.zeros_like(every), every
        )

    def _latent_weights(self) -> Array:
        return np.atleast_2d(self.weights_.T)

    @property
    def coef_(self) -> Array:
        """The slope of the prediction in each input, of a linear basis."""
        coef = self._linear_terms("coef_")[0]
        return coef if self.weights_.ndim == 2 else coef[0]

    @property
    def intercept_(self) -> float | Array:
        """The prediction where all inputs are 0, of a linear basis."""
        constant = self._linear_terms("intercept_")[1]
        return self.offset_ + (constant if self.weights_.ndim == 2 else float(constant[0]))

    def _calibrate(self, held_out: HeldOut) -> None:
        if self._cut_short:
            return
        try:
            found, process = held_out.calibration()
        except (KeyboardInterrupt, OutOfTime) as error:
            stop = Stop.MAX_TIME if isinstance(error, OutOfTime) else Stop.INTERRUPTED
            self.converged_, self.stop_reason_ = False, stop.value
            return
        self.calibration_, self.left_out_variance_ = found
        self._left_out = process

    @property
    def _cut_short(self) -> bool:
        """Whether the search was ended, so that nothing else is tried."""
        return self.stop_reason_ in (Stop.INTERRUPTED.value, Stop.MAX_TIME.value)

    @staticmethod
    def _sites(solution: Solution) -> Gaussian:
        """What the data say, as it was found in turns with the model."""
        assert isinstance(solution.problem, Exact)
        return solution.problem.sites

    def predictive(self) -> LinearPredictive:
        return LinearPredictive(
            self.basis_,
            self.weights_,
            self._covariance(),
            self.offset_,
            self.noise_variance_,
            self._augmentation(),
            self._left_out,
            self.left_out_variance_,
            self._units,
            nu=getattr(self, "nu_", None),
            varying=self._noise_function,
        ).calibrated(self.calibration_, noise=not self._noise_given)
