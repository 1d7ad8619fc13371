"""``sparsebayes export``: stored models as C, ONNX and JSON."""

import json
import re
from itertools import pairwise

import numpy as np
import onnx
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sparsebayes import RVC, RVR, Forecaster, persistence
from sparsebayes.basis import RBF
from sparsebayes.cli import main
from sparsebayes.datasets import load_gases, load_sensor
from sparsebayes.export import from_json
from sparsebayes.export.c.compiled import find_compiler
from tests.cli.refusal import fails

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
SENSOR, GASES = load_sensor().filename, load_gases().filename


def test_c(capsys, folder, model_file):
    assert main(["export", model_file, "--to", "c", "-o", "sensor.c"]) == 0
    out = capsys.readouterr().out
    header, source = ((folder / f"sensor.{end}").read_text() for end in "hc")
    assert "void sensor_predict(const double x[1], double *mean, double *std);" in header
    assert "x[0]: temperature" in header and "mean[0]: response" in header
    assert "SENSOR_SELF_TEST" in source
    assert "written: sensor.c (" in out and re.search(r"\d+ bytes of constants", out)


@pytest.mark.sampled
@needs_compiler
@pytest.mark.parametrize("options", [[], ["--float"], ["--no-std"], ["--float", "--no-std"]])
def test_check_of_c(capsys, folder, model_file, options):
    assert main(["export", model_file, "-o", "m.c", "--check", SENSOR, *options]) == 0
    out = capsys.readouterr().out
    found = re.search(r"largest difference from Python at 150 rows: (\S+) of a standard", out)
    assert float(found[1]) < (1e-3 if "--float" in options else 1e-10)
    assert re.search(r"compiled by .*: \d+ bytes of code and constants", out)
    assert ("float" in (folder / "m.h").read_text()) == ("--float" in options)
    assert ("std" in (folder / "m.h").read_text()) != ("--no-std" in options)


@pytest.mark.parametrize("kind", ["c", "onnx", "json"])
def test_check_of_classes(capsys, folder, classifier_file, kind):
    if kind == "c" and find_compiler() is None:
        pytest.skip("no C compiler")
    assert main(["export", classifier_file, "--to", kind, "--check", GASES]) == 0
    found = re.search(r"from Python at 240 rows: (\S+)$", capsys.readouterr().out.strip())
    assert float(found[1]) < 1e-10
    assert not list(folder.iterdir())


def test_onnx(capsys, folder, model_file):
    assert main(["export", model_file, "-o", "m.onnx", "--float", "--check", SENSOR]) == 0
    graph = onnx.load(folder / "m.onnx")
    onnx.checker.check_model(graph)
    assert [output.name for output in graph.graph.output] == ["mean", "std"]
    names = {entry.key: entry.value for entry in graph.metadata_props}
    assert json.loads(names["feature_names"]) == ["temperature"]
    assert "largest difference" in capsys.readouterr().out


def test_json(capsys, folder, model_file):
    assert main(["export", model_file, "-o", "m.json", "--check", SENSOR]) == 0
    again, right = from_json((folder / "m.json").read_text()), persistence.load(model_file)
    X = np.linspace(100, 500, 7)[:, None]
    np.testing.assert_allclose(again.predict(X), right.predict(X), rtol=1e-12)
    assert again.feature_names == ["temperature"] and again.target_names == ["response"]
    assert main(["export", model_file, "-o", "n.json", "--no-std"]) == 0
    assert json.loads((folder / "n.json").read_text())["outputs"].keys() == {"mean"}
    capsys.readouterr()


def test_one_step_of_a_forecast(capsys, folder):
    series = np.sin(np.arange(60.0)) + 0.1 * np.random.default_rng(0).standard_normal(60)
    persistence.save(Forecaster(RVR("linear"), lags=2, difference=0).fit(series), "f.skops")
    rows = "\n".join(f"{b},{a}" for a, b in pairwise(series))
    (folder / "rows.csv").write_text(f"lag_1,lag_2\n{rows}\n")
    assert main(["export", "f.skops", "--to", "json", "--check", "rows.csv"]) == 0
    assert "largest difference from Python at 59 rows" in capsys.readouterr().out


