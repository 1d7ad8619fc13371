"""Model files that commands read."""

from __future__ import annotations

import sys

from sparsebayes.cli.reports.answer import STANDARD
from sparsebayes.persistence import StoredModel, load_record


def open_model(path: str) -> StoredModel:
    """The model of a file, or of stdin."""
    return load_record(sys.stdin.buffer if path == STANDARD else path)
