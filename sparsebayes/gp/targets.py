"""The targets of a Gaussian process with mean zero."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def centred(y: Array) -> tuple[Array, float, float]:
    """The targets less their mean, the mean, and a variance that is above zero."""
    offset = float(y.mean())
    target = y - offset
    # Rounding leaves this much of a constant target after centring; it is not a signal.
    rounding = 4.0 * np.finfo(np.float64).eps * (np.abs(y).max() or 1.0)
    if np.abs(target).max() <= rounding:
        target = np.zeros_like(target)
    return target, offset, max(float(target @ target) / len(y), rounding**2)
