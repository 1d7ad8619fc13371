"""Classes by least squares, and the temperature that makes probabilities of outputs."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.metrics import log_loss

from sparsebayes import RVC, RVR, Gamma
from sparsebayes.basis import RBF
from sparsebayes.classification.least_squares import outputs
from sparsebayes.classification.temperature import Temperature, find_temperature
from sparsebayes.persistence import load, save
from tests.sweeps import covering, thinned

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "bic": "bic", "gamma": Gamma(1e-3, 1e-3)}
X, Y = make_moons(160, noise=0.25, random_state=0)
NEW, LABELS = make_moons(500, noise=0.25, random_state=1)
IRIS, KINDS = load_iris(return_X_y=True)


def fit(X=X, y=Y, **options):
    return RVC(link="least_squares", **options).fit(X, y)


@pytest.fixture(scope="module")
def two():
    return fit()


@pytest.fixture(scope="module")
def three():
    return fit(IRIS, KINDS)


@pytest.mark.slow
def test_two_classes(two):
    assert_array_equal(two.classes_, [0, 1])
    probability = two.predict_proba(NEW)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert two.score(NEW, LABELS) > 0.9
    assert log_loss(LABELS, probability) < 0.25
    assert_array_equal(two.predict(NEW), probability.argmax(axis=1))
    odds = two.decision_function(NEW)
    assert_allclose(expit(odds), probability[:, 1], rtol=1e-8)
    assert two.weights_.shape == two.alpha_.shape == (two.relevance_.size,)
    assert two.sigma_.shape == (two.relevance_.size, two.relevance_.size)


@pytest.mark.slow
def test_several_classes(three):
    kept = three.relevance_.size
    assert three.weights_.shape == three.alpha_.shape == three.determined_.shape == (3, kept)
    assert_array_equal(three.alpha_, np.broadcast_to(three.alpha_[0], (3, kept)))
    assert three.sigma_.shape == (kept, kept)
    probability = three.predict_proba(IRIS)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert three.score(IRIS, KINDS) > 0.95
    assert_allclose(three.decision_function(IRIS), np.log(probability), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_it_is_the_regression_on_labels(two):
    signs = np.where(Y == 1, 1.0, -1.0)
    regression = RVR(RBF(two.length_scale_), prior=0.5, calibrate=None).fit(X, signs)
    mean, std = two.decision_function(NEW, return_std=True)
    expected, spread = regression.predict(NEW, return_std=True, include_noise=False)
    assert_allclose(mean, expected, atol=1e-8)
    assert_allclose(std, spread, atol=1e-8)
    assert_allclose(two.noise_variance_, regression.noise_variance_)
    assert_allclose(two.log_evidence_, regression.log_evidence_)


@pytest.mark.slow
def test_outputs_of_all_classes_sum_to_one(three):
    mean, std = three.decision_function(IRIS, return_std=True)
    assert mean.shape == std.shape == (150, 3)
    assert_allclose(mean.sum(axis=1), 1.0, atol=1e-8)
    assert_allclose(std, np.repeat(std[:, :1], 3, axis=1))


def test_what_is_said_of_a_row_without_it():
    """The closed form is the fit without the row at the same precisions."""
    model = fit(X[:40], Y[:40], adapt=None, basis=RBF(1.0))
    signs = np.where(Y[:40] == 1, 1.0, -1.0) - model.offset_
    columns, alpha = model.basis_.columns(X[:40]), model.alpha_
    beta = 1.0 / model.noise_variance_
    h = beta * np.einsum("ns,ns->n", columns @ model.sigma_, columns)
    fitted = columns @ model.weights_
    rest = np.arange(40) != 7
    hessian = beta * columns[rest].T @ columns[rest] + np.diag(alpha)
    without = columns[7] @ np.linalg.solve(hessian, beta * columns[rest].T @ signs[rest])
    assert_allclose(signs[7] - (signs[7] - fitted[7]) / (1.0 - h[7]), without, rtol=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize(("solver", "prior"), covering(SOLVERS, PRIORS))
def test_every_solver_and_prior(solver, prior):
    model = fit(solver=solver, prior=prior, random_state=0)
    assert model.score(NEW, LABELS) > 0.88
    assert log_loss(LABELS, model.predict_proba(NEW)) < 0.35
    assert np.all(np.diff(model.evidence_path_) >= -1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("augment", thinned([True, "fast", 0.5]))
def test_augment_makes_it_unsure_away_from_the_data(augment):
    model = fit(X[::2], Y[::2], augment=augment)
    near, far = model.predict_proba(NEW), model.predict_proba([[30.0, 30.0]])
    assert log_loss(LABELS, near) < 0.3
    assert np.abs(far - 0.5).max() < 0.45
    several = fit(IRIS[::2], KINDS[::2], augment=augment)
    assert several.score(IRIS, KINDS) > 0.95
    assert several.predict_proba([[50.0] * 4]).max() < 0.95


def test_weights_of_samples_and_classes(two):
    weights = np.where(np.arange(160) % 4 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(160), weights.astype(int))
    options = {"basis": RBF(0.7), "adapt": None}
    one = RVC(link="least_squares", **options).fit(X, Y, sample_weight=weights)
    other = RVC(link="least_squares", **options).fit(X[rows], Y[rows])
    assert_allclose(one.decision_function(NEW, True)[0], other.decision_function(NEW, True)[0],
                    atol=1e-5)  # fmt: skip
    heavy = fit(class_weight={0: 1.0, 1: 10.0})
    assert heavy.predict(NEW).mean() > 1.05 * two.predict(NEW).mean()
    dropped = np.where(np.arange(150) < 50, 0.0, 1.0)
    model = RVC(link="least_squares").fit(IRIS, KINDS, sample_weight=dropped)
    assert_array_equal(model.classes_, [1, 2])


@pytest.mark.slow
def test_digits():
    digits, labels = load_digits(return_X_y=True)
    model = fit(digits[:600], labels[:600], prior="aic")
    assert model.score(digits[600:1200], labels[600:1200]) > 0.94
    assert log_loss(labels[600:1200], model.predict_proba(digits[600:1200])) < 0.25
    assert model.relevance_.size < 250


@pytest.mark.slow
def test_a_linear_basis_has_coefficients():
    model = fit(IRIS, KINDS, basis="linear")
    latent = IRIS @ model.coef_.T + model.intercept_
    assert_allclose(latent, model.decision_function(IRIS, True)[0], atol=1e-10)
    single = fit(basis="linear")
    latent = X @ single.coef_.T + single.intercept_
    assert_allclose(latent[:, 0], single.decision_function(X, True)[0], atol=1e-10)


@pytest.mark.slow
def test_labels_of_any_kind(two):
    names = np.array(["no", "yes"])[Y]
    model = fit(y=names)
    assert_array_equal(model.predict(NEW), np.array(["no", "yes"])[two.predict(NEW)])


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", thinned([2, 3]))
def test_extremes(n_classes):
    rng = np.random.default_rng(0)
    centres = 20.0 * np.arange(n_classes)
    labels = np.repeat(np.arange(n_classes), 20)
    inputs = centres[labels][:, None] + rng.standard_normal((labels.size, 1))
    separable = fit(inputs, labels)
    assert separable.score(inputs, labels) == 1.0
    probability = separable.predict_proba(inputs)
    assert np.isfinite(probability).all() and probability.max() < 1.0
    noise = fit(rng.standard_normal((60, 1)), rng.integers(n_classes, size=60))
    assert_allclose(noise.predict_proba([[0.0]]), 1.0 / n_classes, atol=0.25)
    rare = np.r_[np.zeros(200, int), np.arange(1, n_classes), np.arange(1, n_classes)]
    few = fit(rng.standard_normal((rare.size, 2)), rare)
    assert few.predict_proba(np.zeros((1, 2)))[0, 0] > 0.9


@pytest.mark.slow
def test_a_hundred_classes_of_five():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 5)
    inputs = rng.standard_normal((100, 8))[labels] + 0.1 * rng.standard_normal((500, 8))
    model = fit(inputs, labels, prior="aic")
    assert np.isfinite(model.predict_proba(inputs)).all()
    assert model.score(inputs, labels) > 0.8


@pytest.mark.slow
def test_files_pickles_and_refits(three, tmp_path):
    save(three, tmp_path / "model.skops")
    for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(three))):
        assert_array_equal(other.predict_proba(IRIS), three.predict_proba(IRIS))
    again = clone(three).fit(IRIS, KINDS).set_params(link="logit").fit(X[:40], Y[:40])
    assert set(vars(again)) == set(vars(RVC(link="logit", adapt=None).fit(X[:40], Y[:40])))


def test_an_inference_of_another_link():
    with pytest.raises(ValueError, match=r"inference='tap' needs link='probit'; link='least_sq"):
        fit(inference="tap")


@pytest.mark.slow
def test_repeated_rows_say_nothing_of_the_noise():
    """Rows of few different values, all of which are known: the noise would vanish."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3))
    names = (values[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    place = rng.integers(60, size=600)
    seen = np.unique(place)
    options = {"basis": RBF(1.5), "adapt": None, "link": "least_squares", "calibrate": None}
    many = RVC(**options).fit(values[place], names[place])
    once = RVC(**options).fit(values[seen], names[seen], sample_weight=np.bincount(place)[seen])
    assert_allclose(many.predict_proba(values), once.predict_proba(values), rtol=1e-6)
    assert many.noise_variance_ > 0.05
    assert many.relevance_.size < 20


# The temperature


def draws(slope, offsets, n_samples=20_000, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.standard_normal((n_samples, len(offsets)))
    probability = softmax(slope * f + offsets, axis=1)
    labels = (probability.cumsum(axis=1) > rng.random((n_samples, 1))).argmax(axis=1)
    return f, labels


@pytest.mark.parametrize("offsets", [[0.5, -0.5], [1.0, 0.0, -1.0]])
def test_a_temperature_is_found(offsets):
    f, labels = draws(3.0, offsets)
    found = find_temperature(f, np.zeros(len(f)), labels, np.ones(len(f)))
    assert_allclose(found.slope, 3.0, rtol=0.05)
    assert_allclose(found.offsets, offsets, atol=0.1)


def test_the_temperature_is_where_the_labels_are_most_likely():
    f, labels = draws(2.0, [0.3, 0.0, -0.3], 400)
    variance = np.random.default_rng(1).uniform(0.0, 0.5, 400)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 400)
    totals = np.bincount(labels, weights)
    targets = np.full((400, 3), 0.0)
    for n, label in enumerate(labels):
        targets[n] = 0.5 / (totals[label] + 2.0)
        targets[n, label] = (totals[label] + 1.0) / (totals[label] + 2.0)

    def value(temperature):
        logs = temperature.log_probability(f, variance)
        return float(weights @ (targets * logs).sum(axis=1))

    found = find_temperature(f, variance, labels, weights)
    top = value(found)
    for slope, offsets in (
        (1.01, 0.0), (0.99, 0.0), (1.0, [0.02, 0.0, -0.02]), (1.0, [-0.02, 0.02, 0.0])
    ):  # fmt: skip
        assert value(Temperature(slope * found.slope, found.offsets + offsets)) < top


def test_uncertain_outputs_say_less():
    temperature = Temperature(5.0, np.zeros(2))
    f = np.array([[0.0, 1.0]])
    sure, unsure = (np.exp(temperature.log_probability(f, np.array([v]))) for v in (0.0, 4.0))
    assert_allclose(np.log(sure), log_softmax(5.0 * f, axis=1))
    assert 0.5 < unsure[0, 1] < sure[0, 1]


def test_rows_without_weight_do_not_count():
    f, labels = draws(3.0, [0.0, 0.0], 500)
    weights = np.ones(500)
    spoilt = labels.copy()
    spoilt[:100], weights[:100] = 1 - labels[:100], 0.0
    found = find_temperature(f, np.zeros(500), spoilt, weights)
    expected = find_temperature(f[100:], np.zeros(400), labels[100:], np.ones(400))
    assert_allclose(found.slope, expected.slope, rtol=1e-4)


def test_outputs_have_no_noise(two):
    assert outputs(two).noise == 0.0


def test_log_probabilities_are_taken_at_their_word():
    """Unless rows make a case for something else."""
    rng = np.random.default_rng(0)
    logs = log_softmax(1.5 * rng.standard_normal((4000, 3)), axis=1)
    labels = np.array([rng.choice(3, p=np.exp(row)) for row in logs])
    none, once = np.zeros(4000), np.ones(4000)
    right = find_temperature(logs, none, labels, once, log_odds=True)
    assert abs(right.slope - 1.0) < 0.05 and np.abs(right.offsets).max() < 0.1
    sure = find_temperature(3.0 * logs, none, labels, once, log_odds=True)
    assert abs(sure.slope - 1.0 / 3.0) < 0.03
    few = slice(0, 4)
    pulled = find_temperature(3.0 * logs[few], none[few], labels[few], once[few], log_odds=True)
    assert sure.slope < pulled.slope


def test_the_temperature_is_the_most_likely():
    """No step in any direction is better."""
    rng = np.random.default_rng(0)
    outputs, variance = rng.standard_normal((300, 3)), rng.uniform(0.0, 0.3, 300)
    labels, weights = rng.integers(0, 3, 300), rng.integers(1, 4, 300).astype(float)
    labels = np.where(rng.random(300) < 0.6, outputs.argmax(axis=1), labels)
    found = find_temperature(outputs, variance, labels, weights)
    sure = (np.bincount(labels, weights) + 1.0) / (np.bincount(labels, weights) + 2.0)
    targets = np.full((3, 3), 0.5) * (1.0 - sure)[:, None]
    np.fill_diagonal(targets, sure)

    def cost(slope, offsets):
        logs = Temperature(slope, offsets).log_probability(outputs, variance)
        return -float(np.sum(weights[:, None] * targets[labels] * logs))

    best = cost(found.slope, found.offsets)
    for factor in (0.99, 1.01):
        assert cost(factor * found.slope, found.offsets) > best
    for k in range(3):
        for step in (-0.01, 0.01):
            assert cost(found.slope, found.offsets + step * np.eye(3)[k]) > best
