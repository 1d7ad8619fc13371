"""Some cases of every part, always the same; `make fuzz` tries many more."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.law import Case, Verdict, judge
from tests.fuzz.parts import PARTS
from tests.fuzz.routes import routes


@pytest.mark.parametrize("part", PARTS)
@settings(
    derandomize=True, database=None, deadline=None, max_examples=100,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(seed=st.integers(0, 2**32 - 1))
def test_a_call_answers_or_says_what_is_wrong(part, seed):
    case = next(PARTS[part](np.random.default_rng(seed)))
    outcome = judge(case)
    assert outcome.verdict is not Verdict.VIOLATION, f"{outcome.label}: {outcome.reason}"


def test_good_data_are_answered():
    """A route that refuses good data would try nothing."""
    some = routes()[::5]
    outcomes = [judge(Case(route.label, lambda route=route: route.run(**route.good)))
                for route in some]  # fmt: skip
    assert [o for o in outcomes if o.verdict is not Verdict.ANSWERED] == []


@pytest.mark.slow
def test_all_good_data_are_answered():
    outcomes = [judge(Case(route.label, lambda route=route: route.run(**route.good)))
                for route in routes()]  # fmt: skip
    assert [o for o in outcomes if o.verdict is not Verdict.ANSWERED] == []


def test_every_method_that_takes_data_is_tried():
    labels = {route.label for route in routes()}
    wanted = {
        "regression.RVR.fit", "regression.RVR.partial_fit", "regression.RVR.predict",
        "regression.RVR.predict, return_cov=True", "regression.RVR.score",
        "regression.Statistics.update", "classification.RVC.predict_proba",
        "gp.LeaveOneOutGPR.predict, return_std=True", "gp.ReducedRankGPR.sample_y",
        "uncertain.NoisyInputGPR.predict_interval", "forecasting.Forecaster.update",
        "forecasting.Forecaster.fit", "denoising.Denoiser.transform", "denoising.denoise",
        "pareto.ParetoClassifier.evaluate", "sampling.sample_posterior",
        "sampling.PosteriorSamples.log_density", "uncertain.predict_uncertain",
        "gp.loo_log_predictive", "comparison.compare", "scores.crps",
    }  # fmt: skip
    assert wanted - labels == set()
