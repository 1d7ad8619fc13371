"""Model files taken apart, changed and put together again; shared by the tests of attacks."""

import io
import itertools
import json
import zipfile

import numpy as np

from sparsebayes.persistence import archive

PLANTED = "planted_by_a_test"  # a module that sings, see the fixture `canary`
IDS = itertools.count(7_000_000)  # skops takes nodes of the same id for the same
TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode", "__id__": 1}


def opened(content):
    """The schema and the other members of a file."""
    members = taken_apart(content)[0]
    return json.loads(members.pop("schema.json")), members


def closed(schema, members):
    """A file of them, with a digest that fits, since an attacker can compute it too."""
    return archive.seal(joined({**members, "schema.json": json.dumps(schema)}, b""))


def taken_apart(content):
    """All members of a file, and its comment."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}, file.comment


def joined(members, comment):
    """A file of them."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.comment = comment
        for name, data in members.items():
            file.writestr(name, data)
    return stream.getvalue()


def node(loader, module, name, **entries):
    return {
        "__class__": name,
        "__module__": module,
        "__loader__": loader,
        "__id__": next(IDS),
        **entries,
    }


def plain(value):
    """The node of plain data."""
    if isinstance(value, list):
        return node("ListNode", "builtins", "list", content=[plain(item) for item in value])
    if isinstance(value, tuple):
        return node("TupleNode", "builtins", "tuple", content=[plain(item) for item in value])
    if isinstance(value, dict):
        types = node("ListNode", "builtins", "list", content=[TEXT for _ in value])
        content = {key: plain(item) for key, item in value.items()}
        return node("DictNode", "builtins", "dict", content=content, key_types=types)
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def small(*table):
    """A file of nothing but nodes of objects."""
    record = {"format": archive.FORMAT, "format_version": archive.FORMAT_VERSION}
    record |= {"version": "0", "feature_names": [], "target_name": None, "objects": None}
    schema = plain(record)
    schema["content"]["objects"] = node("ListNode", "builtins", "list", content=list(table))
    return closed({**schema, "protocol": 2, "_skops_version": "0.16.0"}, {})


def rows(schema):
    """The nodes of the objects in the file."""
    return schema["content"]["objects"]["content"]


def row(name, /, **state):
    """The node of an object."""
    return plain({"class": name, "state": state})


def set_entry(dictionary, key, value):
    """Set an entry of the node of a dictionary."""
    if key not in dictionary["content"]:
        dictionary["key_types"]["content"].append(TEXT)
    dictionary["content"][key] = value


def with_first(content, first, more=()):
    """The file with another object before the first."""
    schema, members = opened(content)
    rows(schema).insert(0, first)
    return closed(schema, {**members, **dict(more)})


def same(ours, theirs):
    """The same to the last bit, types and all."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and same(list(ours.values()), list(theirs.values()))
    if isinstance(ours, (np.ndarray, np.generic)):
        alike = (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        return alike and ours.tobytes() == theirs.tobytes()
    return ours == theirs or ours != ours
