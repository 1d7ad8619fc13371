"""`denoise`: checks what it is given and fits each signal, in closed form or by the solver."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._rvm.options import as_noise, as_prior
from sparsebayes._rvm.progress import tell_step
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import check_choice, check_limits, check_switches
from sparsebayes.denoising.closed_form import ClosedFormFit
from sparsebayes.denoising.denoised import Denoised
from sparsebayes.denoising.grid import lay_grid, lay_out
from sparsebayes.denoising.inputs import centred, check_positions, check_signal
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.sequential_fit import SequentialFit
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import as_dictionary


def denoise(
    y: Any,
    dictionary: Any = "sym8",
    *,
    prior: Any = "bic",
    noise: Any = "estimate",
    axes: Any = None,
    t: Any = None,
    method: str = "sparse",
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
        "dct", "mdct", any orthogonal wavelet of PyWavelets, "dual_tree", "rbf", "thin_plate",
        "laplacian", "linear_spline"; several joined by "+"; or an object of
        `sparsebayes.dictionaries`.
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
    method : "sparse", "ash", "hard", "soft" or "bayes", default="sparse"
        "ash" does not choose one precision for each coefficient but averages over them, with
        weights learned for each band: no coefficient is dropped, and the error is mostly smaller,
        for images much smaller. The last three are classical: hard and soft thresholding
        at ``σ √(2 log N)``, and BayesShrink [2]_. All but "sparse" need an orthonormal
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
    check_choice("method", method, tuple(METHODS))
    check_limits(max_iter, tol)
    check_switches(verbose=verbose)
    variance = as_noise(noise)
    dictionary = as_dictionary(dictionary)
    values = check_signal(y)
    layout = lay_out(values.shape, axes)
    positions = None if t is None else check_positions(t, layout)
    signals = layout.split(values)
    seen = ~np.isnan(signals)
    whole = bool(seen.all())
    grid = lay_grid(layout.signal_shape, positions, dictionary, gaps=not whole)
    transform = dictionary.bind(grid.shape, grid.points)
    closed = transform.orthonormal and whole and grid.where is None
    if method != "sparse" and not closed:
        raise ValueError(
            f"method={method!r} needs an orthonormal dictionary and a signal without gaps at equal "
            "spacing; use method='sparse'."
        )
    report = partial(tell_step, Reporter("denoise", verbose))
    fits: list[SignalFit] = []
    means: list[float] = []
    for signal, mask in zip(signals, seen, strict=True):
        count = int(mask.sum())
        if count == 0:
            raise ValueError("y has a signal of which every sample is NaN; drop it.")
        target, mean = centred(signal if whole else signal[mask])
        of_precisions = as_prior(prior, count)
        price = of_precisions.price if method == "sparse" else 0.0
        fit: SignalFit
        if variance is None and not np.any(target):  # no noise, and nothing to explain
            fit = ClosedFormFit(transform, np.zeros(grid.shape, target.dtype), method, 0.0, None)
        elif closed and price is not None:
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
        means.append(mean)
    found = Denoised(fits, means, layout, grid, dictionary, values.dtype)
    if not found.converged:
        warnings.warn(f"denoise {found.stop_reason}.", ConvergenceWarning, stacklevel=2)
    return found
