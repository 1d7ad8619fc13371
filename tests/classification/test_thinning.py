"""Fewer functions by least squares, where they say as much."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import sparsebayes.classification.thinning as thinning
from sparsebayes import RVC

IMAGES, DIGITS = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 210), slice(210, 900)


def fit(**options):
    options = {"link": "least_squares", "prior": 0.2, "adapt": None, **options}
    return RVC(**options).fit(IMAGES[TRAIN], DIGITS[TRAIN])


@pytest.mark.parametrize(("worse", "most"), [(np.inf, 42), (-np.inf, 60)])
def test_down_to_so_many(monkeypatch, worse, most):
    monkeypatch.setattr(thinning, "_WORSE", worse)
    model = fit()
    assert most - 10 < model.relevance_.size <= most
    assert np.all(np.diff(model.evidence_path_) >= 0)
    assert model.evidence_path_.size and np.isfinite(model.log_evidence_)


def test_little_is_lost(monkeypatch):
    monkeypatch.setattr(thinning, "_WORSE", np.inf)
    thin = fit()
    monkeypatch.setattr("sparsebayes.classification.least_squares.thinned", lambda p, s, loss: s)
    whole = fit()
    assert whole.relevance_.size > 1.3 * thin.relevance_.size
    assert np.isin(thin.relevance_, whole.relevance_).all()
    scores = [model.score(IMAGES[TEST], DIGITS[TEST]) for model in (whole, thin)]
    assert scores[1] > scores[0] - 0.03


def test_what_has_few_functions_stays(monkeypatch):
    model = fit(prior=5.0)
    assert 0 < model.relevance_.size < 40
    monkeypatch.setattr("sparsebayes.classification.least_squares.thinned", lambda p, s, loss: s)
    assert np.array_equal(fit(prior=5.0).weights_, model.weights_)
