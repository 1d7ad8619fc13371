"""Tables of objects that no model has: names that are not on the list, attributes, references."""

import inspect
import io
import os

import numpy as np
import pytest

from sparsebayes import RVR
from sparsebayes.persistence import trusted

from .crafting import (
    PLANTED,
    closed,
    node,
    opened,
    plain,
    row,
    rows,
    set_entry,
    small,
    with_first,
)

HOSTILE = [
    "os.system",
    "posix.system",
    "nt.system",
    "subprocess.Popen",
    "builtins.eval",
    "builtins.exec",
    "builtins.getattr",
    "builtins.map",
    "functools.partial",
    "operator.methodcaller",
    "operator.attrgetter",
    "types.FunctionType",
    "pickle.loads",
    "numpy.load",
    "numpy.random.Generator",
    "numpy.f2py.compile",
    "joblib.Memory",
    "sklearn.gaussian_process.kernels.np",
    "sklearn.gaussian_process.kernels.clone",
    "sklearn.gaussian_process.kernels.Kernel",
    "sklearn.utils._bunch.Bunch",
    "sklearn.tree._tree.Tree",
    "sklearn.tree.DecisionTreeRegressor",
    "sklearn.preprocessing._data.StandardScaler",
    "sparsebayes",
    "sparsebayes.",
    "sparsebayes.regression",
    "sparsebayes.regression.RVR.fit",
    "sparsebayes.regression.RVR.__init__",
    "sparsebayes.regression.rvr",
    "sparsebayes.basis.KernelFunction",
    "sparsebayes.basis.Basis",
    "sparsebayes.basis.as_basis",
    "sparsebayes.basis.kernels.RBF",
    "sparsebayes._rvm.augment.TrainingRows",
    "sparsebayes._support.files.os",
    "sparsebayes._support.files.os.system",
    "sparsebayes.persistence.load",
    "sparsebayes.cli.main",
    f"{PLANTED}.Bird",
    "",
    "dict.__init__",
    "type.__subclasses__",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_are_not_on_the_list(content, refused, name):
    """As an object, a function and a type, before the model and alone."""
    for attack in (row(name), row("function", name=name), row("type", name=name)):
        refused(with_first(content, attack))
    refused(small(row(name, args=["touch"], state=None)))


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("fit", 1),
        ("predict", {"object": 0}),
        ("get_params", None),
        ("__class__", 1),
        ("__dict__", {"object": 0}),
        ("__reduce__", 1),
        ("__setstate__", 1),
        ("_more_tags\n", 1),
        ("a.b_", 1),
        ("", 1),
    ],
)
def test_attributes_that_hide_a_method(content, refused, name, state):
    schema, members = opened(content)
    set_entry(rows(schema)[-1]["content"]["state"], name, plain(state))
    refused(closed(schema, members))


def test_attributes_that_ours_do_not_have(content, refused):
    schema, members = opened(content)
    state = rows(schema)[-1]["content"]["state"]
    set_entry(state, "note", plain("x"))
    refused(closed(schema, members), "other attributes than this version has: .'note'.")
    del state["content"]["note"], state["content"]["basis"]
    state["key_types"]["content"] = state["key_types"]["content"][2:]
    refused(closed(schema, members), "other attributes than this version has: .'basis'.")
    refused(small(row("sparsebayes.engine.Gamma", a=1.0, b=1.0, c_=1.0)), "'c_'")


def random_state(**changes):
    state = np.random.RandomState(0).get_state(legacy=False)
    entries = {**state["state"], "has_gauss": 0, "gauss": 0.0, **changes}
    key = entries.pop("key")
    stream = io.BytesIO()
    np.save(stream, key)
    array = node("NdArrayNode", "numpy", "ndarray", type="numpy", file="2.npy")
    attack = row("numpy.random.RandomState", **entries)
    set_entry(attack["content"]["state"], "key", array)
    return attack, {"2.npy": stream.getvalue()}


@pytest.mark.parametrize(
    "changes",
    [
        {"pos": 10**6},
        {"pos": -1},
        {"pos": True},
        {"key": np.zeros(3, np.uint32)},
        {"key": np.zeros(624)},
        {"has_gauss": 7},
    ],
)
def test_random_states_that_would_be_read_beyond_their_end(content, refused, changes):
    refused(with_first(content, *random_state(**changes)), "random state")


