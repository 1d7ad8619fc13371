"""QC04 Figs. 2.2 and 2.3: local minima of the negative log evidence from 100 random starts.

The toy problem of QC04 2.1: 20 equally spaced inputs in [-10, 10], sinc with noise of variance
0.01, squared exponentials of length scale 1 on the inputs, no bias. The thesis' noise is not known,
so its numbers are those of another draw. What can be compared is what the thesis says of them, and
that is asked of several draws; the pictures are of the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, number, repeat
from sparsebayes import RVR
from sparsebayes.basis import RBF, Basis
from sparsebayes.datasets import make_sinc
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Sequential, State
from sparsebayes.engine import run as climb
from sparsebayes.engine.model.posterior import gradient

Array = np.ndarray

GONE = 1e-3  # a function whose γ is below this is not counted
TINY = 1e-9  # QC04's limit for "very small" noise variances
BOUNDS = (-32.0, 32.0)  # of log α and log σ²
N_STARTS, N_DRAWS = 100, 20
RELATED = 0.5  # a rank correlation beyond this is called a relation
RIDGE = 1.0  # λ of the regularised normal equations


@dataclass(frozen=True)
class Minimum:
    """Where one minimisation ended."""

    loss: float
    vectors: int
    noise: float
    error: float
    converged: bool
    training: float
    weights: Array  # of all functions
    kept: Array  # which of them count


@dataclass(frozen=True)
class Draw:
    """All that is found of one draw of the noise."""

    X: Array
    y: Array
    minima: list[Minimum]
    default: Minimum
    ridge: float  # test error of the regularised normal equations

    @property
    def unique(self) -> list[Minimum]:
        """Distinct minima, the lowest first."""
        return distinct(self.minima)

    @property
    def best(self) -> Minimum:
        """That of the least test error."""
        return min(self.unique, key=lambda m: m.error)


def minimise(problem: Exact, start: Array, basis: Basis, grid: Array, truth: Array) -> Minimum:
    """L-BFGS over (log α, log σ²) with all functions active, from `start`."""
    active = np.arange(problem.norms.size)

    def objective(p: Array) -> tuple[float, Array]:
        state = problem.evaluate(active, np.exp(p[:-1]), float(np.exp(-p[-1])))
        if state is None:  # not positive definite in rounding
            return 1e10, np.zeros_like(p)
        by_alpha, by_beta = gradient(state, problem)
        return -state.evidence, -np.append(by_alpha, -by_beta)

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[BOUNDS] * start.size,
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-6},
    )
    state = problem.evaluate(active, np.exp(found.x[:-1]), float(np.exp(-found.x[-1])))
    assert state is not None
    target = problem.gaussian.target
    return _as_minimum(state, basis, target, grid, truth, bool(found.success))


def _as_minimum(
    state: State, basis: Basis, target: Array, grid: Array, truth: Array, converged: bool = True
) -> Minimum:
    mean = basis.columns(grid, state.active) @ state.mean
    error = float(np.mean((mean - truth) ** 2))
    kept = state.active[state.determined > GONE]
    weights = np.zeros(basis.n_functions_)
    weights[state.active] = state.mean
    training = float(np.mean((target - basis.columns(basis.centers_) @ weights) ** 2))
    loss, noise = -state.evidence, 1 / state.beta
    return Minimum(loss, len(kept), noise, error, converged, training, weights, kept)


def distinct(minima: list[Minimum], tol: float = 1e-3) -> list[Minimum]:
    """One of each, by negative log evidence and number of vectors; the lowest first."""
    kept: list[Minimum] = []
    for m in sorted(minima, key=lambda m: (m.loss, m.vectors)):
        if not any(abs(m.loss - k.loss) < tol and m.vectors == k.vectors for k in kept):
            kept.append(m)
    return kept


def toy(seed: int, repetition: int) -> tuple[Array, Array]:
    """The data of QC04 2.1, with one draw of the noise."""
    X, y, _ = make_sinc(20, noise=0.1, random_state=np.random.default_rng([seed, repetition]))
    return X, y


def one(seed: int, repetition: int, n_starts: int) -> Draw:
    """Minimise from random starts on one draw of the noise."""
    rng = np.random.default_rng([seed, repetition, 1])
    X, y = toy(seed, repetition)
    grid, _, truth = make_sinc(1000, noise=0.0, low=-12, high=12)
    basis = RBF(1.0).fit(X)
    columns = basis.columns(X)
    problem = Exact(Dense(columns), Flat(), Gaussian(y, np.ones(20)))
    with threadpool_limits(1):
        minima = []
        for _ in range(n_starts):
            # α and σ² log-uniform over wide ranges; the thesis does not say.
            start = np.append(rng.uniform(-5, 5, 20), rng.uniform(np.log(1e-6), 0))
            minima.append(minimise(problem, start, basis, grid, truth))
        found = climb(Sequential(), problem, max_iter=10_000, tol=0.01, rng=rng)
        weights = np.linalg.solve(columns.T @ columns + RIDGE * np.eye(20), columns.T @ y)
    ridge = float(np.mean((basis.columns(grid) @ weights - truth) ** 2))
    return Draw(X, y, minima, _as_minimum(found.state, basis, y, grid, truth), ridge)


def related(first: list[float], second: list[float]) -> float:
    """Spearman's rank correlation; 0 where there is nothing to rank."""
    if len(set(first)) < 2 or len(set(second)) < 2:
        return 0.0
    return float(spearmanr(first, second).statistic)


