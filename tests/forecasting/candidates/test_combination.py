"""Weights by forecasts of the past, with models that say what they are told."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from sparsebayes.forecasting.candidates import combination
from sparsebayes.forecasting.candidates.combination import past_origins, relative_scores, weigh
from sparsebayes.forecasting.candidates.naive import Naive
from sparsebayes.forecasting.candidates.naive import try_out as try_naive
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.trial import (
    GaussianPaths,
    PastTrial,
    Windowed,
    later_only,
    matched,
)
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import BOUNDED, LEVEL, LOG

ORIGINS = np.arange(40)
TRUTH = np.random.default_rng(0).standard_normal((40, 6))


@dataclass(frozen=True)
class Fixed(Windowed, GaussianPaths):
    """A model with a name."""

    name: str
    transform = LEVEL
    n_past = 1

    def __str__(self):
        return self.name

    def forecasts(self, record, origins, horizon, method, with_cov=True):
        shape = (len(origins), horizon)
        cov = np.tile(np.eye(horizon), (len(origins), 1, 1))
        return Forecasts(np.full(shape, float(len(self.name))), np.ones(shape), LEVEL, cov)


def trial(name, off, std=1.0, rows=40, like=None):
    """Forecasts that are off by so much, from the last `rows` of the origins."""
    rng = np.random.default_rng(sum(map(ord, like or name)))
    mean = TRUTH[-rows:] + off * rng.standard_normal((rows, 6))
    past = Forecasts(mean, np.full((rows, 6), std**2))
    return PastTrial(Fixed(name), later_only(past, 40))


def weights_of(*trials, truth=TRUTH, judged=100):
    found, past = weigh(trials, ORIGINS, truth, judged)
    return {one.name: one.weight for one in found.candidates}, found, past


def test_what_is_clearly_better_has_the_weight():
    weights, found, _ = weights_of(trial("good", 0.5, 0.5), trial("bad", 1.2), trial("naive", 1.2))
    assert weights["good"] > 0.97 and sum(weights.values()) == pytest.approx(1)
    assert found.candidates[0].name == "good" and found.candidates[0].score < 0.6
    assert str(found.models[0]) == "good"
    assert len(found.models) == np.count_nonzero(list(weights.values())) == len(found.weights)


def test_equals_share():
    weights, *_ = weights_of(trial("one", 0.5), trial("one", 0.5), trial("naive", 1.0, 1.0))
    values = sorted(weights.values())
    assert len(weights) == 2 and values[0] < 0.5  # the naive forecast is worse


def test_few_values_to_judge_by_leave_weights_near_even():
    trials = trial("good", 0.8, 0.8), trial("fair", 1.0), trial("naive", 1.0)
    many, few = (weights_of(*trials, judged=n)[0] for n in (1000, 2))
    assert many["good"] > 0.7
    assert max(few.values()) < 0.6 and few["good"] < many["good"]
    none = weights_of(*trials, judged=0)[0]
    np.testing.assert_allclose(list(none.values()), 1 / 3, atol=0.02)


def test_worse_than_the_naive_forecast_is_that_alone():
    wrong = trial("wrong", 1.1, 0.6, like="naive")
    weights, found, past = weights_of(
        wrong, trial("wide", 0.9, 9.0), trial("naive", 0.9, 0.9), judged=1
    )
    assert weights == {"naive": 1.0, "wrong": 0.0, "wide": 0.0}
    assert len(found.models) == 1 and found.weights.tolist() == [1.0]
    assert past.relative_error() == pytest.approx(1.0)
    assert past.beats_naive()


def test_forecasts_that_began_later_are_compared_where_they_spoke():
    """The truth is far off at the beginning, where the late one was silent."""
    truth = TRUTH.copy()
    truth[:20] += 40.0
    late, naive = trial("late", 0.5, 0.5, rows=15), trial("naive", 1.0, 1.0)
    early = trial("early", 0.5, 0.5)
    assert np.isnan(late.past.mean[:25]).all() and np.isfinite(late.past.mean[25:]).all()
    scores = relative_scores([one.past.crps(truth) for one in (late, early, naive)])
    assert 0.4 < scores[0] < 0.7 and 0.9 < scores[1] < 1.1 and scores[2] == 1.0
    silent = weights_of(late, naive, truth=truth)[2].normal_scores()
    assert np.isnan(silent[:25]).all() and np.isfinite(silent[25:]).all()
    both = weights_of(late, early, naive)[2]
    assert len(both.parts) > 1 and np.isfinite(both.normal_scores()).all()


def test_scores_are_relative_and_of_all_steps():
    losses = [np.array([[1.0, 3.0], [np.nan, 5.0]]), np.array([[2.0, 2.0], [4.0, np.nan]])]
    near, far = 1.0, 2.0**-combination._DISTANT
    expected = (near * 1 + far * 3) / (near * 2 + far * 2)
    np.testing.assert_allclose(relative_scores(losses), [expected, 1.0])
    nothing = np.zeros((1, 2))
    np.testing.assert_array_equal(relative_scores([nothing, nothing]), 1.0)
    assert relative_scores([np.ones((1, 2)), nothing])[0] == np.inf
    assert relative_scores([np.full((1, 2), np.nan), np.ones((1, 2))])[0] == 1.0


def test_errors_of_the_past_as_normal_scores():
    """The probability that the mixture gave to less than what came."""
    one, naive = trial("good", 0.6, 0.5), trial("naive", 0.6, 0.7)
    past = weights_of(one, naive)[2]
    assert len(past.parts) == 2
    below = sum(
        w * norm.cdf(TRUTH, part.mean, part.std)
        for w, part in zip(past.weights, past.parts, strict=True)
    )
    np.testing.assert_allclose(past.normal_scores(), norm.ppf(below), atol=1e-9)
    mean = sum(w * part.mean for w, part in zip(past.weights, past.parts, strict=True))
    ratio = np.abs(TRUTH - mean).sum() / np.abs(TRUTH - naive.past.mean).sum()
    assert past.relative_error() == pytest.approx(ratio)


def test_sampled_paths_are_of_each_model_in_turn():
    found = combination.Combination(
        [Fixed("a"), Fixed("bbbbbbbbbbbbbbbbbbbb")], np.array([0.25, 0.75]), []
    )
    record = Record(np.zeros(5), np.empty((8, 0)))
    rng = np.random.RandomState(0)
    paths = found.sample(record, 3, 4000, np.array([1.0, 2.0, 3.0]), rng)
    late = paths[:, 0] > 10
    assert late.mean() == pytest.approx(0.75, abs=0.03)
    assert 0.6 < late[:1000].mean() < 0.9  # mixed up
    np.testing.assert_allclose(paths[late].std(axis=0), [1, 2, 3], rtol=0.06)
    np.testing.assert_allclose(paths[late].mean(axis=0), 20, atol=0.2)


def test_origins_lie_in_the_last_two_thirds():
    for size, season in ((3, 1), (12, 1), (60, 12), (500, 7)):
        origins = past_origins(size, season, 40)
        assert origins[-1] == size - 1 and (np.diff(origins) > 0).all()
        assert origins[0] >= min(size // 3, size - 1) and len(origins) <= 40


def test_moments_of_mixtures_of_gaussians():
    rng = np.random.default_rng(1)
    mean, root = rng.standard_normal((5, 3)), rng.standard_normal((5, 3, 3))
    cov = root @ root.transpose(0, 2, 1)
    share, owner = np.array([0.2, 0.8, 1.0, 0.5, 0.5]), np.array([0, 0, 1, 2, 2])
    middle, within = matched(mean, cov, share, owner, 3)
    for i in range(3):
        own = owner == i
        expected = share[own] @ mean[own]
        second = np.einsum("q,qhk->hk", share[own], cov[own] + mean[own, :, None] * mean[own, None])
        np.testing.assert_allclose(middle[i], expected)
        np.testing.assert_allclose(within[i], second - np.outer(expected, expected), atol=1e-12)
    alone = matched(mean, np.einsum("qhh->qh", cov), share, owner, 3)
    np.testing.assert_allclose(alone[0], middle)
    np.testing.assert_allclose(alone[1], np.einsum("nhh->nh", within))


@pytest.mark.parametrize("season", [1, 4])
def test_the_naive_forecast(season):
    """Steps of a walk that takes one for each part of the season."""
    rng = np.random.default_rng(2)
    y = np.zeros(404)
    for t in range(season, 404):
        y[t] = y[t - season] + 0.5 * rng.standard_normal()
    record = Record(y[:400], np.empty((400, 0)))
    found = try_naive(record, np.array([200, 399]), 10, season, LEVEL)
    model = found.model
    assert str(model) == ("last value" if season == 1 else "season 4 ago")
    assert model.variance == pytest.approx(np.mean((y[season:400] - y[: 400 - season]) ** 2))
    ahead = model.forecasts(record, np.array([400]), 10, "auto")
    alone = model.forecasts(record, np.array([400]), 10, "auto", with_cov=False)
    np.testing.assert_allclose(alone.variance, ahead.variance)
    np.testing.assert_array_equal(ahead.mean[0], [y[400 - season + h % season] for h in range(10)])
    steps = np.arange(10) // season + 1
    np.testing.assert_allclose(ahead.variance[0], model.variance * steps)
    if season == 1:
        np.testing.assert_allclose(ahead.cov[0], model.variance * np.minimum.outer(steps, steps))
    else:
        assert ahead.cov[0, 0, 1] == 0.0 and ahead.cov[0, 0, 4] == model.variance
    early = np.mean((y[season:200] - y[: 200 - season]) ** 2)
    assert found.past.variance[0, 0] == pytest.approx(early)


def test_the_naive_forecast_steps_over_gaps():
    y = np.array([1.0, 2.0, np.nan, 4.0, 6.0])
    model = try_naive(Record(y, np.empty((5, 0))), np.array([3]), 1, 1, BOUNDED).model
    assert model == Naive(1, (1.0 + 4.0) / 2, BOUNDED)
    logs = try_naive(Record(np.exp(y), np.empty((5, 0))), np.array([3]), 1, 1, LOG).model
    assert logs.variance == pytest.approx(2.5)
