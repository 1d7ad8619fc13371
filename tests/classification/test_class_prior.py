"""Classes that are more or less frequent than among the training samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.metrics import log_loss

from sparsebayes.classification.class_weight import reweighted
from tests.classical import classical

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], 100)
X = (LABELS * 1.5 + RNG.standard_normal(300))[:, None]
TWO = LABELS < 2
LINKS = ["logit", "least_squares"]


@pytest.mark.parametrize("link", [*LINKS, "probit"])
def test_two_gaussian_classes(link):
    """Of which the probabilities are known."""
    model = classical("linear", link=link).fit(X[TWO], LABELS[TWO])
    assert_allclose(model.class_prior_, 0.5)
    at = np.linspace(-1, 3, 9)
    density = np.column_stack([norm(0).pdf(at), norm(1.5).pdf(at)])
    for prior in ([0.5, 0.5], [0.9, 0.1]):
        exact = density * prior / (density @ prior)[:, None]
        found = model.predict_proba(at[:, None], class_prior=prior)
        assert_allclose(found.sum(axis=1), 1.0)
        assert_allclose(found, exact, atol=0.12)


@pytest.mark.sampled
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_the_prior_of_the_samples_changes_nothing(link, multi_class):
    model = classical(link=link, multi_class=multi_class).fit(X, LABELS)
    plain = model.predict_proba(X)
    assert_allclose(model.predict_proba(X, class_prior=model.class_prior_), plain, atol=1e-12)
    assert_allclose(model.predict_proba(X, class_prior=[2, 2, 2]), plain, atol=1e-12)
    never = model.predict_proba(X, class_prior=[1, 0, 1])
    assert_array_equal(never[:, 1], 0.0)


@pytest.mark.slow
def test_each_model_of_one_vs_rest_has_its_own():
    model = classical(multi_class="ovr").fit(X[:250], LABELS[:250])
    assert_allclose(model.class_prior_, [0.4, 0.4, 0.2])
    assert_allclose(model.estimators_[2].class_prior_, [0.8, 0.2])
    assert_allclose(model.estimators_[2].predict_proba(X).sum(axis=1), 1.0)


def test_where_nothing_is_left():
    probability = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    found = reweighted(probability, np.array([0.0, 1.0, 3.0]))
    assert_allclose(found, [[0.0, 0.25, 0.75], [0.0, 0.25, 0.75]])


def test_what_is_known_of_frequencies_helps():
    rows = np.concatenate([np.flatnonzero(LABELS == 0), np.flatnonzero(LABELS == 1)[:10]])
    model = classical().fit(X[rows], LABELS[rows])
    assert_allclose(model.class_prior_, [100 / 110, 10 / 110])
    new = RNG.permutation(np.flatnonzero(TWO))
    assert log_loss(
        LABELS[new], model.predict_proba(X[new], class_prior=[0.5, 0.5])
    ) < 0.9 * log_loss(LABELS[new], model.predict_proba(X[new]))


def test_weights_count():
    weights = np.where(LABELS[TWO] == 1, 3.0, 1.0)
    assert_allclose(
        classical().fit(X[TWO], LABELS[TWO], sample_weight=weights).class_prior_, [0.25, 0.75]
    )
    balanced = classical(class_weight={0: 3.0, 1: 1.0}).fit(
        X[TWO], LABELS[TWO], sample_weight=weights
    )
    assert_allclose(balanced.class_prior_, [0.5, 0.5])


@pytest.mark.sampled
@pytest.mark.parametrize("prior", [[1.0], [0.5, -0.5], [0.0, 0.0], [np.nan, 1.0], "equal", 0.5])
def test_what_is_no_prior(prior):
    model = classical().fit(X[TWO], LABELS[TWO])
    with pytest.raises(ValueError, match="class_prior must be one number >= 0 for each of the 2"):
        model.predict_proba(X, class_prior=prior)
