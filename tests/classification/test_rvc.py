"""RVC: its attributes, what they mean, and scikit-learn around it."""

import pickle
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.tools.random_problems import random_problem
from sparsebayes import EM, RVC, Gamma, Sequential, Subspace
from sparsebayes.basis import RBF, Linear
from sparsebayes.engine import Policy, Stop
from tests.classical import classical
from tests.conftest import GRID, SOLVERS, X3, Y3, X, Y, by_output

# Attributes


def assert_attributes(model, inputs, shape):
    size = len(model.relevance_)
    assert model.basis_.n_functions_ == size
    assert np.all(np.diff(model.relevance_) > 0)
    expected = (size,) if shape == 2 else (shape, size)
    assert model.weights_.shape == model.alpha_.shape == model.determined_.shape == expected
    kept = np.isfinite(model.alpha_)
    assert np.all(model.alpha_ > 0)
    assert np.all(model.weights_[~kept] == 0) and np.all(model.determined_[~kept] == 0)
    assert np.atleast_2d(kept).any(axis=0).all()  # each function is kept by some class
    n_weights = int(kept.sum())
    assert model.sigma_.shape == (n_weights, n_weights)
    assert_allclose(model.sigma_, model.sigma_.T, atol=1e-12 * np.abs(model.sigma_).max())
    determined = 1.0 - model.alpha_[kept] * model.sigma_.diagonal()
    assert_allclose(model.determined_[kept], determined, atol=1e-9)
    assert np.all(determined > -1e-9) and np.all(determined < 1.0)
    centred = model.relevance_[model.relevance_ > 0] - 1  # the bias is number 0
    assert_array_equal(model.relevance_vectors_, inputs[centred])
    assert isinstance(model.log_evidence_, float) and model.log_evidence_ < 0
    assert model.converged_ is True and model.stop_reason_ == Stop.CONVERGED.value
    assert np.all(np.diff(model.evidence_path_) >= 0)
    assert_allclose(model.evidence_path_[-1], model.log_evidence_)  # a flat prior
    assert 1 <= len(model.evidence_path_) <= model.n_iter_
    assert model.n_features_in_ == 2


def test_attributes_of_two_classes(binary):
    assert_array_equal(binary.classes_, [0, 1])
    assert_attributes(binary, X, 2)
    assert 2 <= len(binary.relevance_) <= 15
    assert not hasattr(binary, "estimators_")
    assert binary.score(X, Y) > 0.9


def test_attributes_of_several_classes(several):
    assert_array_equal(several.classes_, [0, 1, 2])
    assert_attributes(several, X3, 3)
    assert several.score(X3, Y3) > 0.75


@pytest.mark.slow
def test_shared_precisions():
    model = classical(share_alpha=True).fit(X3, Y3)
    assert np.isfinite(model.alpha_).all()
    assert_array_equal(model.alpha_, np.broadcast_to(model.alpha_[0], model.alpha_.shape))
    two = classical(share_alpha=True).fit(X, Y)  # nothing to share
    assert_array_equal(two.weights_, classical().fit(X, Y).weights_)


@pytest.mark.slow
def test_one_model_for_each_class():
    model = classical(multi_class="ovr").fit(X3, Y3)
    assert len(model.estimators_) == 3
    evidence = 0.0
    for k, one in enumerate(model.estimators_):
        alone = classical().fit(X3, np.equal(Y3, k))
        assert_allclose(one.weights_, alone.weights_, rtol=1e-6)
        assert_array_equal(one.relevance_, alone.relevance_)
        evidence += alone.log_evidence_
        inside = np.isfinite(model.alpha_[k])
        assert_array_equal(model.relevance_[inside], one.relevance_)
        assert_array_equal(model.weights_[k, inside], one.weights_)
    assert_allclose(model.log_evidence_, evidence)
    votes = np.column_stack([m.predict_proba(GRID)[:, 1] for m in model.estimators_])
    assert_allclose(model.predict_proba(GRID), votes / votes.sum(axis=1, keepdims=True))


