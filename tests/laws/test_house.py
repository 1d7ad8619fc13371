"""The laws of the house: who imports whom, public homes, sizes, examples, citations.

CONTRIBUTING.md has them in words. The contracts between packages are in pyproject.toml.
"""

import ast
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sparsebayes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sparsebayes"
FOLDERS = ("sparsebayes", "tests", "experiments", "benchmarks", "docs")
PUBLIC = (
    "basis",
    "classification",
    "cli",
    "comparison",
    "datasets",
    "denoising",
    "dictionaries",
    "engine",
    "explore",
    "export",
    "forecasting",
    "gp",
    "pareto",
    "persistence",
    "plots",
    "regression",
    "rows",
    "sampling",
    "scores",
    "sktime",
    "summaries",
    "uncertain",
)
SHARED = {"_rvm", "_support"}  # layers of the house: every layer above may import them


def python_files(*folders):
    """Those that were written, not made by `make docs`."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not {"auto_gallery", "_build"} & set(path.parts)]


def broken_contracts(root):
    """What import-linter prints of a tree, and whether it found a broken contract."""
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    done = subprocess.run(
        [*command, "--config", str(root / "pyproject.toml"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode != 0, done.stdout + done.stderr


# Laws 1 to 3: who imports whom.


@pytest.mark.slow
def test_contracts_are_kept():
    broken, text = broken_contracts(ROOT)
    assert not broken, text


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("file", "line", "name"),
    [
        ("engine/moments.py", "import sparsebayes.basis", "Upper layers import lower ones"),
        ("gp/kernels.py", "import sparsebayes.forecasting", "Upper layers import lower ones"),
        ("engine/linalg.py", "import sklearn", "The engine is arrays in"),
        ("engine/linalg.py", "import sparsebayes._support.batching", "The engine is arrays in"),
        ("engine/mcmc/gibbs.py", "import sparsebayes.engine.solvers.em", "know no solver"),
        ("cli/fit.py", "import sparsebayes.plots._style", "underscored stays at home"),
        ("scores/scorers.py", "from sparsebayes import RVR", "import names from their homes"),
    ],
)
def test_a_broken_contract_is_found(file, line, name, tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    tree = tmp_path / "sparsebayes"
    shutil.copytree(PACKAGE, tree, ignore=shutil.ignore_patterns("__pycache__", "data"))
    with (tree / file).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}\n")
    broken, text = broken_contracts(tmp_path)
    assert broken
    assert re.search(rf"{name}.* BROKEN", text), text


def foreign_private_names(text, capability):
    """Imports of another capability's underscored names or modules."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for path in paths:
            first, *rest = path.split(".")
            if first != "sparsebayes" or not rest or rest[0] == capability:
                continue
            private = [part for part in rest if part.startswith("_") and not part.endswith("__")]
            shared = private[:1] and private[0] in SHARED and len(private) == 1
            if private and (capability is None or not shared):
                yield path


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path", python_files("sparsebayes"), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_no_capability_takes_private_names_of_another(path):
    capability = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert list(foreign_private_names(path.read_text(encoding="utf-8"), capability)) == []


