"""S08 Figs. 2.19 to 2.23: how many optima the order of the steps leads to.

S08 ran its algorithm 1000 times on the same samples with another random order of the components:
Sinc (64 samples, SNR 5) with wavelets and linear splines, BlocksSinc (256 samples, SNR 7) with Haar
wavelets and linear splines. `_climber` is that algorithm as printed (Alg. 1), with our price, which
is relative to the norm of a function. How many runs end oversmoothed, with much too high a noise,
depends on the draw of the noise and on details. So linear splines are also run on other draws, with
30 steps between estimates of the noise instead of the printed 10, with the stopping rule of 2.6.4
(the last five estimates of the noise must be the same), with line 11 of Alg. 1 to the letter, which
takes in a function at a maximum that is below leaving it out, and with the price as printed.

Beside it stands our solver on the same problem. It is deterministic, so the functions are
shuffled before each run. Runs are the same if they keep the same functions. S08's draw of the
noise is not known, so its counts are not compared, but what it says of them is.

All runs take about three quarters of an hour on one core, most of it for BlocksSinc.

Sinc is not centred here, as in S08; BlocksSinc is, so that `denoise` has the same problem.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments._report import BLUE, ORANGE, Options, Report, new_figure, number, repeat
from experiments.schmolck2008._climber import FIRST_NOISE, Unscaled, climb
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
STABLE = 5  # estimates of the noise; S08 says "several"
FEW = 0.05  # "less than 5% of the results" are oversmoothed
IDENTICAL = 1e-3  # of the signal's range; S08: "visually absolutely identical"
NEAR = 2.0  # a noise variance within this factor is close to the truth
OTHERS, RUNS = 10, 50  # other draws of the noise, and runs on each
SIZE, DRAWS = 8, 60  # functions of S08's symmlets, and draws of the noise for that
ALIKE = 2.0  # shares within this factor are similar

WAVELETS, SPLINES, UNION = "S08 Fig. 2.19", "S08 Figs. 2.20-2.22", "S08 Fig. 2.23"


@dataclass(frozen=True)
class Setting:
    """A signal, a dictionary, a prior, and how the algorithm goes about it."""

    label: str
    signal: str
    n: int
    snr: float
    prior: str
    every: int = 10
    distinct: str | None = None
    oversmoothed: str | None = None
    best_error: str | None = None
    mean_error: str | None = None
    row: str = ""
    stable: int = 1
    eager: bool = False
    unscaled: bool = False

    def dictionary(self) -> Dictionary:
        if "symmlet" in self.label:
            return Wavelet("sym8")
        spline = Kernel("linear_spline", samples(3.0, self.n))
        return Wavelet("haar") + spline if "Haar" in self.label else spline


BIC, NONE = "Sinc, lspline, BIC", "Sinc, lspline, None"
SETTINGS = (
    Setting(
        "Sinc, symmlet, BIC",
        *("sinc", 64, 5.0, "bic", 10),
        *("1 of 1000", "0 of 1000", "0.0017", "0.0017", WAVELETS),
    ),
    Setting(
        BIC,
        *("sinc", 64, 5.0, "bic", 10),
        *("568 of 1000", "40 of 1000", "0.0009", "0.0083", SPLINES),
    ),
    Setting(f"{BIC}, noise every 30", "sinc", 64, 5.0, "bic", 30),
    Setting(
        NONE,
        *("sinc", 64, 5.0, "flat", 10),
        *("38 of 1000", "32 of 1000", "0.0010", "0.0043", SPLINES),
    ),
    Setting(f"{NONE}, noise every 30", "sinc", 64, 5.0, "flat", 30),
    Setting(
        "BlocksSinc, Haar + lspline, BIC", "blocks_sinc", 256, 7.0, "bic", 10, "all", row=UNION
    ),
    Setting(f"{BIC}, stop of 2.6.4", "sinc", 64, 5.0, "bic", stable=STABLE),
    Setting(f"{NONE}, stop of 2.6.4", "sinc", 64, 5.0, "flat", stable=STABLE),
    Setting(f"{BIC}, line 11", "sinc", 64, 5.0, "bic", eager=True),
    Setting(f"{BIC}, price as printed", "sinc", 64, 5.0, "bic", unscaled=True),
)


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
    price = Unscaled if setting.unscaled else Smoothness
    prior = price(0.5 * np.log(y.size)) if setting.prior == "bic" else Flat()
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
    """A run of S08's algorithm; the order of the functions is the same in all settings."""
    given, setting = task(number, seed), SETTINGS[number]
    rng = np.random.default_rng([seed, repetition])
    with one_thread():
        found = climb(
            given.problem,
            given.gram,
            rng,
            every=setting.every,
            stable=setting.stable,
            eager=setting.eager,
            first_noise=FIRST_NOISE * float(given.y.var()),
        )
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
    found: dict[str, list[End]] = {}
    for i, setting in enumerate(SETTINGS):
        tasks = [(i, options.seed, k) for k in range(count)]
        ends = repeat(by_chance, tasks, jobs=options.jobs, label=setting.label)
        found[setting.label] = ends
        report.row = setting.row
        _count(report, setting, ends, task(i, options.seed).noise)
        report.row = ""
        if setting.row:
            ours = repeat(
                shuffled, tasks[:SHUFFLED], jobs=options.jobs, label=f"{setting.label}, ours"
            )
            _beside(report, setting, ours, ends)
            _default(report, setting, task(i, options.seed), ends)
        if setting.row == SPLINES:
            _others(report, i, options, ends)
    _claims(report, found, options.seed, options.jobs)
    report.note(
        f"Oversmoothed: a noise variance above {OVERSMOOTHED:g} times the true one. Objective: "
        "relative to the best of S08's runs, in nats; above 0 ours is better."
    )
    drawn = [(i, found[setting.label]) for i, setting in enumerate(SETTINGS) if setting.row]
    rows = dict.fromkeys(setting.row for setting in SETTINGS if setting.row)
    report.draw(_figure(drawn, options.seed), "", *rows)
    return report


