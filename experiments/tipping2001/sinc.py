"""T01 4.1, Figs. 1-2: sinc with the linear spline, noise-free (σ = 0.01 fixed) and noisy.

T01 mentions no centring of the targets, and `RVR` centres them, which leaves the same functions
but other α of the bias and so other optima. Both are shown, at T01's width (none, so 1) and at
S08's. Relevance vectors are kernel functions; the bias is not
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, repeat
from sparsebayes import RVR
from sparsebayes.basis import Basis, Bias, LinearSpline
from sparsebayes.datasets import make_sinc
from sparsebayes.engine import EM, Dense, Exact, Flat, Gaussian, Sequential, Solver
from sparsebayes.engine import run as climb

Array = np.ndarray

SOLVERS: dict[str, Solver] = {
    "sequential": Sequential(),
    "mackay": EM(mackay=True),
    "em": EM(),
}
S08_WIDTH = 3.0  # S08 2.5.1, footnote 19
PAPER_NOISY = 0.0245


@dataclass(frozen=True)
class Fit:
    """A fit without centring, as T01's."""

    basis: Basis
    weights: Array
    vectors: Array
    evidence: float

    def predict(self, X: Array) -> Array:
        """The posterior mean."""
        return self.basis.columns(X) @ self.weights


def fit_uncentred(X: Array, y: Array, noise: float | None, solver: Solver) -> Fit:
    """T01's model with its own targets: a bias and the splines (29), flat priors."""
    basis = (Bias() + LinearSpline()).fit(X)
    sites = Gaussian(y, np.ones(len(y)), noise)
    problem = Exact(Dense(basis.columns(X)), Flat(), sites)
    rng = np.random.default_rng(0)  # not used by these solvers
    state = climb(solver, problem, max_iter=10_000, tol=0.01, rng=rng).state
    order = np.argsort(state.active)
    kept = state.active[order]
    vectors = X[basis.center_index_[kept[kept > 0]]]
    return Fit(basis.select(kept), state.mean[order], vectors, state.evidence)


def noisy(seed: int, repetition: int, solver: str) -> tuple[float, int]:
    """RMS error and relevance vectors of `RVR` on one draw of the uniform noise."""
    rng = np.random.default_rng([seed, repetition])
    X, y, _ = make_sinc(100, noise=0.2, noise_kind="uniform", random_state=rng)
    grid, _, truth = make_sinc(1000, noise=0.0)
    model = RVR(LinearSpline(), solver=solver, calibrate=None).fit(X, y)
    error = np.sqrt(np.mean((model.predict(grid) - truth) ** 2))
    return float(error), len(model.relevance_vectors_)


def run(options: Options) -> Report:
    """Both parts of T01 4.1 and their figures."""
    report = Report("T01 4.1: sinc with the linear spline kernel")
    grid, _, truth = make_sinc(2001, noise=0.0)
    X, y, _ = make_sinc(100, noise=0.0)
    shown = None
    for name, solver in SOLVERS.items():
        model = fit_uncentred(X, y, 0.01**2, solver)
        worst = np.abs(model.predict(grid) - truth).max()
        _noise_free(report, f"noise-free, as T01, {name}", model.vectors, worst)
        shown = shown or model
    for width in (1.0, S08_WIDTH):
        for name in SOLVERS:
            estimator = RVR(LinearSpline(width), noise=0.01**2, solver=name, calibrate=None).fit(
                X, y
            )
            worst = np.abs(estimator.predict(grid) - truth).max()
            label = f"noise-free, RVR (centred), width {width:g}, {name}"
            _noise_free(report, label, estimator.relevance_vectors_, worst)
    report.note(
        "As T01: targets not centred (T01 mentions no centring). RVR centres them; at width 1 its "
        "largest error is then at the end x = -10."
    )

    count = options.count(100, 10)
    for name in ("sequential", "mackay"):
        tasks = [(options.seed, i, name) for i in range(count)]
        values = np.array(repeat(noisy, tasks, jobs=options.jobs, label=f"noisy, {name}"))
        report.add(f"uniform noise, {name}: RMS", PAPER_NOISY, values[:, 0])
        report.add(f"uniform noise, {name}: relevance vectors", 6, values[:, 1])
    report.note(
        f"The paper's {PAPER_NOISY} is one draw; {np.mean(values[:, 0] <= PAPER_NOISY):.0%} of "
        f"ours (mackay) are as good; best {values[:, 0].min():.4f}. T01's averages of 100 draws "
        "with Gaussian kernels and noise of deviation 0.1 (0.0326 RVM, 0.0378 SVM), scaled to "
        "0.2/√3, are 0.0376 and 0.0436: that draw seems to have favoured both machines "
        "(0.0245 RVM, 0.0291 SVM)."
    )
    report.note("Relevance vectors are kernel functions; the bias is not counted.")
    report.draw(_plot(X, y, grid, truth, shown, "noise-free, σ = 0.01 fixed"), "fig1")
    X, y, _ = make_sinc(
        100, noise=0.2, noise_kind="uniform", random_state=np.random.default_rng([options.seed, 0])
    )
    model = RVR(LinearSpline(), calibrate=None).fit(X, y)
    report.draw(_plot(X, y, grid, truth, model, "uniform noise in [-0.2, 0.2]"), "fig2")
    return report


def _noise_free(report: Report, label: str, vectors: Array, worst: float) -> None:
    report.add(f"{label}: relevance vectors", 9, str(len(vectors)))
    report.add(f"{label}: largest error", 0.007, f"{worst:.4f}")
    met = len(vectors) <= 10 and worst < 0.01
    report.note(
        f"{label}: at most 10 vectors and a largest error below 0.01: {'met' if met else 'NOT met'}"
    )


def _plot(X: Array, y: Array, grid: Array, truth: Array, model, title: str):
    figure = new_figure(7, 4)
    ax = figure.subplots()
    vectors = model.vectors if isinstance(model, Fit) else model.relevance_vectors_
    targets = dict(zip(X[:, 0], y, strict=True))
    ax.plot(grid, truth, color=GREY, linewidth=3, alpha=0.5, label="sinc")
    ax.plot(grid, model.predict(grid), color=BLUE, label="RVM")
    ax.plot(X, y, ".", color="black", markersize=4, label="data")
    ax.plot(
        vectors[:, 0],
        [targets[x] for x in vectors[:, 0]],
        "o",
        color=ORANGE,
        markersize=9,
        markerfacecolor="none",
        markeredgewidth=1.5,
        label=f"{len(vectors)} relevance vectors",
    )
    ax.set(xlabel="x", ylabel="t", title=f"sinc, linear spline, {title}")
    ax.legend(frameon=False)
    return figure
