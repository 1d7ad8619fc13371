"""S08 Figs. 2.11 and 2.28: what a prior does to the precision α of one function.

The log likelihood ``ℓ(α)`` (2.73) has one maximum, finite if ``q² > s``. Fig. 2.11 has the four
things that the smoothness prior can do to it: there is no finite maximum any more, there is one and
no other turning point, or a minimum follows it and the maximum lies above or below what ``α = ∞``
gives. Fig. 2.28 has a gamma prior (a = 1, b = 2; q = 1, s = 2) that keeps a function which the
likelihood removes.

S08 prints no numbers for Fig. 2.11, so the values in our panels are our own. What it says of all
cases is checked on drawn ones: the turning points are the positive roots of the printed cubic
(2.83), and the engine's choice is compared with the best value on a fine grid of α. There
``s ≤ 1/σ²``, as it is for functions of unit norm, for which the prior is printed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, repeat
from sparsebayes.engine import Flat, Gamma, Smoothness

Array = np.ndarray

SMOOTHNESS, GAMMA = "S08 Fig. 2.11", "S08 Fig. 2.28"
PARTS, CASES = 20, 2000  # units of work, and cases drawn in each
PRICES = (1.0, 0.5 * np.log(128), np.log(128))  # AIC, BIC and RIC of 128 samples
KINDS = (
    "no finite maximum",
    "a maximum alone",
    "two turning points, kept",
    "two turning points, removed",
)
SHOWN = ((0.5, 3.0, 2.0), (0.5, 12.0, 2.0), (0.05, 8.0, 2.0), (0.05, 3.5, 2.0))  # s, q²/s, c
GAMMA_CASE = {"s": 2.0, "q2": 1.0, "a": 1.0, "b": 2.0}  # as printed
BOUND = 14.0  # of |log α| in the grid


def log_likelihood(alpha: Array, s: Array, q2: Array) -> Array:
    """What a function adds to the log evidence.  # S08 (2.73)"""
    return 0.5 * (np.log(alpha) - np.log(alpha + s) + q2 / (alpha + s))


def log_posterior(alpha: Array, s: Array, q2: Array, c: Array) -> Array:
    """The same with the smoothness prior, for a noise variance of 1.  # S08 (2.80)"""
    return log_likelihood(alpha, s, q2) - c / (1.0 + alpha)


def turning_points(s: float, q2: float, c: float) -> Array:
    """Positive roots of the cubic, ascending, for a noise variance of 1.  # S08 (2.83)"""
    cubic = (
        s - q2 + 2.0 * c,
        s**2 + 4.0 * c * s + 2.0 * s - 2.0 * q2,
        2.0 * c * s**2 + 2.0 * s**2 + s - q2,
        s**2,
    )
    roots = np.roots(cubic)
    real = roots.real[np.abs(roots.imag) <= 1e-7 * np.abs(roots)]
    return np.sort(real[real > 0])


@dataclass(frozen=True)
class Found:
    """What is true of one case."""

    kind: str
    maxima: int  # finite ones
    right: bool  # the finite maximum, if there is one, is right of the likelihood's
    best: bool  # no α of a grid is better than the engine's


def judge(s: float, q2: float, c: float) -> Found:
    """Look at one case; ``q2 > s``."""
    points = turning_points(s, q2, c)
    values = log_posterior(points, s, q2, c)
    # α → 0 gives −∞, so that the first turning point is a maximum, and they alternate.
    maxima = points[::2]
    if not points.size:
        kind = KINDS[0]
    elif points.size == 1:
        kind = KINDS[1]
    elif points.size == 2:
        kind = KINDS[2] if values[0] > 0.0 else KINDS[3]
    else:
        kind = "another"
    likelihood = s**2 / (q2 - s)
    given = np.array([s]), np.array([q2]), np.array([1.0])
    chosen = Smoothness(c).optimum(*given)
    gain = 0.0
    if np.isfinite(chosen[0]):
        gain = max(gain, float(log_posterior(chosen, *given[:2], c)[0]))
    grid = np.exp(np.linspace(-BOUND, BOUND, 2001))
    best = gain >= log_posterior(grid, s, q2, c).max() - 1e-9
    return Found(kind, maxima.size, bool(np.all(maxima > likelihood)), bool(best))


def drawn(seed: int, part: int, count: int) -> list[Found]:
    """Cases in which the likelihood has a finite maximum."""
    rng = np.random.default_rng([seed, part])
    s = np.exp(rng.uniform(np.log(1e-3), 0.0, count))
    q2 = s * np.exp(rng.uniform(np.log(1.01), np.log(100.0), count))
    c = rng.choice(PRICES, count)
    return [judge(*map(float, case)) for case in zip(s, q2, c, strict=True)]


