"""Exponential smoothing: what it finds in series that it could have made."""

import numpy as np
import pytest

from sparsebayes.forecasting.candidates import innovations, smoothing
from sparsebayes.forecasting.candidates.innovations import Gains, SmoothingDesign, ahead, run
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import Seasons, short
from sparsebayes.forecasting.candidates.smoothing import Units, try_out
from sparsebayes.forecasting.transforms import LEVEL, LOG

from .dense import gains, value_map


def made(gain, seasons, count, seed=0, noise=1.0, start=None):
    """A series of a model, with its errors."""
    rng = np.random.default_rng(seed)
    design = SmoothingDesign.of(seasons, np.arange(count), np.empty((count, 0)))
    start = np.zeros(design.size) if start is None else start
    return value_map(gain, design) @ np.append(start, noise * rng.standard_normal(count))


def record_of(y, inputs=None):
    return Record(y, np.empty((len(y), 0)) if inputs is None else inputs)


def tried(y, origins, horizon=6, seasons=None, transforms=(LEVEL,), inputs=None):
    return try_out(
        record_of(y, inputs), np.array(origins, int), horizon, transforms, seasons or Seasons()
    )


def test_kinds_and_names():
    y = np.exp(0.1 * np.random.default_rng(0).standard_normal(60).cumsum())
    trials = tried(y, [40, 50], seasons=Seasons((4, 26.5), (0, 2)), transforms=(LEVEL, LOG))
    names = [str(trial.model) for trial in trials]
    assert len(set(names)) == 12
    assert "smoothing, no trend" in names
    assert "log smoothing, damped trend, season 4 and 26.5 in 2 waves" in names
    for trial in trials:
        assert trial.model.share.sum() == pytest.approx(1.0)
        assert len(set(trial.model.gains.trend)) == len(set(trial.model.gains.seasonal)) == 1
        assert trial.past.mean.shape == (2, 6)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.95])
def test_gains_and_noise_are_found(monkeypatch, level):
    y = 40 + made(gains(level), Seasons(), 500, noise=3.0)
    plain = tried(y, [400])[0].model
    assert abs(plain.share @ plain.gains.level - level) < 0.1
    noise = plain.share @ plain.variance * plain.units.scale**2
    assert noise == pytest.approx(9.0, rel=0.25)  # by the last of the errors, mostly
    monkeypatch.setattr(innovations, "_FADING", 1.0)
    plain = tried(y, [400])[0].model
    noise = plain.share @ plain.variance * plain.units.scale**2
    assert noise == pytest.approx(9.0, rel=0.15)


@pytest.mark.slow
def test_forecasts_are_those_of_the_model_that_made_the_series():
    """The mean error is within a few percent of that with the true gains."""
    seasons, gain = Seasons((6,), (0,)), gains(0.25, 0.025, 0.1, 1.0)
    start = np.array([0.0, 0.3, 3.0, -1.0, 0.5, -4.0, 1.0, 0.5])
    y = made(gain, seasons, 400, seed=4, start=start)
    origins = np.arange(200, 390)
    design = SmoothingDesign.of(seasons, np.arange(400), np.empty((400, 0)))
    states = run(y, gain, design, origins).states
    truth = y[origins[:, None] + np.arange(6)]
    own = np.array(
        [
            ahead(states[o], gain, design, design.rows[o : o + 6], np.ones(1))[0][0]
            for o in origins.tolist()
        ]
    )
    best = next(
        trial
        for trial in tried(y, origins, seasons=seasons)
        if str(trial.model) == "smoothing, trend, season 6"
    )
    errors = [np.mean((truth - mean) ** 2) for mean in (best.past.mean, own)]
    assert errors[0] < 1.05 * errors[1]
    z = (truth - best.past.mean) / best.past.std
    assert 0.9 < np.sqrt(np.mean(z**2)) < 1.15


def test_past_forecasts_know_only_what_came_before():
    y = made(gains(0.4), Seasons(), 80)
    origins = np.array([30, 50])
    changed = np.append(y[:50], y[50:] + 100.0)
    for one, other in zip(tried(y, origins), tried(changed, origins), strict=True):
        units = [trial.model.units for trial in (one, other)]
        assert units[0].center == units[1].center
        mean, std = one.past.mean[0], one.past.std[0]
        # The units are those of the whole series; the prior of the noise depends on them a little.
        np.testing.assert_allclose(other.past.mean[0], mean, atol=0.3 * std.max())
    early = tried(y[:50], origins[:1])[0].past
    np.testing.assert_allclose(tried(y, origins[:1])[0].past.mean, early.mean, atol=0.05)


