"""The explorer of the documentation: its copies are current, its fits are those of the package."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from sparsebayes.explore import explore
from sparsebayes.explore.models import VIEWS

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "_static" / "explorer"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("explorer_data", DOCS / "make_explorer_data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fits():
    text = (FOLDER / "fits.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("{") : text.rindex(";")])


def test_copies_are_current(script):
    """If not: python docs/make_explorer_data.py --copies."""
    for name, text in script.copies().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name
        assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_it_is_small_and_asks_for_nothing_elsewhere():
    assert (FOLDER / "fits.js").stat().st_size < 300_000
    for path in FOLDER.iterdir():
        found = re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8"))
        assert set(found) <= {"http://www.w3.org/2000/svg"} or path.name == "fits.js", path.name
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page)
    files = set(re.findall(r"(?:src|href)=\"([^\":]+)\"", page))
    assert files == {path.name for path in FOLDER.iterdir()} - {"index.html"}
    assert "http" not in (DOCS / "explorer.md").read_text(encoding="utf-8")


def test_numbers_are_packed(script):
    values = np.random.default_rng(0).standard_normal(50)
    np.testing.assert_allclose(script.unpacked(script.packed(values)), values, atol=1e-3)
    np.testing.assert_allclose(script.unpacked(script.packed([2.5, 2.5])), 2.5)


def test_every_choice_has_a_fit(fits):
    for kind in VIEWS:
        stored = fits[kind]
        n_choices = [len(values) for values in stored["axes"].values()]
        assert len(stored["fits"]) == np.prod(n_choices)
        last = "|".join(str(n - 1) for n in n_choices)
        assert len(stored["fits"][last]["summary"]) == len(fits["summaries"][kind])
        for names in fits["summaries"].values():
            assert names


@pytest.mark.parametrize("model", ["classical", "augment"])
def test_a_stored_fit_is_that_of_the_package(model, script, fits):
    stored = fits["regression"]
    axes = stored["axes"]
    chosen = {"width": 2.0, "points": 50, "noise": 0.1, "model": model}
    key = "|".join(str(axes[name].index(value)) for name, value in chosen.items())
    answer = explore(
        {
            "kind": "regression", **script.regression_data(50, 0.1), **script.MODELS[model],
            "width": 2.0, "from": -12.0, "to": 12.0, "grid": script.GRID,
        }
    )  # fmt: skip
    fit = stored["fits"][key]
    np.testing.assert_allclose(script.unpacked(fit["mean"]), answer["mean"], atol=0.005)
    np.testing.assert_allclose(script.unpacked(fit["std"]), answer["std"], atol=0.005)
    evidence = fits["summaries"]["regression"].index("log_evidence")
    assert fit["summary"][evidence] == pytest.approx(answer["summary"]["log_evidence"], abs=0.05)
