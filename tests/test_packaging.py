"""How the package is started and what it requires."""

import importlib.util
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from tests.sweeps import thinned

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"bench", "dev", "docs", "experiments", "test"}


def printed(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments", thinned([["--help"], ["--version"], ["fit", "--help"], ["nothing"]])
)
def test_module_is_the_command_line(arguments):
    program = Path(sysconfig.get_path("scripts")) / "sparsebayes"
    status, out, err = printed(sys.executable, "-m", "sparsebayes", *arguments)
    assert (status, out, err) == printed(program, *arguments)
    assert status == (2 if arguments == ["nothing"] else 0)
    assert "sparsebayes" in (out or err)


def floors(project, *extras):
    path = ROOT / "tools" / "lowest_versions.py"
    spec = importlib.util.spec_from_file_location("lowest_versions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lowest(project, list(extras))


def test_lowest_versions_are_those_of_the_extras_within_extras():
    project = {
        "name": "ours",
        "dependencies": ["a>=1.2"],
        "optional-dependencies": {
            "x": ["b-c>=2024.1"],
            "y": ["ours[x]", "d>=3"],
            "z": ["e>=4"],
            "none": ["f"],
            "other": ["a>=1.3"],
        },
    }
    assert floors(project) == {"a": "1.2"}
    assert floors(project, "y") == {"a": "1.2", "b-c": "2024.1", "d": "3"}
    with pytest.raises(ValueError, match='"f" has no floor'):
        floors(project, "none")
    with pytest.raises(ValueError, match=r"a has two floors, 1\.2 and 1\.3"):
        floors(project, "other")


def test_each_version_is_written_once():
    names = [requirement for extra in EXTRAS.values() for requirement in extra]
    ours = [name for name in [*PROJECT["dependencies"], *names] if "sparsebayes[" not in name]
    assert len(ours) == len(set(ours)) == len({name.partition(">=")[0] for name in ours})
    assert set(floors(PROJECT, "dev")) >= {"numpy", "scipy", "skops", "statsmodels", "pytest"}


def test_all_has_every_extra_that_is_for_users():
    (everything,) = EXTRAS["all"]
    inside = everything.removeprefix("sparsebayes[").removesuffix("]").split(",")
    assert set(inside) == set(EXTRAS) - FOR_DEVELOPERS - {"all"}


def test_the_conda_recipe_asks_for_the_same_versions():
    """What the recipe requires is what `pyproject.toml` does, by the names that conda has."""
    recipe = (ROOT / "conda" / "meta.yaml").read_text("utf-8")
    run = recipe.partition("  run:\n")[2].partition("  run_constrained:\n")
    required = {line.strip("- ").replace(" ", "") for line in run[0].splitlines()}
    assert required == {
        f"python{PROJECT['requires-python']}",
        *(one.lower() for one in PROJECT["dependencies"]),
    }
    floors_of_extras = {one for extra in EXTRAS.values() for one in extra}
    names = {"matplotlib-base": "matplotlib", "dask": "dask[array,dataframe,distributed]"}
    for line in run[2].partition("\ntest:")[0].splitlines():
        name, floor = line.strip("- ").split(" ") if line.strip() else ("", "")
        assert not name or f"{names.get(name, name)}{floor}" in floors_of_extras
