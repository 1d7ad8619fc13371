"""Every estimator refuses data that are no numbers, or out of range, by name; none learns from NaN.

`tests/fuzz` tries many more; these have been answered with NaN once, or with raw errors.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import (
    RVC,
    RVR,
    Denoiser,
    Forecaster,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ReducedRankGPR,
    Statistics,
    denoise,
    sample_posterior,
)
from sparsebayes.uncertain import Imputation, Slope, StochasticEM
from tests.fuzz.public import LABELS, NAMES, SERIES, X, Y, call, is_estimator

TAKE_ROWS = ["Denoiser", "Forecaster", "SparseBayesForecaster"]
LEARNERS = [name for name in NAMES if is_estimator(name) and name.split(".")[1] not in TAKE_ROWS]
REGRESSORS = [name for name in LEARNERS if not is_classifier(call(name))]
WEIGHED = ["regression.RVR", "classification.RVC"]
TIMES = np.arange("2020-01-01", "2020-01-13", dtype="datetime64[D]")


def targets(name):
    return LABELS if is_classifier(call(name)) else Y


def with_value(values, value, dtype=None):
    changed = np.array(values, dtype=dtype)
    changed.flat[3] = value
    return changed


def test_all_learners_are_tried():
    assert len(LEARNERS) >= 6 and len(REGRESSORS) >= 4


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("nothing", [None, np.nan], ids=str)
def test_nothing_among_targets(name, nothing):
    with pytest.raises(ValueError, match=r"y contains NaN[\s\S]*Drop these samples"):
        call(name).fit(X, with_value(Y, nothing, object))


def test_nothing_among_labels():
    for name in ("classification.RVC", "pareto.ParetoClassifier"):
        with pytest.raises(ValueError, match="y mixes labels of different types, NoneType, int"):
            call(name).fit(X, with_value(LABELS, None, object))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("nothing", [None, np.nan, np.inf], ids=str)
def test_nothing_among_inputs(name, nothing):
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)[\s\S]*Drop these samples"):
        call(name).fit(with_value(X, nothing, object), targets(name))


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("bad", [np.nan, np.inf, None], ids=str)
def test_weights_that_are_no_numbers(name, bad):
    weights = with_value(np.ones(len(X)), bad, object)
    with pytest.raises(ValueError, match=r"sample_weight contains (NaN|infinity)"):
        call(name).fit(X, targets(name), sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight contains (NaN|infinity)"):
        sample_posterior(call(name), X, targets(name), sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight contains (NaN|infinity)"):
        Statistics("linear").update(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("size", [1e-70, 1e300])
def test_weights_out_of_range(name, size):
    with pytest.raises(ValueError, match=r"The largest sample_weight is .*; rescale the weights"):
        call(name).fit(X, targets(name), sample_weight=np.full(len(X), size))


@pytest.mark.parametrize("name", LEARNERS)
def test_masks_are_seen(name):
    hidden = np.ma.MaskedArray(X, np.arange(X.size).reshape(X.shape) == 5)
    with pytest.raises(ValueError, match=r"X is a masked array that hides 1 value\(s\); drop"):
        call(name).fit(hidden, targets(name))
    labels = np.ma.MaskedArray(targets(name), np.arange(len(X)) < 2)
    with pytest.raises(ValueError, match=r"y is a masked array that hides 2 value\(s\); drop"):
        call(name).fit(X, labels)
    shown = np.ma.MaskedArray(X)
    model = call(name).fit(shown, targets(name))
    with pytest.raises(ValueError, match="X is a masked array"):
        model.predict(hidden)


@pytest.mark.slow
def test_what_a_mask_hides_is_missing_in_signals_and_series():
    gone = np.arange(len(SERIES)) == 7
    hidden, missing = np.ma.MaskedArray(SERIES, gone), np.where(gone, np.nan, SERIES)
    assert_allclose(denoise(hidden).signal, denoise(missing).signal)
    assert_allclose(Denoiser().fit_transform(hidden[None]), Denoiser().fit_transform(missing[None]))
    settings = call("forecasting.Forecaster").get_params()
    forecasts = [Forecaster(**settings).fit(y).predict(2) for y in (hidden, missing)]
    assert_allclose(*forecasts)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("dates", [TIMES, TIMES - TIMES[0]], ids=["dates", "spans"])
def test_dates_are_no_targets(name, dates):
    with pytest.raises(ValueError, match=r"y holds dates or times .*; give numbers"):
        call(name).fit(X, dates)
    with pytest.raises(ValueError, match=r"X holds dates or times .*; give numbers"):
        call(name).fit(dates[:, None], Y)


def test_dates_are_no_series():
    with pytest.raises(ValueError, match="y holds dates or times"):
        Forecaster().fit(TIMES)
    with pytest.raises(ValueError, match="y holds dates or times"):
        denoise(TIMES)


@pytest.mark.parametrize("size", [1e-160, 1e160, 1e200])
def test_sizes_out_of_range(size):
    """Gaussian processes at 1e160, and all others."""
    for name in LEARNERS:
        with pytest.raises(ValueError, match=r"X .*is out of range; rescale X"):
            call(name).fit(size * X, targets(name))
    for name in REGRESSORS:
        with pytest.raises(ValueError, match=r"largest target is .*rescale y"):
            call(name).fit(X, size * Y)
    if size > 1:
        with pytest.raises(ValueError, match=r"y has a value of size .*; rescale y"):
            Forecaster().fit(size * SERIES)
        with pytest.raises(ValueError, match=r"X has a value of size .*; rescale X"):
            Forecaster().fit(SERIES, size * SERIES[:, None])


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_out_of_range(name):
    model = call(name).fit(X, targets(name))
    with pytest.raises(ValueError, match=r"X has a value of size .*; rescale X"):
        model.predict(1e160 * X)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "method",
    [
        Imputation(n_levels=3, n_folds=2, max_iter=5),
        StochasticEM(n_samples=4, n_chains=2, thin=1, max_iter=2),
        Slope(max_iter=3),
    ],
    ids=lambda method: type(method).__name__,
)
def test_noisy_inputs_may_be_time_stamps(method):
    """Where the inputs begin makes no difference, but for rounding."""
    far, found = np.round(64.0 * X) / 64.0, []
    for offset in (0.0, 2.0**27):
        model = NoisyInputGPR(input_noise=0.01, method=method, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few turns do not settle
            found.append(model.fit(far + offset, Y))
    near, away = found
    assert_allclose(away.inputs_ - 2.0**27, near.inputs_, atol=1e-4)
    assert_allclose(away.predict(far + 2.0**27), near.predict(far), atol=1e-4)


ODD = {
    "1e8": X + 1e8,
    "1e15": X + 1e15,
    "constant": np.full_like(X, 0.1),
    "outlier": with_value(X, 1e12),
    "collinear": X[:, :1] * [1.0, 2.0],
    "unlike": X * [1e-9, 1e9],
    "duplicates": X[np.arange(len(X)) // 4 * 4],
}


@pytest.mark.sampled
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "model",
    [RVR("linear", adapt=None, calibrate=None), RVC("linear", adapt=None, calibrate=None),
     ReducedRankGPR(n_cycles=2, max_iter=20, calibrate=None), LeaveOneOutGPR()],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_no_warning_but_ours(model, odd):
    """Tests run with warnings as errors: 851 RuntimeWarnings came of such inputs once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(ODD[odd], LABELS if is_classifier(model) else Y)
    answer = model.predict_proba(ODD[odd]) if is_classifier(model) else model.predict(ODD[odd])
    assert np.isfinite(answer).all()


def test_rows_of_several_lengths_are_no_signal():
    with pytest.raises(ValueError, match=r"y: setting an array element with a sequence"):
        denoise([[1.0, 2.0], [1.0]])


def test_weights_that_say_next_to_nothing():
    with pytest.raises(ValueError, match=r"The largest sample_weight is 1e-30; rescale"):
        RVR(noise="student").fit(X, Y, np.full(len(X), 1e-30))
