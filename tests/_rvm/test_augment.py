"""Augmented predictions: against dense models, far from the data, in blocks, on disk."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import log_loss

import sparsebayes._rvm.augment
from experiments.__main__ import main
from sparsebayes import RVC, RVR, persistence
from sparsebayes._support.batching import batches
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline, ThinPlateSpline
from sparsebayes.datasets import make_sinc
from tests.classical import classical
from tests.conftest import X3, Y3, by_output, weights_of
from tests.conftest import X as X2
from tests.conftest import Y as Y2
from tests.experiments.records import table
from tests.laws.test_estimator_checks import BRIEF, assert_clean

X, Y, _ = make_sinc(60, random_state=0, low=-5.0, high=5.0)
Y = Y + 3.0
GRID = np.linspace(-9.0, 9.0, 37)[:, None]
FAR = np.array([[60.0], [-80.0]])
WEIGHTS = np.random.default_rng(0).integers(0, 4, 60).astype(float)


def log_kernel(X, Z):
    """RQ05's function that is not localised, and 0 at its centre."""
    return np.log1p(np.sum((X[:, None] - Z) ** 2, axis=2))


BASES = {
    "rbf": RBF(1.0),
    "union": RBF(1.0) + Laplacian(2.0) + Linear(),
    "thin_plate": ThinPlateSpline(),
    "spline": LinearSpline(5.0),
    "callable": log_kernel,
}


@pytest.fixture(scope="module", params=BASES)
def model(request):
    return RVR(BASES[request.param], augment=True, calibrate=None).fit(X, Y)


def dense(model, X, y, weights, inputs):
    """Mean and variance by a Gaussian process with covariance (9) of RQ05."""
    X, y, weights = X[weights > 0], y[weights > 0] - model.offset_, weights[weights > 0]
    noise = np.diag(model.noise_variance_ / weights)
    variance, kernels = model.augment_variance_, model.basis_.centred
    for x in inputs:
        rows = np.vstack([X, x])
        functions = model.basis_.columns(rows)
        cov = functions / model.alpha_ @ functions.T
        for kernel in kernels:
            own = kernel.between(rows, x[None])
            cov += variance / len(kernels) * own @ own.T
        gain = np.linalg.solve(cov[:-1, :-1] + noise, cov[:-1, -1])
        yield model.offset_ + gain @ y, cov[-1, -1] - gain @ cov[:-1, -1] + model.noise_variance_


