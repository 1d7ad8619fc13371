"""A file to attack with, and a canary that sings when some of its code runs.

The canary is a file. Code that sings makes it: a shell command, and a module that is planted on the
path, whose import, functions and classes all do.
"""

import importlib
import sys

import pytest

from sparsebayes import RVR, persistence
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc

from .crafting import PLANTED

SONG = """
import pathlib
def sing(*args, **kwargs):
    pathlib.Path({canary!r}).touch()
    return sing
sing()
class Bird:
    def __new__(cls, *args, **kwargs):
        sing()
        return super().__new__(cls)
    def __setstate__(self, state):
        sing()
    fly = sing
"""


@pytest.fixture(scope="module")
def content():
    X, y, _ = make_sinc(30, random_state=0)
    return persistence.dumps(RVR(RBF(2.0)).fit(X, y))


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A file that is there once some code has run."""
    path = tmp_path / "canary"
    (tmp_path / f"{PLANTED}.py").write_text(SONG.format(canary=str(path)))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield path
    sys.modules.pop(PLANTED, None)


@pytest.fixture
def refused(tmp_path, canary):
    """Load a crafted file, which must fail with one error of one line and no song."""

    def check(content, match="not trusted"):
        path = tmp_path / "m.skops"
        path.unlink(missing_ok=True)  # a new file is quicker than an old one
        path.write_bytes(content)
        with pytest.raises(persistence.ModelFileError, match=match) as caught:
            persistence.load(path)
        assert not canary.exists()
        assert PLANTED not in sys.modules
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600

    return check
