"""``sparsebayes inspect``: describe a stored model."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from sparsebayes.cli.curves.limits import find_limits, limits_report, refuse_alone
from sparsebayes.cli.model_file import open_model
from sparsebayes.cli.reports.answer import Answer, write_outputs
from sparsebayes.cli.reports.data import inspect_data
from sparsebayes.cli.reports.figures import check_directory
from sparsebayes.cli.reports.model_figures import model_figures
from sparsebayes.cli.reports.report import aligned, inspect_report


def run(args: Namespace) -> Answer:
    """The report on the model."""
    refuse_alone(args)
    if args.figures:
        check_directory(args.figures)
    record = open_model(args.model)
    text, data = inspect_report(record, args.model), inspect_data(record, args.model)
    if args.detection_limit:
        limits = find_limits(record, args)
        text += "\n" + limits_report(record, limits)
        data["limits"] = [{"target": target} | asdict(limit) for target, limit in limits.items()]
    if args.figures:
        files, data["notes"] = model_figures(record, Path(args.figures))
        data["written"] = write_outputs(files, args.figures)
        rows = [("note", note) for note in data["notes"]]
        rows += [("written", path) for path in data["written"]]
        text += "\n\n" + "\n".join(aligned(rows))
    return Answer(text, data)
