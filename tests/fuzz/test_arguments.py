"""Every parameter and argument is tried, and what once went wrong does not again."""

import inspect

import numpy as np
import pytest

from tests.fuzz import functions, parameters, public
from tests.fuzz.law import Verdict, judge
from tests.fuzz.values import BAD

# From a campaign of 7209 cases: errors without the parameter's name, raw errors, answers that were
# not finite, and calls without an end.
CONSTRUCTED = [
    ("basis.KernelFunction", "function", "None"),
    ("basis.Union", "left", "2"),
    ("classification.RVC", "n_jobs", "'nonsense'"),
    ("classification.RVC", "random_state", "-1"),
    ("dictionaries.Union", "parts", "[]"),
    ("engine.EM", "mackay", "'nonsense'"),
    ("engine.Gamma", "a", "None"),
    ("engine.Policy", "block", "None"),
    ("engine.Sequential", "n_restarts", "nan"),
    ("engine.Sequential", "policy", "None"),
    ("engine.Smoothness", "c", "''"),
    ("engine.Subspace", "n_add", "-1"),
    ("forecasting.Forecaster", "estimator", "2"),
    ("forecasting.Forecaster", "pool", "-1"),
    ("gp.LeaveOneOutGPR", "alpha", "-1"),
    ("plots.RegressionDisplay", "mean", "None"),
    ("rows.CSV", "path", "0"),
    ("rows.Parquet", "weight", "True"),
    ("scores.PredictiveScorer", "score", "None"),
]
CALLED = [
    ("datasets.make_sinc", "n_samples", "None"),
    ("datasets.make_mackey_glass", "tau", "1e300"),
    ("datasets.make_friedman2", "random_state", "-1"),
    ("datasets.lagged", "lags", "10**30"),
    ("export.to_json", "indent", "0.5"),
    ("forecasting.Forecaster.backtest", "methods", "None"),
    ("pareto.hull_area", "fpr", "None"),
    ("persistence.load", "path", "None"),
    ("plots.EvidenceDisplay.from_estimator", "ax", "True"),
    ("regression.InversePrediction.pdf", "x", "nan"),
    ("regression.RVR.predict", "return_std", "array (2, 3)"),
    ("regression.RVR.sample_y", "n_samples", "10**30"),
    ("regression.RVR.summary", "feature_names", "True"),
    ("sampling.sample_posterior", "n_jobs", "0"),
    ("scores.crps", "mean", "None"),
    ("scores.negative_log_predictive_density", "std", "1e-300"),
    ("uncertain.predict_uncertain", "cov", "1e300"),
]


@pytest.mark.parametrize(("name", "parameter", "value"), CONSTRUCTED)
def test_a_parameter_with_a_bad_value(name, parameter, value):
    outcome = judge(parameters.constructed(name, {parameter: value}))
    assert outcome.verdict is Verdict.REFUSED, outcome.reason


@pytest.mark.parametrize(("name", "argument", "value"), CALLED)
def test_an_argument_with_a_bad_value(name, argument, value):
    outcome = judge(functions.called(name, {argument: value}))
    assert outcome.verdict is Verdict.REFUSED, outcome.reason


def test_a_parameter_may_be_set_later():
    case = parameters.constructed("regression.RVR", {"tol": "nan"}, by_setting=True)
    assert judge(case).verdict is Verdict.REFUSED


def test_a_new_public_class_is_tried(monkeypatch):
    class New:
        def __init__(self, size=1):
            self.size = int(size)  # which says nothing of "size"

    monkeypatch.setitem(public.NAMES, "basis.New", New)
    tried = {case.label.partition("(")[0] for case in systematic(parameters.cases)}
    assert "basis.New" in tried and len(tried) > 60
    outcome = judge(parameters.constructed("basis.New", {"size": "None"}))
    assert outcome.verdict is Verdict.VIOLATION


def test_a_new_public_function_is_tried(monkeypatch):
    def new(size=1):
        return float(size) * np.inf

    monkeypatch.setitem(public.NAMES, "datasets.new", new)
    tried = {case.label.partition("(")[0] for case in systematic(functions.cases)}
    assert "datasets.new" in tried and len(tried) > 80
    outcomes = [judge(functions.called("datasets.new", {"size": value})) for value in ("2", "''")]
    assert [one.verdict for one in outcomes] == [Verdict.VIOLATION] * 2


def test_all_methods_can_be_called():
    """If this fails for a new method: say in METHODS with which arguments it works."""
    methods = [call for call in functions.calls().values() if call.method]
    assert len(methods) > 40 and all(isinstance(call.known, dict) for call in methods)


def systematic(cases):
    """The cases before those that are drawn at random, of one value."""
    value = f"={next(iter(BAD))})"
    for case in cases(np.random.default_rng(0)):
        if not case.label.endswith(value):
            return
        yield case


def test_all_parameters_of_estimators_are_tried():
    labels = [case.label for case in systematic(parameters.cases)]
    for name in ("regression.RVR", "classification.RVC", "forecasting.Forecaster"):
        for parameter in inspect.signature(public.NAMES[name]).parameters:
            assert f"{name}({parameter}=None)" in labels
            assert f"{name}.set_params({parameter}=None)" in labels
