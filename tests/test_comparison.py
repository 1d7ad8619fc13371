"""`compare`: scores against their definitions, order, what models do not have, errors."""

import builtins
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sparsebayes import RVC, RVR, ReducedRankGPR, StudentT, compare, sample_posterior
from sparsebayes.scores import crps


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, (140, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(140)
    return X[:80], y[:80], X[80:], y[80:]


@pytest.fixture(scope="module")
def line(data):
    return BayesianRidge().fit(*data[:2])


@pytest.fixture(scope="module")
def curve(data):
    return RVR(adapt=None, calibrate=None).fit(*data[:2])


def test_scores_are_what_they_are_called(data, line, curve):
    _, _, X, y = data
    found = compare({"line": line, "curve": curve}, X, y, coverage=0.8)
    assert [row["model"] for row in found] == ["curve", "line"]
    assert (found.kind, found.n_rows, found.coverage, len(found)) == ("regression", 60, 0.8, 2)
    each = {}
    for name, model in {"line": line, "curve": curve}.items():
        mean, std = model.predict(X, return_std=True)
        row = next(row for row in found if row["model"] == name)
        each[name] = -norm.logpdf(y, mean, std)
        assert_allclose(row["nlpd"], each[name].mean())
        assert_allclose(row["rmse"], np.sqrt(np.mean((y - mean) ** 2)))
        assert_allclose(row["crps"], crps(y, mean, std))
        assert_allclose(row["coverage"], np.mean(np.abs(y - mean) <= norm.ppf(0.9) * std))
    best, worst = found.rows
    gap = each["line"] - each["curve"]
    assert (best["difference"], best["standard_error"]) == (0.0, 0.0)
    assert_allclose(worst["difference"], gap.mean())
    assert_allclose(worst["standard_error"], gap.std(ddof=1) / np.sqrt(60))
    assert (best["size"], worst["size"]) == (len(curve.relevance_), 1)
    assert best["log_evidence"] == curve.log_evidence_
    assert "log_evidence" not in worst


@pytest.mark.slow
def test_the_model_may_be_of_any_kind(data, curve):
    a, b, X, y = data
    steps = make_pipeline(StandardScaler(), RVR(adapt=None, calibrate=None))
    search = GridSearchCV(steps, {"rvr__prior": ["bic"]}).fit(a, b)
    models = [
        search.best_estimator_,
        search,
        make_pipeline(StandardScaler(), clone(search)).fit(a, b),
        make_pipeline(curve),
        GaussianProcessRegressor(RBF() + WhiteKernel()).fit(a, b),
        GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True).fit(a, b),
        ReducedRankGPR(n_support=9, calibrate=None, random_state=0).fit(a, b),
        RandomForestRegressor(5, random_state=0).fit(a, b),
    ]
    rows = {row["model"]: row for row in compare(models, X, y)}
    first, second, third, fourth = (rows[f"RVR {k}"] for k in (1, 2, 3, 4))
    same = ("nlpd", "rmse", "coverage", "size", "log_evidence")
    assert [first[key] for key in same] == [second[key] for key in same]
    assert_allclose(third["rmse"], first["rmse"])  # standardised twice
    assert fourth["log_evidence"] == curve.log_evidence_
    assert rows["ReducedRankGPR"]["size"] == 9
    assert rows["GaussianProcessRegressor 1"]["size"] == 80
    assert "log_evidence" in rows["GaussianProcessRegressor 1"]
    assert "log_evidence" not in rows["GaussianProcessRegressor 2"]  # of standardised targets
    assert set(rows["RandomForestRegressor"]) == {"model", "rmse"}
    assert list(rows)[-1] == "RandomForestRegressor"  # it gives no density


@pytest.mark.slow
def test_intervals_and_densities_are_the_models_own(data):
    a, b, X, y = data
    student = RVR(adapt=None, calibrate=None, noise=StudentT(2.0)).fit(a, b)
    samples = sample_posterior(
        RVR("linear"), a, b, n_samples=20, n_chains=1, n_warmup=20, random_state=0
    )
    rows = {row["model"]: row for row in compare({"t": student, "draws": samples}, X, y)}
    lower, upper = student.predict_interval(X, 0.95)
    assert rows["t"]["coverage"] == np.mean((lower <= y) & (y <= upper))
    assert_allclose(rows["draws"]["nlpd"], -samples.log_density(X, y).mean())
    assert_allclose(rows["draws"]["size"], samples.inclusion.sum())