def run(options: Options) -> Report:
    """Minimise from random starts, and ask the draws what the thesis says of its own."""
    count = options.count(N_DRAWS, 3)
    tasks = [(options.seed, i, N_STARTS) for i in range(count)]
    draws: list[Draw] = repeat(one, tasks, jobs=options.jobs, label="draws of the noise")
    report = Report("QC04 Figs. 2.2 and 2.3: local minima of the RVM's negative log evidence L")
    _numbers(report, draws[0])
    _levels(report, draws)
    _claims(report, draws)
    _models(report, draws)
    report.row = ""
    _ours(report, draws[0])
    return report


def _numbers(report: Report, draw: Draw) -> None:
    """Those of one draw, beside those of the thesis' draw."""
    report.row = "QC04 Fig. 2.2"
    unique, count = draw.unique, len(draw.minima)
    for label, m, paper in (
        ("lowest L", unique[0], ("-11.2", "16", "1e-4", "poor")),
        ("best test error", draw.best, ("-10.5", "11", "1e-2", "0.029")),
    ):
        report.add(f"first draw, {label}: L", paper[0], m.loss, count)
        report.add(f"first draw, {label}: relevance vectors", paper[1], m.vectors, count)
        report.add(f"first draw, {label}: noise variance", paper[2], m.noise, count)
        report.add(f"first draw, {label}: test MSE", paper[3], m.error, count)
    sane = [m for m in unique if m.noise > TINY]
    report.note(
        f"First draw: {sum(not m.converged for m in draw.minima)} of {count} minimisations ended "
        f"where rounding allowed no further step; {len(sane)} distinct minima have σ² > 1e-9, with "
        f"test MSE {number(min(m.error for m in sane))} to {number(max(m.error for m in sane))}."
    )
    report.note(
        f"A vector counts where its γ > {GONE:g}. Minima are distinct if L differs by 0.001 or the "
        "number of vectors differs."
    )
    report.draw(_figure(unique, draw.default), "fig2_2")


