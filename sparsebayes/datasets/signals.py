"""Test signals and toy classes of S08; :mod:`sparsebayes.datasets` is where they are public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit, logsumexp

from sparsebayes._support.data import check_numbers, check_size
from sparsebayes._support.validation import (
    as_generator,
    as_number,
    check_choice,
    finite_number,
    whole_number,
)

Array = np.ndarray
SignalName = Literal["sinc", "heavisine", "doppler", "blocks", "bumps", "blocks_sinc"]
GridName = Literal["closed", "wavelab"]

# S08 A.2, after Donoho and Johnstone: places, heights and widths.
_PLACES = (0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81)
_STEPS = (4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2)
_HEIGHTS = (4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2)
_WIDTHS = (0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005)
_FAR = 1e75  # of centres and widths, so that squares of their ratios are numbers
_SINC_HEIGHT = 3.0  # in blocks_sinc; S08 does not say


def _sinc(u: Array) -> Array:
    return np.sinc((20.0 * u - 10.0) / np.pi)


def _heavisine(u: Array) -> Array:
    return 4.0 * np.sin(4.0 * np.pi * u) - np.sign(u - 0.3) - np.sign(0.72 - u)


def _doppler(u: Array) -> Array:
    return np.sqrt(u * (1.0 - u)) * np.sin(2.1 * np.pi / (u + 0.05))


def _blocks(u: Array) -> Array:
    f = np.zeros_like(u)
    for place, step in zip(_PLACES, _STEPS, strict=True):
        f += 0.5 * step * (1.0 + np.sign(u - place))
    return f


def _bumps(u: Array) -> Array:
    f = np.zeros_like(u)
    for place, height, width in zip(_PLACES, _HEIGHTS, _WIDTHS, strict=True):
        f += height / (1.0 + np.abs(u - place) / width) ** 4
    return f


_SIGNALS: dict[str, Callable[[Array], Array]] = {
    "sinc": _sinc,
    "heavisine": _heavisine,
    "doppler": _doppler,
    "blocks": _blocks,
    "bumps": _bumps,
}


def _unit_grid(n: int, grid: str) -> Array:
    return np.linspace(0.0, 1.0, n) if grid == "closed" else np.arange(1, n + 1) / n


def make_signal(
    name: SignalName,
    n_samples: int = 1024,
    *,
    snr: float | None = 7.0,
    grid: GridName = "closed",
    random_state: Any = None,
) -> tuple[Array, Array, Array]:
    """Make a noisy test signal at equally spaced times [1]_, [2]_.

    These are the signals that methods of denoising are usually compared on.

    Parameters
    ----------
    name : {"sinc", "heavisine", "doppler", "blocks", "bumps", "blocks_sinc"}
        "blocks_sinc" is Blocks in the left half and three times Sinc in the right half.
    n_samples : int, default=1024
        Number of samples, at least 2.
    snr : float or None, default=7
        Standard deviation of the signal over that of the noise; None or infinity for no noise.
    grid : {"closed", "wavelab"}, default="closed"
        The times of n samples, as parts of the whole: ``k/(n − 1)`` from k = 0, both ends
        included, or ``k/n`` from k = 1.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the noise.

    Returns
    -------
    t : ndarray of shape (n_samples,)
        Times from -10 to 10 for "sinc", from 0 to 1 for the others.
    y : ndarray of shape (n_samples,)
        The signal with Gaussian noise.
    f : ndarray of shape (n_samples,)
        The signal without noise.

    See Also
    --------
    sparsebayes.denoise : Finds the signal again.
    make_sinc : A smooth curve, for regressions.

    Notes
    -----
    Formulas and the closed grid are those of [1]_, A.2. The noise variance that its table 2.1
    gives for Bumps, 0.119, belongs to the other grid, which is that of the WaveLab toolbox. What
    the height of Sinc is in "blocks_sinc", [1]_ does not say. With 3 and 1024 samples at SNR 7,
    the Haar wavelets alone come near the error of its figure 2.14 (b).

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008.
    .. [2] D. Donoho, I. Johnstone, "Ideal spatial adaptation by wavelet shrinkage",
       Biometrika 81, 1994.

    Examples
    --------
    >>> from sparsebayes.datasets import make_signal
    >>> t, y, f = make_signal("doppler", 512, snr=5, random_state=0)
    >>> t.shape, float(t[0]), float(t[-1])
    ((512,), 0.0, 1.0)
    """
    check_choice("name", name, get_args(SignalName))
    check_choice("grid", grid, get_args(GridName))
    n = whole_number("n_samples", n_samples, least=2)
    clean = snr is None or (isinstance(snr, float) and snr == np.inf)
    ratio = np.inf if clean else as_number(snr)
    if ratio is None or ratio <= 0:
        raise ValueError(
            f"snr must be a positive number, or None for a signal without noise, got {snr!r}."
        )
    t = _unit_grid(n, grid)
    if name == "blocks_sinc":
        left = _blocks(_unit_grid(n // 2, grid))
        right = _SINC_HEIGHT * _sinc(_unit_grid(n - n // 2, grid))
        f = np.concatenate([left, right])
    else:
        f = _SIGNALS[name](t)
    if name == "sinc":
        t = 20.0 * t - 10.0
    noise = as_generator(random_state).standard_normal(n)
    return t, f + f.std() / ratio * noise, f


def make_gauss_snake(
    n_samples: int = 250,
    *,
    n_gaussians: int = 6,
    separation: float = 2.0,
    wiggle: float = 1.0,
    width: float | tuple[float, float] = 0.5,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Make two wiggly classes in the plane, each a mixture of Gaussians [1]_.

    The centres of a class lie at 0, 1, 2, … along the first input and in turn higher and lower
    along the second; class 1 is class 0, moved up. Both classes, and all Gaussians of a class, are
    equally frequent, so that the probability of a class is known: :func:`gauss_snake_proba`.

    Parameters
    ----------
    n_samples : int, default=250
        Number of samples.
    n_gaussians : int, default=6
        Number of Gaussians in each class.
    separation : float, default=2
        How far class 1 lies above class 0.
    wiggle : float, default=1
        Difference in height between a centre and the next.
    width : float or two floats, default=0.5
        Standard deviation of the Gaussians, of both inputs or of each.
    random_state : None, int or numpy.random.Generator, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int of shape (n_samples,)
        Their classes, 0 or 1.

    See Also
    --------
    gauss_snake_proba : The true probability of a class.

    Notes
    -----
    [1]_ describes the data (figure 3.1) but not the numbers; those here are ours.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, chapter 3.

    Examples
    --------
    >>> from sparsebayes.datasets import gauss_snake_proba, make_gauss_snake
    >>> X, y = make_gauss_snake(100, random_state=0)
    >>> X.shape, gauss_snake_proba(X).shape
    ((100, 2), (100,))
    """
    n = whole_number("n_samples", n_samples)
    centers, scale = _snake(n_gaussians, separation, wiggle, width)
    rng = as_generator(random_state)
    y = rng.integers(2, size=n)
    X = centers[y, rng.integers(centers.shape[1], size=n)]
    return X + scale * rng.standard_normal((n, 2)), y


