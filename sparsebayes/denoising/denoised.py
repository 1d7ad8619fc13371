"""The result of `denoise`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes._support.guesses.mixin import GuidedAttributes
from sparsebayes._support.summary import described
from sparsebayes.denoising.grid import Grid
from sparsebayes.denoising.observed.observation import Observation
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Dictionary

if TYPE_CHECKING:
    from sparsebayes.summaries import Summary

Array = np.ndarray


class Denoised(GuidedAttributes):
    """What `denoise` found.

    What is costly, such as `std`, is computed when it is first asked for.

    Parameters
    ----------
    fits : list of SignalFit
        The fit to each signal, on the grid of the dictionary.
    means : list of float
        The mean of each signal, which was taken off before the fit.
    observed : Observation
        What was measured, and with which kind of noise.
    grid : Grid
        Where the samples lie.
    dictionary : Dictionary
        What signals are made of.
    method : str
        How coefficients were estimated.
    n_shifts : int
        By how many shifts of the signal bases were made of the dictionary.
    dtype : dtype
        Of the results.

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
        One for each signal; the evidence is that of the centred signal. With channels the noise
        is that of each of them; with noise_model="multiplicative" that of the logarithm, with
        "poisson" that of the root, 1 or less. The mean over the samples if noise="per_level".
    n_active : int or ndarray
        The number of coefficients kept.
    noise_maxima : list of (float, float)
        Noise variance and objective of each local maximum over the noise that was found, the
        best first; of several signals a list for each.
    converged : bool
        Whether the fits to all signals did.
    stop_reason : str
        Of the first signal whose fit did not converge, or of the first.
    dictionary : Dictionary
        The one that was given, or chosen; of images, the first of those averaged over.
    method : str
        What was done: "sparse" where "average" was not possible.
    dictionaries : tuple of Dictionary
        Those averaged over: for images more than one, if none was given.
    n_shifts : int
        By how many shifts of the signal bases were made of the dictionary.
    n_bases : int
        The number of bases averaged over.
    fits : list of SignalFit
        The fit to each signal, on the grid of the dictionary.
    layout : Layout
        Which axes of the input make a signal.

    See Also
    --------
    denoise : Makes this result.
    sparsebayes.plots.DenoiseDisplay : A figure of it.

    Notes
    -----
    With channels, `coefficients`, `projections`, `alpha`, `log_evidence`, `n_active` and `fits` are
    those of their mixtures; all else is in channels. Of counts `parts`, `offset` and `reconstruct`
    are in roots, with multiplicative noise in logarithms.

    Examples
    --------
    >>> from sparsebayes import denoise
    >>> from sparsebayes.datasets import make_signal
    >>> t, y, f = make_signal("blocks", 512, snr=7, random_state=0)
    >>> found = denoise(y, "haar", method="sparse")
    >>> found
    <Denoised: 56 of 512 coefficients kept, Wavelet(name='haar', level=None)>
    >>> found.signal.shape, found.std.shape
    ((512,), (512,))
    >>> found.coefficients[found.coefficients != 0].size == found.n_active
    True
    """

    def __init__(
        self,
        fits: list[SignalFit],
        means: list[float],
        observed: Observation,
        grid: Grid,
        dictionary: Dictionary,
        method: str,
        n_shifts: int,
        dtype: Any,
    ) -> None:
        layout = observed.layout
        self.fits, self.layout, self.dictionary = fits, layout, dictionary
        self.method, self.n_shifts = method, n_shifts
        self.n_bases = max(fit.n_bases for fit in fits)
        self.dictionaries = max((fit.dictionaries for fit in fits), key=len) or (dictionary,)
        self._means, self._grid, self._dtype = means, grid, dtype
        self._observed = observed
        self._stable = observed.stable(self._estimate())  # among additive noise
        self.signal = observed.signal(self._stable)
        variances = layout.scalars([fit.noise_variance for fit in fits])
        self.noise_variance = observed.noise_variance(variances)
        self.log_evidence = layout.scalars([fit.log_evidence for fit in fits])
        self.n_active = layout.scalars([fit.n_active for fit in fits])
        maxima = [fit.maxima for fit in fits]
        self.noise_maxima = maxima if layout.several else maxima[0]
        self.converged = all(fit.converged for fit in fits)
        worst = next((fit for fit in fits if not fit.converged), fits[0])
        self.stop_reason = worst.stop_reason

    def _estimate(self) -> Array:
        return self._join(
            self._grid.at_samples(fit.signal()) + mean
            for fit, mean in zip(self.fits, self._means, strict=True)
        )

    def _move(self, out: Array | None, std_out: Array | None) -> None:
        """Write the signal and its standard deviation into arrays, and have them there."""
        if out is not None:
            out[...] = self.signal
            self.signal = out
        if std_out is not None:
            std_out[...] = self.std
            self.std = std_out

    @cached_property
    def parts(self) -> tuple[Array, ...]:
        """What each member of the dictionary contributes to the signal."""
        split = [[part - median for part, median in pairs] for pairs in self._by_member]
        return tuple(self._observed.stable(self._join(one)) for one in zip(*split, strict=True))

    @property
    def offset(self) -> Any:
        """The constant that belongs to none of the parts."""
        if len(self.dictionary.members) == 1:
            return self._observed.offset(self.layout.scalars(self._means))
        shifts = [sum(median for _, median in pairs) for pairs in self._by_member]
        both = zip(self._means, shifts, strict=True)
        totals = self.layout.scalars([mean + shift for mean, shift in both])
        return self._observed.offset(totals)

    @cached_property
    def _by_member(self) -> list[list[tuple[Array, float]]]:
        """For each signal what the members of the dictionary make, and the median of that.

        One member keeps its constant: 0 stands for its median.
        """
        several = len(self.dictionary.members) > 1
        out = []
        for fit in self.fits:
            parts = [self._grid.at_samples(part) for part in fit.transform.parts(fit.coefficients)]
            out.append([(part, float(np.median(part)) if several else 0.0) for part in parts])
        return out

    @cached_property
    def std(self) -> Array:
        """The standard deviation of the signal, without noise."""
        std = self._observed.stable_deviation(self._join(map(self._deviation, self.fits)))
        return self._observed.deviation(self._stable, std)

    def _deviation(self, fit: SignalFit) -> Array:
        variance = self._grid.at_samples(fit.variance())
        return np.sqrt(np.maximum(variance, 0.0) + fit.variance_of_mean)

    @property
    def coefficients(self) -> Array:
        """The coefficients after shrinkage."""
        return self._join(fit.coefficients for fit in self.fits)

    @property
    def projections(self) -> Array:
        """The coefficients before shrinkage."""
        return self._join(fit.projections for fit in self.fits)

    @property
    def alpha(self) -> Array:
        """The prior precisions of the coefficients, ∞ where one was dropped."""
        return self.layout.join([fit.alpha for fit in self.fits])

    def reconstruct(self, keep: Any) -> Array:
        """Make a signal of some of the coefficients, without the mean of the samples.

        Parameters
        ----------
        keep : array-like of bool or int, or slice
            A mask like `coefficients`; or the numbers of coefficients, or a slice, of those of a
            signal (flattened, if it has several dimensions).

        Returns
        -------
        ndarray
            The signal, like the input.
        """
        made = self._join(
            self._grid.at_samples(fit.transform.synthesise(np.where(mask, fit.coefficients, 0)))
            for fit, mask in zip(self.fits, self._masks(keep), strict=True)
        )
        return self._observed.stable(made)

    def _masks(self, keep: Any) -> list[Array]:
        """For each signal which coefficients to keep, or a clear error."""
        shape = self.fits[0].coefficients.shape
        mask = np.zeros(shape, dtype=bool)
        if isinstance(keep, slice):
            mask.reshape(-1)[keep] = True
            return [mask] * len(self.fits)
        chosen = np.asarray(keep)
        if chosen.dtype == bool and chosen.size:
            wanted = self.coefficients.shape
            if chosen.shape != wanted:
                raise ValueError(
                    f"keep is a mask of shape {chosen.shape}, the coefficients have shape "
                    f"{wanted}; give one entry for each, got {keep!r}."
                )
            like_signals = shape == self.layout.signal_shape
            return list(self.layout.split(chosen) if like_signals else chosen.reshape(-1, *shape))
        if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(f"keep must be a mask, numbers or a slice, got {keep!r}.")
        if np.any((chosen < -mask.size) | (chosen >= mask.size)):
            raise ValueError(f"keep has numbers beyond the {mask.size} coefficients of a signal.")
        mask.reshape(-1)[chosen.astype(np.intp)] = True
        return [mask] * len(self.fits)

    def _join(self, arrays: Iterable[Array]) -> Array:
        """Arrays for each signal together, of the type of the input."""
        return self.layout.join([np.asarray(array, dtype=self._dtype) for array in arrays])

    def summary(self) -> Summary:
        """Tell what was found, as a table.

        Returns
        -------
        sparsebayes.summaries.Summary
            ``print`` shows it as text, notebooks as HTML, and `to_dict` gives plain data.
        """
        return described(self)

    def __repr__(self) -> str:
        size = sum(int(np.prod(fit.transform.coefficient_shape)) for fit in self.fits)
        kept = int(np.sum(self.n_active))
        return f"<Denoised: {kept} of {size} coefficients kept, {self.dictionary}>"
