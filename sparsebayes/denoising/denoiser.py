"""`denoise` as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._rvm.options import PriorName, as_prior
from sparsebayes._support.data import check_plain, checks
from sparsebayes._support.fits.whole import all_or_nothing
from sparsebayes._support.guesses.mixin import GuidedMixin
from sparsebayes._support.summary import SummaryMixin
from sparsebayes._support.validation import (
    check_choice,
    check_limits,
    check_range,
    is_auto,
    whole_number,
)
from sparsebayes.denoising.fit_signals import denoise
from sparsebayes.denoising.methods import METHODS, DenoisingMethod
from sparsebayes.denoising.observed.noise_models import ChannelNoise, as_channel_noise
from sparsebayes.dictionaries import as_dictionary
from sparsebayes.engine import Prior

Array = np.ndarray


class Denoiser(GuidedMixin, SummaryMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """`denoise` as a transformer: each row of X is a signal.

    It has a place in pipelines and grid searches. What else `denoise` finds, such as standard
    deviations, it does not give.

    Parameters
    ----------
    dictionary : str or Dictionary, default="auto"
        What signals are made of. One that is chosen is the same for all rows.
    method : str, default="average"
        How coefficients are estimated, as in `denoise`.
    prior : str or float, default="bic"
        The price of a coefficient, with ``method="sparse"``.
    noise : "estimate", "per_level" or float, default="estimate"
        The noise variance, or how it is estimated.
    n_shifts : "auto" or int, default="auto"
        By how many shifts of the signal bases are made of a dictionary.
    tol : float, default=0.01
        The gain in log evidence for 1000 samples below which the sequential solver ends.

    Attributes
    ----------
    n_features_in_ : int
        Samples of a signal.
    feature_names_in_ : ndarray
        Only if X has names.

    See Also
    --------
    denoise : For signals of any shape, with all that was found.

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
        method: DenoisingMethod = "average",
        prior: PriorName | float | Prior = "bic",
        noise: ChannelNoise = "estimate",
        n_shifts: Literal["auto"] | int = "auto",
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

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Denoiser:
        """Check the parameters and the number of samples; nothing is learned from other signals.

        Parameters
        ----------
        X : array-like of shape (n_signals, n_samples)
            The signals, one in each row.
        y : None
            Not used.

        Returns
        -------
        Denoiser
            This transformer.
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
            The signals, one in each row.

        Returns
        -------
        ndarray of shape (n_signals, n_samples)
            The signals without their noise.
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
        X, numbers = check_plain("X", X, gaps=True), (np.float64, np.float32)
        with checks("X"):
            X = validate_data(self, X, dtype=numbers, ensure_all_finite="allow-nan", reset=reset)
        known = ~np.isnan(X)
        if not known.any(axis=1).all():
            raise ValueError("X has a signal of which every sample is NaN; drop that row.")
        check_range(X[known], "X")
        return X
