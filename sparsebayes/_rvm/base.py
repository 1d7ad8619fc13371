"""What regression and classification share: parameters, the search, the kept functions."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsebayes._rvm.augment import Augmentation, KeptWeights, RowSummary, TrainingRows, summarise
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.importances import input_importances
from sparsebayes._rvm.input_range import in_range, input_range
from sparsebayes._rvm.length_scales import ScaleFamily, covariances_known, design_of
from sparsebayes._rvm.options import ADAPTS, as_augment, as_solver
from sparsebayes._rvm.progress import CallbackSupportMixin, Progress
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.data import check_fit, check_inputs
from sparsebayes._support.fits.clock import OutOfTime
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.validation import (
    as_random_state,
    check_choice,
    check_limits,
    check_switches,
)
from sparsebayes.basis import Basis, Bias, Precomputed, as_basis
from sparsebayes.basis.centres import Some
from sparsebayes.basis.kernels import centres_of
from sparsebayes.engine import (
    Adaptive,
    Design,
    Interrupted,
    InTurns,
    Problem,
    Solution,
    Solver,
    Stop,
    run,
)

Array = np.ndarray

_ROWS_PER_SCALE = 5  # samples for each input, of kernels that are no covariances


class RelevanceVectorMachine(GuidedMixin, NamedSummaryMixin, CallbackSupportMixin, BaseEstimator):
    """Base of the relevance vector machines."""

    _named_parts: ClassVar = {"basis": as_basis}
    _learns_scales: bool  # whether adapt="auto" learns length scales; labels tell too little

    basis: Any
    solver: Any
    adapt: Any
    augment: Any
    bias: Any
    max_iter: Any
    max_time: Any
    tol: Any
    random_state: Any
    verbose: Any
    basis_: Basis
    weights_: Array
    alpha_: Array
    sigma_: Array
    augment_variance_: float | Array
    n_features_in_: int
    _input_range: Array
    _n_rows: int  # with weight, of all parts
    _training_rows: TrainingRows | RowSummary
    _first_centres: Array | None = None  # rows that are centres besides those that a rule draws

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self.basis == "precomputed" if isinstance(self.basis, str) else False
        tags.input_tags.pairwise = precomputed or isinstance(self.basis, Precomputed)
        return tags

    def _check_parameters(self) -> Solver:
        check_switches(bias=self.bias, verbose=self.verbose)
        as_augment(self.augment)
        check_choice("adapt", self.adapt, ADAPTS, or_none=True)
        check_limits(self.max_iter, self.tol)
        return as_solver(self.solver)

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Array, Array, Array]:
        """X, y and the weights of the samples, some of them positive."""
        return check_fit(self, X, y, sample_weight, **options)

    def _store_names(self, names: list[str] | None) -> None:
        """The names of the inputs of rows in chunks, if they have some."""
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _fit_basis(self, X: Array, weights: Array, some: Some | None = None) -> Basis:
        basis = as_basis(self.basis)
        told = () if some is None else (some,)
        fitted = (Bias() + basis if self.bias else copy.copy(basis)).fit(X, weights, *told)
        if self.augment and not fitted.centred:
            raise ValueError(
                f"augment={self.augment!r} needs a function centred where a prediction is made, "
                f"and basis={self.basis!r} has none; use augment=False, or add a kernel such as "
                "RBF() to the basis."
            )
        return fitted

    @staticmethod
    def _design(basis: Basis, X: Array) -> Design:
        """The distinct functions at X."""
        return design_of(basis, X, memory_budget())

    def _first_design(self, basis: Basis, X: Array) -> Design:
        """The same before length scales are learned: where a process does, nobody asks for it."""
        later = self._learns(basis) and covariances_known(basis)
        return design_of(basis, X, memory_budget(), later=later)

    def _learns(self, basis: Basis) -> bool:
        """Whether there are length scales to be learned."""
        given = self.adapt == "auto" and basis.scales_given
        return self.adapt is not None and basis.log_scales().size > 0 and not given

    def _family(self, basis: Basis, X: Array, weights: Array) -> ScaleFamily | None:
        """The basis as a function of the length scales to be learned, None if there are none."""
        if not self._learns(basis):
            return None
        auto = self.adapt == "auto"
        # Without the evidence of a process many scales would follow the noise: then only units.
        enough = covariances_known(basis) or weights.sum() >= _ROWS_PER_SCALE * X.shape[1]
        fine = not auto or (self._learns_scales and enough)
        ard = self.adapt != "isotropic"
        return ScaleFamily(basis, X, weights, memory_budget(), ard=ard, fine=fine)

    def _climb(
        self,
        solver: Solver,
        problem: Problem,
        basis: Basis,
        X: Array,
        weights: Array,
        progress: Progress | None,
        tol: float | None = None,
        *,
        learn: bool = True,
        first: bool = False,
    ) -> tuple[Basis, Solution]:
        """The end of the search and the basis with its length scales there, learned or as given.

        With `progress` Ctrl-C ends the search too; without, there is nobody who would keep its end.
        The `first` of several searches may end when the time is up: the next go on from there.
        """
        family = self._family(basis, X, weights) if learn else None
        if family is not None:
            solver = Adaptive(solver, family)
        if problem.in_turns:
            solver = InTurns(solver)
        try:
            tol = self.tol if tol is None else tol
            solution = self._run(solver, problem, tol, progress, first=first)
        except Interrupted as interruption:
            if progress is None:
                raise
            solution = interruption.solution
        if family is not None and solution.theta is not None:
            basis = family.basis(solution.theta)
        return basis, solution

    def _run(
        self,
        solver: Solver,
        problem: Problem,
        tol: float,
        report: Progress | None = None,
        *,
        first: bool = False,
    ) -> Solution:
        """The end of a search; `tol` is that of 1000 samples.

        Without `report`, and if it is not the `first` of several, nobody would keep what was found
        when the time is up.
        """
        rng = np.random.default_rng(as_random_state(self.random_state).randint(2**31 - 1))
        tol *= max(1.0, problem.n_samples / 1000.0)
        found = run(solver, problem, max_iter=self.max_iter, tol=tol, rng=rng, report=report)
        if report is None and not first and found.stop is Stop.MAX_TIME:
            raise OutOfTime
        return found

    def _keep(self, basis: Basis, functions: Array) -> None:
        """Keep these functions, numbered in the order of the basis."""
        self.relevance_ = functions
        self.basis_ = basis.select(functions)
        self.relevance_vectors_ = centres_of(self.basis_, self.n_features_in_)

    def _store_training_rows(
        self, X: Array, slope: Array, curvature: Array, variance: float
    ) -> None:
        """Keep what `augment` needs of the training rows, and nothing without it."""
        self._drop_training_rows()
        rows = self._rows_for_augment(self._kept_weights(), X, slope, curvature, variance)
        if rows is not None:
            self.augment_variance_, self._training_rows = rows.variance, rows

    def _rows_for_augment(
        self, kept: KeptWeights, X: Array, slope: Array, curvature: Array, variance: float
    ) -> TrainingRows | RowSummary | None:
        """What `augment` needs of training rows with these derivatives; None without it."""
        augment = as_augment(self.augment)
        if augment is False:
            return None
        variance = augment if isinstance(augment, float) else variance
        rows = TrainingRows(X, slope, curvature, variance).refined(kept)
        return summarise(rows, kept) if augment == "fast" else rows

    def _drop_training_rows(self) -> None:
        for name in ("_training_rows", "augment_variance_"):
            self.__dict__.pop(name, None)

    def _augmentation(self) -> Augmentation | None:
        """The extra functions of a fitted model, None where it has none."""
        if not hasattr(self, "_training_rows"):
            return None
        return self._training_rows.augmentation(self._kept_weights())

    def _kept_weights(self) -> KeptWeights:
        alpha, mean = np.atleast_2d(self.alpha_), np.atleast_2d(self.weights_)
        kept = np.isfinite(alpha)
        return KeptWeights(
            self.basis_, mean[kept], self._covariance(), alpha[kept], *np.nonzero(kept)
        )

    def _covariance(self) -> Covariance:
        return Covariance(self.sigma_)

    def _store_inputs(self, X: Array, weights: Array, sample_weight: Array) -> None:
        """Range and importance of each, from rows with weight and all latent weights, (K, S)."""
        self._n_rows, self._input_range = len(X), input_range(X)
        try:
            found = input_importances(self.basis_, weights, X, sample_weight)
        except Exception as error:  # the user's own kernel need not accept such rows
            self._importances: Array | str = f"{type(error).__name__}: {error}"
        else:
            self._importances = found

    @property
    def feature_importances_(self) -> Array:
        """How much the prediction depends on each input, (D,); they sum to 1."""
        check_is_fitted(self)
        if isinstance(self._importances, str):
            raise AttributeError(
                "feature_importances_ needs basis functions that can be evaluated at rows of X in "
                f"which one input is changed; basis={self.basis!r} gave {self._importances}"
            )
        return self._importances

    def inside(self, X: Any) -> Array:
        """Tell which rows lie inside the training data, where predictions can be believed.

        A row is inside if each input lies in the range that it has in the training rows (those
        with weight), extended by a twentieth of its width on each side. Inputs that make no
        difference to the prediction do not count: those that no kept function depends on, and
        those whose length scale is so long that the prediction at this row cannot tell.
        A row in the middle of a gap of the data, or with a combination of inputs that did not
        occur, is inside all the same.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows as for `predict`.

        Returns
        -------
        ndarray of bool, (n,)
            True for rows that are inside.

        Raises
        ------
        AttributeError
            If the columns of X are basis functions (``basis="precomputed"``) and not inputs.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsebayes import RVR
        >>> X = np.linspace(-10, 10, 100)[:, None]
        >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
        >>> RVR().fit(X, y).inside([[0.0], [10.9], [11.1]])
        array([ True,  True, False])
        """
        X = check_inputs(self, X)
        reach = self.basis_.reach()
        if reach is None:
            raise AttributeError(
                f"inside needs inputs, but with basis={self.basis!r} the columns of X are basis "
                "functions; ask where the inputs are from which they were computed."
            )
        if hasattr(self, "augment_variance_"):  # a function at each new row, of every kernel
            for kernel in self.basis_.centred:
                reach = np.minimum(reach, kernel.kernel_reach)
        known = None if isinstance(self._importances, str) else self._importances
        return in_range(X, self._input_range, reach, known)

    def _latent_weights(self) -> Array:
        """A row for each latent function, (K, S)."""
        return np.atleast_2d(self.weights_)

    def _linear_terms(self, name: str) -> tuple[Array, Array]:
        """Coefficients of the inputs, (K, D), and constants, (K,), of a linear model."""
        check_is_fitted(self)
        gradients = self.basis_.gradients()
        if gradients is None:
            raise AttributeError(
                f"{name} is only available if all functions are linear in the inputs, as with "
                f"basis='linear'; with basis={self.basis!r} use weights_ for the weights of the "
                "functions and feature_importances_ for the inputs."
            )
        weights = self._latent_weights()
        origin = self.basis_.columns(np.zeros((1, self.n_features_in_)))[0]
        return weights @ gradients, weights @ origin

    @property
    def length_scale_(self) -> Array:
        """The length scale of each input, (D,), as it was given or learned."""
        check_is_fitted(self)
        if not self.basis_.length_scales:
            raise AttributeError(f"No function of basis={self.basis!r} has a length scale.")
        return self.basis_.length_scales[0].copy()

    def _store_search(self, solution: Solution, n_targets: int = 1) -> None:
        self.log_evidence_ = n_targets * solution.state.evidence
        self.evidence_path_ = n_targets * solution.path
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.stop.converged
        self.stop_reason_ = solution.stop.value
