"""Numbers that pages quote from an experiment are those that it has stored."""

import json
import re
from pathlib import Path

import pytest

import experiments
from experiments.__main__ import PAGE, STORED

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"`python -m (?:experiments (?P<name>[\w.]+))?|`(?P<again>\w+\.\w+)`")
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")
NUMBER = re.compile(r"[-−]?\d+(?: \d{3})*\.\d+")


def numbers(text):
    """Numbers with a decimal point outside code, as they are written."""
    return [found[0].replace("−", "-") for found in NUMBER.finditer(CODE.sub("", text))]


def quoted(text):
    """Numbers of a page with the experiment that is named before them, in the same section."""
    name, level, section = None, 0, 0
    for line in BLOCK.sub("", text).splitlines():
        if line.startswith("#"):
            level = len(line.partition(" ")[0])
            name = name if level > section else None
        for found in COMMAND.finditer(line):
            if found["again"] is None or found["again"] in experiments.NAMES:
                name, section = found["name"] or found["again"], level
        if name is not None:
            yield from ((name, number) for number in numbers(line))


def said(record):
    """All numbers of a record: results, errors, and those in names and notes."""
    for value in record["values"]:
        yield from (value[key] for key in ("ours", "error") if isinstance(value.get(key), float))
        yield from map(float, numbers(value["name"]))
    for note in record["notes"]:
        yield from map(float, numbers(note))


def is_among(number, found):
    """Whether one of these, or a hundred times it, is this number at its digits."""
    half = 0.5000001 * 10.0 ** -len(number.partition(".")[2])
    size = abs(float(number))
    return any(abs(size - scale * abs(value)) <= half for value in found for scale in (1, 100))


def cases():
    for page in PAGES:
        if page != PAGE:  # it is made of what is stored
            found = list(quoted(page.read_text("utf-8")))
            for name in dict.fromkeys(name for name, _ in found):
                own = [number for one, number in found if one == name]
                yield pytest.param(name, own, id=f"{page.stem}-{name}")


def stored(name):
    return STORED / f"{name}.json"


@pytest.mark.parametrize(("name", "found"), list(cases()))
def test_numbers_of_pages_are_stored(name, found):
    assert stored(name).exists(), f"python -m experiments {name} --results experiments/results"
    record = json.loads(stored(name).read_text("utf-8"))
    assert not record["quick"]
    known = list(said(record))
    assert [number for number in found if not is_among(number, known)] == []


def test_a_number_belongs_to_the_command_before_it():
    page = "0.5\n## A\nBy `python -m experiments a.b`:\n| 1.25 | −0.5 `x=7.5` |\n### B\n2.5 %\n"
    rest = "By `python -m benchmarks`: 3.5\n## C\n4.5\n"
    assert list(quoted(page + rest)) == [("a.b", "1.25"), ("a.b", "-0.5"), ("a.b", "2.5")]
    assert list(quoted(page + "## C\n4.5\n")) == list(quoted(page))


@pytest.mark.parametrize(
    ("number", "holds"), [("0.12", True), ("12.3", True), ("0.13", False), ("0.124", False)]
)
def test_a_number_is_compared_at_its_digits(number, holds):
    assert is_among(number, [0.1234, 7.0]) is holds
