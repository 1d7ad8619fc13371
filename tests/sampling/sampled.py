"""Data and short chains; shared by the tests of sampling."""

import numpy as np
import pytest

from sparsebayes import RVR, sample_posterior
from sparsebayes.basis import RBF

# Chains of tests are too short to agree; where that matters it is asked for.
SHORT = [
    pytest.mark.filterwarnings("ignore:The chains disagree"),
    pytest.mark.filterwarnings("ignore:The precision of function"),
]
RNG = np.random.default_rng(3)
X = np.linspace(-5.0, 5.0, 18)[:, None] + 0.01 * RNG.standard_normal((18, 1))
Y = np.sin(X[:, 0]) + 0.2 * RNG.standard_normal(18) + 2.0
X_NEW = np.array([[-4.2], [0.3], [9.0]])
Z = RNG.standard_normal((30, 4))
T = Z[:, 1] - 0.4 * Z[:, 2] + RNG.standard_normal(30)


def draw(estimator=None, inputs=X, targets=Y, **options):
    estimator = RVR(RBF(1.5)) if estimator is None else estimator
    usual = {"n_samples": 12, "n_chains": 2, "n_warmup": 3, "random_state": 0}
    return sample_posterior(estimator, inputs, targets, **{**usual, **options})
