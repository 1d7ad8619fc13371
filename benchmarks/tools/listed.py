"""Names that the command line gives with commas between them."""

from __future__ import annotations

from collections.abc import Iterable


def listed(option: str, text: str | None, known: Iterable[str]) -> list[str]:
    """The names; those that are not `known` end the run with a sentence."""
    names = [name.strip() for name in text.split(",")] if text else []
    for name in names:
        if name not in known:
            raise SystemExit(f"{option}: no {name!r}; there are {', '.join(known)}.")
    return names
