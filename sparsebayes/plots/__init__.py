"""Displays of fitted models, in the style of scikit-learn's."""

from sparsebayes._support.homes import settle
from sparsebayes.plots.calibration import CalibrationDisplay
from sparsebayes.plots.classification import ClassificationDisplay
from sparsebayes.plots.denoise import DenoiseDisplay
from sparsebayes.plots.effects import EffectsDisplay
from sparsebayes.plots.evidence import EvidenceDisplay
from sparsebayes.plots.forecast import ForecastDisplay
from sparsebayes.plots.inclusion import InclusionDisplay
from sparsebayes.plots.pareto import ParetoDisplay
from sparsebayes.plots.regression import RegressionDisplay

__all__ = [
    "CalibrationDisplay",
    "ClassificationDisplay",
    "DenoiseDisplay",
    "EffectsDisplay",
    "EvidenceDisplay",
    "ForecastDisplay",
    "InclusionDisplay",
    "ParetoDisplay",
    "RegressionDisplay",
]

settle(globals())