class Watched(Sequential):
    """A solver that notes the threads it runs in; its lock cannot go to another process."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "lock", threading.Lock())
        object.__setattr__(self, "threads", set())

    def climb(self, problem, tol, rng):
        with self.lock:
            self.threads.add(threading.get_ident())
        return super().climb(problem, tol, rng)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"link": "probit"}], ids=str)
def test_one_model_for_each_class_in_threads(options):
    alone = classical(multi_class="ovr", **options).fit(X3, Y3)
    watched = Watched()
    parallel = classical(multi_class="ovr", n_jobs=2, solver=watched, **options).fit(X3, Y3)
    assert threading.get_ident() not in watched.threads and watched.threads
    for name in ("relevance_", "weights_", "alpha_", "sigma_", "evidence_path_"):
        assert_array_equal(getattr(parallel, name), getattr(alone, name))


@pytest.mark.sampled
def test_a_refit_forgets(several):
    model = clone(several).fit(X3, Y3).fit(X, Y)
    again = clone(several).fit(X, Y)
    assert set(vars(model)) == set(vars(again))
    assert not hasattr(model, "estimators_") and model.weights_.ndim == 1
    assert_array_equal(model.predict_proba(GRID), again.predict_proba(GRID))


# What the attributes mean


def log_likelihood(link, f, labels):
    """Of labels 0 … K − 1 given f (K, N), or (1, N) for two classes."""
    if len(f) > 1:
        return f[labels, np.arange(f.shape[1])] - logsumexp(f, axis=0)
    margin = np.where(labels == 1, 1.0, -1.0) * f[0]
    return -np.log1p(np.exp(-margin)) if link == "logit" else norm.logcdf(margin)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "labels", "options"),
    [
        (X, Y, {}),
        (X, Y, {"link": "probit"}),
        (X3, Y3, {}),
        (X3, Y3, {"share_alpha": True}),
        (X, Y, {"prior": "bic"}),
        (X, Y, {"solver": "mackay"}),
    ],
    ids=["logit", "probit", "multinomial", "shared", "bic", "mackay"],
)
def test_everything_published_follows_from_the_precisions(inputs, labels, options):
    """weights_ is the mode, sigma_ the inverse Hessian there, log_evidence_ Laplace's."""
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(labels))
    model = classical(**options).fit(inputs, labels, weights)
    kept = np.isfinite(model.alpha_)
    alpha, coef = model.alpha_[kept], model.weights_[kept]
    full = by_output(model, inputs)

    def posterior(w):
        value = weights @ log_likelihood(model.link, full @ w, labels)
        return value - 0.5 * alpha @ w**2

    scale = np.sqrt(model.sigma_.diagonal())
    step = 1e-3 * scale
    units = np.diag(step)
    gradient = [(posterior(coef + u) - posterior(coef - u)) / 2e-3 for u in units]
    assert_allclose(gradient, 0.0, atol=1e-4)  # in units of the posterior's deviation
    hessian = np.array(
        [
            [
                posterior(coef + u + v)
                - posterior(coef + u - v)
                - posterior(coef - u + v)
                + posterior(coef - u - v)
                for u in units
            ]
            for v in units
        ]
    ) / (-4 * np.outer(step, step))
    identity = (model.sigma_ @ hessian) * np.outer(1 / scale, scale)
    assert_allclose(identity, np.eye(len(coef)), atol=1e-3)
    evidence = posterior(coef) + 0.5 * np.log(alpha).sum() - 0.5 * np.linalg.slogdet(hessian)[1]
    assert_allclose(model.log_evidence_, evidence, atol=1e-2)


def test_precisions_are_mackay_s_fixed_point():
    # α w² = γ, or the evidence would fall on the way there.
    model = classical(solver="mackay", tol=1e-6).fit(X, Y)
    assert_allclose(model.alpha_ * model.weights_**2, model.determined_, rtol=0.2)


def test_the_latent_function(binary):
    mean, std = binary.decision_function(GRID, return_std=True)
    columns = binary.basis_.columns(GRID)
    assert_allclose(mean, columns @ binary.weights_, rtol=1e-10, atol=1e-12)
    variance = np.einsum("ns,st,nt->n", columns, binary.sigma_, columns)
    assert_allclose(std**2, variance, rtol=1e-8)


def test_the_latent_functions_of_several(several):
    mean, std = several.decision_function(GRID, return_std=True)
    assert mean.shape == std.shape == (len(GRID), 3)
    full = by_output(several, GRID)
    kept = np.isfinite(several.alpha_)
    assert_allclose(mean.T, full @ several.weights_[kept], rtol=1e-10, atol=1e-12)
    variance = np.einsum("kns,st,knt->nk", full, several.sigma_, full)
    assert_allclose(std**2, variance, rtol=1e-8, atol=1e-12)


def test_decisions_are_log_odds(binary):
    decision, probability = binary.decision_function(GRID), binary.predict_proba(GRID)
    assert decision.shape == (len(GRID),)
    odds = np.log(probability[:, 1]) - np.log(probability[:, 0])
    assert_allclose(decision, odds, rtol=1e-10, atol=1e-12)
    mean, std = binary.decision_function(GRID, return_std=True)
    assert_array_equal(np.sign(decision), np.sign(mean))
    if binary.link == "logit":  # uncertainty takes from the odds
        assert np.all(np.abs(decision) <= np.abs(mean) * (1 + 1e-9))
        assert np.all(np.abs(decision)[std > 1] < np.abs(mean)[std > 1])


