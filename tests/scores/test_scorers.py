"""Scorers for scikit-learn's searches and cross-validation."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVC, RVR, ReducedRankGPR, scores
from sparsebayes.basis import RBF
from tests.sweeps import thinned

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (60, 1))
Y = np.sin(X[:, 0]) + 0.3 * RNG.standard_normal(60)
TARGETS = np.column_stack([Y, np.cos(X[:, 0]) + 0.1 * RNG.standard_normal(60)])
WEIGHTS = RNG.uniform(0.1, 2.0, 60)
FOLDS = KFold(3, shuffle=True, random_state=0)

SCORERS = {
    "nlpd": scores.nlpd_scorer,
    "crps": scores.crps_scorer,
    "interval": scores.interval_scorer(0.8),
    "coverage": scores.coverage_scorer(0.8),
}
BY_HAND = {
    "nlpd": lambda *a, **k: -scores.negative_log_predictive_density(*a, **k),
    "crps": lambda *a, **k: -scores.crps(*a, **k),
    "interval": lambda *a, **k: -scores.interval_score(*a, coverage=0.8, **k),
    "coverage": lambda *a, **k: -abs(scores.interval_coverage(*a, coverage=0.8, **k) - 0.8),
}
MODELS = {
    "RVR": RVR(RBF(1.0), calibrate=None, adapt=None),
    "ReducedRankGPR": ReducedRankGPR(calibrate=None),
    "GaussianProcessRegressor": GaussianProcessRegressor(RBFKernel() + WhiteKernel(0.1)),
    "BayesianRidge": BayesianRidge(),
}
MACHINE = MODELS["RVR"]


def routed():
    return sklearn.config_context(enable_metadata_routing=True)


def by_hand(name, model, weights_of_fit=None, weights=None):
    """The score of each fold."""
    found = []
    for train, test in FOLDS.split(X):
        more = {} if weights_of_fit is None else {"sample_weight": weights_of_fit[train]}
        mean, std = clone(model).fit(X[train], Y[train], **more).predict(X[test], return_std=True)
        more = {} if weights is None else {"sample_weight": weights[test]}
        found.append(BY_HAND[name](Y[test], mean, std, **more))
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("kind", MODELS)
def test_scores_are_those_of_the_functions(kind, name):
    for model in (clone(MODELS[kind]), make_pipeline(StandardScaler(), clone(MODELS[kind]))):
        model.fit(X, Y)
        mean, std = model.predict(X, return_std=True)
        for more in ({}, {"sample_weight": WEIGHTS}):
            score = SCORERS[name](model, X, Y, **more)
            assert isinstance(score, float)
            assert score == BY_HAND[name](Y, mean, std, **more)


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("kind", ["RVR", "GaussianProcessRegressor"])
def test_several_targets_are_averaged(kind, name):
    model = clone(MODELS[kind]).fit(X, TARGETS)
    new, y = X[:37], TARGETS[:37]
    mean, std = model.predict(new, return_std=True)
    each = [BY_HAND[name](y[:, k], mean[:, k], std[:, k]) for k in (0, 1)]
    assert each[0] != each[1]
    assert_allclose(SCORERS[name](model, new, y), np.mean(each))


@pytest.mark.slow
def test_cross_validation_takes_all_of_them():
    found = cross_validate(MACHINE, X, Y, cv=FOLDS, scoring=SCORERS)
    for name, scorer in SCORERS.items():
        assert_allclose(found[f"test_{name}"], by_hand(name, MACHINE))
        alone = cross_val_score(MACHINE, X, Y, cv=FOLDS, scoring=scorer)
        assert_allclose(alone, found[f"test_{name}"])


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["nlpd", "crps", "interval"])
def test_a_search_finds_the_noise(name):
    machine = clone(MACHINE)
    grid = {"rvr__noise": [0.001, 0.09, 9.0]}
    pipe = make_pipeline(StandardScaler(with_std=False), machine)
    search = GridSearchCV(pipe, grid, scoring=SCORERS[name], cv=FOLDS).fit(X, Y)
    assert search.best_params_ == {"rvr__noise": 0.09}
    assert search.score(X, Y) == SCORERS[name](search.best_estimator_, X, Y)


@pytest.mark.slow
def test_a_search_is_scored_by_its_best_model():
    search = GridSearchCV(MACHINE, {"noise": [0.001, 0.09]}, scoring=scores.nlpd_scorer, cv=FOLDS)
    outer = cross_val_score(search, X, Y, cv=FOLDS, scoring=scores.crps_scorer, error_score="raise")
    assert_allclose(outer, by_hand("crps", clone(MACHINE).set_params(noise=0.09)))


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(SCORERS))
def test_weights_are_routed(name):
    weighed, plain = by_hand(name, MACHINE, WEIGHTS, WEIGHTS), by_hand(name, MACHINE, WEIGHTS)
    assert weighed != plain
    with routed():
        machine = clone(MACHINE).set_fit_request(sample_weight=True)
        for asked, expected in ((True, weighed), (False, plain)):
            scorer = SCORERS[name].set_score_request(sample_weight=asked)
            for scoring, key in ((scorer, "test_score"), ({"one": scorer}, "test_one")):
                found = cross_validate(
                    machine,
                    X,
                    Y,
                    cv=FOLDS,
                    scoring=scoring,
                    params={"sample_weight": WEIGHTS},
                    error_score="raise",
                )
                assert_allclose(found[key], expected)


@pytest.mark.slow
def test_weights_have_a_name_of_their_own():
    with routed():
        scorer = scores.nlpd_scorer.set_score_request(sample_weight="importance")
        found = cross_val_score(
            MACHINE, X, Y, cv=FOLDS, scoring=scorer, params={"importance": WEIGHTS}
        )
    assert_allclose(found, by_hand("nlpd", MACHINE, None, WEIGHTS))


def test_weights_that_nobody_asked_for_are_an_error():
    assert scores.nlpd_scorer.request is None  # the tests before have changed copies
    with routed():
        machine = clone(MACHINE).set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match=r"sample_weight"):
            cross_val_score(
                machine, X, Y, scoring=scores.nlpd_scorer, params={"sample_weight": WEIGHTS}
            )


def test_a_search_in_a_pipeline_with_routing():
    with routed():
        scorer = scores.nlpd_scorer.set_score_request(sample_weight=True)
        machine = clone(MACHINE).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler(with_std=False), machine)
        pipe[0].set_fit_request(sample_weight=False)
        search = GridSearchCV(pipe, {"rvr__noise": [0.09]}, scoring=scorer, cv=FOLDS)
        search.fit(X, Y, sample_weight=WEIGHTS)
    expected = by_hand("nlpd", clone(MACHINE).set_params(noise=0.09), WEIGHTS, WEIGHTS)
    assert_allclose(search.best_score_, np.mean(expected))


@pytest.mark.parametrize("several", [False, True])
def test_a_search_passes_weights_on_without_routing(several):
    scoring = {"one": scores.nlpd_scorer} if several else scores.nlpd_scorer
    refit = "one" if several else True
    search = GridSearchCV(MACHINE, {"noise": [0.09]}, scoring=scoring, cv=FOLDS, refit=refit)
    search.fit(X, Y, sample_weight=WEIGHTS)
    expected = by_hand("nlpd", clone(MACHINE).set_params(noise=0.09), WEIGHTS, WEIGHTS)
    assert_allclose(search.best_score_, np.mean(expected))


@pytest.mark.parametrize("name", SCORERS)
def test_copies_are_the_same(name):
    scorer = SCORERS[name]
    for other in (copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):
        assert other == scorer and repr(other) == repr(scorer) and hash(other) == hash(scorer)
    search = clone(GridSearchCV(MACHINE, {}, scoring=scorer))
    assert search.scoring == scorer
    assert repr(scorer) in repr(search)
    assert eval(repr(scorer), vars(scores)) == scorer


def test_models_without_error_bars_are_refused():
    labels = (Y > 0).astype(int)
    for model in (RVC(link="logit", calibrate=None, adapt=None), LogisticRegression()):
        model.fit(X, labels)
        told = rf"nlpd_scorer scores .* {type(model).__name__} is a classifier; .*neg_log_loss"
        for one in (model, make_pipeline(StandardScaler(), model).fit(X, labels)):
            with pytest.raises(TypeError, match=told.replace(type(model).__name__, r"\w+")):
                scores.nlpd_scorer(one, X, labels)
        with pytest.raises(TypeError, match=told):
            scores.nlpd_scorer(model, X, labels)
    told = r"interval_scorer\(coverage=0.8\) needs .* LinearRegression said: .*return_std"
    with pytest.raises(TypeError, match=told):
        SCORERS["interval"](LinearRegression().fit(X, Y), X, Y)
    transformed = TransformedTargetRegressor(BayesianRidge()).fit(X, Y)
    with pytest.raises(TypeError, match=r"needs a regressor.*TransformedTargetRegressor said"):
        scores.nlpd_scorer(transformed, X, Y)

    class Silent(LinearRegression):
        def predict(self, X, return_std=False):
            return super().predict(X)

    with pytest.raises(TypeError, match="that of Silent gave ndarray"):
        scores.nlpd_scorer(Silent().fit(X, Y), X, Y)


def test_what_is_wrong_is_told():
    model = clone(MACHINE).fit(X, Y)
    with pytest.raises(ValueError, match=r"y must have shape \(60,\) like .*, got \(60, 2\)"):
        scores.nlpd_scorer(model, X, TARGETS)
    with pytest.raises(ValueError, match="sample_weight"):
        scores.nlpd_scorer(model, X, Y, sample_weight=WEIGHTS[1:])
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        scores.nlpd_scorer.set_score_request(sample_weight=True)
    for make in (scores.interval_scorer, scores.coverage_scorer):
        with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 95"):
            make(95)