@pytest.mark.parametrize(
    "attack",
    [
        row("object array", shape=(10**9, 10**3), items=[]),
        row("object array", shape=(10**9,), items=[1]),
        row("object array", shape="a", items=[1]),
        row("object array", shape=(1,), items=7),
        row("structured array", fields=["a"], columns=[1]),
        row("structured array", fields=[], columns=[]),
        row("slice", start="a", stop=None, step=None),
        row("slice", start=1),
        row("dict", items=[[1, 2, 3]]),
        row("dict", items=[([], 1)]),
        row("dict", items=7),
        row("numpy.dtype", text="O"),
        row("numpy.dtype", text="<f8,<f8"),
        row("numpy.dtype", text="<M8"),
        row("numpy.dtype", text=7),
        row("type", name=7),
        row("type", name=["float"]),
        row("function", name=None),
        row("function"),
        plain({"class": "dict"}),
        plain({"class": 7, "state": {}}),
        plain({"class": "dict", "state": []}),
        plain([]),
        plain(None),
    ],
)
def test_rows_that_are_no_objects(content, refused, attack):
    refused(with_first(content, attack), "m.skops' ")


@pytest.mark.parametrize(
    ("table", "match"),
    [
        ([], "no table"),
        ([row("dict", items=[])], "no estimator of sparsebayes but a dict"),
        ([row("sparsebayes.engine.Flat")], "no estimator of sparsebayes but a Flat"),
        ([row("sparsebayes.basis.RBF", length_scale=1.0, centres=None)], "but a RBF"),
        ([row("sparsebayes.regression.RVR", **RVR().get_params(deep=False))], "NotFittedError"),
        ([row("sklearn.pipeline.Pipeline", steps=7, memory=None)], "TypeError"),
        ([row("sklearn.pipeline.Pipeline", steps=[], memory="a_cache")], "cache"),
        ([row("sklearn.pipeline.Pipeline")], "AttributeError"),
    ],
)
@pytest.mark.filterwarnings("ignore:Trying to unpickle")
def test_tables_that_are_no_models(refused, table, match):
    refused(small(*table), match)


@pytest.mark.parametrize(
    ("entry", "value", "match"),
    [
        ("objects", 7, "no table"),
        ("more", 7, "entries"),
        ("feature_names", "abc", "no text"),
        ("feature_names", [1], "no text"),
        ("target_name", 7, "no text"),
        ("target_name", [], "no text"),
        ("target_name", ["a", 7], "no text"),
        ("target_name", ["a", None], "no text"),
        ("target_name", [["a"]], "no text"),
        ("target_name", ("a", "b"), "no text"),
        ("target_name", {"a": "b"}, "no text"),
        ("version", None, "no text"),
    ],
)
def test_records_that_are_none(content, refused, entry, value, match):
    schema, members = opened(content)
    set_entry(schema, entry, plain(value))
    refused(closed(schema, {} if entry == "objects" else members), match)


@pytest.mark.parametrize("number", [1, -1, True, 0.0, "0", None, [0]])
def test_references_to_no_object(refused, number):
    """Only rows before a row are there: it cannot refer to itself or to later ones."""
    refused(small(row("dict", items=[]), row("dict", items={"object": number})), "reference to no")


def test_references_with_more_to_them(refused):
    for reference in ({}, {"object": 0, "more": 1}, {"more": 0}):
        refused(small(row("dict", items=[]), row("dict", items=reference)), "reference to no")


def test_the_list_leads_to_what_it_says():
    """Each name to a class that is built by `object` or by scikit-learn's base class."""
    from sklearn.base import BaseEstimator

    methods = ["__new__", "__setstate__", "__getstate__", "__reduce__", "__reduce_ex__"]
    usual = {method: {getattr(object, method, None)} for method in methods}
    for method in methods:
        usual[method].add(getattr(BaseEstimator, method, None))
    for name in trusted._CLASSES:
        kind = trusted.class_named(name)
        assert trusted.name_of_class(kind) == name
        assert not inspect.isabstract(kind)
        for method in methods:
            assert getattr(kind, method, None) in usual[method], (name, method)
        if name.startswith("sparsebayes."):
            assert f"{kind.__module__}.{kind.__qualname__}" == name
    for name in trusted._FUNCTIONS:
        assert trusted.name_of_function(trusted.function_named(name)) == name
    for name in trusted._TYPES:
        assert trusted.name_of_type(trusted.type_named(name)) == name


def test_a_name_that_leads_elsewhere_is_refused(monkeypatch):
    """Should a module of ours ever see something else under a name of the list."""
    import sparsebayes.basis

    monkeypatch.setitem(trusted._CLASSES, "sparsebayes.basis.os", "sparsebayes.basis.os")
    monkeypatch.setattr(sparsebayes.basis, "os", os, raising=False)
    monkeypatch.setattr(sparsebayes.basis, "RBF", PlantedRBF)
    trusted.class_named.cache_clear()
    for name in ("sparsebayes.basis.os", "sparsebayes.basis.RBF"):
        with pytest.raises(LookupError):
            trusted.class_named(name)
    trusted.class_named.cache_clear()


class PlantedRBF:
    pass
