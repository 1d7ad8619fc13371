"""The pools of threads are what they were, whoever fits at the same time and however it ends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from sparsebayes import RVR, LeaveOneOutGPR, NoisyInputGPR, ReducedRankGPR
from sparsebayes.basis import RBF
from sparsebayes.engine.linalg import one_thread, own_threads
from sparsebayes.gp import leave_one_out, support
from sparsebayes.uncertain.noisy import slope

LARGE, SMALL = 1e9, 1e3


def sizes() -> list[int]:
    return [pool["num_threads"] for pool in ThreadpoolController().info()
            if pool["user_api"] == "blas"]  # fmt: skip


@pytest.fixture(autouse=True)
def two_threads():
    """Pools of two threads, whatever the surroundings say."""
    with threadpool_limits(2, user_api="blas"):
        if set(sizes()) != {2}:
            pytest.skip("the pools cannot be set to two threads here")
        yield
        assert set(sizes()) == {2}


class Walker:
    """A Python thread that enters, lifts and leaves when it is told to."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool, self._open = pool, []

    def _do(self, function):
        return self._pool.submit(function).result(timeout=60)

    def enter(self, make=one_thread):
        def begin():
            block = make()
            block.__enter__()
            self._open.append(block)

        self._do(begin)

    def leave(self, error=None):
        def end():
            block = self._open.pop()
            block.__exit__(type(error) if error else None, error, None)

        self._do(end)

    def sizes(self):
        return self._do(sizes)


@pytest.fixture
def walkers():
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        yield Walker(one), Walker(other)


def test_one_thread_and_back():
    with one_thread():
        assert set(sizes()) == {1}
        with one_thread():
            assert set(sizes()) == {1}
        assert set(sizes()) == {1}
    assert set(sizes()) == {2}


def test_left_in_another_order(walkers):
    first, second = walkers
    first.enter()
    second.enter()
    first.leave()
    assert set(second.sizes()) == {1}  # it is still inside
    second.leave()
    assert set(sizes()) == set(first.sizes()) == {2}


def test_entered_again_in_between(walkers):
    first, second = walkers
    for walker in (first, second, first):
        walker.enter()
    for walker in (first, second):
        walker.leave()
        assert set(first.sizes()) == {1}
    first.leave()
    assert set(second.sizes()) == {2}


def test_exceptions(walkers):
    first, second = walkers
    first.enter()
    second.enter()
    first.leave(ValueError("no"))
    assert set(second.sizes()) == {1}
    second.leave(KeyboardInterrupt())
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0


def test_large_calls_have_their_threads():
    with own_threads(LARGE):
        assert set(sizes()) == {2}
    with one_thread():
        with own_threads(SMALL):
            assert set(sizes()) == {1}
        with pytest.raises(ZeroDivisionError), own_threads(LARGE):
            assert set(sizes()) == {2}
            _ = 1 / 0
        assert set(sizes()) == {1}


def test_large_calls_beside_others(walkers):
    """They have threads only while nobody else needs the limit."""
    first, second = walkers
    first.enter()
    first.enter(lambda: own_threads(LARGE))
    assert set(first.sizes()) == {2}
    second.enter()
    assert set(second.sizes()) == {1}
    second.enter(lambda: own_threads(LARGE))
    assert set(second.sizes()) == {1}
    second.leave()
    first.leave()
    assert set(second.sizes()) == {1}
    first.leave()
    second.leave()
    assert set(first.sizes()) == {2}


def test_fits_in_threads():
    """Each waits for the other in the middle of its fit, and one of them fails."""
    X = np.linspace(-3.0, 3.0, 40)[:, None]
    y, both = np.sin(X[:, 0]), threading.Barrier(2, timeout=60)

    class Meeting:
        def __init__(self, fails):
            self.fails, self.met = fails, False

        def __call__(self, rows, centers):
            if not self.met and len(rows) == 40:
                self.met = True
                both.wait()
                if self.fails:
                    raise ValueError("this one fails")
            return RBF(1.0).fit(centers).columns(rows)

    def fit(fails):
        with one_thread():
            return RVR(Meeting(fails), calibrate=None).fit(X, y)

    with ThreadPoolExecutor(2) as pool:
        good, bad = pool.submit(fit, False), pool.submit(fit, True)
        assert good.result(timeout=60).relevance_.size
        with pytest.raises(ValueError, match="this one fails"):
            bad.result(timeout=60)
    assert set(sizes()) == {2}


@pytest.mark.parametrize(
    ("model", "module", "name"),
    [
        (LeaveOneOutGPR(), leave_one_out, "loo_log_predictive"),
        (ReducedRankGPR(n_support=5, n_cycles=1), support, "_factor"),
        (NoisyInputGPR(input_noise=0.1, method="slope"), slope, "evaluate"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_processes_are_fitted_by_one_thread(model, module, name, monkeypatch):
    """Two add in another order, and wait for each other where others use the processor."""
    seen, called = set(), getattr(module, name)

    def noted(*args, **kwargs):
        seen.update(sizes())
        return called(*args, **kwargs)

    monkeypatch.setattr(module, name, noted)
    X = np.linspace(-3.0, 3.0, 15)[:, None]
    model.fit(X, np.sin(X[:, 0]) + 0.1 * np.cos(20.0 * X[:, 0]))
    assert seen == {1}
