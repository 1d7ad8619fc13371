"""Forty random models of all kinds go through JSON and C, and come back equal."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sparsebayes import RVC, RVR, ReducedRankGPR
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline, Polynomial, ThinPlateSpline
from sparsebayes.export import from_json, to_json
from sparsebayes.export.c.compiled import find_compiler, run_c
from sparsebayes.export.programs.differences import largest_difference
from sparsebayes.export.programs.models import program_of
from tests.export.test_c import STRICT
from tests.export.zoo import inputs, python

COMPILER = find_compiler()
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
BASES = [
    lambda: RBF(1.0),
    lambda: RBF(0.6) + Linear(),
    lambda: Laplacian(2.0),
    lambda: ThinPlateSpline(1.0),
    lambda: LinearSpline(3.0),
    lambda: Polynomial(2) + RBF(1.5),
    lambda: "linear",
]


@st.composite
def settings_of_models(draw):
    kind = draw(st.sampled_from(["RVR", "RVR", "RVC", "RVC", "process"]))
    return {
        "kind": kind,
        "seed": draw(st.integers(0, 2**16)),
        "n_inputs": draw(st.integers(1, 5)),
        "constant_input": draw(st.booleans()),
        "n_outputs": draw(st.integers(1, 3) if kind == "RVR" else st.integers(2, 4)),
        "signal": draw(st.sampled_from([0.0, 1.0, 3.0])),  # with 0 no function may be kept
        "scale": draw(st.sampled_from([1e-3, 1.0, 1e4])),
        "basis": draw(st.integers(0, len(BASES) - 1)),
        "bias": draw(st.booleans()),
        "augment": draw(st.booleans()),
        "link": draw(st.sampled_from(["logit", "probit", "least_squares"])),
        "calibrate": draw(st.sampled_from([None, 2])),
        "scaler": draw(st.sampled_from([None, StandardScaler, MinMaxScaler])),
        "dtype": draw(st.sampled_from(["double", "float"])),
        "std": draw(st.booleans()),
    }


def fitted(case):
    """A model of random data by these settings."""
    rng = np.random.default_rng(case["seed"])
    X = rng.uniform(-2.0, 2.0, (50, case["n_inputs"]))
    if case["constant_input"]:
        X[:, -1] = 1.5
    truth = np.column_stack([np.sin((k + 1) * X[:, 0]) + X.sum(axis=1) for k in range(4)])
    noisy = case["signal"] * truth + 0.5 * rng.standard_normal(truth.shape)
    common = {"adapt": None, "calibrate": case["calibrate"], "bias": case["bias"], "prior": "bic"}
    basis = BASES[case["basis"]]()
    common["augment"] = case["augment"] and basis != "linear"
    if case["kind"] == "RVR":
        y = case["scale"] * noisy[:, : case["n_outputs"]]
        model = RVR(basis, **common)
        y = y[:, 0] if case["n_outputs"] == 1 else y
    elif case["kind"] == "RVC":
        y = noisy[:, : case["n_outputs"]].argmax(axis=1)
        y[: case["n_outputs"]] = np.arange(case["n_outputs"])
        model = RVC(basis, link=case["link"], **common)
    else:
        y = case["scale"] * noisy[:, 0]
        model = ReducedRankGPR(n_support=6, augment=case["augment"], max_iter=5, n_cycles=1,
                               calibrate=case["calibrate"], random_state=0)  # fmt: skip
    if case["scaler"] is not None:
        X, model = 100.0 + 7.0 * X, make_pipeline(case["scaler"](), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*(too few|calibrat).*")
        return model.fit(X, y)


def drawn(count):
    """Settings that draw so many models, always the same ones."""
    checks = [HealthCheck.too_slow]
    return settings(
        max_examples=count, deadline=None, derandomize=True, database=None,
        suppress_health_check=checks,
    )  # fmt: skip


@pytest.mark.slow
@needs_compiler
@drawn(10)
@given(settings_of_models())
def test_random_models_come_back_equal(case):
    comes_back_equal(case)


@pytest.mark.slow
@needs_compiler
@drawn(100)
@given(settings_of_models())
def test_many_random_models_come_back_equal(case):
    comes_back_equal(case)


def comes_back_equal(case):
    model = fitted(case)
    text = to_json(model)
    again, program = from_json(text), program_of(model)
    assert to_json(again) == text
    X = inputs(program, 40)
    X = X if case["dtype"] == "double" else X.astype(np.float32).astype(np.float64)
    right = python(model, X)
    assert largest_difference(again.program.run(X), right) < 1e-8
    std = case["std"] or program.is_classifier
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found, _ = run_c(model, X, dtype=case["dtype"], std=std, compiler=COMPILER, flags=STRICT)
    assert found.keys() == (right.keys() if std else {"mean"})
    if case["dtype"] == "double":
        assert largest_difference(found, right) < 1e-8
    else:
        coarse = any("dtype='float'" in str(warning.message) for warning in told)
        assert coarse or largest_difference(found, right) < 2e-3
