"""The toy problems, schedules and paths of QC04, on small data."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import RBF

from experiments.__main__ import main
from experiments._report import Report
from experiments.quinonero2004 import (
    _schedule,
    _ssem,
    adaptive_widths,
    local_minima,
    noisy_inputs,
    subspace_kin40k,
    subspace_mackey_glass,
    toy,
)
from tests.experiments.records import numbers, table


def images(folder):
    return {path.name for path in folder.glob("*.png")}


def test_evidence_of_a_ridge_is_that_of_a_normal_distribution():
    rng = np.random.default_rng(0)
    columns, y = rng.standard_normal((8, 8)), rng.standard_normal(8)
    outer, log = columns @ columns.T, np.log([0.3, 0.2])
    value, slope = toy.negative_evidence(log, outer, y)
    cov = 0.2 * np.eye(8) + 0.3 * outer
    assert value == pytest.approx(-multivariate_normal(np.zeros(8), cov).logpdf(y))
    error = check_grad(
        lambda p: toy.negative_evidence(p, outer, y)[0],
        lambda p: toy.negative_evidence(p, outer, y)[1],
        log,
    )
    assert error < 1e-5 * np.linalg.norm(slope)


def test_a_printed_number_has_as_many_beyond_it_as_are_on_its_rarer_side():
    ours = np.array([1.0, 2.0, 3.0, 4.0])
    assert [toy.rarer(ours, at).sum() for at in (0.5, 1.0, 2.2, 3.5, 5.0)] == [0, 1, 2, 1, 0]


@pytest.mark.slow
def test_toy_figures_of_few_draws(tmp_path):
    pytest.importorskip("matplotlib")
    name = "quinonero2004.toy"
    assert main([name, "--quick", "--repetitions", "2", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    assert rows["variance of the weights, median of the draws"][1] == "0.0633, one draw"
    assert rows["RVM*: more certain at the vectors, on all draws"][2] == "holds"
    assert images(tmp_path) == {f"{name}_{end}.png" for end in ("fig2_1", "fig2_9")}


@pytest.mark.slow
def test_local_minima_of_few_starts(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(local_minima, "N_STARTS", 4)
    name = "quinonero2004.local_minima"
    assert main([name, "--repetitions", "1", "--results", str(tmp_path)]) == 0
    ours = numbers(tmp_path, name)
    assert ours["test MSE of the lowest L over the least"] >= 1
    low, best = (ours[f"first draw, {end}: L"] for end in ("lowest L", "best test error"))
    assert low <= best
    assert images(tmp_path) == {f"{name}_{end}.png" for end in ("fig2_2", "fig2_3")}


def test_relation_of_equal_numbers_is_none():
    assert local_minima.related([1.0, 1.0], [1.0, 2.0]) == 0
    assert local_minima.related([1.0, 2.0, 3.0], [9.0, 4.0, 1.0]) == pytest.approx(-1)


@pytest.fixture
def bumps():
    """Gaussian functions at the samples of a noisy sine, and its values."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 50)
    return np.exp(-(np.subtract.outer(x, x) ** 2)), np.sin(x) + 0.1 * rng.standard_normal(50)


def test_a_step_as_printed_moves_by_12(bumps):
    columns, y = bumps
    machine = _ssem.Machine(columns, y)
    machine.let_in(np.arange(50))
    alpha, beta = machine.alpha, machine.beta
    machine.step()
    covariance = np.linalg.inv(beta * columns.T @ columns + np.diag(alpha))
    mean = beta * covariance @ columns.T @ y
    determined = 1 - alpha * np.diag(covariance)
    assert machine.alpha == pytest.approx(determined / mean**2, rel=1e-6)
    misfit = np.sum((y - columns @ mean) ** 2)
    assert machine.beta == pytest.approx((50 - determined.sum()) / misfit, rel=1e-9)


def test_functions_as_printed_leave_at_the_limit_of_alpha(bumps, monkeypatch):
    monkeypatch.setattr(_ssem, "LARGEST", 1e3)
    *_, state = _ssem.batch(*bumps)
    assert 0 < state.active.size < 50
    assert state.alpha.max() < 1e3


def test_both_algorithms_as_printed_end_alike(bumps):
    columns, y = bumps
    *_, whole = _ssem.batch(columns, y)
    *_, grown = _ssem.ssem(columns, y, np.random.default_rng(0))
    assert grown.evidence == pytest.approx(whole.evidence, rel=0.05)
    assert columns[:, grown.active] @ grown.mean == pytest.approx(
        columns[:, whole.active] @ whole.mean, abs=0.1
    )


@pytest.mark.parametrize("label", [name for name, row in subspace_kin40k.SOLVERS.items() if row[0]])
def test_algorithms_of_the_thesis_let_functions_in(label, bumps, monkeypatch):
    columns, y = bumps
    monkeypatch.setattr(subspace_kin40k, "LAST_CYCLES", 3)
    path = list(subspace_kin40k.states(label, columns, y, 0))
    sizes = [state.active.size for state in path]
    assert sizes[0] == 50 and 0 < sizes[-1] < 50  # there are fewer than are let in at a time
    assert path[-1].evidence > path[0].evidence
    *_, ours = _ssem.batch(columns, y)
    assert path[-1].evidence == pytest.approx(ours.evidence, rel=0.05)


def test_functions_are_let_in_a_few_at_a_time(bumps):
    columns, y = bumps
    machine, queue = _ssem.Machine(columns, y), np.arange(50)
    some = [s.active.size for s in subspace_kin40k.grown(machine, queue, n_add=5, cycles=2)]
    assert some[:2] == [5, 5] and 5 < some[2] <= 10
    machine = _ssem.Machine(columns, y)
    sizes = [s.active.size for s in subspace_kin40k.fixed(machine, queue, size=8)]
    assert sizes[0] == 8 and max(sizes) == 8


