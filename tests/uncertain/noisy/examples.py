"""Small data with noisy inputs, and models that are quickly fitted to them."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsebayes.uncertain import Imputation, NoisyInputGPR, Slope, StochasticEM
from sparsebayes.uncertain.noisy.space import NoisyData

METHODS = ["stochastic_em", "imputation", "slope"]
QUICK = {
    "stochastic_em": StochasticEM(n_samples=8, n_chains=4, thin=1, max_iter=3),
    "imputation": Imputation(n_levels=4, n_folds=2),
    "slope": Slope(),
}


def sinc(seed=0, n_samples=50, noise=0.05):
    """QC04 4.3.2: observed inputs, targets, test inputs, test targets."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-10, 10, n_samples)
    y = np.sinc(x / np.pi) + noise * rng.standard_normal(n_samples)
    observed = x + rng.standard_normal(n_samples)
    test = rng.uniform(-10, 10, 100)
    targets = np.sinc(test / np.pi) + noise * rng.standard_normal(100)
    return observed[:, None], y, test[:, None], targets


FEW = X_FEW, Y_FEW = sinc(n_samples=12)[:2]


def quick(method, **changes):
    """A model with few turns; `changes` are of the regressor or of its method."""
    model = NoisyInputGPR(input_noise=1.0, random_state=0, method=clone(QUICK[method]))
    own = model.method.get_params()
    return model.set_params(**{f"method__{k}" if k in own else k: v for k, v in changes.items()})


def fit(model, X, y):
    """Fit; a few turns do not settle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


X, Y, TEST, _ = sinc(n_samples=30)
RNG = np.random.default_rng(0)
X2 = RNG.uniform(-3, 3, (25, 2))
Y2 = np.sin(X2[:, 0]) * np.cos(X2[:, 1]) + 0.2 * RNG.standard_normal(25)
DATA = NoisyData(Y2, X2, RNG.uniform(0.0, 0.5, (25, 2)))
GRID = RNG.uniform(-3, 3, (12, 2))
