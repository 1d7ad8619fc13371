"""Build sdist and wheel, install the wheel into an empty environment, and try it there.

    python tools/check_wheel.py

Every file of the package must be in the wheel, data and `py.typed` too, and nothing else. It must
also work in Python's isolated mode, from a directory that cannot be written, and as a zip that is
imported without having been unpacked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "sparsebayes"
TRY = """
import sparsebayes
from sparsebayes.datasets import load_gases, load_sensor
rows = [len(data.data) for data in (load_gases(), load_sensor())]
print(sparsebayes.__version__, "with data of", *rows, "rows")
model = sparsebayes.RVR().fit(load_sensor().data, load_sensor().target)
from sparsebayes.cli import main
from sparsebayes.export import to_c
assert main(["fit", "--length-scale", "30", "--folds", "0", "--quiet"]) == 0
assert "model_predict" in to_c(model)["model.c"]
"""
FROM = """
import sys
sys.path.insert(0, {place!r})
import sparsebayes
assert sparsebayes.__file__.startswith({place!r}), sparsebayes.__file__
"""


def environment(folder: Path) -> Path:
    """A new environment with nothing but pip; the folder of its programs."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def run(*command: str | Path, cwd: Path) -> str:
    """What a command printed; its failure ends the check."""
    words = (Path(word).name if Path(word).is_absolute() else word for word in command)
    print("$", *("..." if "\n" in word else word for word in words), flush=True)
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nerror: exit status {done.returncode}")
    return done.stdout


def package_files() -> set[str]:
    """All files of the package in this tree."""
    files = (path for path in (ROOT / PACKAGE).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}


def check_contents(sdist: Path, wheel: Path) -> None:
    """The wheel holds the package and nothing else; the sdist can test itself."""
    expected = package_files()
    data = {name for name in expected if not name.endswith(".py")}
    if f"{PACKAGE}/py.typed" not in data or not any(name.endswith(".csv") for name in data):
        sys.exit("error: the tree itself has no py.typed or no data")
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if found != expected:
        sys.exit(f"error: in the tree or in the wheel only: {sorted(found ^ expected)}")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "Makefile", "README.md", "pyproject.toml", "tests/conftest.py", *expected}
    if needed - inside:
        sys.exit(f"error: missing in the sdist: {sorted(needed - inside)}")
    print(f"{wheel.name}: {len(found)} files, of which {', '.join(sorted(data))}")


def check_places(python: Path, wheel: Path, folder: Path) -> None:
    """Import the package from where nothing can be written; dependencies are installed."""
    unpacked = folder / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    for path in [*unpacked.rglob("*"), unpacked]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for place in (wheel, unpacked):
        before = {path: path.stat().st_mtime_ns for path in unpacked.rglob("*")}
        script = FROM.format(place=str(place)) + TRY
        print(run(python, "-I", "-B", "-W", "error", "-c", script, cwd=folder), end="")
        if {path: path.stat().st_mtime_ns for path in unpacked.rglob("*")} != before:
            sys.exit(f"error: something was written into {unpacked}")
    for path in [unpacked, *unpacked.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)  # so that it can be removed


def main() -> int:
    with TemporaryDirectory() as name:
        folder = Path(name)
        builder = environment(folder / "builder")
        run(builder / "python", "-m", "pip", "install", "--quiet", "build", cwd=folder)
        run(builder / "python", "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        (sdist,) = (folder / "dist").glob("*.tar.gz")
        (wheel,) = (folder / "dist").glob("*.whl")
        check_contents(sdist, wheel)
        empty = environment(folder / "empty")
        run(empty / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        print(run(empty / "python", "-W", "error", "-c", TRY, cwd=folder), end="")
        print(run(empty / "python", "-I", "-W", "error", "-c", TRY, cwd=folder), end="")
        check_places(empty / "python", wheel, folder)
        version = run(empty / PACKAGE, "--version", cwd=folder)
        usage = run(empty / PACKAGE, "--help", cwd=folder)
        if run(empty / "python", "-m", PACKAGE, "--help", cwd=folder) != usage:
            sys.exit(f"error: `python -m {PACKAGE}` and `{PACKAGE}` differ")
        if version.split()[-1] != wheel.name.split("-")[1]:
            sys.exit(f"error: {PACKAGE} --version printed {version!r}")
    print("the wheel works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
