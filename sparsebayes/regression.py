"""Relevance vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from sparsebayes._machine import Machine, memory_budget
from sparsebayes._parameters import as_noise, as_prior, check_range
from sparsebayes._progress import Progress, with_callbacks
from sparsebayes.basis import Basis
from sparsebayes.engine import Exact, Gaussian, Solution

Array = np.ndarray


class RVR(RegressorMixin, Machine):
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
    noise : "estimate" or float, default="estimate"
        A fixed noise variance, or its estimate from the evidence.
    adapt : None
        Learning length scales is not implemented yet.
    augment : bool, default=False
        The augmented predictive distribution is not implemented yet.
    bias : bool, default=True
        Whether a constant function is among the candidates.
    max_iter : int, default=10000
        The largest number of steps of the solver.
    tol : float, default=0.01
        The fit ends when no addition, deletion or re-estimation of a function gains more than
        this in log evidence; with more than 1000 samples, than `tol` for each 1000.
    random_state : int, RandomState instance or None, default=None
        Used by "subspace" only.
    verbose : int, default=0
        1 prints every tenth step, 2 each.

    Attributes
    ----------
    relevance_ : ndarray of int, (S,)
        The functions kept, in the order of the basis; the bias is number 0 if there is one.
    relevance_vectors_ : ndarray, (R, D)
        The rows of X on which kept functions are centred.
    coef_, sigma_ : ndarray, (S,) and (S, S)
        Posterior mean and covariance of the kept weights.
    alpha_, determined_ : ndarray, (S,)
        Their prior precisions, and ``1 − α Σ_ii``: 1 where the data determine a weight.
    offset_ : float
        The mean of the targets, which are centred before the fit.
    noise_variance_ : float
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
    deviations include the noise. Away from the data those of a localised basis shrink to the
    noise, since nothing in the model reaches there.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 2001.
    .. [2] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
       models", AISTATS 2003.
    .. [3] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4.
    .. [4] A. Schmolck, "Smooth Relevance Vector Machines", 2008.

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

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        solver: Any = "sequential",
        prior: Any = "flat",
        noise: Any = "estimate",
        adapt: None = None,
        augment: bool = False,
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
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RVR:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice, a weight of 0 as none.

        Returns
        -------
        self : RVR
        """
        solver, noise = self._check_parameters(), as_noise(self.noise)
        X, y, weights = self._check_data(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range(y)
        progress = Progress(self, X, y, self.max_iter)

        inputs, fitted = X, self._fit_basis(X, weights)
        if not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.offset_ = float(np.average(y, weights=weights))
        sites = self._sites(y - self.offset_, weights, noise)
        prior = as_prior(self.prior, sites.size)
        problem = Exact(self._design(fitted, X), prior, sites, memory_budget())
        self._store(fitted, inputs, self._climb(solver, problem, progress))
        progress.end()
        self._warn()
        return self

    def _sites(self, target: Array, weights: Array, noise: float | None) -> Gaussian:
        # Rounding leaves this much of a constant target after centring; it is not a signal.
        rounding = 4.0 * np.finfo(np.float64).eps * max(abs(self.offset_), np.abs(target).max())
        if np.abs(target).max() <= rounding:
            target = np.zeros_like(target)
            if noise is None:
                noise = float(rounding or np.finfo(np.float64).eps) ** 2
        return Gaussian(target, weights, noise)

    def _store(self, basis: Basis, X: Array, solution: Solution) -> None:
        state = solution.state
        functions = basis.distinct_[state.active]
        order = np.argsort(functions)
        self._keep(basis, X, functions[order])
        self.coef_ = state.mean[order]
        self.sigma_ = state.cov[order][:, order]
        self.alpha_ = state.alpha[order]
        self.determined_ = state.determined[order]
        self.noise_variance_ = float(1.0 / state.beta)
        self._store_search(solution)

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """Predict with the posterior mean.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included.
        return_cov : bool, default=False
            Whether to return the covariance of new observations, noise included.

        Returns
        -------
        mean : ndarray, (n,)
        std : ndarray, (n,), or cov : ndarray, (n, n)
            Only if asked for.
        """
        X = self._check_inputs(X)
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not for both.")
        if return_cov:
            columns = self.basis_.columns(X)
            cov = columns @ self.sigma_ @ columns.T
            cov = 0.5 * (cov + cov.T)
            cov[np.diag_indices_from(cov)] += self.noise_variance_
            return self.offset_ + columns @ self.coef_, cov
        mean = np.empty(len(X))
        variance = np.empty(len(X)) if return_std else None
        for part in self._batches(len(X), 4 * self.coef_.size):
            columns = self.basis_.columns(X[part])
            mean[part] = self.offset_ + columns @ self.coef_
            if variance is not None:
                variance[part] = np.einsum("ns,ns->n", columns @ self.sigma_, columns)
        if variance is None:
            return mean
        return mean, np.sqrt(np.maximum(variance, 0.0) + self.noise_variance_)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw observations from the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0

        Returns
        -------
        samples : ndarray, (n, n_samples)
            Each column is one draw of the weights, with noise.
        """
        X = self._check_inputs(X)
        rng = check_random_state(random_state)
        values, vectors = np.linalg.eigh(self.sigma_)
        normal = rng.standard_normal((self.coef_.size, n_samples))
        weights = self.coef_[:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ normal
        noise = np.sqrt(self.noise_variance_) * rng.standard_normal((len(X), n_samples))
        return self.offset_ + self.basis_.columns(X) @ weights + noise

    def predict_uncertain(self, mean: Any, cov: Any, method: str = "auto") -> Any:
        """Predict at Gaussian inputs (not implemented yet)."""
        raise NotImplementedError(
            "predict_uncertain is not implemented yet: draw inputs and average predict instead."
        )