@pytest.mark.sampled
@pytest.mark.parametrize("weights", [np.ones(60), WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("basis", BASES)
def test_regression_is_a_gaussian_process(basis, weights):
    model = RVR(BASES[basis], noise=0.01, augment=True, calibrate=None).fit(
        X, Y, sample_weight=weights
    )
    mean, std = model.predict(GRID, return_std=True)
    expected = np.array(list(dense(model, X, Y, weights, GRID)))
    assert_allclose(mean, expected[:, 0], rtol=1e-8)
    assert_allclose(std**2, expected[:, 1], rtol=1e-8)
    assert model.predict(GRID[:5]).tolist() == pytest.approx(mean[:5].tolist(), rel=1e-12)
    centred = Y - np.average(Y, weights=weights)
    assert model.augment_variance_ == pytest.approx(np.average(centred**2, weights=weights))


@pytest.mark.parametrize("noise", [1e-6, 1e-10])
def test_small_noise_leaves_digits(noise):
    clean = np.sinc(X[:, 0] / np.pi)
    model = RVR(RBF(1.0), noise=noise, augment=True, calibrate=None).fit(X, clean)
    mean, std = model.predict(GRID, return_std=True)
    expected = np.array(list(dense(model, X, clean, np.ones(60), GRID)))
    # The dense solution itself has a few digits less with less noise.
    assert_allclose(mean, expected[:, 0], atol=1e-5)
    assert_allclose(std, np.sqrt(expected[:, 1]), rtol=1e-2)


@pytest.mark.slow
def test_interpolation_does_not_depend_on_its_way():
    rng = np.random.default_rng(1)
    inputs, y = rng.random((15, 30)), rng.integers(0, 3, 15).astype(float)
    weights = rng.integers(0, 5, 15)
    often = RVR(RBF(1.1), augment=True, calibrate=None).fit(
        inputs.repeat(weights, axis=0), y.repeat(weights)
    )
    heavy = RVR(RBF(1.1), augment=True, calibrate=None).fit(
        inputs[::-1], y[::-1], sample_weight=weights[::-1]
    )
    assert "interpolates" in often.stop_reason_ and "interpolates" in heavy.stop_reason_
    for model in (often, heavy):
        moment = model.alpha_ * (model.weights_**2 + model.sigma_.diagonal())
        assert_allclose(moment, 1.0, rtol=1e-9)  # where the evidence is stationary
    assert_allclose(often.predict(inputs, True), heavy.predict(inputs, True), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_far_from_the_data_the_prior_is_back():
    plain = RVR(RBF(1.0), calibrate=None).fit(X, Y).predict(FAR, return_std=True)[1]
    for augment, variance in ((True, Y.var()), (2.5, 2.5)):
        model = RVR(RBF(1.0) + RBF(2.0), augment=augment, calibrate=None).fit(X, Y)
        std = model.predict(FAR, return_std=True)[1]
        bias = model.relevance_[0] == 0
        known = model.noise_variance_ + (model.sigma_[0, 0] if bias else 0.0)
        assert_allclose(std, np.sqrt(known + variance), rtol=1e-9)
        assert np.all(std > 2 * plain)


@pytest.mark.sampled
def test_error_bars_are_never_smaller(model):
    plain = RVR(model.basis, calibrate=None).fit(X, Y)
    points = np.vstack([GRID, X, FAR])
    ours, theirs = (m.predict(points, return_std=True)[1] for m in (model, plain))
    assert np.all(ours >= theirs)
    assert ours[GRID.size + 60 :].max() > theirs[GRID.size + 60 :].max()


@pytest.mark.slow
def test_repeated_rows_are_weights():
    often = RVR(RBF(1.0), augment=True, calibrate=None).fit(
        np.repeat(X, 2, axis=0), np.repeat(Y, 2)
    )
    heavy = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y, sample_weight=np.full(60, 2.0))
    assert_allclose(often.predict(GRID, True), heavy.predict(GRID, True), rtol=1e-6)


@pytest.mark.slow
def test_scale_of_the_targets_is_only_scale():
    ours = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y).predict(GRID, return_std=True)
    theirs = (
        RVR(RBF(1.0), augment=True, calibrate=None).fit(X, 1e6 * Y).predict(GRID, return_std=True)
    )
    assert_allclose(np.array(theirs) / 1e6, ours, rtol=1e-6)


def test_constant_targets_leave_nothing_to_vary():
    mean, std = (
        RVR(RBF(1.0), augment=True, calibrate=None)
        .fit(X, np.full(60, 7.0))
        .predict(FAR, return_std=True)
    )
    assert_allclose(mean, 7.0)
    assert np.all(std < 1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast"])
def test_blocks_give_the_same(augment, monkeypatch):
    monkeypatch.setattr(sparsebayes._rvm.augment, "_REPRESENTATIVES", 20)
    monkeypatch.setattr(sparsebayes._rvm.augment, "_FEWEST", 5)
    monkeypatch.setattr(sparsebayes._rvm.augment, "_ROWS", 7)
    model = RVR(RBF(1.0) + Laplacian(2.0), augment=augment, calibrate=None).fit(X, Y)
    several = classical(RBF(1.0), augment=augment).fit(X3, Y3)
    whole = *model.predict(GRID, return_std=True), several.predict_proba(X3)
    with config_context(working_memory=0.03):
        assert len(list(batches(len(GRID), model._augmentation().numbers))) > 3
        parts = *model.predict(GRID, return_std=True), several.predict_proba(X3)
    for ours, theirs in zip(parts, whole, strict=True):
        assert_allclose(ours, theirs, rtol=1e-10)


def test_covariance_agrees_with_the_error_bars(model):
    points = np.vstack([GRID, GRID[:3], FAR])
    mean, std = model.predict(points, return_std=True)
    again, cov = model.predict(points, return_cov=True)
    assert_allclose(again, mean, rtol=1e-12)
    assert_allclose(cov.diagonal(), std**2, rtol=1e-10)
    assert_array_equal(cov, cov.T)
    latent = cov - model.noise_variance_ * np.eye(len(cov))
    assert np.linalg.eigvalsh(latent).min() > -1e-8 * latent.max()
    # The same point twice is one point.
    assert_allclose(latent[0, GRID.size], latent[0, 0], rtol=1e-6)


def test_covariance_of_a_kernel_does_not_depend_on_other_points():
    model = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y)
    cov = model.predict(GRID, return_cov=True)[1]
    assert_allclose(model.predict(GRID[::5], return_cov=True)[1], cov[::5, ::5], rtol=1e-10)
    extra = model.augment_variance_ * np.exp(-0.5)  # two points a length scale apart, far away
    far = model.predict([[60.0], [61.0], [90.0]], return_cov=True)[1]
    known = model.sigma_[0, 0] if model.relevance_[0] == 0 else 0.0
    assert_allclose([far[0, 1] - known, far[0, 2] - known], [extra, 0.0], atol=1e-9)


def test_covariance_of_any_function_knows_what_is_near():
    def bell(X, Z):
        return np.exp(-0.5 * (X - Z.T) ** 2)

    model = RVR(bell, bias=False, augment=True, calibrate=None).fit(X, Y)
    far = model.predict([[60.0], [60.1], [90.0]], return_cov=True)[1] / model.augment_variance_
    assert far[0, 1] > 0.99 and abs(far[0, 2]) < 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["rbf", "union", "spline"])
