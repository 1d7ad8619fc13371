"""QC04 Fig. 2.2: local minima of the negative log evidence from 100 random starts.

The toy problem of QC04 2.1: 20 equally spaced inputs in [-10, 10], sinc with noise of variance
0.01, squared exponentials of length scale 1 on the inputs, no bias. The thesis' noise is not known,
so its numbers are those of another draw; what can be compared is the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from experiments._report import ORANGE, Options, Report, new_figure, number
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


@dataclass(frozen=True)
class Minimum:
    """Where one minimisation ended."""

    loss: float
    vectors: int
    noise: float
    error: float
    converged: bool


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
    return _as_minimum(state, basis, grid, truth, bool(found.success))


def _as_minimum(
    state: State, basis: Basis, grid: Array, truth: Array, converged: bool = True
) -> Minimum:
    mean = basis.columns(grid, state.active) @ state.mean
    error = float(np.mean((mean - truth) ** 2))
    kept = int((state.determined > GONE).sum())
    return Minimum(-state.evidence, kept, 1 / state.beta, error, converged)


def distinct(minima: list[Minimum], tol: float = 1e-3) -> list[Minimum]:
    """One of each, by negative log evidence and number of vectors; the lowest first."""
    kept: list[Minimum] = []
    for m in sorted(minima, key=lambda m: (m.loss, m.vectors)):
        if not any(abs(m.loss - k.loss) < tol and m.vectors == k.vectors for k in kept):
            kept.append(m)
    return kept


def run(options: Options) -> Report:
    """Minimise from random starts, and compare with where `RVR` ends."""
    count = options.count(100, 100)
    rng = np.random.default_rng(options.seed)
    X, y, _ = make_sinc(20, noise=0.1, random_state=rng)
    grid, _, truth = make_sinc(1000, noise=0.0, low=-12, high=12)
    basis = RBF(1.0).fit(X)
    problem = Exact(Dense(basis.columns(X)), Flat(), Gaussian(y, np.ones(20)))
    minima = []
    with threadpool_limits(1):
        for _ in range(count):
            # α and σ² log-uniform over wide ranges; the thesis does not say.
            start = np.append(rng.uniform(-5, 5, 20), rng.uniform(np.log(1e-6), 0))
            minima.append(minimise(problem, start, basis, grid, truth))
    unique = distinct(minima)
    sane = [m for m in unique if m.noise > TINY]
    collapsed = [m for m in unique if m.noise <= TINY]
    best, accurate = unique[0], min(unique, key=lambda m: m.error)

    ours = climb(Sequential(), problem, max_iter=10_000, tol=0.01, rng=rng)
    default = _as_minimum(ours.state, basis, grid, truth)
    estimator = RVR(RBF(1.0), bias=False, calibrate=None).fit(X, y)
    estimator_error = float(np.mean((estimator.predict(grid) - truth) ** 2))

    report = Report("QC04 Fig. 2.2: local minima of the RVM's negative log evidence L")
    report.add("distinct minima", "< 100", str(len(unique)), count)
    report.add("of these with σ² < 1e-9", "some", str(len(collapsed)), count)
    for label, m, paper in (
        ("lowest L", best, ("-11.2", "16", "1e-4", "poor")),
        ("best test error", accurate, ("-10.5", "11", "1e-2", "0.029")),
    ):
        report.add(f"{label}: L", paper[0], m.loss, count)
        report.add(f"{label}: relevance vectors", paper[1], str(m.vectors), count)
        report.add(f"{label}: noise variance", paper[2], m.noise, count)
        report.add(f"{label}: test MSE", paper[3], m.error, count)
    report.add("default solver, same problem: L", None, default.loss)
    report.add("default solver, same problem: relevance vectors", None, str(default.vectors))
    report.add("default solver, same problem: noise variance", None, default.noise)
    report.add("default solver, same problem: test MSE", None, default.error)
    report.add(
        "RVR, which centres the targets: relevance vectors", None, str(len(estimator.relevance_))
    )
    report.add("RVR, which centres the targets: noise variance", None, estimator.noise_variance_)
    report.add("RVR, which centres the targets: test MSE", None, estimator_error)
    report.note(
        f"{sum(not m.converged for m in minima)} of {count} minimisations ended where rounding "
        f"allowed no further step; {len(sane)} distinct minima have σ² > 1e-9, with test MSE "
        f"{number(min(m.error for m in sane))} to {number(max(m.error for m in sane))}."
    )
    effective = float(ours.state.determined.sum()), float(estimator.determined_.sum())
    report.note(
        f"Effective parameters Σγ of 20 samples: default solver {effective[0]:.1f}, RVR "
        f"{effective[1]:.1f}; {'collapsed' if max(effective) > 18 else 'neither has collapsed'}."
    )
    report.note(
        f"A vector counts where its γ > {GONE:g}. The thesis' draw of the noise is unknown."
    )
    report.note("Minima are distinct if L differs by 0.001 or the number of vectors differs.")
    report.note("QC04 (2.21) prints ½ log 2π; ours has (N/2) log 2π, which is 17.5 more at N = 20.")
    report.draw(_figure(unique, default))
    return report


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
    ax.legend(frameon=False, loc="lower left")
    return figure
