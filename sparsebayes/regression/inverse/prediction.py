"""The distribution of the inputs that gave some readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from sparsebayes._support.data import check_numbers, finite_array
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.validation import check_coverage, whole_number
from sparsebayes.regression.inverse.curve import (
    Curve,
    as_known,
    as_prior_density,
    curve_of,
    nodes_of,
)
from sparsebayes.regression.inverse.density import densities, first_moment
from sparsebayes.regression.inverse.likelihood import Readings

Array = np.ndarray

LARGEST = 1e60  # reading
_NOTHING = 1e-12  # of the largest density
_FAR = 1e3  # standard deviations from all of the curve: what is further is put there
_LEVEL = 1e-8  # by which densities of one level may differ, where all inputs are as likely
EXPLAINED = 0.01  # p-values from which on a reading is taken to be explained


class Branch(NamedTuple):
    """An interval of inputs that explain a reading.

    A curve that rises and falls has several inputs for one reading. Each of them lies in a branch
    of its own.

    Parameters
    ----------
    lower, upper : float
        The ends of the interval.
    probability : float
        That the input lies in this interval.
    mean, mode : float
        Mean in this interval, and most likely value.

    See Also
    --------
    InversePrediction : All branches of all readings.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> x = np.linspace(-3, 3, 60)
    >>> y = x**2 + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> found = RVR().fit(x[:, None], y).inverse_predict([4.0])
    >>> for branch in found.branches[0]:
    ...     print(f"{branch.mean:.1f} with probability {branch.probability:.2f}")
    -2.0 with probability 0.47
    2.0 with probability 0.48
    """

    lower: float
    upper: float
    probability: float
    mean: float
    mode: float


@dataclass(frozen=True, eq=False)
class InversePrediction:
    """The distributions of the inputs that gave n readings, from `inverse_predict`.

    It has means and standard deviations, as a prediction does, and the intervals ("branches") in
    which the input lies. A curve that is not monotone may have several of them for one reading.

    Parameters
    ----------
    mean, std, mode : ndarray, (n,)
        Of the whole distribution. Where it has several branches the mean may lie between them.
    branches : tuple of tuple of Branch
        For each reading the intervals of the highest density, ascending; together they hold the
        input with probability `coverage`.
    p_value : ndarray, (n,)
        How likely a reading is that is as far from the curve as this one, wherever in the range
        the input is; 1 where the curve reaches the reading. Of several targets an upper bound.
    explained : ndarray of bool, (n,)
        Whether it is 0.01 or more. Otherwise no input in the range explains the reading, and what
        else is said of it means nothing.
    coverage : float
        Probability that the intervals of a reading hold its input.
    bounds : tuple of float
        The range of the input. An interval that ends there is cut: the input may lie beyond.
    grids : tuple of tuple of ndarray
        For each reading inputs, ascending, and the density there; it is a straight line between.

    See Also
    --------
    inverse_predict : Tell from readings which inputs gave them.
    Branch : One of the intervals.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.datasets import load_sensor
    >>> sensor = load_sensor()
    >>> found = RVR().fit(sensor.data, sensor.target).inverse_predict([40.0, 99.0])
    >>> [len(branches) for branches in found.branches], found.explained.tolist()
    ([4, 1], [True, False])
    """

    mean: Array
    std: Array
    mode: Array
    branches: tuple[tuple[Branch, ...], ...]
    p_value: Array
    explained: Array
    coverage: float
    bounds: tuple[float, float]
    grids: tuple[tuple[Array, Array], ...]

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def intervals(self) -> list[Array]:
        """For each reading the ends of its intervals, (B, 2)."""
        return [np.array([branch[:2] for branch in found]) for found in self.branches]

    @property
    def lower(self) -> Array:
        """The lower end of the lowest interval, (n,)."""
        return np.array([found[0].lower for found in self.branches])

    @property
    def upper(self) -> Array:
        """The upper end of the highest interval, (n,)."""
        return np.array([found[-1].upper for found in self.branches])

    def contains(self, x: Any) -> Array:
        """Tell whether the intervals of each reading hold an input.

        Parameters
        ----------
        x : array-like of shape (n,), or float
            The inputs, one for each reading or the same for all.

        Returns
        -------
        ndarray of bool, (n,)
            Whether an interval of the reading holds it.
        """
        every = finite_array("x", x, (len(self),) if np.ndim(x) else ())
        every = np.broadcast_to(every, (len(self),))
        return np.array(
            [
                bool(np.any((ends[:, 0] <= value) & (value <= ends[:, 1])))
                for ends, value in zip(self.intervals, every, strict=True)
            ]
        )

    def pdf(self, x: Any) -> Array:
        """Give the densities at some inputs.

        Parameters
        ----------
        x : array-like of shape (m,)
            The inputs, the same for all readings.

        Returns
        -------
        ndarray, (n, m)
            A row for each reading.
        """
        x = finite_array("x", x if np.ndim(x) else [x])
        return np.array([np.interp(x, *grid, left=0.0, right=0.0) for grid in self.grids])

    def quantile(self, q: Any) -> Array:
        """Find quantiles of the distributions.

        Parameters
        ----------
        q : array-like of shape (m,)
            Probabilities, between 0 and 1.

        Returns
        -------
        ndarray, (n, m)
            A row for each reading.
        """
        shares = finite_array("q", q if np.ndim(q) else [q])
        if not np.all((shares >= 0) & (shares <= 1)):
            raise ValueError(f"q must lie between 0 and 1, got {q!r}.")
        return np.array([_quantiles(x, density, shares) for x, density in self.grids])


def _quantiles(x: Array, density: Array, q: Array) -> Array:
    """Of a density that is a straight line between points."""
    mass = np.append(0.0, np.cumsum(0.5 * np.diff(x) * (density[1:] + density[:-1])))
    wanted = q * mass[-1]
    left = np.clip(np.searchsorted(mass, wanted, side="left") - 1, 0, len(x) - 2)
    width, first = x[left + 1] - x[left], density[left]
    rise = density[left + 1] - first
    rest = np.maximum(wanted - mass[left], 0.0)
    # first t + rise t²/2 = rest / width, solved so that nothing cancels
    root = np.sqrt(np.maximum(first**2 * width + 2.0 * rise * rest, 0.0) * width)
    below = first * width + root
    share = np.divide(2.0 * rest, below, out=np.zeros_like(rest), where=below > 0)
    return x[left] + np.clip(share, 0.0, 1.0) * width


def inverse_predict(
    model: Any,
    y: Any,
    *,
    X: Any = None,
    bounds: Any = None,
    prior: Any = None,
    coverage: float = 0.95,
    n_replicates: Any = 1,
) -> InversePrediction:
    """Tell from readings which inputs gave them.

    The fitted model is a calibration curve: it was measured at known inputs, and is now read the
    other way round.

    Parameters
    ----------
    model : RVR, ReducedRankGPR, or a Pipeline that ends in one
        Fitted to readings at known inputs: the calibration curve.
    y : float, or array-like of shape (n,), or (n, R)
        Readings, each of an input of its own; in R columns, R readings of the same input. Of a
        model with K targets (n, K) or (n, K, R): the targets are read at the same input.
    X : array-like of shape (n_features,) or (n, n_features), default=None
        For models with several inputs: those that are known, of all readings or of each, and NaN
        for the one that is asked for.
    bounds : tuple of float, default=None
        The range in which the input lies; None takes that of the training rows, beyond which the
        curve was not measured.
    prior : distribution, default=None
        What is known of the input before, with a method ``logpdf``, as those of scipy.stats have;
        None takes all inputs of the range for as likely. One that leaves less than 1e-6 to the
        range, because it lies below or above it, is an error.
    coverage : float, default=0.95
        Of the intervals.
    n_replicates : int or array-like of shape (n,), default=1
        How many readings each value of y is the mean of, if they were averaged before.

    Returns
    -------
    InversePrediction
        Mean, standard deviation and intervals of each input, and whether the curve explains the
        reading at all.

    See Also
    --------
    detection_limit : From which input on a reading differs from that of a blank.
    sparsebayes.predict_uncertain : Predictions at uncertain inputs, in the usual direction.

    Notes
    -----
    The density is ``p(x | y) ∝ p(x) p(y | x)``, with ``p(y | x)`` the predictive distribution of
    the reading: what is uncertain of the curve, and the noise. The mean of R replicates has less
    noise, and a curve as uncertain as before. Noise and errors of several targets are taken to be
    independent. Values of the input that were read with the same error of the curve, as all
    readings from one calibration are, have errors in common.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sparsebayes import RVR
    >>> from sparsebayes.regression import inverse_predict
    >>> x = np.linspace(0, 10, 60)
    >>> y = 3 + 2 * x + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> model = make_pipeline(StandardScaler(), RVR("linear")).fit(x[:, None], y)
    >>> found = inverse_predict(model, [13.0])
    >>> found.mean.round(1).tolist(), [len(branches) for branches in found.branches]
    ([5.0], [1])
    """
    coverage = check_coverage(coverage)
    final = model[-1] if hasattr(model, "steps") else model
    known = None if X is None else as_known(X, int(model.n_features_in_))
    curve = curve_of(model, None if known is None else known[0], bounds)
    readings = _readings(y, n_replicates, curve, type(final).__name__)
    if known is None:
        groups = [(curve, np.arange(len(readings)))]
    else:
        if len(known) not in (1, len(readings)):
            raise ValueError(
                f"X must have one row, or one for each of the {len(readings)} readings, got "
                f"{len(known)}."
            )
        first, place = distinct_rows(known)
        place = np.broadcast_to(place, len(readings))
        groups = [
            (curve_of(model, row, bounds), np.flatnonzero(place == k))
            for k, row in enumerate(known[first])
        ]
    found: list[Any] = [None] * len(readings)
    for one, members in groups:
        for number, entry in zip(
            members, _invert(one, readings.rows(members), prior, coverage), strict=True
        ):
            found[number] = entry
    mean, std, mode, branches, p_value, grids = zip(*found, strict=True)
    p = np.array(p_value)
    return InversePrediction(
        np.array(mean), np.array(std), np.array(mode), branches, p, p >= EXPLAINED, coverage,
        (curve.low, curve.high), grids,
    )  # fmt: skip


def _readings(y: Any, n_replicates: Any, curve: Curve, name: str) -> Readings:
    """The readings that were given, with the replicates told apart from the targets."""
    values = check_numbers("y", y, allow_nd=True, ensure_min_samples=0, ensure_min_features=0)
    if values.size and np.abs(values).max() > LARGEST:
        raise ValueError(
            f"The largest reading is {np.abs(values).max():.3g}, and its square is out of range; "
            f"rescale y and the targets of the model to at most {LARGEST:g}."
        )
    targets = () if curve.n_targets is None else (curve.n_targets,)
    plain = 1 + len(targets)
    if values.ndim == 0 and curve.n_targets in (None, 1):
        values = values.reshape((1,) * plain)
    fits = values.ndim in (plain, plain + 1) and values.shape[1:plain] == targets
    if not fits or not values.size:
        shape = "(n,), or (n, R)" if not targets else f"(n, {targets[0]}), or (n, {targets[0]}, R)"
        raise ValueError(
            f"y must have shape {shape} for R replicates, since the {name} was fitted to "
            f"{targets[0] if targets else 'one'} target{'s' if targets and targets[0] > 1 else ''},"
            f" got {values.shape}."
        )
    each = values.reshape(len(values), targets[0] if targets else 1, -1)
    n_each = each.shape[2]
    counts = np.atleast_1d(np.asarray(n_replicates, dtype=object))
    if counts.shape not in ((1,), (len(values),)):
        raise ValueError(
            f"n_replicates must be a whole number, or one for each of the {len(values)} readings, "
            f"got shape {counts.shape}."
        )
    checked = np.array([whole_number("n_replicates", count) for count in counts], dtype=np.float64)
    count = np.broadcast_to(checked, len(values))
    if n_each > 1 and (count > 1).any():
        raise ValueError(
            f"y holds {n_each} replicates in its last axis, and n_replicates={n_replicates!r} says "
            "that they were averaged; give one or the other."
        )
    if curve.nu is not None and (count > 1).any():
        raise ValueError(
            "With outliers (noise=StudentT) the mean of replicates does not tell what they do; give"
            " all of them, y of shape (n, R), and no n_replicates."
        )
    if n_each == 1:
        return Readings(each[:, :, 0], count, np.zeros(each.shape[:2]), None, curve.nu)
    centre = each.mean(axis=2)
    squares = ((each - centre[:, :, None]) ** 2).sum(axis=2)
    value = centre if curve.nu is None else np.median(each, axis=2)
    return Readings(value, np.full(len(each), float(n_each)), squares, each, curve.nu)


def _invert(curve: Curve, readings: Readings, prior: Any, coverage: float) -> list[Any]:
    """Mean, standard deviation, mode, branches, p-value and grid of each reading."""
    log_prior, places = as_prior_density(prior, curve)
    nodes = nodes_of(curve, log_prior, places, int(readings.count.max()))
    far = _FAR * np.sqrt((nodes.variance + nodes.noise).max(axis=0))
    readings = readings.within(nodes.mean.min(axis=0) - far, nodes.mean.max(axis=0) + far)
    found = []
    for lines in densities(nodes, readings, log_prior):
        means, stds = lines.moments()
        levels, starts = (1.0 - _LEVEL) * lines.levels(coverage), lines.starts
        p_values = chi2.sf(lines.distance, nodes.mean.shape[1])
        for i in range(len(lines)):
            part = slice(starts[i], starts[i + 1])
            place, density = _without_tails(lines.place[part], lines.density[part])
            x = curve.input_at(place)
            branches = _branches(place, density, float(levels[i]), float(lines.total[i]), curve)
            found.append(
                (
                    float(curve.input_at(means[i])),
                    float(curve.width * stds[i]),
                    float(x[density.argmax()]),
                    branches,
                    float(p_values[i]),
                    (x, density / (lines.total[i] * curve.width)),
                )
            )
    return found


def _without_tails(place: Array, density: Array) -> tuple[Array, Array]:
    """The points at which there is something to be stored, and their neighbours."""
    seen = density > _NOTHING
    wide = seen.copy()
    wide[1:] |= seen[:-1]
    wide[:-1] |= seen[1:]
    return place[wide], density[wide]


def _branches(
    place: Array, density: Array, level: float, total: float, curve: Curve
) -> tuple[Branch, ...]:
    """The intervals in which a density is above a level."""
    above = density >= level
    cut = np.flatnonzero(above[1:] != above[:-1])
    share = (level - density[cut]) / (density[cut + 1] - density[cut])
    where = place[cut] + share * (place[cut + 1] - place[cut])
    place = np.insert(place, cut + 1, where)
    density = np.insert(density, cut + 1, level)
    above = np.insert(above, cut + 1, True)
    change = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]]).astype(np.int8)))
    found = []
    for first, last in zip(change[::2], change[1::2] - 1, strict=True):
        x, p = place[first : last + 1], density[first : last + 1]
        width = np.diff(x)
        mass = float((0.5 * width * (p[1:] + p[:-1])).sum())
        moment = first_moment(x[:-1], x[1:], p[:-1], p[1:]).sum()
        mean = moment / mass if mass > 0 else x[p.argmax()]
        lower, upper, mean, mode = curve.input_at([x[0], x[-1], mean, x[p.argmax()]]).tolist()
        found.append(Branch(lower, upper, mass / total, mean, mode))
    return tuple(found)
