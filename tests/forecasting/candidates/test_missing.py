"""Missing values against what one Gaussian of all values says of them."""

import numpy as np
import pytest

from sparsebayes.forecasting.candidates import innovations, missing
from sparsebayes.forecasting.candidates.innovations import SmoothingDesign, beginning
from sparsebayes.forecasting.candidates.missing import guess_missing
from sparsebayes.forecasting.candidates.record import Guesses, Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.transforms import BOUNDED, LEVEL, LOG, SQRT

from .dense import conditional, gains, joint

MODELS = [
    (gains(0.4), Seasons()),
    (gains(0.5, 0.1, damping=0.9), Seasons()),
    (gains(0.3, 0.05, 0.25, 1.0), Seasons((4,), (0,))),
    (gains(0.2, 0.0, 0.5), Seasons((3, 9.5), (0, 1))),
]


@pytest.fixture
def proper(monkeypatch):
    """A beginning that is not so wide that digits are lost."""
    monkeypatch.setattr(innovations, "_WIDE", 30.0)


def expected(gain, seasons, values, inputs):
    design = SmoothingDesign.of(seasons, np.arange(len(values)), inputs[: len(values)])
    mean, cov = joint(gain, design, beginning(gain, design))
    return conditional(mean, cov, np.isfinite(values), values)


@pytest.mark.parametrize(("gain", "seasons"), MODELS)
@pytest.mark.parametrize("gaps", [[6], [3, 4, 5], [0, 1, 8, 12, 13, 19], [17, 18, 19]])
def test_guesses_are_those_of_all_values_together(proper, gain, seasons, gaps):
    rng = np.random.default_rng(0)
    values, inputs = rng.standard_normal(20).cumsum(), rng.standard_normal((23, 1))
    values[gaps] = np.nan
    mean, cov = missing._interpolated(values, gain, Record(values, inputs), seasons)
    middle, spread = expected(gain, seasons, values, inputs)
    np.testing.assert_allclose(mean, middle, atol=1e-9)
    np.testing.assert_allclose(cov, spread, atol=1e-9)


@pytest.mark.parametrize(("gain", "seasons"), MODELS)
def test_old_guesses_are_settled(proper, monkeypatch, gain, seasons):
    """One after another at known values, where there are too many; then others go on alone."""
    monkeypatch.setattr(missing, "_CARRIED", 3)
    rng = np.random.default_rng(1)
    values = rng.standard_normal(30).cumsum()
    gaps = np.array([2, 3, 8, 9, 10, 11, 14, 20, 21, 26])
    values[gaps] = np.nan
    inputs = np.empty((30, 0))
    held, ends = [], {}
    for t in range(30):
        if t in gaps:
            held.append(t)
        elif len(held) > 3:
            ends[held[0]] = t + 1, list(held)
            held = held[1:]
    assert len(ends) == 7
    ends |= {t: (30, list(held)) for t in held}
    mean, cov = missing._interpolated(values, gain, Record(values, inputs), seasons)
    for i, place in enumerate(gaps.tolist()):
        end, together = ends[place]
        middle, spread = expected(gain, seasons, values[:end], inputs)
        assert mean[i] == pytest.approx(middle[i], abs=1e-9)
        others = np.searchsorted(gaps, together)
        np.testing.assert_allclose(cov[i, others], spread[i, others], atol=1e-9)
    np.testing.assert_array_equal(cov, cov.T)
    assert cov[0, -1] == 0.0


def test_long_gaps_are_bridged(monkeypatch):
    """Nothing is settled before the gap ends; what is unsure of it stays a covariance."""
    rng = np.random.default_rng(5)
    y = 0.5 * rng.standard_normal(400).cumsum() + rng.standard_normal(400)
    values = y.copy()
    values[150:290] = np.nan
    record = Record(values, np.empty((400, 0)))
    found = guess_missing(record, [LEVEL], Seasons()).guesses
    monkeypatch.setattr(missing, "_CARRIED", 1000)
    exact = guess_missing(record, [LEVEL], Seasons()).guesses
    std = np.sqrt(np.diagonal(exact.cov))
    np.testing.assert_allclose(found.mean / std, exact.mean / std, atol=0.1)
    np.testing.assert_allclose(np.diagonal(found.cov), std**2, rtol=0.02)
    lowest = np.linalg.eigvalsh(found.cov)[0]
    assert lowest > -0.02 * std.max() ** 2
    changes = np.diff(np.eye(140), axis=0)
    assert (np.einsum("ij,jk,ik->i", changes, found.cov, changes) > 0).all()


