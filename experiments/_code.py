"""What results depend on: the package, an experiment, and the code that one unit of work calls.

Docstrings, comments and empty lines do not count, nor do the parts of the package that only show
or store what others have computed.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
# Modules that no number comes from: of the package, and of the experiments.
_SHOWING = {
    "__init__", "__main__", "cli", "comparison", "explore", "export", "persistence", "plots",
    "sktime", "summaries",
}  # fmt: skip
_TELLING = {"_page", "_report", "_rows", "_store", "_verdicts"}


@cache
def package() -> str:
    """The digest of the package."""
    found = sorted((ROOT / "sparsebayes").rglob("*.py"))
    inside = (path.relative_to(ROOT / "sparsebayes").with_suffix("").parts[0] for path in found)
    return _digest(
        _plain(path) for path, part in zip(found, inside, strict=True) if part not in _SHOWING
    )


def experiment(name: str) -> str:
    """The digest of an experiment with the modules of `experiments` that it imports."""
    seen: set[str] = set()
    left = [f"experiments.{name}"]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += (source for source in _names(module)[2] if source not in seen)
    return _digest(_plain(_source(module)) for module in sorted(seen))


@cache
def function(called: Callable[..., Any]) -> str:
    """The digest of a function of an experiment and of all in `experiments` that it names."""
    seen: dict[tuple[str, str], str] = {}
    _follow(called.__module__, called.__qualname__.partition(".")[0], seen)
    return _digest(f"{key}\n{text}" for key, text in sorted(seen.items()))


def _follow(module: str, name: str, seen: dict[tuple[str, str], str]) -> None:
    """Note the definition of a name, and of the names in it."""
    defined, imported, _ = _names(module)
    if (module, name) in seen:
        return
    if name in imported:
        _follow(*imported[name], seen)
    elif name == "*":  # a module as a whole
        seen[module, name] = _plain(_source(module))
    elif name in defined:
        nodes = defined[name]
        seen[module, name] = "\n".join(_text(module, node) for node in nodes)
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Name):
                    _follow(module, part.id, seen)


class _Names(NamedTuple):
    """What a module defines, and what it imports from other modules of `experiments`."""

    defined: dict[str, list[ast.stmt]]
    imported: dict[str, tuple[str, str]]  # the module and the name there, "*" for a module
    modules: set[str]  # that numbers may come from


@cache
def _names(module: str) -> _Names:
    names = _Names({}, {}, set())
    path = _source(module)
    if not path.exists():  # a test's, say
        return names
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("experiments"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = _source(whole).exists()
                source = (whole, "*") if is_module else (str(node.module), alias.name)
                names.imported[alias.asname or alias.name] = source
                if source[0].rpartition(".")[2] not in _TELLING:
                    names.modules.add(source[0])
        for name in _bound(node):
            names.defined.setdefault(name, []).append(node)
    return names


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _source(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


@cache
def _lines(path: Path) -> tuple[str, ...]:
    """The lines of a file; those of docstrings and comments are empty."""
    text = path.read_text("utf-8")
    lines = [line.rstrip() for line in text.splitlines()]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                assert first.end_lineno is not None
                for number in range(first.lineno - 1, first.end_lineno):
                    lines[number] = ""
    return tuple("" if line.lstrip().startswith("#") else line for line in lines)


def _plain(path: Path) -> str:
    kept = [line for line in _lines(path) if line]
    return "\n".join([path.relative_to(ROOT).as_posix(), *kept])


def _text(module: str, node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return "\n".join(line for line in _lines(_source(module))[first - 1 : node.end_lineno] if line)


def _digest(texts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode())
        found.update(b"\0")
    return found.hexdigest()[:12]