def test_samples_have_the_moments(basis):
    model = RVR(BASES[basis], augment=True, calibrate=None).fit(X, Y)
    points = GRID[::4]
    mean, cov = model.predict(points, return_cov=True)
    draws = model.sample_y(points, 20_000, random_state=1)
    scale = np.sqrt(cov.diagonal())
    assert np.abs(draws.mean(axis=1) - mean).max() < 5 * (scale / np.sqrt(20_000)).max()
    assert np.abs((np.cov(draws) - cov) / scale / scale[:, None]).max() < 0.05
    assert_array_equal(draws[:, :3], model.sample_y(points, 20_000, random_state=1)[:, :3])


def newton(model, X, B, slope, inputs):
    """Latent means and variances by one Newton step of the model with the extra functions."""
    functions, kernels = by_output(model, X), model.basis_.centred
    n_outputs, _, size = functions.shape
    kept = weights_of(model)
    start, alpha = (np.atleast_2d(a)[kept] for a in (model.weights_, model.alpha_))
    extra = len(kernels) * n_outputs
    start = np.append(start, np.zeros(extra))
    precision = np.append(alpha, np.full(extra, len(kernels) / model.augment_variance_))
    for x in inputs:
        rows = np.vstack([X, x])
        columns = np.zeros((n_outputs, len(rows), size + extra))
        columns[:, :, :size] = by_output(model, rows)
        for j, kernel in enumerate(kernels):
            for k in range(n_outputs):
                columns[k, :, size + j * n_outputs + k] = kernel.between(rows, x[None])[:, 0]
        train, test = columns[:, :-1], columns[:, -1]
        H = np.einsum("knp,nkl,lnq->pq", train, B, train) + np.diag(precision)
        slopes = np.einsum("knp,nk->p", train, slope) - precision * start
        yield (
            test @ (start + np.linalg.solve(H, slopes)),
            np.diag(test @ np.linalg.solve(H, test.T)),
        )


