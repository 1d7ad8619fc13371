"""The names that a model file may hold, and the objects they stand for.

This is the whole list: a name that is not here is not looked up, and a class that is not here is
not stored. Names are public paths; what fitted models hold besides, and users do not see, has a
short name of its own that outlives its module. Each object is compared with its entry: what was
imported must be the class or function of that name, not something else that its module can see.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

# Estimators that a file may end in.
ESTIMATORS = (
    "sparsebayes.classification.RVC",
    "sparsebayes.denoising.Denoiser",
    "sparsebayes.forecasting.Forecaster",
    "sparsebayes.gp.LeaveOneOutGPR",
    "sparsebayes.gp.ReducedRankGPR",
    "sparsebayes.pareto.ParetoClassifier",
    "sparsebayes.regression.RVR",
    "sparsebayes.uncertain.NoisyInputGPR",
)


# Sums from which a regression can be fitted, which a file may hold instead.
SUMS = "sparsebayes.regression.Statistics"


def _of(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names.split())


# What they are made of. Not `KernelFunction`, which is there to call any function.
_PARTS = (
    *_of("sparsebayes.basis", "Bias Laplacian Linear LinearSpline Polynomial Precomputed RBF"),
    *_of("sparsebayes.basis", "ThinPlateSpline Union"),
    *_of("sparsebayes.dictionaries", "DCT DualTree Kernel MDCT Union Wavelet"),
    *_of("sparsebayes.engine", "EM Effort Flat Gamma Policy Sequential Smoothness Subspace"),
    *_of("sparsebayes.engine", "Trace"),
    *_of("sparsebayes.regression", "Statistics StudentT"),
    *_of("sparsebayes.uncertain", "Imputation Slope StochasticEM"),
)

# What fitted models hold besides: a name for files, and where the class is.
_RECORDS = {
    "augment.TrainingRows": "sparsebayes._rvm.augment.TrainingRows",
    "augment.RowSummary": "sparsebayes._rvm.augment.RowSummary",
    "classification.Temperature": "sparsebayes.classification.temperature.Temperature",
    "forecasting.Candidate": "sparsebayes.forecasting.candidates.combination.ForecastCandidate",
    "forecasting.Combination": "sparsebayes.forecasting.candidates.combination.Combination",
    "forecasting.Differences": "sparsebayes.forecasting.lags.Differences",
    "forecasting.Embedding": "sparsebayes.forecasting.lags.Embedding",
    "forecasting.Exogenous": "sparsebayes.forecasting.tables.exogenous.Exogenous",
    "forecasting.Fitted": "sparsebayes.forecasting.fitting.Fitted",
    "forecasting.Gains": "sparsebayes.forecasting.candidates.innovations.Gains",
    "forecasting.Guesses": "sparsebayes.forecasting.candidates.record.Guesses",
    "forecasting.Linear": "sparsebayes.forecasting.candidates.linear.LinearAutoregression",
    "forecasting.Naive": "sparsebayes.forecasting.candidates.naive.Naive",
    "forecasting.OneSeries": "sparsebayes.forecasting.one_series.OneSeries",
    "forecasting.Panel": "sparsebayes.forecasting.tables.panel.Panel",
    "forecasting.Posterior": "sparsebayes.forecasting.candidates.linear.Posterior",
    "forecasting.Record": "sparsebayes.forecasting.candidates.record.Record",
    "forecasting.Recursion": "sparsebayes.forecasting.propagation.Recursion",
    "forecasting.Recursive": "sparsebayes.forecasting.candidates.recursive.Recursive",
    "forecasting.Seasons": "sparsebayes.forecasting.candidates.seasons.Seasons",
    "forecasting.Smoothing": "sparsebayes.forecasting.candidates.smoothing.Smoothing",
    "forecasting.State": "sparsebayes.forecasting.candidates.innovations.LevelState",
    "forecasting.Timeline": "sparsebayes.forecasting.tables.timeline.Timeline",
    "forecasting.Transform": "sparsebayes.forecasting.transforms.ValueTransform",
    "forecasting.Units": "sparsebayes.forecasting.candidates.smoothing.Units",
    "gp.SupportPosterior": "sparsebayes.gp.support.SupportPosterior",
    "left_out.LeftOut": "sparsebayes._rvm.left_out.LeftOut",
    "noise.NoiseVariance": "sparsebayes._rvm.noise.NoiseVariance",
    "noisy_inputs.InputMixture": "sparsebayes.uncertain.noisy.mixture.InputMixture",
    "noisy_inputs.Process": "sparsebayes.uncertain.noisy.mixture.Process",
    "noisy_inputs.Theta": "sparsebayes.engine.noisy_gp.Theta",
    "rows.Sample": "sparsebayes.rows.sample.Sample",
    "sums.Sums": "sparsebayes.engine.model.sums.Sums",
}

# Steps of a Pipeline, estimators of a Forecaster, and kernels. No trees, whose node indices
# scikit-learn does not check, and nothing that holds sparse matrices or splines of SciPy.
_SKLEARN = (
    *_of("sklearn.compose", "ColumnTransformer make_column_selector"),
    *_of("sklearn.decomposition", "FactorAnalysis FastICA IncrementalPCA KernelPCA PCA"),
    *_of("sklearn.decomposition", "TruncatedSVD"),
    *_of("sklearn.feature_selection", "GenericUnivariateSelect RFE SelectFdr SelectFpr"),
    *_of("sklearn.feature_selection", "SelectFromModel SelectFwe SelectKBest SelectPercentile"),
    *_of("sklearn.feature_selection", "VarianceThreshold"),
    *_of("sklearn.gaussian_process", "GaussianProcessRegressor"),
    *_of("sklearn.gaussian_process.kernels", "CompoundKernel ConstantKernel DotProduct"),
    *_of("sklearn.gaussian_process.kernels", "ExpSineSquared Exponentiation Matern"),
    *_of("sklearn.gaussian_process.kernels", "PairwiseKernel Product RBF RationalQuadratic Sum"),
    *_of("sklearn.gaussian_process.kernels", "WhiteKernel"),
    *_of("sklearn.impute", "KNNImputer MissingIndicator SimpleImputer"),
    *_of("sklearn.kernel_approximation", "AdditiveChi2Sampler Nystroem PolynomialCountSketch"),
    *_of("sklearn.kernel_approximation", "RBFSampler SkewedChi2Sampler"),
    *_of("sklearn.linear_model", "ARDRegression BayesianRidge"),
    *_of("sklearn.pipeline", "FeatureUnion Pipeline"),
    *_of("sklearn.preprocessing", "Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer"),
    *_of("sklearn.preprocessing", "MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder"),
    *_of("sklearn.preprocessing", "OrdinalEncoder PolynomialFeatures PowerTransformer"),
    *_of("sklearn.preprocessing", "QuantileTransformer RobustScaler StandardScaler TargetEncoder"),
    *_of("sklearn.random_projection", "GaussianRandomProjection"),
)

# Functions that these take as a parameter.
_FUNCTIONS = (
    *_of("numpy", "absolute cbrt exp expm1 log log10 log1p log2 sqrt square"),
    *_of("sklearn.feature_selection", "f_classif f_regression mutual_info_classif"),
    *_of("sklearn.feature_selection", "mutual_info_regression r_regression"),
)

# Types that they take as a parameter, for the type of their output.
_TYPES: Mapping[str, type] = {
    "bool": bool,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "numpy.float32": np.float32,
    "numpy.float64": np.float64,
    "numpy.int32": np.int32,
    "numpy.int64": np.int64,
    "numpy.number": np.number,
}

# Steps between dates. Not those that hold hours or holidays, nor classes of users.
_OFFSETS = (
    *_of("pandas.offsets", "BQuarterBegin BQuarterEnd BYearBegin BYearEnd BusinessDay"),
    *_of("pandas.offsets", "BusinessMonthBegin BusinessMonthEnd DateOffset Day Hour"),
    *_of("pandas.offsets", "LastWeekOfMonth Micro Milli Minute MonthBegin MonthEnd Nano"),
    *_of("pandas.offsets", "QuarterBegin QuarterEnd Second SemiMonthBegin SemiMonthEnd Week"),
    *_of("pandas.offsets", "WeekOfMonth YearBegin YearEnd"),
)

# Where each class is, by its name in files.
_CLASSES = {name: name for name in (*ESTIMATORS, *_PARTS, *_SKLEARN)} | _RECORDS


def _import(path: str) -> Any:
    """What the path leads to, if it says so itself.

    Classes of scikit-learn may report a private file of their package, ufuncs no module at all.
    """
    package, _, name = path.rpartition(".")
    found = getattr(import_module(package), name)
    home = getattr(found, "__module__", None) or package
    inside = package.startswith("sklearn.") and home.startswith(f"{package}._")
    if getattr(found, "__qualname__", found.__name__) != name or not (home == package or inside):
        raise LookupError(f"{path} leads to {found!r} of {home}.")
    return found


@cache
def class_named(name: str) -> type:
    """The class that a name in a file stands for; KeyError if it is not on the list."""
    found = _import(_CLASSES[name])
    if not isinstance(found, type):
        raise LookupError(f"{name} is no class.")
    return found


def name_of_class(kind: type) -> str | None:
    """The name of a class in files, None if it has none."""
    for name, path in _CLASSES.items():
        if path.rpartition(".")[2] == kind.__qualname__ and class_named(name) is kind:
            return name
    return None


@cache
def function_named(name: str) -> Any:
    """The function that a name in a file stands for; KeyError if it is not on the list."""
    if name not in _FUNCTIONS:
        raise KeyError(name)
    return _import(name)


def name_of_function(function: Any) -> str | None:
    """The name of a function in files, None if it has none."""
    for name in _FUNCTIONS:
        if name.rpartition(".")[2] == getattr(function, "__name__", None):
            return name if function_named(name) is function else None
    return None


def offset_named(name: str) -> Any:
    """The offset of pandas that a name in a file stands for; KeyError if it is not on the list."""
    if name not in _OFFSETS:
        raise KeyError(name)
    return getattr(import_module("pandas").offsets, name.rpartition(".")[2])


def name_of_offset(kind: type) -> str | None:
    """The name of an offset of pandas in files, None if it has none."""
    name = f"pandas.offsets.{kind.__name__}"
    return name if name in _OFFSETS and offset_named(name) is kind else None


def type_named(name: str) -> type:
    """The type that a name in a file stands for; KeyError if it is not on the list."""
    return _TYPES[name]


def name_of_type(kind: type) -> str | None:
    """The name of a type in files, None if it has none."""
    return next((name for name, one in _TYPES.items() if one is kind), None)
