"""A series as the models see it: values, guesses where some are missing, and known inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.forecasting.transforms import LEVEL, ValueTransform

Array = np.ndarray


@dataclass(frozen=True)
class Guesses:
    """What is thought of missing values: a Gaussian distribution of a function of the series.

    Attributes
    ----------
    places : ndarray of int, (G,)
        Their positions.
    mean : ndarray, (G,)
    cov : ndarray, (G, G)
    transform : ValueTransform
    """

    places: Array
    mean: Array
    cov: Array
    transform: ValueTransform

    def of(self, transform: ValueTransform) -> Guesses:
        """The same of another function of the series, by its slope."""
        if transform == self.transform:
            return self
        middle = self.transform.back(self.mean)
        change = transform.log_slope(middle) - self.transform.log_slope(middle)
        slope = np.exp(np.clip(change, -50.0, 50.0))
        cov = slope[:, None] * self.cov * slope
        return Guesses(self.places, transform.of(middle), cov, transform)


@dataclass(frozen=True)
class Record:
    """What is known of a series.

    Attributes
    ----------
    values : ndarray, (N,)
        NaN where missing.
    inputs : ndarray, (at least N, E)
        Of each step, standardised and lagged; those ahead may be known too.
    guesses : Guesses or None
        Of the missing values.
    """

    values: Array
    inputs: Array
    guesses: Guesses | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def known(self) -> Array:
        return np.isfinite(self.values)

    @property
    def filled(self) -> Array:
        """Values, or the middle of what is guessed."""
        if self.guesses is None:
            return self.values
        values = self.values.copy()
        values[self.guesses.places] = self.guesses.transform.back(self.guesses.mean)
        return values

    def until(self, origin: int) -> Record:
        """What was known before an origin, with the inputs after it."""
        return replace(self.part(0, origin), inputs=self.inputs)

    def past(self, origins: Array, length: int) -> Array:
        """The last values before each origin, (n, length)."""
        return self.filled[np.asarray(origins)[:, None] + np.arange(-length, 0)]

    def ahead(self, origins: Array, horizon: int) -> Array:
        """Inputs of the steps after each origin, (n, horizon, E)."""
        return self.inputs_at(np.asarray(origins)[:, None] + np.arange(horizon))

    def inputs_at(self, times: Array) -> Array:
        """Inputs at times (...,), as (..., E); the last that are known stand for those that are
        not, which no score looks at."""
        return self.inputs[np.minimum(times, max(len(self.inputs) - 1, 0))]

    def part(self, first: int, end: int) -> Record:
        """Some of it, with its guesses."""
        guesses = self.guesses
        if guesses is not None:
            inside = np.flatnonzero((guesses.places >= first) & (guesses.places < end))
            guesses = Guesses(
                guesses.places[inside] - first,
                guesses.mean[inside],
                guesses.cov[np.ix_(inside, inside)],
                guesses.transform,
            )
        return Record(self.values[first:end], self.inputs[first:end], guesses)

    def doubt(self, origins: Array, length: int, transform: ValueTransform = LEVEL) -> Array | None:
        """Covariance (n, length, length) of the last values before each origin; None if all
        are known."""
        if self.guesses is None:
            return None
        cov, guesses = np.zeros((len(origins), length, length)), self.guesses.of(transform)
        for i, origin in enumerate(origins):
            place = guesses.places - (int(origin) - length)
            inside = np.flatnonzero((place >= 0) & (place < length))
            cov[i][np.ix_(place[inside], place[inside])] = guesses.cov[np.ix_(inside, inside)]
        return cov if cov.any() else None
