"""How good a predictive distribution is, for models whose `predict` has ``return_std=True``.

The functions take targets `y` and the mean and standard deviation of Gaussian predictions of them,
noise included. Smaller is better, except for :func:`interval_coverage`, which should be its nominal
value, and :func:`pit_values`, which should be uniform.

For `GridSearchCV`, `cross_validate` and `cross_val_score` there are the scorers `nlpd_scorer`,
`crps_scorer`, :func:`interval_scorer` and :func:`coverage_scorer`: of these greater is better.
"""

from sparsebayes._support.homes import settle
from sparsebayes.scores.distributions import (
    crps,
    interval_coverage,
    interval_score,
    interval_width,
    negative_log_predictive_density,
    pit_values,
)
from sparsebayes.scores.scorers import (
    PredictiveScorer,
    coverage_scorer,
    crps_scorer,
    interval_scorer,
    nlpd_scorer,
)

__all__ = [
    "PredictiveScorer",
    "coverage_scorer",
    "crps",
    "crps_scorer",
    "interval_coverage",
    "interval_score",
    "interval_scorer",
    "interval_width",
    "negative_log_predictive_density",
    "nlpd_scorer",
    "pit_values",
]

settle(globals())