def test_several_targets(data):
    a, b, X, y = data
    both, new = np.stack([b, 10 * b], axis=1), np.stack([y, 10 * y], axis=1)
    model = RVR(adapt=None, calibrate=None).fit(a, both)
    (row,) = compare([model], X, new)
    mean, std = model.predict(X, return_std=True)
    assert_allclose(row["nlpd"], -norm.logpdf(new, mean, std).mean())
    assert_allclose(row["rmse"], np.sqrt(((new - mean) ** 2).mean(axis=0)).mean())
    with pytest.raises(ValueError, match=r"y must have shape \(60, 2\) .*'RVR', got \(60,\)"):
        compare([model], X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(n_classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 2))
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.4, 0.4] if n_classes > 2 else [0])]
    a, b, X, y = X[:60], y[:60], X[60:], y[60:]
    models = {
        "margin": LinearSVC().fit(a, b),
        "vector": RVC(link="logit", adapt=None, calibrate=None).fit(a, b),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()).fit(a, b),
    }
    found = compare(models, X, y)
    assert found.kind == "classification"
    assert found.rows[-1]["model"] == "margin"
    assert set(found.rows[-1]) == {"model", "error", "size"}
    losses = {}
    for name in ("vector", "logistic"):
        row = next(row for row in found if row["model"] == name)
        proba = models[name].predict_proba(X)
        hot = y[:, None] == models[name].classes_
        losses[name] = -np.log(proba[hot])
        half = 2 if n_classes == 2 else 1
        assert_allclose(row["log_loss"], losses[name].mean())
        assert_allclose(row["brier"], ((proba - hot) ** 2).sum(axis=1).mean() / half)
        assert_allclose(row["error"], np.mean(models[name].predict(X) != y))
    first, second = found.rows[0]["model"], found.rows[1]["model"]
    gap = losses[second] - losses[first]
    assert gap.mean() > 0
    assert_allclose(found.rows[1]["difference"], gap.mean())
    assert_allclose(found.rows[1]["standard_error"], gap.std(ddof=1) / np.sqrt(60))
    with pytest.raises(ValueError, match="y has the label 'huge', which 'margin' was not fitted"):
        compare(models, X, np.where(y == "low", "huge", y))


def test_print_html_and_json(data, line, curve):
    _, _, X, y = data
    found = compare({"<b>": line, "curve": curve, "again": curve}, X, y)
    lines = str(found).splitlines()
    assert lines[0] == "regression on 60 held-out rows, the best model first"
    assert lines[2].split() == (
        "model NLPD to best ± CRPS RMSE in 95 % log evidence size".split()  # noqa: SIM905
    )
    assert [text.split()[0] for text in lines[4:7]] == ["curve", "again", "<b>"]
    assert lines[7].startswith("note: log evidences")
    html = found._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert f"{found.rows[0]['nlpd']:.4f}" in html
    again = json.loads(json.dumps(found.to_dict()))
    assert again["models"][2]["log_evidence"] is None
    assert again["models"][0]["nlpd"] == found.rows[0]["nlpd"]
    assert again["notes"] == found.notes
    assert repr(found) == "<Comparison: regression, curve, again, <b>>"


def test_without_scoringrules_a_note_says_so(data, line, curve, monkeypatch):
    _, _, X, y = data
    load = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("scoringrules"):
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr("sparsebayes._support.optional.import_module", refuse)
    found = compare([line, curve], X, y)
    assert not any("crps" in row for row in found)
    assert found.notes == ['crps needs scoringrules: pip install "sparsebayes[scores]"']


def test_errors(data, line):
    a, b, X, y = data
    labels = RVC(link="logit", adapt=None, calibrate=None).fit(a, b > 0)
    with pytest.raises(ValueError, match="mixes regressors and classifiers: 'line' does regr"):
        compare({"line": line, "labels": labels}, X, y)
    with pytest.raises(NotFittedError):
        compare([RVR()], X, y)
    with pytest.raises(TypeError, match="KMeans; compare takes fitted regressors and classifiers"):
        compare({"k": KMeans(2, n_init=1).fit(a)}, X, y)
    with pytest.raises(TypeError, match="got BayesianRidge; put a single model into a list"):
        compare(line, X, y)
    with pytest.raises(ValueError, match="models is empty"):
        compare([], X, y)
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 95"):
        compare([line], X, y, coverage=95)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare([line], X, y[1:])
