"""`denoise` as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._rvm.options import as_prior
from sparsebayes._support.summary import SummaryMixin
from sparsebayes._support.validation import check_choice, check_limits, is_auto, whole_number
from sparsebayes.denoising.fit_signals import denoise
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.observed.noise_models import as_channel_noise
from sparsebayes.dictionaries import as_dictionary

Array = np.ndarray


class Denoiser(SummaryMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """`denoise` as a transformer: each row of X is a signal.

    Parameters
    ----------
    dictionary, method, prior, noise, n_shifts, tol
        As in `denoise`. A dictionary that is chosen is the same for all rows.

    Attributes
    ----------
    n_features_in_ : int
        Samples of a signal.
    feature_names_in_ : ndarray
        Only if X has names.

    Examples
    --------
    >>> from sparsebayes import Denoiser
    >>> from sparsebayes.datasets import make_signal
    >>> t, y, f = make_signal("bumps", 256, random_state=0)
    >>> Denoiser().fit_transform([y]).shape
    (1, 256)
    """

    def __init__(
        self,
        dictionary: Any = "auto",
        *,
        method: str = "average",
        prior: Any = "bic",
        noise: Any = "estimate",
        n_shifts: Any = "auto",
        tol: float = 0.01,
    ) -> None:
        self.dictionary = dictionary
        self.method = method
        self.prior = prior
        self.noise = noise
        self.n_shifts = n_shifts
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Denoiser:
        """Check the parameters and the number of samples; nothing is learned from other signals.

        Parameters
        ----------
        X : array-like of shape (n_signals, n_samples)
        y : ignored

        Returns
        -------
        self : Denoiser
        """
        check_choice("method", self.method, tuple(METHODS))
        check_limits(1, self.tol)
        as_channel_noise(self.noise)
        if not is_auto(self.dictionary):
            as_dictionary(self.dictionary)
        if not is_auto(self.n_shifts):
            whole_number("n_shifts", self.n_shifts, 1)
        values = self._check(X, reset=True)
        as_prior(self.prior, values.shape[1])
        return self

    def transform(self, X: Any) -> Array:
        """Denoise each row.

        Parameters
        ----------
        X : array-like of shape (n_signals, n_samples)

        Returns
        -------
        signals : ndarray of shape (n_signals, n_samples)
        """
        check_is_fitted(self)
        values = self._check(X, reset=False)
        found = denoise(
            values,
            self.dictionary,
            method=self.method,
            prior=self.prior,
            noise=self.noise,
            n_shifts=self.n_shifts,
            axes=1,
            tol=self.tol,
        )
        return found.signal

    def _check(self, X: Any, *, reset: bool) -> Array:
        return validate_data(
            self, X, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", reset=reset
        )
