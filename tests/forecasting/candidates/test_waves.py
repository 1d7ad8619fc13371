"""How many waves long seasons get."""

import numpy as np
import pytest

from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.waves import wave_orders
from sparsebayes.forecasting.transforms import LEVEL

WEEK = Seasons((7,), (0,))


def daily(n=1200, noise=1.0, waves=(5.0,), seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    y = 20 + np.array([0, 0, 0, 0, 0, 4, 5])[t % 7] + noise * rng.standard_normal(n)
    for k, size in enumerate(waves, start=1):
        y += size * np.sin(2 * np.pi * k * t / 365.25 + k)
    return Record(y, np.empty((n, 0)))


def test_a_yearly_sine_has_one_wave():
    found = wave_orders(daily(), LEVEL, WEEK, [365.25])
    assert found == Seasons((7, 365.25), (0, 1))
    assert str(found) == "7 and 365.25 in 1 wave"


def test_more_waves_where_the_season_has_them():
    found = wave_orders(daily(waves=(5.0, 3.0, 0.0, 2.0)), LEVEL, WEEK, [365.25])
    assert found.periods == (7, 365.25) and found.orders[1] == 4


def test_missing_values_change_little():
    record = daily()
    values = record.values.copy()
    values[np.random.default_rng(1).random(1200) < 0.2] = np.nan
    assert wave_orders(Record(values, record.inputs), LEVEL, WEEK, [365.25]).orders == (0, 1)


@pytest.mark.slow
def test_noise_has_no_waves():
    for seed in range(4):
        noise = daily(waves=(), seed=seed)
        assert wave_orders(noise, LEVEL, WEEK, [365.25]) == WEEK
        assert wave_orders(noise, LEVEL, Seasons(), [365.25]) == Seasons()


def test_short_and_constant_series_have_no_waves():
    record = daily(1000)
    assert wave_orders(Record(record.values[:6], record.inputs), LEVEL, WEEK, [365.25]) == WEEK
    constant = Record(np.full(900, 3.0), record.inputs)
    assert wave_orders(constant, LEVEL, WEEK, [365.25]) == WEEK
    assert wave_orders(record, LEVEL, WEEK, []) == WEEK