def test_direct_search_finds_the_top():
    x, value = _schedule.direct_search(lambda x: -((x - 1.234) ** 2), -3.0, -np.inf)
    assert x == pytest.approx(1.234, abs=_schedule.LEAST)
    assert value == pytest.approx(0, abs=_schedule.LEAST**2)


@pytest.fixture
def waves():
    """A function of the first of two inputs."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 2))
    return X, np.sin(2 * X[:, 0]) + 0.05 * rng.standard_normal(60)


def test_schedule_learns_which_input_matters(waves):
    X, y = waves
    one, each = (_schedule.Schedule(ard, 1.0).fit(X, y) for ard in (False, True))
    fixed = _schedule.Schedule(False, 1.0, learned=False).fit(X, y)
    np.testing.assert_allclose(fixed.length_scales, 1.0)
    assert fixed.evidence < one.evidence < each.evidence
    assert each.length_scales[1] > 3 * each.length_scales[0]
    assert len(each.relevance_vectors_) == len(each.weights) < 20
    assert np.mean((each.predict(X) - np.sin(2 * X[:, 0])) ** 2) < 0.01


def test_mackey_glass_pieces_do_not_overlap():
    size = adaptive_widths.LARGEST
    _, first, _, test = adaptive_widths.examples(0, size)
    _, second, _, _ = adaptive_widths.examples(1, size)
    _, last, _, _ = adaptive_widths.examples(adaptive_widths.N_SETS - 1, size)
    assert len(np.unique(np.concatenate([first, second, last, test]))) == 3 * size + len(test)


@pytest.mark.slow
def test_adaptive_widths_of_small_sets(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(adaptive_widths, "SPARSE", 80)
    monkeypatch.setattr(adaptive_widths, "WIDTHS_TRAIN", 80)
    monkeypatch.setattr(adaptive_widths, "STARTS", (1.0, 8.0))
    monkeypatch.setattr(adaptive_widths, "SIZES", (50, 100))
    name = "quinonero2004.adaptive_widths"
    assert main([name, "--repetitions", "1", "--results", str(tmp_path)]) == 0
    ours = numbers(tmp_path, name)
    wide, narrow = (ours[f"thesis' schedule, fixed, ν = {s}: vectors"] for s in (8, 1))
    assert wide < narrow
    ends = "fig2_5", "b_fig3", "b_fig4", "b_fig5"
    assert images(tmp_path) == {f"{name}_{end}.png" for end in ends}


def test_exact_updates_never_lower_the_evidence():
    assert subspace_mackey_glass.fall(40, 0) <= 1e-6


def test_paths_of_both_algorithms_as_printed():
    batch, grown = subspace_mackey_glass.follow(40, 0, 0)
    for path in (batch, grown):
        assert np.all(np.diff(path[:, 0]) >= 0)
        assert 0 < path[-1, 2] < 40
    assert batch[0, 2] == 40 and grown[0, 2] == 1 and len(grown) > 40
    assert subspace_mackey_glass._functions_at(batch, 0.0) == 40
    assert subspace_mackey_glass._functions_at(batch, np.inf) == batch[-1, 2]


def test_times_of_subspace_beside_another():
    report = Report("title")
    rows = {400: [[1.0, 1.0, 1.0, 100.0]] * 3, 800: [[1.0, 1.0, 1.0, 100.0]] * 3}
    own = {size: np.array(found) for size, found in rows.items()}
    others = {size: found * [1.0, 1.0, 5.5, 1.0] for size, found in own.items()}
    subspace_mackey_glass._subspace(report, own, others, "it")
    assert [value.ours for value in report.values] == ["holds"] * 3
    subspace_mackey_glass._subspace(report, others, own, "it")
    assert [value.ours for value in report.values[3:]] == ["holds"] + ["does not hold"] * 2
    assert report.notes[0].endswith("of it: 400: 0.182, 800: 0.182.")


def test_solutions_are_different_where_their_losses_are():
    assert noisy_inputs.solutions(np.array([0.3, 0.0, 0.05])) == 2
    assert noisy_inputs.solutions(np.zeros(4)) == 1


def test_annealing_follows_the_slope_by_the_noise():
    kernel = noisy_inputs.amplitude(0.1, held=True) * RBF(2.0, "fixed")
    path = noisy_inputs.Annealing(noisy_inputs.sinc(0.01, 0), kernel)
    slope = path.go(0.1, 5)[2]
    X = path.data.X + path.data.spread * path.state.xi

    def evidence(log):
        cov = 0.1 * np.exp(-0.125 * (X - X.T) ** 2) + np.exp(log) * np.eye(50)
        return multivariate_normal(np.zeros(50), cov).logpdf(path.data.y)

    log = np.log(0.1**2)
    assert slope == pytest.approx((evidence(log + 1e-4) - evidence(log - 1e-4)) / 2e-4, rel=1e-4)


@pytest.mark.slow
def test_noisy_inputs_of_one_draw(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(noisy_inputs, "N_STARTS", 3)
    name = "quinonero2004.noisy_inputs"
    assert main([name, "--quick", "--repetitions", "1", "--results", str(tmp_path)]) == 0
    ours = numbers(tmp_path, name)
    assert ours["output sd, standard GP (true 0.05)"] > 2 * noisy_inputs.OUTPUT
    assert images(tmp_path) == {f"{name}_{end}.png" for end in ("fig4_4", "fig4_5", "fig4_6")}
