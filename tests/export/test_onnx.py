"""Models as ONNX graphs: onnxruntime predicts what Python does."""

import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
import skl2onnx
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF as RBFKernel,
)
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from sparsebayes import RVC, RVR, Forecaster, ReducedRankGPR, StudentT
from sparsebayes.basis import RBF, Bias, Linear, Polynomial
from sparsebayes.export import (
    NotExportableError,
    from_json,
    register_onnx,
    to_json,
    to_onnx,
)
from sparsebayes.export.programs.differences import largest_difference
from sparsebayes.export.programs.models import program_of
from tests.classical import classical
from tests.export.sessions import DTYPES, exported, run, session_of
from tests.export.zoo import MODELS, inputs, python
from tests.export.zoo import model as zoo_model
from tests.sweeps import thinned

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(70, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=70)
TWO = np.column_stack([Y, np.cos(X[:, 1]) + 0.2 * RNG.normal(size=70)])
# Inputs that both types hold.
NEW = RNG.uniform(-2.5, 2.5, size=(30, 2)).astype(np.float32).astype(np.float64)
SIDE = (Y > 0).astype(int)
THIRDS = np.digitize(Y, [-0.7, 0.7])
LIMIT = {"float": 1e-4, "double": 1e-10}
PROBABILITY_LIMIT = {"float": 1e-5, "double": 1e-10}
plain = {"adapt": None, "calibrate": None}


def gp(kernel, **options):
    return ReducedRankGPR(kernel, n_support=12, optimize=False, random_state=0, **options)


REGRESSIONS = {
    "default": RVR(),
    "adapted by input": RVR(adapt="ard"),
    "augment": RVR(augment=True, **plain),
    "augment fast": RVR(augment="fast", **plain),
    "student": RVR(noise=StudentT(), **plain),
    "varying noise": RVR(noise="varying", **plain),
    "with linear": RVR(RBF(1.0) + Linear(), **plain),
    "with polynomial": RVR(RBF(1.0) + Polynomial(2), augment=True, **plain),
    "two kernels": RVR(RBF(0.5) + RBF(2.0), augment=True, **plain),
    "linear": RVR("linear", **plain),
    "laplacian": RVR("laplacian", **plain),
    "thin plate": RVR("thin_plate", **plain),
    "linear spline": RVR("linear_spline", **plain),
    "nothing but a bias": RVR(Bias(), **plain),
    "rank": gp(RBFKernel(1.0), augment=False),
    "rank, augmented": gp(ConstantKernel(2.0) * RBFKernel([1.0, 3.0])),
    "rank, matern": gp(Matern(1.0, nu=1.5) + DotProduct(0.5)),
    "rank, periodic": gp(RationalQuadratic(1.0, 0.8) * ExpSineSquared(2.0, 5.0)),
    "standardised": make_pipeline(StandardScaler(), RVR(**plain)),
    "in a range": make_pipeline(MinMaxScaler(), RVR(augment=True, **plain)),
    "turned": make_pipeline(StandardScaler(), PCA(2), RVR(**plain)),
    "selected": make_pipeline(VarianceThreshold(), RVR(**plain)),
    "imputed": make_pipeline(SimpleImputer(), StandardScaler(), RVR(**plain)),
    "columns": make_pipeline(
        ColumnTransformer([("scaled", StandardScaler(), [0]), ("range", MinMaxScaler(), [1])]),
        gp(RBFKernel(1.0)),
    ),
    "searched": GridSearchCV(RVR(RBF(1.0), **plain), {"basis__length_scale": [0.5, 1.0]}, cv=2),
}
CLASSIFICATIONS = {
    "default": (RVC(), SIDE),
    "least squares": (RVC(link="least_squares", adapt=None), SIDE),
    "least squares, three": (RVC(link="least_squares", adapt=None), THIRDS),
    "logit": (classical(), SIDE),
    "logit, augmented": (classical(augment=True), SIDE),
    "logit, calibrated": (classical(calibrate=3), SIDE),
    "probit": (classical(link="probit"), SIDE),
    "probit, calibrated": (classical(link="probit", calibrate=3), SIDE),
    "one against the rest": (classical(multi_class="ovr"), THIRDS),
    "probit, three": (classical(link="probit", augment=True), THIRDS),
    "softmax": (classical(), THIRDS),
    "softmax, augmented": (classical(augment=True), THIRDS),
    "softmax, calibrated": (classical(calibrate=3), THIRDS),
    "in a pipeline": (make_pipeline(StandardScaler(), classical()), SIDE),
    "after skl2onnx": (make_pipeline(SimpleImputer(), classical(multi_class="ovr")), THIRDS),
}


