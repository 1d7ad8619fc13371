"""The benchmark of forecasters: what is forecast, scores, gaps, what is stored, tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.forecasters import compare, gaps, ours, protocol, scores, series, speed, stored
from benchmarks.forecasters.scores import Scores
from benchmarks.forecasters.series import Given
from benchmarks.forecasters.stored import Outcome, Store


def given(size=40, season=1, **others):
    return Given("made up", lambda: np.arange(size, dtype=float), season, **others)


def some_scores(mase, crps, share=1.0):
    inside = np.arange(12).reshape(2, 6) < 12 * share
    return Scores(mase, crps, inside, 0.5)


# What is forecast


def test_horizons_are_those_of_the_season_and_at_most_a_fifth():
    assert [protocol.horizon(given(season=m), 200) for m in (12, 4, 1)] == [18, 8, 12]
    assert protocol.horizon(given(season=12), 60) == 12
    assert protocol.horizon(given(horizon=24), 500) == 24


def test_origins_end_where_the_last_forecast_ends():
    assert protocol.origins(200, 18, 12) == [146, 164, 182]
    assert protocol.origins(60, 12, 12) == [28, 38, 48]
    assert protocol.origins(36, 7, 12) == [28, 29]
    assert protocol.origins(12, 2, 4) == [10]


def test_quantiles_come_in_the_order_of_their_levels():
    limits = {c: (np.array([-c]), np.array([c])) for c in (*protocol.COVERAGES, protocol.MIDDLE)}
    found = protocol.quantiles(limits)
    assert_allclose(found[:, 0], 2 * protocol.LEVELS - 1, atol=1e-12)
    assert len(protocol.LEVELS) == 21


def test_halves_take_turns_and_are_all():
    decide, report = (series.chosen(half) for half in series.HALVES)
    names = [one.name for pair in zip(decide, report, strict=True) for one in pair]
    assert names == sorted(series.SERIES, key=str.lower)
    assert series.chosen("all", ["lynx"]) == [series.SERIES["lynx"]]


def test_only_the_last_values_of_a_long_series_with_their_dates():
    pytest.importorskip("pandas")
    months = given(1000, 12, start="1900-01", freq="M")
    y = months.dated(months.values()[:30])
    assert y.iloc[0] == 400.0
    assert str(y.index[0]) == "1933-05"
    assert len(given(2000).values()) == 1500
    decades = given(5, start="1790", freq="10")
    assert list(decades.dated(decades.values()).index) == [1790, 1800, 1810, 1820, 1830]
    assert isinstance(given().dated(given().values()), np.ndarray)


def test_a_missing_package_is_named_with_the_extra():
    with pytest.raises(series.Missing, match=r"no_such_package .* 'sparsebayes\[bench\]'"):
        series.need("no_such_package")


# Scores


def test_naive_error_leaves_missing_values_out():
    assert scores.naive_error(np.array([1.0, 2.0, 4.0, 7.0]), 1) == 2.0
    assert scores.naive_error(np.array([1.0, 2.0, 4.0, 7.0]), 2) == 4.0
    assert scores.naive_error(np.array([1.0, np.nan, 4.0, 7.0]), 1) == 3.0


def test_quantile_score_of_one_value_is_the_absolute_error():
    quantiles = np.full((21, 2), 3.0)
    assert_allclose(scores.quantile_score(np.array([3.0, 5.0]), quantiles), [0.0, 2.0])


def test_quantile_score_of_three_levels():
    levels, quantiles = np.array([0.25, 0.5, 0.75]), np.array([[0.0], [1.0], [2.0]])
    score = scores.quantile_score(np.array([3.0]), quantiles, levels)
    assert_allclose(score, 2 * (0.25 * 3 + 0.5 * 2 + 0.75 * 1) / 3)


def test_inside_takes_the_levels_of_the_coverage():
    quantiles = protocol.LEVELS[:, None] * np.ones(3)
    truth = np.array([0.03, 0.06, 0.98])
    assert_array_equal(scores.inside(truth, quantiles), [True, True, False])
    assert_array_equal(scores.inside(truth, quantiles, 0.9), [False, True, False])


def test_scores_over_origins():
    truth = np.array([1.0, 2.0, 3.0])
    right = Outcome(truth, np.tile(truth, (21, 1)), 1.0)
    wrong = Outcome(truth + 4.0, np.tile(truth + 4.0, (21, 1)), 3.0)
    found = scores.scored([(right, truth, 1.0), (wrong, truth, 2.0)])
    assert (found.mase, found.crps, found.seconds) == pytest.approx((1.0, 1.0, 2.0))
    assert (found.coverage, found.late_coverage) == (0.5, 0.5)


def test_late_coverage_is_of_the_last_third():
    found = Scores(1.0, 1.0, np.array([[True, True, True, True, False, True]]), 0.1)
    assert found.late_coverage == 0.5


def test_ratios_and_their_mean():
    assert scores.ratio(2.0, 4.0) == 0.5
    assert scores.ratio(0.0, 0.02) == 0.5
    assert scores.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert scores.geometric_mean([]) is None
    assert scores.percent_error(np.array([10.0, 20.0]), np.array([11.0, 18.0])) == pytest.approx(10)


# Gaps


@pytest.mark.parametrize("season", [1, 12])
def test_gaps_have_the_length_of_a_season_and_leave_the_end(season):
    y = np.arange(60.0)
    run = max(season, 4)
    for cut in (gaps.middle, gaps.late):
        lost = np.flatnonzero(np.isnan(cut(y, season)))
        assert_array_equal(np.diff(lost), 1)
        assert len(lost) == run
        assert lost[-1] < 58
    assert np.isnan(gaps.scattered(y, season)).sum() == 6
    assert_array_equal(gaps.scattered(y, 1), gaps.scattered(y, 1))
    assert np.isfinite(y).all()


# What is stored


def test_others_are_computed_once(tmp_path, monkeypatch):
    calls = []

    def computed(self, name, y, steps):
        calls.append(name)
        return np.full((23, steps), np.nan if name == "fails" else 1.0)

    monkeypatch.setattr(Store, "_computed", computed)
    y = np.arange(20.0)
    for _ in range(2):
        store = Store(given(), tmp_path)
        found = store.outcome("a", y, 3)
        assert found.quantiles.shape == (21, 3)
        assert found.mean.shape == (3,)
        assert store.outcome("fails", y, 3) is None
    assert calls == ["a", "fails"]
    Store(given(), tmp_path).outcome("a", y + 1, 3)
    assert calls == ["a", "fails", "a"]


def test_numbers_are_stored_with_six_digits():
    values = np.array([[123456.789, 1.23456], [0.0, 0.0], [0.00123456789, 0.0]])
    expected = [[123457.0, 1.0], [0.0, 0.0], [0.00123457, 0.0]]
    assert_allclose(stored.rounded(values), expected, rtol=1e-12)


# Ours, and the tables


def test_our_forecast_has_all_quantiles():
    t = np.arange(60)
    y = np.sin(0.4 * t) + 0.1 * np.random.default_rng(0).standard_normal(60)
    found = ours.forecast(y, 4)
    assert found.mean.shape == (4,)
    assert found.quantiles.shape == (21, 4)
    assert (np.diff(found.quantiles, axis=0) > 0).all()


def test_a_failed_fit_is_told(capsys):
    assert ours.outcome(given(), np.full(12, np.inf), 2, ", spoilt") is None
    assert "Forecaster fails: made up, spoilt, 12 values" in capsys.readouterr().err


def test_summary_takes_the_best_of_three_and_seasons_apart():
    results = {
        "lynx": {
            "Forecaster": some_scores(1.0, 1.0, 0.5),
            "AutoARIMA": some_scores(4.0, 2.0),
            "AutoETS": some_scores(2.0, 3.0),
            "SeasonalNaive": some_scores(1.0, 1.0),
        },
        "co2": {"Forecaster": some_scores(1.0, 1.0), "AutoARIMA": some_scores(1.0, 0.5)},
        "Nile": {"AutoARIMA": some_scores(1.0, 0.5)},
    }
    text = compare.to_markdown(results)
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in compare.summary(results).splitlines()
    }
    assert rows["AutoARIMA"] == ["2.000", "1.000", "1 of 2", "1.000", "0.500", "0 of 1"]
    assert rows["best of three"] == ["1.414", "1.000", "1 of 2", "1.000", "0.500", "0 of 1"]
    assert rows["Theta"][:3] == ["–", "–", "0 of 0"]
    assert "50 (lynx)" in compare.bands(results)
    assert "Forecaster on Nile" in text


def test_simulated_series_are_repeatable_and_finite():
    for number in range(4):
        y = speed.simulated(number, 100)
        assert_array_equal(y, speed.simulated(number, 100))
        assert np.isfinite(y).all()