def test_decisions_of_several_are_log_probabilities(several):
    decision, probability = several.decision_function(GRID), several.predict_proba(GRID)
    assert decision.shape == (len(GRID), 3)
    assert_allclose(decision, np.log(probability), rtol=1e-10, atol=1e-12)
    assert_array_equal(several.predict(GRID), several.classes_[decision.argmax(axis=1)])


def test_decisions_rank_as_probabilities_do(fitted):
    inputs = np.vstack([GRID, X, X3])
    decision, probability = fitted.decision_function(inputs), fitted.predict_proba(inputs)
    if decision.ndim == 1:
        decision, probability = decision[:, None], probability[:, 1:]
    for d, p in zip(decision.T, probability.T, strict=True):
        assert np.all(np.diff(p[np.argsort(d)]) >= 0)


@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
def test_decisions_are_finite_where_probabilities_are_zero(inputs, labels):
    model = classical("linear").fit(inputs, labels)
    model.weights_ = 1e6 * model.weights_
    model.sigma_ = np.zeros_like(model.sigma_)
    assert model.predict_proba(inputs).min() == 0.0
    assert np.isfinite(model.decision_function(inputs)).all()


@pytest.mark.slow
def test_iris():
    inputs, labels = load_iris(return_X_y=True)
    names = load_iris().target_names[labels]
    for options in ({}, {"multi_class": "ovr"}, {"link": "probit"}, {"share_alpha": True}):
        model = classical(**options).fit(inputs, names)
        assert model.score(inputs, names) > 0.94
        probability = model.predict_proba(inputs)
        loss = -np.log(probability[np.arange(150), labels]).mean()
        assert loss < 0.2


# scikit-learn around it


@pytest.mark.slow
def test_pipelines_and_searches():
    pipe = make_pipeline(StandardScaler(), classical(RBF(1.0)))
    assert cross_val_score(pipe, X, Y, cv=3).mean() > 0.8
    search = GridSearchCV(
        classical(RBF()), {"basis__length_scale": [0.05, 0.7]}, cv=3, scoring="neg_log_loss"
    ).fit(X, Y)
    assert search.best_params_ == {"basis__length_scale": 0.7}
    assert search.best_estimator_.length_scale_.tolist() == [0.7, 0.7]
    assert pipe.fit(X, Y).predict_proba(GRID).shape == (len(GRID), 2)


@pytest.mark.slow
def test_a_fold_without_a_class():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(classical(), X3[np.argsort(Y3)], np.sort(Y3), cv=KFold(3))
    assert_array_equal(scores, 0.0)  # each fold asks for the class it has not seen
    few = np.flatnonzero((Y3 < 2) | (np.arange(len(Y3)) == 2))
    scores = cross_val_score(classical(), X3[few], Y3[few], cv=KFold(4))
    assert np.all(scores > 0.5)


@pytest.mark.sampled
def test_parameters_and_copies(fitted):
    copy = clone(fitted)
    assert not hasattr(copy, "weights_") and copy.get_params() == fitted.get_params()
    inputs, labels = (X, Y) if fitted.classes_.size == 2 else (X3, Y3)
    again = copy.fit(inputs, labels)
    assert again is copy
    for name in ("weights_", "sigma_", "alpha_", "relevance_", "evidence_path_"):
        assert_array_equal(getattr(again, name), getattr(fitted, name))
    assert_array_equal(again.fit(inputs, labels).weights_, fitted.weights_)
    assert copy.set_params(prior="bic", basis=RBF(2.0)) is copy
    assert copy.set_params(basis__length_scale=3.0).basis.length_scale == 3.0
    assert "RVC(prior='bic')" in repr(RVC(prior="bic"))


def test_pickles(fitted):
    back = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(back.predict_proba(GRID), fitted.predict_proba(GRID))
    assert_array_equal(back.predict(GRID), fitted.predict(GRID))


def test_fit_changes_nothing_but_the_model():
    inputs, labels, weights = X.copy(), Y.copy(), np.linspace(0.5, 1.5, len(Y))
    basis, by_class = RBF() + Linear(), {0: 1.0, 1: 2.0}
    model = classical(basis, class_weight=by_class)
    before = repr(model.get_params())
    model.fit(inputs, labels, weights)
    assert_array_equal(inputs, X)
    assert_array_equal(labels, Y)
    assert_array_equal(weights, np.linspace(0.5, 1.5, len(Y)))
    assert repr(model.get_params()) == before and by_class == {0: 1.0, 1: 2.0}
    assert not hasattr(basis, "n_functions_")
    expected = model.predict_proba(GRID)
    inputs += 1.0  # the model has its own copy
    assert_array_equal(model.predict_proba(GRID), expected)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_bits(solver):
    for inputs, labels in ((X, Y), (X3, Y3)):
        first, again = (
            classical(solver=solver, random_state=3).fit(inputs, labels) for _ in range(2)
        )
        assert_array_equal(first.weights_, again.weights_)
        assert_array_equal(first.predict_proba(GRID), again.predict_proba(GRID))