def _levels(report: Report, draws: list[Draw]) -> None:
    """The lowest L of all draws, in the thesis' constant too."""
    lowest, best = (
        np.array([m.loss for m in ends])
        for ends in ([draw.unique[0] for draw in draws], [draw.best for draw in draws])
    )
    report.add("lowest L, all draws", None, lowest)
    report.add("L of the least test error, all draws", None, best)
    more = 0.5 * (len(draws[0].y) - 1) * np.log(2.0 * np.pi)
    report.note(
        f"QC04 Fig. 2.2: the L of the thesis, -11.2 and -10.5, are of its draw. (2.21) prints "
        f"½ log 2π; ours has (N/2) log 2π, which is {more:.1f} more at N = {len(draws[0].y)}. Over "
        f"{len(draws)} draws our lowest L is from {lowest.min():.1f} to {lowest.max():.1f}, at "
        f"least -11.2 on {np.sum(lowest >= -11.2)}; with the printed constant from "
        f"{lowest.min() - more:.1f} to {lowest.max() - more:.1f}, at least -11.2 on "
        f"{np.sum(lowest - more >= -11.2)}. The constant does not move what lies between the two "
        f"minima: 0.7 in the thesis, {np.min(best - lowest):.1f} to {np.max(best - lowest):.1f} in "
        f"ours (median {np.median(best - lowest):.1f})."
    )
    power = float(make_sinc(1000, noise=0.0, low=-12, high=12)[1].var())
    errors = np.array([draw.best.error for draw in draws])
    report.note(
        f"QC04 Fig. 2.2: our least test error is from {errors.min():.4f} to {errors.max():.4f}, "
        "below the printed 0.029, as it is in Fig. 2.1; over the variance of the test targets, "
        f"{power:.3f}, it is from {errors.min() / power:.3f} to {errors.max() / power:.3f}."
    )


def _claims(report: Report, draws: list[Draw]) -> None:
    report.row = "QC04 Fig. 2.2"
    found = [draw.unique for draw in draws]
    sane = [[m for m in unique if m.noise > TINY] for unique in found]
    tiny = [[m for m in unique if m.noise <= TINY] for unique in found]
    report.shown("there are several minima, and they are reached repeatedly",
         [1 < len(unique) < N_STARTS for unique in found])  # fmt: skip
    report.shown("some minima have σ² < 1e-9", [bool(some) for some in tiny])
    report.shown(f"less noise, more vectors (rank correlation below -{RELATED:g})",
         [related([m.noise for m in u], [m.vectors for m in u]) < -RELATED for u in found],
         )  # fmt: skip
    report.shown(
        f"but for σ² < 1e-9, more vectors, smaller L (rank correlation below -{RELATED:g})",
        [related([m.vectors for m in s], [m.loss for m in s]) < -RELATED for s in sane],
         )  # fmt: skip
    poor = [bool(t and s) and min(m.loss for m in t) > np.median([m.loss for m in s])
            for t, s in zip(tiny, sane, strict=True)]  # fmt: skip
    report.shown("minima with σ² < 1e-9 are poor: the L of each is above half of the others", poor)
    report.note(
        f"QC04 Fig. 2.2: {sum(map(bool, tiny))} of {len(draws)} draws have minima with σ² < 1e-9; "
        f"on {sum(poor)} of them the lowest of these is above half of the others."
    )
    report.shown("the lowest L is not the least test error",
         [draw.best is not draw.unique[0] and draw.best.error < unique[0].error
          for draw, unique in zip(draws, found, strict=True)])  # fmt: skip
    report.shown("the best minimum errs less than the regularised normal equations (λ = 1)",
         [draw.best.error < draw.ridge for draw in draws])  # fmt: skip


def _models(report: Report, draws: list[Draw]) -> None:
    """Fig. 2.3: the lowest minimum against that of the least test error."""
    report.row = "QC04 Fig. 2.3"
    pairs = [(draw.unique[0], draw.best) for draw in draws]
    statements = {
        "the lowest L fits the training data closer": [a.training < b.training for a, b in pairs],
        "and errs more on the test data (over-fitting)": [a.error > b.error for a, b in pairs],
        "it keeps more vectors": [a.vectors > b.vectors for a, b in pairs],
        "its noise variance is at most a tenth": [a.noise <= 0.1 * b.noise for a, b in pairs],
    }
    for statement, holds in statements.items():
        report.shown(statement, holds)
    together = [all(holds) for holds in zip(*statements.values(), strict=True)]
    report.shown("all of these together", together)
    report.note(
        "QC04 Fig. 2.3: the thesis shows one draw, whose lowest minimum has the noise explained "
        "away (16 vectors and a hundredth of the other's noise). Where that minimum is found it is "
        "as the thesis says; on most draws the lowest minimum still has noise, and it differs less "
        "from the one with the least test error."
    )
    ratio = np.array([a.error / b.error for a, b in pairs])
    report.add("test MSE of the lowest L over the least", None, ratio)
    report.draw(_figure_models(draws[0]), "fig2_3")


