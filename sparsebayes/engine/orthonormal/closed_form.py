"""The fit with an orthonormal design, in closed form.

With ``c_i = φ_iᵀt`` and ``z_i = c_i²/σ²`` each coefficient stands alone, and the smoothness prior
only takes 2c off its z: it is kept if ``z > 1 + 2c``, its γ is ``1 − 1/(z − 2c)``, and it gains
``½[z − 2c − 1 − log(z − 2c)]``. What remains is the objective as a function of σ² alone,

    L(σ²) = −½ Σ_i [log 2πσ² + z_i] + ½ Σ_kept [z_i − 2c − 1 − log(z_i − 2c)].

It is smooth. Between two values of σ² at which a coefficient is dropped, ``2 dL/dlog σ²`` is a
convex function of σ²; so the signs at these values, and its minimum where two neighbours are
both positive, give all local maxima. Of many coefficients the energies are put into narrow
bins for that, and each maximum found is then refined with the energies themselves.

With a flat prior (c = 0) L only falls: its supremum is at σ² → 0, where everything is kept.

The prior is that of [1]_, who climbs the same objective one coefficient at a time with the general
solver; the closed form and the exact search for σ² are our own.

References
----------
.. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (2.60).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from sparsebayes.engine.model.posterior import CREDIBLE
from sparsebayes.engine.orthonormal.log_bins import Bins, chunks, squares

Array = np.ndarray

FLOOR = 1e-10  # of the mean energy: less noise than that is lost in rounding
_EXACT = 1024  # up to so many different energies, no bins
_BITS = 5  # an octave has 2^_BITS bins


@dataclass(frozen=True)
class Maximum:
    """A local maximum of the objective over the noise variance.

    Attributes
    ----------
    variance, objective : float
    n_active : int
        The coefficients kept there.
    n_determined : float
        The number of effective parameters, Σγ.
    """

    variance: float
    objective: float
    n_active: int
    n_determined: float


@dataclass(frozen=True)
class Fit:
    """The end of the search for the noise.

    Attributes
    ----------
    maxima : tuple of Maximum
        All that were found, by falling objective; of a given noise the one point.
    chosen : Maximum
        The highest that leaves some noise, but not too much; the noise `instead`, if all leave
        more; or else the lowest noise that makes a difference.
    collapsed : bool
        Whether no maximum leaves noise.
    limited : bool
        Whether the noise is `instead`.
    """

    maxima: tuple[Maximum, ...]
    chosen: Maximum
    collapsed: bool
    limited: bool = False


def fit(
    coefficients: Array,
    c: float,
    variance: float | None,
    most: float = np.inf,
    instead: float = 0.0,
) -> Fit:
    """Find the noise variance, or take the given one.

    Parameters
    ----------
    coefficients : ndarray
        Of any shape and float type.
    c : float
        Of the smoothness prior; 0 is the flat prior.
    variance : float or None
        None estimates it.
    most : float, default=inf
        A noise variance that is not believed.
    instead : float, default=0.0
        The noise variance if all maxima are at or above `most`.
    """
    flat = coefficients.reshape(-1)
    if variance is not None:
        point = _look(flat, c, variance)
        return Fit((point,), point, False)
    mean = _mean_energy(flat)
    if mean == 0.0:
        point = Maximum(0.0, np.inf, 0, 0.0)
        return Fit((point,), point, False)
    levels, counts = _levels(flat, FLOOR * mean)
    brackets = _brackets(levels, counts, c, FLOOR * mean)
    found = [_look(flat, c, _refine(flat, c, *bracket)) for bracket in brackets]
    found.sort(key=lambda maximum: -maximum.objective)
    credible = [one for one in found if one.n_determined <= CREDIBLE * flat.size]
    for maximum in credible:
        if maximum.variance < most:
            return Fit(tuple(found), maximum, False)
    if credible and instead > 0:
        return Fit(tuple(found), _look(flat, c, instead), False, True)
    if credible:
        return Fit(tuple(found), credible[0], False)
    # As the noise falls further nothing changes but rounding: all coefficients but one are in.
    least = max(_least_energy(flat, FLOOR * mean), FLOOR * mean)
    point = found[0] if found else _look(flat, c, least / (1.0 + 2.0 * c))
    return Fit(tuple(found), point, True)


def shrink(coefficients: Array, c: float, variance: float) -> Array:
    """The posterior means, 0 for what is dropped."""
    out = np.zeros(coefficients.shape, coefficients.dtype)  # in C order, so that target is a view
    flat, target = coefficients.reshape(-1), out.reshape(-1)
    for part in chunks(flat.size):
        values = flat[part]
        some = np.flatnonzero(_kept(values, c, variance))
        kept = values[some].astype(np.float64)
        if variance > 0:
            kept *= 1.0 - 1.0 / (kept * kept / variance - 2.0 * c)
        target[part][some] = kept
    return out


def precisions(coefficients: Array, c: float, variance: float) -> Array:
    """The prior precisions, ∞ for what is dropped: ``1/α = c_i² − σ²(1 + 2c)``."""
    energy = np.square(coefficients, dtype=np.float64)
    width = energy - variance * (1.0 + 2.0 * c)
    return np.divide(1.0, width, out=np.full(width.shape, np.inf), where=width > 0)


def _kept(values: Array, c: float, variance: float) -> Array:
    return np.abs(values) > np.sqrt(variance * (1.0 + 2.0 * c))


def _mean_energy(flat: Array) -> float:
    return sum(float(energy.sum()) for energy in squares(flat)) / flat.size


def _least_energy(flat: Array, least: float) -> float:
    """The smallest energy that is more than `least`."""
    smallest = np.inf
    for energy in squares(flat):
        above = energy[energy > least]
        smallest = min(smallest, float(above.min(initial=np.inf)))
    return smallest if np.isfinite(smallest) else least


def _look(flat: Array, c: float, variance: float) -> Maximum:
    """The objective and what is kept at one noise variance."""
    threshold = variance * (1.0 + 2.0 * c)
    if variance == 0.0:
        nonzero = int(np.count_nonzero(flat))
        return Maximum(0.0, np.inf, nonzero, float(nonzero))
    total, count, determined = 0.0, 0, 0.0
    for energy in squares(flat):
        kept = energy > threshold
        above = energy[kept] / variance - 2.0 * c
        # z − 2c − 1 − log(z − 2c), less z: what is large has gone.
        total -= float((1.0 + 2.0 * c + np.log(above)).sum() + energy[~kept].sum() / variance)
        count += above.size
        determined += float((1.0 - 1.0 / above).sum())
    total -= flat.size * float(np.log(2.0 * np.pi * variance))
    return Maximum(float(variance), 0.5 * total, count, determined)


def _levels(flat: Array, least: float) -> tuple[Array, Array]:
    """Energies and how often each occurs: themselves, or means of bins that begin at `least`."""
    if flat.size <= _EXACT:
        energy = np.square(flat, dtype=np.float64)
        levels, counts = np.unique(energy, return_counts=True)
        return levels, counts.astype(np.float64)
    return Bins(least, _BITS).levels(squares(flat))


def _slopes(levels: Array, counts: Array, c: float, variance: Array) -> tuple[Array, Array]:
    """``2 dL/dlog σ²`` at each variance, and its derivative by σ², where σ² only just falls."""
    v = variance[:, None]
    # At a value of σ² where one is dropped, rounding must not keep it.
    kept = levels > v * (1.0 + 2.0 * c) * (1.0 + 1e-12)
    dropped = np.where(kept, 0.0, counts)
    rest = dropped @ levels
    gap = np.where(kept, levels - 2.0 * c * v, 1.0)
    weight = np.where(kept, 2.0 * c * counts, 0.0) / gap
    value = rest / variance - dropped.sum(axis=1) + variance * weight.sum(axis=1)
    slope = -rest / variance**2 + (weight / gap) @ levels
    return value, slope


def _brackets(levels: Array, counts: Array, c: float, least: float) -> list[tuple[float, float]]:
    """Intervals of σ² in each of which the objective has one maximum."""
    if c == 0.0:
        return []
    points = np.unique(np.concatenate([levels / (1.0 + 2.0 * c), [least, 1.0001 * levels[-1]]]))
    points = points[points >= least]
    parts = [
        _slopes(levels, counts, c, some) for some in np.array_split(points, -(-points.size // 64))
    ]
    value, slope = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = []
    for i in range(points.size - 1):
        low, high = float(points[i]), float(points[i + 1])
        if value[i] > 0 and value[i + 1] <= 0:
            found.append((low, high))
        elif value[i] > 0 and slope[i] < 0 and value[i] + slope[i] * (high - low) < 0:
            dip = _dip(levels, counts, c, low, high)
            if dip is not None:
                found.append((low, dip))
    if value[0] <= 0:  # it rises towards no noise at all
        found.append((least, least))
    return found


def _dip(levels: Array, counts: Array, c: float, low: float, high: float) -> float | None:
    """Where a convex slope, positive at both ends, is negative; None if nowhere."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        value, slope = _slopes(levels, counts, c, np.array([middle]))
        if value[0] < 0:
            return middle
        if value[0] - abs(slope[0]) * 0.5 * (high - low) > 0:  # the tangent stays above zero
            return None
        low, high = (middle, high) if slope[0] < 0 else (low, middle)
    return None


def _refine(flat: Array, c: float, low: float, high: float) -> float:
    """The maximum in an interval, with the energies themselves."""
    if high <= low:
        return low
    # Bins may have moved the ends a little.
    margin = 1.0 + 2.0**-_BITS if flat.size > _EXACT else 1.0
    low, high = low / margin, high * margin
    rest, n_rest, above = 0.0, 0, []
    for energy in squares(flat):
        kept = energy > low * (1.0 + 2.0 * c)
        above.append(energy[kept])
        rest += float(energy[~kept].sum())
        n_rest += energy.size - above[-1].size
    levels = np.concatenate([*above, [rest / max(n_rest, 1)]])
    counts = np.concatenate([np.ones(levels.size - 1), [float(n_rest)]])

    def slope(variance: float) -> float:
        return float(_slopes(levels, counts, c, np.array([variance]))[0][0])

    if slope(low) <= 0 or slope(high) >= 0:  # no sign change after all: the better end
        return min(low, high, key=lambda v: -_look(flat, c, v).objective)
    return float(brentq(slope, low, high, xtol=1e-14 * high, rtol=1e-14))
