"""One function that describes whatever was fitted."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from sparsebayes.classification import RVC
from sparsebayes.denoising import Denoised, Denoiser
from sparsebayes.forecasting import Forecaster
from sparsebayes.gp import LeaveOneOutGPR, ReducedRankGPR
from sparsebayes.pareto import ParetoClassifier
from sparsebayes.regression import RVR
from sparsebayes.summaries.forecasts import forecaster
from sparsebayes.summaries.fronts import front
from sparsebayes.summaries.machines import machine
from sparsebayes.summaries.processes import leave_one_out, noisy_inputs, reduced_rank
from sparsebayes.summaries.signals import denoised, denoiser
from sparsebayes.summaries.summary import Summary
from sparsebayes.uncertain import NoisyInputGPR


@singledispatch
def describe(model: Any, **names: Any) -> Summary:
    """The summary of a fitted model; `names` are those of inputs and targets."""
    raise TypeError(f"There is no summary of a {type(model).__name__}.")


for kind, function in {
    RVR: machine,
    RVC: machine,
    ReducedRankGPR: reduced_rank,
    LeaveOneOutGPR: leave_one_out,
    NoisyInputGPR: noisy_inputs,
    Forecaster: forecaster,
    ParetoClassifier: front,
    Denoiser: denoiser,
    Denoised: denoised,
}.items():
    describe.register(kind, function)