@pytest.fixture(scope="module", params=[None, SimpleImputer()], ids=["alone", "by skl2onnx"])
def line(request):
    """The same model written by us and by skl2onnx."""
    return make_pipeline(request.param, RVR(**plain)).fit(X, Y)


def assert_regression(found, model, new, dtype, scale):
    mean, std = (one.reshape(len(new), -1) for one in model.predict(new, return_std=True))
    assert found["mean"].dtype == found["std"].dtype == DTYPES[dtype]
    assert np.abs(found["mean"] - mean).max() < LIMIT[dtype] * scale
    assert np.abs(found["std"] - std).max() < LIMIT[dtype] * scale


@pytest.mark.sampled
@pytest.mark.parametrize("name", REGRESSIONS)
def test_regression(name):
    model = REGRESSIONS[name].fit(X, Y)
    for dtype in DTYPES:
        found = exported(model, NEW, dtype)
        assert list(found) == ["mean", "std"]
        if hasattr(model, "best_estimator_"):
            assert_regression(found, model.best_estimator_, NEW, dtype, Y.std())
        else:
            assert_regression(found, model, NEW, dtype, Y.std())


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_zoo(name, dtype):
    """In units of the predictive standard deviation, at inputs outside the training too."""
    if dtype == "float" and name == "forecast far from 0":
        pytest.skip("a float of 10,000 has no more digits")
    fitted = zoo_model(name)
    program = program_of(fitted)
    new = inputs(program, 50).astype(np.float32).astype(np.float64)
    new = np.abs(new) if program.kind == "Forecaster" else new
    found = exported(fitted, new, dtype)
    found.pop("label", None)
    right = program.run(new) if program.kind == "Forecaster" else python(fitted, new)
    limits = PROBABILITY_LIMIT if program.is_classifier else LIMIT
    assert largest_difference(found, right) < limits[dtype]


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"augment": True}], ids=str)
def test_several_targets(options):
    model = RVR(**plain, **options).fit(X, TWO)
    for dtype in DTYPES:
        found = exported(model, NEW, dtype)
        assert found["mean"].shape == (30, 2)
        assert_regression(found, model, NEW, dtype, TWO.std())


def test_no_functions():
    model = RVR(bias=False, **plain).fit(X, RNG.normal(size=70))
    assert_regression(exported(model, NEW, "double"), model, NEW, "double", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFICATIONS)
def test_classification(name):
    model, y = CLASSIFICATIONS[name]
    model.fit(X, y)
    for dtype in DTYPES:
        found = exported(model, NEW, dtype)
        assert list(found) == ["label", "probabilities"]
        expected = model.predict_proba(NEW)
        assert found["probabilities"].dtype == DTYPES[dtype]
        assert np.abs(found["probabilities"] - expected).max() < PROBABILITY_LIMIT[dtype]
        assert found["label"].dtype == np.int64
        np.testing.assert_array_equal(found["label"], model.predict(NEW))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array(["no", "sí"]), object),
        (np.array([-3, 7]), np.int64),
        (np.array([False, True]), np.int64),
        (np.array([1.0, 2.0]), np.float32),
    ],
    ids=["text", "whole", "bool", "float"],
)
@pytest.mark.parametrize("step", [None, SimpleImputer()], ids=["alone", "by skl2onnx"])
def test_labels(labels, expected, step):
    model = make_pipeline(step, classical()).fit(X, labels[SIDE])
    found = exported(model, NEW)["label"]
    assert found.dtype == expected
    np.testing.assert_array_equal(found, model.predict(NEW))


def test_missing_values_are_filled():
    model = make_pipeline(SimpleImputer(), RVR(**plain)).fit(X, Y)
    holes = NEW.copy()
    holes[::3, 0] = np.nan
    for dtype in DTYPES:
        assert_regression(exported(model, holes, dtype), model, holes, dtype, Y.std())


def test_gaps_of_another_kind():
    table = X.copy()
    table[::5, 0] = -9.0
    model = make_pipeline(SimpleImputer(missing_values=-9.0), RVR(**plain)).fit(table, Y)
    holes = NEW.copy()
    holes[::3, 0] = -9.0
    assert_regression(exported(model, holes, "double"), model, holes, "double", Y.std())
    marked = make_pipeline(SimpleImputer(missing_values=-9.0, add_indicator=True), RVR(**plain))
    with pytest.raises(NotExportableError, match="add_indicator=False"):
        to_onnx(marked.fit(table, Y))


