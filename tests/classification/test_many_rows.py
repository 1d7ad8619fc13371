"""Classification of many rows: sums, and passes over chunks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtr
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from sparsebayes import RVC
from sparsebayes.basis import RBF, Bias
from sparsebayes.classification import label_sums, many_rows
from sparsebayes.classification.likelihood import Samples, make_sites
from sparsebayes.engine import Dense, Exact, Flat, Latent
from sparsebayes.engine.model.sums import LabelSums
from sparsebayes.rows.chunk import Chunk
from sparsebayes.rows.source import Parts
from tests.sweeps import thinned

Array = np.ndarray


@pytest.fixture(scope="module")
def waves() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (12_000, 2))
    f = 2.0 * np.sin(2 * X[:, 0]) + X[:, 1]
    return X, (rng.random(len(X)) < expit(f)).astype(int)


def points(count: int = 80) -> Array:
    return np.random.default_rng(1).uniform(-3, 3, (count, 2))


def parts(X: Array, *others: Array, size: int = 2500) -> list[tuple[Array, ...]]:
    return [tuple(one[i : i + size] for one in (X, *others)) for i in range(0, len(X), size)]


def by_rows(monkeypatch, model: RVC, *data) -> RVC:
    with monkeypatch.context() as context:
        context.setattr(many_rows, "by_sums", lambda *_: False)
        return model.fit(*data)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_evidence_is_laplaces(link) -> None:
    """At the mode sums give the state of the rows; elsewhere a step of Newton's method."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1))
    labels = (rng.random(200) < ndtr(2 * X[:, 0])).astype(int)
    samples = Samples(X, X, labels, rng.integers(1, 3, 200).astype(float))
    sites = make_sites(samples, 2, link, "laplace")
    columns = (Bias() + RBF(1.0, centres=np.linspace(-2, 2, 7)[:, None])).fit(X).columns(X)
    active, alpha = np.array([0, 2, 5]), np.array([0.3, 1.0, 2.0])
    state = Latent(Dense(columns), Flat(), sites).evaluate(active, alpha, 1.0)
    weights = np.zeros(8)
    weights[active] = state.mean
    f = (columns @ weights)[:, None]
    sums = LabelSums.of(columns[:90], *_some(samples, link, slice(90)), f[:90])
    rest = slice(90, None)
    sums += LabelSums.of(columns[rest], *_some(samples, link, rest), f[rest])
    found = Exact(sums.design(), Flat(), sums.sites(weights)).evaluate(active, alpha, 1.0)
    assert found.evidence == pytest.approx(state.evidence, abs=1e-9)
    assert found.mean == pytest.approx(state.mean, abs=1e-7)
    weights[active] += 1e-4
    moved = LabelSums.of(columns, sites, (columns @ weights)[:, None])
    found = Exact(moved.design(), Flat(), moved.sites(weights)).evaluate(active, alpha, 1.0)
    assert found.mean == pytest.approx(state.mean, abs=1e-5)
    assert found.evidence == pytest.approx(state.evidence, abs=1e-4)


def _some(samples: Samples, link: str, part: slice):
    some = Samples(samples.X[part], samples.rows[part], samples.labels[part], samples.weights[part])
    return (make_sites(some, 2, link, "laplace"),)


@pytest.mark.slow
@pytest.mark.parametrize("link", thinned(["least_squares", "logit", "probit"], 2))
def test_sums_find_a_model_as_good_as_rows(monkeypatch, waves, link) -> None:
    X, y = waves
    model = RVC(RBF(0.9, centres=points()), link=link)
    rows = by_rows(monkeypatch, clone(model), X, y)
    model.fit(X, y)
    assert rows.approximation_ is None and "over all 12000 rows" in model.approximation_
    assert model.converged_ and np.all(np.diff(model.evidence_path_) >= 0)
    losses = [log_loss(y, one.predict_proba(X)) for one in (model, rows)]
    assert losses[0] == pytest.approx(losses[1], abs=2e-3)
    if link != "least_squares":  # of which equal rows may be merged
        assert model.log_evidence_ > rows.log_evidence_ - 5.0  # searches end in other maxima


@pytest.mark.slow
def test_the_default_on_many_rows() -> None:
    X, y = make_moons(15_000, noise=0.3, random_state=0)
    names = np.array(["left", "right"])[y]
    model = RVC().fit(X[:11_000], names[:11_000])
    assert model.classes_.tolist() == ["left", "right"]
    assert np.mean(model.predict(X[11_000:]) != names[11_000:]) < 0.1
    loss = log_loss(names[11_000:], model.predict_proba(X[11_000:]))
    assert loss < 0.24


@pytest.mark.slow
@pytest.mark.parametrize("link", thinned(["logit", "least_squares"]))
def test_chunks_and_memory_maps(waves, tmp_path, link) -> None:
    X, y = waves
    model = RVC(RBF(0.9, centres=points()), link=link)
    expected = clone(model).fit(X, y)
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    model.fit(mapped, y)
    assert np.array_equal(model.weights_, expected.weights_)
    assert np.array_equal(model.predict_proba(mapped), expected.predict_proba(X))
    assert np.array_equal(model.inside(1.2 * X), expected.inside(1.2 * X))
    in_chunks = clone(model).fit(parts(X, y))
    assert in_chunks.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=5e-3)
    assert in_chunks.log_evidence_ == pytest.approx(expected.log_evidence_, abs=2.0)


