"""Draws in ArviZ's structure: what its groups hold, and what ArviZ makes of them."""

import warnings
from itertools import product

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal
from sklearn import config_context

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz

from sparsebayes import RVC, RVR, sample_posterior

matplotlib.use("Agg")
MODERN = int(arviz.__version__.split(".")[0]) >= 1  # several names are others since
RNG = np.random.default_rng(4)
Z = RNG.standard_normal((40, 3))
Z_FRAME = pd.DataFrame(Z, columns=["a", "b", "c"])
F = Z[:, 0] - 0.4 * Z[:, 1]
T = F + 0.5 * RNG.standard_normal(40)
LABELS = np.where(F + 0.8 * RNG.standard_normal(40) > 0, "yes", "no")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains disagree"),
    pytest.mark.filterwarnings("ignore:The precision of function"),
    pytest.mark.filterwarnings("ignore:.*ArviZ:FutureWarning"),
]


@pytest.fixture(scope="module")
def regression():
    """Sets of three functions whose precisions and noise are known: all else is exact."""
    model = RVR("linear", noise=0.25, bias=False, calibrate=None)
    return sample_posterior(
        model, Z_FRAME, T, n_samples=600, n_chains=2,
        bounds=(0.05, 0.05), inclusion=0.5, random_state=0,
    )  # fmt: skip


