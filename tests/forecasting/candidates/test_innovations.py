"""The filter of smoothing against one Gaussian of all values."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t
from scipy.stats import t as student

from sparsebayes.forecasting.candidates import innovations
from sparsebayes.forecasting.candidates.innovations import (
    ErrorScale,
    Gains,
    LevelState,
    SmoothingDesign,
    ahead,
    run,
)
from sparsebayes.forecasting.candidates.seasons import Seasons

from .dense import conditional, design_of, gains, joint, proper_start, value_map

COUNT = 17
MODELS = {
    "level": (gains(0.4), Seasons(), 0),
    "trend": (gains(0.5, 0.1, damping=1.0), Seasons(), 0),
    "damped trend": (gains(0.3, 0.2, damping=0.8), Seasons(), 1),
    "season": (gains(0.3, season=0.25), Seasons((4,), (0,)), 0),
    "season and trend": (gains(0.6, 0.05, 0.3, 1.0), Seasons((3,), (0,)), 2),
    "waves": (gains(0.2, 0.1, 0.4, 0.9), Seasons((7.3,), (2,)), 0),
    "two seasons": (gains(0.2, 0.0, 0.5), Seasons((3, 11.5), (0, 1)), 1),
    "a season that stays": (gains(0.3), Seasons((5,), (0,)), 0),
}


@pytest.fixture(params=MODELS)
def model(request):
    gain, seasons, n_inputs = MODELS[request.param]
    design = design_of(seasons, COUNT, n_inputs)
    start = proper_start(design.size, np.random.default_rng(1), gain.trend[0] > 0)
    return gain, design, start


GAPS = {"complete": [], "gaps": [2, 3, 9, 14], "first and last": [0, 1, 16]}


@pytest.fixture(params=GAPS)
def values(request):
    y = np.random.default_rng(2).standard_normal(COUNT).cumsum()
    y[GAPS[request.param]] = np.nan
    return y


def test_errors_and_variances_are_those_of_the_next_value(model, values):
    gain, design, start = model
    found = run(values, gain, design, np.empty(0), start)
    mean, cov = joint(gain, design, start)
    known = np.isfinite(values)
    for t in range(COUNT):
        if not known[t]:
            assert np.isnan(found.errors[t, 0])
            continue
        before = known & (np.arange(COUNT) < t)
        both = before | (np.arange(COUNT) == t)
        inside = before[both]
        middle, spread = conditional(mean[both], cov[np.ix_(both, both)], inside, values[both])
        assert found.errors[t, 0] == pytest.approx(values[t] - middle[0], abs=1e-9)
        assert found.variances[t, 0] == pytest.approx(spread[0, 0], rel=1e-9)


def test_densities_of_the_next_values_are_that_of_all(model, values):
    gain, design, start = model
    found = run(values, gain, design, np.empty(0), start)
    known = np.isfinite(values)
    e, v = found.errors[known, 0], found.variances[known, 0]
    total = -0.5 * np.sum(np.log(2 * np.pi * v) + e**2 / v)
    mean, cov = joint(gain, design, start)
    expected = multivariate_normal(mean[known], cov[np.ix_(known, known)]).logpdf(values[known])
    assert total == pytest.approx(expected, rel=1e-9)


def test_the_evidence_is_the_density_with_unknown_noise(model, values, monkeypatch):
    """σ² with a Gamma prior of its inverse makes one Student of all values, if none fades."""
    monkeypatch.setattr(innovations, "_FADING", 1.0)
    gain, design, start = model
    found = run(values, gain, design, np.empty(0), start)
    noise = ErrorScale.of(found, 0)
    known = np.isfinite(values)
    mean, cov = joint(gain, design, start)
    degrees, scale = innovations._DEGREES, innovations._SCALE
    frozen = multivariate_t(mean[known], scale * cov[np.ix_(known, known)], df=degrees)
    assert noise.evidence[-1, 0] == pytest.approx(frozen.logpdf(values[known]), rel=1e-9)
    assert noise.degrees[-1] == degrees + known.sum()
    off = values[known] - mean[known]
    power = off @ np.linalg.solve(cov[np.ix_(known, known)], off)
    expected = (degrees * scale + power) / (degrees + known.sum())
    assert noise.scale[-1, 0] == pytest.approx(expected)


def test_old_errors_tell_less_of_the_noise():
    """One value after another, each by Student's density given those before."""
    design = design_of(Seasons(), COUNT)
    y = np.random.default_rng(0).standard_normal(COUNT)
    y[[4, 5, 11]] = np.nan
    found = run(y, gains(0.4), design, np.empty(0))
    noise = ErrorScale.of(found, 2)
    degrees, power, total = innovations._DEGREES, 0.0, 0.0
    told = 0.0
    for t in range(COUNT):
        scale = (innovations._DEGREES * innovations._SCALE + power) / degrees
        assert noise.degrees[t] == pytest.approx(degrees)
        assert noise.scale[t, 0] == pytest.approx(scale)
        assert noise.evidence[t, 0] == pytest.approx(total, abs=1e-12)
        square, counts = 0.0, bool(np.isfinite(y[t]) and t > 1)
        if counts:
            variance = found.variances[t, 0]
            total += student(degrees, scale=np.sqrt(scale * variance)).logpdf(found.errors[t, 0])
            square = found.errors[t, 0] ** 2 / variance
        told = innovations._FADING * told + counts
        degrees, power = innovations._DEGREES + told, innovations._FADING * power + square
    assert noise.evidence[-1, 0] == pytest.approx(total)
    left = noise.degrees[-1]
    assert noise.variance(COUNT)[0] == pytest.approx(noise.scale[-1, 0] * left / (left - 2))


