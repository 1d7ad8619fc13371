"""Noise that depends on the input: ``noise="varying"``."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from sparsebayes import RVR, Gamma, predict_uncertain, sample_posterior
from sparsebayes._rvm.noise import NoiseVariance
from sparsebayes.basis import RBF
from sparsebayes.persistence import load, save
from sparsebayes.regression.held_out import HeldOut
from tests.sweeps import covering, thinned

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "bic": "bic", "gamma": Gamma(1e-3, 1e-3)}
NEW = np.linspace(-4.5, 4.5, 40)[:, None]


def deviation(X):
    """That of the noise: a fan."""
    return 0.05 + 0.1 * (X[:, 0] + 5.0)


def make_data(seed=0, n_samples=150):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (n_samples, 1))
    return X, np.sin(X[:, 0]) + deviation(X) * rng.standard_normal(n_samples)


X, Y = make_data()
FEW = X[:110], Y[:110]


@pytest.fixture(scope="module")
def model():
    return RVR(noise="varying").fit(X, Y)


def log_density(model, seed):
    """Of new observations, by the predictive distribution; the mean over them."""
    at, y = make_data(seed, 1000)
    mean, std = model.predict(at, return_std=True)
    return np.mean(-0.5 * np.log(2 * np.pi * std**2) - 0.5 * ((y - mean) / std) ** 2)


@pytest.mark.slow
def test_the_fan_is_found(model):
    std = model.predict(NEW, return_std=True)[1]
    assert_allclose(std, deviation(NEW), rtol=0.5)
    assert log_density(model, 1) > log_density(RVR().fit(X, Y), 1) + 0.1
    assert np.all(np.diff(model.evidence_path_) >= 0.0)
    function = model.predict(NEW, return_std=True, include_noise=False)[1]
    assert np.all(function < 0.7 * std)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_noise_that_is_the_same_everywhere_stays_so(seed):
    rng = np.random.default_rng(seed)
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(150)
    varying, constant = (RVR(noise=noise).fit(X, y) for noise in ("varying", "estimate"))
    for one, two in zip(
        varying.predict(NEW, return_std=True), constant.predict(NEW, return_std=True), strict=True
    ):
        assert_allclose(one, two, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "varies"), [(1.9, False), (2.1, True)])
def test_rows_held_out_have_the_last_word(gain, varies, monkeypatch):
    other = RVR(RBF(1.5), noise="varying" if varies else "estimate").fit(*FEW)
    monkeypatch.setattr(HeldOut, "gain_of_varying_noise", lambda self: gain)
    found = RVR(RBF(1.5), noise="varying").fit(*FEW)
    assert_array_equal(found.predict(NEW, return_std=True), other.predict(NEW, return_std=True))


@pytest.mark.slow
def test_what_rows_held_out_say(monkeypatch):
    told = []
    asked = HeldOut.gain_of_varying_noise
    monkeypatch.setattr(
        HeldOut, "gain_of_varying_noise", lambda self: told.append(asked(self)) or told[-1]
    )
    for calibrate in ("auto", None, KFold(3)):
        RVR(noise="varying", calibrate=calibrate).fit(X, Y)
    two = RVR(noise="varying").fit(X, np.column_stack([Y, 10.0 * Y]))
    assert two.predict(NEW).shape == (40, 2)
    assert min(told[:3]) > 10.0
    assert_allclose(told[3], 2.0 * told[0], rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "prior"), covering(SOLVERS, PRIORS))
def test_every_solver_and_prior(solver, prior):
    found = RVR(RBF(1.5), noise="varying", solver=solver, prior=prior, random_state=0).fit(*FEW)
    std = found.predict([[-4.0], [4.0]], return_std=True)[1]
    assert std[1] > 2.5 * std[0]
    assert np.all(np.diff(found.evidence_path_) >= -1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("augment", thinned([True, "fast"]))
def test_augment(augment):
    found = RVR(RBF(1.5), noise="varying", augment=augment).fit(X, Y)
    assert log_density(found, 1) > log_density(RVR().fit(X, Y), 1)
    assert found.predict([[30.0]], return_std=True)[1][0] > 0.5


def test_draws_vary_as_the_noise_does(model):
    draws = model.sample_y([[-4.0], [4.0]], 4000, random_state=0)
    std = model.predict([[-4.0], [4.0]], return_std=True)[1]
    assert_allclose(draws.std(axis=1), std, rtol=0.05)


@pytest.mark.slow
def test_a_sample_without_weight_does_not_count():
    spoilt, weights = Y.copy(), np.ones(150)
    spoilt[:10], weights[:10] = 50.0, 0.0
    found = RVR(RBF(1.5), noise="varying").fit(X, spoilt, sample_weight=weights)
    assert_allclose(found.predict(NEW, return_std=True)[1], deviation(NEW), rtol=0.6)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["linear", RBF(1.5), "precomputed"], ids=str)
def test_other_bases(basis):
    X, y = FEW
    inputs = np.column_stack([X[:, 0], X[:, 0] ** 2]) if basis == "precomputed" else X
    found = RVR(basis, noise="varying").fit(inputs, y)
    assert np.isfinite(found.predict(inputs, return_std=True)).all()


def test_at_uncertain_inputs_the_noise_is_averaged(model):
    mean, variance = predict_uncertain(model, [[2.0]], [[1.0]])
    rng = np.random.default_rng(0)
    at = 2.0 + rng.standard_normal((20_000, 1))
    means, stds = model.predict(at, return_std=True)
    assert_allclose(mean[0], means.mean(), atol=0.02)
    assert_allclose(variance[0], np.mean(stds**2) + means.var(), rtol=0.03)
    with pytest.raises(ValueError, match="noise='varying'"):
        predict_uncertain(model, [[2.0]], [[1.0]], method="exact")


def test_the_variance_is_the_mean_over_what_is_not_known_of_it():
    basis = RBF(1.0).fit(np.zeros((1, 1)))
    rng = np.random.default_rng(0)
    draws = np.exp(0.3 + 0.7 + 0.5 * rng.standard_normal(200_000))
    found = NoiseVariance(basis, np.array([0.7]), np.array([[0.25]]), 0.3)(np.zeros((1, 1)))
    assert_allclose(found, draws.mean(), rtol=0.01)


def test_files_and_pickles(model, tmp_path):
    save(model, tmp_path / "model.skops")
    for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict(NEW, return_std=True), model.predict(NEW, return_std=True))


def test_a_constant_target_and_few_rows():
    model = RVR(noise="varying", calibrate=None).fit(X, np.full(150, 3.0))
    assert_array_equal(model.predict(NEW), 3.0)
    few = RVR(noise="varying", calibrate=None).fit(X[:4], Y[:4])
    assert np.isfinite(few.predict(NEW, return_std=True)).all()


def test_no_samples_are_drawn():
    with pytest.raises(ValueError, match="noise='varying' is not sampled"):
        sample_posterior(RVR(noise="varying"), X, Y)
