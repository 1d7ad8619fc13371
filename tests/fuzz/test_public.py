"""Every public name is known to the fuzzing suite, with a way to call it that works."""

import inspect
import warnings

import pytest

from tests.fuzz.law import not_finite
from tests.fuzz.public import (
    MADE,
    MODULES,
    NAMES,
    QUICK,
    call,
    is_called,
    is_estimator,
    made,
    try_out,
)
from tests.laws.test_house import PUBLIC


def test_the_walk_finds_the_public_modules():
    assert set(MODULES) == set(PUBLIC)


def test_tables_name_public_names_only():
    assert [name for name in (*QUICK, *MADE) if name not in NAMES] == []


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in NAMES if is_called(name)])
def test_a_public_name_can_be_called(name):
    """If this fails for a new name: give arguments in QUICK, or say in MADE where it comes from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows are warned of
        found = made(name)
    if inspect.isclass(NAMES[name]):
        assert isinstance(found, NAMES[name])


def is_an_option(name):
    """Whether users make an object of this class to hand it on."""
    given_data = {"persistence.StoredModel", "regression.Statistics", "rows.CSV", "rows.Parquet",
                  "scores.PredictiveScorer"}  # fmt: skip
    return inspect.isclass(NAMES[name]) and is_called(name) and name not in {*MADE, *given_data}


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in NAMES if is_an_option(name)])
def test_what_is_made_is_tried_out(name):
    """If this fails for a new kind of option: say in USES what it is for."""
    if name == "basis.Precomputed":
        pytest.skip("needs a square matrix of inputs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = try_out(call(name))
    assert numbers is not None and not_finite(numbers) is None


def test_estimators_are_known():
    assert {"regression.RVR", "classification.RVC", "denoising.Denoiser"} < set(
        filter(is_estimator, NAMES)
    )
