"""Missing samples with the default: what fills them, its band, and what is around them."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import denoise
from sparsebayes.datasets import make_signal
from sparsebayes.denoising.gaps.begin import begin
from sparsebayes.denoising.gaps.smoothers import LaplacianSmoother, Smoother, roughness
from sparsebayes.denoising.gaps.stretches import Gap, gaps_of, hidden, windows


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def within(found, truth):
    return np.abs(found.signal - truth) <= 1.96 * found.std


def with_gap(name, n, start, length, seed):
    _, y, f = make_signal(name, n, snr=7, random_state=seed)
    gap = np.arange(n)[start : start + length]
    whole = y.copy()
    y[gap] = np.nan
    return whole, y, f, gap


@pytest.mark.slow
@pytest.mark.parametrize("length", [5, 20])
def test_bands_cover_in_gaps_and_are_as_wide_as_the_errors(length):
    covered, errors, variances, spreads = [], [], [], []
    for name, start in product(("sinc", "heavisine", "blocks", "bumps"), (60, 150)):
        _, y, f, gap = with_gap(name, 256, start, length, 1)
        found = denoise(y)
        assert found.method == "average"
        covered.append(within(found, f)[gap].mean())
        errors.append(np.mean((found.signal - f)[gap] ** 2) / f.var())
        variances.append(np.mean(found.std[gap] ** 2) / f.var())
        spreads.append(found.std[gap].mean() / f.std())
    assert np.mean(covered) >= 0.85
    assert 0.5 < np.sqrt(np.mean(variances) / np.mean(errors)) < 3.0
    assert np.mean(spreads) < 1.0


@pytest.mark.slow
def test_outside_gaps_it_is_the_average():
    whole, y, f, _ = with_gap("heavisine", 256, 100, 10, 0)
    seen = ~np.isnan(y)
    found, other = denoise(y), denoise(whole)
    assert rms((found.signal - f)[seen]) < 1.15 * rms((other.signal - f)[seen])
    assert_allclose(found.noise_variance, other.noise_variance, rtol=0.15)
    # The sequential solver leaves more noise.
    assert rms((found.signal - f)[seen]) < rms((denoise(y, method="sparse").signal - f)[seen])
    assert found.fits[0].n_seen == 246


@pytest.mark.slow
def test_it_is_better_than_the_sequential_fit_in_gaps():
    ratios = []
    for name, start in product(("sinc", "blocks", "bumps", "heavisine"), (60, 150)):
        _, y, f, gap = with_gap(name, 256, start, 20, 2)
        new, old = denoise(y), denoise(y, method="sparse")
        ratios.append(rms((new.signal - f)[gap]) / rms((old.signal - f)[gap]))
    assert np.exp(np.mean(np.log(ratios))) < 0.9


@pytest.mark.slow
def test_scattered_samples():
    _, y, f = make_signal("doppler", 512, snr=7, random_state=3)
    missing = np.random.default_rng(0).uniform(size=512) < 0.1
    found = denoise(np.where(missing, np.nan, y))
    assert found.method == "average"
    assert within(found, f)[missing].mean() > 0.85 and within(found, f)[~missing].mean() > 0.9
    assert np.median(found.std[missing]) < 0.5 * f.std()


@pytest.mark.sampled
@pytest.mark.parametrize("gap", [slice(None, 12), slice(-12, None)], ids=["first", "last"])
def test_ends(gap):
    t = np.arange(300)
    f = np.sin(t / 25.0)
    y = f + 0.1 * np.random.default_rng(0).standard_normal(300)
    y[gap] = np.nan
    found = denoise(y)
    assert rms((found.signal - f)[gap]) < 0.5  # nothing runs away
    assert within(found, f)[gap].mean() > 0.8
    near, far = (found.std[gap][[0, -1]])[:: -1 if gap.start is None else 1]
    assert far > near  # it grows away from the samples


def test_parts_and_coefficients_make_the_signal():
    _, y, _, _ = with_gap("blocks", 256, 60, 10, 0)
    found = denoise(y)
    mean = np.nanmean(y)
    assert_allclose(found.offset, mean)
    assert_allclose(found.parts[0] + mean, found.signal, atol=1e-10)
    assert_allclose(found.reconstruct(slice(None)) + mean, found.signal, atol=1e-10)
    assert_allclose(found.fits[0].transform.synthesise(found.coefficients) + mean, found.signal)


@pytest.mark.slow
def test_images_with_a_block_and_with_pixels_missing():
    rows, columns = np.mgrid[:64, :64] / 64.0
    f = 10.0 * np.sin(3 * rows + 2 * columns) + 5.0 * (columns > 0.5)
    rng = np.random.default_rng(0)
    y = f + rng.standard_normal(f.shape)
    block, scattered = np.zeros(f.shape, dtype=bool), rng.uniform(size=f.shape) < 0.1
    block[20:28, 10:18] = True
    for missing in (block, scattered):
        found = denoise(np.where(missing, np.nan, y))
        assert found.method == "average" and np.isfinite(found.std).all()
        assert within(found, f)[missing].mean() > 0.85
        assert found.std[missing].mean() < f.std()
        assert rms((found.signal - f)[missing]) < 2.0


def test_some_signals_with_gaps():
    _, y, _, _ = with_gap("sinc", 128, 30, 6, 0)
    whole = make_signal("sinc", 128, snr=7, random_state=5)[1]
    found = denoise([y, whole], "sym8", axes=1)
    assert_allclose(found.signal[0], denoise(y, "sym8").signal)
    assert_allclose(found.signal[1], denoise(whole, "sym8").signal)


def test_long_signals_are_looked_at_around_their_gaps():
    seen = np.ones(100_000, dtype=bool)
    seen[1000:1040] = seen[1200:1203] = seen[50_000:50_005] = False
    assert windows(seen) == [(488, 1715), (49_488, 50_517)]
    assert gaps_of(seen) == [Gap(1000, 1040), Gap(1200, 1203), Gap(50_000, 50_005)]
    assert gaps_of(~np.eye(1, 4, 0, dtype=bool)[0]) == [Gap(0, 1)]


def test_hidden_stretches_have_the_length_and_were_seen():
    seen = np.ones(200, dtype=bool)
    seen[50:60] = False
    rounds = hidden(seen, 10, 18)
    starts = np.concatenate(rounds)
    assert len(rounds) == 4 and starts.min() >= 0 and starts.max() <= 190
    for some in rounds:
        assert np.diff(some).min() >= 28
        assert all(seen[start : start + 10].all() for start in some)


@pytest.mark.parametrize("cuts", [None, np.array([25])])
def test_a_smoother_is_a_posterior_mean(cuts):
    rng = np.random.default_rng(0)
    y, seen = rng.standard_normal(40), rng.uniform(size=40) < 0.8
    taps, noise, scale = np.array([1.0, -1.5, 0.6]), 0.3, 0.2
    rows = np.zeros((38, 40))
    for row in range(38):
        rows[row, row : row + 3] = taps[::-1]
    if cuts is not None:
        rows = np.delete(rows, [23, 24], axis=0)  # those that join samples 23 and 24 with 25, 26
    precision = rows.T @ rows / scale + np.diag(seen / noise)
    expected = np.linalg.solve(precision, np.where(seen, y, 0.0) / noise)
    assert_allclose(Smoother(taps, scale).smooth(y, seen, noise, cuts), expected, rtol=1e-4)


def test_a_smoother_of_arrays_is_a_posterior_mean():
    rng = np.random.default_rng(0)
    y, seen = rng.standard_normal((6, 7)), rng.uniform(size=(6, 7)) < 0.8
    steps = np.diff(np.eye(6), axis=0), np.diff(np.eye(7), axis=0)
    laplacian = np.kron(steps[0].T @ steps[0], np.eye(7)) + np.kron(
        np.eye(6), steps[1].T @ steps[1]
    )
    assert_allclose(
        np.sort(np.linalg.eigvalsh(laplacian)), np.sort(roughness((6, 7)).ravel()), atol=1e-10
    )
    precision = laplacian @ laplacian / 0.2 + np.diag(seen.ravel() / 0.3)
    expected = np.linalg.solve(precision, np.where(seen, y, 0.0).ravel() / 0.3)
    found = LaplacianSmoother(2, 0.2).smooth(y, seen, 0.3)
    assert_allclose(found.ravel(), expected, atol=2e-3)


def test_what_fills_gaps_has_noise_as_elsewhere():
    rng = np.random.default_rng(0)
    y, seen = 2.0 * rng.standard_normal(4000), rng.uniform(size=4000) < 0.8
    begun = begin(y[seen], seen, None)
    assert_array_equal(begun.values[seen], y[seen])
    assert_allclose(begun.noise, 4.0, rtol=0.15)
    assert_allclose(begin(y[seen], seen, 9.0).values[~seen].std(), 3.2, rtol=0.15)
