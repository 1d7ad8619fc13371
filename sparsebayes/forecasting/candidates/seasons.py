"""Seasons of a series: one value for each step of a short one, waves for a long one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
LONGEST = 24  # steps of a season that has a value for each; longer ones are sums of waves


@dataclass(frozen=True)
class Seasons:
    """Functions of time that repeat.

    Parameters
    ----------
    periods : tuple of float
        Steps in each season.
    orders : tuple of int
        How many waves each season has, with whole numbers of cycles; 0 has a value of its own for
        each step of the season, which must be a whole number of steps.
    """

    periods: tuple[float, ...] = ()
    orders: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [
            f"{period:g}" + (f" in {order} wave{'s' * (order > 1)}" if order else "")
            for period, order in zip(self.periods, self.orders, strict=True)
        ]
        return " and ".join(parts)

    @property
    def waves(self) -> Seasons:
        """Those that are sums of waves."""
        long = [i for i, order in enumerate(self.orders) if order]
        return Seasons(tuple(self.periods[i] for i in long), tuple(self.orders[i] for i in long))

    @property
    def sizes(self) -> list[int]:
        return [
            2 * order if order else round(period)
            for period, order in zip(self.periods, self.orders, strict=True)
        ]

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def rows(self, times: Array) -> Array:
        """The functions at whole numbers of steps, (n, size)."""
        parts = [np.empty((len(times), 0))]
        for period, order in zip(self.periods, self.orders, strict=True):
            if order:
                angles = 2.0 * np.pi * np.outer(times / period, np.arange(1, order + 1))
                parts.append(np.hstack([np.cos(angles), np.sin(angles)]))
            else:
                parts.append(np.eye(round(period))[times % round(period)])
        return np.hstack(parts)

    def shares(self, times: Array) -> Array:
        """How an error is given to the functions: weights by which the sum of all moves by 1."""
        parts, start, rows = [np.empty((len(times), 0))], 0, self.rows(times)
        for order, size in zip(self.orders, self.sizes, strict=True):
            parts.append(rows[:, start : start + size] / (order or 1) / len(self.periods))
            start += size
        return np.hstack(parts)

    def prior(self) -> Array:
        """Covariance of the weights, up to a factor; values for each step sum to nothing."""
        cov, start = np.eye(self.size), 0
        for order, size in zip(self.orders, self.sizes, strict=True):
            if not order:
                cov[start : start + size, start : start + size] -= 1.0 / size
            start += size
        return cov


NONE = Seasons()


def short(period: float) -> bool:
    """Whether a season has a value for each of its steps."""
    return float(period).is_integer() and 1 < period <= LONGEST