@pytest.mark.slow
def test_experiments_and_benchmarks_need_no_private_module():
    found = {
        str(path.relative_to(ROOT)): list(foreign_private_names(path.read_text("utf-8"), None))
        for path in python_files("experiments", "benchmarks", "docs")
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_a_private_name_is_found():
    assert list(foreign_private_names("from sparsebayes.basis.kernels import _x", "gp"))
    assert list(foreign_private_names("from sparsebayes._rvm.base import _x", "gp"))
    assert list(foreign_private_names("import sparsebayes.plots._style", "cli"))
    assert list(foreign_private_names("from sparsebayes._rvm.base import x", None))
    assert not list(foreign_private_names("from sparsebayes._rvm.base import x", "gp"))


# Law 4: public names report their public home.


def public_objects():
    for name in PUBLIC:
        module = importlib.import_module(f"sparsebayes.{name}")
        for public in module.__all__:
            yield pytest.param(module, public, id=f"{name}.{public}")


@pytest.mark.parametrize(("module", "name"), list(public_objects()))
def test_public_home(module, name):
    public = getattr(module, name)
    home = getattr(public, "__module__", module.__name__)
    assert home == module.__name__ or not home.startswith(f"{module.__name__}.")
    assert home.removeprefix("sparsebayes.") in PUBLIC or not callable(public)


@pytest.mark.parametrize("name", [name for name in sparsebayes.__all__ if name != "__version__"])
def test_top_level_names_report_a_public_home(name):
    public = getattr(sparsebayes, name)
    home = importlib.import_module(public.__module__)
    assert public.__module__.removeprefix("sparsebayes.") in PUBLIC
    assert getattr(home, name) is public


# Law 5: folders and files that can be overlooked.


def crowded(counts, most):
    return {place: count for place, count in counts.items() if count > most}


def test_at_most_15_modules_in_a_folder():
    counts = {}
    for path in python_files(*FOLDERS):
        if path.name != "__init__.py":
            place = str(path.parent.relative_to(ROOT))
            counts[place] = counts.get(place, 0) + 1
    assert len(counts) > 20
    assert crowded(counts, 15) == {}


def test_no_file_above_500_lines():
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*FOLDERS)
    }
    assert len(lengths) > 200
    assert crowded(lengths, 500) == {}


# One word, one meaning.

TWICE = {"Union"}  # made by ``+``, of bases and of dictionaries: the same thing for users


def test_no_class_name_is_used_twice():
    places = {}
    for path in python_files("sparsebayes"):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    assert len(places) > 100
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in TWICE} == {}


# Law 6: `make test` runs the examples of all docstrings.


def test_all_docstrings_are_run():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test:.*?(?=^\S)", makefile, re.DOTALL | re.MULTILINE)
    examples = re.search(r"^DOC_TESTS = (.*)$", makefile, re.MULTILINE)
    assert "--doctest-modules sparsebayes" in examples[1]
    assert "$(DOC_TESTS)" in recipe[0]
    assert "lint-imports" in recipe[0]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_classes_have_an_example(name):
    """Estimators, displays and functions show how they are called."""
    module = importlib.import_module(f"sparsebayes.{name}")
    fit = [getattr(module, public) for public in module.__all__]
    without = [c.__name__ for c in fit if hasattr(c, "fit") and hasattr(c, "predict")
               and ">>>" not in (c.__doc__ or "")]  # fmt: skip
    assert without == []


# Law 8: whatever is cited is listed.

KEY = re.compile(r"\b(?:[A-Z]{1,5}\d{2}[a-z]?)\b(?=[ ,:;.)'’]|$)")
NO_KEYS = re.compile(r"\b(?:E\d\d|F\d\d|CO2|UTF8|C99)\b")


def cited(text):
    """Citation keys: capitals and a year, as in T01."""
    return {key for key in KEY.findall(text) if not NO_KEYS.match(key)}


def listed():
    text = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| ([A-Z]{1,5}\d{2}[a-z]?) \|", text, re.MULTILINE))


def test_every_citation_key_is_listed():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    used = set()
    for path in (*python_files("sparsebayes", "experiments", "benchmarks"), *documents):
        used |= cited(path.read_text(encoding="utf-8"))
    assert {"T01", "S08", "QC04", "RQ05"} <= used
    assert used - listed() == set()


def test_every_reference_of_a_docstring_is_listed():
    """By first author and year: what a docstring cites in full is in docs/references.md too."""
    text = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    missing = []
    for path in python_files("sparsebayes"):
        for entry in re.findall(r"\.\. \[\d+\] (.*?)(?=\n\s*\.\. \[|\n\s*\n|\"\"\")",
                                path.read_text(encoding="utf-8"), re.DOTALL):  # fmt: skip
            entry = " ".join(entry.split())
            author = re.match(r"(?:[A-Z]\. ?)+([\w\-ñ]+)", entry)
            year = re.search(r"\b(19|20)\d\d\b", entry)
            assert author and year, f"{path.name}: {entry}"
            line = [row for row in text.splitlines() if author[1] in row and year[0] in row]
            if not line:
                missing.append(f"{path.relative_to(ROOT)}: {entry}")
    assert missing == []
