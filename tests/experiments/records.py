"""What an experiment has stored."""

import json
from pathlib import Path

from experiments._report import Value


def table(folder: Path, name: str) -> dict[str, tuple[str, ...]]:
    """The cells of each value, by its name."""
    record = json.loads((folder / f"{name}.json").read_text("utf-8"))
    values = [Value(**{"row": "", "paper": None, **one}) for one in record["values"]]
    return {value.name: value.cells() for value in values}


def numbers(folder: Path, name: str) -> dict[str, float]:
    """Ours, by its name, but for statements."""
    found = {key: cells[2] for key, cells in table(folder, name).items()}
    return {key: float(ours) for key, ours in found.items() if "hold" not in ours}
