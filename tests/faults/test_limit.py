"""The limit of BLAS threads is over when the fit is, however that ends."""

import os
import sys
import threading
from contextlib import contextmanager, nullcontext

import pytest

from sparsebayes.engine import linalg
from sparsebayes.engine.linalg import one_thread, own_threads
from tests.faults.children import in_child
from tests.faults.estimators import CASES
from tests.faults.every_line import at_every_line, interrupted_when

LARGE = 1e9
traced = pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="an error of a tracer leaves the lock held; not yet understood",
)


class Pool:
    """A pool whose size is a number."""

    def __init__(self):
        self.size = 2

    def get_num_threads(self):
        return self.size

    def set_num_threads(self, size):
        self.size = size


@pytest.fixture
def pool(monkeypatch):
    pool = Pool()
    monkeypatch.setattr(linalg, "_pools", lambda: [pool])
    yield pool
    assert pool.size == 2
    with one_thread():
        assert pool.size == 1
    assert pool.size == 2


def work():
    with one_thread(), own_threads(LARGE), one_thread():
        pass


@traced
def test_interrupted_at_every_line(pool):
    found = [pool.size for _ in at_every_line(work, linalg.__file__)]
    assert set(found) == {2} and len(found) > 50


@contextmanager
def another_thread(lifts=False):
    """A thread that holds the limit, or is in a large call."""
    inside, over = threading.Event(), threading.Event()

    def hold():
        with one_thread(), own_threads(LARGE if lifts else 0.0):
            inside.set()
            over.wait(60.0)

    other = threading.Thread(target=hold)
    other.start()
    try:
        inside.wait(60.0)
        yield
    finally:
        over.set()
        other.join()


@traced
def test_interrupted_at_every_line_beside_another_thread(pool):
    with another_thread():
        found = [pool.size for _ in at_every_line(work, linalg.__file__)]
    assert set(found) == {1} and len(found) > 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.parametrize("itself", [False, True])
def test_forks(pool, itself):
    """A child has none of the other threads; what its own holds goes on."""

    def look():
        before = pool.size
        work()
        return before, pool.size

    with another_thread(lifts=True), one_thread() if itself else nullcontext():
        assert in_child(look, 20.0).answer == ((1, 1) if itself else (2, 2))


@pytest.mark.parametrize("name", CASES)
def test_estimators_that_are_interrupted(pool, name):
    """In the first line that is reached with one thread, if there is any."""
    case = CASES[name]
    interrupted_when(lambda: case.fit(case.make()), lambda frame: pool.size == 1)
    assert pool.size == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_estimators(pool, name):
    case = CASES[name]
    model = case.fit(case.make())
    assert pool.size == 2
    case.arrays(model)
    assert pool.size == 2
    first = next(iter(model.get_params(deep=False)))
    with pytest.raises((ValueError, TypeError)):
        case.fit(model.set_params(**{first: object()}))
