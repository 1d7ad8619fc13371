"""Noise with outliers: ``noise=StudentT()``."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, t
from sklearn.base import clone

from sparsebayes import RVR, Gamma, StudentT, sample_posterior
from sparsebayes._support.calibration import Forecast, most_likely, normal_width
from sparsebayes.basis import RBF
from sparsebayes.persistence import load, save
from tests.sweeps import covering, thinned

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "bic": "bic", "gamma": Gamma(1e-3, 1e-3)}
NEW = np.linspace(-9, 9, 200)[:, None]


def sinc(X):
    return np.sinc(X[:, 0] / np.pi)


def make_data(seed=0, n_samples=100, outliers=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n_samples, 1))
    y = sinc(X) + 0.1 * rng.standard_normal(n_samples)
    far = rng.choice(n_samples, outliers, replace=False)
    y[far] += rng.choice([-1.0, 1.0], outliers) * rng.uniform(1.0, 3.0, outliers)
    return X, y, far


X, Y, FAR = make_data()


@pytest.fixture(scope="module")
def model():
    return RVR(noise=StudentT()).fit(X, Y)


def error(model, at=NEW):
    return np.sqrt(np.mean((model.predict(at) - sinc(at)) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(6)))
def test_outliers_do_no_harm(seed):
    X, y, far = make_data(seed)
    clean = np.setdiff1d(np.arange(100), far)
    robust = RVR(noise=StudentT()).fit(X, y)
    assert error(robust) < 1.3 * error(RVR().fit(X[clean], y[clean])) + 0.01
    assert error(robust) < 0.5 * error(RVR().fit(X, y))
    assert 3.0 <= robust.nu_ < 10.0
    mean, std = robust.predict(NEW, return_std=True)
    new = sinc(NEW) + 0.1 * np.random.default_rng(100 + seed).standard_normal(200)
    assert 0.88 < np.mean(np.abs(new - mean) < 1.96 * std) < 1.0
    assert np.all(np.diff(robust.evidence_path_) >= 0.0)


@pytest.mark.sampled
@pytest.mark.parametrize(("solver", "prior"), covering(SOLVERS, PRIORS))
def test_every_solver_and_prior(solver, prior):
    options = {"solver": solver, "prior": prior, "random_state": 0}
    found = RVR(noise=StudentT(), **options).fit(X, Y)
    clean = RVR(**options).fit(np.delete(X, FAR, axis=0), np.delete(Y, FAR))
    assert error(found) < 1.4 * error(clean) + 0.01
    assert np.all(np.diff(found.evidence_path_) >= -1e-9)


@pytest.mark.slow
def test_without_outliers_it_is_the_model_with_normal_noise():
    X, y, _ = make_data(3, outliers=0)
    robust, normal = RVR(noise=StudentT()).fit(X, y), RVR().fit(X, y)
    assert robust.nu_ == np.inf
    assert_array_equal(robust.relevance_, normal.relevance_)
    for one, two in zip(
        robust.predict(NEW, return_std=True), normal.predict(NEW, return_std=True), strict=True
    ):
        assert_allclose(one, two, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_degrees_of_freedom_are_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (500, 1))
    y = sinc(X) + 0.1 * rng.standard_t(3.0, 500)
    model = RVR(noise=StudentT(), calibrate=None).fit(X, y)
    assert 1.5 < model.nu_ < 6.0
    assert_allclose(np.sqrt(model.noise_variance_) / normal_width(model.nu_), 0.1, rtol=0.15)


@pytest.mark.slow
def test_a_word_is_enough(model):
    assert_array_equal(RVR(noise="student").fit(X, Y).predict(NEW), model.predict(NEW))


@pytest.mark.slow
def test_degrees_of_freedom_may_be_given():
    model = RVR(noise=StudentT(5.0)).fit(X, Y)
    assert model.nu_ == 5.0
    assert error(model) < 0.07


def test_a_standard_deviation_holds_as_much_as_that_of_normal_noise():
    for nu in (1.0, 3.0, 30.0):
        inside = t(nu).cdf(normal_width(nu)) - t(nu).cdf(-normal_width(nu))
        assert_allclose(inside, norm.cdf(1.0) - norm.cdf(-1.0), rtol=1e-9)
    assert normal_width(np.inf) == 1.0


def test_draws_have_the_tails_of_the_noise():
    model = RVR(noise=StudentT(3.0), calibrate=None).fit(X, Y)
    draws = model.sample_y(NEW[:1], 40_000, random_state=0)[0] - model.predict(NEW[:1])[0]
    noise = t(3.0, scale=np.sqrt(model.noise_variance_) / normal_width(3.0))
    for level in (0.9, 0.99):
        assert_allclose(np.quantile(draws, level), noise.ppf(level), rtol=0.1)


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast"])
def test_augment(augment, model):
    found = RVR(noise=StudentT(), augment=augment).fit(X, Y)
    assert error(found) < 1.5 * error(model) + 0.01
    assert found.predict([[30.0]], return_std=True)[1][0] > 0.2


@pytest.mark.slow
def test_several_inputs_with_length_scales_to_learn():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 4))
    f = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1])
    y = f + 0.1 * rng.standard_normal(150)
    y[::20] -= 3.0
    found = RVR(noise=StudentT()).fit(X, y)
    assert np.sqrt(np.mean((found.predict(X) - f) ** 2)) < 0.08
    assert found.length_scale_[2:].min() > 3 * found.length_scale_[:2].max()


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["linear", "polynomial", "thin_plate", RBF(2.0)], ids=str)
def test_other_bases(basis):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 1))
    y = 2.0 * X[:, 0] + 1.0 + 0.1 * rng.standard_normal(60)
    y[::12] += 20.0
    robust = RVR(basis, noise=StudentT()).fit(X, y)
    assert np.sqrt(np.mean((robust.predict(X) - 2.0 * X[:, 0] - 1.0) ** 2)) < 0.15


def test_a_weight_of_two_is_the_sample_twice():
    weights = np.where(np.arange(100) % 4 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(100), weights.astype(int))
    options = {"basis": RBF(2.0), "calibrate": None, "noise": StudentT()}
    one = RVR(**options).fit(X, Y, sample_weight=weights)
    other = RVR(**options).fit(X[rows], Y[rows])
    assert_allclose(one.nu_, other.nu_, rtol=0.05)
    assert_allclose(one.predict(NEW), other.predict(NEW), atol=0.02)


def test_a_constant_target_and_few_rows():
    model = RVR(noise=StudentT(), calibrate=None).fit(X, np.full(100, 3.0))
    assert_array_equal(model.predict(NEW), 3.0)
    few = RVR(noise=StudentT(), calibrate=None).fit(X[:4], Y[:4])
    assert np.isfinite(few.predict(NEW, return_std=True)).all()


def test_the_factor_of_held_out_errors_ignores_outliers():
    rng = np.random.default_rng(0)
    squares = (2.0 * rng.standard_normal(400)) ** 2
    squares[:20] = 1e4
    held, ones = Forecast(squares, np.ones(400)), np.ones(400)
    robust = most_likely(ones, squares, held, 100.0, 3.0)
    assert 1.8 < robust.factor < 2.5
    assert most_likely(ones, squares, held, 100.0).factor > 20.0


def test_files_pickles_and_clones(model, tmp_path):
    save(model, tmp_path / "model.skops")
    for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
        assert other.noise == StudentT() and other.nu_ == model.nu_
        assert_array_equal(other.predict(NEW, return_std=True), model.predict(NEW, return_std=True))
    assert clone(model).noise == StudentT()


@pytest.mark.parametrize("nu", [0.0, -1.0, "auto", None, np.nan])
def test_bad_degrees_of_freedom(nu):
    with pytest.raises(ValueError, match=r"StudentT needs nu='estimate' or a number > 0, got"):
        StudentT(nu)


def test_no_samples_are_drawn():
    with pytest.raises(ValueError, match=r"noise=StudentT.* is not sampled"):
        sample_posterior(RVR(noise=StudentT()), X, Y)


@pytest.mark.slow
def test_a_fit_again_without_outliers_forgets_them(model):
    again = clone(model).fit(X, Y).set_params(noise="estimate").fit(X, Y)
    assert not hasattr(again, "nu_")