def _others(report: Report, number: int, options: Options, ends: list[End]) -> None:
    """How many runs are oversmoothed on other draws of the noise than that of `ends`."""
    noise = task(number, options.seed).noise
    seeds = [options.seed + 1 + k for k in range(2 if options.quick else OTHERS)]
    runs = min(RUNS, options.count(RUNS, 5))
    shares = []
    for seed in seeds:
        tasks = [(number, seed, k) for k in range(runs)]
        others = repeat(by_chance, tasks, jobs=options.jobs, label=f"draw {seed}")
        shares.append(len(smooth(others, task(number, seed).noise)) / len(others))
    label = SETTINGS[number].label
    report.add(f"{label}: share oversmoothed on other draws of the noise", None, np.array(shares))
    report.note(
        f"{SPLINES}: {label}: on {len(seeds)} other draws of the noise, with {runs} runs each, "
        f"between {100 * min(shares):.0f} and {100 * max(shares):.0f} % end oversmoothed, on the "
        f"draw of the table {100 * len(smooth(ends, noise)) / len(ends):.0f} %."
    )


def smooth(ends: list[End], noise: float) -> list[End]:
    """Those that ended oversmoothed, with a noise variance far above the true one."""
    return [end for end in ends if end.noise > OVERSMOOTHED * noise]


def _claims(report: Report, found: dict[str, list[End]], seed: int, jobs: int) -> None:
    """What S08 says of its runs, where the settings have been run."""
    for i, setting in enumerate(SETTINGS):
        report.row = setting.row
        ends, given = found[setting.label], task(i, seed)
        if setting.row == WAVELETS:
            _identical(report, ends, given)
            _sizes(report, i, seed, jobs)
        elif setting.row == SPLINES:
            _splines(report, setting, ends, given.noise)
        elif setting.row == UNION:
            count = len(ends)
            report.claim("BlocksSinc: all runs converge", all(e.converged for e in ends), count)
            different = len({end.active for end in ends}) == count
            report.claim("BlocksSinc: no two runs keep the same functions", different, count)
            if BIC in found:
                _spreads(report, found, seed)
    if BIC in found and NONE in found:
        report.row = SPLINES
        _both(report, found, seed)


