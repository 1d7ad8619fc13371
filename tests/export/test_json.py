"""Models as JSON: read back, and read by another language."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sparsebayes.export import ExportedModel, from_json, to_c, to_json
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.operations import OPERATIONS
from tests.export.test_programs import assert_same
from tests.export.zoo import MODELS, inputs, model

READER = Path(__file__).with_name("reader.js")
CALL = """
const { predictor, operations } = require(process.argv[1]);
const { models } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = models.map(([model, rows]) => rows.map(predictor(model)));
process.stdout.write(JSON.stringify({ found, operations: Object.keys(operations) }));
"""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", MODELS)
def test_read_back(name):
    fitted = model(name)
    text = to_json(fitted)
    again = from_json(text)
    program = program_of(fitted)
    X = np.abs(inputs(program, 30)) if program.kind == "Forecaster" else inputs(program, 30)
    for output, values in program.run(X).items():
        np.testing.assert_array_equal(again.program.run(X)[output], values)
    assert to_json(again) == text
    assert again.n_features_in_ == program.n_inputs


def test_predictions_of_a_model_that_was_read_back():
    fitted = model("several targets")
    again = from_json(to_json(fitted, target_names=["a", "b"]))
    X = inputs(program_of(fitted), 5)
    mean, std = again.predict(X, return_std=True)
    right = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(mean, right[0], rtol=1e-10)
    np.testing.assert_allclose(std, right[1], rtol=1e-10)
    assert again.predict(X).shape == (5, 2) and again.target_names == ["a", "b"]
    one = from_json(to_json(model("sensor")))
    assert one.predict([[200.0]]).shape == (1,)
    assert "RVR" in repr(one)


def test_classes_that_were_read_back():
    fitted = model("classes")
    again = from_json(to_json(fitted))
    X = inputs(program_of(fitted), 40)
    assert again.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match="return_std is for regressions"):
        again.predict(X, return_std=True)
    with pytest.raises(AttributeError, match="predict_proba is for classifications"):
        from_json(to_json(model("sensor"))).predict_proba([[1.0]])


def test_inputs_are_checked():
    again = from_json(to_json(model("sensor")))
    with pytest.raises(ValueError, match="X has 2 features, but the model takes 1"):
        again.predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN"):
        again.predict([[np.nan]])
    alone = ExportedModel(again.program.only("mean"))
    with pytest.raises(ValueError, match="exported without it"):
        alone.predict([[1.0]], return_std=True)


def test_it_is_plain_json():
    record = json.loads(to_json(model("default"), feature_names=[f"ä{k}" for k in range(10)]))
    assert record["format"] == "sparsebayes-program" and record["version"] == 1
    assert record["feature_names"][0] == "ä0" and record["inputs"] == 10
    assert {step["operation"] for step in record["steps"]} <= OPERATIONS.keys()


def test_the_page_lists_every_operation():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "export.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.split("| operation |")[1].splitlines()[2:]
            if line.startswith("|")]  # fmt: skip
    told = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert told.keys() == OPERATIONS.keys()
    for name, operation in OPERATIONS.items():
        constants = {key + "?" * (key in operation.optional) for key in operation.constants}
        assert set(filter(None, map(str.strip, told[name].split(",")))) == constants, name


def changed(**entries):
    return json.dumps(json.loads(to_json(model("sensor"))) | entries)


DAMAGE = {
    "no JSON": ("{", "no JSON"),
    "another thing": ("[1]", "no model"),
    "not ours": ('{"format": "x"}', "no model"),
    "later": (lambda: changed(version=2), "version 2"),
    "entries": (lambda: changed(more=1), r"\['more'\]"),
    "inputs": (lambda: changed(inputs=0), "'inputs' is 0"),
    "width": (lambda: changed(inputs=2), "numbers in 'shift'"),
    "outputs": (lambda: changed(outputs={"mean": "nothing"}), "'outputs'"),
    "both": (lambda: changed(outputs={"mean": "center", "probabilities": "center"}), "'outputs'"),
    "names": (lambda: changed(feature_names=["a", "b"]), "2 entries for 1"),
    "steps": (lambda: changed(steps=[{"name": "a"}]), "a step lacks"),
    "unknown": (
        lambda: changed(steps=[{"name": "ab", "operation": "exp", "of": ["c"]}]), "not known before"
    ),
    "no number": (lambda: changed().replace('"shift": [', '"shift": [NaN, '), "NaN is no number"),
    "outputs in a list": (lambda: changed(outputs=[]), "damaged"),
    "outputs of another length": (
        lambda: changed(outputs={"mean": "center", "std": "rbf"}), "different length"
    ),
    "probabilities and std": (
        lambda: changed(outputs={"probabilities": "center", "std": "center"}), "'outputs'"
    ),
    "a huge number": (lambda: changed().replace('"shift": [', f'"shift": [{10**400}, '), "damaged"),
    "text as a number": (lambda: changed().replace('"factor": [', '"factor": ["1", '), "damaged"),
    "examples": (lambda: changed(examples=[[None]]), "'examples'"),
    "truth as a version": (lambda: changed(version=True), "version True"),
    "values as text": (
        lambda: changed(steps=[{"name": "ab", "operation": "exp", "of": "x"}]), "takes 'x'"
    ),
    "many inputs": (lambda: changed(inputs=10**18), "'inputs'"),
    "code": (
        lambda: changed(steps=[{"name": "a; system()", "operation": "exp", "of": ["x"]}]),
        "may not be called",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", [None, 3, b"\xff", ""])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ValueError, match="text is no JSON"):
        from_json(text)


def test_random_edits_are_refused_or_read():
    text, rng = to_json(model("two classes, augmented")), random.Random(0)
    pieces = ['"', "[", "]", "{", "}", ",", "null", "true", "-1", "1e400", "0.5", '"x"', ""]
    refusals = 0
    for _ in range(300):
        place = rng.randrange(len(text))
        edited = text[:place] + rng.choice(pieces) + text[place + rng.randrange(12) :]
        try:
            to_json(from_json(edited))
        except ValueError:
            refusals += 1
    assert refusals > 200


def test_the_order_of_outputs_does_not_matter():
    record = json.loads(to_json(model("sensor")))
    record["outputs"] = dict(reversed(record["outputs"].items()))
    assert to_c(from_json(json.dumps(record))) == to_c(model("sensor"))


def test_steps_that_nothing_needs_are_left_out():
    record = json.loads(to_json(model("sensor")))
    record["steps"].append({"name": "idle", "operation": "exp", "of": ["x"]})
    assert to_json(from_json(json.dumps(record))) == to_json(model("sensor"))


def test_names_are_given_when_it_is_written_again():
    again = from_json(to_json(from_json(to_json(model("sensor"))), feature_names="volts"))
    assert again.feature_names == ["volts"]
    with pytest.raises(ValueError, match=r"feature_names has 3 name\(s\), but the model has 1"):
        to_c(again, feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="feature_names must be a sequence"):
        to_c(again, feature_names=5)


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_text_is_refused(case):
    text, words = DAMAGE[case]
    with pytest.raises(ValueError, match=words) as error:
        from_json(text if isinstance(text, str) else text())
    assert str(error.value).startswith("text ")


def test_c_is_written_from_it():
    fitted = model("scaler")
    assert to_c(from_json(to_json(fitted))) == to_c(fitted)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_reads_it():
    asked = []
    for name in MODELS:
        program = program_of(model(name))
        X = inputs(program, 5)
        asked.append((name, program, np.abs(X) if program.kind == "Forecaster" else X))
    models = [[json.loads(to_json(model(name))), X.tolist()] for name, _, X in asked]
    done = subprocess.run(
        ["node", "-e", CALL, str(READER)], input=json.dumps({"models": models}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert set(answer["operations"]) == OPERATIONS.keys()
    for (_, program, X), rows in zip(asked, answer["found"], strict=True):
        found = {key: np.array([row[key] for row in rows]) for key in program.outputs}
        assert_same(found, program.run(X), 1e-8)
