"""The methods of a regressor that is a calibration curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.regression.inverse.detection import DetectionLimit, detection_limit
from sparsebayes.regression.inverse.prediction import InversePrediction, inverse_predict


class InverseMixin:
    """From readings back to the input, for regressors with `predictive` and `_training_range`."""

    def _training_range(self) -> np.ndarray:
        """The smallest and the largest value of each input, (2, D)."""
        return self._input_range  # type: ignore[attr-defined]

    def inverse_predict(
        self,
        y: Any,
        *,
        X: Any = None,
        bounds: Any = None,
        prior: Any = None,
        coverage: float = 0.95,
        n_replicates: Any = 1,
    ) -> InversePrediction:
        """Tell from readings which inputs gave them.

        Parameters
        ----------
        y : float, or array-like of shape (n,), or (n, R)
            Readings, each of an input of its own; in R columns, R readings of the same input.
            Of a model with K targets (n, K) or (n, K, R).
        X : array-like of shape (n_features,) or (n, n_features), default=None
            For models with several inputs: those that are known, of all readings or of each, and
            NaN for the one that is asked for.
        bounds : tuple of float, default=None
            The range in which the input lies; None takes that of the training rows.
        prior : distribution, default=None
            Of the input, with a method ``logpdf``, as those of scipy.stats have; None takes all
            inputs of the range for as likely.
        coverage : float, default=0.95
            Of the intervals.
        n_replicates : int or array-like of shape (n,), default=1
            How many readings each value of y is the mean of, if they were averaged before.

        Returns
        -------
        InversePrediction
            Mean, standard deviation and mode, branches (intervals) with their probabilities, and
            whether the curve explains the reading at all.

        See Also
        --------
        sparsebayes.regression.inverse_predict : The same for a Pipeline.
        """
        return inverse_predict(
            self,
            y,
            X=X,
            bounds=bounds,
            prior=prior,
            coverage=coverage,
            n_replicates=n_replicates,
        )

    def detection_limit(
        self,
        blank: float | None = None,
        *,
        alpha: float = 0.05,
        beta: float = 0.05,
        n_replicates: int = 1,
        relative_std: float = 0.1,
        target: int | None = None,
        X: Any = None,
        bounds: Any = None,
    ) -> DetectionLimit:
        """Tell from which input on a reading differs from that of a blank.

        Parameters
        ----------
        blank : float, default=None
            The input of a blank; None takes the smallest of the training rows.
        alpha : float, default=0.05
            Probability that a blank is taken for something.
        beta : float, default=0.05
            Probability that something at the limit is taken for a blank.
        n_replicates : int, default=1
            How many readings are averaged before they are judged.
        relative_std : float, default=0.1
            Of the quantification limit.
        target : int, default=None
            Which one, of a model with several targets.
        X : array-like of shape (n_features,), default=None
            For models with several inputs: those that are known, and NaN for the one asked for.
        bounds : tuple of float, default=None
            The range of the input; None takes that of the training rows.

        Returns
        -------
        DetectionLimit
            Critical value, detection limit, quantification limit.
        """
        return detection_limit(
            self,
            blank,
            alpha=alpha,
            beta=beta,
            n_replicates=n_replicates,
            relative_std=relative_std,
            target=target,
            X=X,
            bounds=bounds,
        )
