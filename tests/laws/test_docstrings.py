"""Docstrings say what a public name takes, gives and is related to, as numpydoc wants it.

Methods need no example, no related names and no more than one sentence: their class has these. A
method that overrides another without a docstring of its own has that of the other one.
"""

import importlib
import inspect
from enum import EnumMeta
from functools import cached_property

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import sparsebayes
from tests.laws.test_house import PUBLIC

OF_A_CLASS = {"ES01", "EX01", "SA01"}  # more than a sentence, an example, related names


def public_names():
    """The classes, functions and scorers that users import, by their full names."""
    for name in PUBLIC:
        module = importlib.import_module(f"sparsebayes.{name}")
        for public in module.__all__:
            found = getattr(module, public)
            if callable(found):
                yield f"{module.__name__}.{public}", found


def public_methods(name, found):
    """Methods and properties that are ours, not of scikit-learn or NumPy."""
    for method, member in inspect.getmembers(found):
        if isinstance(member, (property, cached_property)):
            member = member.fget if isinstance(member, property) else member.func
        elif not inspect.isfunction(member) and not inspect.ismethod(member):
            continue
        if not method.startswith("_") and member.__module__.startswith("sparsebayes."):
            yield f"{name}.{method}"


NAMES = dict(public_names())


def reports(name, leave=()):
    return [f"{code} {text}" for code, text in validate(name)["errors"] if code not in leave]


def is_constructed(found):
    """Whether users call it: of an enumeration or a protocol the signature is not ours."""
    return not isinstance(found, EnumMeta) and not getattr(found, "_is_protocol", False)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_documented(name):
    assert reports(name, leave=() if is_constructed(NAMES[name]) else {"PR01"}) == []


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name, found in NAMES.items() if inspect.isclass(found)])
def test_methods_are_documented(name):
    found = {method: reports(method, OF_A_CLASS) for method in public_methods(name, NAMES[name])}
    assert {method: report for method, report in found.items() if report} == {}


def target_of(name, module):
    """What a name under "See Also" stands for: a neighbour, or a full path."""
    neighbours = importlib.import_module(module)
    if hasattr(neighbours, name):
        return getattr(neighbours, name)
    place, _, last = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(place or "sparsebayes"), last)


@pytest.mark.parametrize("name", NAMES)
def test_related_names_exist(name):
    related = get_doc_object(NAMES[name])["See Also"]
    listed = [entry for entries, _ in related for entry, _ in entries]
    assert listed
    for entry in listed:
        assert target_of(entry, name.rpartition(".")[0]) is not NAMES[name], entry


def test_all_public_names_are_looked_at():
    assert len(NAMES) > 130
    methods = [method for name, found in NAMES.items() for method in public_methods(name, found)]
    ours = {f"sparsebayes.regression.RVR.{name}" for name in ("fit", "partial_fit", "sigma_")}
    assert ours | {"sparsebayes.denoising.Denoised.std"} <= set(methods)
    assert "sparsebayes.regression.RVR.get_params" not in methods
    homes = {getattr(sparsebayes, top).__module__ for top in sparsebayes.__all__ if top[0] != "_"}
    assert homes <= {name.rpartition(".")[0] for name in NAMES}


def test_what_is_missing_is_found():
    def undocumented(a, b):
        return a + b

    def half(a, b):
        """Add two numbers.

        Parameters
        ----------
        a : int
            The first.
        """
        return a + b

    namespace = importlib.import_module(__name__)
    for function, code in ((undocumented, "GL08"), (half, "PR01"), (half, "RT01")):
        namespace.example = function
        assert any(text.startswith(code) for text in reports(f"{__name__}.example"))
    del namespace.example


def test_an_override_has_the_docstring_of_what_it_overrides():
    from sparsebayes.basis import RBF, Basis

    assert RBF.columns.__doc__ == Basis.columns.__doc__
    assert RBF.columns is not Basis.columns
