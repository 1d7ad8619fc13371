"""Models as C: compiled here, it says what Python says."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.export import ExportedModel, from_json, to_c, to_json
from sparsebayes.export.c.compiled import CompilerError, find_compiler, run_c
from sparsebayes.export.c.operations import C_OPERATIONS
from sparsebayes.export.c.source import identifier
from sparsebayes.export.programs.differences import float_error, largest_difference
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.operations import OPERATIONS
from sparsebayes.export.programs.program import ProgramBuilder
from tests.export.zoo import MODELS, inputs, model, python
from tests.sweeps import thinned

COMPILER = find_compiler()
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow",
          "-Wdouble-promotion", "-O1")  # fmt: skip
# What a float of 10,000 has no digits for, which the warning tells.
COARSE = {"forecast far from 0"}


def asked(name, count, dtype="double"):
    fitted = model(name)
    program = program_of(fitted)
    X = inputs(program, count)
    X = np.abs(X) if program.kind == "Forecaster" else X
    X = X if dtype == "double" else X.astype(np.float32).astype(np.float64)
    right = program.run(X) if program.kind == "Forecaster" else python(fitted, X)
    return fitted, X, right


def test_every_operation_has_its_c():
    assert C_OPERATIONS.keys() == OPERATIONS.keys()


@pytest.mark.sampled
@needs_compiler
@pytest.mark.parametrize("name", thinned(MODELS, 2))
def test_compiled_code_is_the_model(name):
    fitted, X, right = asked(name, 100)
    found, size = run_c(fitted, X, compiler=COMPILER, flags=STRICT)
    assert found.keys() == right.keys()
    assert largest_difference(found, right) < 1e-9
    assert size >= 0


@pytest.mark.sampled
@needs_compiler
@pytest.mark.parametrize("name", thinned(sorted(MODELS.keys() - COARSE)))
def test_single_precision(name):
    fitted, X, right = asked(name, 100, "float")
    found, _ = run_c(fitted, X, dtype="float", compiler=COMPILER, flags=STRICT)
    assert largest_difference(found, right) < 1e-3


@pytest.mark.sampled
@needs_compiler
@pytest.mark.parametrize("name", ["sensor", "several targets", "process", "no functions"])
def test_mean_alone(name):
    fitted, X, right = asked(name, 20)
    found, _ = run_c(fitted, X, std=False, compiler=COMPILER, flags=STRICT)
    assert found.keys() == {"mean"}
    assert largest_difference(found, right) < 1e-9
    text = to_c(fitted, std=False)["model.c"]
    assert "std" not in text.split("SELF_TEST")[0]
    assert len(text) <= len(to_c(fitted)["model.c"])


@pytest.mark.sampled
@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("name", ["sensor", "several targets", "classes", "no functions"])
def test_self_test(name, dtype, tmp_path):
    files = to_c(model(name), name="device", dtype=dtype)
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    build = [*COMPILER, *STRICT, "-DDEVICE_SELF_TEST", "device.c", "-lm", "-o", "test"]
    subprocess.run(build, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "device: right, largest difference" in done.stdout
    # A constant that is off is found.
    broken = re.sub(r"(_offset\[\d+\] = \{\s+)", r"\g<1>1 + ", files["device.c"], count=1)
    assert broken != files["device.c"] or name == "no functions"
    (tmp_path / "device.c").write_text(broken)
    subprocess.run(build, cwd=tmp_path, check=True)
    again = subprocess.run([tmp_path / "test"], capture_output=True, check=False)
    assert again.returncode == (1 if broken != files["device.c"] else 0)


def test_signatures():
    assert (
        "void model_predict(const double x[1], double *mean, double *std);"
        in (to_c(model("sensor"))["model.h"])
    )
    several = to_c(model("several targets"), dtype="float")["model.h"]
    assert "void model_predict(const float x[10], float mean[2], float std[2]);" in several
    assert "#define MODEL_TARGETS 2" in several
    classes = to_c(model("classes"), name="flower")["flower.h"]
    assert "void flower_predict_proba(const double x[4], double p[3]);" in classes
    assert "p[0]: a" in classes and "#define FLOWER_CLASSES 3" in classes


@pytest.mark.slow
def test_single_precision_has_no_double():
    for name in MODELS.keys() - COARSE:
        code = to_c(model(name), dtype="float")["model.c"].split("#if defined")[0]
        assert "double" not in re.sub(r"double_2", "", code), name
        assert not re.search(r"\b\d+\.\d*(?:e[+-]?\d+)?(?![\def])", code), name


def test_nothing_is_allocated_and_only_math_is_included():
    for name in MODELS:
        with np.errstate(all="ignore"):
            code = to_c(model(name))["model.c"].split("#if defined")[0]
        assert "malloc" not in code
        assert re.findall(r"#include (.*)", code) == ['"model.h"', "<math.h>"]


NAMES = {
    "my model": "my_model",
    "2nd": "m_2nd",
    "_x": "m_x",
    "float": "float_",
    "größe-1": "gr__e_1",
    "a.b": "a_b",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_no_identifiers(name):
    assert identifier(name) == NAMES[name]
    files = to_c(model("no functions"), name=name)
    assert files.keys() == {f"{name}.c", f"{name}.h"}
    assert f"void {NAMES[name]}_predict(" in files[f"{name}.h"]


@needs_compiler
def test_code_of_odd_names_compiles():
    fitted, X, right = asked("sensor", 5)
    for name in NAMES:
        found, _ = run_c(fitted, X, name=name, compiler=COMPILER, flags=STRICT)
        assert largest_difference(found, right) < 1e-9


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", 'a"b', "a\nb", "a\\b", "what??!", "-x", "a" * 300, 3, None]
)
def test_names_that_no_file_can_have(name):
    with pytest.raises(ValueError, match="name must be a text"):
        to_c(model("sensor"), name=name)


@needs_compiler
def test_names_of_inputs_do_no_harm():
    names = ["*/ int y; /*", "??/", "\\", "ä\u202e", "a\nb", "%s", '"', "/*", "//", "m/s"]
    fitted, X, right = asked("default", 5)
    files = to_c(fitted, feature_names=names, target_names=["*/"])
    comment = files["model.h"].split("*/")[0]
    assert "m/s" in comment and "int y" in comment and "#ifndef" not in comment
    found, _ = run_c(fitted, X, compiler=COMPILER, flags=STRICT)
    assert largest_difference(found, right) < 1e-9
    plain = "\n".join(files.values())
    assert plain.isascii() and "??" not in plain


def test_coarse_arithmetic_is_told():
    points = np.linspace(0.0, 1.0, 60)[:, None]
    wide = RVR(RBF(2.0), noise=1e-12, calibrate=None).fit(points, np.sin(9 * points[:, 0]))
    assert float_error(program_of(wide)) > 1e-3
    with pytest.warns(UserWarning, match="dtype='float' errs by .* use dtype='double'"):
        to_c(wide, dtype="float")
    assert float_error(program_of(model("sensor"))) < 1e-4


def test_inputs_that_single_precision_does_not_have_are_told():
    X = 1.7e9 + np.linspace(0.0, 86400.0, 60)[:, None]
    fitted = RVR(RBF(2e4), calibrate=None).fit(X, np.sin((X[:, 0] - 1.7e9) / 1e4))
    with pytest.warns(UserWarning, match="inputs need more than seven digits"):
        to_c(fitted, dtype="float")


@needs_compiler
def test_two_softmaxes_of_other_sizes():
    builder = ProgramBuilder(12)
    parts = []
    for count, first in ((3, 0), (5, 3)):
        mean = builder.add("latent", "pick", builder.x, index=np.arange(first, first + count))
        cov = builder.constant("cov", np.diag(np.arange(1.0, count + 1.0)).ravel())
        parts.append(builder.add("average", "softmax_average", mean, cov))
    program = builder.program(mean=builder.join("both", parts))
    X = np.random.default_rng(0).standard_normal((20, 12))
    found, _ = run_c(ExportedModel(program), X, compiler=COMPILER, flags=STRICT)
    assert largest_difference(found, program.run(X)) < 1e-12


@needs_compiler
def test_c_of_json_without_std(tmp_path):
    alone = ExportedModel(program_of(model("sensor")).without_std())
    for dtype in ("double", "float"):
        for file, text in to_c(from_json(to_json(alone)), dtype=dtype).items():
            (tmp_path / file).write_text(text)
        build = [*COMPILER, *STRICT, "-DMODEL_SELF_TEST", "model.c", "-lm", "-o", "test"]
        subprocess.run(build, cwd=tmp_path, check=True)
        assert subprocess.run([tmp_path / "test"], check=False).returncode == 0


@needs_compiler
def test_odd_steps_compile():
    builder = ProgramBuilder(1)
    one = builder.add("sum_of", "sum", builder.x)
    twice = builder.add("sqrtf", "pick", one, index=np.zeros(3))
    program = builder.program(mean=twice)
    found, _ = run_c(ExportedModel(program), np.ones((2, 1)), compiler=COMPILER, flags=STRICT)
    np.testing.assert_array_equal(found["mean"], np.ones((2, 3)))


def test_numbers_beyond_single_precision():
    points = np.linspace(0.0, 1.0, 20)[:, None]
    large = RVR("linear", calibrate=None).fit(points, 1e55 * points[:, 0])
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="dtype='float' has no number"):
        to_c(large, dtype="float")


@pytest.mark.parametrize("options", [{"dtype": "half"}, {"std": 2}, {"dtype": None}])
def test_bad_options(options):
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        to_c(model("sensor"), **options)


@needs_compiler
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_header_in_cpp(tmp_path):
    for file, text in to_c(model("sensor")).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "main.cpp").write_text(
        '#include "model.h"\nint main() { double x[1] = {200}, m, s; '
        "model_predict(x, &m, &s); return s > 0 ? 0 : 1; }\n"
    )
    subprocess.run([*COMPILER, "-c", "model.c"], cwd=tmp_path, check=True)
    subprocess.run(["g++", "main.cpp", "model.o", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_the_compiler_is_named_by_the_environment(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -x")
    assert find_compiler() is None


@needs_compiler
def test_an_error_of_the_compiler_is_told():
    with pytest.raises(CompilerError, match=r"--no-such-flag.*failed with status"):
        run_c(model("sensor"), np.zeros((1, 1)), compiler=COMPILER, flags=["--no-such-flag"])