def gauss_snake_proba(
    X: Any,
    *,
    n_gaussians: int = 6,
    separation: float = 2.0,
    wiggle: float = 1.0,
    width: float | tuple[float, float] = 0.5,
) -> Array:
    """Compute the true probability of class 1 in :func:`make_gauss_snake`.

    The best boundary is where it is ½.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points.
    n_gaussians, separation, wiggle : int, float and float, default=6, 2 and 1
        As in :func:`make_gauss_snake`.
    width : float or two floats, default=0.5
        As there.

    Returns
    -------
    ndarray of shape (n,)
        The probability at each point.

    See Also
    --------
    make_gauss_snake : Draws the points.

    Examples
    --------
    >>> from sparsebayes.datasets import gauss_snake_proba
    >>> gauss_snake_proba([[2.0, 0.0], [2.0, 2.0], [2.5, 1.5]]).round(2)
    array([0.  , 0.97, 0.5 ])
    """
    X = check_size("X", check_numbers("X", X, ensure_min_samples=0))
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"X must have two columns, one for each input, got shape {X.shape}.")
    centers, scale = _snake(n_gaussians, separation, wiggle, width)
    away = (X[:, None, None, :] - centers) / scale  # (n, class, Gaussian, input)
    density = logsumexp(-0.5 * (away**2).sum(axis=-1), axis=-1)
    return expit(density[:, 1] - density[:, 0])


def _snake(n_gaussians: Any, separation: Any, wiggle: Any, width: Any) -> tuple[Array, Array]:
    """Centres (class, Gaussian, input) and standard deviations (input,)."""
    step = np.arange(whole_number("n_gaussians", n_gaussians))
    separation = finite_number("separation", separation, -_FAR, _FAR)
    wiggle = finite_number("wiggle", wiggle, -_FAR, _FAR)
    pair = isinstance(width, (list, tuple, np.ndarray)) and np.ndim(width) == 1
    scale = [as_number(w) for w in (width if pair else (width, width))]
    if len(scale) != 2 or any(w is None or not 1.0 / _FAR < w < _FAR for w in scale):
        raise ValueError(f"width must be a positive number or two of them, got {width!r}.")
    lower = np.column_stack([step, wiggle * (step % 2)])
    return np.stack([lower, lower + np.array([0.0, separation])]), np.array(scale)