def _ours(report: Report, draw: Draw) -> None:
    """Where our own solver ends."""
    X, y, default = draw.X, draw.y, draw.default
    grid, _, truth = make_sinc(1000, noise=0.0, low=-12, high=12)
    estimator = RVR(RBF(1.0), bias=False, calibrate=None).fit(X, y)
    error = float(np.mean((estimator.predict(grid) - truth) ** 2))
    for label, values in (
        ("default solver, same problem", (default.vectors, default.noise, default.error)),
        (
            "RVR, which centres the targets",
            (len(estimator.relevance_), estimator.noise_variance_, error),
        ),
    ):
        for name, value in zip(
            ("relevance vectors", "noise variance", "test MSE"), values, strict=True
        ):
            report.add(f"{label}: {name}", None, value)
    report.add("default solver, same problem: L", None, default.loss)


def _figure_models(draw: Draw):
    figure = new_figure(10, 4)
    grid = np.linspace(-12, 12, 400)[:, None]
    columns = RBF(1.0).fit(draw.X).columns(grid)
    titles = "lowest L", "least test error"
    for ax, m, title in zip(
        figure.subplots(1, 2, sharey=True), (draw.unique[0], draw.best), titles, strict=True
    ):
        ax.plot(grid, columns * m.weights, color=GREY, linewidth=0.6)
        ax.plot(grid, columns @ m.weights, color=BLUE, linewidth=2)
        ax.plot(draw.X, draw.y, "x", color="black")
        ax.plot(draw.X[m.kept], draw.y[m.kept], "o", color=ORANGE, markerfacecolor="none")
        ax.set_xlabel("x")
        ax.set_title(f"{title}: L = {m.loss:.1f}, σ² = {m.noise:.1g}, {m.vectors} vectors")
    return figure


def _figure(minima: list[Minimum], default: Minimum):
    figure = new_figure(8, 5)
    ax = figure.subplots()
    worst = max(m.error for m in minima)

    def area(value: float) -> float:  # the radius is proportional to the error
        return 900 * (value / worst) ** 2

    sane = [m for m in minima if m.noise > TINY]
    tiny = [m for m in minima if m.noise <= TINY]
    # The worst first, so that small patches lie on top.
    sane.sort(key=lambda m: -m.error)
    patches = ax.scatter(
        [m.vectors for m in sane],
        [m.loss for m in sane],
        s=[area(m.error) for m in sane],
        c=[np.log10(m.noise) for m in sane],
        cmap="viridis",
        edgecolors="black",
        linewidths=0.5,
        alpha=0.85,
    )
    figure.colorbar(patches, ax=ax, label="log10 of the noise variance")
    if tiny:
        at = [m.vectors for m in tiny], [m.loss for m in tiny]
        size = [area(m.error) for m in tiny]
        ax.scatter(*at, s=size, c="white", edgecolors="black", label="σ² < 1e-9")
        ax.scatter(*at, s=12, c="black")
    ax.plot(
        default.vectors,
        default.loss,
        "*",
        color=ORANGE,
        markersize=14,
        markeredgecolor="white",
        label="our default solver",
    )
    ax.set(xlabel="relevance vectors", ylabel="negative log evidence L")
    ax.set_title("Local minima of L; radius: test MSE")
    ax.margins(0.1)
    figure.legend(loc="outside lower center", ncols=2, markerscale=0.5, frameon=False)
    return figure
