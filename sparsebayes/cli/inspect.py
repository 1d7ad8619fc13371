"""``sparsebayes inspect``: describe a stored model."""

from __future__ import annotations

from argparse import Namespace

from sparsebayes.cli.curves.limits import limits_report, refuse_alone
from sparsebayes.cli.report import inspect_report
from sparsebayes.persistence import load_record


def run(args: Namespace) -> None:
    """Print the report."""
    refuse_alone(args)
    record = load_record(args.model)
    report = inspect_report(record, args.model)
    if args.detection_limit:
        report += "\n" + limits_report(record, args)
    print(report)
