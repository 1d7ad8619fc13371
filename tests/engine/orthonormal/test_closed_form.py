"""The closed form for orthonormal designs, against brute force and the general solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import idct

from sparsebayes.engine import (
    Dense,
    Exact,
    Flat,
    Gaussian,
    Sequential,
    Smoothness,
    run,
)
from sparsebayes.engine.model.posterior import CREDIBLE
from sparsebayes.engine.orthonormal import closed_form
from sparsebayes.engine.orthonormal.log_bins import CHUNK, Bins, chunks, squares

N = 64
PHI = idct(np.eye(N), norm="ortho", axis=0)
COSTS = [0.0, 1.0, 0.5 * np.log(N), np.log(N), 7.3]  # flat, AIC, BIC, RIC, a number


def sparse_target(seed=0, noise=0.3):
    weights = np.zeros(N)
    weights[[1, 3, 4, 9, 20, 33]] = [5.0, -4.0, 3.0, 2.0, -6.0, 1.5]
    return PHI @ weights + noise * np.random.default_rng(seed).standard_normal(N)


def objective(x, c, variance):
    """The objective with every α at its best, at each of the variances; nothing of it cancels."""
    energy, v = np.square(x), np.asarray(variance, dtype=float)[:, None]
    kept = energy > v * (1.0 + 2.0 * c)
    gap = np.where(kept, energy - 2.0 * c * v, 1.0)
    terms = np.where(kept, 1.0 + 2.0 * c + np.log(gap), np.log(v) + energy / v)
    return -0.5 * (np.log(2.0 * np.pi) + terms).sum(axis=1)


def search(x, c, n_grid=20_000):
    """Local maxima over the noise on a fine grid: where, how high, and the grid's neighbours."""
    mean = np.mean(np.square(x))
    v = np.geomspace(1.0001 * closed_form.FLOOR * mean, 1.1 * np.max(np.square(x)), n_grid)
    values = objective(x, c, v)
    inner = values[1:-1]
    peak = 1 + np.flatnonzero((inner > values[:-2] + 1e-9) & (inner > values[2:] + 1e-9))
    return [(v[i], values[i], v[i - 1], v[i + 1]) for i in peak]


def two_scales():
    """Eight large coefficients, 60 of unit size and 100 that are small: signal or noise?"""
    rng = np.random.default_rng(1)
    return rng.standard_normal(168) * np.repeat([100.0, 1.0, 1e-3], [8, 60, 100])


