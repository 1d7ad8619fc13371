"""`denoise`: checks what it is given and fits each signal, by averages, a rule or the solver."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._rvm.options import PriorName, as_prior
from sparsebayes._rvm.progress import tell_step
from sparsebayes._support.data import remedies
from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import (
    check_choice,
    check_limits,
    check_switches,
    is_auto,
    whole_number,
)
from sparsebayes.denoising.averaging.averaged_fit import AveragedFit
from sparsebayes.denoising.averaging.choose_dictionary import USUAL, choose_dictionaries
from sparsebayes.denoising.averaging.views import views_of
from sparsebayes.denoising.closed_form import ClosedFormFit
from sparsebayes.denoising.denoised import Denoised
from sparsebayes.denoising.gaps.begin import begin
from sparsebayes.denoising.gaps.gapped_fit import GappedFit
from sparsebayes.denoising.grid import lay_grid
from sparsebayes.denoising.inputs import centred, check_positions, check_signal
from sparsebayes.denoising.long_signals import check_place, denoise_long, is_long
from sparsebayes.denoising.methods import METHODS, DenoisingMethod
from sparsebayes.denoising.observed.noise_models import NOISE_MODELS, ChannelNoise, NoiseModelName
from sparsebayes.denoising.observed.observation import Observation
from sparsebayes.denoising.sequential_fit import SequentialFit
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Dictionary, as_dictionary
from sparsebayes.engine import Prior

_ROUGH = 4  # shifts for the estimate by which gaps are filled


@guided
def denoise(
    y: Any,
    dictionary: Any = "auto",
    *,
    method: DenoisingMethod = "average",
    prior: PriorName | float | Prior = "bic",
    noise: ChannelNoise = "estimate",
    n_shifts: Literal["auto"] | int = "auto",
    axes: Any = None,
    channel_axis: Any = None,
    noise_model: NoiseModelName = "gaussian",
    t: Any = None,
    max_iter: int = 10_000,
    tol: float = 0.01,
    out: Any = None,
    std_out: Any = None,
    verbose: int = 0,
) -> Denoised:
    """Remove noise from signals, images or volumes.

    The signal is a sum of the functions of a dictionary, and most coefficients are small. Each has
    a Gaussian prior whose precision is averaged over, with a distribution that is learned for each
    scale [1]_; what is around a coefficient tells about its precision, too. That is a closed form
    in any orthonormal basis, and the result is the mean over several. `method="sparse"` gives few
    coefficients instead: one precision for each, by the evidence and a prior that prices every
    coefficient [2]_.

    Parameters
    ----------
    y : array-like of one to three dimensions
        Integers become float64, float32 stays. NaN marks missing samples.
    dictionary : str or Dictionary, default="auto"
        "auto" takes, of a few wavelets and cosines in frames, those under which the signal is
        most likely, and complex wavelets for images. Or "dct", "mdct", any orthogonal wavelet of
        PyWavelets, "dual_tree", "rbf", "thin_plate", "laplacian", "linear_spline"; several joined
        by "+"; or an object of `sparsebayes.dictionaries`.
    method : str, default="average"
        "average" as above; what it cannot do (kernels, several dictionaries together, unequal
        spacing) is done by "sparse". "ash" is the average alone, without what is around a
        coefficient, in one basis. "hard" and "soft" are thresholds at ``σ √(2 log N)``, "bayes"
        is BayesShrink [3]_. These four need an orthonormal dictionary and all samples.
    prior : str or float, default="bic"
        Of `method="sparse"`: "flat", "aic", "bic", "ric" or a number c: the price of a
        coefficient, in nats.
    noise : "estimate", "per_level", float or sequence of float, default="estimate"
        The noise variance; with `channel_axis` one for all channels, or one for each. "per_level"
        estimates one for each scale, where noise is not white but the same everywhere; that needs
        `method="average"`.
    n_shifts : "auto" or int, default="auto"
        Of `method="average"`: by how many shifts of the signal bases are made of a dictionary.
        "auto" makes 4 bases of large signals and up to 16 of small ones.
    axes : int, tuple of int or None, default=None
        The axes of a signal; the others count signals, each of which is denoised on its own.
        None takes all but that of the channels.
    channel_axis : int or None, default=None
        The axis of channels, such as colours, which are alike but differ in their noise. They are
        mixed into what they share and differences, orthonormal in units of the noise, and those
        are denoised; all have one dictionary. A sample that is missing in one channel is taken to
        be missing in all.
    noise_model : str, default="gaussian"
        "gaussian" noise is added to the signal. "poisson": y are counts, whose variance is their
        mean; `noise` is the variance of Gaussian noise that comes with them, if there is any.
        "multiplicative": y is the signal times noise of mean 1, all above zero; `noise` is the
        variance of its logarithm.
    t : array-like or None, default=None
        Positions of the samples of a one-dimensional signal. For dictionaries other than
        kernels, samples are moved to a grid as fine as the closest two, or with eight points for
        each sample.
    max_iter, tol : int, float, default=10000, 0.01
        Of the sequential solver, which is used where "sparse" has no closed form: the largest
        number of steps, and the gain in log evidence for 1000 samples below which it ends.
    out, std_out : ndarray or None, default=None
        Arrays of the shape of y, for the signal and for its standard deviation, such as memory
        maps. The result then has these. Signals of one dimension and more than 2^22 samples are
        averaged in pieces, in constant memory; if such a y is a memory map and there is no `out`,
        results are in a temporary file that vanishes with them.
    verbose : int, default=0
        1 prints every tenth step of the sequential solver, or ten of all pieces of a long signal;
        2 each.

    Returns
    -------
    Denoised
        The signal, its standard deviation, the coefficients and the noise variance.

    See Also
    --------
    Denoiser : The same as a transformer of scikit-learn.
    sparsebayes.dictionaries : What signals are made of.
    sparsebayes.plots.DenoiseDisplay : A figure of the result.

    References
    ----------
    .. [1] M. Stephens, "False discovery rates: a new deal", Biostatistics 18, 2017.
    .. [2] A. Schmolck, "Smooth Relevance Vector Machines", 2008.
    .. [3] S. Chang, B. Yu, M. Vetterli, "Adaptive wavelet thresholding for image denoising and
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
    check_choice("method", method, tuple(METHODS))
    check_choice("noise_model", noise_model, NOISE_MODELS)
    check_limits(max_iter, tol)
    check_switches(verbose=verbose)
    shifts = None if is_auto(n_shifts) else whole_number("n_shifts", n_shifts, 1)
    chosen = None if is_auto(dictionary) else as_dictionary(dictionary)
    with remedies("y"):
        shape = np.shape(y)
    for name, place in (("out", out), ("std_out", std_out)):
        check_place(name, place, shape)
    if method == "average" and t is None and noise_model == "gaussian" and is_long(y, chosen):
        observed = Observation(y, axes, channel_axis, noise, noise_model)
        if not observed.by_level:
            long = denoise_long(y, chosen, observed.noises[0], shifts, out, std_out, verbose)
            if long is not None:
                return long
    values = check_signal(y)
    observed = Observation(values, axes, channel_axis, noise, noise_model)
    layout, signals = observed.layout, observed.signals(values)
    positions = None if t is None else check_positions(t, layout)
    seen = ~np.isnan(signals)
    if not seen.reshape(len(seen), -1).any(axis=1).all():
        raise ValueError("y has a signal of which every sample is NaN; drop it.")
    grid = lay_grid(layout.signal_shape, positions, chosen or USUAL, gaps=False)
    gaps = not seen.all()
    if gaps:
        regular = lay_grid(layout.signal_shape, positions, chosen or USUAL, gaps=True)
        if method == "average" and grid.where is None:  # then gaps are filled
            gaps = not (chosen or USUAL).bind(regular.shape, regular.points).n_bases
        grid = regular if gaps else grid
    plain = not gaps and grid.where is None
    centred_ones = [
        centred(signal if mask.all() and plain else signal[mask])
        for signal, mask in zip(signals, seen, strict=True)
    ]
    begun = [
        begin(target, mask, variance) if plain and not mask.all() else None
        for (target, _), mask, variance in zip(centred_ones, seen, observed.noises, strict=True)
    ]
    targets = [
        target if one is None else one.values
        for (target, _), one in zip(centred_ones, begun, strict=True)
    ]
    dictionaries: tuple[Dictionary, ...] = (chosen or USUAL,)
    if chosen is None and plain and method == "average":
        dictionaries = choose_dictionaries(targets, observed.noises, observed.by_level)
    transform = dictionaries[0].bind(grid.shape, grid.points)
    if method == "average" and not (plain and transform.n_bases):
        method = "sparse"
    if observed.by_level and (method != "average" or any(begun)):
        raise ValueError(
            "noise='per_level' needs method='average', a dictionary that is orthonormal or a tight "
            "frame, and a signal without gaps at equal spacing; use noise='estimate'."
        )
    if method not in ("average", "sparse") and not (plain and transform.orthonormal):
        raise ValueError(
            f"method={method!r} needs an orthonormal dictionary and a signal without gaps at equal "
            "spacing; use method='sparse'."
        )
    views = views_of(dictionaries, grid.shape, shifts) if method == "average" else []
    rough = views_of(dictionaries, grid.shape, _ROUGH) if any(begun) else []
    report = partial(tell_step, Reporter("denoise", verbose))
    fits: list[SignalFit] = []
    for target, mask, guess, variance in zip(targets, seen, begun, observed.noises, strict=True):
        of_precisions = as_prior(prior, target.size)
        price = of_precisions.price if method == "sparse" else 0.0
        fit: SignalFit
        if variance is None and not np.any(target):  # no noise, and nothing to explain
            fit = ClosedFormFit(transform, np.zeros(grid.shape, target.dtype), method, 0.0, None)
        elif guess is not None:
            fit = GappedFit(transform, guess, rough, views)
        elif method == "average":
            fit = AveragedFit(transform, target, views, variance, observed.by_level)
        elif plain and transform.orthonormal and price is not None:
            fit = ClosedFormFit(transform, target, method, price, variance)
        else:
            fit = SequentialFit(
                transform,
                target.reshape(-1),
                grid.rows(mask),
                of_precisions,
                variance,
                max_iter=max_iter,
                tol=tol,
                report=report,
            )
        fits.append(fit)
    means = [mean for _, mean in centred_ones]
    n_used = len(views[0].shifts) if views else 1
    found = Denoised(fits, means, observed, grid, dictionaries[0], method, n_used, values.dtype)
    if not found.converged:
        warnings.warn(f"denoise {found.stop_reason}.", ConvergenceWarning, stacklevel=3)
    found._move(out, std_out)
    return found