def test_powers_of_inputs():
    """In float: for double, older releases of onnxruntime lack a node that skl2onnx writes."""
    powers = PolynomialFeatures(3, include_bias=False)
    model = make_pipeline(powers, RVR("linear", **plain)).fit(X, Y)
    assert_regression(exported(model, NEW), model, NEW, "float", Y.std())


@pytest.mark.sampled
@pytest.mark.parametrize("with_inputs", [False, True])
def test_forecaster(with_inputs):
    t = np.arange(80)
    y = np.sin(t / 3.0) + 0.05 * RNG.normal(size=80)
    other = RNG.normal(size=(80, 1)) if with_inputs else None
    model = Forecaster(RVR(**plain), lags=3).fit(y, other)
    read = from_json(to_json(model))
    new = RNG.normal(size=(10, read.n_features_in_)).astype(np.float32).astype(float)
    for dtype in DTYPES:
        assert_regression(exported(model, new, dtype), read, new, dtype, y.std())


@pytest.mark.slow
def test_a_model_that_was_read_back():
    for model in (RVR(**plain).fit(X, Y), classical().fit(X, SIDE)):
        direct, again = (exported(one, NEW, "double") for one in (model, from_json(to_json(model))))
        for name, values in direct.items():
            np.testing.assert_array_equal(again[name], values)


@pytest.mark.slow
def test_large_weights_that_cancel_are_added_in_double():
    """A wide kernel: in float32 the graph would be wrong in the third digit."""
    x = np.linspace(-1, 1, 60)[:, None]
    y = np.sin(3 * x[:, 0]) + 1e-3 * np.random.default_rng(1).normal(size=60)
    model = RVR(RBF(2.0), **plain).fit(x, y)
    graph = to_onnx(model)
    assert any(node.op_type == "Cast" for node in graph.graph.node)
    new = np.random.default_rng(2).uniform(-1, 1, size=(50, 1)).astype(np.float32)
    assert_regression(run(graph, new), model, new.astype(float), "float", 1e-2 * y.std())
    plain_graph = to_onnx(RVR(RBF(0.5), **plain).fit(X, Y))
    assert not any(node.op_type == "Cast" for node in plain_graph.graph.node)


def test_inputs_far_from_zero():
    model = make_pipeline(StandardScaler(), RVR(**plain)).fit(1000.0 + X, Y)
    new = (1000.0 + NEW).astype(np.float32).astype(float)
    for dtype in DTYPES:
        assert_regression(exported(model, new, dtype), model, new, dtype, Y.std())


@pytest.mark.sampled
@pytest.mark.parametrize("opset", [13, 15, 18, 21])
def test_opset(opset, line):
    graph = to_onnx(line, opset=opset)
    assert {one.domain: one.version for one in graph.opset_import}[""] == opset
    assert graph.ir_version <= 10  # what onnxruntime 1.19 reads
    assert_regression(run(graph, NEW.astype(np.float32)), line, NEW, "float", Y.std())


def test_form(line):
    graph = to_onnx(line, feature_names=["volts", "amps"], target_names=["Ω"])
    session = session_of(graph)
    (given,) = session.get_inputs()
    assert (given.name, given.shape[1], given.type) == ("X", 2, "tensor(float)")
    assert not isinstance(given.shape[0], int)
    assert [one.shape[1] for one in session.get_outputs()] == [1, 1]
    for rows in (0, 1, 3):
        mean, std = session.run(None, {"X": np.zeros((rows, 2), dtype=np.float32)})
        assert mean.shape == std.shape == (rows, 1)
    record = session.get_modelmeta().custom_metadata_map
    assert json.loads(record["feature_names"]) == ["volts", "amps"]
    assert json.loads(record["target_names"]) == ["Ω"]
    assert record["kind"] == "RVR"
    assert graph.producer_name == "sparsebayes"
    assert [one.name for one in to_onnx(line, std=False).graph.output] == ["mean"]


def test_classes_in_the_metadata():
    for labels in (np.array(["no", "yes"]), np.array([1, 5])):
        graph = to_onnx(classical().fit(X, labels[SIDE]))
        record = {one.key: one.value for one in graph.metadata_props}
        assert json.loads(record["classes"]) == labels.tolist()


# Through skl2onnx itself.