def _identical(report: Report, ends: list[End], given: Task) -> None:
    report.claim("symmlets: all runs keep the same functions", len({e.active for e in ends}) == 1)
    estimates = np.array([end.estimate for end in ends])
    apart = float(np.ptp(estimates, axis=0).max())
    report.add("symmlets: largest difference between two estimates", "1e-10", apart, len(ends))
    report.claim(
        f"symmlets: estimates differ by less than {IDENTICAL:g} of the signal's range",
        apart < IDENTICAL * float(np.ptp(given.f)),
        len(ends),
    )


def _sizes(report: Report, i: int, seed: int, jobs: int) -> None:
    """How many functions symmlets keep on other draws of the noise; all runs keep the same."""
    tasks = [(i, seed + 1 + k, 0) for k in range(DRAWS)]
    ends = repeat(by_chance, tasks, jobs=jobs, label="symmlets, other draws")
    sizes = np.array([len(end.active) for end in ends])
    report.shown(f"symmlets: S = {SIZE}, on other draws of the noise", sizes == SIZE)
    errors = np.array([end.error for end in ends])
    report.note(
        f"{WAVELETS}: S08's draw has S = {SIZE} and an MSE of 0.0017. On {DRAWS} other draws of "
        f"the noise ours have S from {sizes.min()} to {sizes.max()}, median {np.median(sizes):g}, "
        f"and an MSE of {number(errors.min())} to {number(errors.max())}, median "
        f"{number(np.median(errors))}."
    )


def _splines(report: Report, setting: Setting, ends: list[End], noise: float) -> None:
    count, wide = len(ends), smooth(ends, noise)
    narrow = [end for end in ends if end.noise <= OVERSMOOTHED * noise]
    label = setting.label
    report.claim(f"{label}: some runs end oversmoothed", bool(wide), count)
    report.claim(f"{label}: but fewer than {FEW:.0%} do", len(wide) < FEW * count, count)
    if wide and narrow:
        highest = max(end.objective for end in wide)
        below = highest < min(end.objective for end in narrow)
        report.claim(f"{label}: these have a lower objective than all others", below, count)
    if narrow:
        close = np.mean([noise / NEAR < end.noise < NEAR * noise for end in narrow])
        report.claim(
            f"{label}: all others have the noise within a factor of {NEAR:g}", close == 1.0, count
        )
        error = np.array([end.error for end in narrow])
        report.add(f"{label}: mean MSE of the others", "0.0013" if label == BIC else None, error)
        report.note(
            f"{SPLINES}: {label}: of the runs that do not end oversmoothed {close:.0%} have the "
            f"noise within a factor of {NEAR:g}; at most it is "
            f"{max(end.noise for end in narrow) / noise:.1f} times the true one."
        )
    if wide:
        sets = len({end.active for end in wide})
        report.claim(f"{label}: oversmoothed runs keep the same functions", sets == 1, len(wide))


def _both(report: Report, found: dict[str, list[End]], seed: int) -> None:
    noise = task(1, seed).noise  # the same samples
    sizes = [len({end.active for end in found[label]}) for label in (BIC, NONE)]
    report.claim("BIC leads to more different sets than None", sizes[0] > sizes[1])
    wide = smooth(found[BIC], noise)
    if wide:
        two = float(np.median([len(end.active) for end in wide])) == 2.0
        report.claim(f"{BIC}: oversmoothed runs keep two functions (median)", two, len(wide))
        longest = max(found[BIC], key=lambda end: end.steps)
        report.claim(
            f"{BIC}: the longest run is oversmoothed", longest.noise > OVERSMOOTHED * noise
        )
    shares = sorted(len(smooth(found[label], noise)) for label in (BIC, NONE))
    similar = shares[1] <= ALIKE * shares[0]
    report.claim(
        f"None has a similar share of oversmoothed runs (within a factor of {ALIKE:g})", similar
    )
    lines = []
    for label in (BIC, NONE):
        counts = {
            name.removeprefix(label).removeprefix(", ") or "usual": len(smooth(ends, noise))
            for name, ends in found.items()
            if name.startswith(label)
        }
        stopped = counts.get("stop of 2.6.4")
        if stopped is not None:
            report.claim(
                f"{label}: more steps before the end leave as many oversmoothed",
                stopped == counts["usual"],
            )
        told = "; ".join(f"{n} ({name})" for name, n in counts.items())
        lines.append(f"with {label.rpartition(', ')[2]} {told}")
    report.note(
        f"{SPLINES}: Oversmoothed are, of {len(found[BIC])} runs of Alg. 1 on this draw of the "
        f"noise, {', and '.join(lines)}. Most settings have our price, which is relative to the "
        "norm of a function; with S08's own most runs end oversmoothed. With 30 steps between "
        "estimates of the noise few or none do, so it is likely that the noise is first estimated, "
        "after 10 steps, before enough functions are in, and that a high estimate then keeps them "
        "out, as S08 says too. Its own draw is not known."
    )


