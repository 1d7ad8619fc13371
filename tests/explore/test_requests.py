"""The function behind the page: every kind of request, every option, and what is refused."""

import base64
import copy
import io
import json
import re
import warnings

import numpy as np
import pytest

from sparsebayes import RVC, RVR, persistence
from sparsebayes.basis import RBF
from sparsebayes.explore import explore
from sparsebayes.explore.fields import MOST_POINTS, RequestError
from sparsebayes.export import from_json
from tests.explore.data import CLASSIFICATION, DENOISE, REGRESSION


@pytest.fixture(scope="module")
def regression():
    return explore(REGRESSION)


@pytest.fixture(scope="module")
def classification():
    return explore(CLASSIFICATION)


@pytest.fixture(scope="module")
def signal():
    return explore(DENOISE)


def test_a_regression_is_that_of_the_library(regression):
    X, y = np.array(REGRESSION["x"])[:, None], REGRESSION["y"]
    model = RVR(RBF(1.5), calibrate=None).fit(X, y)
    grid = np.array(regression["grid"])[:, None]
    mean, std = model.predict(grid, return_std=True)
    np.testing.assert_allclose(regression["mean"], mean)
    np.testing.assert_allclose(regression["std"], std)
    lower, upper = model.predict_interval(grid)
    np.testing.assert_allclose([regression["lower"], regression["upper"]], [lower, upper])
    assert (np.array(regression["function_lower"]) >= lower).all()
    vectors = np.array(regression["relevance_vectors"])
    assert set(vectors[:, 0]) == set(model.relevance_vectors_[:, 0])
    assert [REGRESSION["y"][i] for i in regression["relevance"]] == vectors[:, 1].tolist()
    assert regression["summary"]["log_evidence"] == pytest.approx(model.log_evidence_)
    assert np.all(np.diff(regression["evidence_path"]) > -1e-6)


def test_a_classification_is_that_of_the_library(classification):
    X = np.column_stack([CLASSIFICATION["x1"], CLASSIFICATION["x2"]])
    model = RVC(RBF(1.5), link="logit", calibrate=None).fit(X, CLASSIFICATION["label"])
    x1, x2 = classification["x1"], classification["x2"]
    assert len(x1) == len(x2) == 8 and classification["classes"] == ["a", "b"]
    right = model.predict_proba([[x1[5], x2[2]]])[0, 1]
    assert classification["probability"][2][5] == pytest.approx(right, abs=1e-4)
    half = next(one for one in classification["contours"] if one["level"] == 0.5)
    ends = np.array(half["pieces"]).reshape(-1, 2)
    assert len(ends) and np.abs(model.predict_proba(ends)[:, 1] - 0.5).max() < 0.1
    assert 0 < classification["summary"]["relevance_vectors"] < 24


def test_a_signal_is_denoised(signal):
    right = np.repeat([0.0, 4.0, 1.0, 3.0], 16)
    assert np.abs(np.array(signal["signal"]) - right).mean() < 0.15
    inside = (right >= signal["lower"]) & (right <= signal["upper"])
    assert inside.mean() > 0.8
    assert signal["summary"]["noise_std"] == pytest.approx(0.3, rel=0.4)


def test_missing_samples_are_filled():
    y = list(DENOISE["y"])
    y[20] = None
    found = explore({**DENOISE, "y": y})
    assert len(found["signal"]) == 64 and None not in found["signal"]


def test_requests_are_left_as_they_are_and_answers_are_json(regression, classification, signal):
    before = copy.deepcopy(REGRESSION)
    assert explore(REGRESSION) == regression  # the same request, the same answer
    assert before == REGRESSION
    for answer in (regression, classification, signal):
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer


OPTIONS = {
    "width": 0.7,
    "prior": "ric",
    "solver": "em",
    "noise": 0.5,
    "augment": True,
    "calibrate": 3,
    "coverage": 0.5,
    "from": -20.0,
    "to": 20.0,
    "grid": 10,
}


@pytest.mark.parametrize(("name", "value"), [*OPTIONS.items(), ("noise", "student"), ("prior", 4)])
def test_each_option_changes_a_regression(name, value, regression):
    found = explore({**REGRESSION, name: value})
    keys = ("grid", "mean", "lower", "evidence_path", "summary")
    assert any(found[key] != regression[key] for key in keys)


def test_the_width_is_learned(regression):
    found = explore({**REGRESSION, "width": "auto"})
    assert found["summary"]["width"] != pytest.approx(1.5)
    assert found["summary"]["log_evidence"] > regression["summary"]["log_evidence"] - 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", 0.4), ("prior", "ric"), ("augment", True), ("link", "probit"), ("calibrate", 3),
     ("solver", "em"), ("from", [-9.0, -9.0])],
)  # fmt: skip
def test_each_option_changes_a_classification(name, value, classification):
    found = explore({**CLASSIFICATION, name: value})
    keys = ("x1", "probability", "evidence_path")
    assert any(found[key] != classification[key] for key in keys)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dictionary", "dct"), ("method", "sparse"), ("noise", 4.0), ("coverage", 0.5)],
)
def test_each_option_changes_a_signal(name, value, signal):
    found = explore({**DENOISE, name: value})
    assert found["lower"] != signal["lower"]