def test_the_evidence_leaves_the_first_values_out():
    gain, design = gains(0.4), design_of(Seasons(), COUNT)
    y = np.random.default_rng(0).standard_normal(COUNT)
    y[1] = np.nan
    found = run(y, gain, design, np.empty(0))
    noise = ErrorScale.of(found, 3)  # known ones: 0, 2 and 3
    assert not noise.evidence[:5].any() and (noise.evidence[5:] != 0).all()
    np.testing.assert_array_equal(noise.degrees[:5], innovations._DEGREES)
    start = LevelState(*(part for part in vars(run(y, gain, design, [4]).states[4]).values()))
    rest = SmoothingDesign(design.rows[4:], design.shares[4:], design.seasons)
    again = ErrorScale.of(run(y[4:], gain, rest, np.empty(0), start), 0)
    np.testing.assert_allclose(noise.evidence[4:], again.evidence, atol=1e-12)


def test_forecasts_are_those_of_all_values_together(model, values):
    """Also with gaps: what the errors may have moved there is in the covariance."""
    gain, design, start = model
    cut = 12
    found = run(
        values[:cut],
        gain,
        SmoothingDesign(design.rows[:cut], design.shares[:cut], design.seasons),
        [cut],
        start,
    )
    mean, cov = ahead(found.states[cut], gain, design, design.rows[cut:], np.array([2.5]))
    middle, spread = joint(gain, design, start, noise=2.5)
    seen = np.isfinite(values) & (np.arange(COUNT) < cut)
    rest = seen | (np.arange(COUNT) >= cut)
    expected, within = conditional(
        middle[rest], spread[np.ix_(rest, rest)], seen[rest], values[rest]
    )
    np.testing.assert_allclose(mean[0], expected, atol=1e-9)
    np.testing.assert_allclose(cov[0], within, atol=1e-9)


def test_responses_are_what_an_error_does_later(model):
    gain, design, _ = model
    paths = value_map(gain, design)[:, design.size :]
    for t in (0, 1, 6):
        steps = COUNT - t
        found = innovations.responses(gain, design, steps)[0]
        np.testing.assert_allclose(found, paths[t:, t], atol=1e-12)


def test_many_models_at_once_are_each_alone(values):
    seasons = Seasons((4,), (0,))
    design = design_of(seasons, COUNT, 1)
    grid = Gains.grid(True)
    assert len(np.unique(np.array([*vars(grid).values()]).T, axis=0)) == len(grid)
    together = run(values, grid, design, [9])
    for b in (0, 7, len(grid) // 2, len(grid) - 1):
        alone = run(values, grid[np.array([b])], design, [9])
        np.testing.assert_allclose(together.errors[:, b], alone.errors[:, 0], atol=1e-6)
        np.testing.assert_allclose(together.states[9].mean[b], alone.states[9].mean[0], atol=1e-6)
    own = run(np.repeat(values[:, None], len(grid), axis=1), grid, design, [9])
    np.testing.assert_array_equal(own.errors, together.errors)


def test_a_run_goes_on_where_another_stopped(model, values):
    gain, design, start = model
    whole = run(values, gain, design, [COUNT], start)
    first = run(
        values[:8],
        gain,
        SmoothingDesign(design.rows[:8], design.shares[:8], design.seasons),
        [8],
        start,
    )
    rest = SmoothingDesign(design.rows[8:], design.shares[8:], design.seasons)
    second = run(values[8:], gain, rest, [COUNT - 8], first.states[8])
    for name in ("mean", "cov"):
        np.testing.assert_allclose(
            getattr(second.states[COUNT - 8], name), getattr(whole.states[COUNT], name), atol=1e-12
        )


def test_the_beginning_is_wide_where_models_have_something():
    design = design_of(Seasons((4,), (0,)), COUNT, 1)
    grid = Gains.grid(True)
    cov = innovations.beginning(grid, design).cov
    diagonal = np.einsum("bii->bi", cov)
    assert (diagonal[:, [0, 6]] == innovations._WIDE).all()
    assert ((diagonal[:, 1] > 0) == (grid.trend > 0)).all()
    assert ((diagonal[:, 2:6] > 0).all(axis=1) == grid.seasonal).all()
    np.testing.assert_allclose(cov[:, 2:6, 2:6].sum(axis=2), 0.0, atol=1e-6)  # seasons sum to 0


def test_a_sure_line_is_followed_from_its_first_values():
    """With wide beginnings, what models can represent is found exactly."""
    t = np.arange(24.0)
    y = 5.0 + 0.3 * t + np.array([1.0, -2.0, 0.5, 0.5])[np.arange(24) % 4]
    gain, seasons = gains(0.25, 0.02, 0.1, 1.0), Seasons((4,), (0,))
    design = SmoothingDesign.of(seasons, np.arange(24), np.empty((24, 0)))
    found = run(y[:16], gain, SmoothingDesign(design.rows[:16], design.shares[:16], seasons), [16])
    mean, _ = ahead(found.states[16], gain, design, design.rows[16:], np.ones(1))
    np.testing.assert_allclose(mean[0], y[16:], atol=1e-3)