@pytest.mark.parametrize("n_inputs", [0, 1])
def test_updates_and_origins_are_the_same_as_a_longer_record(n_inputs):
    rng = np.random.default_rng(5)
    y = made(gains(0.3, 0.03, 0.2, 0.93), Seasons((4,), (0,)), 70, seed=6)
    y[[10, 41, 61]] = np.nan
    inputs = rng.standard_normal((76, n_inputs))
    whole, first = Record(y, inputs), Record(y[:55], inputs)
    for trial in try_out(first, np.array([30]), 6, [LEVEL], Seasons((4,), (0,))):
        model = trial.model
        later, placed = model.followed(whole), model.placed(whole)
        end = np.array([70])
        found, expected = (m.forecasts(whole, end, 6, "auto") for m in (later, placed))
        np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6)
        np.testing.assert_allclose(found.cov, expected.cov, rtol=1e-5, atol=1e-7)
        several = later.forecasts(whole, np.array([40, 55, 63]), 6, "auto")
        one = model.forecasts(first, np.array([55]), 6, "auto")
        np.testing.assert_allclose(several.mean[1], one.mean[0], atol=1e-6)
        np.testing.assert_allclose(several.cov[1], one.cov[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(several.variance[1], np.diagonal(several.cov[1]))
        alone = later.forecasts(whole, np.array([40, 55, 63]), 6, "auto", with_cov=False)
        np.testing.assert_array_equal(alone.mean, several.mean)
        np.testing.assert_allclose(alone.variance, several.variance)


def test_units_of_the_series_do_not_matter():
    y = made(gains(0.3, 0.03, 0.2, 0.93), Seasons((4,), (0,)), 60, seed=7)
    for one, other in zip(
        tried(y, [40], seasons=Seasons((4,), (0,))),
        tried(-1e4 + 250.0 * y, [40], seasons=Seasons((4,), (0,))),
        strict=True,
    ):
        np.testing.assert_allclose(other.past.mean, -1e4 + 250 * one.past.mean, rtol=1e-6)
        np.testing.assert_allclose(other.past.variance, 250**2 * one.past.variance, rtol=1e-6)


def test_inputs_that_move_the_series_are_used():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((90, 2))
    y = 3 * x[:, 0] + 0.2 * rng.standard_normal(90)
    origins = np.array([60, 70, 80])
    past = tried(y, origins, 5, inputs=x)[0].past
    truth = y[origins[:, None] + np.arange(5)]
    assert np.sqrt(np.mean((past.mean - truth) ** 2)) < 0.4
    assert np.sqrt(np.mean((tried(y, origins, 5)[0].past.mean - truth) ** 2)) > 1.5


def test_long_series_are_filtered_by_the_likeliest_gains(monkeypatch):
    y = made(gains(0.25), Seasons(), 700, seed=9)
    fast = tried(y, [650])
    monkeypatch.setattr(smoothing, "_LONG", 10_000)
    slow = tried(y, [650])
    for one, other in zip(fast, slow, strict=True):
        spread = other.past.std
        np.testing.assert_allclose(one.past.mean / spread, other.past.mean / spread, atol=0.1)
        np.testing.assert_allclose(one.past.std, spread, rtol=0.1)


def test_constant_series_and_single_values():
    units = Units.of(np.array([np.nan, 3.0, np.nan, 3.0]), LEVEL)
    assert (units.center, units.scale) == (3.0, 1.0)
    assert Units.of(np.array([5.0]), LEVEL).scale == 1.0
    for trial in tried(np.full(20, 7.0), [12]):
        np.testing.assert_allclose(trial.past.mean, 7.0)
        assert np.isfinite(trial.past.variance).all()


def test_the_grid_has_all_kinds():
    plain, seasonal = Gains.grid(False), Gains.grid(True)
    assert not plain.seasonal.any() and set(plain.trend) == {0, 1, 2}
    assert len(seasonal) == 5 * len(plain)
    assert ((plain.damping == 1.0) == (plain.trend == 2)).all()
    assert (seasonal.level + seasonal.season <= 1.0).all()


def test_seasons_repeat_and_share_errors():
    seasons = Seasons((5, 30.4), (0, 3))
    t = np.arange(100)
    rows, shares = seasons.rows(t), seasons.shares(t)
    assert rows.shape == (100, seasons.size) and seasons.size == 11
    np.testing.assert_array_equal(rows[:-5, :5], rows[5:, :5])
    again = Seasons((7.5,), (2,))
    np.testing.assert_allclose(again.rows(t[:-15]), again.rows(t[15:]), atol=1e-12)
    np.testing.assert_allclose((rows * shares).sum(axis=1), 1.0)
    back = rows[:, None] * shares[None]
    lagged = back.sum(axis=2)  # depends on the distance alone
    np.testing.assert_allclose(lagged[3:, 3:], lagged[:-3, :-3], atol=1e-12)
    prior = seasons.prior()
    np.testing.assert_allclose(prior[:5, :5].sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(prior[5:, 5:], np.eye(6))
    assert short(12) and short(24.0) and not short(1) and not short(25) and not short(4.5)
