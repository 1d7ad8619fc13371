"""``sparsebayes inspect``: describe a stored model."""

from __future__ import annotations

from argparse import Namespace

from sparsebayes.cli.report import inspect_report
from sparsebayes.persistence import load_record


def run(args: Namespace) -> None:
    """Print the report."""
    print(inspect_report(load_record(args.model), args.model))
