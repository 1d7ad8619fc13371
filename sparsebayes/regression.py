"""Relevance vector regression."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.base import RelevanceVectorMachine
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.interruption import interruptible
from sparsebayes._rvm.left_out import LeftOut, covariance_kernel, left_out, noise_ratio
from sparsebayes._rvm.options import Noise, as_noise_model, as_prior, with_restarts
from sparsebayes._rvm.predictive import LinearPredictive
from sparsebayes._rvm.progress import Progress, with_callbacks
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.calibration import (
    Forecast,
    Forecaster,
    as_folds,
    calibrated,
    check_calibrate,
    is_splitter,
    merged,
)
from sparsebayes._support.predictive import GaussianRegressorMixin
from sparsebayes._support.validation import check_range
from sparsebayes.basis import Basis
from sparsebayes.engine import Exact, Gaussian, Solution, Solver, Stop

__all__ = ["RVR"]

Array = np.ndarray

_SCALES_PER_ROW = 0.1  # more are learned again where rows are held out
_FOLD_TOL = 1.0  # nats for 1000 samples at which a fit to some folds ends: less moves no error bar


class RVR(GaussianRegressorMixin, RegressorMixin, RelevanceVectorMachine):
    """Relevance vector regression: sparse, probabilistic, tuned by the evidence.

    The model is ``y = Σ_m w_m φ_m(x) + noise`` with an independent Gaussian prior on each
    weight. The precisions of these priors and the noise variance maximise the evidence [1]_; most
    precisions become infinite, and their functions leave the model.

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
    noise : "estimate", float or Gamma, default="estimate"
        A fixed noise variance, or its estimate from the evidence; ``Gamma(c, d)`` is a prior of
        the precision 1/σ² [1]_, which keeps the noise from collapsing where there is next to none
        (as an inverse-gamma prior of the variance it has shape c and scale d, in squared units of
        y). With a fixed one `sample_weight` may say how precise each sample is: ``noise=1.0`` and
        ``sample_weight=1 / sd**2``.
    adapt : "auto", "ard", "isotropic" or None, default="auto"
        Length scales to learn from the evidence: one for each input ("ard"), so that those of
        inputs without effect grow; a common factor ("isotropic"); or none. What the basis has is
        where the search starts. "auto" is "ard" for ``length_scale="scale"``, while length
        scales that are given as numbers stay; with fewer than five samples for each input it
        only chooses between "scale" for all inputs and for each. Learning takes ten to twenty
        times the time of a fit.
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
        predictions take a root of it, which has more digits.
    alpha_, determined_ : ndarray, (S,)
        Their prior precisions, and ``1 − α Σ_ii``: 1 where the data determine a weight.
    coef_, intercept_ : ndarray, (D,), and float
        Only if all functions are linear in the inputs, as with ``basis="linear"``: then
        ``X @ coef_ + intercept_`` is the prediction. The inputs that were dropped have 0.
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
        The mean of the targets, which are centred before the fit.
    noise_variance_ : float
        As estimated, or given; the noise in `predict` is ``calibration_**2`` times an estimated
        one, and a given one as it is.
    calibration_ : float
        The factor of the classical standard deviations, with the noise given of those of the
        function; 1 for ``calibrate=None``.
    left_out_variance_ : float
        What the square of a standard deviation has besides where no training row is near: the
        variance of what the kept functions leave out. It is 0 for ``calibrate=None``, with
        `augment`, for bases without a covariance kernel or with several, and where the rows held
        out show no need for it.
    log_evidence_ : float
        Of the centred targets.
    evidence_path_ : ndarray
        The objective (log evidence and log prior) along the accepted steps; it never falls.
    n_iter_ : int
    converged_ : bool
    stop_reason_ : str
    basis_ : Basis
        The fitted basis with the kept functions only.
    n_features_in_, feature_names_in_

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

    _learns_scales = True
    _left_out: LeftOut | None = None

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        solver: Any = "sequential",
        prior: Any = "flat",
        noise: Any = "estimate",
        adapt: str | None = "auto",
        augment: bool | float | str = False,
        calibrate: Any = "auto",
        n_restarts: int = 0,
        bias: bool = True,
        max_iter: int = 10_000,
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
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @interruptible
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RVR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice, a weight of 0 as none. With the noise
            given it may be a precision, see `noise`.

        Returns
        -------
        self : RVR
        """
        solver, noise = self._check_parameters(), as_noise_model(self.noise)
        check_calibrate(self.calibrate)
        solver = with_restarts(solver, self.n_restarts)
        X, y, weights = self._check_data(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range(y)
        folds = as_folds(self.calibrate, X, y)
        progress = Progress(self, X, y, self.max_iter)

        self._noise_given = noise.variance is not None
        if noise.variance is not None:
            # Weights of 1 on average: a precision is no number of samples, and has a unit.
            typical = float(weights.sum()) / len(np.unique(X[weights > 0], axis=0))
            weights, noise = weights / typical, Noise(noise.variance / typical)
        samples, fitted = (X, y, weights), self._fit_basis(X, weights)
        if not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.offset_, problem = self._problem(fitted, X, y, weights, noise)
        fitted, solution = self._climb(solver, problem, fitted, X, weights, progress)
        self._store(fitted, samples[0], solution)
        self._store_inputs(X, self.weights_[None], weights)
        kept = self._kept_weights()
        self._store_training_rows(X, *self._derivatives(kept, X, problem.sites, solution))
        self._calibrate(solver, fitted, *samples, noise, folds)
        if noise.variance is not None:
            self.noise_variance_ = float(self.noise)
        progress.end()
        return self

    def _problem(
        self, basis: Basis, X: Array, y: Array, weights: Array, noise: Noise
    ) -> tuple[float, Exact]:
        """The mean of the targets, and what is to be maximised for the rest."""
        offset = float(np.average(y, weights=weights))
        sites = self._sites(y - offset, weights, noise, offset)
        prior = as_prior(self.prior, sites.size)
        return offset, Exact(self._design(basis, X), prior, sites, memory_budget())

    @staticmethod
    def _sites(target: Array, weights: Array, noise: Noise, offset: float) -> Gaussian:
        # Rounding leaves this much of a constant target after centring; it is not a signal.
        rounding = 4.0 * np.finfo(np.float64).eps * max(abs(offset), np.abs(target).max())
        if np.abs(target).max() <= rounding:
            target = np.zeros_like(target)
            if noise.variance is None:
                least = float(rounding or np.finfo(np.float64).eps) ** 2
                prior = 2.0 * noise.rate / (float(weights.sum()) + 2.0 * noise.shape)
                noise = Noise(max(least, prior))
        return Gaussian(target, weights, *noise)

    def _store(self, basis: Basis, X: Array, solution: Solution) -> None:
        state = solution.state
        functions = basis.distinct_[state.active]
        order = np.argsort(functions)
        self._keep(basis, X, functions[order])
        self.weights_ = state.mean[order]
        self.sigma_ = state.cov[order][:, order]
        self._sigma_root = None if state.residual is None else state.root[order]
        self.alpha_ = state.alpha[order]
        self.determined_ = state.determined[order]
        self.noise_variance_ = float(1.0 / state.beta)
        self._store_search(solution)

    def _covariance(self) -> Covariance:
        return Covariance(self.sigma_, self._sigma_root)

    @property
    def coef_(self) -> Array:
        return self._linear_terms("coef_")[0][0]

    @property
    def intercept_(self) -> float:
        return float(self._linear_terms("intercept_")[1][0]) + self.offset_

    @staticmethod
    def _derivatives(
        kept: KeptWeights, X: Array, sites: Gaussian, solution: Solution
    ) -> tuple[Array, Array, float]:
        """Those of the log likelihood at X, (N, 1) and (N, 1, 1), and the targets' variance."""
        residual = sites.target - kept.basis.columns(X) @ kept.mean
        curve = (sites.weights / float(1.0 / solution.state.beta))[:, None]
        variance = float(np.average(sites.target**2, weights=sites.weights))
        return curve * residual[:, None], curve[:, None], variance

    def _calibrate(
        self,
        solver: Solver,
        fitted: Basis,
        X: Array,
        y: Array,
        weights: Array,
        noise: Noise,
        folds: Any,
    ) -> None:
        self.calibration_, self.left_out_variance_, self._left_out = 1.0, 0.0, None
        if self.stop_reason_ == Stop.INTERRUPTED.value:
            return
        quick = solver.quick() if hasattr(solver, "quick") else solver

        tol, whole = max(self.tol, _FOLD_TOL), self.predictive()
        log_scales, kinds = fitted.log_scales(), np.unique(fitted.kinds()[fitted.distinct_])
        n_scales = min(log_scales.size, np.count_nonzero(kinds >= 0) * X.shape[1])
        # Many length scales follow the noise themselves: it shows only if they are learned again.
        many = n_scales > _SCALES_PER_ROW * np.count_nonzero(weights)
        again = many and self._learns(fitted)

        # With the noise given a weight says how precise a sample is, else how often it counts.
        samples, counts, known = (X, y, weights), weights, noise.variance
        if known is not None:
            if not is_splitter(folds):  # whose row numbers are those of X
                X, y, weights = merged(X, y, weights)
            counts = np.where(weights > 0, 1.0, 0.0)

        def forecast(model: LinearPredictive, test: Array) -> Forecast:
            mean, variance = model.marginal(X[test])
            if known is not None:
                return Forecast(mean, variance, known=known / weights[test])
            return Forecast(mean, variance + model.noise)

        def fit(rows: Array) -> Forecaster:
            part = X[rows], weights[rows]
            basis = self._fit_basis(*part)
            basis = basis if again else basis.rescaled(log_scales)
            offset, problem = self._problem(basis, part[0], y[rows], part[1], noise)
            if problem.energy == 0 and known is None:  # nothing is told of the noise
                told = Noise(self.noise_variance_)
                offset, problem = self._problem(basis, part[0], y[rows], part[1], told)
            if again:
                basis, solution = self._climb(quick, problem, basis, *part, None, tol)
                model = self._of_fold(basis, part[0], offset, problem.sites, solution)
                # With fewer rows another kind of model may be found: its errors count, not its std.
                return lambda test: forecast(whole, test)._replace(mean=model.mean(X[test]))
            solution = self._run(quick, problem, tol)
            model = self._of_fold(basis, part[0], offset, problem.sites, solution)
            functions = np.sort(basis.distinct_[solution.state.active])
            process = self._left_out_by(basis, functions, part[0], y[rows], part[1], model.noise)
            if process is None:
                return partial(forecast, model)

            def both(test: Array) -> Forecast:
                further = process.variances(X[test], model.basis.columns(X[test]))
                return forecast(model, test)._replace(further=further)

            return both

        process = None
        try:
            found = calibrated(
                fit, X, y, counts, folds, type(self).__name__, 100 if again else 1000
            )
            if found.further:
                noise_variance = self.noise_variance_
                process = self._left_out_by(fitted, self.relevance_, *samples, noise_variance)
        except KeyboardInterrupt:
            self.converged_, self.stop_reason_ = False, Stop.INTERRUPTED.value
            return
        # A prior of the noise is not to be undone.
        self.calibration_ = max(1.0, found.factor) if noise.shape else found.factor
        self.left_out_variance_ = found.further
        self._left_out = None if process is None else replace(process, variance=found.further)

    def _left_out_by(
        self, basis: Basis, functions: Array, X: Array, y: Array, weights: Array, noise: float
    ) -> LeftOut | None:
        """What a model that has kept these functions leaves out; `augment` knows of that itself."""
        kernel = covariance_kernel(basis)
        if kernel is None or self.augment:
            return None
        counts = weights > 0
        number = np.where(counts, np.cumsum(counts) - 1, -1)  # of a row among those with weight
        centers = basis.center_index_[functions]
        kept = np.where(centers >= 0, number[centers], -1)
        samples = X[counts], y[counts], weights[counts]
        return left_out(kernel, kept, *samples, noise_ratio(noise, *samples[1:]))

    def _of_fold(
        self, basis: Basis, X: Array, offset: float, sites: Gaussian, solution: Solution
    ) -> LinearPredictive:
        """The predictions of a fit that is not stored."""
        state, extra = solution.state, None
        order = np.argsort(state.active)
        part = basis.select(basis.distinct_[state.active[order]])
        root = None if state.residual is None else state.root[order]
        mean, sigma = state.mean[order], Covariance(state.cov[order][:, order], root)
        if self.augment:
            every = np.arange(order.size)
            kept = KeptWeights(part, mean, sigma, state.alpha[order], np.zeros_like(every), every)
            rows = self._rows_for_augment(kept, X, *self._derivatives(kept, X, sites, solution))
            extra = None if rows is None else rows.augmentation(kept)
        return LinearPredictive(part, mean, sigma, offset, float(1.0 / state.beta), extra)

    def predictive(self) -> LinearPredictive:
        return LinearPredictive(
            self.basis_,
            self.weights_,
            self._covariance(),
            self.offset_,
            self.noise_variance_,
            self._augmentation(),
            self._left_out,
        ).calibrated(self.calibration_, noise=not self._noise_given)
