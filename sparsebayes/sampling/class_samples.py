"""What `sample_posterior` returns for a classification: draws and averaged probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from sparsebayes._support.data import check_inputs, check_labels, check_lengths
from sparsebayes.classification import RVC
from sparsebayes.classification.class_weight import prior_ratio, reweighted
from sparsebayes.sampling.draws import Draws
from sparsebayes.sampling.sampled_model import LabelModel
from sparsebayes.sampling.samples import BaseSamples

Array = np.ndarray


class ClassificationSamples(BaseSamples):
    """Draws from the posterior of a classification, made by :func:`sample_posterior`.

    Probabilities are averages over all draws, so they include the uncertainty about which functions
    belong in the model.

    Parameters
    ----------
    optimum : RVC
        The fitted RVC whose length scales are used.
    model : LabelModel
        What was sampled: the posterior, the functions and the training samples.
    draws : Draws
        The active functions, precisions and weights of all chains.
    n_chains : int
        How many chains there are.
    X : ndarray, (n, D)
        The training inputs.

    Attributes
    ----------
    optimum : RVC
        The fitted RVC whose length scales are used.
    classes_ : ndarray, (K,)
        The labels.
    basis : Basis
        Fitted, with these length scales.
    n_chains, n_draws : int
    functions : ndarray of int, (M,)
        The candidates among the functions of the basis, numbered as in `relevance_`; functions
        that repeat another one or are zero at all samples are not among them.
    centers : ndarray, (n_functions,) or None
        With one input, where each function of the basis is centred, NaN for one without a centre.

    See Also
    --------
    sample_posterior : Makes these draws.
    PosteriorSamples : The same for regressions.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVC, sample_posterior
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> y = X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(60) > 0
    >>> samples = sample_posterior(RVC("linear", bias=False), X, y, 200, 2, random_state=0)
    >>> samples.predict([[2.0, 0.0], [-2.0, 0.0]])
    array([ True, False])
    >>> samples.predict_proba([[2.0, 0.0]]).round(1)
    array([[0., 1.]])
    """

    def __init__(
        self, optimum: RVC, model: LabelModel, draws: Draws, n_chains: int, X: Array
    ) -> None:
        super().__init__(model, draws, n_chains, X)
        self.optimum = optimum
        self.classes_ = optimum.classes_
        self._labels = model.labels

    @property
    def _axes(self) -> dict[str, Array]:
        return {} if self.classes_.size == 2 else {"class": self.classes_}

    def _numbers(self) -> dict[str, Array]:
        draw, output, _ = self._draws.places
        outputs = self._draws.outputs
        total = self._draws.beta.size * outputs
        sizes = np.bincount(draw * outputs + output, minlength=total)
        axes = tuple(axis.size for axis in self._axes.values())
        return {"n_active": self._shaped(sizes.reshape(-1, *axes))}

    def _log_likelihood(self) -> Array:
        rows = self._observed.rows
        out = np.empty((self._draws.beta.size, len(rows)))
        for part in self._batches(len(rows)):
            f = self._drawn.values(self._part.columns(rows[part]))
            out[:, part] = self._labels.rows(part).log_likelihood(f)
        return out

    def _replicates(self, rng: np.random.RandomState) -> Array:
        rows = self._observed.rows
        uniform = rng.random_sample((self._draws.beta.size, len(rows)))
        out = np.empty(uniform.shape, dtype=np.int64)
        for part in self._batches(len(rows)):
            below = np.cumsum(self._each(rows[part]), axis=2)[:, :, :-1]
            out[:, part] = (uniform[:, part, None] > below).sum(axis=2)
        return out

    def _each(self, X: Array) -> Array:
        """The probabilities of the classes for each draw, (T, n, K)."""
        f = self._drawn.values(self._part.columns(X))
        if self.classes_.size == 2:
            return expit(np.concatenate([-f, f], axis=2))
        each: Array = softmax(f, axis=2)
        return each

    def _predictions(self, X: Array) -> Array:
        each = self._each(X)
        return each[:, :, 1] if self.classes_.size == 2 else each

    def predict_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Predict the probabilities of the classes, averaged over all draws.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        class_prior : array-like of shape (K,), default=None
            How frequent the classes are where the model is used, if not as among the training
            samples: probabilities are multiplied by the ratio of both.

        Returns
        -------
        ndarray, (n, K)
            In the order of `classes_`; rows sum to one.
        """
        X = check_inputs(self.optimum, X)
        ratio = prior_ratio(class_prior, self.optimum.class_prior_)
        return reweighted(self._probabilities(X), ratio)

    def _probabilities(self, X: Array) -> Array:
        probability = np.empty((len(X), self.classes_.size))
        for part in self._batches(len(X)):
            probability[part] = self._each(X[part]).mean(axis=0)
        return probability

    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the averaged probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n, K)
            In the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """Predict the most probable class, by the averaged probabilities.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n,)
            Labels, of the type of those in the fit.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def log_density(self, X: Any, y: Any) -> Array:
        """Compute the log of the averaged probability of each label.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The inputs.
        y : array-like of shape (n,)
            Labels among `classes_`.

        Returns
        -------
        ndarray, (n,)
            In nats.
        """
        X, y = check_inputs(self.optimum, X), check_labels(y)
        check_lengths(X, y)
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y has the label {y[~known].tolist()[0]!r}, which is not among the classes "
                f"{self.classes_.tolist()!r}; leave such rows out."
            )
        return self.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(self.classes_, y)]
