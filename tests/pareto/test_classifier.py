"""ParetoClassifier: its front, its choices, what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, roc_curve

from sparsebayes import ParetoClassifier, persistence
from sparsebayes.basis import RBF
from sparsebayes.pareto.front import hull_area, undominated
from tests.classical import classical
from tests.laws.test_estimator_checks import assert_clean
from tests.laws.test_imports import BLOCK, run

pytest.importorskip("pymoo")

X, Y = make_moons(160, noise=0.35, random_state=0)
LABELS = np.array(["no", "yes"])[Y]
X_NEW, Y_NEW = make_moons(300, noise=0.35, random_state=1)
LABELS_NEW = np.array(["no", "yes"])[Y_NEW]


def small(**options):
    return ParetoClassifier(**{"n_evaluations": 1500, "random_state": 0, **options})


@pytest.fixture(scope="module")
def model():
    return small().fit(X, LABELS)


def measured(labels, predicted):
    """False and true positive rate by scikit-learn."""
    (tn, fp), (fn, tp) = confusion_matrix(labels, predicted)
    return fp / (fp + tn), tp / (tp + fn)


# The front


def test_a_part_of_each_class_is_held_out():
    unequal = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:10]])
    for share, counts in ((0.25, [20, 2]), (0.9, [72, 9]), (0.001, [1, 1])):
        model = small(validation_fraction=share, seeds=None, n_evaluations=200)
        model.fit(X[unequal], Y[unequal])
        assert_array_equal(model.counts_, [[80 - counts[0], 10 - counts[1]], counts])


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_weights_are_scaled_and_make_the_decision(model):
    whole = small(validation_fraction=None).fit(X, LABELS)
    scores = whole.basis_.columns(X) @ whole.weights_.T
    assert_allclose(scores.std(axis=0)[whole.front_.n_kernels > 0], 1.0, rtol=1e-9)
    i = len(whole.front_) // 2
    assert_allclose(whole.decision_function(X, i), scores[:, i] + whole.intercepts_[i], atol=1e-9)
    assert np.isnan(whole.front_.held_out_fpr).all() and not whole.counts_[1].any()
    assert whole.basis_.n_functions_ == whole.relevance_.size == whole.weights_.shape[1]
    assert not hasattr(model, "predict_proba")


@pytest.mark.slow
def test_front_is_no_worse_than_the_machine_it_starts_from():
    first = small(validation_fraction=None, n_evaluations=100).fit(X, Y).front_
    later = small(validation_fraction=None).fit(X, Y).front_
    machine = classical(adapt="auto").fit(X, Y)
    kernels = len(machine.relevance_vectors_)
    latent = machine.decision_function(X, return_std=True)[0]
    fpr, tpr, _ = roc_curve(Y, latent, drop_intermediate=False)
    own = first[first.n_kernels == kernels]
    curve = set(zip(fpr, tpr, strict=True))
    assert len(own) > 10 and all(tuple(point)[:2] in curve for point in own)
    few = later[later.n_kernels <= kernels]
    assert hull_area(few.fpr, few.tpr) > hull_area(own.fpr, own.tpr) + 0.001


@pytest.mark.slow
def test_seeds_take_the_length_scales_of_the_machine():
    wide = X * [1.0, 1000.0]
    model = small(validation_fraction=None, n_evaluations=200).fit(wide, Y)
    machine = classical(adapt="auto").fit(wide, Y)
    assert_array_equal(model.basis_.log_scales(), machine.basis_.log_scales())
    given = small(basis=RBF(0.4), validation_fraction=None, n_evaluations=200).fit(X, Y)
    assert_allclose(np.exp(given.basis_.log_scales()), 0.4)


@pytest.mark.sampled
@pytest.mark.parametrize("penalty", ["l0+", "l1", "smoothness"])
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        ({"penalty": "l2"}, r"penalty must be one of \['l0\+', 'l1', 'smoothness'\], got 'l2'"),
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_without_extras_only_fit_fails_and_names_the_one_it_needs():
    code = BLOCK.format(blocked={"pymoo", "autograd", "matplotlib", "skops"}) + (
        "from sparsebayes import ParetoClassifier\n"
        "model = ParetoClassifier()\n"
        "try:\n    model.fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error:\n    print(error)\n"
    )
    assert 'pip install "sparsebayes[pareto]"' in run(code)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"seeds": None},
        *(
            pytest.param(options, marks=pytest.mark.slow)
            for options in (
                {},
                {"basis": "linear", "validation_fraction": None},
                {"bias": False, "penalty": "l1", "seeds": None},
                {"penalty": "smoothness", "seeds": None},
            )
        ),
    ],
    ids=str,
)
def test_scikit_learn_checks(options):
    assert_clean(ParetoClassifier(n_evaluations=200, population=20, random_state=0, **options))
