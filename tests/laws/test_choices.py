"""Arguments that take one of several words are typed with these words, in one place."""

import importlib
import inspect
from typing import get_args, get_type_hints

import pytest

from sparsebayes.datasets.signals import _SIGNALS
from sparsebayes.export.onnx.conversion import _DTYPES

# The type of an argument, and the list or table by which it is checked.
CHOICES = [
    ("_rvm.options", "SolverName", "SOLVERS"),
    ("_rvm.options", "PriorName", "PRIORS"),
    ("_rvm.options", "NoiseName", "NOISES"),
    ("_rvm.options", "AdaptName", "ADAPTS"),
    ("basis.names", "BasisName", "NAMES"),
    ("classification.likelihood", "LinkName", "LINKS"),
    ("classification.likelihood", "MultiClassName", "MULTI_CLASS"),
    ("classification.likelihood", "InferenceName", "INFERENCES"),
    ("classification.likelihood", "InferenceName", "_CAVITIES"),
    ("denoising.methods", "DenoisingMethod", "METHODS"),
    ("denoising.observed.noise_models", "NoiseModelName", "NOISE_MODELS"),
    ("dictionaries.families", "KernelName", "KERNELS"),
    ("export.formats", "FormatName", "FORMATS"),
    ("export.formats", "Precision", "PRECISIONS"),
    ("forecasting.transforms", "TransformName", "NAMES"),
    ("gp.reduced_rank", "SelectionName", "SELECTIONS"),
    ("sampling.methods", "MethodName", "METHODS"),
    ("uncertain.moment_maps", "MomentMethod", "METHODS"),
]


@pytest.mark.parametrize(("place", "typed", "table"), CHOICES)
def test_a_type_has_the_words_of_its_table(place, typed, table):
    module = importlib.import_module(f"sparsebayes.{place}")
    assert list(get_args(getattr(module, typed))) == list(getattr(module, table))


def test_types_with_words_besides_their_table():
    from sparsebayes.datasets.signals import SignalName
    from sparsebayes.export.formats import Precision
    from sparsebayes.forecasting.propagation import METHODS, ForecastMethod
    from sparsebayes.uncertain.noisy import regressor

    assert set(get_args(SignalName)) == {*_SIGNALS, "blocks_sinc"}
    assert set(get_args(Precision)) == set(_DTYPES)
    assert get_args(regressor.MethodName) == ("auto", *regressor.METHODS)
    words = [word for part in get_args(ForecastMethod) for word in get_args(part) or (part,)]
    assert words == list(METHODS)


@pytest.mark.parametrize(
    ("path", "argument"),
    [
        ("regression.RVR", "solver"),
        ("regression.RVR", "prior"),
        ("regression.RVR", "noise"),
        ("regression.RVR", "adapt"),
        ("classification.RVC", "link"),
        ("classification.RVC", "inference"),
        ("classification.RVC", "multi_class"),
        ("denoising.Denoiser", "method"),
        ("gp.ReducedRankGPR", "selection"),
        ("uncertain.NoisyInputGPR", "method"),
        ("forecasting.Forecaster", "transform"),
        ("pareto.ParetoClassifier", "penalty"),
        ("sampling.ReversibleJump", "birth"),
    ],
)
def test_the_default_is_one_of_the_words(path, argument):
    place, name = path.split(".")
    init = getattr(importlib.import_module(f"sparsebayes.{place}"), name).__init__
    hint = get_type_hints(init)[argument]
    words = {word for part in (hint, *get_args(hint)) for word in get_args(part)}
    assert inspect.signature(init).parameters[argument].default in words