@pytest.mark.slow
def test_feature_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = classical().fit(frame, pandas.Series(Y, name="label").astype("category"))
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_allclose(model.predict_proba(frame), classical().fit(X, Y).predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "c"}))


# Bases, solvers and priors


@pytest.mark.slow
def test_bases():
    by_name = classical("rbf").fit(X, Y)
    assert_array_equal(classical(RBF()).fit(X, Y).weights_, by_name.weights_)
    scale = by_name.length_scale_[0]

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=0.5 / scale**2)

    expected = by_name.predict_proba(GRID)
    assert_allclose(classical(kernel).fit(X, Y).predict_proba(GRID), expected, atol=1e-6)
    precomputed = classical("precomputed").fit(kernel(X, X), Y)
    assert_allclose(precomputed.predict_proba(kernel(GRID, X)), expected, atol=1e-6)
    assert precomputed.relevance_vectors_.shape == (0, len(X))
    without = classical(bias=False).fit(X, Y)
    assert_array_equal(X[without.relevance_], without.relevance_vectors_)
    for basis in (RBF(0.5) + Linear(), RBF([0.5, 1.0]), "laplacian", "linear_spline"):
        assert classical(basis).fit(X, Y).score(X, Y) > 0.75


def test_precomputed_in_a_search():
    kernel = rbf_kernel(X, X, gamma=2.0)
    model = classical("precomputed")
    assert model.__sklearn_tags__().input_tags.pairwise
    assert cross_val_score(model, kernel, Y, cv=3).mean() > 0.8


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("sequential", Sequential()),
        ("em", EM()),
        ("mackay", EM(mackay=True)),
        ("subspace", Subspace()),
    ],
)
def test_solver_objects(name, solver):
    named = classical(solver=name, random_state=0).fit(X, Y)
    assert_array_equal(classical(solver=solver, random_state=0).fit(X, Y).weights_, named.weights_)
    assert named.converged_ and named.score(X, Y) > 0.9


@pytest.mark.sampled
@pytest.mark.parametrize("prior", ["aic", "bic", "ric", 3.0, Gamma(1e-3, 1e-3)], ids=str)
@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
def test_priors(inputs, labels, prior):
    flat, model = classical().fit(inputs, labels), classical(prior=prior).fit(inputs, labels)
    assert model.converged_ and model.score(inputs, labels) > 0.75
    assert model.evidence_path_[-1] <= flat.evidence_path_[-1] + 1.0
    assert model.determined_.sum() <= flat.determined_.sum() + 1.0


@pytest.mark.slow
def test_names_and_numbers_of_priors():
    half = 0.5 * np.log(len(Y))
    for name, c in [("aic", 1.0), ("bic", half), ("ric", 2 * half), ("flat", 0)]:
        named, number = classical(prior=name).fit(X, Y), classical(prior=c).fit(X, Y)
        assert_allclose(number.predict_proba(X), named.predict_proba(X), atol=1e-4)


def test_smaller_tol_finds_no_less():
    once = Sequential(Policy(second_rows=0))  # another look may end elsewhere
    loose, tight = (classical(solver=once, tol=tol).fit(X, Y).log_evidence_ for tol in (1.0, 1e-4))
    assert tight >= loose - 1e-6


def test_a_second_look_at_the_end_of_a_search():
    problem = random_problem(157)  # 16 rows, two classes
    once, again, demanding, few, no_routes = (
        classical(RBF(problem.length_scale), solver=Sequential(policy)).fit(problem.X, problem.y)
        for policy in (
            Policy(second_rows=0),
            Policy(),
            Policy(second_gain=1e3),
            Policy(second_rows=15),
            Policy(routes=()),
        )
    )
    assert again.evidence_path_[-1] > once.evidence_path_[-1] + 1.0
    assert np.all(np.diff(again.evidence_path_) >= 0) and again.converged_
    for model in (demanding, few):
        assert_array_equal(model.weights_, once.weights_)
    assert no_routes.evidence_path_[-1] >= once.evidence_path_[-1]


def test_a_second_look_is_no_more_certain_of_labels():
    problem = random_problem(211)  # 46 rows, two classes
    once, again, certain = (
        classical(RBF(problem.length_scale), solver=Sequential(policy)).fit(problem.X, problem.y)
        for policy in (Policy(second_rows=0), Policy(), Policy(certain=1e9))
    )
    before, after = (
        np.abs(model.decision_function(problem.X, return_std=True)[0]).max()
        for model in (once, certain)
    )
    assert certain.evidence_path_[-1] > once.evidence_path_[-1] + 1.0
    assert after > max(Policy().certain, before)
    assert_array_equal(again.weights_, once.weights_)
