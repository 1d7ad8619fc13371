"""The machine of the literature: nothing is chosen by held-out rows."""

from __future__ import annotations

from typing import Any

from sparsebayes import RVC


def classical(basis: Any = "rbf", **options: Any) -> RVC:
    """RVC with a likelihood of labels, length scales as given, and no calibration."""
    return RVC(basis, **{"link": "logit", "adapt": None, "calibrate": None, **options})
