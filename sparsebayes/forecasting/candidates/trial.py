"""What every kind of model gives back when it is tried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray


class Settled(Protocol):
    """A model of a series whose parameters are known. ``str`` names it."""

    def forecasts(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = True
    ) -> Forecasts:
        """From origins in a record, in increasing order."""
        ...

    @property
    def transform(self) -> ValueTransform:
        """What is modelled."""
        ...

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        ...

    def sample(self, record: Record, horizon: int, n_paths: int, rng: Any) -> Array:
        """Paths (n_paths, horizon) of the transformed series after the record."""
        ...

    def followed(self, record: Record) -> Any:
        """The same, ready to go on from the end of a record that has become longer."""
        ...

    def placed(self, record: Record) -> Any:
        """The same, ready to go on from the end of another record."""
        ...


@dataclass(frozen=True)
class PastTrial:
    """A model, and what it would have said.

    Attributes
    ----------
    model : Settled
        With parameters learned from the whole record.
    past : Forecasts
        From origins in the past, each by what was known then; NaN where it was too little.
    """

    model: Settled
    past: Forecasts


class Windowed:
    """What models have in common that need no more than the last values."""

    def followed(self, record: Record) -> Any:
        """The same: the record is all it needs."""
        return self

    def placed(self, record: Record) -> Any:
        """The same: the record is all it needs."""
        return self


class GaussianPaths:
    """What models have in common whose paths are Gaussian."""

    def sample(self: Settled, record: Record, horizon: int, n_paths: int, rng: Any) -> Array:
        """Paths (n_paths, horizon) of the transformed series after the record."""
        found = self.forecasts(record, np.array([len(record)]), horizon, "auto")
        assert found.cov is not None
        return drawn(found.mean[0], found.cov[0], n_paths, rng)


def drawn(mean: Array, cov: Array, count: int, rng: Any) -> Array:
    """Draws (count, k) of a Gaussian that may be sure of some values."""
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return mean + rng.standard_normal((count, len(mean))) @ root.T


def matched(mean: Array, cov: Array, share: Array, owner: Array, count: int) -> tuple[Array, Array]:
    """Mean (n, H) and covariance (n, H, H), or variance (n, H), of mixtures of Gaussians.

    Parameters
    ----------
    mean : ndarray, (Q, H)
    cov : ndarray, (Q, H, H), or variances (Q, H)
    share : ndarray, (Q,)
        Those of one mixture sum to 1.
    owner : ndarray of int, (Q,)
        The number of the mixture.
    count : int
    """
    middle = np.zeros((count, mean.shape[1]))
    np.add.at(middle, owner, share[:, None] * mean)
    apart = mean - middle[owner]
    within = np.zeros((count, *cov.shape[1:]))
    spread = apart**2 if cov.ndim == 2 else apart[:, :, None] * apart[:, None]
    np.add.at(within, owner, share.reshape(-1, *[1] * (cov.ndim - 1)) * (cov + spread))
    return middle, within


def gaussian(mean: Array, cov: Array, transform: ValueTransform) -> Forecasts:
    """Forecasts with covariances (n, H, H), or with variances (n, H) alone."""
    if cov.ndim == 2:
        return Forecasts(mean, cov, transform)
    return Forecasts(mean, np.einsum("nhh->nh", cov), transform, cov)


def later_only(found: Forecasts, count: int) -> Forecasts:
    """With rows of NaN before, for origins that came too early, `count` in all."""
    missing = count - len(found.mean)
    if not missing:
        return found
    empty = np.full((missing, found.mean.shape[1]), np.nan)
    return Forecasts(
        np.vstack([empty, found.mean]), np.vstack([empty, found.variance]), found.transform
    )
