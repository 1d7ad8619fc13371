"""What an import brings along."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""


def run(code):
    """Run `code` in a fresh interpreter; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_engine_without_scikit_learn():
    code = BLOCK.format(blocked={"sklearn", "pandas", "matplotlib", "skops", "pywt"}) + (
        "import numpy as np\n"
        "from sparsebayes.engine import Dense, Flat, Gaussian, Exact, Sequential, run\n"
        "rng = np.random.default_rng(0)\n"
        "matrix = rng.standard_normal((30, 5))\n"
        "target = 2.0 * matrix[:, 3] + 0.01 * rng.standard_normal(30)\n"
        "problem = Exact(Dense(matrix), Flat(), Gaussian(target, np.ones(30)))\n"
        "result = run(Sequential(), problem, max_iter=1000, tol=0.01, rng=rng)\n"
        "print(3 in result.state.active, result.stop.converged)\n"
    )
    assert run(code).split() == ["True", "True"]


def test_names_without_scikit_learn():
    code = BLOCK.format(blocked={"sklearn"}) + (
        "import sparsebayes as sb\n"
        "print(sb.Gamma(1.0, 1.0).a, sb.Flat(), sb.Smoothness(1.0).c, sb.EM(), sb.Sequential(),"
        " sb.Subspace().n_add, sb.__version__)\n"
    )
    assert run(code).startswith("1.0 Flat()")


@pytest.mark.slow
@pytest.mark.parametrize(
    "statements",
    [
        {
            "import sparsebayes.cli": ["matplotlib", "skops", "sklearn", "numpy"],
            "import sparsebayes": ["sklearn", "scipy", "matplotlib", "skops", "pandas", "pywt"],
            "import sparsebayes.engine": ["sklearn", "matplotlib", "skops", "pandas", "pywt"],
        },
        {
            "import sparsebayes.datasets": ["sparsebayes.engine", "sparsebayes.basis"],
            "import sparsebayes.scores": [
                *("sparsebayes.engine", "sparsebayes.basis", "scoringrules", "matplotlib")
            ],
            "import sparsebayes.basis": ["matplotlib", "skops"],
            "from sparsebayes import RVR": [
                *("matplotlib", "skops", "sklearn.gaussian_process", "sparsebayes.uncertain")
            ],
        },
    ],
    ids=["without scikit-learn", "with it"],
)
def test_light_import(statements):
    """What one statement brings the next ones have, too: those that bring least come first."""
    listed = "\nprint(*sys.modules)\n"
    printed = run("import sys\n" + "".join(one + listed for one in statements)).splitlines()
    for (statement, absent), modules in zip(statements.items(), printed, strict=True):
        assert set(modules.split()).isdisjoint(absent), statement


def test_version_without_numpy():
    """``python -m sparsebayes --version`` needs the standard library alone."""
    code = BLOCK.format(blocked={"numpy", "scipy", "sklearn"}) + (
        "import runpy\nsys.argv[1:] = ['--version']\n"
        "runpy.run_module('sparsebayes', run_name='__main__')\n"
    )
    assert run(code).startswith("sparsebayes ")


def test_public_names():
    import sparsebayes

    assert sorted(sparsebayes.__all__) == dir(sparsebayes)
    for name in sparsebayes.__all__:
        assert getattr(sparsebayes, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'RVM'"):
        _ = sparsebayes.RVM
