"""The test signals as the experiments of S08 seem to have used them."""

from __future__ import annotations

import numpy as np

from sparsebayes.datasets import make_signal

Array = np.ndarray


def clean(name: str, n: int) -> Array:
    """A signal without noise.

    Sinc has samples at both ends, as the code of S08 A.2. The others are at 0, 1/n, …, (n − 1)/n,
    against that code: only with steps of 1/n has Bumps the variance that table 2.1 prints. A grid
    from 1/n to 1 has it too; this one was taken because it agrees better with the table.
    """
    if name in ("sinc", "blocks_sinc"):
        return make_signal(name, n, snr=None)[2]
    return make_signal(name, n + 1, snr=None)[2][:-1]


def noisy(f: Array, snr: float, rng: np.random.Generator) -> Array:
    """The signal with noise scaled to have exactly the standard deviation that `snr` says.

    The errors that table 2.1 prints for a fit that keeps everything hardly vary, so its noise
    was scaled like that.
    """
    noise = rng.standard_normal(f.size)
    return f + noise * (f.std(ddof=1) / snr / noise.std(ddof=1))


def samples(width: float, n: int) -> float:
    """A width of S08, for x from -10 to 10, in samples."""
    return width * (n - 1) / 20.0
