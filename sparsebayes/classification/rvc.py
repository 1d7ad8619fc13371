"""Relevance vector classification."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.base import RelevanceVectorMachine
from sparsebayes._rvm.interruption import interruptible
from sparsebayes._rvm.options import AdaptName, PriorName, SolverName
from sparsebayes._rvm.progress import Progress, with_callbacks
from sparsebayes._support.calibration import as_folds, check_calibrate, is_splitter
from sparsebayes._support.data import CheckedScoreMixin, check_inputs
from sparsebayes._support.validation import as_n_jobs, check_switches
from sparsebayes.basis import Basis
from sparsebayes.basis.centres import MOST_ROWS
from sparsebayes.basis.names import BasisLike
from sparsebayes.classification import latent, least_squares, many_rows
from sparsebayes.classification.choice import choose, temperature
from sparsebayes.classification.class_weight import prior_ratio, reweighted, weigh_classes
from sparsebayes.classification.held_out import latent_outputs
from sparsebayes.classification.latent import fit_latent
from sparsebayes.classification.least_squares import fit_least_squares
from sparsebayes.classification.likelihood import (
    InferenceName,
    LinkName,
    MultiClassName,
    Samples,
    check_likelihood,
)
from sparsebayes.classification.one_vs_rest import fit_one_vs_rest
from sparsebayes.engine import Prior, Solver
from sparsebayes.engine.linalg import one_thread
from sparsebayes.rows.predictions import by_chunks
from sparsebayes.rows.recognise import as_rows

Array = np.ndarray


class RVC(CheckedScoreMixin, ClassifierMixin, RelevanceVectorMachine):
    """Relevance vector classification: sparse, with probabilities, tuned by the evidence.

    A latent function ``f(x) = Σ_m w_m φ_m(x)`` for two classes, or one for each of more, stands
    behind a likelihood of the labels, with an independent Gaussian prior on each weight.
    The precisions of these priors maximise the approximate evidence [1]_; most become infinite,
    and their functions leave the model. Probabilities are averaged over the weight posterior.

    Parameters
    ----------
    basis : str, Basis or callable, default="rbf"
        "rbf", "linear_spline", "thin_plate", "polynomial", "linear", "laplacian", "precomputed"
        (the columns of X are the functions), an object of `sparsebayes.basis`, or ``k(X, Z)``.
    solver : str or solver object, default="sequential"
        "sequential" [2]_, "em", "mackay" [1]_ or "subspace" [3]_. All climb the same objective.
    prior : str, float or prior object, default="auto"
        On the precisions: "flat" is the classical machine; "aic", "bic", "ric" or a number c
        charge c for each effective parameter [4]_ and keep fewer functions; or ``Gamma(a, b)``.
        "auto" is "flat", and with least squares 0.5.
    link : {"auto", "logit", "probit", "least_squares"}, default="auto"
        The likelihood of two classes: ``1/(1 + exp(−f))`` or ``Φ(f)``. "least_squares" is a
        regression on labels, whose outputs a temperature turns into probabilities; with many
        classes it errs less and is faster. "auto" takes the logit (with more than two classes
        the softmax) or least squares, whichever makes labels of rows that were held out more
        likely; with more than five classes, least squares. `link_` tells.
    inference : {"laplace", "mean_field", "tap"}, default="laplace"
        How the posterior is made Gaussian: at its maximum [1]_, or for the probit link by the
        naive or the adaptive TAP mean field [3]_; the latter is expectation propagation, the
        closest to the true posterior and the slowest.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        With more than two classes: one model with a softmax, or one model for each class against
        the rest. With link='probit', more than two classes are fitted one-vs-rest.
    share_alpha : bool, default=False
        Whether in a multinomial model the classes share one precision for each function, so that
        a function is kept for all classes or for none.
    adapt : "auto", "ard", "isotropic" or None, default="auto"
        Length scales to learn from the evidence: one for each input ("ard"), a common factor
        ("isotropic"), or none. What the basis has is where the search starts. "auto" takes
        ``length_scale="scale"`` for all inputs or for each, so that inputs need not be
        standardised, and with up to five classes compares by rows held out: this, half and
        twice as much, and one for each input. Length scales that are given as numbers stay.
        In one-vs-rest, the classes share their scales.
    augment : bool, "fast" or float, default=False
        Whether predictions get a function of their own for each latent function, centred at the
        test point, whose weight the data determine as far as they can [5]_: then the latent
        standard deviation grows away from the data, and probabilities become less sure. The basis
        needs a kernel; with several, each gets a function. A number is the prior variance
        of an extra weight; True takes the variance of the latent functions over the training
        rows, but at most three times that of the noise which makes labels of them (1 for a probit,
        π²/3 for a logit, π²/6 for a softmax). The model keeps the training rows, and a
        prediction costs as many operations as there are rows times kept weights. "fast"
        keeps 512 rows (512/K with K classes in one model) and approximates the others through them.
    bias : bool, default=True
        Whether a constant function is among the candidates.
    calibrate : "auto", None, int, splitter or list of pairs, default="auto"
        How probabilities are corrected by rows that were held out: so many folds, those of
        a splitter of scikit-learn, or pairs (train, test) of row numbers. The log odds get a
        factor and an offset for each class under which labels held out are most likely. "auto"
        is five folds; with least squares and more than five classes each row is left out, in
        closed form, as with None; None takes other likelihoods at their word.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the samples. Probabilities are then those
        of the weighted sample.
    max_iter : int, default=10000
        The largest number of steps of the solver.
    max_time : float or None, default=None
        The most seconds that a fit may take, about: the search then ends with the best model found,
        the choices and corrections that would follow are left out, and a warning is given.
    tol : float, default=0.01
        The fit ends when no addition, deletion or re-estimation of a function gains more than
        this in log evidence; with more than 1000 samples, than `tol` for each 1000.
    n_jobs : int or None, default=None
        Threads for the models of `multi_class="ovr"`.
    random_state : int, RandomState instance or None, default=None
        Used by "subspace" only.
    verbose : int, default=0
        1 prints every tenth step, 2 each.

    Attributes
    ----------
    classes_, class_prior_ : ndarray, (K,)
        The labels, and how frequent they are by the weights of the samples and classes.
    link_, multi_class_ : str
        The likelihood that was fitted, and whether in one model ("multinomial") or one for each
        class ("ovr").
    relevance_ : ndarray of int, (S,)
        The functions kept, by any class, in the order of the basis; the bias is number 0 if there
        is one.
    relevance_vectors_ : ndarray, (R, D)
        The rows of X on which kept functions are centred.
    weights_ : ndarray, (S,), with more than two classes (K, S)
        Posterior mean of the weights; 0 for a function that a class does not keep.
    coef_, intercept_ : ndarray, (1, D) and (1,), with more than two classes (K, D) and (K,)
        Only if all functions are linear in the inputs, as with ``basis="linear"``: then
        ``X @ coef_.T + intercept_`` is the mean of the latent functions.
    feature_importances_ : ndarray, (D,)
        How much the latent functions depend on each input: their mean squared change over the
        training rows when the input is set to a low and to a high value (those at one standard
        deviation of a normal input), divided by the sum over the inputs. All 0 if nothing
        was kept.
    length_scale_ : ndarray, (D,)
        Only if the basis has some: the length scales after `adapt`, one for each input. In
        a union, those of the first kernel that has some; `basis_` has the others.
    alpha_, determined_ : ndarray, as `weights_`
        Prior precisions, ∞ for a function that a class does not keep, and ``1 − α Σ_ii``.
    augment_variance_ : float or ndarray, (K,)
        With `augment`, the prior variance of an extra weight; of each model if there are several.
    sigma_ : ndarray, (P, P)
        Posterior covariance of the P kept weights: of ``weights_[numpy.isfinite(alpha_)]``; with
        least squares, of those of each class.
    offset_, noise_variance_ : ndarray, (K,) or float, and float
        Only with least squares: the means of the targets, and the variance around the outputs.
    log_evidence_ : float
        The approximate log evidence; with one model for each class the sum over them.
    evidence_path_ : ndarray
        The objective (log evidence and log prior) along the accepted steps; it never falls.
    n_iter_ : int
    converged_ : bool
    stop_reason_ : str
    basis_ : Basis
        The fitted basis with the kept functions only.
    estimators_ : list of RVC
        With one model for each class, these models.
    approximation_ : str or None
        With many rows, what was done not to look at all of them at once; else None.
    n_features_in_, feature_names_in_

    See Also
    --------
    sparsebayes.RVR : The same model for numbers instead of labels.
    sparsebayes.ParetoClassifier : A front of classifiers between sensitivity and specificity.
    sparsebayes.sample_posterior : Probabilities averaged over models, by sampling.
    sparsebayes.basis : The functions that a model may be made of.

    Notes
    -----
    The evidence has many local maxima; the fit ends in one of them. A model by least squares that
    has more than two functions for seven samples is thinned to that, and to one for five if
    labels left out are as likely. With K classes in one model a
    step costs K times the products of a two-class model, and a Cholesky factorisation of the kept
    weights of all classes together. Away from the data the latent functions of a localised basis
    are what the bias says, with a small standard deviation; `augment` makes it grow.

    Ctrl-C during a fit raises KeyboardInterrupt. The estimator then has the best model so far, with
    ``converged_ = False``; or, if the search had not begun or each class has a model of its
    own, it is as it was before.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 2001.
    .. [2] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
       models", AISTATS 2003.
    .. [3] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4 and app. C.
    .. [4] A. Schmolck, "Smooth Relevance Vector Machines", 2008, 2.11.
    .. [5] C. Rasmussen, J. Quiñonero-Candela, "Healing the relevance vector machine through
       augmentation", ICML 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import RVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RVC().fit(X, y)
    >>> model.link_
    'least_squares'
    >>> model.predict_proba([[0.0, 1.0], [0.5, 0.25]]).round(1)
    array([[1. , 0. ],
           [0.7, 0.3]])
    """

    approximation_: str | None
    _learns_scales = False

    def __init__(
        self,
        basis: BasisLike = "rbf",
        *,
        solver: SolverName | Solver = "sequential",
        prior: Literal["auto"] | PriorName | float | Prior = "auto",
        link: LinkName = "auto",
        inference: InferenceName = "laplace",
        multi_class: MultiClassName = "multinomial",
        share_alpha: bool = False,
        adapt: AdaptName | None = "auto",
        augment: bool | float | Literal["fast"] = False,
        bias: bool = True,
        calibrate: Any = "auto",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        max_iter: int = 10_000,
        max_time: float | None = None,
        tol: float = 0.01,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.basis = basis
        self.solver = solver
        self.prior = prior
        self.link = link
        self.inference = inference
        self.multi_class = multi_class
        self.share_alpha = share_alpha
        self.adapt = adapt
        self.augment = augment
        self.bias = bias
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @interruptible
    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RVC:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A memory map, a dask array or dataframe is read in parts; so is an iterable of chunks
            ``(X, y)`` or ``(X, y, sample_weight)``, without the other arguments.
        y : array-like of shape (n_samples,)
            Labels of any type, two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice, a weight of 0 as none.

        Returns
        -------
        RVC
            This model, fitted.
        """
        solver = self._check_parameters()
        check_likelihood(self.link, self.inference, self.multi_class)
        check_calibrate(self.calibrate)
        check_switches(share_alpha=self.share_alpha, verbose=self.verbose)
        as_n_jobs(self.n_jobs, 1)
        for name in ("estimators_", "_temperature", "offset_", "noise_variance_", "_sigma_root"):
            self.__dict__.pop(name, None)
        self.approximation_ = None
        rows = as_rows(X, y, sample_weight, labels=True)
        few = None if rows is None else rows.few(MOST_ROWS)
        if rows is not None and few is None:
            many_rows.fit_chunks(self, solver, rows)
            return self
        if few is not None:
            X, y, sample_weight = few.X, few.y, few.weights
        X, y, weights = self._check_data(X, y, sample_weight, labels=True)
        if rows is not None:
            self._store_names(rows.feature_names)
        weights = weigh_classes(self.class_weight, y, weights)
        seen = weights > 0
        self.classes_, labels = np.unique(y[seen], return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                "RVC needs samples of at least two classes in y, "
                f"got only one class: {self.classes_[:1].tolist()[0]!r}."
            )
        folds = _folds(self.calibrate, X, y, seen)
        samples = Samples(X, X[seen], labels, weights[seen])
        if many_rows.by_sums(self, samples, folds):
            many_rows.fit_arrays(self, solver, samples, self.classes_[labels], folds)
            return self
        progress = Progress(self, X, y, self.max_iter)
        basis = self._fit_basis(X, weights)
        self.class_prior_ = np.bincount(labels, weights[seen]) / weights[seen].sum()
        several = self.multi_class == "ovr" and self.link != "least_squares"
        several = self.classes_.size > 2 and (several or self.link == "probit")
        self.multi_class_ = "ovr" if several else "multinomial"
        with one_thread():
            chosen = choose(self, solver, basis, samples, folds)
            self.link_ = chosen.link
            basis = self._fit_samples(solver, chosen.basis, samples, progress, learn=chosen.learn)
            self._temperature = temperature(self, solver, chosen, basis, samples, folds)
        self._store_latent_inputs(samples)
        progress.end()
        return self

    def _fit_samples(
        self,
        solver: Solver,
        basis: Basis,
        samples: Samples,
        progress: Progress | None,
        *,
        learn: bool,
    ) -> Basis:
        """Fit by `link_` and `multi_class_`; the basis at its length scales."""
        if self.link_ == "least_squares":
            return fit_least_squares(self, solver, basis, samples, progress, learn=learn)
        if self.multi_class_ == "ovr":
            return fit_one_vs_rest(self, solver, basis, samples, progress, learn=learn)
        design = self._design(basis, samples.rows)
        return fit_latent(self, solver, basis, design, samples, progress, learn=learn)

    def _store_latent_inputs(self, samples: Samples) -> None:
        latent = np.atleast_2d(self.weights_)
        if len(latent) > 1 and self.link_ == "logit" and self.multi_class_ == "multinomial":
            latent = latent - latent.mean(axis=0)  # a softmax sees differences only
        self._store_inputs(samples.rows, latent, samples.weights)

    @property
    def coef_(self) -> Array:
        """The slopes of the latent functions in each input, of a linear basis."""
        return self._linear_terms("coef_")[0]

    @property
    def intercept_(self) -> Array:
        """The latent functions where all inputs are 0, of a linear basis."""
        return self._linear_terms("intercept_")[1] + getattr(self, "offset_", 0.0)

    @by_chunks
    def decision_function(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Tell how strongly the model decides; or the latent function and its uncertainty.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to decide at.
        return_std : bool, default=False
            Whether to return mean and standard deviation of the latent function instead.

        Returns
        -------
        decision : ndarray, (n,), with more than two classes (n, K)
            The log odds of the second of two classes, or the logarithms of the probabilities,
            by `predict_proba`: in units of the latent function (but with least squares), and
            nearer to 0 than its mean where it is uncertain.
        mean, std : ndarray, the same shape
            Only if asked for.
        """
        X = check_inputs(self, X)
        check_switches(return_std=return_std)
        if return_std and self._by_least_squares:
            mean, variance = least_squares.outputs(self).marginal(X)
            return mean, np.sqrt(variance)
        if return_std:
            mean, variance = latent.marginal(self, X)
            if self.classes_.size == 2:
                mean, variance = mean[:, 0], variance[:, 0]
            return mean, np.sqrt(variance)
        logs = np.log(np.maximum(self._probabilities(X), np.finfo(np.float64).tiny))
        return logs[:, 1] - logs[:, 0] if self.classes_.size == 2 else logs

    @by_chunks
    def predict_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Predict the probabilities of the classes, averaged over the weight posterior.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        class_prior : array-like of shape (K,), default=None
            How frequent the classes are where the model is used, if not as among the training
            samples (`class_prior_`): probabilities are multiplied by the ratio of both.

        Returns
        -------
        ndarray, (n, K)
            In the order of `classes_`; rows sum to one.
        """
        X = check_inputs(self, X)
        ratio = prior_ratio(class_prior, self.class_prior_)
        return reweighted(self._probabilities(X), ratio)

    @property
    def _by_least_squares(self) -> bool:
        return self.link_ == "least_squares"

    def _kept_weights(self) -> KeptWeights:
        kept = super()._kept_weights
        return least_squares.kept_weights(self) if self._by_least_squares else kept()

    def _probabilities(self, X: Array) -> Array:
        if self._temperature is None:
            return latent.probabilities(self, X)
        outputs = least_squares.class_outputs if self._by_least_squares else latent_outputs
        return np.exp(self._temperature.log_probability(*outputs(self, X)))

    @by_chunks
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n, K)
            In the order of `classes_`; -inf where a probability is 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @by_chunks
    def predict(self, X: Any) -> Array:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n,)
            Labels, of the type of those in the fit.
        """
        X = check_inputs(self, X)
        if self.classes_.size == 2 and self._temperature is None:
            mean = latent.marginal(self, X, with_variance=False)[0][:, 0]
            best = (mean > 0).astype(np.intp)
            doubtful = np.abs(mean) < 1e-12  # there the probabilities may be equal in rounding
            if doubtful.any():
                best[doubtful] = self._probabilities(X[doubtful]).argmax(axis=1)
        else:
            best = self._probabilities(X).argmax(axis=1)
        return self.classes_[best]


def _folds(calibrate: Any, X: Array, y: Array, seen: Array) -> Any:
    """As `as_folds` gives them; row numbers are those of the rows with weight."""
    folds = as_folds(calibrate, X, y)
    if folds is None or not is_splitter(folds):
        return folds
    number = np.cumsum(seen) - 1
    pairs = [tuple(number[rows[seen[rows]]] for rows in pair) for pair in folds]
    pairs = [pair for pair in pairs if all(rows.size for rows in pair)]
    if not pairs:
        raise ValueError(
            f"calibrate={calibrate!r} leaves no pair of training and test rows with weight; give "
            "others, or a number of folds."
        )
    return pairs
