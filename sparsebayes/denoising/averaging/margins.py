"""Signals on a circle: ends that are not neighbours get a margin that leads from one to the other.

Wavelets are periodic. Beyond its end a signal is reflected, and so it is before its beginning;
from one to the other the margin fades. What is found of the margin is cut off.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def extend(signal: Array, shape: tuple[int, ...]) -> Array:
    """A signal with margins after its end along each axis, of the given shape."""
    for axis, wanted in enumerate(shape):
        length = signal.shape[axis]
        if wanted == length:
            continue
        step = np.arange(wanted - length)
        after = _reflected(length + step, length)
        before = _reflected(step - step.size, length)
        fade = 0.5 - 0.5 * np.cos(np.pi * (step + 0.5) / step.size)
        fade = fade.astype(signal.dtype).reshape(-1, *[1] * (signal.ndim - axis - 1))
        margin = (1 - fade) * np.take(signal, after, axis) + fade * np.take(signal, before, axis)
        signal = np.concatenate([signal, margin], axis)
    return signal


def _reflected(place: Array, length: int) -> Array:
    """Places on a line as places in a signal that is reflected at both ends, again and again."""
    around = place % (2 * length)
    return np.minimum(around, 2 * length - 1 - around)
