"""How often another route ends more than a nat above the default: rarely, and as the docs say."""

import json
from pathlib import Path

import pytest

from benchmarks.convergence.__main__ import DEFAULT, NAT, End, measure, shortfall, table
from benchmarks.tools.random_problems import random_problem

DOCS = Path(__file__).parents[2] / "docs"
MOST = 0.02  # of the problems


def stored(kind):
    records = json.loads((DOCS / "evidence" / "convergence.json").read_text("utf-8"))[kind]
    return {seed: {name: End(*end) for name, end in ends.items()} for seed, ends in records.items()}


def short_of_another(records):
    return sum(shortfall(ends, DEFAULT) > NAT for ends in records.values())


def test_what_is_stored_is_within_the_limit():
    records = stored("given")
    assert len(records) == 500
    for rest in (0, 1):
        part = {seed: ends for seed, ends in records.items() if int(seed) % 2 == rest}
        assert short_of_another(part) <= MOST * len(part)


def test_the_docs_say_what_is_stored():
    page = (DOCS / "evidence" / "solvers.md").read_text("utf-8")
    rows = [line.split("|")[1:-1] for line in table(stored("given")).splitlines()[2:]]
    for name in ("default", "brief", "em", "mackay", "subspace"):
        regression, classification = (
            [cell.strip() for cell in row[4:6]] for row in rows if row[1].strip() == name
        )
        said = next(line for line in page.splitlines() if line.startswith(f"| {name} | "))
        cells = [cell.strip().replace(" %", "%") for cell in said.split("|")[2:-1]]
        assert cells[0] == regression[0] and cells[2] == classification[0]
        for there, here in ((cells[1], regression[1]), (cells[3], classification[1])):
            assert float(there) == pytest.approx(float(here), abs=0.5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_problems_that_were_never_stored():
    records = {seed: measure(random_problem(seed), learned=False) for seed in range(1000, 1050)}
    assert short_of_another(records) <= 1
