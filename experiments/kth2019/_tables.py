"""What the two halves of KTH19's tables share: means over folds, and what is said of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments._classification import column
from experiments._report import Report

Array = np.ndarray
TABLES = "KTH19 Table 1", "KTH19 Table 2"
Results = Mapping[str, Mapping[str, list[Any]]]  # by data set and machine


def means(results: Results, machines: Sequence[str], what: str) -> Array:
    """An attribute of the scores, its mean over the folds, (sets, machines)."""
    return np.array(
        [[column(scores[name], what).mean() for name in machines] for scores in results.values()]
    )


def claim_times(report: Report, kind: str, results: Results) -> None:
    """What KTH19 says of its Table 2, of one kind of sets."""
    slow, fast, svm = means(results, ("RVM", "RVMF", "SVM"), "seconds").T
    report.row = TABLES[1]
    for statement, holds in (
        ("the SVM is the fastest", svm < np.minimum(slow, fast)),
        ("the fast RVM is faster than the RVM", fast < slow),
    ):
        told = f"{kind}: {statement} on most sets"
        report.claim(told, bool(np.mean(holds) > 0.5), len(results))
