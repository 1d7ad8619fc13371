"""Small problems for the engine's tests."""

import numpy as np
import pytest

from sparsebayes.engine import Dense, Exact, Flat, Gamma, Gaussian, Smoothness, Trace

PRIORS = {
    "flat": Flat(),
    "zero": Smoothness(0.0),
    "bic": Smoothness(1.7),
    "gamma": Gamma(0.3, 0.5),
    "trace": Trace(1.3),
}


def make_problem(
    prior=None, *, weights=None, noise=None, noise_prior=(0.0, 0.0), n_samples=30, n_functions=12,
    seed=1,
):  # fmt: skip
    """Random functions, three of which make the targets."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n_samples, n_functions))
    target = matrix[:, :3] @ [1.0, 2.0, -1.0] + 0.3 * rng.standard_normal(n_samples)
    weights = np.ones(n_samples) if weights is None else weights
    sites = Gaussian(target, weights, noise, *noise_prior)
    return Exact(Dense(matrix), prior or Flat(), sites)


def kernel_problem(n_samples=60, *, prior=None, width=2.0, noise=None, seed=0, scale=0.1):
    """Noisy sinc with a Gaussian kernel and a bias."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-10, 10, n_samples)
    target = np.sinc(x / np.pi) + scale * rng.standard_normal(n_samples)
    kernel = np.exp(-0.5 * (x[:, None] - x) ** 2 / width**2)
    matrix = np.column_stack([np.ones(n_samples), kernel])
    target = target - target.mean()
    return Exact(Dense(matrix), prior or Flat(), Gaussian(target, np.ones(n_samples), noise))


@pytest.fixture(params=PRIORS)
def prior(request):
    return PRIORS[request.param]
