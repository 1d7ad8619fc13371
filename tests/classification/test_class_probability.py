"""RVC's probabilities: averages over the posterior, distributions, calibrated."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit, softmax
from scipy.stats import norm
from sklearn import config_context
from sklearn.datasets import make_moons

from sparsebayes.basis import RBF
from sparsebayes.classification import class_probability
from tests.classical import classical
from tests.conftest import GRID, LIKELIHOODS, SOLVERS, X3, Y3, X, Y, by_output


@pytest.mark.sampled
@pytest.mark.parametrize("variance", [0.0, 1e-9, 0.1, 2.0, 2.25, 3.0, 50.0, 1e6, 1e18])
def test_the_average_of_a_sigmoid(variance):
    mean = np.array([0.0, 0.3, -1.0, 4.0, -8.0, 30.0, -300.0])
    nodes = np.linspace(-12, 12, 200_001)
    mass = norm.pdf(nodes) * (nodes[1] - nodes[0])
    each = np.full(mean.size, variance)
    for average, sigmoid in (
        (class_probability.logit, expit),
        (class_probability.probit, norm.cdf),
    ):
        ours = average(mean, each)
        dense = [sigmoid(m + np.sqrt(variance) * nodes) @ mass for m in mean]
        assert_allclose(ours, dense, rtol=1e-6, atol=1e-4 if variance > 1e4 else 1e-9)
        assert_allclose(ours + average(-mean, each), 1.0, atol=1e-12)


def test_the_mixture_is_a_logistic_distribution():
    x = np.linspace(-40, 40, 8001)[:, None]
    mixture = norm.cdf(x / np.array(class_probability.SCALES)) @ class_probability.SHARES
    assert_allclose(mixture, expit(x[:, 0]), rtol=0, atol=4.5e-5)


def gaussians(n_classes, scale, n_rows=20, seed=0):
    """Means and roots of covariances with very unequal variances."""
    rng = np.random.default_rng(seed)
    mean = max(1.5, scale) * rng.standard_normal((n_rows, n_classes))
    half = rng.standard_normal((n_rows, n_classes, n_classes)) / np.sqrt(n_classes)
    return mean, scale * half * rng.uniform(0.3, 1.7, (n_rows, n_classes, 1))


def covariances(half):
    return half @ half.transpose(0, 2, 1)


@pytest.mark.sampled
@pytest.mark.parametrize("n_classes", [3, 4, 6, 10])
@pytest.mark.parametrize(
    ("scale", "most", "usual"),
    [(0.1, 1e-4, 1e-5), (0.5, 2e-3, 1e-4), (1.0, 6e-3, 8e-4), (2.0, 0.02, 3e-3), (1e3, 0.06, 8e-3)],
)
def test_the_average_of_a_softmax(n_classes, scale, most, usual):
    mean, half = gaussians(n_classes, scale)
    ours = class_probability.softmax(mean, covariances(half))
    assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-14)
    assert np.all(ours >= 0)
    f = np.random.default_rng(1).standard_normal((10_000, n_classes)) @ half.transpose(0, 2, 1)
    f = f.transpose(1, 0, 2)
    samples = (softmax(mean + f, axis=2) + softmax(mean - f, axis=2)) / 2
    truth, error = samples.mean(axis=0), samples.std(axis=0) / np.sqrt(len(f))
    assert np.all(np.abs(ours - truth) < 5 * error + most)
    assert np.abs(ours - truth).mean() < 2 * error.mean() + usual


def test_the_average_of_a_softmax_where_one_class_is_uncertain():
    covariance = np.zeros((1, 3, 3))
    covariance[0, 0, 0] = 16.0
    first = class_probability.logit(np.array([-np.log(2.0)]), np.array([16.0]))[0]
    ours = class_probability.softmax(np.zeros((1, 3)), covariance)
    assert_allclose(ours, [[first, (1 - first) / 2, (1 - first) / 2]], atol=1e-3)


def test_the_average_of_a_softmax_of_two_classes_is_that_of_a_sigmoid():
    mean, half = gaussians(2, 2.0)
    covariance = covariances(half)
    variance = np.array([[1.0, -1.0] @ one @ [1.0, -1.0] for one in covariance])
    ours = class_probability.softmax(mean, covariance)
    assert_allclose(ours[:, 0], class_probability.logit(mean[:, 0] - mean[:, 1], variance))
    assert_allclose(ours.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_without_variance_the_average_of_a_softmax_is_the_softmax(n_classes):
    mean = 30 * np.random.default_rng(0).standard_normal((50, n_classes))
    ours = class_probability.softmax(mean, np.zeros((50, n_classes, n_classes)))
    assert_allclose(ours, softmax(mean, axis=1), rtol=1e-9)


def test_what_all_classes_share_does_not_matter_to_a_softmax():
    mean, half = gaussians(4, 1.0)
    covariance = covariances(half)
    shared = np.random.default_rng(1).standard_normal((20, 4))
    moved = covariance + 7.0 + shared[:, :, None] + shared[:, None, :]
    ours = class_probability.softmax(mean, covariance)
    assert_allclose(class_probability.softmax(mean + 100.0, moved), ours, atol=1e-12)


@pytest.mark.parametrize(("n_classes", "most"), [(3, 1e-12), (5, 5e-3)])
def test_the_order_of_classes_and_the_average_of_a_softmax(n_classes, most):
    mean, half = gaussians(n_classes, 1.0)
    covariance, ours = covariances(half), class_probability.softmax(mean, covariances(half))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n_classes)
        other = class_probability.softmax(mean[:, order], covariance[:, order][:, :, order])
        assert_allclose(other, ours[:, order], atol=most)


@pytest.mark.parametrize("n_classes", [3, 10])
def test_extreme_averages_of_a_softmax(n_classes):
    rng = np.random.default_rng(0)
    for size in (0.0, 1e3, 1e30):
        for variance in (0.0, 1e-300, 1e6, 1e60):
            mean = size * rng.choice([-1.0, 0.0, 1.0], (40, n_classes))
            half = np.sqrt(variance) * rng.standard_normal((40, n_classes, 2))  # singular
            ours = class_probability.softmax(mean, covariances(half))
            assert np.all((ours >= 0) & (ours <= 1))
            assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-12)


def draws(model, inputs, n_draws, seed=0):
    """Samples of f, (draws, K, N), from N(weights_, sigma_)."""
    rng = np.random.default_rng(seed)
    kept = np.isfinite(model.alpha_)
    weights = rng.multivariate_normal(model.weights_[kept], model.sigma_, n_draws, method="eigh")
    return np.einsum("kns,ds->dkn", by_output(model, inputs), weights)


def assert_near_monte_carlo(probability, samples, slack):
    """Within five standard errors, and `slack` for the quadrature."""
    mean, error = samples.mean(axis=0), samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(probability - mean) < 5 * error + slack)


@pytest.mark.slow
def test_probabilities_are_averages_over_the_posterior(binary):
    probability = binary.predict_proba(GRID)
    f = draws(binary, GRID, 20_000)[:, 0]
    samples = expit(f) if binary.link == "logit" else norm.cdf(f)
    assert_near_monte_carlo(probability[:, 1], samples, 1e-3)
    plug_in = expit if binary.link == "logit" else norm.cdf
    certain = plug_in(binary.decision_function(GRID, return_std=True)[0])
    assert np.abs(probability[:, 1] - certain).max() > 0.01  # the average matters


@pytest.mark.sampled
@pytest.mark.parametrize("share", [False, True])
def test_probabilities_of_a_softmax_are_averages_over_the_posterior(share):
    model = classical(share_alpha=share).fit(X3, Y3)
    samples = softmax(draws(model, GRID, 20_000), axis=1)
    probability = model.predict_proba(GRID)
    assert_near_monte_carlo(probability.T, samples, 5e-3)
    assert np.sqrt(np.mean((probability.T - samples.mean(axis=0)) ** 2)) < 2e-3


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e4, 1e12])
def test_huge_and_tiny_variances(fitted, scale):
    model = pickle.loads(pickle.dumps(fitted))
    model.sigma_ = scale * model.sigma_
    for one in getattr(model, "estimators_", []):
        one.sigma_ = scale * one.sigma_
    probability = model.predict_proba(GRID)
    assert np.isfinite(probability).all()
    assert_allclose(probability.sum(axis=1), 1.0)
    if model.classes_.size == 2:
        f = draws(model, GRID, 20_000)[:, 0]
        assert_near_monte_carlo(probability[:, 1], expit(f), 1e-3)
    elif not hasattr(model, "estimators_"):
        samples = softmax(draws(model, GRID, 20_000), axis=1)
        assert_near_monte_carlo(probability.T, samples, 0.03 if scale > 1e3 else 5e-3)


def assert_distributions(model, inputs):
    far = np.vstack([inputs, GRID, 1e3 * inputs, 1e9 * inputs, np.zeros((1, 2))])
    probability = model.predict_proba(far)
    assert probability.shape == (len(far), model.classes_.size)
    assert np.all(probability >= 0) and np.all(probability <= 1)
    assert_allclose(probability.sum(axis=1), 1.0, atol=1e-12)
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(far), np.log(probability))


@pytest.mark.slow
def test_a_row_is_a_distribution(binary):
    assert_distributions(binary, X)


@pytest.mark.sampled
def test_a_row_of_several_classes_is_a_distribution(several):
    assert_distributions(several, X3)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["linear", "polynomial", "thin_plate"])
@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
def test_far_away_inputs(inputs, labels, basis):
    for options in ({}, {"link": "probit"}):
        model = classical(basis, **options).fit(inputs, labels)
        for scale in (1e2, 1e5, 1e8):
            probability = model.predict_proba(scale * inputs)
            assert np.isfinite(probability).all()
            assert_allclose(probability.sum(axis=1), 1.0)


@pytest.mark.sampled
def test_the_most_probable_class_is_predicted(several):
    most = several.predict_proba(GRID).argmax(axis=1)
    assert_array_equal(several.predict(GRID), several.classes_[most])


def test_the_most_probable_of_two_classes_is_predicted(binary):
    most = binary.predict_proba(GRID).argmax(axis=1)
    assert_array_equal(binary.predict(GRID), binary.classes_[most])
    positive = binary.decision_function(GRID) > 0
    assert_array_equal(binary.predict(GRID) == binary.classes_[1], positive)
    assert_array_equal(binary.predict_proba(GRID)[:, 1] > 0.5, positive)


@pytest.mark.sampled
def test_predictions_in_batches_are_the_same(fitted):
    many = np.tile(GRID, (100, 1))
    whole = fitted.predict_proba(many), *fitted.decision_function(many, return_std=True)
    with config_context(working_memory=1):
        parts = fitted.predict_proba(many), *fitted.decision_function(many, return_std=True)
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_probabilities_are_the_same_each_time(fitted):
    assert_array_equal(fitted.predict_proba(GRID), fitted.predict_proba(GRID))
    one_by_one = np.vstack([fitted.predict_proba(row[None]) for row in GRID[:9]])
    assert_allclose(one_by_one, fitted.predict_proba(GRID)[:9], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_the_order_of_classes_does_not_matter():
    renamed = classical().fit(X3, np.array([2, 0, 1])[Y3])
    probability = classical().fit(X3, Y3).predict_proba(GRID)
    assert_allclose(renamed.predict_proba(GRID), probability[:, [1, 2, 0]], atol=5e-3)
    swapped = classical().fit(X, 1 - Y).predict_proba(GRID)
    assert_allclose(swapped[:, ::-1], classical().fit(X, Y).predict_proba(GRID), atol=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("link", "inference"), LIKELIHOODS)
def test_probabilities_are_near_the_truth(solver, link, inference):
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-3, 3, size=(250, 1))
    truth = expit(2.0 * np.sin(inputs[:, 0]) + 0.5)
    labels = (rng.uniform(size=250) < truth).astype(int)
    model = classical(RBF(1.5), solver=solver, link=link, inference=inference, random_state=0)
    model.fit(inputs, labels)
    assert np.mean(np.abs(model.predict_proba(inputs)[:, 1] - truth)) < 0.1  # a constant: 0.28


def calibration_error(probability, labels, bins=10):
    """The expected difference between the probability of a bin and its frequency."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    return sum(
        abs(probability[place == b].sum() - labels[place == b].sum()) for b in range(bins)
    ) / len(labels)


@pytest.mark.slow
def test_the_average_over_the_posterior_loses_less_than_the_mode():
    """Often it loses a little more, but never much, as the mode does where it is wrong."""
    ours, theirs = [], []
    for seed in range(100):
        inputs, labels = make_moons(20, noise=0.4, random_state=seed)
        test, truth = make_moons(1000, noise=0.4, random_state=1000 + seed)
        model = classical().fit(inputs, labels)
        f = model.decision_function(test, return_std=True)[0]
        for scores, odds in ((ours, model.decision_function(test)), (theirs, f)):
            loss = -log_expit(np.where(truth == 1, odds, -odds)).mean()
            scores.append([loss, calibration_error(expit(odds), truth)])
    (loss, error), (mode_loss, mode_error) = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert loss < mode_loss
    assert np.max(ours, axis=0)[0] < np.log(2)  # never worse than a coin
    assert error < mode_error + 0.005 and error < 0.15
