"""The short table of docs/benchmarks.md has the stored results."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "benchmarks.md").read_text("utf-8")


@pytest.fixture(scope="module")
def plots():
    spec = spec_from_file_location("make_benchmark_plots", DOCS / "make_benchmark_plots.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(plots):
    return plots.table(plots.load())


def test_the_page_has_the_table_that_is_printed(table):
    assert table in PAGE, "python docs/make_benchmark_plots.py prints another table"


def test_the_detailed_pages_have_the_same_numbers(table):
    """Those are averaged by other code, that of `python -m benchmarks`."""
    pages = ("evidence/benchmarks.md", "evidence/forecasting.md")
    text = " ".join((DOCS / name).read_text("utf-8") for name in pages)
    known = set(re.findall(r"\d+\.\d+", text))
    numbers = re.findall(r"\d+\.\d+", table)
    assert len(numbers) > 40
    assert set(numbers) - known == set()


@pytest.mark.slow
def test_all_pictures_are_drawn_from_what_is_stored(plots, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "IMAGES", tmp_path)
    stored = plots.load()
    plots.draw(stored, dict.fromkeys(stored, "2026-01-01"))
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == set(re.findall(r"\(images/(benchmarks_\w+\.png)\)", PAGE))
