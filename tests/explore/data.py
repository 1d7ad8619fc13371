"""Requests of each kind, small enough to be quick."""

import numpy as np

_rng = np.random.default_rng(0)
_x = np.linspace(-5.0, 5.0, 25)
_y = np.sin(_x) + 0.2 * _rng.standard_normal(25)
_y[12] += 3.0  # an outlier
_plane = _rng.standard_normal((24, 2)) + np.repeat([[-1.0], [1.0]], 12, axis=0)

REGRESSION = {
    "kind": "regression", "x": _x.tolist(), "y": _y.tolist(), "width": 1.5, "calibrate": None,
    "grid": 30,
}  # fmt: skip
CLASSIFICATION = {
    "kind": "classification", "x1": _plane[:, 0].tolist(), "x2": _plane[:, 1].tolist(),
    "label": ["a"] * 12 + ["b"] * 12, "width": 1.5, "calibrate": None, "grid": 8,
}  # fmt: skip
DENOISE = {
    "kind": "denoise", "dictionary": "haar",
    "y": (np.repeat([0.0, 4.0, 1.0, 3.0], 16) + 0.3 * _rng.standard_normal(64)).tolist(),
}  # fmt: skip