def run(options: Options) -> Report:
    """Count what happens, and draw the panels."""
    report = Report("S08 Figs. 2.11 and 2.28: one function, with and without a prior")
    parts = options.count(PARTS, 2)
    tasks = [(options.seed, part, CASES if not options.quick else 200) for part in range(parts)]
    found = [one for part in repeat(drawn, tasks, jobs=options.jobs, label="cases") for one in part]
    report.row = SMOOTHNESS
    for kind in KINDS:
        share = np.mean([one.kind == kind for one in found])
        report.add(f"share of cases with {kind}", None, float(share), len(found))
    report.claim(
        "each of the four things happens, and no other",
        {one.kind for one in found} == set(KINDS),
        len(found),
    )
    single = all(one.maxima <= 1 for one in found)
    report.claim("there is never more than one finite maximum", single, len(found))
    right = all(one.right for one in found)
    report.claim("it is always right of the likelihood's", right, len(found))
    report.claim(
        "comparing it with α = ∞ finds the best α: none on a grid is better",
        all(one.best for one in found),
        len(found),
    )
    report.draw(_panels(), "fig11")
    _gamma(report)
    return report


def gamma_posterior(alpha: Array) -> Array:
    """The log posterior of Fig. 2.28, but for a constant; its density is one of α.  # (2.129)"""
    prior = (GAMMA_CASE["a"] - 1.0) * np.log(alpha) - GAMMA_CASE["b"] * alpha
    return log_likelihood(alpha, GAMMA_CASE["s"], GAMMA_CASE["q2"]) + prior


def _gamma(report: Report) -> None:
    report.row = GAMMA
    grid = np.exp(np.linspace(-BOUND, BOUND, 200_001))
    best = float(grid[np.argmax(gamma_posterior(grid))])
    given = np.array([GAMMA_CASE["s"]]), np.array([GAMMA_CASE["q2"]]), np.array([1.0])
    # Ours is a density of log α, with the exponent a instead of a − 1; a has to be positive.
    ours = float(Gamma(1e-10, GAMMA_CASE["b"]).optimum(*given)[0])
    report.add("α of the gamma prior, on a grid", None, best)
    report.add("α of the gamma prior, by the engine", None, ours)
    removed = bool(np.isinf(Flat().optimum(*given)[0]))
    report.claim("the likelihood alone removes the function", removed)
    report.claim(
        "the gamma prior keeps it, at an α that is the best on the grid",
        bool(np.isfinite(ours) and abs(np.log(ours / best)) < 1e-3),
    )
    prices = 10.0 ** np.arange(-6, 4)
    never = all(np.isinf(Smoothness(c).optimum(*given)[0]) for c in prices)
    report.claim(f"the smoothness prior never does, for {prices.size} prices", never)
    report.draw(_gamma_panel(best), "fig28")


def _panels():
    figure = new_figure(10, 6.5)
    log_alpha = np.linspace(-6.0, 8.0, 600)
    alpha = np.exp(log_alpha)
    for ax, (s, ratio, c), kind in zip(figure.subplots(2, 2).flat, SHOWN, KINDS, strict=True):
        q2 = ratio * s
        ax.plot(log_alpha, log_posterior(alpha, s, q2, c), color=BLUE, label="log posterior")
        ax.plot(log_alpha, log_likelihood(alpha, s, q2), "--", color=ORANGE, label="log likelihood")
        ax.plot(log_alpha, -c / (1.0 + alpha), ":", color=GREY, label="log prior")
        ax.axhline(0.0, color=GREY, linewidth=0.5)
        points = turning_points(s, q2, c)
        ax.plot(np.log(points), log_posterior(points, s, q2, c), "o", color=BLUE, markersize=4)
        ax.set_title(f"{kind}: s = {s:g}, q² = {q2:g}, c = {c:g}", fontsize=10)
        ax.set(ylim=(-2.5, 5.0), xlabel="log α (σ² = 1)")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


def _gamma_panel(best: float):
    figure = new_figure(6, 4)
    ax = figure.subplots()
    log_alpha = np.linspace(-5.0, 3.0, 400)
    alpha = np.exp(log_alpha)
    s, q2, b = GAMMA_CASE["s"], GAMMA_CASE["q2"], GAMMA_CASE["b"]
    ax.plot(log_alpha, gamma_posterior(alpha) + np.log(b), color=BLUE, label="log posterior")
    ax.plot(log_alpha, log_likelihood(alpha, s, q2), "--", color=ORANGE, label="log likelihood")
    ax.plot(log_alpha, np.log(b) - b * alpha, ":", color=GREY, label="log gamma prior")
    ax.axvline(np.log(best), color=GREY, linewidth=0.5)
    ax.set(xlabel="log α", ylim=(-5.0, 1.0), title="a = 1, b = 2, q = 1, s = 2")
    ax.legend(frameon=False, fontsize=8)
    return figure
