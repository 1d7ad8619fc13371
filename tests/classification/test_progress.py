"""RVC: warnings, printing, callbacks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes.engine import Stop
from tests.classical import classical
from tests.conftest import GRID, SOLVERS, X3, Y3, X, Y


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_warns(solver):
    model = classical(solver=solver, max_iter=2, random_state=0)
    with pytest.warns(
        ConvergenceWarning,
        match=r"^RVC stopped at max_iter before convergence; raise max_iter, or raise tol\.$",
    ):
        model.fit(X, Y)
    assert not model.converged_ and model.n_iter_ == 2
    assert np.isfinite(model.predict_proba(GRID)).all()


def test_max_iter_warns_once_for_all_classes():
    model = classical(multi_class="ovr", max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        model.fit(X3, Y3)
    assert len(caught) == 1 and not model.converged_
    assert np.isfinite(model.predict_proba(GRID)).all()


class Stopping:
    """A solver that stops for the reason it is given."""

    def __init__(self, reason):
        self.reason = reason

    def climb(self, problem, tol, rng):
        yield from ()
        return self.reason


@pytest.mark.parametrize("reason", [Stop.SINGULAR, Stop.CALLBACK, Stop.MAX_ITER])
@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"link": "probit"}], ids=str)
def test_every_bad_stop_warns_and_a_model_without_functions_predicts(reason, options):
    for inputs, labels in ((X, Y), (X3, Y3)):
        with pytest.warns(ConvergenceWarning) as caught:
            model = classical(solver=Stopping(reason), **options).fit(inputs, labels)
        assert str(caught[0].message) == f"RVC {reason.value}."
        assert len(model.relevance_) == 0 and model.sigma_.shape == (0, 0)
        assert_allclose(model.predict_proba(GRID), 1 / model.classes_.size)
        assert model.predict(GRID).shape == (len(GRID),)
        assert np.all(model.decision_function(GRID, return_std=True)[1] == 0)


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_verbose_prints(multi_class, capsys):
    model = classical(verbose=2).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[0].startswith("[RVC] step     1  objective ")
    assert "functions" in lines[-1] and "noise" not in lines[-1]
    quiet = classical(multi_class=multi_class).fit(X3, Y3)
    assert capsys.readouterr() == ("", "")
    loud = classical(multi_class=multi_class, verbose=1).fit(X3, Y3)
    assert capsys.readouterr().out.count("[RVC] step     1 ") == 1 + 2 * (multi_class == "ovr")
    assert_array_equal(loud.weights_, quiet.weights_)


class Listener:
    """A callback that counts steps, and at one raises an error or asks for the end."""

    def __init__(self, at=None, error=None):
        self.at, self.error = at, error
        self.steps, self.calls, self.estimators = 0, [], set()

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self.calls.append(f"end {context.task_name}")
        self.estimators.add(estimator)
        if context.task_name == "step":
            self.steps += 1
            if self.steps == self.at and self.error is not None:
                raise self.error
        return self.steps == self.at


@pytest.mark.sampled
@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
@pytest.mark.parametrize(
    "options", [{}, {"multi_class": "ovr"}, {"multi_class": "ovr", "n_jobs": 2}], ids=str
)
def test_callbacks(inputs, labels, options):
    """One setup, one fit and one teardown, of the model and not of those it is made of."""
    pytest.importorskip("sklearn.callback")
    listener = Listener()
    model = classical(**options).set_callbacks(listener).fit(inputs, labels)
    calls = listener.calls
    assert calls[:2] == ["setup", "begin fit"] and calls[-2:] == ["end fit", "teardown"]
    assert sum("step" not in call for call in calls) == 4
    assert calls.count("begin step") == calls.count("end step") == listener.steps
    models = getattr(model, "estimators_", [model])
    assert listener.steps == sum(one.n_iter_ for one in models)
    assert listener.estimators == {model}
    assert_array_equal(model.weights_, classical(**options).fit(inputs, labels).weights_)


@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}], ids=str)
@pytest.mark.parametrize(("inputs", "labels"), [(X, Y), (X3, Y3)], ids=["two", "three"])
def test_a_callback_that_asks_for_the_end_gets_the_best_model(inputs, labels, options):
    pytest.importorskip("sklearn.callback")
    listener = Listener(at=3)
    model = classical(**options).set_callbacks(listener)
    with pytest.warns(ConvergenceWarning, match="RVC stopped by a callback") as caught:
        model.fit(inputs, labels)
    assert len(caught) == 1 and not model.converged_
    models = getattr(model, "estimators_", [model])
    assert models[0].n_iter_ == 3 and np.isfinite(model.predict_proba(GRID)).all()
    assert listener.calls[0] == "setup" and listener.calls[-2:] == ["end fit", "teardown"]


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_callbacks_are_torn_down_after_an_error(multi_class):
    pytest.importorskip("sklearn.callback")
    listener = Listener(at=3, error=RuntimeError("no more"))
    model = classical(multi_class=multi_class).set_callbacks(listener)
    with pytest.raises(RuntimeError, match="no more"):
        model.fit(X3, Y3)
    assert listener.calls.count("setup") == listener.calls.count("teardown") == 1
