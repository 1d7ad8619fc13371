"""Sparse classifiers that trade true positives, false positives and complexity."""

from __future__ import annotations

import copy
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.batching import batches, memory_budget
from sparsebayes._support.data import CheckedScoreMixin, check_fit, check_inputs
from sparsebayes._support.fits.clock import share_of_time
from sparsebayes._support.fits.timed import timed
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.optional import require
from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.validation import as_random_state
from sparsebayes.basis import Basis, Precomputed, as_basis
from sparsebayes.basis.kernels import centres_of
from sparsebayes.basis.names import BasisLike
from sparsebayes.classification import RVC
from sparsebayes.engine.linalg import one_thread
from sparsebayes.pareto.front import FIELDS, FRONT, RateName, choose, rates, undominated
from sparsebayes.pareto.inputs import (
    PenaltyName,
    SeedName,
    check_parameters,
    check_samples,
    held_out_part,
    two_classes,
)

Array = np.ndarray

_START = 0.5  # of the time of a fit, where that is limited, for the machine to start from


class ParetoClassifier(
    GuidedMixin, NamedSummaryMixin, CheckedScoreMixin, ClassifierMixin, BaseEstimator
):
    """A front of sparse kernel classifiers of two classes, of which the user chooses one.

    A classifier says ``classes_[1]``, the positive class, where ``f(x) = b + Σ_m w_m φ_m(x) > 0``.
    An evolution of weights [1]_ keeps all classifiers that no other dominates: none has at least as
    many true positives with no more false positives and no more complexity. Which of them is the
    best depends on what the two errors cost and on how many kernels may be evaluated, so this
    is asked when a prediction is made.

    Parameters
    ----------
    basis : str, Basis or callable, default="rbf"
        As in :class:`RVC`.
    penalty : {"l0+", "l1", "smoothness"}, default="l0+"
        The complexity. With the mass ``ν = Σ_m |w_m| s_m / sd(f)`` (see Notes) "l0+" is the
        number of kernels and, as a tie-breaker below 1, ``ν/(1 + ν)``; "l1" is ν itself.
        "smoothness" is the effective degrees of freedom: kernels that are nearly the same
        share them, and a kernel with next to no weight has next to none.
    n_evaluations : int, default=100000
        How many classifiers are tried.
    max_time : float or None, default=None
        The most seconds that a fit may take, about: then it ends with the front found until then,
        and a warning is given.
    population : int, default=100
        How many of them live at a time.
    bias : bool, default=True
        Whether classifiers have an intercept. It does not count as a kernel.
    seeds : {"rvc", None}, default="rvc"
        "rvc" starts from the weights of :class:`RVC` with thresholds along its ROC curve, and takes
        its length scales where they are not given as numbers. None starts from single kernels,
        with the basis as it is; the same number of evaluations then comes less far.
    validation_fraction : float or None, default=0.25
        The part of the samples, of each class, on which the front is evaluated and nothing
        else; None keeps none. Not used if `fit` is given `X_val` and `y_val`.
    random_state : int, RandomState instance or None, default=None
        Of the split and of the evolution.
    verbose : int, default=0
        1 prints ten lines during the fit, 2 one for each generation.

    Attributes
    ----------
    classes_ : ndarray, (2,)
        The second is the positive one.
    front_ : numpy.recarray, (F,)
        The classifiers, ordered by `fpr`, `tpr` and `complexity`: their rates on the training
        samples `fpr` and `tpr`, `complexity`, `n_kernels`, and their rates on the held-out
        samples `held_out_fpr` and `held_out_tpr`, NaN if there are none.
    weights_ : ndarray, (F, M)
        Weights of the functions of `basis_`, most of them 0, scaled such that the scores
        ``Σ_m w_m φ_m(x)`` have standard deviation 1 over the training samples.
    intercepts_ : ndarray, (F,)
    basis_ : Basis
        The fitted basis with the M functions that some classifier uses.
    relevance_ : ndarray of int, (M,)
        Their numbers in the whole basis, without the bias.
    relevance_vectors_ : ndarray, (R, D)
        The training samples on which they are centred.
    counts_ : ndarray of int, (2, 2)
        How many training samples are negative and positive, then how many held-out ones.
    n_evaluations_ : int
        How many classifiers were tried; a multiple of `population`.
    n_features_in_, feature_names_in_

    See Also
    --------
    sparsebayes.RVC : One classifier, with probabilities.
    roc_hull : The best rates that points of a front allow.
    sparsebayes.plots.ParetoDisplay : A figure of the front.

    Notes
    -----
    There is no `predict_proba`: the scale of the weights is arbitrary, and the rates depend on
    the sign of f only. For the same reason the sum of absolute weights [1]_ is no measure of
    complexity: it can be made as small as one likes, and no rate changes. The mass ν is free of
    scale: ``s_m`` is the standard deviation of ``φ_m`` and ``sd(f)`` that of f over the training
    samples. It is 1 for one kernel and grows where kernels cancel each other. Functions that are
    constant over the training samples are left out.

    The effective degrees of freedom are those of the smoothing matrix, ``DF = tr S`` [1]_ (2.57):
    ``S = Φ Σ Φᵀ/σ²`` with ``Σ = (ΦᵀΦ/σ² + A)⁻¹``, of the kernels in use less their means over the
    training samples. With ``σ = sd(f)`` they are free of scale, too. The precisions are those of
    a relevance vector machine that ends with these weights, ``α_m w_m² = 1 − α_m Σ_mm``, which has
    one solution. DF is less than the number of kernels and, while sd(f) stays the same, grows with
    every weight. Copies of a kernel that share its weight leave it as it is, and nothing but
    a constant has less than one kernel alone, about ``1 − 1/N`` with N training samples. Kernels
    that say nearly the same cost next to nothing: where each counts, take "l0+".

    The rates on the training samples are what the evolution improves, so they are too good.
    Choices are made by the rates on all samples, training and held-out ones together, unless
    `by` says otherwise; those of the chosen classifier are too good in turn, even the held-out
    ones, as they are the best of many. `evaluate` gives the rates on samples that had no part in
    either.

    All basis functions at the training samples are held in memory, for "smoothness" their
    products with each other, too.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, 3.0.1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import ParetoClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = ParetoClassifier(n_evaluations=2000, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]], max_kernels=6)
    array([0, 1])
    """

    _named_parts: ClassVar = {"basis": as_basis}

    def __init__(
        self,
        basis: BasisLike = "rbf",
        *,
        penalty: PenaltyName = "l0+",
        n_evaluations: int = 100_000,
        max_time: float | None = None,
        population: int = 100,
        bias: bool = True,
        seeds: SeedName | None = "rvc",
        validation_fraction: float | None = 0.25,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.basis = basis
        self.penalty = penalty
        self.n_evaluations = n_evaluations
        self.max_time = max_time
        self.population = population
        self.bias = bias
        self.seeds = seeds
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        precomputed = self.basis == "precomputed" if isinstance(self.basis, str) else False
        tags.input_tags.pairwise = precomputed or isinstance(self.basis, Precomputed)
        return tags

    @timed
    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> ParetoClassifier:
        """Evolve the front.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs.
        y : array-like of shape (n_samples,)
            Labels of any type, two classes.
        X_val, y_val : array-like, default=None
            Held-out samples, instead of a part of X and y. The evolution does not see them.

        Returns
        -------
        ParetoClassifier
            This model, fitted.
        """
        require("pymoo", "ParetoClassifier.fit")
        check_parameters(self)
        X, y, _ = check_fit(self, X, y, labels=True)
        self.classes_ = two_classes(y)
        rng = np.random.default_rng(as_random_state(self.random_state).randint(2**31 - 1))
        positive = y == self.classes_[1]
        X, positive, X_val, positive_val = self._parts(X, positive, X_val, y_val, rng)
        with one_thread():
            complexity = self._evolve(X, positive, rng)
        self._measure(X, positive, X_val, positive_val, complexity)
        return self

    def _parts(
        self, X: Array, positive: Array, X_val: Any, y_val: Any, rng: np.random.Generator
    ) -> tuple[Array, Array, Array, Array]:
        """Training samples and held-out samples, with whether they are positive."""
        if (X_val is None) != (y_val is None):
            missing = "X_val" if X_val is None else "y_val"
            raise ValueError(f"X_val and y_val belong together; {missing} is missing.")
        if X_val is not None:
            return X, positive, *check_samples(self, X_val, y_val, ("X_val", "y_val"))
        if self.validation_fraction is None:
            return X, positive, X[:0], positive[:0]
        held = held_out_part(positive, self.validation_fraction, self.classes_, rng)
        return X[~held], positive[~held], X[held], positive[held]

    def _evolve(self, X: Array, positive: Array, rng: np.random.Generator) -> Array:
        """Set weights, intercepts and their basis; the complexity of each."""
        from sparsebayes.pareto.evolution import evolve

        basis, seed = self._start(X, positive)
        functions = basis.distinct_
        needed = 16 * len(X) * functions.size  # with a copy
        if self.penalty == "smoothness":
            needed += 8 * functions.size**2  # products
        if needed > memory_budget():
            raise ValueError(
                f"X has {len(X)} rows for training, and its {functions.size} basis functions would "
                f"take {needed / 2**20:.0f} MiB, more than the {memory_budget() / 2**20:.0f} MiB "
                "that are allowed; use fewer samples or functions, or raise working_memory in "
                "sklearn.set_config."
            )
        columns = np.ascontiguousarray(basis.columns(X, functions))
        scale = columns.std(axis=0)
        # A constant has no say in the rates beside the intercept, and no scale.
        varies = scale > 1e-10 * np.abs(columns).max(axis=0, initial=0.0)
        functions, scale, columns = functions[varies], scale[varies], columns[:, varies]
        center = columns.mean(axis=0) if self.bias else np.zeros(functions.size)
        columns -= center  # `columns` is a copy of its own
        columns /= scale
        archive, self.n_evaluations_ = evolve(
            columns,
            positive,
            penalty=self.penalty,
            intercept=bool(self.bias),
            seed=seed[functions] * scale,
            n_evaluations=int(self.n_evaluations),
            population=int(self.population),
            rng=rng,
            verbose=self.verbose,
        )
        weights = archive.genes[:, :-1] / scale
        used = np.flatnonzero(weights.any(axis=0))
        self.intercepts_ = archive.genes[:, -1] - weights @ center
        self.weights_ = weights[:, used]
        self.relevance_ = functions[used]
        self.basis_ = basis.select(self.relevance_)
        self.relevance_vectors_ = centres_of(self.basis_, X.shape[1])
        return archive.objectives[:, 2]

    def _start(self, X: Array, positive: Array) -> tuple[Basis, Array]:
        """The basis, and weights of its functions to start from: all 0 if there are none."""
        basis = copy.copy(as_basis(self.basis)).fit(X)
        weights = np.zeros(basis.n_functions_)
        if self.seeds is None:
            return basis, weights
        machine = RVC(self.basis, link="logit", bias=self.bias, calibrate=None, random_state=0)
        with share_of_time(_START), warnings.catch_warnings():  # a start need not have converged
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(X, positive)
        kept = machine.relevance_ - bool(self.bias)  # its bias is number 0
        weights[kept[kept >= 0]] = machine.weights_[kept >= 0]
        return basis.rescaled(machine.basis_.log_scales()), weights

    def _measure(
        self, X: Array, positive: Array, X_val: Array, positive_val: Array, complexity: Array
    ) -> None:
        """Set the front and put everything in its order."""
        front = np.empty(len(complexity), dtype=FRONT)
        front["complexity"] = complexity
        front["n_kernels"] = np.count_nonzero(self.weights_, axis=1)
        # By the very sums that predictions use, whose last digits may differ from the evolution's.
        front["fpr"], front["tpr"] = self._rates(X, positive)
        front["held_out_fpr"] = front["held_out_tpr"] = np.nan
        if len(X_val):
            front["held_out_fpr"], front["held_out_tpr"] = self._rates(X_val, positive_val)
        kept = undominated(np.column_stack([front["fpr"], -front["tpr"], complexity]))
        kept = kept[np.lexsort([front[name][kept] for name in ("complexity", "tpr", "fpr")])]
        self._front = front[kept]
        self.weights_, self.intercepts_ = self.weights_[kept], self.intercepts_[kept]
        self.counts_ = np.array([[np.sum(~p), np.sum(p)] for p in (positive, positive_val)])

    def _rates(self, X: Array, positive: Array) -> tuple[Array, Array]:
        decisions = np.empty((len(self.intercepts_), len(X)), dtype=bool)
        for part in batches(len(X), 2 * (len(self.intercepts_) + self.basis_.n_functions_)):
            columns = self.basis_.columns(X[part])
            decisions[:, part] = self.weights_ @ columns.T + self.intercepts_[:, None] > 0
        return rates(decisions, positive)

    @property
    def front_(self) -> Any:
        """The classifiers; model files cannot hold a recarray itself."""
        return self._front.view(np.recarray)

    def choose(
        self,
        point: int | None = None,
        *,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        prevalence: float | None = None,
        max_kernels: int | None = None,
        max_fpr: float | None = None,
        min_tpr: float | None = None,
        by: RateName = "pooled",
    ) -> int:
        """Choose the classifier of the front that suits a purpose.

        Of all classifiers within the bounds and the budget of kernels the one is taken that has

        - the largest true positive rate, if only `max_fpr` is given besides the budget;
        - the least false positive rate, if only `min_tpr` is;
        - in all other cases the least expected cost for each sample,
          ``cost_fp (1 − prevalence) fpr + cost_fn prevalence (1 − tpr)``.

        Ties go to fewer kernels. Without arguments costs are equal: the least error.

        Parameters
        ----------
        point : int, default=None
            The classifier itself, a row of `front_`; nothing else may be given then.
        cost_fp, cost_fn : float, default=None
            What a false positive and a false negative cost; only their ratio matters. None is 1.
        prevalence : float, default=None
            The part of samples that is positive where predictions are made; None is that of the
            training and held-out samples.
        max_kernels : int, default=None
            The largest number of kernels.
        max_fpr, min_tpr : float, default=None
            Bounds on the rates.
        by : {"pooled", "held_out", "train"}, default="pooled"
            The rates that count: on training and held-out samples together, on the held-out
            samples, or on the training samples; without held-out samples always the last.
            The held-out rates are unbiased before a choice is made, but few samples cannot rank
            many classifiers.

        Returns
        -------
        int
            A row of `front_`, `weights_` and `intercepts_`.

        Raises
        ------
        ValueError
            If no classifier meets the bounds; it tells the nearest that can be met.
        """
        check_is_fitted(self)
        return choose(
            self.front_,
            self.counts_,
            by=by,
            point=point,
            cost_fp=cost_fp,
            cost_fn=cost_fn,
            prevalence=prevalence,
            max_kernels=max_kernels,
            max_fpr=max_fpr,
            min_tpr=min_tpr,
        )

    def decision_function(self, X: Any, point: int | None = None, **wishes: Any) -> Array:
        """Evaluate one classifier, whose sign decides and whose scale is arbitrary.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to decide at.
        point : int, default=None
            Which one: a row of `front_`.
        **wishes : dict
            Or by what it is chosen, as in :meth:`choose`.

        Returns
        -------
        ndarray, (n,)
            In standard deviations of the scores over the training samples.
        """
        X = check_inputs(self, X)
        index = self.choose(point, **wishes)
        kernels = np.flatnonzero(self.weights_[index])
        decision = np.empty(len(X))
        for part in batches(len(X), 2 * kernels.size):
            columns = self.basis_.columns(X[part], kernels)
            decision[part] = columns @ self.weights_[index, kernels] + self.intercepts_[index]
        return decision

    def predict(self, X: Any, point: int | None = None, **wishes: Any) -> Array:
        """Predict the classes, by one classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        point : int, default=None
            Which one: a row of `front_`.
        **wishes : dict
            Or by what it is chosen, as in :meth:`choose`. By default the one of least error.

        Returns
        -------
        ndarray, (n,)
            Labels, of the type of those in the fit.
        """
        decision = self.decision_function(X, point, **wishes)
        return self.classes_[(decision > 0).astype(np.intp)]

    def evaluate(self, X: Any, y: Any) -> Any:
        """Find the rates of the front on other samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Their inputs.
        y : array-like of shape (n,)
            Their labels, of both classes.

        Returns
        -------
        numpy.recarray, (F,)
            `fpr` and `tpr` there, `complexity` and `n_kernels`, in the order of `front_`.
        """
        check_is_fitted(self)
        X, positive = check_samples(self, X, y, ("X", "y"))
        result = np.empty(len(self.front_), dtype=FIELDS)
        for name in ("complexity", "n_kernels"):
            result[name] = self.front_[name]
        result["fpr"], result["tpr"] = self._rates(X, positive)
        return result.view(np.recarray)