@pytest.mark.sampled
@pytest.mark.parametrize("model", [RVR(**plain), gp(RBFKernel(1.0))], ids=["RVR", "GPR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_option_return_std(model, dtype):
    register_onnx()
    register_onnx()
    steps = ColumnTransformer([("scaled", StandardScaler(), [0]), ("as is", "passthrough", [1])])
    line = make_pipeline(steps, model).fit(X, Y)
    sample = X[:1].astype(dtype)
    kind = type(model)
    graph = skl2onnx.to_onnx(line, sample, options={kind: {"return_std": True}}, target_opset=18)
    name = "float" if dtype == np.float32 else "double"
    assert_regression(run(graph, NEW.astype(dtype)), line, NEW, name, Y.std())
    assert list(run(skl2onnx.to_onnx(line, sample, target_opset=18), NEW.astype(dtype))) == ["mean"]
    with pytest.raises(NameError, match="return_cov"):
        skl2onnx.to_onnx(line, sample, options={kind: {"return_cov": True}})


def test_options_of_classifiers():
    register_onnx()
    words = np.array(["no", "yes"])
    model = make_pipeline(StandardScaler(), classical()).fit(X, words[SIDE])
    sample, new = X[:1].astype(np.float32), NEW.astype(np.float32)

    def converted(**options):
        graph = skl2onnx.to_onnx(model, sample, options={RVC: options}, target_opset=18)
        return session_of(graph).run(None, {"X": new})

    expected = model.predict_proba(NEW)
    _, maps = converted()
    assert [sorted(one) for one in maps] == [["no", "yes"]] * 30
    label, tensor = converted(zipmap=False)
    assert np.abs(tensor - expected).max() < 1e-5
    np.testing.assert_array_equal(label, model.predict(NEW))
    number, _ = converted(zipmap=False, nocl=True)
    np.testing.assert_array_equal(words[number], label)


def test_whole_numbers_as_inputs():
    register_onnx()
    whole = np.round(3 * X).astype(np.int64)
    model = RVR(**plain).fit(whole, Y)
    graph = skl2onnx.to_onnx(model, whole[:1], options={RVR: {"return_std": True}}, target_opset=18)
    assert_regression(run(graph, whole), model, whole, "float", Y.std())


def test_two_models_in_one_graph():
    """Names of the one do not meet those of the other."""
    from sklearn.ensemble import VotingRegressor

    register_onnx()
    model = VotingRegressor([("a", RVR(**plain)), ("b", RVR("laplacian", **plain))]).fit(X, Y)
    graph = skl2onnx.to_onnx(model, X[:1].astype(np.float32), target_opset=18)
    (found,) = run(graph, NEW.astype(np.float32)).values()
    assert np.abs(found[:, 0] - model.predict(NEW)).max() < 1e-4 * Y.std()


def test_an_old_opset_is_refused_with_a_sentence():
    register_onnx()
    model = RVR(**plain).fit(X, Y)
    with pytest.raises(ValueError, match="target_opset must be 13 or later, got 12"):
        skl2onnx.to_onnx(model, X[:1].astype(np.float32), target_opset=12)


# What is refused.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "half"}, "dtype must be one of .*'half'"),
        ({"std": 1}, "std must be True or False, got 1"),
        ({"opset": 12}, "opset must be a whole number from 13 to"),
        ({"opset": 1000}, "got 1000"),
        ({"opset": True}, "got True"),
        ({"feature_names": ["a"]}, "feature_names has 1 name"),
        ({"target_names": ["a", "b"]}, "target_names has 2 name"),
    ],
)
def test_bad_arguments(options, message, line):
    with pytest.raises(ValueError, match=message):
        to_onnx(line, **options)


def test_models_that_have_no_graph():
    with pytest.raises(NotExportableError, match="GaussianProcessRegressor cannot be exported"):
        to_onnx(GaussianProcessRegressor(optimizer=None).fit(X, Y))
    line = make_pipeline(SimpleImputer(), GaussianProcessRegressor(optimizer=None)).fit(X, Y)
    with pytest.raises(NotExportableError, match="cannot be exported"):
        to_onnx(line)
    own = make_pipeline(SimpleImputer(), RVR(lambda A, B: A @ B.T, **plain)).fit(X, Y)
    with pytest.raises(NotExportableError, match="cannot be exported"):
        to_onnx(own)


@pytest.mark.parametrize("missing", ["onnx", "skl2onnx"])
def test_the_missing_extra_is_named(missing, monkeypatch):
    model = make_pipeline(SimpleImputer(), RVR(**plain)).fit(X, Y)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf'needs {missing}: pip install "sparsebayes\[onnx\]"'):
        to_onnx(model)


@pytest.mark.slow
def test_onnx_is_imported_where_it_is_used():
    code = "import sys, sparsebayes.export; print('onnx' in sys.modules, 'skl2onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_the_model_is_not_changed():
    model = RVR(**plain).fit(X, Y)
    first = to_onnx(model).SerializeToString()
    assert to_onnx(model).SerializeToString() == first
    assert onnx.load_from_string(first).graph.name == "RVR"
