"""Plain data in a skops file: a zip archive of a schema and arrays, read within limits.

Plain data are None, booleans, numbers, text, lists, tuples, dictionaries of text, and arrays and
scalars of NumPy. In the schema each has a node that says how skops would load it; of the many kinds
of nodes only these few are read, with exactly the entries that skops writes, and everything else
is refused. Nothing in a file chooses what is imported or called.

Members are stored, not compressed, and there are no more bytes in them than in the file: a small
file stays small. The archive's comment has a digest of all members, against damage; it is no
signature.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from sparsebayes._support.optional import require

Array = np.ndarray

FORMAT = "sparsebayes-model"
FORMAT_VERSION = 2

MAX_FILE = 2**31  # bytes of a file
MAX_SCHEMA = 2**25  # bytes of its schema, which may take twenty times as much when read
MAX_MEMBERS = 100_000
MAX_DEPTH = 64  # of lists in lists

_SCHEMA = "schema.json"
_MEMBER = re.compile(r"[0-9]{1,20}\.npy")

# An array as np.save writes it, in versions of NumPy from 1.26 on; no dates, records or objects.
_HEADER = re.compile(
    rb"\{'descr': '([<>|])(b1|[iu][1248]|f[248]|c8|c16|[SU][0-9]{1,9})', "
    rb"'fortran_order': (True|False), 'shape': \((|[0-9]{1,15}(?:, [0-9]{1,15})*,?)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
KINDS = "biufcSU"
# Bytes that are no boolean or character would confuse NumPy later: integers of the same size, and
# the largest of them.
_LARGEST = {"b": ("u1", 1), "U": ("u4", 0x10FFFF)}
# Numbers of NumPy by the names of their types; a boolean has had two.
_SCALARS = {
    *("bool", "bool_", "str_"),
    *("int8", "int16", "int32", "int64", "longlong"),
    *("uint8", "uint16", "uint32", "uint64", "ulonglong"),
    *("float16", "float32", "float64", "complex64", "complex128"),
}
# The nodes of the types of keys, whose items are all the same.
_LIST = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
_TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}


class Refused(ValueError):
    """Why a file is not read; the text goes on where the name of the file ends."""


def damaged(why: Any) -> Refused:
    """The refusal of what no writer of model files has written."""
    return Refused(f"is damaged or not a model file ({short(why)})")


def short(text: Any) -> str:
    """Text from a file in one line that cannot be long."""
    printable = "".join(c if c.isprintable() else "?" for c in str(text)[:200])
    return printable if len(printable) <= 100 else f"{printable[:97]}..."


def write(record: Mapping[str, Any]) -> bytes:
    """A file that holds `record`, plain data."""
    dumps = require("skops.io", "Storing models").dumps
    return seal(dumps({"format": FORMAT, "format_version": FORMAT_VERSION, **record}))


def seal(content: bytes) -> bytes:
    """The archive with the digest of its members as its comment."""
    stream = BytesIO(content)
    with ZipFile(stream, "a") as archive:
        archive.comment = _comment({name: archive.read(name) for name in archive.namelist()})
    return stream.getvalue()


def _comment(members: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256()
    for name, data in sorted(members.items()):
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return f"{FORMAT} sha256:{digest.hexdigest()}".encode()


def read(content: bytes) -> dict[str, Any]:
    """The record that a file holds, or `Refused`."""
    check_size(len(content))
    try:
        with ZipFile(BytesIO(content)) as archive:
            schema, members = _unpack(archive, len(content))
            comment = archive.comment
    except Refused:
        raise
    except Exception as error:  # zipfile and json raise a dozen kinds
        raise damaged(f"{type(error).__name__}: {error}") from error
    if comment != _comment(members):
        raise damaged("its digest differs")
    for note in ("protocol", "_skops_version"):  # skops' own, at the root only
        schema.pop(note, None)
    reader = _Reader(members)
    record = reader.value(schema)
    if reader.arrays.keys() != members.keys() - {_SCHEMA}:
        raise damaged("it has arrays that belong to nothing")
    return record


def _unpack(archive: ZipFile, size: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The schema, and all members by name; sizes are checked before anything is read.

    The schema comes first: it tells the version, and another may have other members.
    """
    parts = {part.orig_filename: part for part in archive.infolist()}
    if len(parts) > MAX_MEMBERS:
        raise Refused(f"has {len(parts)} arrays; at most {MAX_MEMBERS} are read")
    if len(parts) < len(archive.infolist()) or _SCHEMA not in parts:
        raise damaged(f"parts {sorted(parts)}")
    length = parts[_SCHEMA].file_size
    if length > MAX_SCHEMA:
        raise Refused(f"has a schema of {length} bytes; at most {MAX_SCHEMA} are read")
    _check_stored(parts[_SCHEMA])
    schema = json.loads(archive.read(parts[_SCHEMA]))
    _check_version(schema)
    for name, part in parts.items():
        if name != _SCHEMA and not _MEMBER.fullmatch(name):
            raise damaged(f"a part named {name!r}")
        _check_stored(part)
    if sum(part.file_size for part in parts.values()) > size:
        raise Refused("claims to unpack to more bytes than it has")
    return schema, {name: archive.read(part) for name, part in parts.items()}