def _spreads(report: Report, found: dict[str, list[End]], seed: int) -> None:
    """How much estimates differ, as a part of the standard deviation of the noise."""
    parts = []
    for i, setting in enumerate(SETTINGS):
        if setting.label == BIC or setting.row == UNION:
            noise = task(i, seed).noise
            kept = [e.estimate for e in found[setting.label] if e.noise <= OVERSMOOTHED * noise]
            spread = np.sqrt(np.mean(np.var(kept, axis=0)) / noise) if kept else np.nan
            report.add(f"{setting.label}: spread of estimates / noise", None, float(spread))
            parts.append(spread)
    more = parts[1] > parts[0]
    report.claim("estimates differ more than those of Sinc that are not oversmoothed", more)
    noise = task(1, seed).noise
    kept = [e.estimate for e in found[BIC] if noise / NEAR < e.noise < NEAR * noise]
    near = np.sqrt(np.mean(np.var(kept, axis=0)) / noise) if kept else np.nan
    union = next(s.label for s in SETTINGS if s.row == UNION)
    sets = len({end.active for end in found[union]})
    report.note(
        f"{UNION}: Estimates of BlocksSinc differ between runs by {parts[1]:.2f} standard "
        f"deviations of the noise, those of Sinc that are not oversmoothed by {parts[0]:.2f}, and "
        f"by {near:.2f} if only runs with the noise within a factor of {NEAR:g} count. So our runs "
        f"on Sinc differ more than S08's seem to. The {len(found[union])} runs on BlocksSinc keep "
        f"{sets} different sets."
    )


def _count(report: Report, setting: Setting, ends: list[End], noise: float) -> None:
    count = len(ends)
    distinct = len({end.active for end in ends})
    wide = len(smooth(ends, noise))
    errors = np.array([end.error for end in ends])
    sizes = [len(end.active) for end in ends]
    report.add(f"{setting.label}: distinct", setting.distinct, str(distinct), count)
    report.add(f"{setting.label}: oversmoothed", setting.oversmoothed, str(wide), count)
    report.add(f"{setting.label}: least MSE", setting.best_error, errors.min(), count)
    report.add(f"{setting.label}: mean MSE", setting.mean_error, errors)
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
        step = max(1, len(ordered) // 200)
        for end in ordered[::step]:
            color = ORANGE if end.noise > noise else BLUE
            left.plot(end.estimate, color=color, linewidth=0.5, alpha=0.3)
        left.plot(given.f, color="black", linewidth=1, linestyle="--")
        wide = len(smooth(ends, given.noise))
        told = f"one estimate in {step}" if step > 1 else "estimates"
        left.set_title(f"{SETTINGS[i].label}: {told}; {wide} runs oversmoothed", fontsize=9)
        left.set_xlabel("sample", fontsize=8)
        left.margins(x=0.01)
        kept = np.zeros((given.columns.shape[1], len(ordered)))
        for column, end in enumerate(ordered):
            kept[list(end.active), column] = 1.0
        right.imshow(kept, aspect="auto", cmap="Blues", interpolation="antialiased")
        distinct = len({end.active for end in ends})
        right.set_title(f"functions kept; different sets: {distinct}", fontsize=9)
        right.set_xlabel("runs, by rising objective", fontsize=8)
        right.set_ylabel("function", fontsize=8)
    for color, style, label in (
        (BLUE, "-", "run"), (ORANGE, "-", "oversmoothed run"), ("black", "--", "truth"),
    ):  # fmt: skip
        axes[0, 0].plot([], [], style, color=color, label=label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
