"""Length scales learned from the evidence, as a user of RVR and RVC sees them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons

from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline, ThinPlateSpline
from sparsebayes.datasets import make_friedman1
from tests.classical import classical
from tests.sweeps import thinned


@pytest.fixture(scope="module")
def friedman():
    X, y, _ = make_friedman1(240, noise=1.0, random_state=3)
    test, _, truth = make_friedman1(1000, random_state=4)
    return X, y, test, truth


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (80, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80)


@pytest.fixture(scope="module")
def learned(waves):
    return ard().fit(*waves)


def ard(basis="rbf", **options):
    """Length scales have nothing to do with the error bars."""
    return RVR(basis, adapt="ard", calibrate=None, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("width", [0.1, 1.0, 10.0])
def test_friedman_from_any_width(friedman, width):
    X, y, test, truth = friedman
    start = width * np.sqrt(0.5 * X.shape[1] * X.var())
    model = ard(RBF(start)).fit(X, y)
    assert np.mean((model.predict(test) - truth) ** 2) < 0.45
    assert model.relevance_.size < 25
    found = model.length_scale_
    assert found[5:].min() > 5 * found[:5].max()  # the last five have no effect
    assert model.noise_variance_ == pytest.approx(1.0, rel=0.35)


@pytest.mark.slow
@pytest.mark.parametrize("adapt", ["isotropic", "ard"])
@pytest.mark.parametrize(
    "basis",
    [ThinPlateSpline(1.0), LinearSpline(2.0), ThinPlateSpline(1.0) + RBF(1.0)],
    ids=str,
)
def test_never_below_the_start(waves, basis, adapt):
    """Of kernels that are no covariances, whose scales the sparse evidence may refuse."""
    fixed = RVR(basis, adapt=None, calibrate=None).fit(*waves)
    model = RVR(basis, adapt=adapt, calibrate=None).fit(*waves)
    assert model.log_evidence_ >= fixed.log_evidence_ - 1e-9
    assert np.all(np.diff(model.evidence_path_) >= -1e-9 * np.abs(model.evidence_path_[:-1]))


@pytest.mark.slow
def test_isotropic_keeps_the_ratios(waves):
    model = RVR(RBF([0.3, 3.0]), adapt="isotropic").fit(*waves)
    assert model.length_scale_[1] / model.length_scale_[0] == pytest.approx(10.0)
    one = RVR(RBF(0.3), adapt="isotropic").fit(*waves).length_scale_
    assert one[0] == one[1] != 0.3


@pytest.mark.slow
def test_an_input_without_effect(waves):
    found = ard(RBF(1.0)).fit(*waves).length_scale_
    assert found[1] > 20 * found[0]
    assert 0.3 < found[0] < 3.0


@pytest.mark.slow
def test_the_parameter_is_left_alone(waves):
    basis = RBF(0.2)
    model = ard(basis).fit(*waves)
    assert basis.length_scale == 0.2
    assert not hasattr(basis, "length_scale_")
    again = clone(model).fit(*waves)
    np.testing.assert_array_equal(again.length_scale_, model.length_scale_)
    np.testing.assert_array_equal(again.weights_, model.weights_)


@pytest.mark.slow
def test_predictions_use_the_learned_scales(waves):
    X, y = waves
    model = ard(RBF(5.0)).fit(X, y)
    fixed = RVR(RBF(model.length_scale_), adapt=None, calibrate=None).fit(X, y)
    columns = fixed.basis_.columns(X)
    assert np.mean((model.predict(X) - y) ** 2) < 0.02
    assert columns.shape[0] == 80
    expected = RBF(model.length_scale_).fit(model.relevance_vectors_).columns(X)
    kernels = model.relevance_ > 0
    found = model.offset_ + expected @ model.weights_[kernels] + model.weights_[~kernels].sum()
    np.testing.assert_allclose(model.predict(X), found, rtol=1e-10)


@pytest.mark.slow
def test_units_do_not_matter(waves, learned):
    X, y = waves
    unit = np.array([1e4, 1e-3])
    other = ard().fit(X * unit, 100.0 * y + 7.0)
    change = other.predict(X * unit) - (100.0 * learned.predict(X) + 7.0)
    assert np.sqrt(np.mean(change**2)) < 5.0  # half of the noise
    first = other.length_scale_[0]
    assert first == pytest.approx(learned.length_scale_[0] * unit[0], rel=0.3)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_changes_of_the_data(waves, learned, dtype):
    """They may choose other functions, which predict about the same."""
    X, y = waves
    other = ard().fit((X * (1 + 1e-7)).astype(dtype), y.astype(dtype))
    assert np.sqrt(np.mean((other.predict(X) - learned.predict(X)) ** 2)) < 0.05


@pytest.mark.slow
def test_inputs_twice(waves, learned):
    X, y = waves
    double = np.hstack([X, X])
    twice = ard().fit(double, y)
    assert np.sqrt(np.mean((twice.predict(double) - learned.predict(X)) ** 2)) < 0.05


@pytest.mark.sampled
@pytest.mark.parametrize("unit", [1e12, 1e-12])
def test_unit_of_the_targets(waves, learned, unit):
    X, y = waves
    other = ard().fit(X, unit * y)
    np.testing.assert_allclose(other.length_scale_, learned.length_scale_)
    np.testing.assert_allclose(other.predict(X) / unit, learned.predict(X), atol=1e-4)


@pytest.mark.slow
def test_one_length_scale_for_each_input(waves):
    X, y = waves
    kernels = Linear() + Laplacian(2.0) + RBF([1.0, 3.0])
    union = RVR(kernels, adapt=None, calibrate=None).fit(X, y)
    np.testing.assert_array_equal(union.length_scale_, [2.0, 2.0])  # of the first that has some
    union.length_scale_[:] = 0.0  # a copy
    np.testing.assert_array_equal(union.length_scale_, [2.0, 2.0])
    np.testing.assert_array_equal(union.basis_.length_scales[1], [1.0, 3.0])
    empty = RVR(RBF(0.7), adapt=None).fit(X, np.ones(80))
    np.testing.assert_array_equal(empty.length_scale_, [0.7, 0.7])
    for model in (RVR(), RVR("linear").fit(X, y), classical("polynomial").fit(X, y > 0)):
        assert not hasattr(model, "length_scale_")
    with pytest.raises(AttributeError, match=r"basis='linear' has a length scale"):
        _ = RVR("linear").fit(X, y).length_scale_


class TestAuto:
    @pytest.mark.slow
    def test_leaves_a_number(self, waves):
        model = RVR(RBF(0.7)).fit(*waves)
        np.testing.assert_array_equal(model.length_scale_, [0.7, 0.7])
        np.testing.assert_array_equal(
            model.weights_, RVR(RBF(0.7), adapt=None).fit(*waves).weights_
        )

    @pytest.mark.slow
    def test_learns_what_is_left_to_it(self, waves, learned):
        model = RVR().fit(*waves)
        np.testing.assert_array_equal(model.length_scale_, learned.length_scale_)

    @pytest.mark.slow
    def test_units_only_with_labels(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((14, 3)) * [1.0, 10.0, 100.0]
        y = np.sin(X[:, 0]) + X[:, 1] / 10
        found = RVC().fit(X, y > 0).length_scale_
        each, all_inputs = np.sqrt(1.5) * X.std(axis=0), np.sqrt(1.5 * X.var())
        assert any(np.ptp(np.log(found / usual)) < 1e-6 for usual in (each, all_inputs))

    @pytest.mark.slow
    def test_raw_inputs(self):
        """Their units hardly matter where length scales are learned (see test_choice.py, too)."""
        X, y = load_wine(return_X_y=True)
        train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
        assert RVC().fit(X[train], y[train]).score(X[test], y[test]) > 0.9
        assert RVC(adapt=None).fit(X[train], y[train]).score(X[test], y[test]) < 0.8

    @pytest.mark.sampled
    @pytest.mark.parametrize("basis", ["linear", "polynomial", Linear(), lambda X, Z: X @ Z.T])
    def test_nothing_to_learn(self, waves, basis):
        model = RVR(basis).fit(*waves)
        np.testing.assert_array_equal(model.weights_, RVR(basis, adapt=None).fit(*waves).weights_)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [{"solver": "em"}, {"solver": "mackay"}, {"solver": "subspace"}, {"prior": "bic"},
     {"noise": 0.01}, {"bias": False}],
    ids=str,
)  # fmt: skip
def test_with_other_options(waves, options):
    X, y = waves
    model = ard(RBF(5.0), random_state=0, **options).fit(X, y)
    assert np.mean((model.predict(X) - np.sin(2 * X[:, 0])) ** 2) < 0.01
    assert model.converged_


@pytest.mark.parametrize(
    "y", [np.zeros(20), np.full(20, 3.0), np.r_[1.0, np.zeros(19)]], ids=["zero", "constant", "one"]
)
def test_targets_without_structure(y):
    X = np.random.default_rng(0).standard_normal((20, 2))
    assert np.isfinite(RVR(adapt="ard").fit(X, y).predict(X)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few distinct rows")
def test_degenerate_inputs(waves):
    X, y = waves
    constant = np.column_stack([X, np.full(80, 2.0)])
    assert np.mean((RVR(adapt="ard").fit(constant, y).predict(constant) - y) ** 2) < 0.05
    repeated = np.repeat(X[:20], 4, axis=0)
    assert np.isfinite(RVR(adapt="ard").fit(repeated, y).predict(X)).all()
    assert np.isfinite(RVR(adapt="ard").fit(X[:1], y[:1]).predict(X)).all()
    assert np.isfinite(RVR(adapt="ard").fit(X[:2], y[:2]).predict(X)).all()


@pytest.mark.slow
def test_weights_count_as_repetitions(waves):
    X, y = waves
    some = np.r_[np.full(40, 2.0), np.zeros(20), np.ones(20)]
    rows = np.repeat(np.arange(80), some.astype(int))
    weighted = ard().fit(X, y, sample_weight=some)
    repeated = ard().fit(X[rows], y[rows])
    change = weighted.predict(X) - repeated.predict(X)
    assert np.sqrt(np.mean(change**2)) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"link": "probit"}, marks=pytest.mark.slow),
        pytest.param({"link": "probit", "inference": "tap"}, marks=pytest.mark.slow),
        pytest.param({"prior": "bic"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_two_classes(options):
    X, y = make_moons(150, noise=0.2, random_state=0)
    test, labels = make_moons(1000, noise=0.2, random_state=1)
    noisy = np.column_stack([X, np.random.default_rng(0).standard_normal(150)])
    other = np.column_stack([test, np.random.default_rng(1).standard_normal(1000)])
    model = classical(RBF(8.0), adapt="ard", **options).fit(noisy, y)
    fixed = classical(RBF(8.0), **options).fit(noisy, y)
    assert model.log_evidence_ >= fixed.log_evidence_ - 1e-9
    assert model.score(other, labels) > 0.91
    assert model.length_scale_[2] > 3 * model.length_scale_[:2].max()


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", thinned(["multinomial", "ovr"]))
def test_three_classes(multi_class):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    X = 0.8 * rng.standard_normal((60, 2)) + 3 * np.eye(3)[labels][:, :2]
    model = classical(RBF(20.0), adapt="isotropic", multi_class=multi_class).fit(X, labels)
    assert model.length_scale_.max() < 19.0
    assert model.score(X, labels) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