POINTS = np.array([[0.0, 0.5], [1.0, -0.2], [2.5, 1.5], [-1.5, -1.0], [9.0, 9.0]])


@pytest.mark.sampled
@pytest.mark.parametrize("basis", [RBF(0.7), RBF(0.5) + RBF(2.0)], ids=["one", "two"])
@pytest.mark.parametrize(
    ("link", "inference"),
    [
        ("logit", "laplace"),
        ("probit", "laplace"),
        pytest.param("probit", "tap", marks=pytest.mark.slow),
    ],
)
def test_two_classes_are_a_newton_step(link, inference, basis):
    model = classical(basis, link=link, inference=inference, augment=True).fit(X2, Y2)
    assert 0 < model.augment_variance_ <= (3.0 if link == "probit" else np.pi**2)
    mean, std = model.decision_function(POINTS, return_std=True)
    seen = model._training_rows
    expected = np.array(list(newton(model, X2, seen.curvature, seen.slope, POINTS)))
    assert_allclose(mean, expected[:, 0, 0], atol=1e-5)
    assert_allclose(std**2, expected[:, 1, 0], rtol=1e-8)
    if link == "logit":
        f = (model.basis_.columns(X2) @ model.weights_)[:, None]
        p = 1.0 / (1.0 + np.exp(-f))
        assert_allclose(seen.curvature[:, 0], p * (1 - p), rtol=1e-6)
        assert_allclose(seen.slope[:, 0], Y2 - p[:, 0], rtol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("basis", [RBF(0.7), RBF(0.5) + RBF(2.0)], ids=["one", "two"])
def test_several_classes_are_a_newton_step(share, basis):
    model = classical(basis, share_alpha=share, augment=2.0).fit(X3, Y3)
    mean, std = model.decision_function(POINTS, return_std=True)
    f = model.basis_.columns(X3) @ model.weights_.T
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    B = p[:, :, None] * (np.eye(3) - p[:, None])
    expected = np.array(list(newton(model, X3, B, np.eye(3)[Y3] - p, POINTS)))
    assert_allclose(mean, expected[:, 0], atol=1e-5)
    assert_allclose(std**2, expected[:, 1], rtol=1e-8)


FAR2 = np.array([[30.0, 30.0], [-40.0, 5.0]])
MODELS = {
    "logit": classical(RBF(0.7), bias=False),
    "tap": classical(RBF(0.7), bias=False, link="probit", inference="tap"),
    "multinomial": classical(RBF(0.7), bias=False),
    "ovr": classical(RBF(0.7), bias=False, multi_class="ovr"),
    "probit": classical(RBF(0.7), bias=False, link="probit"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "tap")) for name in MODELS]
)
def test_classes_are_uncertain_far_from_the_data(name, augment):
    data = (X2, Y2) if name in ("logit", "tap") else (X3, Y3)
    plain = clone(MODELS[name]).fit(*data)
    model = clone(MODELS[name]).set_params(augment=augment).fit(*data)
    assert_allclose(model.weights_, plain.weights_)
    _, std = model.decision_function(FAR2, return_std=True)
    expected = np.broadcast_to(np.sqrt(model.augment_variance_), std.shape)
    assert_allclose(std, expected, rtol=1e-9)
    assert_array_equal(plain.decision_function(FAR2, return_std=True)[1], 0.0)
    assert np.all(
        model.decision_function(POINTS, return_std=True)[1]
        >= plain.decision_function(POINTS, return_std=True)[1]
    )
    even = 1.0 / model.classes_.size
    assert_allclose(model.predict_proba(FAR2), even, atol=0.01)
    # Between the data and far away, probabilities are no surer than the means say.
    edge = data[0] * 2.0
    ours, theirs = (m.predict_proba(edge).max(axis=1).mean() for m in (model, plain))
    assert ours < theirs
    assert log_loss(data[1], model.predict_proba(data[0])) < log_loss(
        data[1], np.full((len(data[1]), model.classes_.size), even)
    )


