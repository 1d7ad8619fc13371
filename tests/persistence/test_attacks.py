"""Files with nodes of skops that would run code: each is refused before any of it runs."""

import ast
import io
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
import skops.io
from skops.io._audit import NODE_TYPE_MAPPING

import sparsebayes
from sparsebayes.persistence import archive, trusted

from .crafting import PLANTED, closed, node, opened, plain, row, rows, set_entry, small

ROOT = Path(sparsebayes.__file__).parent
LOADERS = sorted({loader for loader, _ in NODE_TYPE_MAPPING})


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
    return keyed(method(node("TypeNode", module, name), "system"), command)


def method(owner, *names):
    """An attribute of an attribute of what another node stands for."""
    for name in names:
        kind = owner["__module__"], owner["__class__"]
        owner = node("MethodNode", *kind, content={"func": name, "obj": owner})
    return owner


def keyed(kind, key):
    """A dictionary with a key that some node is called with."""
    types = node("ListNode", "builtins", "list", content=[kind])
    return node("DictNode", "builtins", "dict", content={key: plain(1)}, key_types=types)


def callers(command):
    """Functions, methods, partials and operators that run a command, through both prefixes."""
    system = node("FunctionNode", "posix", "system")
    empty = {"args": plain(()), "kwds": plain({}), "namespace": plain(None)}
    partial = node("PartialNode", "functools", "partial", content={"func": system, **empty})
    arguments = node("TupleNode", "builtins", "tuple", content=[system, plain(command)])
    code = f"import os; os.system({command!r})"
    kernels = node("TypeNode", "sklearn.gaussian_process.kernels", "np")
    files = node("TypeNode", "sparsebayes._support.files", "os")
    reader = node("TypeNode", "sparsebayes.datasets.loaders", "os")
    return {
        "function": keyed(system, command),
        "type": keyed(node("TypeNode", "posix", "system"), command),
        "eval": keyed(node("FunctionNode", "builtins", "exec"), code),
        "partial": keyed(partial, command),
        "operator": node("OperatorFuncNode", "operator", "call", attrs=arguments),
        "method of ours": keyed(method(files, "system"), command),
        "method of data sets": keyed(method(reader, "system"), command),
        "method of kernels": keyed(method(kernels, "lib", "_npyio_impl", "os", "system"), command),
        "default factory": node(
            "DefaultDictNode",
            "collections",
            "defaultdict",
            content={"main": keyed(system, command), "default_factory": plain(None)},
        ),
        "constructor": node(
            "ConstructorFromReduceNode",
            "posix",
            "system",
            content=node("TupleNode", "builtins", "tuple", content=[plain(command)]),
        ),
        "list": node("ListNode", PLANTED, "sing", content=[plain(1)]),
        "key in key types": node(
            "DictNode", "builtins", "dict", content={}, key_types=keyed(system, command)
        ),
    }


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


@pytest.mark.parametrize("kind", callers(""))
def test_all_that_calls_in_every_place(content, canary, refused, kind):
    for place in PLACES:
        refused(planted(content, callers(f"touch {canary}")[kind], place))


def test_the_type_of_a_key_is_named(content, canary, refused):
    attack = planted(content, call(f"touch {canary}"), "record")
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


def module_name(path):
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def imported(path):
    """The names that a module imports."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        for alias in statement.names
    }


SOURCES = sorted(ROOT.rglob("*.py"))


@pytest.mark.sampled
@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_names_through_every_module(canary, refused, path):
    """A name that begins with ours may lead anywhere."""
    module = module_name(path)
    for name in sorted({*imported(path), "__builtins__"}):
        refused(small(call(f"touch {canary}", module, name)))
        if f"{module}.{name}" not in trusted._CLASSES:
            refused(small(row(f"{module}.{name}")))


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


@pytest.mark.slow
def test_the_attacks_are_real(content, canary):
    """Loaded by skops without its audit, most of these files do run code."""
    assert not sings(canary, content)
    assert sings(canary, planted(content, call(f"touch {canary}"), "record"))
    calls = callers(f"touch {canary}")
    silent = [kind for kind in calls if not sings(canary, planted(content, calls[kind], "record"))]
    assert silent == []
    live = [kind for kind in LOADERS if sings(canary, planted(content, payload(kind), "record"))]
    assert len(live) > 12 and {"TypeNode", "MethodNode", "PartialNode", "ObjectNode"} <= set(live)
    seers = [module_name(path) for path in SOURCES if "os" in imported(path)]
    assert len(seers) > 3
    for module in seers:
        assert sings(canary, small(call(f"touch {canary}", module, "os")))


def test_skops_trusts_all_of_a_file_and_sees_plain_data(content):
    assert skops.io.get_untrusted_types(data=content) == []
    record = skops.io.loads(content)
    assert record["objects"][-1]["class"] == "sparsebayes.regression.RVR"
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.comment.startswith(archive.FORMAT.encode())
