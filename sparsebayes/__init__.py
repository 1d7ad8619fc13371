"""Sparse Bayesian models, tuned by the evidence: relevance vector machines for scikit-learn."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsebayes.classification import RVC
    from sparsebayes.comparison import Comparison, compare
    from sparsebayes.denoising import Denoised, Denoiser, denoise
    from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness, Trace
    from sparsebayes.engine.solvers.em import EM
    from sparsebayes.engine.solvers.sequential import Sequential
    from sparsebayes.engine.solvers.subspace import Subspace
    from sparsebayes.forecasting import Forecaster
    from sparsebayes.gp import LeaveOneOutGPR, ReducedRankGPR, loo_log_predictive
    from sparsebayes.pareto import ParetoClassifier
    from sparsebayes.regression import RVR, Statistics, StudentT
    from sparsebayes.sampling import ClassificationSamples, PosteriorSamples, sample_posterior
    from sparsebayes.uncertain import NoisyInputGPR, predict_uncertain

__version__ = "0.2.0"

_HOMES = {
    "RVC": "sparsebayes.classification",
    "Comparison": "sparsebayes.comparison",
    "compare": "sparsebayes.comparison",
    "RVR": "sparsebayes.regression",
    "Statistics": "sparsebayes.regression",
    "StudentT": "sparsebayes.regression",
    "Denoised": "sparsebayes.denoising",
    "Denoiser": "sparsebayes.denoising",
    "denoise": "sparsebayes.denoising",
    "LeaveOneOutGPR": "sparsebayes.gp",
    "ReducedRankGPR": "sparsebayes.gp",
    "loo_log_predictive": "sparsebayes.gp",
    "Forecaster": "sparsebayes.forecasting",
    "NoisyInputGPR": "sparsebayes.uncertain",
    "ParetoClassifier": "sparsebayes.pareto",
    "ClassificationSamples": "sparsebayes.sampling",
    "PosteriorSamples": "sparsebayes.sampling",
    "sample_posterior": "sparsebayes.sampling",
    "predict_uncertain": "sparsebayes.uncertain",
    "EM": "sparsebayes.engine.solvers.em",
    "Flat": "sparsebayes.engine.model.priors",
    "Gamma": "sparsebayes.engine.model.priors",
    "Smoothness": "sparsebayes.engine.model.priors",
    "Trace": "sparsebayes.engine.model.priors",
    "Sequential": "sparsebayes.engine.solvers.sequential",
    "Subspace": "sparsebayes.engine.solvers.subspace",
}

__all__ = [
    "EM",
    "RVC",
    "RVR",
    "ClassificationSamples",
    "Comparison",
    "Denoised",
    "Denoiser",
    "Flat",
    "Forecaster",
    "Gamma",
    "LeaveOneOutGPR",
    "NoisyInputGPR",
    "ParetoClassifier",
    "PosteriorSamples",
    "ReducedRankGPR",
    "Sequential",
    "Smoothness",
    "Statistics",
    "StudentT",
    "Subspace",
    "Trace",
    "__version__",
    "compare",
    "denoise",
    "loo_log_predictive",
    "predict_uncertain",
    "sample_posterior",
]


def __getattr__(name: str) -> Any:
    # Imported when asked for: the engine works without scikit-learn.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:  # a module of ours
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sparsebayes._support.guesses.answers import unknown_name

    # ``from sparsebayes import ...`` drops what an AttributeError says, but not an ImportError.
    asked_by = sys._getframe(1).f_globals["__name__"]
    error = ImportError if asked_by == "importlib._bootstrap" else AttributeError
    raise error(unknown_name(name, __all__))


def __dir__() -> list[str]:
    return sorted(__all__)