def classification(rows):
    model = RVC("linear", link="logit", bias=False, calibrate=None)
    return sample_posterior(
        model, Z[rows], LABELS[rows], n_samples=600, n_chains=2, bounds=(0.5, 0.5),
        inclusion=0.5, random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def labels():
    return classification(np.arange(40))


def exact_leave_one_out():
    """log p(y_n | the others), by the evidence of all eight sets with and without each row."""
    y, out = T - T.mean(), []
    prior = 0.25 / (0.05 * (Z**2).sum(axis=0))  # variances of the weights
    sets = [np.array(one, dtype=float) for one in product([0, 1], repeat=3)]

    def log_evidence(rows):
        each = []
        for members in sets:
            cov = 0.25 * np.eye(rows.size) + (Z[rows] * (prior * members)) @ Z[rows].T
            each.append(multivariate_normal(np.zeros(rows.size), cov).logpdf(y[rows]))
        return logsumexp(each) - np.log(8)

    everything = np.arange(40)
    for n in everything:
        out.append(log_evidence(everything) - log_evidence(np.delete(everything, n)))
    return np.array(out)


def leave_one_out(data):
    """Densities of all rows, their sum, and the largest k."""
    found = arviz.loo(data, pointwise=True)
    rows, total = (found.elpd_i, found.elpd) if MODERN else (found.loo_i, found.elpd_loo)
    return rows.values, total, float(found.pareto_k.max())


def groups(data):
    return set(data.children if MODERN else data.groups())


@pytest.mark.slow
def test_leave_one_out_of_a_regression_is_exact(regression):
    data, exact = regression.to_arviz(), exact_leave_one_out()
    rows, total, k = leave_one_out(data)
    assert k < 0.6
    assert_allclose(rows, exact, atol=0.06)
    assert_allclose(total, exact.sum(), atol=0.2)
    if not MODERN:  # which has no waic
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of variances above 0.4
            assert_allclose(arviz.waic(data).elpd_waic, exact.sum(), atol=0.3)


@pytest.mark.slow
def test_leave_one_out_of_labels_is_what_fits_without_them_say(labels):
    rows, _, k = leave_one_out(labels.to_arviz())
    assert k < 0.67
    for n in np.argsort(rows)[[0, 20]]:  # the least expected, and one between
        without = classification(np.delete(np.arange(40), n))
        alone = without.log_density(Z[n : n + 1], LABELS[n : n + 1])[0]
        assert_allclose(rows[n], alone, atol=0.1)


def test_groups_of_a_regression(regression):
    data = regression.to_arviz()
    assert_array_equal(data.observed_data.y, T)
    assert_array_equal(data.constant_data.inputs, Z)
    assert data.constant_data.inputs.dims == ("observation", "input")
    assert list(data.constant_data.input.values) == ["a", "b", "c"]
    new = data.posterior_predictive.y
    assert new.dims == ("chain", "draw", "observation") and new.shape == (2, 600, 40)
    mean, std = regression.predict(Z_FRAME, return_std=True)
    assert_allclose(new.mean(("chain", "draw")), mean, atol=0.09)
    assert_allclose(new.std(("chain", "draw")), std, rtol=0.1)
    f = data.posterior.weights.values @ Z.T + T.mean()
    assert_allclose((new.values - f).var(), 0.25, rtol=0.02)  # the noise of each draw


@pytest.mark.slow
def test_groups_of_labels(labels):
    data = labels.to_arviz()
    assert_array_equal(labels.classes_[data.observed_data.y.values], LABELS)
    assert list(data.constant_data.input.values) == ["x0", "x1", "x2"]
    new = data.posterior_predictive.y
    assert set(np.unique(new)) == {0, 1}
    assert_allclose(new.mean(("chain", "draw")), labels.predict_proba(Z)[:, 1], atol=0.06)
    f = data.posterior.weights.values @ Z.T
    assert_allclose((new.values - expit(f)).mean(), 0.0, atol=0.01)


@pytest.mark.slow
def test_several_classes():
    y = np.digitize(F, [-0.5, 0.5]) * 10
    model = RVC("linear", link="logit", calibrate=None)
    samples = sample_posterior(model, Z, y, n_samples=200, n_chains=1, random_state=0)
    data = samples.to_arviz()
    assert_array_equal(samples.classes_[data.observed_data.y.values], y)
    new = data.posterior_predictive.y.values[0]
    shares = np.stack([(new == k).mean(axis=0) for k in range(3)], axis=1)
    assert_allclose(shares, samples.predict_proba(Z), atol=0.15)


def test_new_targets_depend_on_the_seed_only(regression, labels):
    for samples in (regression, labels):
        first = samples.to_arviz().posterior_predictive.y.values
        with config_context(working_memory=0.02):
            again = samples.to_arviz().posterior_predictive.y.values
        assert_allclose(again, first, rtol=1e-9)
        other = samples.to_arviz(random_state=1).posterior_predictive.y.values
        assert not np.array_equal(other, first)


def test_groups_can_be_left_out(regression, monkeypatch):
    small = regression.to_arviz(log_likelihood=False, posterior_predictive=False)
    names = {"posterior", "sample_stats", "observed_data", "constant_data"}
    assert groups(small) == names
    monkeypatch.setattr("sparsebayes.sampling.samples._INPUTS", 100)
    assert groups(regression.to_arviz(log_likelihood=False)) == (
        names - {"constant_data"} | {"posterior_predictive"}
    )
    assert regression.data is regression.data
    with pytest.raises(ValueError, match="log_likelihood must be True or False, got 'y'"):
        regression.to_arviz(log_likelihood="y")


def test_rows_without_weight_are_no_observations():
    weights = np.ones(40)
    weights[3] = 0
    samples = sample_posterior(
        RVR("linear", noise=0.25), Z, T, n_samples=8, n_chains=1, sample_weight=weights,
        random_state=0,
    )  # fmt: skip
    data = samples.to_arviz()
    for group in (data.observed_data, data.posterior_predictive, data.log_likelihood):
        assert_array_equal(group.observation, np.delete(np.arange(40), 3))
    assert_array_equal(data.observed_data.y, np.delete(T, 3))


@pytest.mark.parametrize("kind", ["regression", "labels"])
def test_arviz_draws_what_is_predicted(kind, request):
    from matplotlib import pyplot as plt

    data = request.getfixturevalue(kind).to_arviz()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if MODERN:
            arviz.plot_ppc_dist(data, num_samples=20, kind="ecdf", backend="matplotlib")
        else:
            arviz.plot_ppc(data, num_pp_samples=20, random_seed=0)
    figure = plt.gcf()
    figure.canvas.draw()
    assert figure.axes[0].lines
    plt.close(figure)
