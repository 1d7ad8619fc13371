"""Files that were made to run code: each is refused before any of it runs.

The canary is a file. Code that sings makes it: a shell command, and a module that is planted on the
path, whose import, functions and classes all do.
"""

import ast
import importlib
import inspect
import io
import os
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import skops.io
from skops.io._audit import NODE_TYPE_MAPPING

import sparsebayes
from sparsebayes import RVR, persistence
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc
from sparsebayes.persistence import archive, names

from .crafting import closed, node, opened, plain, row, rows, set_entry, small

PLANTED = "planted_by_a_test"
SONG = """
import pathlib
def sing(*args, **kwargs):
    pathlib.Path({canary!r}).touch()
    return sing
sing()
class Bird:
    def __new__(cls, *args, **kwargs):
        sing()
        return super().__new__(cls)
    def __setstate__(self, state):
        sing()
    fly = sing
"""
ROOT = Path(sparsebayes.__file__).parent
LOADERS = sorted({loader for loader, _ in NODE_TYPE_MAPPING})


@pytest.fixture(scope="module")
def content():
    X, y, _ = make_sinc(30, random_state=0)
    return persistence.dumps(RVR(RBF(2.0)).fit(X, y))


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A file that is there once some code has run."""
    path = tmp_path / "canary"
    (tmp_path / f"{PLANTED}.py").write_text(SONG.format(canary=str(path)))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield path
    sys.modules.pop(PLANTED, None)


@pytest.fixture
def refused(tmp_path, canary):
    """Load a crafted file, which must fail with one error of one line and no song."""

    def check(content, match="not trusted"):
        path = tmp_path / "m.skops"
        path.unlink(missing_ok=True)  # a new file is quicker than an old one
        path.write_bytes(content)
        with pytest.raises(persistence.ModelFileError, match=match) as caught:
            persistence.load(path)
        assert not canary.exists()
        assert PLANTED not in sys.modules
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600

    return check


def payload(loader, module=PLANTED, name="Bird"):
    """A node with all entries that some loader of skops looks for."""
    attributes = plain({"a": 1})
    arguments = plain((1,))
    entries = {
        "content": attributes,
        "attrs": arguments,
        "__reduce__": {"args": arguments},
        "type": "numpy",
        "file": "1.npy",
        "key_types": plain([]),
        "is_json": True,
    }
    if loader in ("ListNode", "TupleNode", "SetNode"):
        entries["content"] = [plain(1)]
    elif loader == "DictNode":
        entries["content"] = {}
    elif loader == "ConstructorFromReduceNode":
        entries["content"] = arguments
    elif loader == "MethodNode":
        entries["content"] = {"func": "fly", "obj": node("TypeNode", module, name)}
    elif loader == "PartialNode":
        function = node("FunctionNode", module, name)
        parts = {"args": plain(()), "kwds": plain({}), "namespace": plain(None)}
        entries["content"] = {"func": function, **parts}
    elif loader == "DefaultDictNode":
        entries["content"] = {"main": plain({}), "default_factory": node("TypeNode", module, name)}
    elif loader == "MaskedArrayNode":
        entries["content"] = {"data": plain(1), "mask": node("ObjectNode", module, name)}
    elif loader == "SliceNode":
        entries["content"] = {"start": None, "stop": None, "step": None}
    elif loader == "RandomGeneratorNode":
        state = plain({"bit_generator": "seed", "state": 1})
        entries["content"] = {"bit_generator": state, "seed_seq": plain({})}
    elif loader == "JsonNode":
        entries["content"] = "1"
    return node(loader, module, name, **entries)


def call(command, module="sparsebayes._support.files", name="os"):
    """A dictionary whose key is a command, and whose type of keys is a method of what is named."""
    through = node("TypeNode", module, name)
    method = node("MethodNode", module, name, content={"func": "system", "obj": through})
    types = node("ListNode", "builtins", "list", content=[method])
    return node("DictNode", "builtins", "dict", content={command: plain(1)}, key_types=types)


def planted(content, payload, place):
    """The file with a node in some place."""
    schema, members = opened(content)
    model = rows(schema)[-1]["content"]
    if place == "root":
        schema = {**payload, "protocol": 2, "_skops_version": "0.16.0"}
    elif place == "record":
        set_entry(schema, "more", payload)
    elif place == "table":
        rows(schema).insert(0, payload)
    elif place == "class":
        set_entry(rows(schema)[-1], "class", payload)
    elif place == "attribute":
        set_entry(model["state"], "coef_", payload)
    elif place == "list":
        set_entry(model["state"], "coef_", node("ListNode", "builtins", "list", content=[payload]))
    elif place == "keys":
        schema["key_types"]["content"][0] = payload
    elif place == "types of keys":
        model["state"]["key_types"] = payload
    elif place == "nested keys":
        model["state"]["key_types"]["content"][1] = payload
    members = dict(members, **{"1.npy": members[next(iter(members))]})
    return closed(schema, members)


PLACES = ["record", "table", "class", "attribute", "list", "keys", "types of keys", "nested keys"]


@pytest.mark.parametrize("loader", LOADERS)
def test_every_loader_in_every_place(content, refused, loader):
    for place in PLACES:
        refused(planted(content, payload(loader), place))


def test_every_loader_alone(content, refused):
    for loader in LOADERS:
        refused(planted(content, payload(loader), "root"), "not a sparsebayes model")


@pytest.mark.parametrize("place", ["record", "attribute", "list"])
def test_a_type_of_keys_that_calls(content, canary, refused, place):
    attack = planted(content, call(f"touch {canary}"), place)
    refused(attack, r"files\.os .MethodNode. as the type of a key")


def test_types_of_keys_in_a_list_that_calls(content, refused):
    schema, members = opened(content)
    schema["key_types"] |= {"__module__": PLANTED, "__class__": "sing"}
    refused(closed(schema, members), f"{PLANTED}.sing .ListNode. as types of keys")


def sings(canary, content):
    """Load with skops, which is told to trust all that it finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skops.io._persist, "audit_tree", lambda *args, **kwargs: None)
        with suppress(Exception):  # from what some do afterwards
            skops.io.loads(content)
    sang = canary.exists()
    canary.unlink(missing_ok=True)
    sys.modules.pop(PLANTED, None)
    return sang