def _check_stored(part: ZipInfo) -> None:
    """A member has as many bytes as it takes in the file."""
    if part.compress_type != ZIP_STORED or part.compress_size != part.file_size:
        raise Refused("has compressed parts, which no model file has: it could unpack to any size")


def check_size(size: int) -> None:
    """A file of so many bytes is read, or `Refused`."""
    if size > MAX_FILE:
        raise Refused(f"has {size} bytes; a model file has at most {MAX_FILE}")


def _check_version(schema: Any) -> None:
    """It is a model file of the version that is read here, or a message that says what it is."""
    if _told(schema, "format") != FORMAT:
        raise Refused(f"is not a sparsebayes model: it holds {_label(schema)}")
    version, writer = _told(schema, "format_version"), short(_told(schema, "version"))
    if type(version) is not int or version < 1:
        raise damaged(f"format version {version!r}")
    if version != FORMAT_VERSION:
        remedy = (
            "fit the model again and save it with this package"
            if version < FORMAT_VERSION
            else "install a newer sparsebayes"
        )
        raise Refused(
            f"has format version {version}, written by sparsebayes {writer}; this package reads "
            f"version {FORMAT_VERSION}: {remedy}"
        )


def _told(schema: Any, key: str) -> Any:
    """An entry of the record from its node, as all versions have written it; None if it is not."""
    try:
        return json.loads(schema["content"][key]["content"])
    except Exception:  # whatever it is, it was not written by this package
        return None


def _label(node: Any) -> str:
    """What a node would load."""
    if not isinstance(node, dict):
        return short(f"a {type(node).__name__}")
    return short(f"{node.get('__module__')}.{node.get('__class__')} ({node.get('__loader__')})")


