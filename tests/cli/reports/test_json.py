"""``--json`` of every command: it validates against the schema in the docs."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from sparsebayes.cli import main
from sparsebayes.cli.parser import COMMANDS
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "howto" / "command_line.schema.json").read_text(
        encoding="utf-8"
    )
)


def answer(capsys, *argv):
    """What a command prints with --json, after it was held against the schema of the command."""
    assert main([*map(str, argv), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    found = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.validate(found, SCHEMA)
    assert found["command"] == argv[0]
    return found


@pytest.fixture
def held_out(folder):
    rng = np.random.default_rng(3)
    x = rng.uniform(110, 490, 30)
    path = folder / "held_out.csv"
    write_csv(path, {"temperature": x, "response": 40 + rng.standard_normal(30)})
    return str(path)


def test_the_schema_has_every_command_and_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    named = [one["$ref"].rpartition("/")[2] for one in SCHEMA["oneOf"]]
    assert named == list(COMMANDS)


def test_the_schema_can_refuse():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"command": "completion", "shell": "bash"}, SCHEMA)
    whole = {"sparsebayes": "1", "command": "completion", "notes": [], "written": []}
    jsonschema.validate({**whole, "shell": "bash", "script": ""}, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**whole, "shell": "bash", "script": "", "more": 1}, SCHEMA)


@pytest.mark.slow
def test_fit(folder, capsys):
    found = answer(capsys, "fit", "-o", "m.skops", "--folds", "3")
    assert found["written"] == ["m.skops"] and Path("m.skops").exists()
    assert (found["rows"], found["targets"]) == (150, ["response"])
    (training,), (held_out,) = (found[key]["scores"] for key in ("training", "cross_validation"))
    assert training["rmse"] < 2 and training["r2"] > 0.97
    assert found["cross_validation"]["folds"] == 3 and 0.8 < held_out["coverage"] <= 1
    assert found["model"]["log_evidence"] == pytest.approx(-319.13, abs=0.01)


@pytest.mark.slow
def test_fit_of_classes_and_of_several_targets(folder, capsys):
    argv = ["fit", "--task", "classification", "--folds", "0", "--length-scale", "1"]
    found = answer(capsys, *argv)
    (scores,) = found["training"]["scores"]
    assert found["cross_validation"] is None and scores["wrong"] < scores["rows"]
    x = np.linspace(0, 5, 30)
    write_csv("two.csv", {"x": x, "a": np.sin(x), "b": np.cos(x)})
    found = answer(capsys, "fit", "two.csv", "--target", "a,b", "--folds", "0")
    assert [one["target"] for one in found["training"]["scores"]] == ["a", "b"]


def test_numbers_that_are_none_are_null(folder, capsys):
    write_csv("flat.csv", {"x": range(12), "y": [1.5] * 12})
    found = answer(capsys, "fit", "flat.csv", "--target", "y", "--task", "regression")
    assert found["training"]["scores"][0]["r2"] is None


def test_predict(model_file, held_out, capsys):
    found = answer(capsys, "predict", model_file, held_out)
    assert main(["predict", model_file, held_out, "-o", "out.csv", "--quiet"]) == 0
    table = read_csv("out.csv")
    assert found["predictions"].keys() == table.keys()
    for name, values in found["predictions"].items():
        assert values == [float(cell) for cell in table[name]]
    assert (found["rows"], found["outside"], found["written"]) == (30, 0, [])
    again = answer(capsys, "predict", model_file, held_out, "-o", "again.csv")
    assert again["predictions"] is None and again["written"] == ["again.csv"]
    assert Path("again.csv").read_text() == Path("out.csv").read_text()


def test_predict_says_what_is_outside(model_file, folder, capsys):
    write_csv("far.csv", {"temperature": [200, 5000]})
    found = answer(capsys, "predict", model_file, "far.csv")
    assert found["outside"] == 1 and "outside the training data" in found["notes"][0]


def test_predict_inverse(model_file, held_out, capsys):
    found = answer(capsys, "predict", model_file, held_out, "--inverse")
    assert found["unexplained"] == 0 and len(found["predictions"]["reading"]) >= 30


def test_inspect(model_file, folder, capsys):
    found = answer(capsys, "inspect", model_file, "--detection-limit", "--figures", "pictures")
    assert found["features"] == ["temperature"] and found["targets"] == ["response"]
    assert found["written"] == ["pictures/effects.png", "pictures/evidence.png"]
    assert found["limits"][0]["target"] == "response"


def test_inspect_of_classes(classifier_file, capsys):
    assert answer(capsys, "inspect", classifier_file)["model"]["classes"] == [
        "ammonia",
        "ethanol",
        "methane",
    ]


def test_denoise(folder, capsys):
    rng = np.random.default_rng(0)
    np.save("y.npy", np.sin(np.arange(128) / 9) + 0.1 * rng.standard_normal(128))
    found = answer(capsys, "denoise", "y.npy", "-o", "clean.npy", "--std", "std.npy")
    assert found["written"] == ["clean.npy", "std.npy"] and found["shape"] == [128]
    assert found["noise_std"] == [pytest.approx(0.1, rel=0.4)]
    assert 0 < found["kept"] < found["coefficients"] and 0 < found["removed"] < 0.2


@pytest.mark.slow
def test_forecast(folder, capsys):
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(90) / 3) + 0.05 * rng.standard_normal(90)
    write_csv("y.csv", {"who": ["a"] * 60 + ["b"] * 30, "y": y})
    given = ["forecast", "y.csv", "--column", "y", "--horizon", "3", "--lags", "4"]
    found = answer(capsys, *given, "--id", "who")
    assert [one["key"] for one in found["series"]] == ["a", "b"]
    assert found["forecast"]["who"] == ["a"] * 3 + ["b"] * 3
    assert found["series"][0]["lags"] == [1, 2, 3, 4]
    found = answer(capsys, *given, "--quiet")  # says nothing else, but this
    assert len(found["forecast"]["mean"]) == 3


def test_explore(folder, capsys):
    write_csv("two.csv", {"a": [1, 2, 3, 4], "b": [0.5, 1.5, 1.0, 2.0]})
    found = answer(capsys, "explore", "two.csv", "--no-browser", "--idle", "0.01")
    assert (found["view"], found["rows"], found["source"]) == ("regression", 4, "two.csv")
    assert found["url"].startswith(f"http://127.0.0.1:{found['port']}/")


@pytest.mark.slow
def test_compare(model_file, held_out, folder, capsys):
    answer(capsys, "fit", "-o", "s.skops", "--basis", "linear_spline", "--folds", "0")
    found = answer(capsys, "compare", model_file, "s.skops", "--data", held_out)
    assert {one["model"] for one in found["models"]} == {model_file, "s.skops"}
    assert found["models"][0]["difference"] == 0 and found["n_rows"] == 30
    without = answer(capsys, "compare", model_file, "s.skops")
    assert [one["nlpd"] for one in without["models"]] == [None, None]
    assert without["models"][0]["log_evidence"] > without["models"][1]["log_evidence"]


def test_export(model_file, held_out, capsys):
    found = answer(capsys, "export", model_file, "-o", "m.json", "--check", held_out)
    assert found["bytes"] == [Path("m.json").stat().st_size] and found["check"]["rows"] == 30
    assert found["check"]["difference"] < 1e-9
    found = answer(capsys, "export", model_file, "-o", "sensor.c", "--float")
    assert found["written"] == ["sensor.c", "sensor.h"] and "bytes" in found["about"]


def test_completion(capsys):
    assert "--target" in answer(capsys, "completion", "bash")["script"]


def test_two_things_on_stdout_are_refused(folder, capsys):
    fails(capsys, ["fit", "--json", "-o", "-"], "--json and -o - both write to stdout")