def test_a_moved_point_moves_the_curve(regression):
    y = list(REGRESSION["y"])
    y[3] += 2.0
    moved = np.array(explore({**REGRESSION, "y": y})["mean"]) - regression["mean"]
    assert np.abs(moved).max() > 0.1


def test_a_draft_searches_less_and_calibrates_nothing(regression, classification):
    draft = explore({**REGRESSION, "calibrate": 3, "draft": True})
    assert draft["summary"]["calibration"] == 1.0
    assert draft["summary"]["steps"] < regression["summary"]["steps"]
    assert draft["summary"]["log_evidence"] <= regression["summary"]["log_evidence"] + 0.01
    assert explore({**REGRESSION, "draft": False}) == regression
    quick = explore({**CLASSIFICATION, "draft": True})
    assert np.shape(quick["probability"]) == np.shape(classification["probability"])


@pytest.mark.parametrize(
    ("noise", "told"),
    [("estimate", "estimated"), (0.1, "given"), ("student", "Student, .* degrees of freedom"),
     ("varying", "varies by a factor|the same everywhere")],
)  # fmt: skip
def test_the_noise_found_is_told(noise, told):
    assert re.match(told, explore({**REGRESSION, "noise": noise})["summary"]["noise_found"])


def test_noise_without_outliers_is_normal():
    y = np.sin(REGRESSION["x"]) + 0.1 * np.random.default_rng(0).standard_normal(25)
    found = explore({**REGRESSION, "y": y.tolist(), "noise": "student"})
    assert found["summary"]["noise_found"] == "normal: no outliers found"


def content(answer, name):
    (file,) = [file for file in answer["files"] if file["name"] == name]
    return base64.b64decode(file["base64"])


@pytest.mark.parametrize("request_", [REGRESSION, CLASSIFICATION], ids=["RVR", "RVC"])
def test_a_saved_model_loads(request_):
    names = ["u", "v"] if request_ is REGRESSION else ["u", "v", "w"]
    stream = io.BytesIO(
        content(explore({"kind": "save", "of": {**request_, "names": names}}), "model.skops")
    )
    record = persistence.load_record(stream)
    assert [*record.feature_names, record.target_name] == names
    if request_ is REGRESSION:
        found = explore(request_)
        mean = record.model.predict(np.array(found["grid"])[:, None])
        np.testing.assert_allclose(mean, found["mean"])


def test_exports_can_be_read(regression, classification):
    text = content(explore({"kind": "export", "to": "json", "of": REGRESSION}), "model.json")
    grid = np.array(regression["grid"])[:, None]
    np.testing.assert_allclose(from_json(text).predict(grid), regression["mean"], rtol=1e-6)
    request = {"kind": "export", "to": "json", "of": {**CLASSIFICATION, "names": ["u", "v", "w"]}}
    again = from_json(content(explore(request), "model.json"))
    assert again.feature_names == ["u", "v"] and again.classes_.tolist() == ["a", "b"]
    files = explore({"kind": "export", "to": "c", "of": REGRESSION})["files"]
    assert sorted(file["name"] for file in files) == ["model.c", "model.h"]


def test_a_model_as_onnx():
    onnx = pytest.importorskip("onnx")
    found = content(explore({"kind": "export", "to": "onnx", "of": REGRESSION}), "model.onnx")
    assert onnx.load_model_from_string(found).graph.input


def test_a_signal_is_saved_as_a_table(signal):
    lines = content(explore({"kind": "save", "of": DENOISE}), "signal.csv").decode().splitlines()
    assert lines[0] == "signal,lower,upper" and len(lines) == 65
    assert float(lines[1].split(",")[0]) == signal["signal"][0]


def test_warnings_are_notes(monkeypatch):
    def fit(self, X, y):
        warnings.warn("so   it\nis", UserWarning, stacklevel=2)
        return original(self, X, y)

    original = RVR.fit
    monkeypatch.setattr(RVR, "fit", fit)
    assert explore(REGRESSION)["notes"] == ["so it is"]


