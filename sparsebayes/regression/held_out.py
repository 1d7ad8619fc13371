"""How wide the error bars of a regression have to be, told by rows that are held out.

The model is fitted again to all folds but one, at the length scales learned from all, and predicts
that one; `_support.calibration` finds what its errors say.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.left_out import LeftOut, covariance_kernel, left_out, noise_ratio
from sparsebayes._rvm.options import Noise
from sparsebayes._rvm.predictive import LinearPredictive
from sparsebayes._support.calibration import (
    Calibration,
    Forecast,
    Forecaster,
    calibrated,
    held_out_folds,
    is_splitter,
    merged,
    normal_width,
)
from sparsebayes._support.fits.clock import OutOfTime
from sparsebayes.basis import Basis
from sparsebayes.basis.kernels import centres_of
from sparsebayes.engine import Exact, Gaussian, InTurns, Solution, Solver
from sparsebayes.engine.model.unequal_noise import Tails, UnequalNoise, Varying
from sparsebayes.engine.solvers.driver import quick
from sparsebayes.regression.statistics import Statistics
from sparsebayes.regression.summed import likelihood_slopes, summed_problem, sums_of
from sparsebayes.regression.targets import Targets, as_targets
from sparsebayes.regression.varying_noise import NoiseModel, noise_function

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR

Array = np.ndarray

_SCALES_PER_ROW = 0.1  # more are learned again where rows are held out
_FOLD_TOL = 1.0  # nats for 1000 samples at which a fit to some folds ends: less moves no error bar
_LEAST_GAIN = 2.0  # nats of the rows held out, from which on noise that varies pays


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the folds need of a fitted model.

    Attributes
    ----------
    model : RVR
    solver : Solver
    basis : Basis
        With all functions, at the length scales that were learned.
    X, y, weights : ndarray
        The samples, those without weight too.
    noise : Noise
    sites : Gaussian
        Those of the samples with weight, after the fit.
    folds : object
        As `as_folds` gives them.
    statistics : Statistics or None
        Sums over all samples, where these stand for them; X may then have some of them.
    each : float
        How many samples there are for each row of X.
    """

    model: RVR
    solver: Solver
    basis: Basis
    X: Array
    y: Array
    weights: Array
    noise: Noise
    sites: Gaussian
    folds: Any
    statistics: Statistics | None = None
    each: float = 1.0
    _fits: dict[bytes, Forecaster] = field(default_factory=dict)

    def calibration(self) -> tuple[Calibration, LeftOut | None]:
        """How to widen the standard deviations, and the process of what the model leaves out."""
        X, y, weights, known = self.X, self.y, self.weights, self.noise.variance is not None
        counts = weights
        if known:
            # A weight says how precise a sample is, not how often it counts.
            if not is_splitter(self.folds):  # whose row numbers are those of X
                X, y, weights = merged(X, y, weights)
            counts = np.where(weights > 0, 1.0, 0.0)
        again = self._again()
        found = calibrated(
            lambda rows: self._fold(X, y, weights, rows, again),
            X, y, counts, self.folds, type(self.model).__name__, 100 if again else 1000,
            getattr(self.model, "nu_", None),
        )  # fmt: skip
        # A prior of the noise is not to be undone.
        if self.noise.shape:
            found = found._replace(factor=np.maximum(1.0, found.factor))
        process = None
        if np.any(found.further):
            model = self.model
            process = self._left_out(
                self.basis, model.relevance_, self.X, self.y, self.weights, self._unequal(),
                model.noise_variance_,
            )  # fmt: skip
        return found, process

    def varying_noise_pays(self) -> bool:
        """Whether noise that varies predicts rows that are held out better than equal noise.

        True if the time is up before that is known: it is the noise that was fitted.
        """
        try:
            return self.gain_of_varying_noise() > _LEAST_GAIN
        except OutOfTime:
            return True

    def gain_of_varying_noise(self) -> float:
        """What noise that varies gains of the log density of rows held out, in nats.

        Both kinds of noise are fitted to the other rows, and have the factor for their standard
        deviations that suits them best.
        """
        X, y, weights = self.X, self.y, self.weights
        plain = replace(self.sites, unequal=None)
        equal = replace(self, sites=plain, noise=Noise(None), _fits={})
        folds = "auto" if self.folds is None else self.folds
        name = type(self.model).__name__
        parts: tuple[list[Array], list[Array]] = [], []
        counts = []
        for train, test in held_out_folds(X, y, weights, folds, name, len(X)):
            counts.append(weights[test])
            for fits, found in zip((self, equal), parts, strict=True):
                forecast = fits._fold(X, y, weights, train, False)(test)
                variance = np.broadcast_to(forecast.variance, forecast.mean.shape)
                ratio = (y[test] - forecast.mean) ** 2 / variance
                found.append(np.stack([np.log(variance), ratio]).reshape(2, len(test), -1))
        if not counts:
            return 0.0
        every, losses = np.concatenate(counts), []
        for found in parts:
            logs, ratio = np.concatenate(found, axis=1)
            scale = every @ ratio / every.sum()  # of each target
            losses.append(0.5 * float(every @ (logs + np.log(scale)).sum(axis=1)))
        return losses[1] - losses[0]

    def _again(self) -> bool:
        """Whether length scales are learned again.

        Many of them follow the noise themselves: it shows only then.
        """
        basis = self.basis
        kinds = np.unique(basis.kinds()[basis.distinct_])
        each = int(np.count_nonzero(kinds >= 0)) * self.model.n_features_in_
        n_scales = min(basis.log_scales().size, each)
        many = n_scales > _SCALES_PER_ROW * int(np.count_nonzero(self.weights))
        many = many and self.statistics is None
        return many and self.model._learns(basis)

    def _unequal(self) -> Array:
        """The relative precisions of all samples; of those without weight, 1."""
        precisions = np.ones(len(self.weights))
        if self.sites.unequal is not None:
            precisions[self.weights > 0] = self.sites.unequal.precisions
        return precisions

    def _of_rows(self, rows: Array) -> UnequalNoise | None:
        """How precise some of the samples are, to begin with where that is found in turns."""
        unequal = self.sites.unequal
        if unequal is None:
            return None
        if isinstance(unequal, Varying):
            assert isinstance(unequal.model, NoiseModel)
            if not unequal.model.varies:
                return None
            basis = self.model._fit_basis(self.X[rows], self.weights[rows])
            fresh = unequal.model.on(basis, self.X[rows])
            return Varying(fresh, self.weights[rows], unequal.n_targets)
        number = np.cumsum(self.weights > 0) - 1  # of a row among those with weight
        part = unequal.rows(number[rows])
        return replace(part, estimate=False) if isinstance(part, Tails) else part

    def _fold(self, X: Array, y: Array, weights: Array, rows: Array, again: bool) -> Forecaster:
        """The predictions of a fit to some rows; those of the same rows are kept."""
        key = rows.tobytes()
        if key not in self._fits:
            self._fits[key] = self._fit(X, y, weights, rows, again)
        return self._fits[key]

    def _fit(self, X: Array, y: Array, weights: Array, rows: Array, again: bool) -> Forecaster:
        model = self.model
        tol = max(model.tol, _FOLD_TOL)
        known = self.noise.variance
        part = X[rows], weights[rows]
        basis = self.basis
        if self.statistics is None:
            basis = model._fit_basis(*part)
            basis = basis if again else basis.rescaled(self.basis.log_scales())
        targets, problem = self._problem(basis, X, y, weights, rows, self.noise)
        if problem.energy == 0 and known is None:  # nothing is told of the noise
            told = Noise(model.noise_variance_)
            targets, problem = self._problem(basis, X, y, weights, rows, told)
        seen = targets
        if self.statistics is not None and model.augment:
            seen = as_targets(y[rows], part[1], self.noise)

        def forecast(predictive: LinearPredictive, test: Array) -> Forecast:
            mean, variance = predictive.marginal(X[test])
            if known is not None:
                noise = np.multiply.outer(1.0 / weights[test], known)
                return Forecast(mean, variance, known=noise)
            return Forecast(mean, variance + predictive.noise_at(X[test]))

        solver = quick(self.solver)
        if again:
            basis, solution = model._climb(solver, problem, basis, *part, None, tol)
            fold, whole = (
                self._predictive(basis, part[0], targets, solution, seen),
                model.predictive(),
            )
            # With fewer rows another kind of model may be found: its errors count, not its std.
            return lambda test: forecast(whole, test)._replace(mean=fold.mean(X[test]))
        if problem.in_turns:
            solver = InTurns(solver, searches=1)
        solution = model._run(solver, problem, tol)
        fold = self._predictive(basis, part[0], targets, solution, seen)
        functions = np.sort(basis.distinct_[solution.state.active])
        found = model._sites(solution).unequal
        precisions = np.ones(len(rows)) if found is None else found.precisions
        process = self._left_out(
            basis, functions, part[0], y[rows], part[1], precisions, fold.noise
        )

        def both(test: Array) -> Forecast:
            found = forecast(fold, test)
            if process is None:
                return found
            return found._replace(further=process.variances(X[test], fold.basis.columns(X[test])))

        return both

    def _predictive(
        self, basis: Basis, X: Array, targets: Targets, solution: Solution, seen: Targets
    ) -> LinearPredictive:
        """The predictions of a fit that is not stored; `seen` has the samples of the targets."""
        model = self.model
        state, sites, extra = solution.state, model._sites(solution), None
        order = np.argsort(state.active)
        part = basis.select(basis.distinct_[state.active[order]])
        root = None if state.residual is None else state.root[order]
        mean, sigma = state.mean[order], Covariance(state.cov[order][:, order], root)
        if model.augment:
            every = np.arange(order.size)
            kept = KeptWeights(
                part, targets.filled(mean), sigma, state.alpha[order], np.zeros_like(every), every
            )
            derivatives = likelihood_slopes(kept, X, seen, solution)
            rows = model._rows_for_augment(kept, X, *derivatives)
            extra = None if rows is None else rows.augmentation(kept)
        nu = sites.unequal.nu if isinstance(sites.unequal, Tails) else None
        variance = float(1.0 / state.beta) * (1.0 if nu is None else normal_width(nu) ** 2)
        return LinearPredictive(
            part,
            np.asarray(targets.spread(mean, sites)),
            sigma,
            targets.offset,
            targets.noise_variances(sites, variance),
            extra,
            unit=targets.spread(1.0, sites),
            nu=nu,
            varying=noise_function(sites),
        )

    def _problem(
        self, basis: Basis, X: Array, y: Array, weights: Array, rows: Array, noise: Noise
    ) -> tuple[Targets, Exact]:
        """Of some rows; by sums where these stand for them."""
        if self.statistics is None:
            part = X[rows], y[rows], weights[rows]
            return self.model._problem(basis, *part, noise, self._of_rows(rows))
        sums = sums_of(self.statistics, X, y, weights, rows)
        return summed_problem(self.model, sums, noise, several=y.ndim == 2)

    def _left_out(
        self,
        basis: Basis,
        functions: Array,
        X: Array,
        y: Array,
        weights: Array,
        precisions: Array,
        noise: float | Array,
    ) -> LeftOut | None:
        """What a model that has kept these functions leaves out; `augment` knows of that itself."""
        kernel = covariance_kernel(basis)
        if kernel is None or self.model.augment:
            return None
        counts = weights > 0
        samples = X[counts], y[counts], self.each * (weights * precisions)[counts]
        ratio = noise_ratio(noise, *samples[1:])
        centers, centred = basis.center_index_[functions], basis.kinds()[functions] >= 0
        if self.statistics is None and not np.any(centred & (centers < 0)):
            number = np.where(counts, np.cumsum(counts) - 1, -1)  # of a row, of those with weight
            kept = np.where(centers >= 0, number[centers], -1)
            return left_out(kernel, kept, *samples, ratio)
        # Centres that need not be among the samples: further ones that do not count.
        points = centres_of(basis.select(functions), X.shape[1])
        kept = np.where(centred, len(samples[0]) + np.cumsum(centred) - 1, -1)
        further = points, np.zeros((len(points), *y.shape[1:])), np.zeros(len(points))
        joined = [np.concatenate(pair) for pair in zip(samples, further, strict=True)]
        return left_out(kernel, kept, joined[0], joined[1], joined[2], ratio)
