"""How the names of other packages are written down."""

from __future__ import annotations

Table = dict[str, dict[str, str]]  # by class, function or method: a guess, and the remedy


def spelled_out(table: Table) -> Table:
    """The same with an entry for each word of a key: several names may have one remedy."""
    return {
        owner: {name: remedy for names, remedy in entries.items() for name in names.split()}
        for owner, entries in table.items()
    }
