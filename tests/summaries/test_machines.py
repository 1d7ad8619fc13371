"""Summaries of relevance vector machines: every number is the model's own."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVC, RVR, StudentT
from sparsebayes.basis import RBF, Linear
from sparsebayes.datasets import make_sinc
from sparsebayes.persistence import final_estimator
from sparsebayes.summaries import Summary


def lines(summary):
    """Labels and texts of the head; a label of a line that goes on is that of the line above."""
    head = str(summary).split("\n\n")[1]
    found, label = {}, ""
    width = max(len(name) for name, _ in summary.rows())
    for line in head.splitlines():
        label = line[:width].strip() or label
        found.setdefault(label, []).append(line[width + 2 :])
    return found


def plain(summary):
    """The dict, after a way through JSON without NaN or infinity."""
    return json.loads(json.dumps(summary.to_dict(), allow_nan=False))


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(60, noise=0.1, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).standard_normal((70, 3))


def test_a_regression(sinc):
    model = RVR(adapt=None).fit(*sinc)
    summary = model.summary(feature_names=["distance"], target_names="height")
    assert isinstance(summary, Summary)
    head, found = lines(summary), plain(summary)
    assert str(summary).startswith("RVR: relevance vector regression\n\nrows ")
    assert head["rows"] == ["60"] and found["rows"] == 60
    assert head["inputs"] == ["1 (distance)"] and found["inputs"] == ["distance"]
    assert head["target"] == ["height"] and found["targets"] == ["height"]
    assert head["basis"] == ["Bias() + RBF()", f"length scale: {model.length_scale_[0]:.3g}"]
    assert head["solver"] == ["sequential, prior flat, noise estimated"]
    assert head["noise std"] == [f"{np.sqrt(model.noise_variance_):.4g}"]
    assert head["error bars"][0].startswith(f"times {model.calibration_:.3g}")
    assert head["log evidence"] == [f"{model.log_evidence_:.4f}"]
    assert head["stopped"][0] == f"{model.stop_reason_} (iteration {model.n_iter_})"
    assert (found["solver"], found["prior"], found["converged"]) == ("sequential", "flat", True)
    assert_allclose(found["length_scales"], [model.length_scale_])
    assert_allclose(found["noise_std"], np.sqrt(model.noise_variance_))
    assert found["log_evidence"] == model.log_evidence_
    assert len(found["functions"]) == found["n_functions"] == len(model.relevance_)
    stds = np.sqrt(np.diagonal(model.sigma_))
    for k, row in enumerate(found["functions"]):
        assert row["number"] == model.relevance_[k]
        assert row["weight"] == model.weights_[k] and row["std"] == stds[k]
        assert row["gamma"] == model.determined_[k] and row["alpha"] == model.alpha_[k]
        assert_allclose(row["gamma"], 1 - row["alpha"] * row["std"] ** 2, atol=1e-9)
        printed = f"{row['weight']:.5g}", f"{row['std']:.3g}", f"{row['gamma']:.3f}"
        assert any(line.split()[-4:-1] == list(printed) for line in str(summary).splitlines())
    centres = [row["centre"] for row in found["functions"] if row["function"] != "bias"]
    assert_allclose(centres, model.relevance_vectors_)


def test_functions_have_the_names_of_their_inputs(cloud):
    table = pd.DataFrame(cloud, columns=["a", "b", "c"])
    y = cloud[:, 0] * cloud[:, 1] + cloud[:, 2] ** 2 + 0.1 * np.sin(99 * cloud[:, 0])
    model = RVR("polynomial", calibrate=None).fit(table, y)
    names = [row["function"] for row in plain(model.summary())["functions"]]
    assert {"a b", "c^2"} <= set(names)
    assert lines(model.summary())["functions"] == [f"{len(names)}"]
    linear = RVR("linear", bias=False, calibrate=None).fit(table, 3 * cloud[:, 1] + 0.1 * y)
    assert "b" in [row["function"] for row in linear.summary().to_dict()["functions"]]
    steps = make_pipeline(StandardScaler(), RVR("linear", calibrate=None)).fit(table, y)
    assert plain(final_estimator(steps).summary())["inputs"] == ["x0", "x1", "x2"]
    named = final_estimator(steps).summary(feature_names=table.columns)
    assert plain(named)["inputs"] == ["a", "b", "c"]


@pytest.mark.slow
def test_centres_belong_to_their_functions_in_any_union(cloud):
    """Also where functions with a centre come before others."""
    y = cloud[:, 0] + np.exp(-0.5 * ((cloud - cloud[3]) ** 2).sum(axis=1))
    model = RVR(RBF(1.0) + Linear(), bias=False, calibrate=None).fit(cloud, y)
    assert model.basis_.kinds()[0] == 0 and model.basis_.kinds()[-1] == -1
    for row in plain(model.summary())["functions"]:
        if row["centre"] is not None:
            assert_allclose(row["centre"], cloud[row["number"]])
            assert row["function"] == f"#{row['number']}"
        else:
            assert row["function"] == f"x{row['number'] - len(cloud)}"
    centred, loose = (model.basis_.kinds() >= 0).sum(), (model.basis_.kinds() < 0).sum()
    told = f"{centred}, and {loose} functions without a centre"
    assert lines(model.summary())["relevance vectors"] == [told]


def test_several_targets(sinc):
    X, y = sinc
    Y = np.column_stack([y, 5 - 3 * y, np.ones_like(y)])
    model = RVR(adapt=None).fit(X, Y)
    summary = model.summary(target_names=["up", "down", "flat"])
    found, stds = plain(summary), np.sqrt(np.diagonal(model.sigma_))  # (3, S)
    assert lines(summary)["targets"] == ["3 (up, down, flat)"]
    assert [text.split(":")[0] for text in lines(summary)["noise std"]] == ["up", "down", "flat"]
    for k, row in enumerate(found["functions"]):
        assert row["weight"]["down"] == model.weights_[k, 1]
        assert row["std"]["down"] == stds[1, k]
        assert row["weight"]["flat"] is None and row["alpha"]["flat"] is None
        assert row["gamma"] == model.determined_[k]
        assert f"{model.weights_[k, 1]:.5g} ± {stds[1, k]:.2g}" in str(summary)
    with pytest.raises(ValueError, match="target_names has 1 names, but the model has 3 targets"):
        model.summary(target_names="up")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"link": "logit"}, "softmax, laplace inference"),
        ({"link": "logit", "share_alpha": True}, "classes share precisions"),
        ({"link": "probit"}, "probit link, laplace inference, one model for each class"),
        ({"link": "least_squares"}, "least squares"),
    ],
)
def test_classes(cloud, options, told):
    y = np.array(["low", "mid", "top"])[np.digitize(cloud[:, 0], [-0.4, 0.4])]
    model = RVC(adapt=None, calibrate=None, **options).fit(cloud, y)
    summary = model.summary()
    assert lines(summary)["likelihood"][0].endswith(told)
    assert lines(summary)["classes"] == ["3 (low, mid, top)"]
    kept = np.isfinite(model.alpha_)
    variances = np.diagonal(model.sigma_)
    if model.link_ == "least_squares":
        variances = np.tile(variances, 3)
    expected = np.full(kept.shape, np.nan)
    expected[kept] = np.sqrt(variances)
    found = plain(summary)["functions"]
    for j, label in enumerate(model.classes_):
        for k, row in enumerate(found):
            if kept[j, k]:
                assert row["weight"][label] == model.weights_[j, k]
                assert_allclose(row["std"][label], expected[j, k])
                assert row["gamma"][label] == model.determined_[j, k]
            else:
                assert row["weight"][label] is row["std"][label] is None


@pytest.mark.slow
def test_standard_deviations_where_each_function_serves_one_class(cloud):
    """Then there are as many kept weights as functions, in another order."""
    y = np.digitize(cloud[:, 0], [-0.4, 0.4])
    model = RVC(adapt=None, calibrate=None, link="logit").fit(cloud, y)
    model.alpha_ = np.where(np.eye(3, dtype=bool)[::-1], 1.0, np.inf)  # as such a fit would have
    model.weights_, model.determined_ = np.eye(3)[::-1], 0.5 * np.eye(3)[::-1]
    model.sigma_, model.relevance_ = np.diag([1.0, 4.0, 9.0]), model.relevance_[:3]
    model.basis_ = model.basis_.select(np.arange(3))
    model.relevance_vectors_ = model.relevance_vectors_[-(model.basis_.kinds() >= 0).sum() :]
    rows = plain(model.summary())["functions"]
    assert [rows[k]["std"][str(2 - k)] for k in range(3)] == [3.0, 2.0, 1.0]


@pytest.mark.slow
def test_two_classes_and_calibration(cloud):
    model = RVC(link="logit", adapt=None).fit(cloud, cloud[:, 0] > 0)
    found = plain(model.summary(target_names="sign"))
    assert found["classes"] == [False, True] and found["targets"] == ["sign"]
    assert found["calibration"] == model._temperature.slope
    assert found["functions"][0]["weight"] == model.weights_[0]


def test_many_functions_are_cut_in_print_only(sinc):
    X, y = sinc
    model = RVR(RBF(0.3), noise=1e-3, calibrate=None, bias=False).fit(X, y)
    count = len(model.relevance_)
    assert count > 22
    summary = model.summary()
    ratio = np.abs(model.weights_) / np.sqrt(np.diagonal(model.sigma_))
    surest = np.sort(np.argsort(-ratio)[:20])
    shown = [line.split()[0] for line in str(summary).splitlines() if line.strip()[:1] == "#"]
    assert shown == [f"#{number}" for number in model.relevance_[surest]]
    assert f"({count - 20} more, of smaller weight relative to their std)" in str(summary)
    assert len(plain(summary)["functions"]) == count
    assert summary._repr_html_().count("<tr>") == 21 + len(summary.rows())


@pytest.mark.slow
def test_noise(sinc):
    X, y = sinc
    y = y.copy()
    y[::9] += 2.0
    student = RVR(adapt=None, calibrate=None, noise=StudentT()).fit(X, y)
    assert lines(student.summary())["outliers"][0].startswith(
        f"Student's t with nu = {student.nu_:.3g}"
    )
    assert plain(student.summary())["nu"] == student.nu_
    normal = RVR(adapt=None, calibrate=None, noise=StudentT()).fit(*sinc)
    assert np.isinf(normal.nu_) and plain(normal.summary())["nu"] is None
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 150)
    varying = RVR(noise="varying", random_state=0).fit(
        x[:, None], x + (0.02 + 0.5 * x) * rng.standard_normal(150)
    )
    assert varying._noise_function is not None and len(varying.relevance_vectors_) > 1
    stds = np.sqrt(varying.predictive().noise_at(varying.relevance_vectors_))
    stds = stds / varying.calibration_
    told = f"varies with the inputs: {stds.min():.4g} to {stds.max():.4g} at the relevance vectors"
    assert lines(varying.summary())["noise std"] == [told]
    assert_allclose(plain(varying.summary())["noise_std"], [[stds.min(), stds.max()]])
    given = RVR(adapt=None, calibrate=None, noise=0.01).fit(*sinc)
    assert lines(given.summary())["solver"] == ["sequential, prior flat, noise variance 0.01"]


def test_a_fit_that_did_not_converge_says_so(sinc):
    with pytest.warns(ConvergenceWarning):
        model = RVR(adapt=None, calibrate=None, max_iter=3).fit(*sinc)
    assert lines(model.summary())["stopped"][0].startswith("NOT CONVERGED: ")
    assert plain(model.summary())["converged"] is False


def test_many_rows_are_counted():
    X, y, _ = make_sinc(10_400, noise=0.1, random_state=0)
    model = RVR(RBF(2.0, centres=12), calibrate=None).fit(X, y)
    assert plain(model.summary())["rows"] == 10_400
    assert lines(model.summary())["many rows"] == [model.approximation_]
    chunks = [(X[k::4], y[k::4]) for k in range(4)]  # of which a sample is held
    assert plain(RVR(RBF(2.0, centres=12), calibrate=None).fit(chunks).summary())["rows"] == 10_400
    labels = RVC(RBF(2.0, centres=12), link="logit", calibrate=None).fit(X, y > 0)
    assert plain(labels.summary())["rows"] == 10_400


def test_rows_without_weight_do_not_count(sinc):
    weights = np.ones(60)
    weights[:7] = 0
    model = RVR(adapt=None, calibrate=None).fit(*sinc, sample_weight=weights)
    assert plain(model.summary())["rows"] == 53


def test_errors(sinc):
    with pytest.raises(NotFittedError):
        RVR().summary()
    model = RVR("linear", calibrate=None).fit(*sinc)
    with pytest.raises(ValueError, match="feature_names has 2 names, but the model has 1 inputs"):
        model.summary(feature_names=["a", "b"])
