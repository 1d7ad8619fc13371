"""``python -m experiments NAME [--quick] [--results DIR] [--jobs 1]``, ``--all``, ``report``."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from pathlib import Path

import experiments
from experiments import _page, _store
from experiments._report import Options, duration, progress

STORED = _store.ROOT / "experiments" / "results"
PAGE = _store.ROOT / "docs" / "papers.md"


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Make tables and figures of the papers again.",
        epilog="A run that was stopped goes on where it was: what was computed is kept in "
        "RESULTS/.units, until the package or the experiment changes.",
    )
    parser.add_argument(
        "name", nargs="?", help="an experiment, or report: all that is stored, as a page"
    )
    parser.add_argument("--all", action="store_true", help="all that are not stored as they are")
    parser.add_argument("--quick", action="store_true", help="few repetitions, small data")
    parser.add_argument(
        "--results",
        type=Path,
        help="folder of the results (default: results; of report: experiments/results)",
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="of report (docs/papers.md)")
    parser.add_argument("--jobs", type=_positive, default=1, help="processes for repetitions")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers")
    parser.add_argument("--repetitions", type=_positive, help="instead of the paper's number")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    if chosen.name == "report":
        return _report(chosen.results or STORED, chosen.page)
    if chosen.name is None and not chosen.all:
        width = max(map(len, experiments.NAMES))
        for name in experiments.NAMES:
            print(f"{name:{width}}  {experiments.summary(name)}")
        return 0
    if chosen.name is not None and (chosen.all or chosen.name not in experiments.NAMES):
        known = ", ".join(experiments.NAMES)
        told = "either a name or --all" if chosen.all else f"no experiment {chosen.name!r}"
        print(f"error: {told}; there are: {known}, and report.", file=sys.stderr)
        return 2
    options = Options(chosen.quick, chosen.jobs, chosen.seed, chosen.repetitions)
    folder = chosen.results or Path("results")
    if chosen.name is not None:
        return _run(chosen.name, options, folder)
    return _run_all(options, folder)


def _run(name: str, options: Options, folder: Path) -> int:
    """One experiment; 2 where data or packages are missing, or nothing can be written."""
    begin, units = time.perf_counter(), _store.Units(folder / ".units", name)
    try:
        with _store.kept(units):
            report = experiments.load(name).run(options)
    except (FileNotFoundError, ImportError) as error:  # data or matplotlib absent
        print(f"error: {name}: {error}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - begin
    print(report.text())
    about = {
        "commit": _store.commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": _store.versions(),
        "seconds": round(seconds + units.seconds, 1),
        "quick": options.quick or options.repetitions is not None,
        "state": _store.state_of(name),
    }
    try:
        written = report.save(folder, name, about)
    except OSError as error:
        print(f"error: {name}: {error}", file=sys.stderr)
        return 2
    print(f"{seconds:.0f} s; wrote {', '.join(map(str, written))}\n", flush=True)
    return 0


def _run_all(options: Options, folder: Path) -> int:
    """Those that are not stored as the code is; with an estimate of the time by what is stored."""
    left = [name for name in experiments.NAMES if not _stored(name, options, folder)]
    done = len(experiments.NAMES) - len(left)
    progress(f"{done} of {len(experiments.NAMES)} are stored as the code is")
    failed = 0
    while left:
        known = [_page.seconds_of(folder, name) or _page.seconds_of(STORED, name) for name in left]
        told = duration(sum(known)) + " or more" * (0.0 in known)
        progress(f"{left[0]}: {len(left)} experiments to go, about {told}")
        failed = max(failed, _run(left.pop(0), options, folder))
    return failed


def _stored(name: str, options: Options, folder: Path) -> bool:
    record = _page.read(folder, name)
    return (
        record is not None and _page.fresh(record, name) and (options.quick or not record["quick"])
    )


def _report(folder: Path, page: Path) -> int:
    """Print a line for each table and figure, and write the page."""
    found = list(_page.judged(folder))
    print("\n".join(_page.lines(found)))
    pictures = Path(os.path.relpath(folder.resolve(), page.resolve().parent)).as_posix()
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page.page(found, pictures), "utf-8")
    print(f"wrote {page}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
