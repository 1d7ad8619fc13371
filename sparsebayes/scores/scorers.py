"""The scores as scorers, for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import MetadataRequest

from sparsebayes._support.data import check_numbers
from sparsebayes._support.validation import as_number, check_coverage, finite_number
from sparsebayes.scores.distributions import (
    crps,
    interval_coverage,
    interval_score,
    negative_log_predictive_density,
)

Array = np.ndarray


@dataclass(frozen=True, repr=False)
class PredictiveScorer:
    """A score of predictive distributions as scikit-learn's searches and cross-validation take it.

    It calls ``predict(X, return_std=True)`` of a fitted regressor, also of the last step of a
    Pipeline or the best estimator of a search, and gives minus the score of mean and standard
    deviation: greater is better. With several targets it is the average over them. Predictions
    count as Gaussian ones, those with ``noise=StudentT()`` too.

    Use the instances `nlpd_scorer` and `crps_scorer`, or :func:`interval_scorer` and
    :func:`coverage_scorer`.

    Parameters
    ----------
    name : str
        As it is told in errors and by `repr`.
    score : callable
        A function of this module: ``score(y, mean, std, sample_weight=...)``.
    coverage : float or None, default=None
        A further argument of it, if it has one.
    sign : int, default=-1
        What the score is multiplied with.
    request : bool, str or None, default=None
        Whether `sample_weight` is asked for, see :meth:`set_score_request`.

    See Also
    --------
    nlpd_scorer : By the log density.
    crps_scorer : By the continuous ranked probability score.
    interval_scorer : By central intervals.
    coverage_scorer : By the share of targets inside.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sparsebayes import RVR
    >>> from sparsebayes.scores import nlpd_scorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, (60, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(60)
    >>> search = GridSearchCV(RVR(adapt=None), {"prior": ["flat", "bic"]}, scoring=nlpd_scorer)
    >>> bool(search.fit(X, y).best_score_ > 0)
    True
    """

    name: str
    score: Callable[..., float]
    coverage: float | None = None
    sign: int = -1
    request: bool | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a text, got {self.name!r}.")
        if not callable(self.score) or isinstance(self.score, type):
            raise TypeError(
                f"score must be a function such as sparsebayes.scores.crps, got {self.score!r}."
            )
        if self.coverage is not None:
            check_coverage(self.coverage)
            if "coverage" not in signature(self.score).parameters:
                raise ValueError(
                    f"coverage is {self.coverage!r}, and {self.score!r} takes none; leave it out."
                )
        finite_number("sign", self.sign)

    def __repr__(self) -> str:
        return self.name if self.coverage is None else f"{self.name}(coverage={self.coverage!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted regressor.

        Parameters
        ----------
        estimator : regressor whose `predict` has ``return_std=True``
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            Greater is better.
        """
        mean, std = self._predicted(estimator, X)
        y = check_numbers("y", y)
        columns = [values.reshape(len(values), -1) for values in (y, mean, std)]
        if columns[0].shape != columns[1].shape:
            raise ValueError(f"y must have shape {mean.shape} like the predictions, got {y.shape}.")
        more = {} if self.coverage is None else {"coverage": self.coverage}
        each = [
            self.score(*target, sample_weight=sample_weight, **more)
            for target in zip(*(values.T for values in columns), strict=True)
        ]
        if any(as_number(one) is None for one in each):
            raise TypeError(f"score must return a finite number, got {each} of {self.score!r}.")
        return self.sign * float(np.mean(each)) + 0.0  # not minus zero

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> PredictiveScorer:
        """Ask for the weights of the samples, where metadata are routed.

        Parameters
        ----------
        sample_weight : bool, str or None, default=None
            True: weights are used if they are given to the search or cross-validation. False: they
            are not. None: weights that are given are an error. A str: the name they are given by.

        Returns
        -------
        PredictiveScorer
            A new one; this one stays as it is.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request is only of use with metadata routing: call "
                "sklearn.set_config(enable_metadata_routing=True) first."
            )
        return replace(self, request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn's metadata routing what is asked for.

        Returns
        -------
        MetadataRequest
            Whether `sample_weight` is used.
        """
        routing = MetadataRequest(owner=repr(self))
        routing.score.add_request(param="sample_weight", alias=self.request)
        return routing

    def _accept_sample_weight(self) -> bool:
        """GridSearchCV(scoring={...}).score asks it, without routing."""
        return True

    def _predicted(self, estimator: Any, X: Any) -> tuple[Array, Array]:
        """Mean and standard deviation, or an error that says what to use instead."""
        while hasattr(estimator, "best_estimator_"):  # whose search passes no arguments on
            estimator = estimator.best_estimator_
        kind = type(estimator).__name__
        if isinstance(estimator, type) or not hasattr(estimator, "predict"):
            raise TypeError(f"estimator must be a fitted regressor, got {estimator!r}.")
        if is_classifier(estimator):
            raise TypeError(
                f"{self!r} scores regressors with error bars, and {kind} is a classifier; use "
                'scoring="neg_log_loss".'
            )
        needs = f"{self!r} needs a regressor whose predict has return_std=True; that of {kind}"
        needs = f"estimator: {needs}"
        try:
            # With routing a Pipeline would refuse return_std, which is no metadata.
            with config_context(enable_metadata_routing=False):
                found = estimator.predict(X, return_std=True)
        except (AttributeError, TypeError) as error:
            raise TypeError(f"{needs} said: {error}") from error
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f"{needs} gave {type(found).__name__}.")
        return np.asarray(found[0]), np.asarray(found[1])