def test_class_decisions_follow_the_probabilities():
    model = classical(RBF(0.5), augment=9.0).fit(X2, Y2)
    points = np.random.default_rng(0).uniform(-3, 4, (200, 2))
    assert_array_equal(model.predict(points), model.predict_proba(points).argmax(axis=1))
    assert_array_equal(model.predict(points), model.decision_function(points) > 0)


@pytest.mark.slow
def test_class_weights_are_repeated_rows():
    often = classical(RBF(0.7), augment=True).fit(np.repeat(X3, 2, axis=0), np.repeat(Y3, 2))
    heavy = classical(RBF(0.7), augment=True).fit(X3, Y3, sample_weight=np.full(90, 2.0))
    assert_allclose(often.predict_proba(POINTS), heavy.predict_proba(POINTS), atol=1e-4)


@pytest.mark.slow
def test_fast_is_exact_with_few_rows_and_close_with_many():
    full = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y).predict(GRID, return_std=True)
    fast = RVR(RBF(1.0), augment="fast", calibrate=None).fit(X, Y).predict(GRID, return_std=True)
    assert_array_equal(full, fast)
    many, y, _ = make_sinc(1500, random_state=1, low=-5.0, high=5.0)
    full = RVR(RBF(1.0), augment=True, calibrate=None).fit(many, y)
    fast = RVR(RBF(1.0), augment="fast", calibrate=None).fit(many, y)
    assert len(fast._training_rows.rows) == 512
    assert len(pickle.dumps(fast._training_rows.rows)) < len(pickle.dumps(full._training_rows.rows))
    assert_allclose(*(model.predict(GRID, True) for model in (full, fast)), rtol=2e-3)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", [RBF(0.7), RBF(0.5) + RBF(2.0)], ids=["one", "two"])
@pytest.mark.parametrize("labels", [2, 3])
def test_fast_classes_are_close(labels, basis, monkeypatch):
    monkeypatch.setattr(sparsebayes._rvm.augment, "_REPRESENTATIVES", 40)
    monkeypatch.setattr(sparsebayes._rvm.augment, "_FEWEST", 40)
    data = (X2, Y2) if labels == 2 else (X3, Y3)
    full = classical(basis, augment=2.0).fit(*data)
    fast = classical(basis, augment="fast").fit(*data)
    variance = full._training_rows.variance
    object.__setattr__(fast._training_rows, "variance", variance)
    assert len(fast._training_rows.rows) == 40
    inside = data[0][::3]
    pair = (model.decision_function(inside, True) for model in (full, fast))
    assert_allclose(*pair, atol=0.05)
    assert_allclose(full.predict_proba(POINTS), fast.predict_proba(POINTS), atol=0.02)


@pytest.mark.parametrize("basis", ["linear", "polynomial", "precomputed"])
@pytest.mark.parametrize("machine", [RVR, RVC])
@pytest.mark.parametrize("augment", [True, 2.0, "fast"])
def test_basis_without_a_kernel_is_an_error(machine, basis, augment):
    with pytest.raises(ValueError, match=rf"augment={augment!r} needs .*basis='{basis}'.*RBF\(\)"):
        machine(basis, augment=augment).fit(X2, Y2)


@pytest.mark.parametrize("augment", ["no", "cheap", 0, -1.0, np.nan, np.inf, None, [1.0]])
@pytest.mark.parametrize("machine", [RVR, RVC])
def test_wrong_values_are_errors(machine, augment):
    with pytest.raises(ValueError, match=r"augment must be True, False, 'fast' or a positive"):
        machine(augment=augment).fit(X2, Y2)