def rough(seed):
    """Coefficients of many magnitudes, with many local maxima."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 100))
    x = rng.standard_normal(n) * 10.0 ** rng.uniform(-1.5, 1.5, n)
    return x, float(rng.choice([0.1, 1.0, 0.5 * np.log(n), np.log(n), 5.0]))


@pytest.mark.parametrize("c", COSTS)
def test_objective_is_the_best_over_all_precisions(c):
    x = PHI.T @ sparse_target()
    for variance in (1e-3, 0.02, 0.09, 1.0, 30.0):
        g = np.full(N, 1.0 / variance)
        gain = Smoothness(c).best_gain(g, x**2 * g**2, g)
        null = -0.5 * np.sum(np.log(2.0 * np.pi * variance) + x**2 / variance)
        point = closed_form.fit(x, c, variance).chosen
        assert_allclose(point.objective, null + gain.sum(), rtol=1e-7)
        assert_allclose(point.objective, objective(x, c, [variance])[0], rtol=1e-10)
        # And the precisions are those that have it.
        alpha = closed_form.precisions(x, c, variance)
        kept = np.isfinite(alpha)
        assert_allclose(alpha[kept], Smoothness(c).optimum(g, x**2 * g**2, g)[kept], rtol=1e-6)
        assert_array_equal(kept, gain > 0)
        assert point.n_active == kept.sum()
        assert_allclose(point.n_determined, np.sum(1.0 / (1.0 + alpha * variance)))
        mean = np.where(kept, x / (1.0 + alpha * variance), 0.0)
        assert_allclose(closed_form.shrink(x, c, variance), mean, rtol=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize("c", COSTS)
@pytest.mark.parametrize("noise", [0.05, 0.09, None])
def test_the_sequential_solver_ends_there(c, noise):
    y = sparse_target()
    prior = Smoothness(c) if c else Flat()
    problem = Exact(Dense(PHI), prior, Gaussian(y, np.ones(N), noise))
    rng = np.random.default_rng(0)
    solution = run(Sequential(), problem, max_iter=10_000, tol=1e-9, rng=rng)
    found = closed_form.fit(PHI.T @ y, c, noise)
    if c == 0.0 and noise is None:  # both say that the noise collapses
        assert found.collapsed and not solution.stop.converged
        return
    state = solution.state
    assert solution.stop.converged and not found.collapsed
    assert_allclose(1.0 / state.beta, found.chosen.variance, rtol=1e-6)
    assert_allclose(state.objective, found.chosen.objective, atol=1e-6)
    assert_allclose(state.evidence, found.chosen.objective + c * found.chosen.n_determined)
    mean, alpha = np.zeros(N), np.full(N, np.inf)
    mean[state.active], alpha[state.active] = state.mean, state.alpha
    variance = found.chosen.variance
    assert_allclose(mean, closed_form.shrink(PHI.T @ y, c, variance), atol=1e-6)
    expected = closed_form.precisions(PHI.T @ y, c, variance)
    assert_allclose(1.0 / alpha, 1.0 / expected, atol=1e-6)


def test_evidence_is_that_of_the_dense_covariance():
    y, c = sparse_target(), 2.0
    point = closed_form.fit(PHI.T @ y, c, None).chosen
    alpha = closed_form.precisions(PHI.T @ y, c, point.variance)
    cov = point.variance * np.eye(N) + (PHI / alpha) @ PHI.T
    _, log_det = np.linalg.slogdet(cov)
    evidence = -0.5 * (N * np.log(2 * np.pi) + log_det + y @ np.linalg.solve(cov, y))
    assert_allclose(point.objective + c * point.n_determined, evidence)


@pytest.mark.parametrize("c", COSTS[1:])
def test_all_local_maxima_are_found(c):
    x = two_scales()
    found = closed_form.fit(x, c, None)
    peaks = search(x, c)
    assert len(peaks) == len(found.maxima)
    for variance, value, below, above in peaks:
        best = [m for m in found.maxima if below <= m.variance <= above]
        assert len(best) == 1 and best[0].objective >= value - 1e-5
        assert abs(best[0].variance / variance - 1.0) < 0.01
    objectives = [m.objective for m in found.maxima]
    assert objectives == sorted(objectives, reverse=True)
    assert found.chosen is found.maxima[0]


def test_there_can_be_several():
    # With a high price the unit coefficients are signal at one maximum and noise at another.
    found = closed_form.fit(two_scales(), 5.0, None)
    low, high = found.maxima[0], found.maxima[-1]
    assert len(found.maxima) >= 2
    assert low.variance < 1e-4 and low.n_active > 55
    assert 0.02 < high.variance < 1.5 and high.n_active < 40
    # The higher of the two is chosen, whichever it is: with more small ones less stands out.
    x = two_scales()
    x[68:] *= 300.0
    other = closed_form.fit(x, 5.0, None)
    assert other.chosen.variance > 1e-3


def test_all_local_maxima_are_found_in_rough_landscapes():
    total = 0
    for seed in range(60):
        x, c = rough(seed)
        maxima = closed_form.fit(x, c, None).maxima
        for _, value, below, above in search(x, c, 8000):
            near = [m for m in maxima if below * (1 - 1e-9) <= m.variance <= above * (1 + 1e-9)]
            assert near, (seed, value)
            total += 1
    assert total > 60


@pytest.mark.parametrize("seed", range(8))
def test_maxima_are_maxima(seed):
    x, c = rough(seed)
    found = closed_form.fit(x, c, None)
    floor = closed_form.FLOOR * np.mean(x**2)
    for maximum in found.maxima:
        v = maximum.variance * np.array([1 - 1e-4, 1.0, 1 + 1e-4])
        values = objective(x, c, v)
        assert_allclose(maximum.objective, values[1], rtol=1e-7)
        assert values[1] >= values[2] - 1e-10
        assert values[1] >= values[0] - 1e-10 or maximum.variance <= 1.1 * floor


@pytest.mark.parametrize(("size", "least"), [(99, 4e-5), (3000, 3e-5)])
def test_noise_near_the_floor(size, least):
    # A third of the energies is near 1e-10 of their mean, some are below.
    rng = np.random.default_rng(0)
    x = rng.standard_normal(size) * rng.choice([1.0, 0.2], size)
    x *= np.repeat([least, 1.0, 3.0], size // 3)
    found = closed_form.fit(x, 3.0, None)
    peaks = search(x, 3.0, 1000)
    assert len(peaks) >= 1
    for variance, *_ in peaks:
        assert min(abs(m.variance / variance - 1.0) for m in found.maxima) < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_the_flat_prior_collapses(seed):
    # Its objective only falls with σ²: the supremum is at no noise, where everything is kept.
    x = PHI.T @ sparse_target(seed)
    values = objective(x, 0.0, np.geomspace(1e-8, 1e3, 2000))
    assert np.all(np.diff(values) <= 1e-9)
    found = closed_form.fit(x, 0.0, None)
    assert found.collapsed and found.maxima == ()
    assert found.chosen.n_active >= N - 1
    assert found.chosen.variance <= np.min(x**2) * (1 + 1e-12)
    # S08's prior of the smallest price that helps does not.
    assert not closed_form.fit(x, 1.0, None).collapsed


def test_a_given_noise_never_collapses():
    found = closed_form.fit(PHI.T @ sparse_target(), 0.0, 1e-12)
    assert not found.collapsed and found.chosen.n_active == N
    assert found.maxima == (found.chosen,) and found.chosen.variance == 1e-12


def test_a_maximum_that_keeps_nearly_everything_is_passed_over():
    # More than three quarters of the samples as parameters leave nothing to learn the noise from.
    rng = np.random.default_rng(3)
    x = np.concatenate([10.0 + rng.uniform(size=85), 1e-3 * rng.standard_normal(15)])
    found = closed_form.fit(x, 1.0, None)
    highest = found.maxima[0]
    assert highest.n_determined > CREDIBLE * x.size
    assert found.collapsed or found.chosen.n_determined <= CREDIBLE * x.size


@pytest.mark.parametrize("c", COSTS[1:])
@pytest.mark.parametrize("size", [1025, 2500, 2 * CHUNK + 17])
def test_bins_change_nothing(c, size, monkeypatch):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(size) * np.where(rng.uniform(size=size) < 0.03, 20.0, 0.5)
    binned = closed_form.fit(x, c, None)
    if size > CHUNK:  # the exact search would take N² steps
        near = binned.chosen.variance * np.array([1 - 1e-4, 1.0, 1 + 1e-4])
        values = objective(x, c, near)
        assert values[1] >= values.max()
        return
    monkeypatch.setattr(closed_form, "_EXACT", 10**9)
    exact = closed_form.fit(x, c, None)
    assert_allclose(binned.chosen.variance, exact.chosen.variance, rtol=1e-10)
    assert_allclose(binned.chosen.objective, exact.chosen.objective, rtol=1e-12)
    assert binned.chosen.n_active == exact.chosen.n_active


@pytest.mark.parametrize("variance", [None, 0.5])
def test_nothing_there(variance):
    for shape in ((1,), (8,), (3, 4)):
        zeros = np.zeros(shape)
        found = closed_form.fit(zeros, 1.0, variance)
        assert found.chosen.n_active == 0 and not found.collapsed
        assert found.chosen.variance == (variance or 0.0)
        assert_array_equal(closed_form.shrink(zeros, 1.0, found.chosen.variance), zeros)
        assert np.isinf(closed_form.precisions(zeros, 1.0, found.chosen.variance)).all()


def test_one_coefficient_among_zeros():
    x = np.zeros(50)
    x[7] = 3.0
    found = closed_form.fit(x, 2.0, None)
    assert found.chosen.n_active == 1
    assert_allclose(closed_form.shrink(x, 2.0, found.chosen.variance), x, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-50, 1e-3, 1e4, 1e50])
def test_scale(scale):
    x = PHI.T @ sparse_target()
    base, other = (closed_form.fit(k * x, 2.0, None) for k in (1.0, scale))
    assert_allclose(other.chosen.variance, scale**2 * base.chosen.variance, rtol=1e-9)
    assert_allclose(other.chosen.objective, base.chosen.objective - N * np.log(scale), rtol=1e-9)
    assert other.chosen.n_active == base.chosen.n_active


def test_shape_order_and_precision_do_not_matter():
    x = PHI.T @ sparse_target()
    base = closed_form.fit(x, 2.0, None).chosen
    mixed = np.random.default_rng(0).permutation(x).reshape(4, 16)
    assert_allclose(closed_form.fit(mixed, 2.0, None).chosen.variance, base.variance)
    single = x.astype(np.float32)
    assert_allclose(closed_form.fit(single, 2.0, None).chosen.variance, base.variance, rtol=1e-5)
    shrunk = closed_form.shrink(single, 2.0, base.variance)
    assert shrunk.dtype == np.float32
    assert_allclose(shrunk, closed_form.shrink(x, 2.0, base.variance), atol=1e-5)


def test_memory_order_does_not_matter():
    x = (PHI.T @ sparse_target()).reshape(8, 8)
    shrunk = closed_form.shrink(np.asfortranarray(x), 2.0, 0.09)
    assert_array_equal(shrunk, closed_form.shrink(x, 2.0, 0.09))


def test_bins():
    bins = Bins(2.0**-10, bits=3)
    values = np.geomspace(1e-9, 1e9, 5000)
    index = bins.index(values)
    lower = bins.lower(int(index.max()) + 2)
    raised = np.maximum(values, 2.0**-10)
    assert np.all((lower[index] <= raised) & (raised < lower[index + 1]))
    assert_allclose(lower[8:] / lower[:-8], 2.0)
    levels, counts = bins.levels(values[part] for part in chunks(values.size))
    assert counts.sum() == 5000 and np.all(np.diff(levels) > 0)
    assert_allclose(levels[1:] @ counts[1:], values[index > 0].sum())


def test_chunks():
    flat = np.random.default_rng(0).standard_normal(2 * CHUNK + 3).astype(np.float32)
    parts = list(squares(flat))
    assert len(parts) == 3 and all(part.dtype == np.float64 for part in parts)
    assert_array_equal(np.concatenate(parts), flat.astype(float) ** 2)
