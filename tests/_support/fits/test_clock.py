"""`max_time`: every fit ends with the best model found. Our clock ticks when it is looked at."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RVC, RVR, Forecaster, NoisyInputGPR, ParetoClassifier, ReducedRankGPR
from sparsebayes._support.fits import clock
from sparsebayes.basis import RBF
from sparsebayes.engine import Stop

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(60)
LABELS = (Y > 0).astype(int)
SERIES = np.sin(0.4 * np.arange(80)) + 0.1 * rng.standard_normal(80)

FITS = {
    "RVR": (RVR, {}, (X, Y)),
    "RVR, noise that varies": (RVR, {"noise": "varying"}, (X, Y)),
    "RVR, outliers": (RVR, {"noise": "student"}, (X, Y)),
    "RVR, several targets": (RVR, {}, (X, np.column_stack([Y, -Y]))),
    "RVC": (RVC, {}, (X, LABELS)),
    "RVC, one versus rest": (
        RVC,
        {"multi_class": "ovr", "n_jobs": 2, "adapt": "ard"},
        (X, np.digitize(Y, [-1, 1])),
    ),
    "ReducedRankGPR": (ReducedRankGPR, {"n_support": 10, "random_state": 0}, (X, Y)),
    "Slope": (NoisyInputGPR, {"input_noise": 0.01, "method": "slope"}, (X, Y)),
    "StochasticEM": (
        NoisyInputGPR,
        {"input_noise": 0.01, "method": "stochastic_em", "random_state": 0},
        (X[:15], Y[:15]),
    ),
    "Imputation": (NoisyInputGPR, {"input_noise": 0.01, "method": "imputation"}, (X[:20], Y[:20])),
    "ParetoClassifier": (ParetoClassifier, {"random_state": 0}, (X, LABELS)),
    "Forecaster": (Forecaster, {}, (SERIES,)),
    "Forecaster, one model": (Forecaster, {"lags": 5}, (SERIES,)),
}


@pytest.fixture
def ticks(monkeypatch):
    """A clock that is a second later each time it is looked at."""
    now = iter(range(10**9))
    monkeypatch.setattr(clock.time, "monotonic", lambda: float(next(now)))


@pytest.mark.sampled
@pytest.mark.parametrize("seconds", [0.5, 1.5])
@pytest.mark.parametrize("fit", FITS)
def test_a_fit_ends_with_what_it_has_found(fit, seconds, ticks):
    estimator, parameters, data = FITS[fit]
    model = estimator(max_time=seconds, **parameters)
    with pytest.warns(
        ConvergenceWarning, match=rf"^{estimator.__name__} stopped at max_time; "
    ) as w:
        model.fit(*data)
    assert w[0].filename == __file__
    assert not getattr(model, "converged_", False)
    inputs = (5,) if estimator is Forecaster else (data[0][:5],)
    assert np.isfinite(model.predict(*inputs)).all()
    if hasattr(model, "stop_reason_"):
        assert model.stop_reason_ == Stop.MAX_TIME.value


@pytest.mark.parametrize(
    "estimator", [RVR(), RVC(link="logit"), RVC(link="least_squares")], ids=str
)
@pytest.mark.parametrize("seconds", [0.5, pytest.param(40.0, marks=pytest.mark.slow)])
def test_many_rows_end_with_what_was_found(estimator, seconds, ticks):
    """Their first searches are among few rows; what these have found is gone on with."""
    inputs = np.linspace(-3.0, 3.0, 10_001)[:, None]
    targets = np.sin(2.0 * inputs[:, 0])
    if isinstance(estimator, RVC):
        targets = targets > 0.5
    model = clone(estimator).set_params(basis=RBF(centres=20), max_time=seconds)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time"):
        model.fit(inputs, targets)
    assert model.stop_reason_ == Stop.MAX_TIME.value and not model.converged_
    assert np.isfinite(model.predict(inputs[::500])).all()


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["RVR", "ReducedRankGPR"])
def test_time_enough_changes_nothing(fit):
    estimator, parameters, (inputs, targets) = FITS[fit]
    free = estimator(**parameters).fit(inputs, targets)
    limited = estimator(max_time=1e6, **parameters).fit(inputs, targets)
    assert limited.converged_
    assert np.array_equal(free.predict(inputs), limited.predict(inputs))


def test_more_time_gives_a_better_model(ticks):
    found = []
    for seconds in (5, 60, 10**6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append(RVR(adapt=None, max_time=seconds).fit(X, Y))
    assert [model.converged_ for model in found] == [False, False, True]
    first, second, third = (model.log_evidence_ for model in found)
    assert first < second < third
    assert found[1].left_out_variance_ == 0.0 < found[2].left_out_variance_  # not calibrated


@pytest.mark.slow
def test_a_panel_has_the_time_for_each_series(ticks):
    several = np.column_stack([SERIES, SERIES, SERIES])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Forecaster(lags=2, difference=None, calibrate=None, max_time=10_000).fit(several)
    with pytest.warns(ConvergenceWarning, match="stopped at max_time") as caught:
        Forecaster(max_time=1).fit(several)
    assert len({str(w.message) for w in caught}) == 3


def test_limits_inside_each_other(ticks):
    with clock.time_limit(1000) as outer:
        with clock.time_limit(5) as inner:
            assert not clock.time_is_up()
            while not clock.time_is_up():
                pass
        assert inner.reached and not outer.reached
        with clock.share_of_time(0.01):
            while not clock.time_is_up():
                pass
        assert outer.reached  # a part of its own time
    with clock.time_limit(3) as outer, clock.time_limit(None) as inner:
        while not clock.time_is_up():
            pass
        assert inner.reached and outer.reached
    assert not clock.time_is_up()


def test_no_limit_looks_at_no_clock(monkeypatch):
    with clock.time_limit(None):
        monkeypatch.setattr(clock.time, "monotonic", None)
        assert not clock.time_is_up()


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1", True, [1]])
def test_what_is_no_time(value):
    with pytest.raises(ValueError, match=r"max_time must be a positive number of seconds, or None"):
        RVR(max_time=value).fit(X, Y)