def modules():
    """Our modules and the names that each of them imports."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        seen = [
            (alias.asname or alias.name).partition(".")[0]
            for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            for alias in statement.names
        ]
        yield ".".join(parts).removesuffix(".__init__"), sorted({*seen, "__builtins__"})


MODULES = dict(modules())


@pytest.mark.parametrize("module", MODULES)
def test_names_through_every_module(canary, refused, module):
    """A name that begins with ours may lead anywhere."""
    for name in MODULES[module]:
        refused(small(call(f"touch {canary}", module, name)))
        if f"{module}.{name}" not in names._CLASSES:
            refused(small(row(f"{module}.{name}")))


def test_the_attacks_are_real(content, canary):
    """Loaded by skops without its audit, most of these files do run code."""
    assert not sings(canary, content)
    assert sings(canary, planted(content, call(f"touch {canary}"), "record"))
    live = [kind for kind in LOADERS if sings(canary, planted(content, payload(kind), "record"))]
    assert len(live) > 12 and {"TypeNode", "MethodNode", "PartialNode", "ObjectNode"} <= set(live)
    seers = [module for module, seen in MODULES.items() if "os" in seen]
    assert len(seers) > 3
    for module in seers:
        assert sings(canary, small(call(f"touch {canary}", module, "os")))


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
    "sparsebayes._rvm.augment.Observed",
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


def with_first(content, first, more=()):
    """The file with another object before the first."""
    schema, members = opened(content)
    rows(schema).insert(0, first)
    return closed(schema, {**members, **dict(more)})


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
        ([row("sparsebayes.basis.RBF", length_scale=1.0)], "but a RBF"),
        ([row("sparsebayes.regression.RVR", **RVR().get_params(deep=False))], "NotFittedError"),
        ([row("sklearn.pipeline.Pipeline", steps=7, memory=None)], "TypeError"),
        ([row("sklearn.pipeline.Pipeline", steps=[], memory="/tmp/cache")], "cache"),
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


def test_nodes_that_are_not_as_skops_writes_them(content, refused):
    schema, members = opened(content)
    refused(closed({**schema, "more": 1}, members), "a node with")
    types = schema["key_types"]
    short = {**types, "content": types["content"][1:]}
    refused(closed({**schema, "key_types": short}, members), "6 keys of 5 types")
    for text, match in (
        ("[1]", "a list in place"),
        ('{"a": 1}', "a list in place"),
        ("x", "value"),
    ):
        set_entry(schema, "target_name", {**plain(1), "content": text})
        refused(closed(schema, members), match)
    set_entry(schema, "target_name", {**plain(1), "is_json": 1})
    refused(closed(schema, members), "no text")


@pytest.mark.parametrize("version", [1, 3])
def test_files_of_other_versions_are_not_looked_into(content, canary, refused, version):
    schema, members = opened(planted(content, call(f"touch {canary}"), "record"))
    set_entry(schema, "format_version", plain(version))
    refused(closed(schema, members), f"has format version {version}, written by sparsebayes")


def test_the_list_leads_to_what_it_says():
    """Each name to a class that is built by `object` or by scikit-learn's base class."""
    from sklearn.base import BaseEstimator

    methods = ["__new__", "__setstate__", "__getstate__", "__reduce__", "__reduce_ex__"]
    usual = {method: {getattr(object, method, None)} for method in methods}
    for method in methods:
        usual[method].add(getattr(BaseEstimator, method, None))
    for name in names._CLASSES:
        kind = names.class_named(name)
        assert names.name_of_class(kind) == name
        assert not inspect.isabstract(kind)
        for method in methods:
            assert getattr(kind, method, None) in usual[method], (name, method)
        if name.startswith("sparsebayes."):
            assert f"{kind.__module__}.{kind.__qualname__}" == name
    for name in names._FUNCTIONS:
        assert names.name_of_function(names.function_named(name)) == name
    for name in names._TYPES:
        assert names.name_of_type(names.type_named(name)) == name


def test_a_name_that_leads_elsewhere_is_refused(monkeypatch):
    """Should a module of ours ever see something else under a name of the list."""
    import sparsebayes.basis

    monkeypatch.setitem(names._CLASSES, "sparsebayes.basis.os", "sparsebayes.basis.os")
    monkeypatch.setattr(sparsebayes.basis, "os", os, raising=False)
    monkeypatch.setattr(sparsebayes.basis, "RBF", PlantedRBF)
    names.class_named.cache_clear()
    for name in ("sparsebayes.basis.os", "sparsebayes.basis.RBF"):
        with pytest.raises(LookupError):
            names.class_named(name)
    names.class_named.cache_clear()


class PlantedRBF:
    pass


def test_skops_trusts_all_of_a_file_and_sees_plain_data(content):
    assert skops.io.get_untrusted_types(data=content) == []
    record = skops.io.loads(content)
    assert record["objects"][-1]["class"] == "sparsebayes.regression.RVR"
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.comment.startswith(archive.FORMAT.encode())
