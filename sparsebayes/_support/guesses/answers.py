"""What answers unknown arguments, and names that the package does not have.

`arguments`, `attributes` and `names` have the names that other packages use, with ours. Nothing is
renamed: an unknown argument is a TypeError and an unknown attribute an AttributeError, as ever.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from sparsebayes._support.guesses.arguments import ARGUMENTS, SAME
from sparsebayes._support.guesses.names import HOMES, NAMES
from sparsebayes._support.guesses.table import Table

Target = TypeVar("Target", bound=Callable[..., Any])

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def guided(target: Target) -> Target:
    """Decorate a class or function whose unknown arguments are answered with ours.

    Signature, name and documentation stay what they are. Of a class it is the constructor; a
    dataclass is decorated after it has one.
    """
    if isinstance(target, type):
        target.__init__ = _answering(target.__init__)  # type: ignore[misc]
        return target
    return _answering(target)


def _answering(function: Any) -> Any:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    names = [one.name for one in parameters]
    positions = [one.name for one in parameters if one.kind in _BY_POSITION]
    is_method = names[0] == "self"
    known = names[1:] if is_method else names
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        one.name
        for one in parameters[is_method:]
        if one.default is one.empty and one.kind not in variable
    ]

    @functools.wraps(function)
    def answering(*args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in known]
        if (unknown or len(args) > len(positions)) and len(args) >= is_method:
            called, keys = _callee(function, answering, args[0] if is_method else None)
            if unknown:
                raise TypeError(unknown_arguments(called, keys, unknown, known))
            raise TypeError(_by_name(called, positions[is_method:], known, len(args) - is_method))
        missing = [one for one in needed if one not in kwargs and one not in positions[: len(args)]]
        if missing:
            called, _ = _callee(function, answering, args[0] if is_method else None)
            example = ", ".join(f"{name}=..." for name in missing)
            raise TypeError(f"{called} needs {' and '.join(missing)}: {called}({example}).")
        return function(*args, **kwargs)

    answering.__signature__ = signature  # type: ignore[attr-defined]  # for those who do not unwrap
    answering.is_guided = True  # type: ignore[attr-defined]
    return answering


def _callee(function: Any, answering: Any, model: Any) -> tuple[str, list[str]]:
    """What a user called, and under which names the table may have it."""
    if model is None:
        return function.__name__, [function.__name__]
    kind = type(model)
    classes = [one.__name__ for one in kind.__mro__]
    if function.__name__ != "__init__":
        called = f"{kind.__name__}.{function.__name__}"
        return called, [f"{one}.{function.__name__}" for one in classes]
    if kind.__init__ is not answering:  # that of a class derived from the one that is called
        owner = function.__qualname__.rpartition(".")[0]
        return owner, classes[classes.index(owner) :] if owner in classes else [owner]
    return kind.__name__, classes


def _by_name(called: str, positions: list[str], known: list[str], n_given: int) -> str:
    """Of arguments that are given by position and have none."""
    others = [name for name in known if name not in positions]
    taken = f"only {', '.join(positions)}" if positions else "no argument"
    remedy = f"; give the others by name: {', '.join(others)}" if others else ""
    return f"{called} takes {taken} by position, got {n_given} arguments{remedy}."


def unknown_arguments(
    called: str, keys: Iterable[str], guesses: Iterable[str], known: Collection[str]
) -> str:
    """A line for each guess: ours, or the nearest and all there are."""
    keys, lines = list(keys), []
    for guess in guesses:
        remedy = lookup(ARGUMENTS, keys, guess, called)
        same = {word: name for name in known for word in SAME.get(name, "").split()}
        if remedy is None and guess in same:
            remedy = f"use {same[guess]}=: {called}({same[guess]}=...)"
        elif remedy is None:
            there = f"Its arguments are {', '.join(known)}" if known else "It takes none"
            remedy = f"{nearest(guess, known, same)}{there}"
        lines.append(f"{called} has no argument {guess!r}; {after_semicolon(remedy)}.")
    return "\n".join(lines)


def unknown_name(guess: str, known: Collection[str]) -> str:
    """Of a name that is asked of the package."""
    remedy = NAMES.get(guess)
    if remedy is None:
        homes = [module for module, names in HOMES.items() if guess in names]
        remedy = f"from sparsebayes.{homes[0]} import {guess}" if homes else None
    if remedy is None:
        everywhere = [*known, *(name for names in HOMES.values() for name in names)]
        there = ", ".join(name for name in known if not name.startswith("_"))
        remedy = f"{nearest(guess, everywhere)}It has {there}"
    return f"sparsebayes has no attribute {guess!r}; {after_semicolon(remedy)}."


def lookup(table: Table, keys: Iterable[str], guess: str, called: str) -> str | None:
    """The remedy of the first of the names that has one for this guess."""
    for key in keys:
        if guess in table.get(key, {}):
            return table[key][guess].replace("{name}", called)
    return None


def nearest(guess: str, known: Iterable[str], same: dict[str, str] | None = None) -> str:
    """A question, if a name that is known or stands for one is spelled much like the guess."""
    words = {word.lower(): name for word, name in (same or {}).items()}
    words |= {name.lower(): name for name in known}
    near = get_close_matches(guess.lower(), words, 1)
    return f"did you mean {words[near[0]]}? " if near else ""


def after_semicolon(remedy: str) -> str:
    """The same in the middle of a sentence."""
    return re.sub(r"^(Its|It) ", lambda found: found[0].lower(), remedy)