_CALLED = """Score a fitted regressor by {what}.

    {more}

    Parameters
    ----------
    estimator : regressor whose `predict` has ``return_std=True``
        The fitted model, also a Pipeline or a search.
    X : array-like of shape (n_samples, n_features)
        Inputs that it was not fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the average.

    Returns
    -------
    float
        The score; greater is better.

    See Also
    --------
    {score} : The score itself, of which smaller is better.
    PredictiveScorer : What is called of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.scores import {name}
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, (60, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(60)
    >>> bool({name}(RVR().fit(X[:40], y[:40]), X[40:], y[40:]) > {least})
    True
    """


def _documented(name: str, score: Callable[..., float], **said: str) -> PredictiveScorer:
    """A scorer whose docstring is about the call, which is what users do with it."""
    scorer = PredictiveScorer(name, score)
    text = _CALLED.format(name=name, score=score.__name__, **said)
    object.__setattr__(scorer, "__doc__", text)  # a frozen dataclass
    return scorer


nlpd_scorer = _documented(
    "nlpd_scorer",
    negative_log_predictive_density,
    what="the mean log density of the targets",
    more="It is in nats: what a model gains over another is what its forecasts are worth.",
    least="0.5",
)
crps_scorer = _documented(
    "crps_scorer",
    crps,
    what="minus the continuous ranked probability score",
    more="It is in the units of the target, and needs the package scoringrules.",
    least="-0.1",
)


def interval_scorer(coverage: float = 0.95) -> PredictiveScorer:
    """Make a scorer for scikit-learn of :func:`interval_score`.

    Greater is better for scikit-learn, so it gives minus the score.

    Parameters
    ----------
    coverage : float, default=0.95
        Probability inside the interval.

    Returns
    -------
    PredictiveScorer
        For `scoring` of searches and cross-validation.

    See Also
    --------
    interval_score : The score itself.
    coverage_scorer : The share of targets inside the interval.

    Examples
    --------
    >>> from sparsebayes.scores import interval_scorer
    >>> interval_scorer(coverage=0.9)
    interval_scorer(coverage=0.9)
    """
    return PredictiveScorer("interval_scorer", interval_score, check_coverage(coverage))


def coverage_scorer(coverage: float = 0.95) -> PredictiveScorer:
    """Make a scorer of how far coverage is from its nominal value.

    0 is best, and all else is below: minus the distance of :func:`interval_coverage` to `coverage`.
    It is no proper score, as wide intervals for some samples make up for narrow ones for others:
    use it beside others, not to choose by.

    Parameters
    ----------
    coverage : float, default=0.95
        Probability inside the interval.

    Returns
    -------
    PredictiveScorer
        For `scoring` of searches and cross-validation.

    See Also
    --------
    interval_coverage : The share itself.
    interval_scorer : A proper score of intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from sparsebayes.scores import coverage_scorer
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> round(coverage_scorer(0.8)(BayesianRidge().fit(X, y), X, y), 4)
    -0.025
    """
    return PredictiveScorer("coverage_scorer", _coverage_error, check_coverage(coverage))


def _coverage_error(y: Any, mean: Any, std: Any, coverage: float, sample_weight: Any) -> float:
    return abs(interval_coverage(y, mean, std, coverage, sample_weight=sample_weight) - coverage)