class _Reader:
    """From nodes to plain data; arrays are read once, however often they are named."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self.arrays: dict[str, Array] = {}
        self.loaders: dict[tuple[Any, Any, Any], Callable[[dict[str, Any], int], Any]] = {
            ("JsonNode", "builtins", "str"): self._json,
            ("ListNode", "builtins", "list"): self._list,
            ("TupleNode", "builtins", "tuple"): self._tuple,
            ("DictNode", "builtins", "dict"): self._dict,
            ("NdArrayNode", "numpy", "ndarray"): self._array,
            **{("NdArrayNode", "numpy", name): self._scalar for name in _SCALARS},
        }

    def value(self, node: Any, depth: int = 0) -> Any:
        """What a node stands for, if it is one of the few kinds that are read."""
        if depth > MAX_DEPTH:
            raise damaged(f"nested more than {MAX_DEPTH} deep")
        if not isinstance(node, dict):
            raise damaged(f"{_label(node)} in place of a node")
        entries = _unmarked(node)
        what = tuple(entries.pop(key, None) for key in ("__loader__", "__module__", "__class__"))
        if not all(isinstance(part, str) for part in what) or what not in self.loaders:
            raise Refused(f"holds {_label(node)}, which is not trusted")
        return self.loaders[what](entries, depth)

    def _json(self, entries: dict[str, Any], depth: int) -> Any:
        content, flag = _entries(entries, "content", "is_json")
        if not isinstance(content, str) or flag is not True:
            raise damaged("a value that is no text")
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise damaged(f"value {content!r}") from error
        if isinstance(value, (list, dict)):
            raise damaged("a list in place of a value")
        return value

    def _list(self, entries: dict[str, Any], depth: int) -> list[Any]:
        (content,) = _entries(entries, "content")
        if not isinstance(content, list):
            raise damaged("a list without items")
        return [self.value(node, depth + 1) for node in content]

    def _tuple(self, entries: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._list(entries, depth))

    def _dict(self, entries: dict[str, Any], depth: int) -> dict[str, Any]:
        content, types = _entries(entries, "content", "key_types")
        if not isinstance(content, dict):
            raise damaged("a dictionary without items")
        self._check_keys(types, len(content))
        return {key: self.value(node, depth + 1) for key, node in content.items()}

    def _check_keys(self, types: Any, count: int) -> None:
        """All keys are text: a list of as many nodes that stand for `str`."""
        listed = _unmarked(types)
        nodes = listed.pop("content", None)
        if listed != _LIST or not isinstance(nodes, list):
            raise Refused(f"holds {_label(types)} as types of keys, which is not trusted")
        for node in nodes:
            if _unmarked(node) != _TEXT:
                raise Refused(f"holds {_label(node)} as the type of a key, which is not trusted")
        if len(nodes) != count:
            raise damaged(f"{count} keys of {len(nodes)} types")

    def _array(self, entries: dict[str, Any], depth: int) -> Array:
        form, name = _entries(entries, "type", "file")
        if form != "numpy" or not isinstance(name, str) or not _MEMBER.fullmatch(name):
            raise damaged(f"an array in {name!r}")
        if name not in self.members:
            raise damaged(f"no part named {name!r}")
        if name not in self.arrays:
            self.arrays[name] = read_array(self.members[name])
        return self.arrays[name]

    def _scalar(self, entries: dict[str, Any], depth: int) -> Any:
        array = self._array(entries, depth)
        if array.ndim:
            raise damaged("an array in place of a number")
        return array[()]


def _unmarked(node: Any) -> dict[str, Any]:
    """The entries of a node, but for the place of the object in the memory of the writer."""
    entries = dict(node) if isinstance(node, dict) else {}
    entries.pop("__id__", None)
    return entries


def _entries(entries: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """The entries of a node, which must be exactly these."""
    if entries.keys() != set(names):
        raise damaged(f"a node with {sorted(entries)} in place of {sorted(names)}")
    return tuple(entries[name] for name in names)


def read_array(data: bytes) -> Array:
    """The array in the bytes of a ``.npy`` file; its size is checked before it is made."""
    size = len(_MAGIC) + 2
    end = size + int.from_bytes(data[len(_MAGIC) : size], "little")
    found = _HEADER.fullmatch(data[size:end])
    if not data.startswith(_MAGIC) or found is None:
        raise damaged("an array of a type that no model has")
    order, kind, fortran, numbers = (part.decode() for part in found.groups())
    dtype = np.dtype(order + kind)
    shape = tuple(int(number) for number in re.findall("[0-9]+", numbers))
    if dtype.itemsize == 0 or end + math.prod(shape) * dtype.itemsize != len(data):
        raise damaged(f"an array of shape {shape} in {len(data)} bytes")
    try:
        array = np.ndarray(shape, dtype, data, end, order="F" if fortran == "True" else "C")
    except ValueError as error:  # more dimensions, or larger ones, than NumPy can have
        raise damaged(error) from error
    if dtype.kind in _LARGEST and array.size:
        whole, largest = _LARGEST[dtype.kind]
        codes = np.frombuffer(data, np.dtype(whole).newbyteorder(dtype.byteorder), offset=end)
        if codes.max() > largest:
            raise damaged(f"bytes that are no {dtype.name}")
    return array.copy(order="K")  # which can be written to, unlike the bytes
