"""S08 Figs. 2.19 to 2.23: how many optima the order of the steps leads to.

S08 ran its algorithm 1000 times on the same samples with another random order of the components:
Sinc (64 samples, SNR 5) with wavelets and linear splines, BlocksSinc (256 samples, SNR 7) with Haar
wavelets and linear splines. `_climber` is that algorithm as printed. The printed one re-estimates
the noise every 10 steps; how many runs end oversmoothed, with much too high a noise, hangs on
that, so linear splines are also run with 30 steps in between.

Beside it stands our solver on the same problem. It is deterministic, so the functions are
shuffled before each run. Runs are the same if they keep the same functions. S08's draw of the
noise is not known, so its counts can only be compared roughly.

All 1000 runs take about half an hour on one core, most of it for BlocksSinc.

Sinc is not centred here, as in S08; BlocksSinc is, so that `denoise` has the same problem.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments._report import BLUE, ORANGE, Options, Report, new_figure, number, repeat
from experiments.schmolck2008._climber import climb
from experiments.schmolck2008._data import clean, noisy, samples
from sparsebayes import denoise
from sparsebayes.dictionaries import Dictionary, Kernel, Wavelet
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Sequential, Smoothness, State
from sparsebayes.engine import run as solve
from sparsebayes.engine.linalg import one_thread

Array = np.ndarray

OVERSMOOTHED = 5.0  # times the true noise variance
SHUFFLED = 20  # runs of our solver, at most
TOL = 0.01


@dataclass(frozen=True)
class Setting:
    """A signal, a dictionary, a prior and the steps between estimates of the noise."""

    label: str
    signal: str
    n: int
    snr: float
    prior: str
    every: int = 10
    distinct: str | None = None
    oversmoothed: str | None = None
    best_error: str | None = None

    def dictionary(self) -> Dictionary:
        if "symmlet" in self.label:
            return Wavelet("sym8")
        spline = Kernel("linear_spline", samples(3.0, self.n))
        return Wavelet("haar") + spline if "Haar" in self.label else spline


SETTINGS = (
    Setting("Sinc, symmlet, BIC", "sinc", 64, 5.0, "bic", 10, "1 of 1000", "0 of 1000", "0.0017"),
    Setting(
        "Sinc, lspline, BIC", "sinc", 64, 5.0, "bic", 10, "568 of 1000", "40 of 1000", "0.0009"
    ),
    Setting("Sinc, lspline, BIC, noise every 30", "sinc", 64, 5.0, "bic", 30),
    Setting(
        "Sinc, lspline, None", "sinc", 64, 5.0, "flat", 10, "38 of 1000", "32 of 1000", "0.0010"
    ),
    Setting("Sinc, lspline, None, noise every 30", "sinc", 64, 5.0, "flat", 30),
    Setting("BlocksSinc, Haar + lspline, BIC", "blocks_sinc", 256, 7.0, "bic", 10, "all"),
)
SHOWN = (0, 1, 3, 5)  # in the figure


@dataclass(frozen=True, eq=False)
class Task:
    """The problem of a setting."""

    problem: Exact
    columns: Array
    gram: Array
    y: Array
    f: Array
    noise: float


@lru_cache(maxsize=1)
def task(number: int, seed: int) -> Task:
    """The samples and the problem; the same for all runs."""
    setting = SETTINGS[number]
    f = clean(setting.signal, setting.n)
    y = noisy(f, setting.snr, np.random.default_rng(seed))
    if setting.signal == "blocks_sinc":
        y, f = y - y.mean(), f - y.mean()
    transform = setting.dictionary().bind((y.size,))
    columns = transform.synthesise(np.eye(int(np.prod(transform.coefficient_shape)))).T.copy()
    prior = Smoothness(0.5 * np.log(y.size)) if setting.prior == "bic" else Flat()
    problem = Exact(Dense(columns), prior, Gaussian(y, np.ones(y.size)))
    noise = float(np.mean((y - f) ** 2))
    return Task(problem, columns, columns.T @ columns, y, f, noise)


@dataclass(frozen=True, eq=False)
class End:
    """Where one run ended."""

    active: tuple[int, ...]
    objective: float
    noise: float
    error: float
    estimate: Array
    steps: int
    converged: bool


def _end(given: Task, state: State, active: Array, steps: int, converged: bool) -> End:
    estimate = given.columns[:, active] @ state.mean
    error = float(np.mean((estimate - given.f) ** 2))
    kept = tuple(np.sort(active).tolist())
    return End(kept, state.objective, 1.0 / state.beta, error, estimate, steps, converged)


def by_chance(number: int, seed: int, repetition: int) -> End:
    """A run of S08's algorithm."""
    given = task(number, seed)
    rng = np.random.default_rng([seed, number, repetition])
    with one_thread():
        found = climb(given.problem, given.gram, rng, every=SETTINGS[number].every)
    return _end(given, found.state, found.state.active, found.steps, found.converged)


def shuffled(number: int, seed: int, repetition: int) -> End:
    """A run of our solver; the functions keep their order in the first."""
    given = task(number, seed)
    rng = np.random.default_rng([seed, number, repetition])
    size = given.columns.shape[1]
    order = rng.permutation(size) if repetition else np.arange(size)
    sites = Gaussian(given.y, np.ones(given.y.size))
    problem = Exact(Dense(given.columns[:, order]), given.problem.prior, sites)
    found = solve(Sequential(), problem, max_iter=10_000, tol=TOL, rng=rng)
    state = found.state
    return _end(given, state, order[state.active], found.n_iter, found.stop.converged)


