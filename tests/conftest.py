"""Which cases of a test are quick; data, models and helpers of the classifier's tests."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from tests.classical import classical
from tests.sweeps import some

SOLVERS = ["sequential", "em", "mackay", "subspace"]
LIKELIHOODS = [
    ("logit", "laplace"),
    ("probit", "laplace"),
    ("probit", "mean_field"),
    ("probit", "tap"),
]
X, Y = make_moons(80, noise=0.25, random_state=0)
GRID = np.stack(np.meshgrid(np.linspace(-2, 3, 9), np.linspace(-2, 2, 7)), axis=-1).reshape(-1, 2)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of a test that is marked `sampled(count)`, all cases but so many (1) are slow."""
    tests = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("slow"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        count = next(iter(cases[0].get_closest_marker("sampled").args), 1)
        quick = some(len(cases), count)
        for k, item in enumerate(cases):
            if k not in quick:
                item.add_marker(pytest.mark.slow)


def three_classes(n_samples=90, seed=0):
    """Overlapping clouds of three classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % 3
    centers = np.array([[0.0, 1.5], [-1.3, -0.8], [1.3, -0.8]])
    return centers[labels] + 0.9 * rng.standard_normal((n_samples, 2)), labels


X3, Y3 = three_classes()


@pytest.fixture(scope="session", params=LIKELIHOODS, ids="-".join)
def binary(request):
    link, inference = request.param
    return classical(link=link, inference=inference).fit(X, Y)


SEVERAL = {
    "multinomial": classical(),
    "shared": classical(share_alpha=True),
    "ovr": classical(multi_class="ovr"),
    "probit": classical(link="probit"),
    "tap": classical(link="probit", inference="tap"),
}


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name == "tap")) for name in SEVERAL],
)
def several(request):
    return clone(SEVERAL[request.param]).fit(X3, Y3)


@pytest.fixture(scope="session", params=["binary", "multinomial", "ovr"])
def fitted(request):
    if request.param == "binary":
        return classical().fit(X, Y)
    return classical(multi_class=request.param).fit(X3, Y3)


def weights_of(model):
    """Outputs and columns of the kept weights, in the order of `sigma_`."""
    return np.nonzero(np.isfinite(np.atleast_2d(model.alpha_)))


def by_output(model, inputs):
    """The kept weights' functions over (output, sample), as a matrix."""
    output, column = weights_of(model)
    columns = model.basis_.columns(inputs)
    n_outputs = np.atleast_2d(model.alpha_).shape[0]
    full = np.zeros((n_outputs, len(inputs), output.size))
    full[output, :, np.arange(output.size)] = columns[:, column].T
    return full
