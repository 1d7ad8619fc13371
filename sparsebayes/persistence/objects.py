"""Objects as plain data: a table, in which each row has a name and the values of its attributes.

A row refers only to rows before it, so there are no circles, and what was shared stays shared; the
last row is the model. An object is made without its constructor and gets the attributes of its row,
none of which may hide a method. Ours have their parameters, and what was learned under names that
begin or end with an underscore. Values are plain data or objects of the list, so there is nothing
in a file to be called.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from sparsebayes.persistence import dates, trusted
from sparsebayes.persistence.archive import KINDS, Refused, damaged, short

Array = np.ndarray
Table = list[dict[str, Any]]

_VALUES = (type(None), bool, int, float, str)
_BITS = 10_000  # of an integer: Python does not read longer ones from text
_WORDS = 624  # of the state of a RandomState


def pack(model: Any) -> Table:
    """The table of a model, or `Refused` with the place of what cannot be stored."""
    packer = _Packer()
    packer.value(model, type(model).__name__)
    return packer.table


def unpack(table: Any) -> Any:
    """The model of a table, or `Refused`."""
    if not isinstance(table, list) or not table:
        raise damaged("no table of objects")
    made: list[Any] = []
    for row in table:
        if not isinstance(row, dict) or row.keys() != {"class", "state"}:
            raise damaged("a row that is no object")
        name, state = row["class"], row["state"]
        if not isinstance(name, str) or not isinstance(state, dict):
            raise damaged("an object without a name")
        made.append(_make(name, {key: _refer(value, made) for key, value in state.items()}))
    return made[-1]


def _refer(value: Any, made: list[Any]) -> Any:
    """A value with objects in place of references to them."""
    if isinstance(value, (list, tuple)):
        return type(value)(_refer(item, made) for item in value)
    if not isinstance(value, dict):
        return value
    number = value.get("object")
    if len(value) != 1 or type(number) is not int or not 0 <= number < len(made):
        raise damaged("a reference to no object")
    return made[number]


def _make(name: str, state: dict[str, Any]) -> Any:
    """The object of a row."""
    if name in _FORMS:
        try:
            return _FORMS[name].make(**state)
        except (Refused, ImportError):  # the latter says what to install
            raise
        except Exception as error:  # wrong entries, or values of the wrong type
            raise damaged(f"{name}: {type(error).__name__}: {error}") from error
    kind = _trusted(trusted.class_named, name)
    _check_state(name, kind, state)
    made = kind.__new__(kind)
    if hasattr(kind, "__setstate__"):  # scikit-learn's, which compares versions
        made.__setstate__(state)
    else:
        vars(made).update(state)
    return made


def _trusted(find: Callable[[str], Any], name: Any) -> Any:
    """What a name of the list stands for."""
    try:
        return find(name)
    except KeyError:
        raise Refused(f"holds {short(name)}, which is not trusted") from None


@cache
def _parameters(kind: type) -> frozenset[str]:
    """Attributes that an object of a class cannot be without."""
    if dataclasses.is_dataclass(kind):
        return frozenset(field.name for field in dataclasses.fields(kind))
    signature = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return frozenset(one.name for one in list(signature)[1:] if one.kind not in several)


def _check_state(name: str, kind: type, state: Mapping[str, Any]) -> None:
    """The attributes are some that the class can have, and for ours all that it must have.

    Scikit-learn renames parameters from version to version, and warns about that itself.
    """
    for key in state:
        hides = hasattr(inspect.getattr_static(kind, key, None), "__get__")
        if hides or not key.isidentifier() or key.startswith("__"):
            raise Refused(f"holds {name} with the attribute {short(key)!r}, which is not trusted")
    if name == "sklearn.pipeline.Pipeline" and state.get("memory") is not None:
        # It would be read with pickle, from a directory that the file names.
        raise Refused("holds a Pipeline with a cache; use set_params(memory=None)")
    if name.startswith("sklearn."):
        return
    needed, fixed = _parameters(kind), dataclasses.is_dataclass(kind)
    learned = set() if fixed else {key for key in state if key[0] == "_" or key[-1] == "_"}
    wrong = (needed ^ state.keys()) - learned
    if wrong:
        raise Refused(
            f"holds {name} with other attributes than this version has: {short(sorted(wrong))}"
        )


class _Packer:
    """Enters objects into a table, what they hold first."""

    def __init__(self) -> None:
        self.table: Table = []
        self.rows: dict[int, int] = {}  # of objects, by id
        self.seen: list[Any] = []  # keeps them alive, and their ids taken
        self.open: set[int] = set()  # those that are being entered

    def value(self, value: Any, path: str) -> Any:
        """Plain data for a value, which is found at `path`."""
        if _is_plain(value):
            return value
        if id(value) in self.rows:
            return {"object": self.rows[id(value)]}
        if id(value) in self.open:
            raise Refused(f"holds itself at {path}")
        self.open.add(id(value))
        self.seen.append(value)
        if type(value) in (list, tuple):
            plain = type(value)(self.value(v, f"{path}[{i}]") for i, v in enumerate(value))
        else:
            plain = {"object": self._enter(value, path)}
        self.open.remove(id(value))
        return plain

    def _enter(self, value: Any, path: str) -> int:
        name = _form_of(value) or trusted.name_of_class(type(value))
        if name is None:
            raise Refused(
                f"holds {_describe(value)} at {short(path)}, which a file cannot bring back; "
                f"{_remedy(value)}"
            )
        state = _FORMS[name].take(value) if name in _FORMS else value.__getstate__() or {}
        plain = {key: self.value(part, f"{path}.{key}") for key, part in state.items()}
        self.table.append({"class": name, "state": plain})
        self.rows[id(value)] = len(self.table) - 1
        return self.rows[id(value)]


def _is_plain(value: Any) -> bool:
    """Whether it is stored as it is."""
    if type(value) in _VALUES:
        return not isinstance(value, int) or value.bit_length() <= _BITS
    scalar = isinstance(value, np.generic) and not isinstance(value, np.bytes_)
    array = scalar or type(value) is np.ndarray
    return array and value.dtype.kind in KINDS and value.dtype.itemsize > 0


def _describe(value: Any) -> str:
    if isinstance(value, type):
        return short(f"the class {value.__qualname__}")
    if hasattr(value, "__qualname__"):
        return short(f"the {type(value).__name__} {value.__qualname__}")
    return short(f"{type(value).__module__}.{type(value).__qualname__}")


def _remedy(value: Any) -> str:
    if callable(value) and not isinstance(value, type):
        return "use a basis object of sparsebayes.basis instead of a callable"
    page = "docs/howto/save_and_load.md"
    return f"use arrays of NumPy, and classes that {page} lists"


@dataclasses.dataclass(frozen=True)
class _Form:
    """How a type that has no attributes to store is stored."""

    take: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]


def _form_of(value: Any) -> str | None:
    """The name of the form of a value, None if its attributes are stored."""
    if type(value) is np.ndarray:
        return {"O": "object array", "V": "structured array"}.get(value.dtype.kind)
    if type(value) in (dict, slice):
        return type(value).__name__
    if type(value) is np.random.RandomState:
        return "numpy.random.RandomState"
    if isinstance(value, np.dtype):
        return "numpy.dtype" if value.kind in KINDS else None
    if isinstance(value, type):
        return "type" if trusted.name_of_type(value) else None
    return "function" if trusted.name_of_function(value) else dates.form_of(value)


def _make_slice(start: Any, stop: Any, step: Any) -> slice:
    if not all(part is None or type(part) is int for part in (start, stop, step)):
        raise damaged("a slice of no numbers")
    return slice(start, stop, step)


def _make_objects(shape: Any, items: Any) -> Array:
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # at once NumPy would look into items that are lists
        array[i] = item
    return array.reshape(shape)


def _take_fields(array: Array) -> dict[str, Any]:
    fields = list(array.dtype.names or ())
    return {"fields": fields, "columns": [array[name] for name in fields]}


def _make_fields(fields: Any, columns: Any) -> Array:
    parts = dict(zip(fields, columns, strict=True))
    array = np.empty(columns[0].shape, [(name, part.dtype) for name, part in parts.items()])
    for name, part in parts.items():
        if part.shape != array.shape:
            raise damaged("columns of different lengths")
        array[name] = part
    return array


def _take_random(random: np.random.RandomState) -> dict[str, Any]:
    state: Any = random.get_state(legacy=False)
    return {**state["state"], "has_gauss": state["has_gauss"], "gauss": state["gauss"]}


def _make_random(key: Any, pos: Any, has_gauss: Any, gauss: Any) -> np.random.RandomState:
    # NumPy takes any position, and then reads there.
    words = isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (_WORDS,)
    if not words or type(pos) is not int or not 0 <= pos <= _WORDS or has_gauss not in (0, 1):
        raise damaged("a random state that is none")
    random = np.random.RandomState()
    random.set_state(("MT19937", key, pos, has_gauss, float(gauss)))
    return random


def _make_dtype(text: Any) -> np.dtype:
    if not isinstance(text, str) or text[1:2] not in KINDS or not text[2:].isdecimal():
        raise damaged("a type of numbers that is none")
    return np.dtype(text)


_FORMS = {
    "dict": _Form(lambda value: {"items": list(value.items())}, lambda items: dict(items)),
    "slice": _Form(
        lambda value: {"start": value.start, "stop": value.stop, "step": value.step}, _make_slice
    ),
    "object array": _Form(
        lambda value: {"shape": value.shape, "items": value.ravel().tolist()}, _make_objects
    ),
    "structured array": _Form(_take_fields, _make_fields),
    "numpy.random.RandomState": _Form(_take_random, _make_random),
    "numpy.dtype": _Form(lambda value: {"text": value.str}, _make_dtype),
    "type": _Form(
        lambda value: {"name": trusted.name_of_type(value)},
        lambda name: _trusted(trusted.type_named, name),
    ),
    "function": _Form(
        lambda value: {"name": trusted.name_of_function(value)},
        lambda name: _trusted(trusted.function_named, name),
    ),
    **{name: _Form(take, make) for name, (take, make) in dates.FORMS.items()},
}
