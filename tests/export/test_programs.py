"""A program says what the model says."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import kernels
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.utils.validation import NotFittedError

from sparsebayes import RVR, Forecaster, ReducedRankGPR
from sparsebayes.basis import RBF, Laplacian
from sparsebayes.export import NotExportableError, from_json, to_c, to_json, to_onnx
from sparsebayes.export.programs.differences import agree, largest_difference
from sparsebayes.export.programs.forecasting import write_step
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.operations import OPERATIONS
from sparsebayes.export.programs.program import ProgramBuilder, checked_step
from sparsebayes.forecasting.one_step import one_step
from sparsebayes.forecasting.transforms import BOUNDED
from tests.export.zoo import MODELS, inputs, model, python


def assert_same(found, right, limit):
    """Within a share of a standard deviation, or of 1."""
    unit = right.get("std", 1.0)
    for name, values in found.items():
        assert values.shape == right[name].shape
        assert np.max(np.abs(values - right[name]) / unit) < limit, name


@pytest.mark.parametrize("name", MODELS)
def test_program_is_the_model(name):
    fitted = model(name)
    program = program_of(fitted)
    X = inputs(program, 6 if isinstance(fitted, Forecaster) else 200)
    X = np.abs(X) if isinstance(fitted, Forecaster) else X
    assert_same(program.run(X), python(fitted, X), 1e-9)


def test_targets_of_two_kernels_stay_in_order():
    X, y = load_diabetes(return_X_y=True)
    X, targets = 20.0 * X[:60, :3], np.column_stack([y[:60], X[:60, 2] * y[:60]])
    fitted = RVR(RBF() + Laplacian(20.0), augment=True, adapt=None, calibrate=None).fit(X, targets)
    assert_same(program_of(fitted).run(X), python(fitted, X), 1e-9)


def test_every_operation_is_used():
    used = {step.operation for name in MODELS for step in program_of(model(name)).steps}
    assert used >= OPERATIONS.keys() - {"sum"}


@pytest.mark.parametrize("name", ["sensor", "varying noise", "process"])
def test_mean_alone_needs_fewer_steps(name):
    program = program_of(model(name))
    part = program.only("mean")
    assert len(part.steps) < len(program.steps) and part.outputs.keys() == {"mean"}
    X = inputs(program, 10)
    np.testing.assert_array_equal(part.run(X)["mean"], program.run(X)["mean"])


def test_names_are_those_of_the_table():
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    fitted = make_pipeline(StandardScaler(), RVR("linear")).fit(X[["bmi", "bp"]], y)
    assert program_of(fitted).feature_names == ["bmi", "bp"]
    assert program_of(fitted, ["a", "b"], "c").target_names == ["c"]
    assert isinstance(X, pandas.DataFrame)
    with pytest.raises(
        ValueError, match=r"feature_names has 1 name\(s\), but the model has 2 input"
    ):
        program_of(fitted, ["a"])
    with pytest.raises(ValueError, match=r"target_names has 2 name\(s\)"):
        program_of(fitted, None, ["c", "d"])


def test_exogenous_inputs_of_a_forecast():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 1)), rng.standard_normal(60)
    fitted = Forecaster(RVR("linear"), lags=2, exog_lags=[0, 1], difference=0, transform=None)
    fitted.fit(y, X)
    program = program_of(fitted)
    assert program.feature_names == ["lag_1", "lag_2", "input_0_lag_0", "input_0_lag_1"]
    found = program.run(np.array([[y[-1], y[-2], 0.7, X[-1, 0]]]))
    mean, std = fitted.predict(1, X=[[0.7]], return_std=True)
    np.testing.assert_allclose(found["mean"][0], mean, rtol=1e-12)
    np.testing.assert_allclose(found["std"][0], std, rtol=1e-12)


def refused(fitted, *words):
    with pytest.raises(NotExportableError) as error:
        to_json(fitted)
    for word in words:
        assert word in str(error.value)


def test_columns_by_name():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = 20.0 * X[:60][["age", "sex", "bmi", "bp"]], y[:60]
    for columns in (["bp", "age"], slice("sex", "bp"), ["bmi"], slice("bp")):
        steps = ColumnTransformer([("scaled", StandardScaler(), columns)], remainder="passthrough")
        fitted = make_pipeline(steps, RVR("linear", calibrate=None)).fit(X, y)
        program = program_of(fitted)
        assert program.feature_names == ["age", "sex", "bmi", "bp"]
        mean, std = fitted.predict(X, return_std=True)
        found = program.run(X.to_numpy())
        np.testing.assert_allclose(found["mean"][:, 0], mean, rtol=1e-10)
        np.testing.assert_allclose(found["std"][:, 0], std, rtol=1e-10)
        np.testing.assert_allclose(
            (program.examples.min(axis=0), program.examples.max(axis=0)),
            (X.min(), X.max()),
            rtol=0.6,
        )


def test_a_model_without_the_steps_before_it_is_a_remedy():
    """What the message says can be done: a step with text, and one that has no operations."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    table["kind"] = np.where(rng.uniform(size=40) < 0.5, "u", "v")
    y = np.sin(table["a"]) + (table["kind"] == "u")
    for steps, word in (
        (
            ColumnTransformer(
                [("scaled", StandardScaler(), ["a", "b"]), ("text", OneHotEncoder(), ["kind"])],
                sparse_threshold=0.0,
            ),
            "The step OneHotEncoder() of",
        ),
        (
            ColumnTransformer([("q", QuantileTransformer(n_quantiles=9), ["a"])]),
            "The step QuantileTransformer(n_quantiles=9) of",
        ),
    ):
        fitted = make_pipeline(steps, RVR(RBF(1.0), calibrate=None)).fit(table, y)
        for write in (to_json, to_c):
            with pytest.raises(NotExportableError, match=r"export model\[-1\]") as error:
                write(fitted)
            assert word in str(error.value) and "\n" not in str(error.value)
        with pytest.raises(NotExportableError, match=r"export model\[-1\]"):
            to_onnx(fitted)
        again = from_json(to_json(fitted[-1]))
        found = again.predict(fitted[:-1].transform(table))
        np.testing.assert_allclose(found, fitted.predict(table), rtol=1e-10)
        assert to_c(fitted[-1]) and to_onnx(fitted[-1])
    places = ColumnTransformer([("q", QuantileTransformer(n_quantiles=9), [0])])
    assert to_onnx(make_pipeline(places, fitted[-1]).fit(table[["a", "b"]].to_numpy(), y))


