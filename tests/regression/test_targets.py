"""Several targets at once."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_linnerud
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold

from sparsebayes import RVR, Gamma, StudentT, sample_posterior
from sparsebayes.basis import RBF
from sparsebayes.persistence import load, save
from tests.sweeps import covering, thinned

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "bic": "bic", "gamma": Gamma(1e-3, 1e-3)}
RNG = np.random.default_rng(0)
X = RNG.uniform(-10, 10, (80, 1))
F = np.column_stack([np.sinc(X[:, 0] / np.pi), 100.0 * np.cos(X[:, 0] / 3)])
Y = F + [0.1, 10.0] * RNG.standard_normal((80, 2))
NEW = np.linspace(-9, 9, 30)[:, None]
FUNCTION = np.column_stack([np.sinc(NEW[:, 0] / np.pi), 100.0 * np.cos(NEW[:, 0] / 3)])


@pytest.fixture(scope="module")
def model():
    return RVR().fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"augment": True}, {"noise": 0.01}, {"prior": "bic"}])
def test_one_column_is_a_single_target(options):
    one = RVR(**options).fit(X, Y[:, 0])
    column = RVR(**options).fit(X, Y[:, :1])
    assert_array_equal(column.relevance_, one.relevance_)
    assert column.weights_.shape == (one.weights_.size, 1)
    for single, several in zip(
        one.predict(NEW, return_std=True), column.predict(NEW, return_std=True), strict=True
    ):
        assert several.shape == (30, 1)
        assert_allclose(several[:, 0], single, rtol=1e-8, atol=1e-8)
    assert_allclose(column.log_evidence_, one.log_evidence_, rtol=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", thinned([{"adapt": None}, {}, {"augment": "fast"}], 2))
def test_copies_of_a_target_are_one(solver, options):
    one = RVR(solver=solver, random_state=0, **options).fit(X, Y[:, 0])
    copies = RVR(solver=solver, random_state=0, **options).fit(X, Y[:, [0, 0, 0]])
    assert_array_equal(copies.relevance_, one.relevance_)
    for single, several in zip(
        one.predict(NEW, return_std=True), copies.predict(NEW, return_std=True), strict=True
    ):
        assert_allclose(several, np.repeat(single[:, None], 3, axis=1), atol=1e-8)
    assert_allclose(copies.log_evidence_, 3 * one.log_evidence_)


@pytest.mark.slow
def test_shapes(model):
    kept = model.relevance_.size
    assert model.weights_.shape == model.alpha_.shape == (kept, 2)
    assert model.sigma_.shape == (kept, kept, 2)
    assert model.determined_.shape == (kept,)
    for name in ("offset_", "noise_variance_", "calibration_", "left_out_variance_"):
        assert getattr(model, name).shape == (2,), name
    mean, std = model.predict(NEW, return_std=True)
    assert mean.shape == std.shape == (30, 2)
    cov = model.predict(NEW, return_cov=True)[1]
    assert cov.shape == (30, 30, 2)
    assert_allclose(np.sqrt(np.einsum("nnk->nk", cov)), std, rtol=1e-8)
    assert model.sample_y(NEW, 4).shape == (30, 2, 4)
    assert model.feature_importances_.shape == (1,)


@pytest.mark.slow
def test_each_target_is_as_good_as_alone(model):
    mean, std = model.predict(NEW, return_std=True)
    for k in range(2):
        one = RVR().fit(X, Y[:, k])
        alone = np.sqrt(np.mean((one.predict(NEW) - FUNCTION[:, k]) ** 2))
        assert np.sqrt(np.mean((mean[:, k] - FUNCTION[:, k]) ** 2)) < 1.3 * alone
        assert_allclose(std[:, k], one.predict(NEW, return_std=True)[1], rtol=0.25)
    assert_allclose(np.sqrt(model.noise_variance_), [0.1, 10.0], rtol=0.2)
    assert r2_score(Y, model.predict(X)) == pytest.approx(model.score(X, Y))


@pytest.mark.slow
def test_units_make_no_difference(model):
    other = RVR().fit(X, Y * [1000.0, 1e-5] + [3.0, -2.0])
    assert_array_equal(other.relevance_, model.relevance_)
    expected = model.predict(NEW) * [1000.0, 1e-5] + [3.0, -2.0]
    assert_allclose(other.predict(NEW), expected, rtol=1e-6, atol=1e-6)


def test_draws_have_the_predicted_moments(model):
    mean, cov = model.predict(NEW[:3], return_cov=True)
    draws = model.sample_y(NEW[:3], 40_000, random_state=0)
    assert_allclose(draws.mean(axis=2), mean, atol=0.02 * np.sqrt(cov.max(axis=(0, 1))).max())
    for k in range(2):
        assert_allclose(np.cov(draws[:, k]), cov[:, :, k], atol=0.03 * cov[:, :, k].max())


@pytest.mark.sampled
@pytest.mark.parametrize(("solver", "prior"), covering(SOLVERS, PRIORS))
def test_every_solver_and_prior(solver, prior):
    found = RVR(solver=solver, prior=prior, random_state=0).fit(X, Y)
    error = np.sqrt(np.mean((found.predict(NEW) - FUNCTION) ** 2, axis=0))
    assert np.all(error < [0.08, 8.0])
    assert np.all(np.diff(found.evidence_path_) >= -1e-9)


@pytest.mark.slow
def test_a_weight_of_two_is_the_sample_twice():
    weights = np.where(np.arange(80) % 4 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(80), weights.astype(int))
    options = {"adapt": None, "basis": RBF(2.0), "calibrate": None}
    one = RVR(**options).fit(X, Y, sample_weight=weights)
    other = RVR(**options).fit(X[rows], Y[rows])
    assert_allclose(one.predict(NEW), other.predict(NEW), rtol=1e-6)
    assert_allclose(one.noise_variance_, other.noise_variance_, rtol=1e-6)


@pytest.mark.slow
def test_a_sample_without_weight_does_not_count():
    spoilt, weights = Y.copy(), np.ones(80)
    spoilt[:5], weights[:5] = 1e3, 0.0
    found = RVR().fit(X, spoilt, sample_weight=weights)
    assert np.all(np.sqrt(np.mean((found.predict(NEW) - FUNCTION) ** 2, axis=0)) < [0.06, 6.0])


@pytest.mark.slow
def test_a_constant_target_is_predicted_as_it_is(model):
    constant = np.column_stack([Y[:, 0], np.full(80, 7.0), Y[:, 1]])
    found = RVR(augment=True).fit(X, constant)
    mean, std = found.predict(NEW, return_std=True)
    assert_array_equal(mean[:, 1], 7.0)
    assert np.all(std[:, 1] < 1e-10) and np.all(std[:, 1] > 0)
    pair = RVR(augment=True).fit(X, Y)
    assert_allclose(mean[:, [0, 2]], pair.predict(NEW))
    assert_array_equal(found.weights_[:, 1], 0.0)
    assert np.isinf(found.alpha_[:, 1]).all()


@pytest.mark.sampled
@pytest.mark.parametrize("row", [0, 30, 60, 199])
def test_a_target_that_differs_from_a_constant_in_one_row(row):
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (200, 2))
    y = np.sin(3 * inputs[:, 0]) + 0.1 * rng.standard_normal(200)
    rare = np.zeros(200)
    rare[row] = 1.0
    found = RVR(calibrate=None).fit(inputs, np.column_stack([y, rare]))
    mean, std = found.predict(inputs, return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    assert np.sqrt(np.mean((mean[:, 0] - np.sin(3 * inputs[:, 0])) ** 2)) < 0.1


def test_constant_targets_alone():
    found = RVR(calibrate=None).fit(X, np.tile([2.0, -3.0], (80, 1)))
    assert_array_equal(found.predict(NEW), np.tile([2.0, -3.0], (30, 1)))
    assert found.relevance_.size == 0


def test_noise_of_each_target_may_be_given():
    found = RVR(noise=[0.01, 100.0]).fit(X, Y)
    assert_array_equal(found.noise_variance_, [0.01, 100.0])
    same = RVR(noise=0.04).fit(X, Y / [0.5, 50.0])
    assert_array_equal(same.relevance_, found.relevance_)
    assert_allclose(same.predict(NEW) * [0.5, 50.0], found.predict(NEW), rtol=1e-8)
    function = found.predict(NEW, return_std=True, include_noise=False)[1]
    both = found.predict(NEW, return_std=True)[1]
    assert_allclose(both**2 - function**2, np.tile([0.01, 100.0], (30, 1)), rtol=1e-8)
    known = found.predict(NEW, return_std=True, include_noise=np.full(30, 4.0))[1]
    assert_allclose(known**2 - function**2, 4.0, rtol=1e-8)


def test_a_prior_of_the_noise():
    found = RVR(noise=Gamma(1e4, 100.0)).fit(X, Y[:, [0, 0]])
    assert_allclose(found.noise_variance_, 0.01, rtol=0.02)


@pytest.mark.slow
def test_length_scales_are_learned_from_all():
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-1, 1, (120, 3))
    targets = np.column_stack([np.sin(4 * inputs[:, 0]), np.cos(5 * inputs[:, 1])])
    found = RVR().fit(inputs, targets + 0.05 * rng.standard_normal(targets.shape))
    assert found.length_scale_[2] > 5 * found.length_scale_[:2].max()
    assert np.sqrt(np.mean((found.predict(inputs) - targets) ** 2)) < 0.05


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast", 0.5])
def test_augment(augment, model):
    found = RVR(augment=augment).fit(X, Y)
    near, far = (found.predict(at, return_std=True)[1] for at in (NEW, [[40.0]]))
    assert np.all(far > 1.5 * near.max(axis=0))
    assert_allclose(found.predict(NEW), model.predict(NEW), atol=0.2 * Y.std(axis=0).max())


def test_a_linear_basis_has_coefficients():
    data = load_linnerud()
    found = RVR("linear", noise=Gamma(1.0, 1.0)).fit(data.data, data.target)
    assert found.coef_.shape == (3, 3) and found.intercept_.shape == (3,)
    assert_allclose(data.data @ found.coef_.T + found.intercept_, found.predict(data.data))


def test_folds_of_groups_and_one_factor_for_each_target():
    pairs = list(GroupKFold(4).split(X, Y, np.arange(80) // 4))
    found = RVR(calibrate=pairs).fit(X, Y)
    assert np.all((found.calibration_ > 0.5) & (found.calibration_ < 2.0))
    assert found.calibration_[0] != found.calibration_[1]


@pytest.mark.slow
def test_outliers_of_a_row():
    spoilt = Y.copy()
    spoilt[::20] += [2.0, 300.0]
    error = [
        np.sqrt(np.mean((RVR(noise=noise).fit(X, spoilt).predict(NEW) - FUNCTION) ** 2, axis=0))
        for noise in ("estimate", StudentT())
    ]
    assert np.all(error[1] < [0.07, 7.0])
    assert np.all(error[1] < error[0])


@pytest.mark.slow
def test_noise_that_varies_is_common_to_the_targets():
    rng = np.random.default_rng(2)
    spread = np.where(X[:, :1] > 0, 1.0, 0.1)
    noisy = F + [0.3, 30.0] * spread * rng.standard_normal((80, 2))
    found = RVR(noise="varying").fit(X, noisy)
    std = found.predict([[-6.0], [6.0]], return_std=True)[1]
    assert std.shape == (2, 2)
    assert np.all(std[1] > 3.0 * std[0])


def test_files_and_pickles(model, tmp_path):
    save(model, tmp_path / "model.skops")
    for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
        for one, two in zip(
            model.predict(NEW, return_std=True), other.predict(NEW, return_std=True), strict=True
        ):
            assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        ([0.1], r"one for each of the 2 targets is needed"),
        ([0.1, -1.0], r"got \[0.1, -1.0\]; one for each of the 2 targets"),
        ([0.1, np.nan], "one for each"),
        ([[0.1, 0.2]], "noise must be 'estimate' or a positive variance"),
    ],
)
def test_bad_noise(noise, text):
    with pytest.raises(ValueError, match=text):
        RVR(noise=noise).fit(X, Y)


def test_noise_of_several_needs_several():
    with pytest.raises(ValueError, match=r"several targets are needed for that"):
        RVR(noise=[0.1, 0.2]).fit(X, Y[:, 0])


def test_what_needs_a_single_target_says_so(model):
    with pytest.raises(ValueError, match="fitted to a single target; fit one RVR for each"):
        model.predict_uncertain([[0.0]], [[1.0]])
    with pytest.raises(
        ValueError, match=r"y should be a 1d array, got an array of shape \(80, 2\)"
    ):
        sample_posterior(RVR(), X, Y, n_samples=5, n_chains=1)


def test_bad_targets():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        RVR().fit(X, np.where(Y[3] == Y, np.nan, Y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RVR().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="dim"):
        RVR().fit(X, Y[:, :, None])
