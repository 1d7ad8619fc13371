"""The site's pages: every Python block runs, and prints what the page says that it prints."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```$)?", re.DOTALL | re.MULTILINE
)
# Pages that run in a second or so are run by `make test`, the others by `make test-docs`.
QUICK = {"README.md"}
MADE = {"papers.md", "evidence/benchmarks.md"}  # by commands


def blocks(page):
    """The code of a page, with what it prints (None if the page does not say)."""
    return [found.group("code", "output") for found in BLOCK.finditer(page.read_text("utf-8"))]


def name(page):
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


def pages_with_code():
    for page in PAGES:
        if blocks(page):
            marks = [] if name(page) in QUICK else [pytest.mark.slow]
            yield pytest.param(page, id=name(page), marks=marks)


@pytest.mark.parametrize("page", list(pages_with_code()))
def test_code(page, tmp_path, monkeypatch):
    """The blocks of a page run one after another, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for number, (code, output) in enumerate(blocks(page), 1):
        stream = StringIO()
        with redirect_stdout(stream):
            exec(compile(code, f"{name(page)}, block {number}", "exec"), names)
        if output is not None:
            assert stream.getvalue() == output, f"{name(page)}, block {number}"


def test_there_are_examples():
    assert sum(len(blocks(page)) for page in PAGES) >= 70
    assert {name(page) for page in PAGES} >= QUICK


def test_no_block_is_missed():
    """A fence that is not at the start of its line, or written in another way, would not run."""
    for page in PAGES:
        fence = r"^\s*(?:```|~~~)\s*(?:\{[\w-]+\}\s*)?py"
        fences = re.findall(fence, page.read_text("utf-8"), re.MULTILINE)
        assert len(fences) == len(blocks(page)), name(page)


def test_links_lead_somewhere():
    for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            made = "auto_gallery/" in target or "reference/generated/" in target
            known = "://" in target or made or (path.parent / target).exists()
            assert known, f"{path.name}: {target}"


def test_files_that_are_named_are_there():
    path_of_a_file = re.compile(
        r"\b(?:sparsebayes|tests|experiments|benchmarks|docs|tools)/[\w/.]+\.(?:py|md)"
    )
    for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")):
        for target in path_of_a_file.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{path.name}: {target}"


def public_modules():
    for path in sorted((ROOT / "sparsebayes").iterdir()):
        module = path.stem
        if path.suffix in ("", ".py") and not module.startswith("_"):
            yield f"sparsebayes.{module}"


def test_every_public_name_is_in_the_reference():
    listed = set()
    for page in (DOCS / "reference").glob("*.md"):
        for module, names in re.findall(
            r"currentmodule:: (\S+)\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            entries = re.findall(r"^   (\w+)$", names, re.MULTILINE)
            found = __import__(module, fromlist=entries)
            listed |= {id(getattr(found, entry)) for entry in entries}
    missing = []
    for module in (*public_modules(), "sparsebayes"):
        found = __import__(module, fromlist=["__all__"])
        for entry in found.__all__:
            if entry != "__version__" and id(getattr(found, entry)) not in listed:
                missing.append(f"{module}.{entry}")
    assert missing == []


SHAPE = [
    "What it answers",
    "A first example",
    "What it costs",
    "How far to trust it",
    "Options",
    "Pitfalls",
    "See also",
]


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=lambda page: page.stem)
def test_pages_of_the_guide_have_one_shape(page):
    if page.stem != "index":
        assert re.findall(r"^## (.*)$", page.read_text("utf-8"), re.MULTILINE) == SHAPE


@pytest.mark.parametrize("page", [page for page in PAGES if name(page) not in MADE], ids=name)
def test_lines_are_wrapped(page):
    """But for tables, links and pictures, which cannot be broken, and pages that commands write."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    long = [line for line in text.splitlines() if len(line) > 100 and line[0] not in "|!["]
    assert long == []