def test_weights_of_columns_are_refused():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:40, :2], y[:40]
    columns = [("a", StandardScaler(), [0]), ("b", "passthrough", [1])]
    weighted = ColumnTransformer(columns, transformer_weights={"a": 2.0})
    refused(make_pipeline(weighted, RVR("linear")).fit(X, y), "transformer_weights={'a': 2.0}")
    plain = make_pipeline(ColumnTransformer(columns, transformer_weights=None), RVR("linear"))
    assert to_json(plain.fit(X, y))


@pytest.mark.slow
def test_what_cannot_be_exported_is_told():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:40, :2], y[:40]
    points = np.linspace(0.0, 6.0, 40)[:, None]
    own = RVR(lambda a, b: np.exp(-((a - b.T) ** 2)), calibrate=None).fit(
        points, np.sin(points[:, 0])
    )
    refused(own, "Python function", "RBF()")
    steps = make_pipeline(QuantileTransformer(n_quantiles=5), RVR("linear")).fit(X, y)
    refused(steps, "QuantileTransformer", "StandardScaler", "to_onnx")
    odd = kernels.Matern(nu=2.0)
    refused(ReducedRankGPR(odd, n_support=5, optimize=False).fit(X, y), "nu", "2.0")
    refused(LinearRegression().fit(X, y), "LinearRegression", "RVR")
    refused(None, "NoneType", "RVR")


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("forecast")])
def test_one_step_is_the_forecast(name):
    fitted = model(name)
    step = one_step(fitted)
    found = step.predict(fitted.y_[None, : -step.n_past - 1 : -1])
    np.testing.assert_allclose(found, fitted.predict(1, return_std=True), rtol=1e-12)


@pytest.mark.slow
def test_searches_and_pipelines_within_pipelines():
    X, y = load_diabetes(return_X_y=True)
    X, y = 20.0 * X[:60], y[:60]
    plain = {"adapt": None, "calibrate": None}
    search = GridSearchCV(RVR(RBF(1.0), **plain), {"basis__length_scale": [3.0, 5.0]}, cv=2)
    inner = make_pipeline("passthrough", StandardScaler(with_mean=False), search)
    fitted = make_pipeline(StandardScaler(), inner).fit(X, y)
    found = program_of(fitted).run(X)["mean"][:, 0]
    np.testing.assert_allclose(found, fitted.predict(X), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-25, 1e-9, 1e25])
def test_units_of_the_targets_do_not_matter(scale):
    points = np.linspace(0.0, 6.0, 40)[:, None]
    y = np.sin(points[:, 0]) + 0.1 * np.cos(99.0 * points[:, 0])
    program = program_of(RVR(RBF(1.0)).fit(points, scale * y))
    right, short = program.run(points), program.run(points, np.float32)
    assert largest_difference(short, right) < 1e-4