BAD = [
    ({}, "kind", "request has no 'kind'"),
    ({"kind": "fly"}, "kind", r"kind must be one of .*'save'.* got 'fly'"),
    ({"kind": ["save"]}, "kind", "kind must be one of"),
    ({**REGRESSION, "colour": 1}, "colour", r"no field 'colour'; it takes 'kind', 'width'"),
    ({**REGRESSION, "x": None}, "x", "x must be a list, got None"),
    ({**REGRESSION, "x": [1, 2]}, "x", "x must have 3 to 2000 values, got 2; add some"),
    ({**REGRESSION, "x": [0] * (MOST_POINTS + 1)}, "x", "got 2001; leave some out"),
    ({**REGRESSION, "y": [1, 2, 3]}, "y", "as many values as x, 25, got 3"),
    ({**REGRESSION, "y": ["a"] * 25}, "y", r"y\[0\] must be a number .* got 'a'"),
    ({**REGRESSION, "y": [None] * 25}, "y", r"y\[0\] must be a number .* got None"),
    ({**REGRESSION, "y": [True] * 25}, "y", r"y\[0\] must be a number .* got True"),
    ({**REGRESSION, "y": [1e200] * 25}, "y", r"y\[0\] must be a number between"),
    ({**REGRESSION, "y": [10**400] * 25}, "y", r"y\[0\] must be a number between"),
    ({**REGRESSION, "width": 0}, "width", "'auto' or a positive number, in units of x, got 0"),
    ({**REGRESSION, "width": [1]}, "width", r"got \[1\]"),
    ({**REGRESSION, "prior": "lasso"}, "prior", "prior must be one of .* got 'lasso'"),
    ({**REGRESSION, "solver": "newton"}, "solver", "solver must be one of .* got 'newton'"),
    ({**REGRESSION, "noise": -1}, "noise", "noise must be 'estimate' or a positive .* got -1"),
    ({**REGRESSION, "noise": [1, 2]}, "noise", "noise must be"),
    ({**REGRESSION, "augment": "no"}, "augment", "augment must be True, False.* got 'no'"),
    ({**REGRESSION, "draft": 1}, "draft", "draft must be true or false, got 1"),
    ({**REGRESSION, "calibrate": 1}, "calibrate", "folds from 2 to 20, got 1"),
    ({**REGRESSION, "calibrate": 21}, "calibrate", "got 21"),
    ({**REGRESSION, "coverage": 2}, "coverage", "coverage must lie between 0 and 1, got 2"),
    ({**REGRESSION, "grid": 1}, "grid", "whole number from 2 to 1000, got 1"),
    ({**REGRESSION, "from": 9, "to": 1}, "to", "to must lie above from, 9, got 1"),
    ({**REGRESSION, "from": "a"}, "from", "from must be a finite number, got 'a'"),
    ({**REGRESSION, "names": ["a"]}, "names", "names must be a list of 2 texts"),
    ({**CLASSIFICATION, "noise": 1}, "noise", "no field 'noise'"),
    ({**CLASSIFICATION, "label": ["a"] * 24}, "label", "two different values, got"),
    ({**CLASSIFICATION, "label": [[1]] * 24}, "label", "texts or whole numbers"),
    ({**CLASSIFICATION, "label": ["a", "b"]}, "label", "as many values as x1, 24, got 2"),
    ({**CLASSIFICATION, "link": "cauchy"}, "link", "link must be one of"),
    ({**CLASSIFICATION, "from": 3}, "from", "from must be a list of two numbers"),
    ({**CLASSIFICATION, "grid": 1000}, "grid", "whole number from 4 to 100, got 1000"),
    ({**DENOISE, "y": [1.0] * 3}, "y", "y must have 16 to 4096 values, got 3"),
    ({**DENOISE, "y": [None] * 64}, "y", "got none but null"),
    ({**DENOISE, "dictionary": "words"}, "dictionary", "dictionary must be one of"),
    ({**DENOISE, "method": "magic"}, "method", "method must be one of"),
    ({**DENOISE, "noise": [1]}, "noise", "noise must be 'estimate'"),
    ({"kind": "save"}, "of", "of must be a request whose 'kind' is one of .* got None"),
    ({"kind": "save", "of": {"kind": "save"}}, "of", "of must be a request"),
    ({"kind": "save", "of": {**REGRESSION, "a": 1}}, "a", "no field 'a'"),
    ({"kind": "export", "of": REGRESSION}, "to", "to must be one of .* got None"),
    ({"kind": "export", "of": REGRESSION, "to": "rust"}, "to", "got 'rust'"),
    ({"kind": "export", "of": DENOISE, "to": "c"}, "of", "save it instead"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "field", "message"), BAD, ids=range(len(BAD)))
def test_bad_requests_name_field_value_and_remedy(request_, field, message):
    with pytest.raises(RequestError, match=message) as caught:
        explore(request_)
    assert caught.value.field == field
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("request_", [None, 3, "regression", [REGRESSION]])
def test_what_is_no_request(request_):
    with pytest.raises(TypeError, match="request must be a dict with a 'kind', got"):
        explore(request_)