def test_no_compiler_is_told(capsys, folder, model_file, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert main(["export", model_file, "-o", "m.c", "--check", SENSOR]) == 0
    out = capsys.readouterr().out
    assert "not compared: no C compiler found" in out and (folder / "m.c").exists()


@needs_compiler
def test_a_difference_is_an_error_and_nothing_is_written(capsys, folder):
    points = np.linspace(0.0, 1.0, 60)[:, None]
    wide = RVR(RBF(2.0), noise=1e-12, calibrate=None).fit(points, np.sin(9 * points[:, 0]))
    persistence.save(wide, "wide.skops", feature_names=["x"])
    (folder / "rows.csv").write_text("x\n0.3\n0.7\n")
    argv = ["export", "wide.skops", "-o", "m.c", "--float", "--check", "rows.csv"]
    fails(capsys, argv, r"--check rows.csv: .* leave --float out")
    assert main(["export", "wide.skops", "-o", "m.c", "--float"]) == 0
    assert "note: dtype='float' errs" in capsys.readouterr().out


def test_a_compiler_that_fails_is_told(capsys, folder, model_file, monkeypatch):
    monkeypatch.setenv("CC", "false")
    argv = ["export", model_file, "-o", "m.c", "--check", SENSOR]
    fails(capsys, argv, r"--check: false .* failed .* CC must name a compiler")


def test_onnx_of_other_steps(capsys, folder):
    data = load_gases()
    steps = make_pipeline(PolynomialFeatures(2), RVC("linear", adapt=None, link="least_squares"))
    persistence.save(
        steps.fit(data.data, data.target), "p.skops", feature_names=["film_a", "film_b"]
    )
    argv = ["export", "p.skops", "--to", "onnx", "--float", "--check", GASES]
    assert main(argv) == 0
    assert "largest difference from Python at 240 rows" in capsys.readouterr().out
    fails(capsys, ["export", "p.skops", "-o", "m.c"], "PolynomialFeatures")


REFUSED = {
    "no format": (["-o", "m.txt"], "--to is needed"),
    "no file": (["--to", "c"], "-o is needed"),
    "other name": (["--to", "c", "-o", "m.json"], "must end in .c"),
    "float JSON": (["-o", "m.json", "--float"], "--float is for c and onnx"),
    "columns": (["-o", "m.c", "--check", GASES], "temperature"),
    "no directory": (["-o", "nowhere/m.c"], "nowhere"),
    "other case": (["-o", "m.C"], "--to is needed"),
    "odd name": (["-o", "a\\b.c"], "name must be a text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(capsys, folder, model_file, case):
    options, words = REFUSED[case]
    fails(capsys, ["export", model_file, *options], re.escape(words))


def test_no_std_is_for_regressions(capsys, folder, classifier_file):
    fails(capsys, ["export", classifier_file, "-o", "m.c", "--no-std"], "is for regressions")


def test_columns_by_name_are_exported_but_not_compared(folder, capsys):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    steps = ColumnTransformer([("scaled", StandardScaler(), ["b"])], remainder="passthrough")
    model = make_pipeline(steps, RVR("linear", calibrate=None)).fit(table, table["a"] + table["b"])
    persistence.save(model, "m.skops")
    table.to_csv("d.csv", index=False)
    assert main(["export", "m.skops", "-o", "m.json"]) == 0
    found = from_json((folder / "m.json").read_text()).predict(table.to_numpy())
    np.testing.assert_allclose(found, model.predict(table), rtol=1e-10)
    argv = ["export", "m.skops", "-o", "n.json", "--check", "d.csv"]
    capsys.readouterr()
    fails(capsys, argv, "the step 'scaled' of the stored pipeline takes columns by name")
