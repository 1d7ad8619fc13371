"""The papers' tables and figures, made again: ``python -m experiments`` lists them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

NAMES = (
    "tipping2001.sinc",
    "tipping2001.regression",
    "tipping2001.ripley",
    "tipping2001.classification",
    "tipping2001.log_odds",
    "tipping2001.scales",
    "quinonero2004.toy",
    "quinonero2004.local_minima",
    "quinonero2004.mackey_glass",
    "quinonero2004.adaptive_widths",
    "quinonero2004.subspace_kin40k",
    "quinonero2004.subspace_mackey_glass",
    "quinonero2004.subspace_mnist",
    "quinonero2004.reduced_rank",
    "quinonero2004.stereo",
    "quinonero2004.uncertain_input",
    "quinonero2004.forecasts",
    "quinonero2004.ph",
    "quinonero2004.noisy_inputs",
    "rasmussen2005.predictive",
    "rasmussen2005.losses",
    "kth2019.classification",
    "kth2019.regression",
    "schmolck2008.polynomials",
    "schmolck2008.one_function",
    "schmolck2008.table",
    "schmolck2008.dictionaries",
    "schmolck2008.separation",
    "schmolck2008.spindles",
    "schmolck2008.local_minima",
    "schmolck2008.real",
    "schmolck2008.mcmc",
    "schmolck2008.averaging",
    "schmolck2008.gauss_snake",
    "schmolck2008.pareto",
    "forecasting.series",
    "forecasting.calibration",
    "pareto.choices",
    "sampling.classification",
    "calibration_curves.coverage",
    "classification.from_svc",
    "classification.likelihoods",
    "classification.augmented",
    "classification.class_average",
)


def load(name: str) -> ModuleType:
    """The module of an experiment; it has ``run(options)``, which returns a `Report`."""
    return import_module(f"{__name__}.{name}")


def summary(name: str) -> str:
    """One line that says what an experiment does."""
    return (load(name).__doc__ or "").strip().splitlines()[0]
