"""Ctrl-C: a fit raises, and the estimator has the best model so far or is as it was."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from sparsebayes import EM, RVC, RVR, Forecaster, Sequential, denoise, sample_posterior
from sparsebayes.basis import RBF
from sparsebayes.dictionaries import Kernel
from sparsebayes.engine import Step, Stop
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.scales import adaptive
from tests.classical import classical
from tests.conftest import GRID, X3, Y3, X, Y

TARGETS = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(len(X))


class Cut:
    """A solver that is interrupted at one of its steps."""

    begun = 0  # searches, also of copies

    def __init__(self, step, solver=None):
        self.step, self.solver = step, solver or Sequential()
        Cut.begun = 0

    def climb(self, problem, tol, rng):
        Cut.begun += 1
        for k, step in enumerate(self.solver.climb(problem, tol, rng)):
            if k == self.step:
                raise KeyboardInterrupt
            yield step
        raise AssertionError("the search was over before it was interrupted")


def assert_marked(model, n_iter):
    assert not model.converged_ and model.stop_reason_ == Stop.INTERRUPTED.value
    assert model.n_iter_ == n_iter
    assert model.evidence_path_[-1] == pytest.approx(model.log_evidence_)


CASES = {
    "RVR": (RVR(RBF(1.0)), X, TARGETS),
    "RVR EM": (RVR(RBF(1.0), solver=EM()), X, TARGETS),
    "RVR augment": (RVR(RBF(1.0), augment=True), X, TARGETS),
    "RVC": (classical(RBF(1.0)), X, Y),
    "RVC augment": (classical(RBF(1.0), augment="fast"), X, Y),
    "RVC three": (classical(RBF(1.0)), X3, Y3),
}


@pytest.mark.sampled
@pytest.mark.parametrize("step", [0, 3])
@pytest.mark.parametrize("name", CASES)
def test_the_best_model_so_far_is_kept(name, step):
    model, inputs, targets = CASES[name]
    full = clone(model).fit(inputs, targets)
    model = clone(model)
    model.set_params(solver=Cut(step, model.solver if model.solver != "sequential" else None))
    with pytest.raises(KeyboardInterrupt, match=f"^{type(model).__name__} interrupted"):
        model.fit(inputs, targets)
    assert_marked(model, step)
    assert model.log_evidence_ < full.log_evidence_
    assert (model.relevance_.size > 0) == (step > 0)
    assert np.isfinite(model.predict(GRID)).all()
    assert hasattr(model, "augment_variance_") == bool(model.augment)
    assert model.feature_importances_.shape == (2,)


@pytest.mark.slow
def test_while_length_scales_are_learned(monkeypatch):
    """With labels the first fit was over: it is the best model so far. Else there is none yet."""

    def learn(problem, family):
        raise KeyboardInterrupt

    monkeypatch.setattr(adaptive, "learn_with_misfits", learn)
    model = classical(RBF(3.0), adapt="ard")
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(X, Y)
    first = clone(model).set_params(adapt=None).fit(X, Y)
    assert_marked(model, first.n_iter_)
    # The scales have been through a logarithm.
    assert_allclose(model.predict(GRID), first.predict(GRID), rtol=1e-10, atol=1e-12)
    assert_allclose(model.length_scale_, [3.0, 3.0], rtol=1e-14)
    model = RVR(RBF(3.0), adapt="ard")
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(X, TARGETS)
    assert_marked(model, 0)
    assert model.relevance_.size == 0


@pytest.mark.slow
def test_while_folds_are_fitted(monkeypatch):
    """The model is there, its standard deviations are not calibrated."""
    model = RVR(RBF(3.0))
    monkeypatch.setattr(Sequential, "quick", lambda self: Cut(1))
    with pytest.raises(KeyboardInterrupt, match=r"^RVR interrupted"):
        model.fit(X, TARGETS)
    assert model.calibration_ == 1.0 and not model.converged_
    assert_array_equal(
        model.predict(GRID), RVR(RBF(3.0), calibrate=None).fit(X, TARGETS).predict(GRID)
    )


@pytest.mark.parametrize("step", [0, 3])
def test_one_vs_rest_keeps_nothing(step):
    model = classical(RBF(1.0), multi_class="ovr", solver=Cut(step))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X3, Y3)
    assert Cut.begun == 1
    assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        model.predict(GRID)


def test_one_vs_rest_in_threads_ends_them():
    """Whichever thread is interrupted, the others end with their next step."""
    begun, steps = [], []

    class Endless:
        """The second search to begin is interrupted, others go on for ten seconds."""

        def climb(self, problem, tol, rng):
            begun.append(self)
            second = len(begun) == 2
            for k in range(1000):
                if second and k == 3:
                    raise KeyboardInterrupt
                if not second:
                    steps.append(k)
                    time.sleep(0.01)
                yield Step(start(problem))
            return Stop.CONVERGED

    model = classical(RBF(1.0), multi_class="ovr", solver=Endless(), n_jobs=2)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X3, Y3)
    deadline = time.monotonic() + 30.0
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
    assert 0 < len(steps) < 1000 and len(begun) <= 3
    assert [name for name in vars(model) if name.endswith("_")] == []


def raising(*args, **kwargs):
    raise KeyboardInterrupt


@pytest.mark.sampled
@pytest.mark.parametrize("augment", [True, "fast"])
@pytest.mark.parametrize("cls", [RVR, RVC])
def test_where_there_is_no_whole_model_the_old_one_stays(cls, augment, monkeypatch):
    targets = TARGETS if cls is RVR else Y
    model = cls(RBF(1.0), augment=augment).fit(X[::2], targets[::2])
    before = model.predict(GRID), vars(model).copy()
    new = cls(RBF(1.0), augment=augment)
    monkeypatch.setattr("sparsebayes._rvm.augment.TrainingRows.refined", raising)
    for one in (model, new):
        with pytest.raises(KeyboardInterrupt):
            one.fit(X, targets)
    assert_array_equal(model.predict(GRID), before[0])
    assert vars(model).keys() == before[1].keys()
    assert [name for name in vars(new) if name.endswith("_")] == []


def test_within_a_basis():
    """Before there is a search."""
    model = RVR(raising)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, TARGETS)
    assert vars(model).keys() == vars(RVR()).keys()


def test_searches_over_folds_stop():
    model = RVR(RBF(1.0), solver=Cut(3))
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(model, X, TARGETS, cv=5)
    assert Cut.begun == 1
    fits = []

    def kernel(A, B):
        fits.append(len(A))
        return raising() if len(fits) > 20 else RBF(1.0).fit(B).columns(A)

    search = GridSearchCV(RVR(kernel), {"prior": ["flat", "bic"]}, cv=5, error_score=np.nan)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, TARGETS)
    assert len(fits) == 21


def test_nothing_else_swallows_it():
    series = np.sin(np.arange(60.0))
    model = RVR(RBF(1.0), solver=Cut(1))
    with pytest.raises(KeyboardInterrupt):
        Forecaster(model, lags=3).fit(series)
    with pytest.raises(KeyboardInterrupt):
        sample_posterior(model, X, TARGETS)


def test_denoise_gives_nothing(monkeypatch):
    monkeypatch.setattr(Sequential, "climb", Cut(2, EM()).climb)
    with pytest.raises(KeyboardInterrupt):
        denoise(np.sin(np.arange(64.0) / 5), Kernel())
