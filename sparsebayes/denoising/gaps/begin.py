"""A first guess at missing samples, and the noise in a signal with gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from sparsebayes.denoising.noise_level import white_noise

Array = np.ndarray

_ROUNDS, _SETTLED = 30, 0.005  # of the search for the noise, and the last relative change
_DRAWN = 8192  # samples of noise, to see how much of it is found
_KNOWN = 0.1  # share of samples around a missing one that its guess needs, in images


class Begun(NamedTuple):
    """A signal whose gaps are filled with a guess and noise.

    Attributes
    ----------
    values : ndarray
        Like the signal, without NaN.
    seen : ndarray of bool
    noise : float
        The noise variance, given or found.
    draw : ndarray
        Standard normal numbers for missing samples: what is put there gets noise as elsewhere.
    """

    values: Array
    seen: Array
    noise: float
    draw: Array

    def filled(self, fill: Array) -> Array:
        """The signal with other values and noise in its gaps."""
        values = self.values.copy()
        values[~self.seen] = fill + np.sqrt(self.noise) * self.draw
        return values


def begin(samples: Array, seen: Array, noise: float | None) -> Begun:
    """Fill gaps with a guess.

    Parameters
    ----------
    samples : ndarray
        Those that are not missing.
    seen : ndarray of bool
        Where they are.
    noise : float or None
        The noise variance; None finds it.
    """
    values = np.zeros(seen.shape, samples.dtype)
    values[seen] = samples
    guess = _guess(values, seen)
    rng = np.random.default_rng(0)
    draw = rng.standard_normal(guess.size)
    values[~seen] = guess
    begun = Begun(values, seen, noise or 0.0, draw)
    if noise is None:
        share = _share_found(seen, rng)
        for _ in range(_ROUNDS):
            before = begun.noise
            begun = begun._replace(noise=white_noise(begun.filled(guess)) / share)
            if abs(begun.noise - before) <= _SETTLED * before:
                break
    return begun._replace(values=begun.filled(guess))


def _share_found(seen: Array, rng: np.random.Generator) -> float:
    """The share of white noise that is found with such gaps: guesses are too much like others."""
    found = whole = 0.0
    for _ in range(max(1, _DRAWN // seen.size)):
        noise = rng.standard_normal(seen.shape)
        whole += white_noise(noise)
        noise[~seen] = _guess(noise, seen) + rng.standard_normal(seen.size - int(seen.sum()))
        found += white_noise(noise)
    return found / whole


def _guess(values: Array, seen: Array) -> Array:
    """For each missing sample something between those around it; linear in what is seen."""
    several = sum(n > 1 for n in seen.shape) > 1
    return _near(values, seen) if several else _between(values, seen)


def _between(values: Array, seen: Array) -> Array:
    """For each missing sample of a signal with one axis the straight line through its gap."""
    places, known = np.arange(seen.size), seen.ravel()
    return np.interp(places[~known], places[known], values.ravel()[known])


def _near(values: Array, seen: Array) -> Array:
    """For each missing sample the mean of those around it, as near as there are enough."""
    out = np.full(seen.shape, float(values[seen].mean()))
    missing, width = ~seen, 0.5
    known = np.where(seen, values, 0.0).astype(np.float64)
    while missing.any() and width < 2 * max(seen.shape):
        share = gaussian_filter(seen.astype(np.float64), width, mode="nearest")
        enough = missing & (share > _KNOWN)
        if enough.any():
            out[enough] = gaussian_filter(known, width, mode="nearest")[enough] / share[enough]
            missing &= ~enough
        width *= 2.0
    return out[~seen]
