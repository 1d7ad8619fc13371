"""The examples of the documentation print what it says they print."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Pages whose examples take seconds.
SLOW = {
    "beyond_memory.md",
    "classification.md",
    "denoising.md",
    "error_bars.md",
    "feature_importances.md",
    "from_scikit_learn.md",
    "from_svc.md",
    "gaussian_processes.md",
    "many_rows.md",
    "noise.md",
    "onnx_in_a_service.md",
    "pareto.md",
    "sampling.md",
    "uncertain_inputs.md",
}


def examples():
    """The Python blocks that are followed by their output."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for k, found in enumerate(EXAMPLE.finditer(path.read_text(encoding="utf-8"))):
            marks = [pytest.mark.slow] * (path.name in SLOW)
            yield pytest.param(*found.groups(), id=f"{path.name}-{k}", marks=marks)


@pytest.mark.parametrize(("code", "output"), list(examples()))
def test_example(code, output):
    stream = StringIO()
    with redirect_stdout(stream):
        exec(code, {})
    assert stream.getvalue() == output


def test_there_are_examples():
    assert len(list(examples())) >= 3
    assert {name for name in SLOW if (ROOT / "docs" / name).exists()} == SLOW


def test_links_lead_somewhere():
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert "://" in target or (path.parent / target).exists(), f"{path.name}: {target}"


def test_files_that_are_named_are_there():
    path_of_a_file = re.compile(
        r"\b(?:sparsebayes|tests|experiments|benchmarks|docs|tools)/[\w/.]+\.(?:py|md)"
    )
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in path_of_a_file.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{path.name}: {target}"
