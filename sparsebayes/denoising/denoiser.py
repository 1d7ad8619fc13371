"""Denoising of signals and images by sparse Bayesian shrinkage: the smooth RVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._rvm.options import as_noise, as_prior
from sparsebayes._support.validation import check_choice, check_limits, check_range, check_switches
from sparsebayes.denoising.closed_form import RULES, Shrunk
from sparsebayes.denoising.grid import Grid, Layout, lay_grid, lay_out
from sparsebayes.denoising.sequential_fit import Pursued
from sparsebayes.dictionaries import Dictionary, as_dictionary
from sparsebayes.dictionaries.transforms import StackedTransform
from sparsebayes.engine import Flat, Prior, Smoothness, Step

Array = np.ndarray
_METHODS = ("evidence", *RULES)


class Denoised:
    """What `denoise` found.

    Attributes
    ----------
    signal : ndarray
        The estimate, like the input; missing samples are filled in.
    std : ndarray
        Its standard deviation, without noise: posterior variance, and the expected square of
        what was left out. Computed when it is first asked for.
    coefficients, projections : ndarray
        The coefficients after and before shrinkage: posterior means and ``φᵀy/φᵀφ``. They have
        the shape of the input if the dictionary is orthonormal; those of a union are flat, its
        members one after another.
    alpha : ndarray
        Prior precisions of the coefficients, ∞ where one was dropped.
    parts : tuple of ndarray
        What each member of the dictionary contributes. With `offset` they add up to `signal`.
        A constant belongs to no member; those of a union have median zero.
    offset : float or ndarray
        The mean of the samples, which is taken off before the fit; of a union, and the medians
        of its parts.
    noise_variance, log_evidence : float or ndarray
        One for each signal; the evidence is that of the centred signal.
    n_active : int or ndarray
        The number of coefficients kept.
    noise_maxima : list of (float, float)
        Noise variance and objective of each local maximum over the noise that was found, the
        best first; of several signals a list for each.
    converged : bool
        For all signals.
    stop_reason : str
        Of the first signal that did not converge, or of the first.
    dictionary : Dictionary
    """

    def __init__(
        self,
        fits: list[Any],
        offsets: list[float],
        layout: Layout,
        grid: Grid,
        dictionary: Any,
        dtype: Any,
    ) -> None:
        self._fits, self._layout, self._grid, self._dtype = fits, layout, grid, dtype
        self._means = offsets
        self.dictionary: Dictionary = dictionary
        self.signal = self._join(
            grid.at_samples(fit.signal()) + offset
            for fit, offset in zip(fits, offsets, strict=True)
        )
        self.noise_variance = layout.scalars([fit.noise_variance for fit in fits])
        self.log_evidence = layout.scalars([fit.log_evidence for fit in fits])
        self.n_active = layout.scalars([fit.n_active for fit in fits])
        maxima = [fit.maxima for fit in fits]
        self.noise_maxima = maxima if layout.several else maxima[0]
        self.converged = all(fit.converged for fit in fits)
        worst = next((fit for fit in fits if not fit.converged), fits[0])
        self.stop_reason = worst.stop_reason

    @cached_property
    def parts(self) -> tuple[Array, ...]:
        split = [[part - median for part, median in pairs] for pairs in self._members]
        return tuple(self._join(one) for one in zip(*split, strict=True))

    @property
    def offset(self) -> Any:
        if len(self.dictionary.members) == 1:
            return self._layout.scalars(self._means)
        shifts = [sum(median for _, median in pairs) for pairs in self._members]
        both = zip(self._means, shifts, strict=True)
        return self._layout.scalars([mean + shift for mean, shift in both])

    @cached_property
    def _members(self) -> list[list[tuple[Array, float]]]:
        """For each signal what the members of the dictionary make, and the median of that."""
        out = []
        for fit in self._fits:
            if isinstance(fit.transform, StackedTransform):
                parts = fit.transform.parts(fit.coefficients)
                at_samples = [self._grid.at_samples(part) for part in parts]
                out.append([(part, float(np.median(part))) for part in at_samples])
            else:
                out.append([(self._grid.at_samples(fit.signal()), 0.0)])
        return out

    @cached_property
    def std(self) -> Array:
        return self._join(self._deviation(fit) for fit in self._fits)

    def _deviation(self, fit: Any) -> Array:
        variance = self._grid.at_samples(fit.variance())
        of_mean = fit.noise_variance / max(fit.n_seen, 1)
        return np.sqrt(np.maximum(variance, 0.0) + of_mean)

    @property
    def coefficients(self) -> Array:
        return self._join(fit.coefficients for fit in self._fits)

    @property
    def projections(self) -> Array:
        return self._join(fit.projections for fit in self._fits)

    @property
    def alpha(self) -> Array:
        return self._layout.join([fit.alpha for fit in self._fits])

    def reconstruct(self, keep: Any) -> Array:
        """The signal that some of the coefficients make, without the mean of the samples.

        Parameters
        ----------
        keep : array-like of bool or int, or slice
            A mask like `coefficients`; or the numbers of coefficients, or a slice, of those of a
            signal (flattened, if it has several dimensions).

        Returns
        -------
        signal : ndarray
            Like the input.
        """
        coefficients = self.coefficients
        chosen = np.asarray(keep) if not isinstance(keep, slice) else None
        if chosen is not None and chosen.size == 0:
            chosen = chosen.astype(np.intp)
        if chosen is not None and chosen.dtype == bool:
            if chosen.shape != coefficients.shape:
                raise ValueError(
                    f"keep is a mask of shape {chosen.shape}, the coefficients have shape "
                    f"{coefficients.shape}; give one entry for each."
                )
            masks = self._by_signal(chosen)
        else:
            if chosen is not None and not np.issubdtype(chosen.dtype, np.integer):
                raise ValueError(f"keep must be a mask, numbers or a slice, got {keep!r}.")
            mask = np.zeros(self._fits[0].coefficients.shape, dtype=bool)
            size = mask.size
            if chosen is not None and np.any((chosen < -size) | (chosen >= size)):
                raise ValueError(f"keep has numbers beyond the {size} coefficients of a signal.")
            mask.reshape(-1)[keep if chosen is None else chosen] = True
            masks = [mask] * len(self._fits)
        return self._join(
            self._grid.at_samples(fit.transform.synthesise(np.where(mask, fit.coefficients, 0)))
            for fit, mask in zip(self._fits, masks, strict=True)
        )

    def _join(self, arrays: Iterable[Array]) -> Array:
        """Arrays for each signal together, of the type of the input."""
        return self._layout.join([np.asarray(array, dtype=self._dtype) for array in arrays])

    def _by_signal(self, values: Array) -> list[Array]:
        """An array like `coefficients`, cut up into those of each signal."""
        shape = self._fits[0].coefficients.shape
        if shape == self._layout.signal_shape:
            return list(self._layout.split(values))
        return list(values.reshape(-1, *shape))

    def __repr__(self) -> str:
        size = sum(fit.coefficients.size for fit in self._fits)
        kept = int(np.sum(self.n_active))
        return f"<Denoised: {kept} of {size} coefficients kept, {self.dictionary}>"


def denoise(
    y: Any,
    dictionary: Any = "sym8",
    *,
    prior: Any = "bic",
    noise: Any = "estimate",
    axes: Any = None,
    t: Any = None,
    method: str = "evidence",
    max_iter: int = 10_000,
    tol: float = 0.01,
    verbose: int = 0,
) -> Denoised:
    """Remove noise from signals, images or volumes.

    The signal is a sparse sum of the functions of a dictionary. Each coefficient has a Gaussian
    prior of its own; their precisions and the noise maximise the evidence and a prior that
    prices every coefficient [1]_. With an orthonormal dictionary that is a closed form: the cost
    is that of a transform there and back. With a union, another dictionary, missing samples or
    unequal spacing the sequential solver is used.

    Parameters
    ----------
    y : array-like of one to three dimensions
        Integers become float64, float32 stays. NaN marks missing samples.
    dictionary : str or Dictionary, default="sym8"
        "dct", any orthogonal wavelet of PyWavelets, "rbf", "thin_plate", "laplacian",
        "linear_spline"; several joined by "+"; or an object of `sparsebayes.dictionaries`.
        Wavelets are periodic: the ends of a signal are neighbours.
    prior : str or float, default="bic"
        "flat", "aic", "bic", "ric" or a number c: the price of a coefficient, in nats.
    noise : "estimate" or float, default="estimate"
        The noise variance.
    axes : int, tuple of int or None, default=None
        The axes of a signal; the others count signals, each of which is denoised on its own.
        None takes all.
    t : array-like or None, default=None
        Positions of the samples of a one-dimensional signal. For dictionaries other than
        kernels, samples are moved to a grid as fine as the closest two, or with eight points for
        each sample.
    method : "evidence", "average", "hard", "soft" or "bayes", default="evidence"
        "average" does not choose one precision for each coefficient but averages over them, with
        weights learned for each band: no coefficient is dropped, and the error is mostly smaller,
        for images much smaller. The last three are classical: hard and soft thresholding
        at ``σ √(2 log N)``, and BayesShrink [2]_. All but "evidence" need an orthonormal
        dictionary and all samples; their noise is the median absolute deviation of the
        finest band, and `prior` does not matter.
    max_iter, tol : int, float, default=10000, 0.01
        Of the sequential solver: the largest number of steps, and the gain in log evidence for
        1000 samples below which it ends.
    verbose : int, default=0
        1 prints every tenth step of the sequential solver, 2 each.

    Returns
    -------
    denoised : Denoised

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008.
    .. [2] S. Chang, B. Yu, M. Vetterli, "Adaptive wavelet thresholding for image denoising and
       compression", 2000.

    Examples
    --------
    >>> from sparsebayes import denoise
    >>> from sparsebayes.datasets import make_signal
    >>> t, y, f = make_signal("doppler", 1024, snr=7, random_state=0)
    >>> found = denoise(y)
    >>> bool(((found.signal - f) ** 2).mean() < 0.2 * ((y - f) ** 2).mean())
    True
    """
    check_choice("method", method, _METHODS)
    check_limits(max_iter, tol)
    check_switches(verbose=verbose)
    variance, chosen = as_noise(noise), as_dictionary(dictionary)
    values = _check_signal(y)
    layout = lay_out(values.shape, axes)
    positions = None if t is None else _check_positions(t, layout)
    signals = layout.split(values)
    seen = ~np.isnan(signals)
    whole = bool(seen.all())
    grid = lay_grid(layout.signal_shape, positions, chosen, gaps=not whole)
    transform = chosen.bind(grid.shape, grid.points)
    closed = transform.orthonormal and whole and grid.where is None
    if method != "evidence" and not closed:
        raise ValueError(
            f"method={method!r} needs an orthonormal dictionary and a signal without gaps at equal "
            "spacing; use method='evidence'."
        )
    report = _reporter(verbose)
    fits, offsets = [], []
    for signal, mask in zip(signals, seen, strict=True):
        count = int(mask.sum())
        if count == 0:
            raise ValueError("y has a signal of which every sample is NaN; drop it.")
        target, offset = _centred(signal if whole else signal[mask])
        law = as_prior(prior, count)
        price = _price(law)
        fit: Shrunk | Pursued
        if variance is None and not np.any(target):  # no noise, and nothing to explain
            fit = Shrunk(transform, np.zeros(grid.shape, target.dtype), method, 0.0, None)
        elif closed and price is not None:
            fit = Shrunk(transform, target, method, price, variance)
        else:
            fit = Pursued(
                transform,
                target.reshape(-1),
                grid.rows(mask),
                law,
                variance,
                max_iter=max_iter,
                tol=tol,
                report=report,
            )
        fits.append(fit)
        offsets.append(offset)
    found = Denoised(fits, offsets, layout, grid, chosen, values.dtype)
    if not found.converged:
        warnings.warn(f"denoise {found.stop_reason}.", ConvergenceWarning, stacklevel=2)
    return found


def _check_signal(y: Any) -> Array:
    values = np.asarray(y)
    if values.dtype == bool or not (
        np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)
    ):
        raise ValueError(f"y must hold real numbers, got an array of type {values.dtype}.")
    if not 1 <= values.ndim <= 4 or values.size == 0:
        raise ValueError(
            f"y must have one to three dimensions, and one more for several signals, and samples "
            f"in it; got shape {values.shape}."
        )
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    if np.isinf(values).any():
        raise ValueError("y contains infinity; repair these samples, or set them to NaN.")
    if not np.isnan(values).all():
        check_range(values[~np.isnan(values)] if np.isnan(values).any() else values)
    return values


def _check_positions(t: Any, layout: Layout) -> Array:
    positions = np.asarray(t, dtype=np.float64)
    if len(layout.axes) != 1 or positions.shape != layout.signal_shape:
        raise ValueError(
            f"t must have one position for each sample of a one-dimensional signal, "
            f"{layout.signal_shape}, got shape {positions.shape}."
        )
    if not np.isfinite(positions).all():
        raise ValueError("t contains NaN or infinity; every sample needs a position.")
    return positions


def _centred(signal: Array) -> tuple[Array, float]:
    """The signal without its mean; exactly zero if it is constant but for rounding."""
    offset = float(signal.mean(dtype=np.float64))
    target = signal - signal.dtype.type(offset)
    largest = float(np.abs(target).max())
    if largest <= 4.0 * float(np.finfo(signal.dtype).eps) * max(abs(offset), largest):
        target[...] = 0.0
    return target, offset


def _price(prior: Prior) -> float | None:
    """The c of a smoothness prior, 0 of the flat one, None for others."""
    if isinstance(prior, Flat):
        return 0.0
    return prior.c if isinstance(prior, Smoothness) else None


def _reporter(verbose: int) -> Callable[[int, Step], bool] | None:
    def report(n_iter: int, step: Step) -> bool:
        if n_iter % 10 == 1 or verbose > 1:
            state = step.state
            print(
                f"[denoise] step {n_iter:5d}  objective {state.objective:.6g}  functions "
                f"{state.active.size}  noise variance {1.0 / state.beta:.3g}"
            )
        return False

    return report if verbose else None


class Denoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """`denoise` as a transformer: each row of X is a signal.

    Parameters
    ----------
    dictionary, prior, noise, method, tol
        As in `denoise`.

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
        dictionary: Any = "sym8",
        *,
        prior: Any = "bic",
        noise: Any = "estimate",
        method: str = "evidence",
        tol: float = 0.01,
    ) -> None:
        self.dictionary = dictionary
        self.prior = prior
        self.noise = noise
        self.method = method
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
        check_choice("method", self.method, _METHODS)
        check_limits(1, self.tol)
        as_noise(self.noise)
        as_dictionary(self.dictionary)
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
            prior=self.prior,
            noise=self.noise,
            axes=1,
            method=self.method,
            tol=self.tol,
        )
        return found.signal

    def _check(self, X: Any, *, reset: bool) -> Array:
        return validate_data(
            self, X, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", reset=reset
        )
