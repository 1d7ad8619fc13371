"""A series as the models see it: values, guesses where some are missing, and known inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.forecasting.transforms import LEVEL, Transform

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
    transform : Transform
    """

    places: Array
    mean: Array
    cov: Array
    transform: Transform


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
        guesses = self.guesses
        if guesses is not None:
            inside = guesses.places < origin
            cov = guesses.cov[np.ix_(inside, inside)]
            guesses = replace(
                guesses, places=guesses.places[inside], mean=guesses.mean[inside], cov=cov
            )
        return Record(self.values[:origin], self.inputs, guesses)

    def past(self, origins: Array, length: int) -> Array:
        """The last values before each origin, (n, length)."""
        return self.filled[np.asarray(origins)[:, None] + np.arange(-length, 0)]

    def ahead(self, origins: Array, horizon: int) -> Array:
        """Inputs of the steps after each origin, (n, horizon, E); the last that are known stand
        for those that are not, which no score looks at."""
        times = np.asarray(origins)[:, None] + np.arange(horizon)
        return self.inputs[np.minimum(times, max(len(self.inputs) - 1, 0))]

    def doubt(self, origins: Array, length: int, transform: Transform = LEVEL) -> Array | None:
        """Covariance (n, length, length) of the last values before each origin; None if all
        are known. For another function of the series than the guessed one by its slope."""
        if self.guesses is None:
            return None
        cov = np.zeros((len(origins), length, length))
        slope = np.ones(len(self.guesses.places))
        if transform != self.guesses.transform:
            middle = self.filled[self.guesses.places]
            change = transform.log_slope(middle) - self.guesses.transform.log_slope(middle)
            slope = np.exp(np.clip(change, -50.0, 50.0))
        scaled = slope[:, None] * self.guesses.cov * slope
        for i, origin in enumerate(origins):
            place = self.guesses.places - (int(origin) - length)
            inside = np.flatnonzero((place >= 0) & (place < length))
            cov[i][np.ix_(place[inside], place[inside])] = scaled[np.ix_(inside, inside)]
        return cov if cov.any() else None