def test_gaps_that_are_too_long_are_settled_before_they_end(monkeypatch):
    monkeypatch.setattr(missing, "_MOST", 20)
    y = np.random.default_rng(6).standard_normal(120).cumsum()
    y[40:90] = np.nan
    found = guess_missing(Record(y, np.empty((120, 0))), [LEVEL], Seasons()).guesses
    assert np.isfinite(found.mean).all() and np.isfinite(found.cov).all()
    assert (np.diagonal(found.cov) > 0).all()


def test_many_missing_values():
    rng = np.random.default_rng(2)
    y = 10 + 0.3 * rng.standard_normal(400).cumsum() + 0.2 * rng.standard_normal(400)
    true = y.copy()
    y[rng.permutation(400)[:160]] = np.nan
    assert np.isnan(y).sum() > missing._CARRIED
    record = guess_missing(Record(y, np.empty((400, 0))), [LEVEL], Seasons())
    z = (record.guesses.mean - true[np.isnan(y)]) / np.sqrt(np.diagonal(record.guesses.cov))
    assert np.isfinite(record.filled).all() and 0.8 < np.sqrt(np.mean(z**2)) < 1.2
    np.testing.assert_array_equal(record.filled[np.isfinite(y)], y[np.isfinite(y)])


def test_guesses_of_a_season_and_of_inputs():
    rng = np.random.default_rng(3)
    t, x = np.arange(120), rng.standard_normal((120, 1))
    true = np.exp(3 + 0.01 * t + 0.3 * np.sin(np.pi * t / 6) + 0.2 * x[:, 0])
    true *= np.exp(0.02 * rng.standard_normal(120))
    y = true.copy()
    y[40:50] = y[77] = np.nan
    found = guess_missing(Record(y, x), [LEVEL, LOG], Seasons((12,), (0,)))
    assert found.guesses.transform == LOG
    off = np.log(found.filled / true)[np.isnan(y)]
    assert np.abs(off).max() < 0.1
    assert np.abs(off / np.sqrt(np.diagonal(found.guesses.cov))).max() < 4
    complete = Record(true, x)
    assert guess_missing(complete, [LEVEL], Seasons()) is complete


def test_doubt_is_in_the_units_of_what_is_modelled():
    values = np.array([4.0, np.nan, 9.0, np.nan, 16.0])
    places = np.array([1, 3])
    cov = np.array([[0.02, 0.01], [0.01, 0.03]])
    guesses = Guesses(places, np.log([6.0, 12.0]), cov, LOG)
    record = Record(values, np.empty((5, 0)), guesses)
    np.testing.assert_allclose(record.filled, [4, 6, 9, 12, 16])
    same = record.doubt(np.array([5, 4, 3]), 3, LOG)
    np.testing.assert_allclose(same[0], np.diag([0, 0.03, 0]))
    np.testing.assert_allclose(same[1], [[0.02, 0, 0.01], [0, 0, 0], [0.01, 0, 0.03]])
    np.testing.assert_allclose(same[2], np.diag([0, 0.02, 0]))
    slope = np.array([6.0, 12.0])  # dy / d log y
    for transform in (LEVEL, BOUNDED):
        found = record.doubt(np.array([4]), 3, transform)[0][np.ix_([0, 2], [0, 2])]
        np.testing.assert_allclose(found, slope[:, None] * cov * slope)
    slope = np.sqrt(slope) / 2  # d root y / d log y
    found = record.doubt(np.array([4]), 3, SQRT)[0][np.ix_([0, 2], [0, 2])]
    np.testing.assert_allclose(found, slope[:, None] * cov * slope)
    assert record.doubt(np.array([5]), 1, LOG) is None
    assert Record(values[:1], np.empty((1, 0))).doubt(np.array([1]), 1) is None


def test_a_record_is_cut_with_its_guesses():
    values = np.array([4.0, np.nan, 9.0, np.nan, 16.0])
    cov = np.array([[0.02, 0.01], [0.01, 0.03]])
    guesses = Guesses(np.array([1, 3]), np.array([6.0, 12.0]), cov, LEVEL)
    before = Record(values, np.zeros((5, 1)), guesses).until(3)
    np.testing.assert_array_equal(before.known, [True, False, True])
    np.testing.assert_array_equal(before.filled, [4, 6, 9])
    np.testing.assert_allclose(before.doubt(np.array([3]), 2), [np.diag([0.02, 0])])
    assert before.inputs.shape == (5, 1)