def test_no_number_is_no_agreement():
    right = {"mean": np.zeros((2, 1)), "std": np.ones((2, 1))}
    for name in right:
        odd = right | {name: np.array([[np.nan], [1.0]])}
        assert largest_difference(odd, right) == np.inf and not agree(odd, right, "float")
    assert agree(right, right, "double") and largest_difference(right, right) == 0.0


def test_counts_have_no_program():
    step = one_step(Forecaster(RVR("linear"), lags=1).fit(np.arange(30.0) % 7))
    counts = replace(step, recursion=replace(step.recursion, transform=BOUNDED))
    with pytest.raises(NotExportableError, match=r"counts.*transform=None"):
        write_step(ProgramBuilder(1), counts, None)


@pytest.mark.slow
def test_a_mixture_of_forecasts_has_no_single_step():
    with pytest.raises(NotExportableError, match=r"mixture of models.*Forecaster\(lags=2\)"):
        to_json(Forecaster().fit(np.sin(np.arange(60.0))))
    with pytest.raises(NotExportableError, match="forecasters_"):
        to_json(Forecaster(lags=1, n_jobs=1).fit(np.random.default_rng(0).normal(size=(40, 2))))


def test_a_model_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        to_json(RVR())


@pytest.mark.slow
def test_constant_inputs_and_far_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack([1e6 + rng.uniform(0, 1, 60), np.full(60, 7.0)])
    y = np.sin(6 * (X[:, 0] - 1e6)) + 0.1 * rng.standard_normal(60)
    for fitted in (RVR(calibrate=None).fit(X, y), make_pipeline(StandardScaler(), RVR()).fit(X, y)):
        program = program_of(fitted)
        X_new = inputs(program, 50)
        X_new[:, 1] = 7.0
        assert_same(program.run(X_new), python(fitted, X_new), 1e-8)


BAD_STEPS = {
    "operation": ("a step", "spin", [3], {}),
    "arity": ("takes 2 values", "add", [3], {}),
    "lacks": ("lacks", "matrix", [3], {}),
    "foreign": ("does not know", "exp", [3], {"values": [1.0]}),
    "width": ("'centres' for 2 numbers", "rbf", [3], {"centres": [[1.0, 2.0]]}),
    "not finite": ("bad 'values'", "constant", [3], {"values": [np.inf]}),
    "empty": ("bad 'values'", "constant", [3], {"values": []}),
    "axes": ("bad 'matrix'", "matrix", [3], {"matrix": [1.0, 2.0, 3.0]}),
    "triangle": ("needs 6", "triangle", [3], {"triangle": [1.0]}),
    "index": ("not among 3", "pick", [3], {"index": [3]}),
    "sizes": ("values of 3 and 2", "add", [3, 2], {}),
    "powers": ("whole numbers", "monomials", [1], {"powers": [[0.5]]}),
    "nu": ("0.5, 1.5 and 2.5", "matern", [1], {"centres": [[1.0]], "nu": 2.0}),
    "products": ("unequal length", "products", [3, 2], {"rows": 1, "columns": 1}),
    "period": (
        "positive 'period'",
        "periodic",
        [1],
        {"centres": [[1.0]], "period": 0.0, "length_scale": 1.0},
    ),
    "rows": ("whole number of rows", "products", [3, 3], {"rows": 1.5, "columns": 1}),
    "negative rows": ("whole number of rows", "products", [3, 3], {"rows": -1, "columns": -1}),
    "large powers": ("whole numbers from 0 to 64", "monomials", [1], {"powers": [[1e300]]}),
    "square": ("no square matrix", "half_solve", [3, 3], {}),
}


@pytest.mark.parametrize("case", BAD_STEPS)
def test_bad_steps_are_refused(case):
    words, operation, sizes, constants = BAD_STEPS[case]
    with pytest.raises(ValueError, match="step") as error:
        checked_step("value", operation, ["u", "v"][: len(sizes)], sizes, constants)
    assert case == "operation" or words in str(error.value)


@pytest.mark.parametrize("name", ["1a", "float", "x", "a-b", "", "A"])
def test_bad_names_of_steps_are_refused(name):
    with pytest.raises(ValueError, match="may not be called"):
        checked_step(name, "exp", ["u"], [1], {})


def test_names_that_are_taken_get_a_number():
    builder = ProgramBuilder(2)
    names = [builder.add("value", "exp", builder.x).name for _ in range(3)]
    assert names == ["value", "value_2", "value_3"]
    assert builder.add("double", "exp", builder.x).name == "double_2"


def test_no_scaler_is_no_step():
    fitted = RVR(RBF(1.0), calibrate=None).fit(np.arange(9.0)[:, None], np.arange(9.0) ** 2)
    steps = program_of(fitted).steps
    assert [step.name for step in steps if "x" in step.of] == ["units"]
