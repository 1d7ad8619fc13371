"""``sparsebayes inspect``: describe a stored model."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from sparsebayes.cli.curves.limits import find_limits, limits_report, refuse_alone
from sparsebayes.cli.model_file import open_model
from sparsebayes.cli.report import inspect_report
from sparsebayes.cli.reports.answer import Answer
from sparsebayes.cli.reports.data import inspect_data


def run(args: Namespace) -> Answer:
    """The report on the model."""
    refuse_alone(args)
    record = open_model(args.model)
    text, data = inspect_report(record, args.model), inspect_data(record, args.model)
    if args.detection_limit:
        limits = find_limits(record, args)
        text += "\n" + limits_report(record, limits)
        data["limits"] = [{"target": target} | asdict(limit) for target, limit in limits.items()]
    return Answer(text, data)
