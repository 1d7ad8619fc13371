"""RVC: labels of any type, the weights of samples and of classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import Sequential
from tests.classical import classical
from tests.conftest import GRID, LIKELIHOODS, SOLVERS, X3, Y3, X, Y

# Labels


@pytest.mark.sampled
@pytest.mark.parametrize(
    "names",
    [
        ["no", "yes"],
        np.array(["b", "a"], dtype=object),
        [False, True],
        [-1, 1],
        [-7, -3],
        [10**12, 3],
        [1.0, 2.0],
        np.array([0, 1], dtype=np.uint8),
        ["red", "green", "blue"],
        [5, -2, 0],
        np.array(["x", "zz", "y"], dtype=object),
    ],
    ids=str,
)
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_labels_of_any_type(names, multi_class):
    names = np.asarray(names)
    inputs, labels = (X, Y) if len(names) == 2 else (X3, Y3)
    named = names[labels]
    options = {"multi_class": multi_class, "solver": Sequential(brief=True)}
    model = classical(**options).fit(inputs, named)
    assert_array_equal(model.classes_, np.unique(names))
    predicted = model.predict(inputs)
    assert predicted.dtype == named.dtype
    assert set(predicted) <= set(names)
    assert np.mean(predicted == named) > 0.75
    assert model.score(inputs, named) == np.mean(predicted == named)
    numbers = classical(**options).fit(inputs, np.searchsorted(model.classes_, named))
    assert_array_equal(numbers.predict_proba(GRID), model.predict_proba(GRID))
    as_list = classical(**options).fit(inputs, named.tolist())
    assert_array_equal(as_list.predict(inputs), predicted)


def test_targets_that_are_no_labels():
    with pytest.raises(ValueError, match="Unknown label type"):
        classical().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"1d array"):
        classical().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        classical().fit(X, None)


@pytest.mark.parametrize("label", [3, "spam", True], ids=str)
def test_one_class_only(label):
    with pytest.raises(ValueError, match=rf"at least two classes.*only one class.*{label!r}"):
        classical().fit(X, [label] * len(X))
    with pytest.raises(ValueError, match="only one class"):
        classical().fit(X, Y, sample_weight=Y.astype(float))


@pytest.mark.parametrize(
    ("names", "kinds"),
    [(["a", None], "NoneType, str"), (["a", 1], "int, str"), (["a", True], "bool, str")],
    ids=str,
)
def test_labels_of_several_types(names, kinds):
    with pytest.raises(ValueError, match=rf"y mixes labels of different types, {kinds}; use one"):
        classical().fit(X, np.array(names, dtype=object)[Y])


# Weights


def assert_same_model(ours, theirs, inputs=GRID, atol=1e-6):
    assert_array_equal(ours.relevance_vectors_, theirs.relevance_vectors_)
    assert_allclose(ours.predict_proba(inputs), theirs.predict_proba(inputs), atol=atol)
    assert_allclose(ours.log_evidence_, theirs.log_evidence_, atol=1e-4)


WEIGHTED = [
    *({"solver": solver} for solver in SOLVERS[:3]),
    *(
        pytest.param(
            {"link": link, "inference": inference},
            marks=[pytest.mark.slow] * (inference != "laplace"),
        )
        for link, inference in LIKELIHOODS[1:]
    ),
    {"prior": "bic"},
]


@pytest.mark.sampled
@pytest.mark.parametrize("options", WEIGHTED, ids=str)
def test_a_weight_of_two_is_a_repeated_row(options):
    weights = 1 + (np.arange(len(Y)) % 3 == 0)
    weighted = classical(**options).fit(X, Y, weights)
    repeated = classical(**options).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert_same_model(weighted, repeated)


@pytest.mark.sampled
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_a_weight_of_two_is_a_repeated_row_of_several(multi_class):
    weights = 1 + (np.arange(len(Y3)) % 4 == 0)
    weighted = classical(multi_class=multi_class).fit(X3, Y3, weights)
    repeated = classical(multi_class=multi_class).fit(
        np.repeat(X3, weights, axis=0), np.repeat(Y3, weights)
    )
    assert_same_model(weighted, repeated, atol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("options", WEIGHTED, ids=str)
def test_a_weight_of_zero_is_a_removed_row(options):
    weights = (np.arange(len(Y)) % 4 > 0).astype(float)
    spoiled = np.where(weights > 0, Y, 1 - Y)
    weighted = classical(**options).fit(X, spoiled, weights)
    kept = weights > 0
    assert_same_model(weighted, classical(**options).fit(X[kept], Y[kept]))
    numbers = weighted.relevance_[weighted.relevance_ > 0] - 1
    assert_array_equal(X[numbers], weighted.relevance_vectors_)


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_a_class_without_weight_vanishes(multi_class):
    weights = (Y3 != 1).astype(float)
    model = classical(multi_class=multi_class).fit(X3, Y3, weights)
    assert_array_equal(model.classes_, [0, 2])
    kept = weights > 0
    assert_same_model(model, classical(multi_class=multi_class).fit(X3[kept], Y3[kept]))
    four = np.where(np.arange(len(Y3)) == 5, 7, Y3)
    model = classical(multi_class=multi_class).fit(X3, four, four != 7)
    assert_array_equal(model.classes_, [0, 1, 2])
    numbers = model.relevance_[model.relevance_ > 0] - 1
    assert_array_equal(X3[numbers], model.relevance_vectors_)


@pytest.mark.slow
def test_class_weight_multiplies_sample_weight():
    each = np.where(Y == 1, 3.0, 0.5)
    by_class = classical(class_weight={0: 0.5, 1: 3.0}).fit(X, Y)
    assert_array_equal(
        by_class.predict_proba(GRID), classical().fit(X, Y, each).predict_proba(GRID)
    )
    own = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
    both = classical(class_weight={0: 0.5, 1: 3.0}).fit(X, Y, own)
    assert_array_equal(
        both.predict_proba(GRID), classical().fit(X, Y, own * each).predict_proba(GRID)
    )
    per_class = classical(class_weight={0: 1.0, 1: 2.0, 2: 0.5}).fit(X3, Y3)
    each = np.array([1.0, 2.0, 0.5])[Y3]
    same = classical().fit(X3, Y3, each)
    assert_array_equal(per_class.predict_proba(GRID), same.predict_proba(GRID))
    ovr = classical(class_weight={0: 1.0, 1: 2.0, 2: 0.5}, multi_class="ovr").fit(X3, Y3)
    same = classical(multi_class="ovr").fit(X3, Y3, each)
    assert_array_equal(ovr.predict_proba(GRID), same.predict_proba(GRID))


@pytest.mark.slow
def test_balanced_classes():
    rows = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:8]])
    inputs, labels = X[rows], np.where(Y[rows] == 1, "rare", "common")
    counts = np.array([40, 8])
    each = np.where(labels == "rare", 48 / (2 * 8), 48 / (2 * 40))
    assert counts.sum() == len(labels)
    balanced = classical(class_weight="balanced").fit(inputs, labels)
    same = classical().fit(inputs, labels, each)
    assert_array_equal(balanced.predict_proba(GRID), same.predict_proba(GRID))
    names = classical(class_weight={"rare": each.max(), "common": each.min()}).fit(inputs, labels)
    assert_allclose(names.predict_proba(GRID), same.predict_proba(GRID), atol=1e-6)


@pytest.mark.slow
def test_balanced_classes_that_overlap():
    rng = np.random.default_rng(0)
    rare = np.arange(240) % 6 == 0
    inputs = rng.standard_normal((240, 1)) + rare[:, None]
    plain, balanced = (
        classical(class_weight=weight).fit(inputs, rare).predict_proba(inputs)[:, 1].mean()
        for weight in (None, "balanced")
    )
    assert_allclose(plain, 1 / 6, atol=0.02)
    assert balanced > plain + 0.15


@pytest.mark.sampled
@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_balanced_classes_have_equal_weight_in_the_weighted_sample(inputs, labels, multi_class):
    own = np.random.default_rng(0).uniform(0.2, 3.0, len(labels)) * np.where(labels == 0, 0.3, 1.0)
    totals = np.bincount(labels, own)
    each = own * (own.sum() / (totals.size * totals))[labels]
    assert_allclose(np.bincount(labels, each), own.sum() / totals.size)
    balanced = classical(class_weight="balanced", multi_class=multi_class).fit(inputs, labels, own)
    same = classical(multi_class=multi_class).fit(inputs, labels, each)
    assert_same_model(balanced, same)


@pytest.mark.slow
def test_balanced_classes_count_repeated_rows():
    weights = 1 + 2 * (Y == 1) * (np.arange(len(Y)) % 2)
    weighted = classical(class_weight="balanced").fit(X, Y, weights)
    repeated = classical(class_weight="balanced").fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights)
    )
    assert_same_model(weighted, repeated)
    alone = (Y3 != 1).astype(float)  # a class without weight is none to balance
    without = classical(class_weight="balanced").fit(X3, Y3, alone)
    assert_array_equal(without.classes_, [0, 2])
    assert_same_model(without, classical(class_weight="balanced").fit(X3[Y3 != 1], Y3[Y3 != 1]))


def test_a_class_of_weight_zero_vanishes():
    model = classical(class_weight={1: 0.0}).fit(X3, Y3)
    assert_array_equal(model.classes_, [0, 2])
    assert_same_model(model, classical().fit(X3[Y3 != 1], Y3[Y3 != 1]))
    with pytest.raises(ValueError, match="only one class: 1"):
        classical(class_weight={0: 0.0}).fit(X, Y)
