"""Crabs, four classes of which two differ little: does the fit end too soon?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.classifiers import data, fits
from benchmarks.classifiers.models import OURS, Model, ours
from benchmarks.stall import CREDIBLE
from benchmarks.tools import tables
from benchmarks.tools.splits import Split
from sparsebayes import RVC

Record = dict[str, Any]

SEEDS = {"crabs": range(20)}
QUICK = ("crabs",)
DEFAULT = "sequential"
RIVALS = ("mackay", "subspace")
ERROR, NATS = 0.10, 2.0


def _end(fitted: RVC) -> Record:
    return {
        "evidence": fits.short(fitted.log_evidence_),
        "determined": fits.short(float(fitted.determined_.sum())),
        "converged": bool(fitted.converged_),
    }


def route(solver: str) -> Model:
    """The model whose evidence is compared: nothing but the precisions is learned."""
    parameters = {"link": "logit", "multi_class": "multinomial", "adapt": None, "calibrate": None}
    known = RVC().get_params()
    chosen = {name: value for name, value in parameters.items() if name in known}
    return ours(_end, solver=solver, random_state=0, **chosen)


def one(split: Split) -> Record:
    """The scores of the default call, and where each route ends."""
    routes = {solver: fits.measured(route(solver), split) for solver in (DEFAULT, *RIVALS)}
    return {"fits": {OURS: fits.measured(ours(), split)}, "routes": routes}


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit to all splits that are not `done`; yields (key, record)."""
    plan = fits.planned(SEEDS, QUICK, options, only, done)
    for key, name, seed, split in fits.made(plan, data.make_split):
        yield key, fits.place(name, seed, split) | one(split)


def counts(record: Record, solver: str) -> bool:
    """Whether the end of a route is one to be reached: converged, and not collapsed."""
    end = record["routes"][solver]
    return end["converged"] and end["determined"] <= CREDIBLE * record["shape"][0]


def margin(record: Record) -> float:
    """Log evidence of the default solver minus the best that counts; 0 if none does."""
    own = record["routes"][DEFAULT]["evidence"]
    ends = [record["routes"][name]["evidence"] for name in RIVALS if counts(record, name)]
    return own - max(ends, default=own)


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    label = f"crabs, {len(records)} splits: "
    off = median(one["fits"][OURS]["error"] for one in records.values())
    shown = f"{100 * off:.1f}"
    yield label + "median error of RVC(), %", f"≤ {100 * ERROR:g}", shown, off <= ERROR
    worst = min(margin(one) for one in records.values())
    label += "log evidence − best of mackay and subspace, worst"
    yield label, f"≥ −{NATS:g}", tables.signed(worst), worst >= -NATS


def to_markdown(records: Mapping[str, Record]) -> str:
    """One row for each split."""
    rows = []
    for one in records.values():
        default = one["fits"][OURS]
        rows.append(
            (
                str(one["seed"]),
                tables.fixed(100 * default["error"], 1),
                tables.fixed(default["log_loss"], 3),
                default["link"] or tables.MISSING,
                *(_cell(one, solver) for solver in (DEFAULT, *RIVALS)),
                tables.signed(margin(one)),
            )
        )
    header = (
        "seed", "error, %, RVC()", "log loss", "link", DEFAULT, *RIVALS, f"{DEFAULT} − best",
    )  # fmt: skip
    return f"{NOTES}\n{tables.table(header, rows)}\n"


def _cell(record: Record, solver: str) -> str:
    end = record["routes"][solver]
    mark = "" if counts(record, solver) else "*"
    evidence = f"{end['evidence']:.1f}".replace("-", "−")
    return f"{evidence}{mark} · {100 * end['error']:.1f} · {end['vectors']}"


NOTES = f"""\
Crabs of two species, male and female, 140 rows to learn from and 60 to test, standardised. To the
left the default call. To the right `RVC(link="logit", multi_class="multinomial", adapt=None)` with
each solver: log evidence · error in % · vectors. * marks an end that does not count, because it is
not converged or has more effective parameters than {CREDIBLE:g} times the rows. Random splits,
seeds 0 to {len(SEEDS["crabs"]) - 1}.
"""
