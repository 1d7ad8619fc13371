"""What a regression is told of its noise: a variance, a prior, variances of new observations."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RVR, Gamma, ReducedRankGPR, sample_posterior
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc
from sparsebayes.persistence import load, save

SOLVERS = ["sequential", "em", "mackay", "subspace"]
X, Y, _ = make_sinc(60, noise=0.1, random_state=0)
NEW = np.linspace(-9, 9, 7)[:, None]


# A prior of the noise


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_prior_of_nothing_changes_nothing(solver):
    plain, told = (
        RVR(solver=solver, noise=noise, random_state=0).fit(X, Y)
        for noise in ("estimate", Gamma(0.0, 0.0))
    )
    for name in ("relevance_", "weights_", "sigma_", "noise_variance_", "evidence_path_"):
        assert_array_equal(getattr(told, name), getattr(plain, name))
    assert_array_equal(
        told.predict(NEW, return_std=True)[1], plain.predict(NEW, return_std=True)[1]
    )


@pytest.mark.sampled
@pytest.mark.parametrize("prior", ["flat", "bic"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_end_is_where_the_updates_of_the_paper_stand_still(solver, prior):
    """T01 (46): β = (N − Σγ + 2c)/(‖t − Φμ‖² + 2d), with the price of a prior that has one."""
    shape, rate = 8.0, 8.0 * 0.05**2
    noise = Gamma(shape, rate)
    model = RVR(RBF(2.0), solver=solver, prior=prior, noise=noise, tol=1e-6, random_state=0)
    model.fit(X, Y)
    assert model.converged_ and np.all(np.diff(model.evidence_path_) >= 0)
    residual = np.sum((Y - model.predict(X)) ** 2)
    if prior == "flat":
        expected = (60 - model.determined_.sum() + 2 * shape) / (residual + 2 * rate)
        assert_allclose(1.0 / model.noise_variance_, expected, rtol=1e-3)
    beta = 1.0 / model.noise_variance_
    density = shape * np.log(beta) - rate * beta
    if prior == "flat":
        assert_allclose(model.evidence_path_[-1], model.log_evidence_ + density, rtol=1e-9)
    estimated = RVR(RBF(2.0), solver=solver, prior=prior, random_state=0).fit(X, Y)
    assert 0.05**2 < model.noise_variance_ < estimated.noise_variance_


def test_it_prevents_a_collapse():
    """Few samples, next to no noise, five inputs: EM goes through every target (QC04 2.2)."""
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (40, 5))
    targets = np.sin(3 * inputs[:, 0]) + inputs[:, 1] ** 2 + 0.01 * rng.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = RVR(RBF(0.7), solver="em", calibrate=None).fit(inputs, targets)
    assert not plain.converged_ and plain.determined_.sum() > 0.9 * 40
    assert plain.noise_variance_**0.5 < 0.002
    noise = Gamma(10.0, 10.0 * 0.05**2)
    model = RVR(RBF(0.7), solver="em", noise=noise, calibrate=None).fit(inputs, targets)
    assert model.converged_ and 0.03 < model.noise_variance_**0.5 < 0.08


@pytest.mark.slow
def test_learned_scales_see_the_prior():
    strict = RVR(noise=Gamma(1e4, 1e4 * 0.3**2)).fit(X, Y)
    assert strict.noise_variance_**0.5 == pytest.approx(0.3, rel=0.05)
    given = RVR(noise=0.3**2).fit(X, Y)
    assert strict.length_scale_[0] == pytest.approx(given.length_scale_[0], rel=0.05)
    assert strict.length_scale_[0] != pytest.approx(RVR().fit(X, Y).length_scale_[0], rel=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The chains disagree")
def test_with_everything_else(tmp_path):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    model = RVR(noise=Gamma(2.0, 0.02), augment=True).fit(X, Y, weights)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.noise == Gamma(2.0, 0.02)
    assert_array_equal(again.predict(NEW, return_std=True), model.predict(NEW, return_std=True))
    strict = RVR(RBF(2.0), noise=Gamma(1e4, 1e4 * 0.3**2)).fit(X, Y)
    samples = sample_posterior(strict, X, Y, 100, 2, random_state=0)
    assert_allclose(samples.data.posterior.noise_variance.mean(), 0.09, rtol=0.1)


@pytest.mark.parametrize("bad", [-1.0, 0.0, "gamma", None, np.nan, Gamma])
def test_bad_noise_is_named(bad):
    with pytest.raises(ValueError, match=r"noise must be .*Gamma\(c, d\)"):
        RVR(noise=bad).fit(X, Y)


# Known noise


@pytest.mark.slow
def test_a_weight_is_a_precision_where_the_noise_is_known():
    """The band of the function covers it; the noise stays what it is."""
    inside, rng = [], np.random.default_rng(1)
    points = np.linspace(-9.5, 9.5, 60)[:, None]
    for _ in range(12):
        x = rng.uniform(-10, 10, (80, 1))
        sd = np.exp(rng.uniform(np.log(0.03), np.log(0.5), 80))
        y = np.sinc(x[:, 0] / np.pi) + sd * rng.standard_normal(80)
        model = RVR(noise=1.0).fit(x, y, sample_weight=1 / sd**2)
        assert model.noise_variance_ == 1.0 and model.calibration_ >= 1.0
        mean, std = model.predict(points, return_std=True, include_noise=False)
        inside.append(np.abs(np.sinc(points[:, 0] / np.pi) - mean) < 1.96 * std)
        total = model.predict(points, return_std=True)[1]
        assert_allclose(total**2 - std**2, 1.0)
    assert 0.85 < np.mean(inside) < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["flat", "bic"])
def test_units_and_the_split_into_noise_and_weights_do_not_matter(prior):
    rng = np.random.default_rng(0)
    sd = np.where(rng.random(60) < 0.5, 0.03, 0.3)
    y = np.sinc(X[:, 0] / np.pi) + sd * rng.standard_normal(60)

    def bands(unit, noise):
        model = RVR(noise=noise, prior=prior).fit(X, unit * y, noise / (unit * sd) ** 2)
        assert model.noise_variance_ == noise
        found = np.array(model.predict(NEW, return_std=True, include_noise=False)) / unit
        return np.append(found.ravel(), model.calibration_)

    expected = bands(1.0, 1.0)
    for unit, noise in ((1e-6, 1.0), (1e3, 1.0), (1.0, 1e6), (1.0, 1e-12)):
        assert_allclose(bands(unit, noise), expected, rtol=1e-4, atol=1e-6)


def test_parameters_changed_after_the_fit_change_no_prediction():
    model = RVR(RBF(1.0)).fit(X, Y)
    before = model.predict(NEW, return_std=True)
    for noise in (5.0, "bogus"):
        model.set_params(noise=noise)
        assert_array_equal(model.predict(NEW, return_std=True), before)


def test_a_prior_is_respected_by_calibration_and_by_constant_targets():
    model = RVR(noise=Gamma(1e3, 1e3 * 0.5**2)).fit(X, Y)
    assert model.calibration_ >= 1.0
    assert np.all(model.predict(NEW, return_std=True)[1] > 0.45)
    flat = RVR(noise=Gamma(1e3, 1e3 * 0.5**2), calibrate=None).fit(X, np.ones(60))
    assert flat.noise_variance_ == pytest.approx(2e3 * 0.25 / 2060.0)


@pytest.mark.parametrize("make", [lambda: RVR(RBF(2.0)), lambda: ReducedRankGPR(random_state=0)])
def test_variances_of_new_observations(make):
    model = make().fit(X, Y)
    variances = np.linspace(0.0, 2.0, 7)
    mean, function = model.predict(NEW, return_std=True, include_noise=False)
    same, std = model.predict(NEW, return_std=True, include_noise=variances)
    assert_array_equal(mean, same)
    assert_allclose(std**2, function**2 + variances, rtol=1e-12)
    cov = model.predict(NEW, return_cov=True, include_noise=list(variances))[1]
    plain = model.predict(NEW, return_cov=True, include_noise=False)[1]
    assert_allclose(cov - plain, np.diag(variances), atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("bad", [np.ones(6), np.ones((7, 1)), [1.0] * 6 + [-1.0], [np.nan] * 7, 0.5,
                                 "yes", None, [True] * 7])  # fmt: skip
def test_bad_variances_are_named(bad):
    model = RVR(RBF(2.0), calibrate=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"include_noise must be True, False, or one .* 7 rows"):
        model.predict(NEW, return_std=True, include_noise=bad)