def run(options: Options) -> Report:
    """Count the optima, and draw where the runs ended."""
    count = options.count(1000, 10)
    report = Report("S08 Figs. 2.19-2.23: optima by the order of the steps, and our solver's")
    drawn: list[tuple[int, list[End]]] = []
    for i, setting in enumerate(SETTINGS):
        tasks = [(i, options.seed, k) for k in range(count)]
        ends = repeat(by_chance, tasks, jobs=options.jobs, label=setting.label)
        _count(report, setting, ends, task(i, options.seed).noise)
        if setting.every == 10:
            ours = repeat(
                shuffled, tasks[:SHUFFLED], jobs=options.jobs, label=f"{setting.label}, ours"
            )
            _beside(report, setting, ours, ends)
            _default(report, setting, task(i, options.seed), ends)
        if i in SHOWN:
            drawn.append((i, ends))
    report.note(
        f"Oversmoothed: a noise variance above {OVERSMOOTHED:g} times the true one. Objective: "
        "relative to the best of S08's runs, in nats; above 0 ours is better."
    )
    report.draw(_figure(drawn, options.seed))
    return report


def _count(report: Report, setting: Setting, ends: list[End], noise: float) -> None:
    count = len(ends)
    distinct = len({end.active for end in ends})
    smooth = sum(end.noise > OVERSMOOTHED * noise for end in ends)
    errors = np.array([end.error for end in ends])
    sizes = [len(end.active) for end in ends]
    report.add(f"{setting.label}: distinct", setting.distinct, str(distinct), count)
    report.add(f"{setting.label}: oversmoothed", setting.oversmoothed, str(smooth), count)
    report.add(f"{setting.label}: least MSE", setting.best_error, errors.min(), count)
    report.add(f"{setting.label}: mean MSE", None, errors)
    steps = [end.steps for end in ends]
    report.note(
        f"{setting.label}: S from {min(sizes)} to {max(sizes)}, median {np.median(sizes):g}; "
        f"{int(np.median(steps))} steps (median), at most {max(steps)}; "
        f"{sum(not end.converged for end in ends)} of {count} did not converge."
    )


def _beside(report: Report, setting: Setting, ours: list[End], ends: list[End]) -> None:
    best = max(end.objective for end in ends)
    first, count = ours[0], len(ours)
    gaps = np.array([end.objective - best for end in ours])
    distinct = len({end.active for end in ours})
    report.add(f"{setting.label}: our solver, distinct", None, str(distinct), count)
    report.add(f"{setting.label}: our solver, objective", None, first.objective - best)
    report.add(f"{setting.label}: our solver, lowest objective", None, gaps.min(), count)
    report.add(f"{setting.label}: our solver, S", None, str(len(first.active)))
    report.add(f"{setting.label}: our solver, MSE", None, first.error)
    above = np.mean([end.objective < first.objective + TOL for end in ends])
    report.note(
        f"{setting.label}: our solver ends as high as or higher than {100 * above:.1f} % of S08's "
        f"runs; shuffled, its objective is between {number(gaps.min())} and {number(gaps.max())}."
    )


def _default(report: Report, setting: Setting, given: Task, ends: list[End]) -> None:
    """`denoise`, which centres the samples, and exchanges functions of a union in groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = denoise(given.y, setting.dictionary(), method="sparse", prior=setting.prior)
    error = float(np.mean((found.signal - given.f) ** 2))
    if setting.signal == "blocks_sinc":  # the same problem
        gap = found.noise_maxima[0][1] - max(end.objective for end in ends)
        report.add(f"{setting.label}: denoise, objective", None, gap)
    report.add(f"{setting.label}: denoise, S", None, str(found.n_active))
    report.add(f"{setting.label}: denoise, MSE", None, error)


def _figure(drawn: list[tuple[int, list[End]]], seed: int):
    figure = new_figure(11, 3 * len(drawn))
    axes = figure.subplots(len(drawn), 2, squeeze=False)
    for (left, right), (i, ends) in zip(axes, drawn, strict=True):
        given = task(i, seed)
        noise = OVERSMOOTHED * given.noise
        ordered = sorted(ends, key=lambda end: end.objective)
        for end in ordered[:: max(1, len(ordered) // 200)]:
            color = ORANGE if end.noise > noise else BLUE
            left.plot(end.estimate, color=color, linewidth=0.5, alpha=0.3)
        left.plot(given.f, color="black", linewidth=1, linestyle="--")
        smooth = sum(end.noise > noise for end in ends)
        left.set_title(f"{SETTINGS[i].label}: estimates; {smooth} oversmoothed", fontsize=9)
        left.set_xlabel("sample", fontsize=8)
        left.margins(x=0.01)
        kept = np.zeros((given.columns.shape[1], len(ordered)))
        for column, end in enumerate(ordered):
            kept[list(end.active), column] = 1.0
        right.imshow(kept, aspect="auto", cmap="Blues", interpolation="nearest")
        distinct = len({end.active for end in ends})
        right.set_title(f"functions kept; different sets: {distinct}", fontsize=9)
        right.set_xlabel("runs, by rising objective", fontsize=8)
        right.set_ylabel("function", fontsize=8)
    return figure
