"""What RVC() chooses by rows that were held out, and that it stays honest at the extremes."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import sparsebayes.classification.choice as choice
from sparsebayes import RVC, Sequential, Smoothness
from sparsebayes._support.fits.clock import OutOfTime
from sparsebayes.basis import RBF
from sparsebayes.classification.held_out import Held, joined, spread_sample
from sparsebayes.classification.likelihood import Samples
from sparsebayes.persistence import load, save
from tests.classical import classical
from tests.sweeps import thinned

X, Y = make_moons(120, noise=0.3, random_state=0)
NEW, LABELS = make_moons(1000, noise=0.3, random_state=1)


@pytest.fixture(scope="module")
def default():
    return RVC().fit(X, Y)


def wanted(monkeypatch, model, X=X, y=Y, **options):
    """The candidates that were compared."""
    seen = []

    def first(model, solver, candidates, samples, folds):
        seen.extend(candidates)
        return candidates[0], None

    monkeypatch.setattr(choice, "_most_likely", first)
    model.fit(X, y, **options)
    return seen


def test_a_temperature_of_the_choice_where_the_time_is_up(monkeypatch):
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet(np.ones(2), 120))
    held = Held(logs, np.zeros(120), Y, np.ones(120))
    samples = Samples(X, X, Y, np.ones(120))
    model, basis = classical(RBF(1.0)).fit(X, Y), RBF(1.0).fit(X)

    def too_late(*args):
        raise OutOfTime

    monkeypatch.setattr(choice, "held_out", too_late)
    for known in (held, None):
        chosen = choice.Chosen("logit", basis, learn=False, held=known)
        found = choice.temperature(model, Sequential(), chosen, basis, samples, "auto")
        assert repr(found) == repr(None if known is None else held.temperature("logit"))


def sure(model, X):
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    assert_allclose(probability.sum(axis=1), 1.0)
    return probability


@pytest.mark.slow
def test_candidates(monkeypatch):
    found = wanted(monkeypatch, RVC(calibrate=None))
    links = [one.link for one in found]
    assert sorted(links) == ["least_squares"] * 3 + ["logit"] * 4
    assert [one.n_learned for one in found].count(2) == 2
    factors = [float(np.exp(one.log_scales - found[0].log_scales)[0]) for one in found[:3]]
    assert_allclose(factors, [1.0, 0.5, 2.0])
    for options, count in (
        ({"link": "logit"}, 4),
        ({"link": "least_squares"}, 3),
        ({"basis": RBF(0.5)}, 2),
        ({"adapt": None}, 2),
        ({"basis": "linear"}, 2),
        ({"adapt": "ard"}, 2),
    ):
        assert len(wanted(monkeypatch, RVC(calibrate=None, **options))) == count


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {"link": "logit", "adapt": None},
        {"link": "logit", "basis": "linear"},
        {"link": "probit", "adapt": "isotropic"},
        {"basis": RBF(1.0), "prior": Smoothness(1.0)},
    ],
    ids=str,
)
def test_nothing_to_choose(monkeypatch, options):
    assert wanted(monkeypatch, RVC(**{"calibrate": None, **options})) == []


@pytest.mark.sampled
@pytest.mark.parametrize("calibrate", ["auto", None, 4])
def test_some_of_many_rows_are_looked_at(monkeypatch, calibrate):
    sizes = []

    def first(model, solver, candidates, samples, folds):
        sizes.append(len(samples.rows))
        return candidates[0], None

    monkeypatch.setattr(choice, "_most_likely", first)
    monkeypatch.setattr(choice, "_MOST_ROWS", 50)
    RVC(calibrate=calibrate).fit(X, Y)
    assert sizes == [50]


def test_many_classes_are_least_squares(monkeypatch):
    images, digits = load_digits(return_X_y=True)
    model = RVC()
    assert wanted(monkeypatch, model, images[:200], digits[:200]) == []
    assert model.link_ == "least_squares"
    assert model.score(images[200:600], digits[200:600]) > 0.8


@pytest.mark.slow
def test_the_choice_is_told_and_fitted(default):
    model = default
    assert model.link_ in ("logit", "least_squares") and model.multi_class_ == "multinomial"
    assert model.link == "auto" and model.prior == "auto"
    fixed = RVC(
        RBF(model.length_scale_), link=model.link_, adapt=None, calibrate=None
    ).fit(X, Y)  # fmt: skip
    assert_array_equal(model.relevance_, fixed.relevance_)
    assert_allclose(model.weights_, fixed.weights_, rtol=1e-6)
    assert log_loss(LABELS, model.predict_proba(NEW)) < 0.28


@pytest.mark.sampled
@pytest.mark.parametrize("link", ["logit", "least_squares"])
def test_the_most_likely_is_chosen(monkeypatch, link):
    """The one whose outputs know the labels that are held out."""

    def held_out(model, solver, candidate, samples, fold):
        labels, weights = samples.labels[fold[1]], samples.weights[fold[1]]
        sign = 1.0 if candidate.link == link and not candidate.n_learned else -0.2
        outputs = sign * (2.0 * np.eye(2)[labels] - 1.0)
        return Held(outputs, np.zeros(len(labels)), labels, weights)

    monkeypatch.setattr(choice, "held_out", held_out)
    assert RVC(calibrate=None).fit(X, Y).link_ == link


@pytest.mark.slow
def test_inputs_that_do_not_matter_leave():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((300, 6))
    labels = (np.abs(inputs[:, 0]) + 0.1 * rng.standard_normal(300) > 0.7).astype(int)
    model = RVC().fit(inputs, labels)
    scales = model.length_scale_
    assert scales[1:].min() > 3 * scales[0]
    units = RVC(adapt=None).fit(inputs, labels)
    other = rng.standard_normal((2000, 6))
    known = (np.abs(other[:, 0]) > 0.7).astype(int)
    assert model.score(other, known) > units.score(other, known) + 0.03


@pytest.mark.slow
def test_units_of_the_inputs_do_not_matter():
    inputs, kinds = (part[::4] for part in load_wine(return_X_y=True))
    scaled = StandardScaler().fit_transform(inputs)
    raw, same = RVC().fit(inputs, kinds), RVC().fit(scaled, kinds)
    assert raw.link_ == same.link_
    assert_allclose(raw.predict_proba(inputs), same.predict_proba(scaled), atol=0.03)


@pytest.mark.slow
def test_order_of_the_samples_does_not_matter(default):
    order = np.random.default_rng(0).permutation(len(X))
    one, other = default, RVC().fit(X[order], Y[order])
    assert one.link_ == other.link_
    assert_allclose(one.length_scale_, other.length_scale_)
    losses = [log_loss(LABELS, model.predict_proba(NEW)) for model in (one, other)]
    assert abs(losses[0] - losses[1]) < 0.02


@pytest.mark.slow
def test_a_weight_is_so_many_equal_samples():
    X, Y = NEW[:60], LABELS[:60]
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    often = RVC().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    heavy = RVC().fit(X, Y, sample_weight=weights)
    assert often.link_ == heavy.link_
    assert_allclose(often.predict_proba(NEW), heavy.predict_proba(NEW), atol=0.02)


@pytest.mark.slow
def test_a_sample_without_weight_does_not_count():
    X, Y = NEW[:30], LABELS[:30]
    none = np.r_[np.ones(30), np.zeros(20)]
    others = slice(60, 80)
    padded = RVC().fit(np.r_[X, NEW[others]], np.r_[Y, 1 - LABELS[others]], sample_weight=none)
    assert_allclose(padded.predict_proba(NEW), RVC().fit(X, Y).predict_proba(NEW), atol=1e-6)


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit", "least_squares"])
def test_held_out_rows_make_it_less_sure(link):
    """A narrow kernel is too sure of itself, and a temperature tells."""
    rng = np.random.default_rng(0)
    noisy, labels = (np.where(rng.random(len(y)) < 0.3, 1 - y, y) for y in (Y, LABELS))
    options = {"basis": RBF(0.25), "link": link, "prior": "flat"}
    plain, held = RVC(calibrate=None, **options), RVC(**options)
    plain, held = plain.fit(X, noisy), held.fit(X, noisy)
    assert_allclose(plain.weights_, held.weights_)
    loss = log_loss(labels, held.predict_proba(NEW))
    assert loss < log_loss(labels, plain.predict_proba(NEW))
    assert_array_equal(held.predict(NEW), held.predict_proba(NEW).argmax(axis=1))
    odds = held.decision_function(NEW)
    assert_allclose(1.0 / (1.0 + np.exp(-odds)), held.predict_proba(NEW)[:, 1], rtol=1e-6)


@pytest.mark.slow
def test_folds_of_ones_own():
    pairs = list(StratifiedKFold(4).split(X, Y))
    options = {"link": "logit", "adapt": None}
    given = RVC(calibrate=StratifiedKFold(4), **options).fit(X, Y)
    listed = RVC(calibrate=pairs, **options).fit(X, Y)
    assert_array_equal(given.predict_proba(NEW), listed.predict_proba(NEW))
    three = RVC(calibrate=3, **options).fit(X, Y)
    assert not np.array_equal(three.predict_proba(NEW), given.predict_proba(NEW))
    weights = np.r_[np.zeros(30), np.ones(90)]
    first = [(np.arange(30), np.arange(30, 60))]
    with pytest.raises(ValueError, match="leaves no pair of training and test rows with weight"):
        RVC(calibrate=first, **options).fit(X, Y, sample_weight=weights)


@pytest.mark.slow
def test_one_model_for_each_class_is_calibrated():
    inputs, kinds = load_iris(return_X_y=True)
    plain = classical(multi_class="ovr").fit(inputs[::2], kinds[::2])
    held = RVC(link="logit", adapt=None, multi_class="ovr").fit(inputs[::2], kinds[::2])
    assert held.multi_class_ == "ovr" and len(held.estimators_) == 3
    losses = [log_loss(kinds[1::2], model.predict_proba(inputs[1::2])) for model in (plain, held)]
    assert losses[1] < losses[0] + 0.02


@pytest.mark.slow
def test_files_and_pickles(tmp_path):
    for link in ("logit", "least_squares"):
        model = RVC(link=link).fit(X, Y)
        save(model, tmp_path / "model.skops")
        for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
            assert other.link_ == link
            assert_array_equal(other.predict_proba(NEW), model.predict_proba(NEW))


# Extremes


@pytest.mark.slow
@pytest.mark.parametrize("link", thinned(["auto", "logit", "least_squares"]))
def test_classes_that_can_be_separated(link):
    rng = np.random.default_rng(0)
    inputs = np.r_[rng.normal(-4.0, 0.5, (40, 2)), rng.normal(4.0, 0.5, (40, 2))]
    labels = np.repeat([0, 1], 40)
    model = RVC(link=link).fit(inputs, labels)
    probability = sure(model, inputs)
    assert model.score(inputs, labels) == 1.0
    assert 0.9 < probability.max(axis=1).min() <= probability.max() < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("members", thinned([1, 2]))
def test_a_class_of_few_members(members):
    """Some fits to folds do not see the class at all."""
    rng = np.random.default_rng(0)
    inputs = np.r_[rng.normal(size=(60, 2)), rng.normal(5.0, 0.1, (members, 2))]
    labels = np.r_[rng.integers(0, 2, 60), np.full(members, 2)]
    probability = sure(RVC().fit(inputs, labels), inputs)
    assert probability[:60, 2].mean() < 0.2


@pytest.mark.slow
def test_a_class_in_a_thousand():
    rng = np.random.default_rng(0)
    inputs = np.r_[rng.normal(size=(2000, 2)), [[6.0, 6.0], [6.1, 6.0]]]
    labels = np.r_[np.zeros(2000, int), 1, 1]
    model = RVC().fit(inputs, labels)
    probability = sure(model, inputs)
    assert probability[:2000, 1].mean() < 0.01
    assert probability[2000:, 1].mean() > 10 * probability[:2000, 1].mean()


@pytest.mark.slow
def test_a_label_that_a_fold_does_not_have():
    """Given folds, one of which is a class by itself."""
    inputs, kinds = load_iris(return_X_y=True)
    folds = [(np.flatnonzero(kinds != k), np.flatnonzero(kinds == k)) for k in range(3)]
    for link in ("logit", "least_squares"):
        model = RVC(link=link, adapt=None, calibrate=folds).fit(inputs, kinds)
        # Classes are never told where they were not seen: nothing is to be believed.
        assert sure(model, inputs).max() < 0.9
    two = kinds < 2
    folds = [(np.flatnonzero(kinds[two] != k), np.flatnonzero(kinds[two] == k)) for k in range(2)]
    for link in ("auto", "logit", "least_squares"):
        model = RVC(link=link, adapt=None, calibrate=folds).fit(inputs[two], kinds[two])
        assert sure(model, inputs).max() < 0.9


@pytest.mark.slow
def test_a_hundred_classes_of_five():
    rng = np.random.default_rng(0)
    centers = rng.uniform(-20.0, 20.0, (100, 4))
    labels = np.repeat(np.arange(100), 5)
    inputs = centers[labels] + 0.5 * rng.standard_normal((500, 4))
    model = RVC().fit(inputs, labels)
    other = centers[labels] + 0.5 * rng.standard_normal((500, 4))
    assert log_loss(labels, sure(model, other)) < 1.0
    assert model.score(other, labels) > 0.9


def test_few_rows():
    for count in (2, 4, 9):
        inputs, labels = np.arange(count)[:, None] * 1.0, np.arange(count) % 2
        model = RVC().fit(inputs, labels)
        assert model.link_ == "logit" and sure(model, inputs).shape == (count, 2)


def test_inputs_of_a_few_levels():
    """Both classes occur at the same rows many times."""
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 2, (400, 2)).astype(float)
    share = 0.2 + 0.5 * inputs[:, 0]
    labels = (rng.random(400) < share).astype(int)
    model = RVC().fit(inputs, labels)
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert_allclose(sure(model, corners)[:, 1], [0.2, 0.2, 0.7, 0.7], atol=0.1)


def test_some_of_many_samples_have_all_classes():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((5000, 2)), np.r_[np.zeros(4990, int), np.ones(10, int)]
    samples = Samples(rows, rows, labels, np.ones(5000))
    some = spread_sample(samples, 600)
    assert 600 <= len(some.rows) <= 612 and np.count_nonzero(some.labels) == 10
    order = rng.permutation(5000)
    mixed = Samples(rows[order], rows[order], labels[order], np.ones(5000))
    other = spread_sample(mixed, 600)
    assert_array_equal(np.unique(other.rows, axis=0), np.unique(some.rows, axis=0))
    assert spread_sample(some, 600 + 12) is some
    parts = [Held(np.ones((2, 2)), np.ones(2), np.zeros(2, int), np.ones(2))] * 3
    assert joined(parts).outputs.shape == (6, 2)
