"""What was learned from a signal, and how it is applied: to that signal, or to a piece of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.shrinkage_rules import Rules
from sparsebayes.denoising.averaging.views import Views

Array = np.ndarray


class Applied(NamedTuple):
    """Sums over bases: of estimates, of their expected squared errors, of coefficients kept."""

    signal: Array
    variance: Array
    kept: int


class Learned(NamedTuple):
    """Views of a signal, and what was learned from them."""

    views: Views
    around: Neighbourhoods
    rules: Rules

    def applied(
        self, coefficients: Iterable[Array], *, signal: bool = True, band: bool = True
    ) -> Applied:
        """The sums for the coefficients at each shift; what is not asked for is zero."""
        total, variance, kept = np.zeros(self.views.shape), np.zeros(self.views.shape), 0
        for some, shift in zip(coefficients, self.views.shifts, strict=True):
            means, errors, count = self.rules.shrunk(self.around, some)
            if signal:
                total += self.views.signal(means, shift)
            if band:
                variance += self.views.spread(errors, shift)
            kept += count
        return Applied(total, variance, kept)
