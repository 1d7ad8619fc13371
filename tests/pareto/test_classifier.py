"""Fronts of classifiers: dominance, rates, choices and the evolution that makes them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, roc_curve

from sparsebayes import RVC, ParetoClassifier, persistence
from sparsebayes.basis import RBF
from sparsebayes.pareto import front as fronts
from sparsebayes.pareto.front import Archive, choose, hull_area, roc_hull, undominated
from tests.laws.test_estimator_checks import assert_clean
from tests.laws.test_imports import BLOCK, run

evolution = pytest.importorskip("sparsebayes.pareto.evolution")

X, Y = make_moons(160, noise=0.35, random_state=0)
LABELS = np.array(["no", "yes"])[Y]
X_NEW, Y_NEW = make_moons(300, noise=0.35, random_state=1)
LABELS_NEW = np.array(["no", "yes"])[Y_NEW]


def small(**options):
    return ParetoClassifier(**{"n_evaluations": 1500, "random_state": 0, **options})


@pytest.fixture(scope="module")
def model():
    return small().fit(X, LABELS)


def dominates(a, b):
    return np.all(a <= b) and np.any(a < b)


def measured(labels, predicted):
    """False and true positive rate by scikit-learn."""
    (tn, fp), (fn, tp) = confusion_matrix(labels, predicted)
    return fp / (fp + tn), tp / (tp + fn)


# Dominance and hulls


@pytest.mark.parametrize("n", [0, 1, 40, 700])
def test_undominated_is_what_the_definition_says(n):
    points = np.random.default_rng(n).integers(0, 12, (n, 3)).astype(float)
    kept = undominated(points)
    unique = {tuple(p) for p in points}
    expected = {p for p in unique if not any(dominates(np.array(q), np.array(p)) for q in unique)}
    assert sorted(map(tuple, points[kept])) == sorted(expected)
    for i in kept:  # of equal ones the first
        assert not (points[:i] == points[i]).all(axis=1).any()
    assert_array_equal(kept, np.sort(kept))


def test_archive_holds_the_undominated_of_all_that_came():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 15, (600, 3)).astype(float)
    genes = np.arange(600.0)[:, None]
    archive = Archive(3, 1)
    for part in np.split(np.arange(600), 24):
        archive.add(points[part], genes[part])
    kept = undominated(points)
    assert len(archive) == kept.size
    assert_array_equal(np.sort(archive.genes[:, 0]), genes[kept, 0])
    assert_array_equal(archive.objectives, points[archive.genes[:, 0].astype(int)])


def test_hull_area_against_a_polygon():
    rng = np.random.default_rng(0)
    fpr, tpr = rng.random((2, 30))
    corners = np.array([[0, 0], [1, 1], [1, 0]])
    polygon = ConvexHull(np.vstack([np.column_stack([fpr, tpr]), corners]))
    below = tpr > fpr  # (1, 0) cuts off nothing but what lies below the diagonal
    assert below.any() and not below.all()
    assert_allclose(hull_area(fpr, tpr), polygon.volume, rtol=1e-12)


@pytest.mark.parametrize(
    ("fpr", "tpr", "area"),
    [([], [], 0.5), ([0.0], [1.0], 1.0), ([1.0], [0.0], 0.5), ([0.5, 0.5], [0.5, 1.0], 0.75)],
)
def test_hull_area_of_simple_cases(fpr, tpr, area):
    assert_allclose(hull_area(fpr, tpr), area, rtol=1e-15)
    hull = roc_hull(fpr, tpr)
    assert_array_equal(hull[[0, -1]], [[0, 0], [1, 1]])
    assert np.all(np.diff(np.diff(hull[:, 1]) / np.maximum(np.diff(hull[:, 0]), 1e-300)) <= 0)


# Complexity and mutations


def test_complexity_by_its_formula_and_free_of_scale():
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((50, 4))
    columns /= columns.std(axis=0)
    weights = np.array([[0, 0, 0, 0], [0, -3.0, 0, 0], [1, 2, 0, -1], [1, 1, 1, 1.0]])
    spread = evolution.spreads(weights @ columns.T, weights)
    mass = [0, 1.0, *(np.abs(w).sum() / (columns @ w).std() for w in weights[2:])]
    assert_allclose(evolution.complexity(weights, spread, "l1"), mass, rtol=1e-8)
    squashed = np.array([0, 0.5, *(1 / (1 + 1 / m) for m in mass[2:])])  # S08 (3.3)
    both = evolution.complexity(weights, spread, "l0+")
    assert_allclose(both, np.array([0, 1, 3, 4]) + squashed, rtol=1e-8)
    scaled = weights / 3e6
    again = evolution.complexity(scaled, evolution.spreads(scaled @ columns.T, scaled), "l0+")
    assert_array_equal(again, both)
    assert min(mass[2:]) > 1


def test_complexity_is_the_same_to_the_last_bit_for_the_same_weights():
    rng = np.random.default_rng(0)
    columns, weights = rng.standard_normal((50, 9)), rng.standard_normal((300, 9))
    costs = []
    for scale in (1.0, 1 / 3, 7e5):
        scaled = scale * weights
        costs.append(
            evolution.complexity(scaled, evolution.spreads(scaled @ columns.T, scaled), "l0+")
        )
    assert_array_equal(costs[1:], [costs[0]] * 2)


def test_weights_that_cancel_are_dominated():
    column = np.random.default_rng(0).standard_normal(40)
    problem = evolution.Rates(np.column_stack([column, column]) / column.std(), column > 0, "l0+")
    cancelling = problem.evaluate(np.array([[1.0, -1.0, 1.0]]), return_values_of=["F"])
    nothing = problem.evaluate(np.array([[0.0, 0.0, -1.0]]), return_values_of=["F"])
    assert_array_equal(nothing, [[0, 0, 0]])
    assert dominates(nothing[0], cancelling[0])


def test_mutations_perturb_or_flip_one():
    rng = np.random.default_rng(0)
    genes = np.zeros((4000, 31))
    genes[:, [3, 7, 20]] = [1.0, -2.0, 0.5]
    before = genes.copy()
    after = evolution.mutate(genes, True, rng)
    assert_array_equal(genes, before)
    changed = (after[:, :-1] != 0) != (before[:, :-1] != 0)
    flips = changed.sum(axis=1)
    assert set(flips) == {0, 1}
    assert abs(flips.mean() - 0.5) < 0.03
    left = after[flips == 1][:, [3, 7, 20]] == 0
    assert abs(left.any(axis=1).mean() - 0.5) < 0.04  # as often out as in
    assert np.all((after != before).any(axis=1))
    assert np.all(after[flips == 1, -1] == 0)
    perturbed = after[flips == 0]
    assert np.mean(perturbed[:, -1] != 0) > 0.2
    # One of four at least, a tenth of each.
    assert 1.0 < np.mean((perturbed != before[flips == 0]).sum(axis=1)) < 1.3


def test_mutations_without_intercept_leave_it_and_start_from_nothing():
    genes = np.zeros((50, 6))
    after = evolution.mutate(genes, False, np.random.default_rng(0))
    assert_array_equal(after[:, -1], 0)
    assert_array_equal(np.count_nonzero(after, axis=1), 1)


# The front


def test_a_part_of_each_class_is_held_out():
    unequal = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:10]])
    for share, counts in ((0.25, [20, 2]), (0.9, [72, 9]), (0.001, [1, 1])):
        model = small(validation_fraction=share, seeds=None, n_evaluations=200)
        model.fit(X[unequal], Y[unequal])
        assert_array_equal(model.counts_, [[80 - counts[0], 10 - counts[1]], counts])


def test_front_is_ordered_undominated_and_has_the_constants(model):
    front = model.front_
    keys = list(zip(front.fpr, front.tpr, front.complexity, strict=True))
    assert keys == sorted(keys)
    objectives = np.column_stack([front.fpr, -front.tpr, front.complexity])
    assert undominated(objectives).size == len(front) > 20
    constants = front[front.n_kernels == 0]
    assert_array_equal(constants.complexity, 0)
    assert [tuple(c)[:2] for c in constants] == [(0, 0), (1, 1)]
    assert_array_equal(front.n_kernels, np.count_nonzero(model.weights_, axis=1))
    assert_array_equal(front.n_kernels, np.floor(front.complexity))
    assert isinstance(front, np.recarray)
    assert model.n_evaluations_ == 1500


def test_rates_are_those_of_predictions():
    some = np.random.default_rng(0).permutation(160)
    first, rest = some[:100], some[100:]
    model = small().fit(X[first], LABELS[first], X[rest], LABELS[rest])
    new = model.evaluate(X_NEW, LABELS_NEW)
    for i in range(0, len(model.front_), 7):
        point = model.front_[i]
        assert_allclose(measured(LABELS[first], model.predict(X[first], i)), (point.fpr, point.tpr))
        assert_allclose(
            measured(LABELS[rest], model.predict(X[rest], i)),
            (point.held_out_fpr, point.held_out_tpr),
        )
        assert_allclose(
            measured(LABELS_NEW, model.predict(X_NEW, point=i)), (new.fpr[i], new.tpr[i])
        )
    assert_array_equal(model.counts_, [np.bincount(Y[first]), np.bincount(Y[rest])])
    assert_array_equal(new.complexity, model.front_.complexity)


def test_weights_are_scaled_and_make_the_decision(model):
    whole = small(validation_fraction=None).fit(X, LABELS)
    scores = whole.basis_.columns(X) @ whole.weights_.T
    assert_allclose(scores.std(axis=0)[whole.front_.n_kernels > 0], 1.0, rtol=1e-9)
    i = len(whole.front_) // 2
    assert_allclose(whole.decision_function(X, i), scores[:, i] + whole.intercepts_[i], atol=1e-9)
    assert np.isnan(whole.front_.held_out_fpr).all() and not whole.counts_[1].any()
    assert whole.basis_.n_functions_ == whole.relevance_.size == whole.weights_.shape[1]
    assert not hasattr(model, "predict_proba")


def test_front_is_no_worse_than_the_machine_it_starts_from():
    first = small(validation_fraction=None, n_evaluations=100).fit(X, Y).front_
    later = small(validation_fraction=None).fit(X, Y).front_
    machine = RVC().fit(X, Y)
    kernels = len(machine.relevance_vectors_)
    latent = machine.decision_function(X, return_std=True)[0]
    fpr, tpr, _ = roc_curve(Y, latent, drop_intermediate=False)
    own = first[first.n_kernels == kernels]
    curve = set(zip(fpr, tpr, strict=True))
    assert len(own) > 10 and all(tuple(point)[:2] in curve for point in own)
    few = later[later.n_kernels <= kernels]
    assert hull_area(few.fpr, few.tpr) > hull_area(own.fpr, own.tpr) + 0.001


def test_seeds_take_the_length_scales_of_the_machine():
    wide = X * [1.0, 1000.0]
    model = small(validation_fraction=None, n_evaluations=200).fit(wide, Y)
    machine = RVC().fit(wide, Y)
    assert_array_equal(model.basis_.log_scales(), machine.basis_.log_scales())
    given = small(basis=RBF(0.4), validation_fraction=None, n_evaluations=200).fit(X, Y)
    assert_allclose(np.exp(given.basis_.log_scales()), 0.4)


@pytest.mark.parametrize("penalty", ["l0+", "l1"])
@pytest.mark.parametrize("seeds", ["rvc", None])
def test_evolution_finds_good_classifiers(penalty, seeds):
    model = small(penalty=penalty, seeds=seeds, n_evaluations=4000).fit(X, Y)
    few = np.mean(model.predict(X_NEW, max_kernels=5) != Y_NEW)
    assert few < 0.2  # Bayes: about 0.12
    assert model.evaluate(X_NEW, Y_NEW).tpr.max() == 1


def test_more_evaluations_never_lose():
    short, long = (small(n_evaluations=n, seeds=None).fit(X, Y).front_ for n in (1000, 4000))
    for point in short:  # the first 1000 evaluations are the same
        beaten = (long.fpr <= point.fpr) & (long.tpr >= point.tpr)
        assert np.any(beaten & (long.complexity <= point.complexity))
    assert hull_area(long.fpr, long.tpr) > hull_area(short.fpr, short.tpr)


def test_same_seed_same_front_whatever_the_global_state(model):
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    again = small().fit(X, LABELS)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2] and np.array_equal(before[1], after[1])
    assert again.front_.tobytes() == model.front_.tobytes()
    assert again.weights_.tobytes() == model.weights_.tobytes()
    assert again.intercepts_.tobytes() == model.intercepts_.tobytes()
    other = small(random_state=1).fit(X, LABELS)
    assert other.front_.tobytes() != model.front_.tobytes()


def test_without_intercept():
    model = small(bias=False).fit(X, Y)
    assert_array_equal(model.intercepts_, 0)
    assert np.sum(model.front_.n_kernels == 0) == 1
    assert np.mean(model.predict(X_NEW) != Y_NEW) < 0.25


def test_constant_functions_are_left_out():
    flat = np.column_stack([X, np.full(160, 3.0)])
    model = small(basis="linear").fit(flat, Y)
    assert set(model.relevance_) <= {0, 1}
    nothing = small().fit(np.ones((20, 2)), Y[:20])
    assert_array_equal(nothing.front_.n_kernels, [0, 0])
    assert nothing.n_evaluations_ == 0
    assert nothing.predict(np.ones((3, 2))).shape == (3,)


def test_precomputed_kernel_equals_the_basis():
    kernel = RBF(0.7).fit(X).columns(X)
    options = {"validation_fraction": None, "n_evaluations": 600}
    ours = small(basis=RBF(0.7), **options).fit(X, Y)
    theirs = small(basis="precomputed", **options).fit(kernel, Y)
    assert theirs.front_.tobytes() == ours.front_.tobytes()
    assert_array_equal(theirs.predict(kernel, max_kernels=3), ours.predict(X, max_kernels=3))


# Choices

FRONT = np.array(
    [
        (0.0, 0.0, 0.0, 0, 0.0, 0.0),
        (0.0, 0.5, 2.5, 2, 0.1, 0.4),
        (0.1, 0.7, 1.5, 1, 0.1, 0.6),
        (0.2, 0.9, 2.6, 2, 0.3, 0.9),
        (0.2, 0.95, 4.7, 4, 0.1, 0.7),
        (0.4, 1.0, 3.6, 3, 0.3, 0.9),
        (1.0, 1.0, 0.0, 0, 1.0, 1.0),
    ],
    dtype=fronts.FRONT,
).view(np.recarray)
COUNTS = np.array([[30, 30], [10, 10]])


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({}, 3),  # 0.2 as of 4 and 5, with the fewest kernels
        ({"by": "train"}, 4),
        ({"by": "pooled"}, 4),
        ({"point": np.int64(5)}, 5),
        ({"max_kernels": 1}, 2),
        ({"max_kernels": np.int64(0)}, 0),
        ({"cost_fp": 6}, 4),
        ({"cost_fp": 100}, 0),
        ({"cost_fn": 10.0}, 6),
        ({"cost_fn": 10.0, "cost_fp": 10.0}, 3),
        ({"cost_fn": 3.0, "max_kernels": 1}, 6),
        ({"prevalence": 0.05}, 0),
        ({"cost_fn": 0}, 0),
        ({"max_fpr": 0.1}, 4),
        ({"max_fpr": 0.1, "max_kernels": 2}, 2),
        ({"max_fpr": 0.05}, 0),
        ({"min_tpr": 0.85}, 3),
        ({"min_tpr": 0.6, "by": "train"}, 2),
        ({"min_tpr": 0.65, "max_fpr": 0.2}, 4),
        ({"max_fpr": 0.3, "cost_fn": 5}, 3),
    ],
)
def test_choices(wishes, expected):
    assert choose(FRONT, COUNTS, **{"by": "held_out", **wishes}) == expected


@pytest.mark.parametrize("wishes", [{}, {"by": "held_out"}, {"by": "train"}], ids=str)
def test_choices_are_the_best_of_all(wishes, model):
    front, counts = model.front_, model.counts_
    train, held_out = (front.fpr, front.tpr), (front.held_out_fpr, front.held_out_tpr)
    pooled = [np.average([train[k], held_out[k]], axis=0, weights=counts[:, k]) for k in (0, 1)]
    fpr, tpr = {None: pooled, "held_out": held_out, "train": train}[wishes.get("by")]
    share = np.mean(Y)
    for cost_fp, cost_fn in ((1, 1), (1, 4), (5, 1)):
        cost = cost_fp * (1 - share) * fpr + cost_fn * share * (1 - tpr)
        chosen = model.choose(cost_fp=cost_fp, cost_fn=cost_fn, **wishes)
        assert_allclose(cost[chosen], cost.min())
        ties = np.isclose(cost, cost.min(), rtol=0, atol=1e-12)
        assert front.n_kernels[chosen] == front.n_kernels[ties].min()
    chosen = model.choose(max_fpr=0.2, max_kernels=3, **wishes)
    inside = (fpr <= 0.2) & (front.n_kernels <= 3)
    assert inside[chosen]
    assert_allclose(tpr[chosen], tpr[inside].max())


def test_predictions_are_those_of_the_choice(model):
    chosen = model.choose(max_fpr=0.2, max_kernels=3)
    labels = model.predict(X_NEW, max_fpr=0.2, max_kernels=3)
    assert_array_equal(labels, model.predict(X_NEW, chosen))
    decision = model.decision_function(X_NEW, max_fpr=0.2, max_kernels=3)
    assert_array_equal(labels == "yes", decision > 0)


def test_without_held_out_samples_choices_are_by_training_rates():
    bare = FRONT.copy()
    bare["held_out_fpr"] = bare["held_out_tpr"] = np.nan
    counts = [[30, 30], [0, 0]]
    assert {choose(bare, counts, by=by) for by in ("held_out", "pooled", "train")} == {4}


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"point": 7}, r"point=7 .*0 to 6; the nearest is 6"),
        ({"point": -1}, r"point=-1 .*the nearest is 0"),
        ({"point": 1.0}, r"point must be a whole number.*got 1\.0"),
        ({"point": True}, "point must be a whole number"),
        ({"point": 1, "max_fpr": 0.1}, "leave out max_fpr"),
        ({"cost_fp": -1}, r"cost_fp must be a number >= 0, got -1"),
        ({"cost_fn": np.nan}, "cost_fn must be"),
        ({"cost_fn": 0, "cost_fp": 0}, "both 0"),
        ({"prevalence": 1.5}, r"prevalence must be .* from 0 to 1, got 1\.5"),
        ({"max_kernels": -1}, "max_kernels must be a whole number >= 0, got -1"),
        ({"max_kernels": 2.5}, "max_kernels must be a whole number"),
        ({"max_fpr": "low"}, "max_fpr must be a number from 0 to 1, got 'low'"),
        ({"min_tpr": 1.01}, r"min_tpr must be a number from 0 to 1, got 1\.01"),
        (
            {"min_tpr": 0.8, "max_fpr": 0.2},
            r"min_tpr=0\.8 and max_fpr=0\.2 exclude each other; with max_fpr=0\.2 the largest "
            r"min_tpr is 0\.7, with min_tpr=0\.8 the least max_fpr is 0\.3\.",
        ),
        ({"min_tpr": 0.7, "max_fpr": 0.1, "max_kernels": 2}, "with max_kernels=2; .* is 0.6,"),
        ({"by": "test"}, r"by must be one of .*got 'test'"),
    ],
)
def test_impossible_wishes(wishes, message):
    with pytest.raises(ValueError, match=message):
        choose(FRONT, COUNTS, **{"by": "held_out", **wishes})


def test_bounds_that_no_point_meets():
    some = FRONT[1:3]
    with pytest.raises(ValueError, match=r"min_tpr=0\.9 is not reached; the largest rate is 0\.6"):
        choose(some, COUNTS, by="held_out", min_tpr=0.9)
    with pytest.raises(ValueError, match=r"max_fpr=0\.0 is not reached.*least rate is 0\.1"):
        choose(some, COUNTS, by="held_out", max_fpr=0.0)


def test_unfitted_and_misspelt(model):
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(ParetoClassifier(), method)(X)
    for call in (ParetoClassifier().choose, lambda: ParetoClassifier().evaluate(X, Y)):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(TypeError, match="max_kernel"):
        model.predict(X, max_kernel=3)


# Inputs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l2"}, r"penalty must be one of \['l0\+', 'l1'\], got 'l2'"),
        ({"seeds": "svm"}, "seeds must be one of"),
        ({"n_evaluations": 50}, r"n_evaluations=50 is less than population=100"),
        ({"n_evaluations": 1e5}, r"n_evaluations must be a whole number >= 1, got 100000\.0"),
        ({"population": 2}, "population must be a whole number >= 4, got 2"),
        ({"validation_fraction": 0}, "validation_fraction must be None or .* got 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"bias": 1}, "bias must be True or False"),
        ({"verbose": -1}, "verbose must be"),
        ({"basis": "rbg"}, "basis must be one of"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        small(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, np.zeros(160)), r"needs samples of two classes, got only one class: 0\.0"),
        ((X, np.arange(160) % 3), "needs samples of two classes, got 3 classes: 0, 1, 2"),
        ((np.where(X > 1, np.nan, X), Y), r"NaN[\s\S]*Drop these samples"),
        ((X, np.eye(160)[0].astype(int)), r"at least two samples of each class, and class 1 has"),
        ((X, Y, X_NEW), "y_val is missing"),
        ((X, Y, None, Y_NEW), "X_val is missing"),
        ((X, Y, X_NEW, np.zeros(300, dtype=int)), r"y_val has no sample of class 1"),
        ((X, Y, X_NEW, Y_NEW + 1), r"y_val holds labels .*\[0, 1\]: 2"),
        ((X, Y, X_NEW, Y_NEW[:9]), "one label for each of 300 rows, got 9"),
        ((X, Y, X_NEW[:, :1], Y_NEW), "1 features"),
    ],
)
def test_bad_data(arguments, message):
    with pytest.raises(ValueError, match=message):
        small().fit(*arguments)


def test_evaluation_needs_both_classes(model):
    with pytest.raises(ValueError, match="y has no sample of class 'yes'"):
        model.evaluate(X[:3], ["no", "no", "no"])


def test_a_class_of_one_sample_is_fine_without_a_split():
    model = small(validation_fraction=None).fit(X, np.eye(160)[0].astype(int))
    assert model.front_.tpr.max() == 1


def test_too_much_memory_is_told():
    from sklearn import config_context

    with config_context(working_memory=0.1), pytest.raises(ValueError, match="working_memory"):
        small(seeds=None).fit(X, Y)


@pytest.mark.parametrize(("verbose", "lines"), [(0, 0), (1, 10), (2, 15)])
def test_progress(verbose, lines, capsys):
    small(verbose=verbose, seeds=None).fit(X, Y)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == lines
    if lines:
        assert (
            "1500 evaluations" in printed[-1] and "area under the training hull 0." in printed[-1]
        )


# The world around


def test_round_trip(model, tmp_path):
    persistence.save(model, tmp_path / "m.skops")
    again = persistence.load(tmp_path / "m.skops")
    assert again.front_.tobytes() == model.front_.tobytes()
    assert again.front_.dtype.names == model.front_.dtype.names
    assert_array_equal(again.predict(X_NEW, max_fpr=0.2), model.predict(X_NEW, max_fpr=0.2))
    assert again.choose(max_kernels=2) == model.choose(max_kernels=2)


def test_without_extras_only_fit_fails_and_names_the_one_it_needs():
    code = BLOCK.format(blocked={"pymoo", "autograd", "matplotlib", "skops"}) + (
        "from sparsebayes import ParetoClassifier\n"
        "model = ParetoClassifier()\n"
        "try:\n    model.fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error:\n    print(error)\n"
    )
    assert 'pip install "sparsebayes[pareto]"' in run(code)


@pytest.mark.parametrize(
    "options",
    [
        {"seeds": None},
        *(
            pytest.param(options, marks=pytest.mark.slow)
            for options in (
                {},
                {"basis": "linear", "validation_fraction": None},
                {"bias": False, "penalty": "l1"},
            )
        ),
    ],
    ids=str,
)
def test_scikit_learn_checks(options):
    assert_clean(ParetoClassifier(n_evaluations=200, population=20, random_state=0, **options))
