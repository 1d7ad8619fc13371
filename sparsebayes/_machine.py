"""What regression and classification share: parameters, the search, the kept functions."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from sparsebayes._parameters import as_solver, check_limits, check_switches, remedies
from sparsebayes._progress import CallbackSupportMixin, Progress
from sparsebayes.basis import Basis, Bias, Precomputed, as_basis
from sparsebayes.engine import Design, Problem, Solution, Solver, make_design, run

Array = np.ndarray


def memory_budget() -> int:
    """Bytes that an array of a fit may take, by scikit-learn's configuration."""
    return int(get_config()["working_memory"] * 2**20)


class Machine(CallbackSupportMixin, BaseEstimator):
    """Base of the relevance vector machines."""

    basis: Any
    solver: Any
    adapt: Any
    augment: Any
    bias: Any
    max_iter: Any
    tol: Any
    random_state: Any
    verbose: Any
    basis_: Basis

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self.basis == "precomputed" if isinstance(self.basis, str) else False
        tags.input_tags.pairwise = precomputed or isinstance(self.basis, Precomputed)
        return tags

    def _check_parameters(self) -> Solver:
        check_switches(bias=self.bias, augment=self.augment, verbose=self.verbose)
        if self.adapt is not None:
            raise NotImplementedError(
                f"adapt={self.adapt!r} is not implemented yet: length scales are not learned; "
                "use adapt=None and search basis__length_scale."
            )
        if self.augment:
            raise NotImplementedError("augment=True is not implemented yet: use augment=False.")
        check_limits(self.max_iter, self.tol)
        return as_solver(self.solver)

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Array, Array, Array]:
        """X, y and the weights of the samples, some of them positive."""
        with remedies():
            X, y = validate_data(self, X, y, dtype=np.float64, **options)
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        if not weights.any():
            raise ValueError("sample_weight is zero for every sample; give some weight.")
        return X, y, weights

    def _check_inputs(self, X: Any) -> Array:
        """Inputs to predict at, of a fitted model."""
        check_is_fitted(self)
        with remedies():
            return validate_data(self, X, dtype=np.float64, reset=False)

    def _fit_basis(self, X: Array, weights: Array) -> Basis:
        basis = as_basis(self.basis)
        return (Bias() + basis if self.bias else copy.copy(basis)).fit(X, weights)

    @staticmethod
    def _design(basis: Basis, X: Array) -> Design:
        """The distinct functions at X."""
        functions = basis.distinct_
        return make_design(
            lambda index: basis.columns(X, functions[index]),
            (len(X), functions.size),
            memory_budget(),
        )

    def _climb(self, solver: Solver, problem: Problem, progress: Progress) -> Solution:
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        return run(
            solver,
            problem,
            max_iter=self.max_iter,
            tol=self.tol * max(1.0, problem.n_samples / 1000.0),
            rng=rng,
            report=progress.report,
        )

    def _keep(self, basis: Basis, X: Array, functions: Array) -> None:
        """Keep these functions, numbered in the order of the basis."""
        self.relevance_ = functions
        self.basis_ = basis.select(functions)
        centers = basis.center_index_[functions]
        self.relevance_vectors_ = X[centers[centers >= 0]]

    def _store_search(self, solution: Solution) -> None:
        self.log_evidence_ = solution.state.evidence
        self.evidence_path_ = solution.path
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.stop.converged
        self.stop_reason_ = solution.stop.value

    def _warn(self) -> None:
        if not self.converged_:
            text = f"{type(self).__name__} {self.stop_reason_}."
            warnings.warn(text, ConvergenceWarning, stacklevel=4)

    @staticmethod
    def _batches(n_samples: int, numbers: int) -> Any:
        """Slices of the samples; each takes the memory budget at so many numbers a sample."""
        return gen_batches(n_samples, max(1, memory_budget() // 8 // (numbers + 16)))