@pytest.mark.slow
def test_refit_without_forgets():
    model = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y)
    plain = RVR(RBF(1.0), calibrate=None).fit(X, Y)
    model.set_params(augment=False).fit(X, Y)
    assert not hasattr(model, "augment_variance_")
    assert set(vars(model)) == set(vars(plain))
    assert_array_equal(model.predict(GRID, True), plain.predict(GRID, True))
    several = (
        classical(RBF(1.0), augment=True).fit(X3, Y3).set_params(multi_class="ovr").fit(X3, Y3)
    )
    fresh = classical(RBF(1.0), augment=True, multi_class="ovr").fit(X3, Y3)
    assert_array_equal(several.predict_proba(POINTS), fresh.predict_proba(POINTS))


def test_inputs_are_not_modified():
    cached = {}

    def kernel(A, B):
        key = A.tobytes(), B.tobytes()
        return cached.setdefault(key, np.exp(-0.5 * (A - B.T) ** 2))

    model = RVR(kernel, augment=True, calibrate=None).fit(X, Y)
    first = model.predict(GRID, return_std=True)
    assert_array_equal(first, model.predict(GRID, return_std=True))


def test_rows_without_weight_are_not_kept():
    model = RVR(RBF(1.0), augment=True, calibrate=None).fit(X, Y, sample_weight=WEIGHTS)
    assert_array_equal(model._training_rows.rows, X[WEIGHTS > 0])


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast", 2.0])
@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}], ids=["softmax", "ovr"])
def test_models_on_disk(tmp_path, augment, options, monkeypatch):
    monkeypatch.setattr(sparsebayes._rvm.augment, "_REPRESENTATIVES", 40)
    regression = RVR(RBF(1.0), augment=augment, calibrate=None).fit(X, Y)
    classification = classical(RBF(1.0), augment=augment, **options).fit(X3, Y3)
    for k, model in enumerate((regression, classification)):
        persistence.save(model, tmp_path / f"{k}.skops")
        for again in (
            persistence.load(tmp_path / f"{k}.skops"),
            pickle.loads(pickle.dumps(model)),
        ):
            if k == 0:
                assert_array_equal(again.predict(GRID, True), model.predict(GRID, True))
            else:
                assert_array_equal(again.predict_proba(POINTS), model.predict_proba(POINTS))
            assert_array_equal(again.augment_variance_, model.augment_variance_)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        RVR(adapt=None, augment=True, calibrate=None, solver=BRIEF),
        RVR(augment=True),
        RVR(adapt=None, augment="fast"),
        classical(augment=True, solver=BRIEF),
        classical(augment="fast", solver=BRIEF),
        classical(augment=2.0, multi_class="ovr", solver=BRIEF),
        classical(augment=True, link="probit", solver=BRIEF),
    ],
    ids=str,
)
def test_estimator_checks(estimator):
    assert_clean(estimator)


@pytest.mark.slow
def test_figures_of_the_paper(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    name = "rasmussen2005.predictive"
    assert main([name, "--quick", "--results", str(tmp_path)]) == 0
    found = table(tmp_path, name)
    assert {cells[5] for cells in found.values()} <= {"", "agrees"} and len(found) > 6
    for figure in (1, 2):
        png = tmp_path / f"{name}_fig{figure}.png"
        assert png.read_bytes().startswith(b"\x89PNG")


PEAK = """
import resource
import warnings

import numpy as np
from sparsebayes import RVR

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (5000, 4))
y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(5000)
model = RVR({basis!r}, augment={augment!r}, max_iter=5, calibrate=None).fit(X, y)
model.predict(rng.uniform(-3, 3, (10_000, 4)), return_std=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
@pytest.mark.parametrize("augment", [True, "fast"])
@pytest.mark.parametrize("basis", ["rbf", "linear_spline"])
def test_ten_thousand_predictions_take_less_than_a_gigabyte(basis, augment):
    code = PEAK.format(basis=basis, augment=augment)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) * 1024 < 1e9
