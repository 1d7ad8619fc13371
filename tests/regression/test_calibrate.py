"""Standard deviations that are calibrated on folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from sparsebayes import RVR, ReducedRankGPR, predict_uncertain
from sparsebayes._support.calibration import content_folds
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1

X, Y, _ = make_friedman1(120, noise=1.0, random_state=0)
NEW, TRUTH, _ = make_friedman1(500, noise=1.0, random_state=1)
NARROW = RBF(0.8)  # takes up much of the noise


@pytest.fixture(scope="module")
def pair():
    return RVR(NARROW).fit(X, Y), RVR(NARROW, calibrate=None).fit(X, Y)


@pytest.fixture(scope="module")
def splines():
    """A basis without a covariance: nothing is known of what it leaves out."""
    fits = [RVR("linear_spline", calibrate=c).fit(X[:, :4], Y) for c in ("auto", None)]
    assert fits[0].calibration_ != 1.0
    return tuple(fits)


@pytest.mark.slow
def test_the_mean_stays_and_the_bars_cover(pair):
    model, classical = pair
    assert classical.calibration_ == 1.0 and classical.left_out_variance_ == 0.0
    assert model.calibration_ >= 1.0 and 0.1 < model.left_out_variance_ / Y.var() < 10.0
    mean, std = model.predict(NEW, return_std=True)
    plain, narrow = classical.predict(NEW, return_std=True)
    assert_array_equal(mean, plain)
    assert np.mean(np.abs(TRUTH - plain) < 1.96 * narrow) < 0.85
    assert 0.9 < np.mean(np.abs(TRUTH - mean) < 1.96 * std) < 0.99
    for name in ("weights_", "sigma_", "alpha_", "relevance_", "noise_variance_"):
        assert_array_equal(getattr(model, name), getattr(classical, name))


def test_what_is_left_out_adds_to_the_variance(pair):
    model, classical = pair
    std, narrow = (m.predict(NEW, return_std=True)[1] for m in pair)
    added = std**2 - (model.calibration_ * narrow) ** 2
    assert np.all(added > 0) and np.all(added < model.left_out_variance_)
    far = [np.full(10, 50.0)]
    noise = model.calibration_**2 * model.noise_variance_
    std = model.predict(far, return_std=True)[1]
    # The bias, if it was kept, is uncertain everywhere.
    bias = model.calibration_**2 * (classical.predict(far, return_std=True)[1] ** 2)
    assert_allclose(std**2, bias + model.left_out_variance_, rtol=1e-12)
    assert bias >= noise


def test_the_factor_multiplies_the_rest(splines):
    model = splines[0]
    std, narrow = (m.predict(NEW[:, :4], return_std=True)[1] for m in splines)
    assert_allclose(std, model.calibration_ * narrow, rtol=1e-12)
    function = [m.predict(NEW[:, :4], return_std=True, include_noise=False)[1] for m in splines]
    assert_allclose(function[0], model.calibration_ * function[1], rtol=1e-10)
    draws = [m.sample_y(NEW[:5, :4], 400, random_state=0) for m in splines]
    middle = model.predict(NEW[:5, :4])[:, None]
    assert_allclose(draws[0] - middle, model.calibration_ * (draws[1] - middle), rtol=1e-6)
    assert model.left_out_variance_ == 0.0


def test_everything_uses_it(pair):
    model, _ = pair
    some = NEW[:5]
    mean, std = model.predict(some, return_std=True)
    cov = model.predict(some, return_cov=True)[1]
    assert_allclose(np.sqrt(cov.diagonal()), std, rtol=1e-10)
    assert np.linalg.eigvalsh(cov)[0] > 0
    function = model.predict(some, return_std=True, include_noise=False)[1]
    noise = model.calibration_**2 * model.noise_variance_
    assert_allclose(std**2 - function**2, noise, rtol=1e-10)
    draws = model.sample_y(some, 40_000, random_state=0)
    spread = np.sqrt(np.outer(cov.diagonal(), cov.diagonal()))
    assert np.abs(np.cov(draws) - cov).max() < 0.03 * spread.max()
    assert np.abs(draws.mean(axis=1) - mean).max() < 0.03 * std.max()


def test_uncertain_inputs(pair):
    """Var m(x) + E s²(x), in closed form."""
    model, _ = pair
    cov = 0.01 * np.eye(10)
    _, variance = predict_uncertain(model, NEW[:5], cov, method="exact")
    rng = np.random.default_rng(0)
    for mean, found in zip(NEW[:5], variance, strict=True):
        m, s = model.predict(mean + 0.1 * rng.standard_normal((20000, 10)), return_std=True)
        assert found == pytest.approx(m.var() + np.mean(s**2), rel=0.01)
    _, certain = predict_uncertain(model, NEW[:5], np.zeros((10, 10)))
    assert_allclose(np.sqrt(certain), model.predict(NEW[:5], return_std=True)[1], rtol=1e-8)


def test_augmented_bars_too():
    model, plain = (RVR(NARROW, augment=True, calibrate=c).fit(X, Y) for c in ("auto", None))
    mean, std = model.predict(NEW, return_std=True)
    other, narrow = plain.predict(NEW, return_std=True)
    assert_array_equal(mean, other)
    assert_allclose(std, model.calibration_ * narrow, rtol=1e-10)
    assert_allclose(
        model.predict(NEW[:4], return_cov=True)[1],
        model.calibration_**2 * plain.predict(NEW[:4], return_cov=True)[1],
        rtol=1e-10,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("make", [lambda: RVR(NARROW), ReducedRankGPR], ids=["RVR", "process"])
def test_order_of_the_samples(make):
    order = np.random.default_rng(0).permutation(120)
    found = [make().fit(X[rows], Y[rows]).calibration_ for rows in (np.arange(120), order)]
    assert found[0] == pytest.approx(found[1], rel=1e-3)


@pytest.mark.slow
def test_repeated_samples_share_a_fold():
    twice = np.repeat(np.arange(120), 2)
    weighted = RVR(NARROW).fit(X, Y, sample_weight=np.full(120, 2.0))
    repeated = RVR(NARROW).fit(X[twice], Y[twice])
    assert repeated.calibration_ == pytest.approx(weighted.calibration_, rel=1e-3)
    some = np.r_[np.ones(60), np.zeros(60)]
    assert RVR(NARROW).fit(X, Y, sample_weight=some).calibration_ == pytest.approx(
        RVR(NARROW).fit(X[:60], Y[:60]).calibration_, rel=1e-3
    )


def test_folds():
    fold = content_folds(X, Y, np.ones(120), 5)
    assert_array_equal(np.bincount(fold), [24] * 5)
    order = np.random.default_rng(0).permutation(120)
    assert_array_equal(content_folds(X[order], Y[order], np.ones(120), 5), fold[order])
    turned = X[:, ::-1]
    assert_array_equal(content_folds(turned, 10.0 * Y + 3.0, np.ones(120), 5), fold)
    assert content_folds(X[:4].repeat(30, axis=0), Y, np.ones(120), 5) is None


@pytest.mark.slow
def test_other_folds():
    few = X[:60], Y[:60]
    pairs = list(GroupKFold(3).split(*few, np.repeat(np.arange(12), 5)))
    factors = [
        RVR(NARROW, calibrate=calibrate).fit(*few).calibration_
        for calibrate in (5, 2, 10, KFold(4), TimeSeriesSplit(3), pairs)
    ]
    assert factors[0] == RVR(NARROW).fit(*few).calibration_
    assert all(1.0 <= factor < 6.0 for factor in factors)
    # Rows without weight are in no fold, and keep their numbers.
    weights = np.r_[np.zeros(60), np.ones(60)]
    shifted = [(train + 60, test + 60) for train, test in KFold(3).split(X[60:])]
    assert RVR(NARROW, calibrate=shifted).fit(X, Y, weights).calibration_ == pytest.approx(
        RVR(NARROW, calibrate=KFold(3)).fit(X[60:], Y[60:]).calibration_, rel=1e-3
    )


def test_too_few_rows_say_so():
    with pytest.warns(UserWarning, match=r"RVR was given too few distinct rows .*calibrate=None"):
        model = RVR(RBF(2.0), noise=1.0).fit(X[:8], Y[:8])
    assert model.calibration_ == 1.0
    RVR(RBF(2.0), noise=1.0, calibrate=None).fit(X[:8], Y[:8])


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["linear", "linear_spline", NARROW], ids=str)
def test_a_fold_without_noise_knows_nothing_of_it(basis):
    """All targets but one are equal: the fold that lacks it is constant."""
    model = RVR(basis).fit(X[:40, :2], np.r_[1.0, np.zeros(39)])
    assert 0.1 < model.calibration_ < 10.0
    assert model.predict(NEW[:, :2], return_std=True)[1].max() < 10.0
    later = RVR(basis, calibrate=[([1, 2, 3], [0, 4])]).fit(X[:40, :2], np.r_[1.0, np.zeros(39)])
    assert later.predict(NEW[:, :2], return_std=True)[1].max() < 10.0


@pytest.mark.sampled
@pytest.mark.parametrize(
    "bad",
    [[1, 2], [([0], [500])], GroupKFold(5), [([], [1])]],
    ids=["rows", "row", "groups", "none"],
)
@pytest.mark.parametrize("make", [RVR, ReducedRankGPR])
def test_folds_that_are_none_leave_the_model_as_it_was(make, bad):
    model = make().fit(X[:30], Y[:30])
    before = model.predict(NEW, return_std=True)
    with pytest.raises(ValueError, match=r"^calibrate="):
        model.set_params(calibrate=bad).fit(X[:40], Y[:40])
    assert_array_equal(model.predict(NEW, return_std=True), before)


def test_targets_without_noise():
    flat = RVR(NARROW).fit(X, np.full(120, 3.0))
    assert flat.calibration_ == 1.0
    exact = RVR("linear").fit(X, X @ np.arange(10.0))
    assert np.isfinite(exact.predict(NEW, return_std=True)[1]).all()


@pytest.mark.slow
def test_many_scales_are_learned_again():
    """At scales that had seen the fold, its rows would be predicted too well."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((60, 30))
    targets = inputs[:, 0] + np.sin(2 * inputs[:, 1]) + 0.3 * rng.standard_normal(60)
    new = rng.standard_normal((500, 30))
    truth = new[:, 0] + np.sin(2 * new[:, 1]) + 0.3 * rng.standard_normal(500)
    model = RVR().fit(inputs, targets)
    mean, std = model.predict(new, return_std=True)
    assert np.mean(np.abs(truth - mean) < 1.96 * std) > 0.88
    fixed = RVR(RBF(model.length_scale_)).fit(inputs, targets)
    assert fixed.calibration_ < model.calibration_


@pytest.mark.slow
def test_process():
    model, plain = (
        ReducedRankGPR(n_support=40, random_state=0, calibrate=c).fit(X, Y) for c in ("auto", None)
    )
    mean, std = model.predict(NEW, return_std=True)
    other, narrow = plain.predict(NEW, return_std=True)
    assert_array_equal(mean, other)
    assert_allclose(std, model.calibration_ * narrow, rtol=1e-12)
    assert model.calibration_ != 1.0
    assert_allclose(
        model.predict(NEW[:4], return_cov=True)[1],
        model.calibration_**2 * plain.predict(NEW[:4], return_cov=True)[1],
        rtol=1e-10,
    )
