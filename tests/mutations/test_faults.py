"""Every fault can still be put into the tree."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutations.__main__ import faulty, stages
from tests.mutations.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_applies(fault):
    text = (ROOT / "sparsebayes" / fault.file).read_text(encoding="utf-8")
    with_fault = faulty(text, fault)
    file, _, name = fault.first.partition("::")
    assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(with_fault)) != ast.dump(ast.parse(text))


def test_there_are_forty():
    assert len(FAULTS) == 40
    assert Counter(fault.name for fault in FAULTS).most_common(1)[0][1] == 1


@pytest.mark.parametrize("text", ["", "a = 1\na = 1\n"])
def test_a_text_that_is_gone_is_an_error(text):
    with pytest.raises(
        ValueError, match=r"engine\.py has 'a = 1' [02] times; give the fault 'one'"
    ):
        faulty(text, Fault("one", "engine.py", "laws", "a = 1", "a = 2"))


def test_the_nearest_tests_come_first():
    fault = Fault("one", "engine/linalg.py", "laws/test_solvers.py::test_laws", "a = 1", "a = 2")
    assert stages(ROOT, fault, near=False) == [
        ["tests/laws/test_solvers.py::test_laws"],
        ["tests/engine/test_linalg.py"],
        ["tests/engine"],
        ["tests/engine", "tests/laws"],
        ["tests"],
    ]
    other = fault._replace(file="engine/incomplete_gamma.py")
    assert stages(ROOT, other, near=True)[1:] == [["tests/engine"], ["tests/engine", "tests/laws"]]