def test_a_weight_counts_as_rows(waves) -> None:
    X, y = waves[0][:500], waves[1][:500]
    weights = np.random.default_rng(2).integers(0, 3, 500)
    basis = (Bias() + RBF(0.9, centres=points(20))).fit(X)
    labelled = label_sums.Labelled(np.arange(2), np.ones(2), np.bincount(y, weights))
    once = Chunk(0, X, y, weights.astype(float))
    again = Chunk(0, *(np.repeat(one, weights, axis=0) for one in (X, y, np.ones(500))))
    expanded = label_sums.LabelSumsOf(
        basis, labelled, "logit", np.array([1, 4]), np.array([[0.5, -2.0], [0.0, 1.0]])
    )
    squares = label_sums.LeastSquaresOf(basis, labelled)
    for work, names in [(expanded, "count values pull gram"), (squares, "count moments gram")]:
        for name in names.split():
            found, expected = (getattr(work(chunk), name) for chunk in (once, again))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.slow
def test_labels_that_are_nearly_separated() -> None:
    """Where steps of Newton's method lead astray."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (20_000, 2))
    f = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(20_000)
    model = RVC(RBF(0.9, centres=points()), link="logit", calibrate=None).fit(X, f > 0.2)
    assert model.converged_
    assert model.log_evidence_ == pytest.approx(-2922.5, abs=5.0)  # as a fit to the rows finds


@pytest.mark.slow
def test_wide_kernels_do_not_fall_for_rounding() -> None:
    """Sums have half the digits: weights of 10⁸ that cancelled came out far ahead of all others."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 1000, 12_000), rng.uniform(-1, 1, 12_000)
    y = np.sin(a / 150) + b + 0.1 * rng.standard_normal(12_000) > 0
    X = np.column_stack([a, b])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = RVC(RBF(2.0, centres=X[:300]), link="least_squares").fit(X, y)
    assert np.abs(model.weights_).max() < 1e7
    assert model.score(X, y) > 0.95


@pytest.mark.slow
def test_weights_of_classes(waves) -> None:
    X, y = waves
    rare = (y == 0) | (np.arange(len(y)) % 20 == 0)
    X, y = np.concatenate([X[rare]] * 2), np.concatenate([y[rare]] * 2)
    model = RVC(RBF(0.9, centres=points()), link="logit", class_weight="balanced")
    whole, chunked = clone(model).fit(X, y), clone(model).fit(parts(X, y))
    assert whole.class_prior_ == pytest.approx([0.5, 0.5])
    assert chunked.class_prior_ == pytest.approx([0.5, 0.5])
    assert chunked.predict_proba(X[:500]) == pytest.approx(whole.predict_proba(X[:500]), abs=0.05)


@pytest.mark.slow
def test_ten_classes_in_one_pass(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-4, 4, (10, 2))
    y = rng.integers(0, 10, 12_000)
    X = centres[y] + 0.4 * rng.standard_normal((12_000, 2))
    given = Counted(parts(X, y))
    model = RVC(RBF(1.0, centres=X[:150]), adapt=None).fit(given)
    assert model.link_ == "least_squares" and "; sums over all 12000 rows" in model.approximation_
    assert given.n_passes == 3  # the first rows, the survey, and the sums
    rows = by_rows(monkeypatch, clone(model), X, y)
    assert np.mean(model.predict(X) != y) == pytest.approx(np.mean(rows.predict(X) != y), abs=5e-3)


class Counted:
    """Chunks, and how often they were asked for."""

    def __init__(self, chunks: list[tuple[Array, ...]]) -> None:
        self.chunks, self.n_passes = chunks, 0

    def __iter__(self):
        self.n_passes += 1
        return iter(self.chunks)


def test_rare_classes_are_in_the_sample() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (15_000, 1))
    y = np.where(X[:, 0] > 0, "a", "b")
    y[:3] = "c"
    model = RVC(RBF(1.0, centres=X[:20])).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"augment": True}, "augment"),
        ({"calibrate": [(np.arange(5), np.arange(5, 9))]}, "number of folds"),
        ({"link": "probit", "inference": "tap"}, "in memory"),
    ],
)
def test_what_needs_the_rows_says_so(waves, options, match) -> None:
    with pytest.raises(ValueError, match=match):
        RVC(RBF(0.9, centres=points()), **options).fit(parts(*waves))


def test_chunks_that_cannot_be_fitted(waves) -> None:
    X, y = waves
    model = RVC(RBF(0.9, centres=points()))
    with pytest.raises(ValueError, match="iterated again"):
        model.fit(part for part in parts(X, y))
    with pytest.raises(ValueError, match="only one class: 1"):
        model.fit(parts(X, np.ones_like(y)))
    with pytest.raises(ValueError, match="Chunk 2, rows 5000 to 7499"):
        broken = X.copy()
        broken[6000, 1] = np.nan
        model.fit(parts(broken, y))
    assert not hasattr(model, "classes_")


@pytest.mark.slow
@pytest.mark.parametrize("link", thinned(["least_squares", "logit"]))
def test_extra_functions_with_many_rows(monkeypatch, waves, link) -> None:
    X, y = waves
    model = RVC(RBF(0.9, centres=points(40)), link=link, augment="fast", calibrate=None)
    rows = by_rows(monkeypatch, clone(model), X, y)
    model.fit(X, y)
    away = np.array([[0.0, 0.0], [9.0, 9.0]])
    found, expected = (one.decision_function(away, return_std=True)[1] for one in (model, rows))
    assert found == pytest.approx(expected, rel=0.1) and found[1] > 2 * found[0]


def test_a_survey_does_not_depend_on_the_chunks(waves) -> None:
    X, y = waves
    found = [
        Parts(parts(X, y, size=size), labels=True).total(label_sums.SurveyOf(500))
        for size in (700, 12_000)
    ]
    assert np.array_equal(found[0].sample.numbers, found[1].sample.numbers)
    assert np.array_equal(found[0].sample.X, found[1].sample.X)
    assert found[0].totals == found[1].totals
    assert np.array_equal(found[0].input_range, found[1].input_range)
