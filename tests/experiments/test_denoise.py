"""The experiments on dictionaries and smoothness priors, their parts and small runs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.__main__ import main
from experiments.schmolck2008 import (
    dictionaries,
    local_minima,
    mcmc,
    one_function,
    polynomials,
    separation,
    table,
)
from experiments.schmolck2008._climber import Unscaled, View, climb
from experiments.schmolck2008._data import clean, noisy, samples
from sparsebayes import denoise
from sparsebayes.dictionaries import Kernel, Wavelet
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Smoothness
from tests.experiments import records


def small_run(name, folder, repetitions):
    pytest.importorskip("matplotlib")
    assert main([name, "--repetitions", str(repetitions), "--results", str(folder)]) == 0
    for path in folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    return records.table(folder, name)


def problem_of(dictionary, y, prior):
    transform = dictionary.bind((y.size,))
    columns = transform.synthesise(np.eye(y.size)).T.copy()
    return Exact(Dense(columns), prior, Gaussian(y, np.ones(y.size))), columns


def centred_sinc(n=64, seed=0):
    y = noisy(clean("sinc", n), 5.0, np.random.default_rng(seed))
    return y - y.mean()


@pytest.mark.parametrize(
    ("name", "snr", "variance"), [("bumps", 2, 0.119), ("bumps", 7, 0.010), ("sinc", 2, 0.031)]
)
def test_noise_has_exactly_the_printed_variance(name, snr, variance):
    f = clean(name, 128)
    noise = noisy(f, snr, np.random.default_rng(0)) - f
    assert round(noise.var(ddof=1), 3) == variance
    assert_allclose(f.std(ddof=1) / noise.std(ddof=1), snr)


def test_width_in_samples_is_the_papers_kernel():
    x = np.linspace(-10, 10, 65)
    columns = Kernel("rbf", samples(3.0 / np.sqrt(2), 65)).bind((65,)).synthesise(np.eye(65))
    assert_allclose(columns, np.exp(-(np.subtract.outer(x, x) ** 2) / 9), atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_random_order_ends_at_the_closed_form_with_wavelets(seed):
    y = centred_sinc()
    problem, columns = problem_of(Wavelet("sym8"), y, Smoothness(0.5 * np.log(64)))
    found = climb(problem, columns.T @ columns, np.random.default_rng(seed))
    closed = denoise(y, "sym8", method="sparse", prior="bic")
    assert found.converged
    assert set(found.state.active) == set(np.flatnonzero(np.isfinite(closed.alpha)))
    assert_allclose(1 / found.state.beta, closed.noise_variance, rtol=1e-4)
    assert_allclose(columns[:, found.state.active] @ found.state.mean, closed.signal, atol=1e-4)


@pytest.mark.parametrize("prior", [Flat(), Smoothness(2.0), Unscaled(2.0)])
def test_random_order_ends_where_no_precision_gains(prior):
    problem, columns = problem_of(Kernel("rbf", 5.0), centred_sinc(), prior)
    found = climb(problem, columns.T @ columns, np.random.default_rng(0))
    state = found.state
    assert found.converged and state.active.size > 2
    for i in range(state.active.size):
        for factor in (0.9, 1.1):
            alpha = state.alpha.copy()
            alpha[i] *= factor
            assert problem.move(state, alpha, state.beta).objective < state.objective
    for outside in np.setdiff1d(np.arange(64), state.active)[::7]:
        for alpha in state.scale.mean() * 10.0 ** np.arange(-6, 3):
            grown = problem.grow(state, np.array([outside]), np.array([alpha]))
            assert grown is None or grown.objective < state.objective + 1e-6


def test_a_longer_look_before_the_end_changes_no_optimum():
    # S08 2.6.4: the noise must be stable over several estimates.
    problem, columns = problem_of(Kernel("linear_spline", 9.0), centred_sinc(), Smoothness(2.0))
    first, second = (
        climb(problem, columns.T @ columns, np.random.default_rng(1), stable=stable)
        for stable in (1, 5)
    )
    assert first.converged and second.converged and second.steps >= first.steps + 20
    assert set(first.state.active) == set(second.state.active)
    assert second.state.objective >= first.state.objective - 1e-9


def test_line_11_takes_in_what_is_better_left_out():
    # Two turning points, the maximum below 0: S08 Fig. 2.11, bottom right.
    s, ratio, c = one_function.SHOWN[3]
    parts = [np.array([value]) for value in (s, ratio * s, 1.0)]
    index, inside = np.array([0]), np.zeros(1, dtype=bool)
    wanted = [
        View(*parts, inside, Smoothness(c), eager).wanted(index)[0] for eager in (False, True)
    ]
    assert np.isinf(wanted[0])
    assert_allclose(wanted[1], one_function.turning_points(s, ratio * s, c)[0])


def test_random_order_ends_with_nothing_where_there_is_nothing():
    y = noisy(clean("sinc", 64), 0.01, np.random.default_rng(3))
    problem, columns = problem_of(Kernel("linear_spline", 9.0), y - y.mean(), Smoothness(50.0))
    found = climb(problem, columns.T @ columns, np.random.default_rng(0))
    assert found.converged and found.state.active.size == 0


def test_price_as_printed_is_ours_for_functions_of_unit_norm_only():
    y = centred_sinc()
    alpha = np.array([3.0, 20.0])
    for dictionary, same in ((Wavelet("sym8"), True), (Kernel("rbf", 5.0), False)):
        states = [
            problem_of(dictionary, y, prior)[0].evaluate(np.array([3, 9]), alpha, 50.0)
            for prior in (Smoothness(2.0), Unscaled(2.0))
        ]
        assert np.isclose(states[0].objective, states[1].objective) == same


def test_entry_is_met_within_two_spreads_or_a_tenth():
    assert table.met(5.9, (5.0, 0.5)) and not table.met(6.1, (5.0, 0.5))
    assert table.met(109.0, (100.0, 0.1)) and not table.met(111.0, (100.0, 0.1))


@pytest.mark.slow
def test_table_of_small_blocks(tmp_path, monkeypatch):
    sinc = [block for block in table.BLOCKS if block.signal == "sinc"]
    printed = replace(sinc[1], rows=sinc[1].rows[2:3])
    monkeypatch.setattr(table, "BLOCKS", (printed, sinc[2]))
    rows = small_run("schmolck2008.table", tmp_path / "r", 3)
    assert rows["Sinc SNR 2, symmlet, None: S"][1:3] == ("127 ± 0.05", "127.0")
    assert rows["Sinc SNR 2, symmlet, None: S"][5] == "agrees"
    kept = [float(rows[f"Sinc SNR 2, symmlet, {p}: S"][2]) for p in ("AIC", "BIC", "RIC")]
    assert 60 > kept[0] > kept[1] > kept[2] > 2
    printed = rows["Sinc SNR 2, gauss 3.0 as printed, BIC: S"]
    assert float(printed[2]) < 10 and not printed[5]  # no part of the verdict
    assert rows["Sinc SNR 2, symmlet, BIC: MSE"][4] == "3"


def test_turning_points_are_where_the_posterior_turns():
    alpha = np.exp(np.linspace(-12, 12, 200_001))
    for (s, ratio, c), kind in zip(one_function.SHOWN, one_function.KINDS, strict=True):
        values = one_function.log_posterior(alpha, s, ratio * s, c)
        turns = np.flatnonzero(np.diff(np.sign(np.diff(values))) != 0) + 1
        found = one_function.turning_points(s, ratio * s, c)
        assert_allclose(alpha[turns], found, rtol=1e-3)
        assert one_function.judge(s, ratio * s, c).kind == kind


@pytest.mark.slow
def test_one_function_with_each_prior(tmp_path, monkeypatch):
    monkeypatch.setattr(one_function, "CASES", 100)
    rows = small_run("schmolck2008.one_function", tmp_path / "r", 1)
    verdicts = [row[5] for row in rows.values() if row[5]]
    assert len(verdicts) == 7 and set(verdicts) == {"agrees"}
    assert_allclose(float(rows["α of the gamma prior, on a grid"][2]), 0.2148, rtol=1e-3)
    assert len(list((tmp_path / "r").glob("*.png"))) == 2


def test_polynomials_are_fitted_by_least_squares_and_by_ridge():
    x = np.linspace(-1, 1, 20)
    t = np.cos(3 * x) + 0.1 * np.sin(40 * x)
    assert_allclose(polynomials.fitted(x, t, x, 20), t, atol=1e-6)
    columns = polynomials.powers(x, 6)
    weights = np.linalg.solve(columns.T @ columns + 0.23 * np.eye(6), columns.T @ t)
    assert_allclose(polynomials.fitted(x, t, x, 6, 0.23), columns @ weights, rtol=1e-9)
    wide = polynomials.powers(3 * x, 6)
    weights = np.linalg.solve(wide.T @ wide + 0.23 * np.eye(6), wide.T @ t)
    assert_allclose(polynomials.fitted(x, t, x, 6, 0.23, 3.0), wide @ weights, rtol=1e-7)


@pytest.mark.slow
def test_polynomials_of_few_draws(tmp_path):
    rows = small_run("schmolck2008.polynomials", tmp_path / "r", 3)
    three, nine, twenty = (float(rows[f"M = {m}: median MSE"][2]) for m in polynomials.NUMBERS)
    assert nine < 0.5 * three < twenty
    assert float(rows["M = 20, α = 0, x from −1 to 1: median MSE"][2]) == twenty
    assert (tmp_path / "r" / "schmolck2008.polynomials.png").exists()


def test_gcv_is_least_at_the_chosen_threshold():
    y = centred_sinc()
    dictionary = Wavelet("sym8")
    transform = dictionary.bind(y.shape)
    before = transform.analyse(y)

    def gcv(estimate, kept):  # S08 (2.30)
        return np.mean((y - estimate) ** 2) / (1 - kept / y.size) ** 2

    values = []
    for limit in np.sort(np.abs(before))[:-1]:
        kept = np.where(np.abs(before) > limit, before, 0.0)
        values.append(gcv(transform.synthesise(kept), np.count_nonzero(kept)))
    estimate = dictionaries.generalised(y, dictionary)
    kept = np.count_nonzero(np.abs(transform.analyse(estimate)) > 1e-12)
    assert_allclose(gcv(estimate, kept), min(values), rtol=1e-9)


@pytest.mark.parametrize("name", ["cross-validation", "GCV, soft", "universal"])
def test_thresholds_remove_noise(name):
    f = clean("doppler", 1024)  # GCV is for long signals
    y = noisy(f, 7.0, np.random.default_rng(0))
    error = np.mean((dictionaries.CHOICES[name](y, Wavelet("sym8")) - f) ** 2)
    assert error < 0.9 * np.mean((y - f) ** 2)


@pytest.mark.slow
def test_dictionaries_of_one_draw(tmp_path, monkeypatch):
    doppler = tuple(replace(case, n=256) for case in dictionaries.DOPPLER)
    monkeypatch.setattr(dictionaries, "DOPPLER", doppler)
    monkeypatch.setattr(dictionaries, "CASES", (*dictionaries.SMALL, *doppler))
    rows = small_run("schmolck2008.dictionaries", tmp_path / "r", 1)
    error = {name: float(row[2]) for name, row in rows.items() if name.endswith("MSE")}
    assert error["Sinc, symmlet, BIC: MSE"] < 0.5 * error["Sinc, symmlet, None: MSE"]
    assert error["Bumps, symmlet, None: MSE"] < 0.1 * error["Bumps, lspline 3.0, None: MSE"]
    assert error["Doppler, symmlet, BIC: MSE"] < error["Doppler, gauss 0.5, None: MSE"]
    assert len(list((tmp_path / "r").glob("*.png"))) == 4


def test_share_is_that_of_the_energy():
    assert separation.share(np.array([3.0, 0.0]), np.array([0.0, -1.0])) == 0.9


def test_noise_is_smoothed_as_the_samples_are(monkeypatch):
    monkeypatch.setattr(separation, "N", 128)
    case = separation.CASES[separation.UNION]
    (y, f), found = separation.drawn(0, 0), separation.fit(case, 0, 0)
    phi = separation.columns(case.dictionary())
    weights = separation.smoothed(found, phi, y - y.mean())
    assert_allclose(phi @ weights + y.mean(), found.signal, atol=1e-6)
    inside = separation.noise_in_haar(found, case.dictionary(), y - f)
    assert all(0 <= value <= 1 for value in inside)


@pytest.mark.slow
def test_separation_of_a_short_signal(tmp_path, monkeypatch):
    monkeypatch.setattr(separation, "N", 256)
    rows = small_run("schmolck2008.separation", tmp_path / "r", 1)
    ours = {name: float(row[2]) for name, row in rows.items() if row[1] != "holds"}
    union, alone = "Haar + tpspline, RIC", "tpspline, RIC"
    assert ours[f"{union}, our solver: MSE"] < 0.5 * ours[f"{alone}, our solver: MSE"]
    assert ours[f"{union}, as printed: S"] < ours["Haar + tpspline, None: S"]
    assert all(0.5 < ours[f"{union}: {name}"] <= 1 for name in separation.SHARES)
    assert len(list((tmp_path / "r").glob("*.png"))) == 2


@pytest.mark.slow
def test_local_minima_of_few_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(local_minima, "SETTINGS", local_minima.SETTINGS[:2])
    rows = small_run("schmolck2008.local_minima", tmp_path / "r", 4)
    wavelets, splines = "Sinc, symmlet, BIC", "Sinc, lspline, BIC"
    assert rows[f"{wavelets}: distinct"][2] == rows[f"{wavelets}: our solver, distinct"][2] == "1"
    assert int(rows[f"{splines}: distinct"][2]) > 1
    assert abs(float(rows[f"{wavelets}: our solver, objective"][2])) < 1e-6


@pytest.mark.slow
def test_chains_of_one_sampler():
    pytest.importorskip("arviz")
    labels = [sampler.label for sampler in mcmc.CASES[0][2]]
    found = mcmc.sample(0, labels.index("RJ, one α"), 0, True)
    assert found.curves.shape == (mcmc.CHAINS, 64) and found.log_alpha.shape[1] == 64
    assert 0.9 < found.r_hat <= found.r_hat_all and 0 < found.error < 0.1
