"""S08 Figs. 2.25 to 2.27: chains that stay in furrows, and chains that mix.

S08 sampled α for Sinc (64 samples, SNR 5, linear splines of width 3) and for BlocksSinc (256
samples, SNR 7, Haar wavelets and linear splines) by Metropolis steps with all functions in the
model (MH), by reversible jumps with such steps (RJMH) and by jumps between models with all α the
same (RJ), and reported that none of them mixed. Here each is run in four chains from different
optima, with the acceptance ratios put right. Its prior is one per unit of α between 1e-10 and 1e10,
so that next to all of it is where a function does nothing; RJMH is also run with our prior, per
unit of log α. Beside them stands the default sampler, with S08's prior BIC and with a flat one.

The worst R-hat, over ten predictions or also over the noise variance and the number of functions,
says whether the chains agree: 1 if they do. S08 ran 400 000 steps for Sinc and fewer for
BlocksSinc, of which it had fewer functions; here it is 100 000 and 50 000 for each chain.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments._report import BLUE, GREEN, ORANGE, PINK, Options, Report, new_figure, repeat
from experiments.schmolck2008.local_minima import SETTINGS, Task, task
from sparsebayes import RVR, sample_posterior
from sparsebayes.sampling import Gibbs, ReversibleJump

Array = np.ndarray

ROW = "S08 Figs. 2.25-2.27"
AGREE = 1.1  # chains with a larger R-hat do not agree
STEPS = (50, 10, 2)  # of MH
CHAINS = 4
POINTS = 10
SHOWN = 250  # draws of each chain in the figure
_WIDE: dict[str, Any] = {"bounds": (1e-10, 1e10), "per_alpha": True, "inclusion": 0.5}


@dataclass(frozen=True)
class Sampler:
    """A scheme of S08, or ours; `steps` in a chain, or sweeps of the default sampler.

    The options are the priors: those of `sample_posterior`, and the `prior` of the RVR.
    """

    label: str
    finding: str | None
    steps: int
    method: Gibbs | ReversibleJump = field(default_factory=Gibbs)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def default(self) -> bool:
        return self.method == Gibbs()


def _schemes(found: tuple[str, ...], steps: int) -> tuple[Sampler, ...]:
    walks = [
        Sampler(
            f"MH, step {step}", found[0], steps, ReversibleJump(walk=float(step), jump=False), _WIDE
        )
        for step in STEPS
    ]
    spread = ReversibleJump(birth="lognormal", birth_spread=10.0, walk=10.0)
    return (
        *walks,
        Sampler("RJMH", found[1], steps, ReversibleJump(walk=10.0), _WIDE),
        Sampler("RJMH, log-normal births", None, steps, spread, _WIDE),
        Sampler("RJ, one α", found[2], steps, ReversibleJump(birth="fixed")),
        Sampler("RJMH, our prior", None, steps, ReversibleJump(walk=2.0)),
        Sampler("default", None, 1333),
        Sampler("default, flat", None, 1333, options={"prior": "flat"}),
    )


CASES = (
    ("Sinc", 1, _schemes(("stuck", "poor", "best, not always"), 100_000)),
    ("BlocksSinc", 5, _schemes(("stuck", "fails", "fails"), 50_000)),
)


@dataclass(frozen=True, eq=False)
class Run:
    """What is told of one sampler."""

    log_alpha: Array  # (chains × draws, M), NaN where a function is out
    curves: Array  # (chains, N)
    r_hat: float
    r_hat_all: float
    size: int
    ess: float
    error: float
    active: float
    noise: float
    seconds: float


def sample(case: int, which: int, seed: int, quick: bool) -> Run:
    """Run the chains of one sampler."""
    import arviz

    _, number, samplers = CASES[case]
    given, sampler = task(number, seed), samplers[which]
    columns = given.columns
    sweeps = sampler.steps if sampler.default else sampler.steps // columns.shape[1]
    if sampler.default and columns.shape[1] > 100:
        sweeps //= 2
    if quick:
        sweeps = max(16, sweeps // 50)
    arguments = dict(sampler.options)
    model = RVR("precomputed", prior=arguments.pop("prior", "bic"), bias=False, calibrate=None)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is what the table is about
        draws = sample_posterior(
            model,
            columns,
            given.y,
            n_samples=sweeps - sweeps // 4,
            n_warmup=sweeps // 4,
            n_chains=CHAINS,
            method=sampler.method,
            random_state=seed,
            **arguments,
        )
    seconds = time.perf_counter() - begun
    at = np.linspace(0, len(given.y) - 1, POINTS).astype(int)
    values = draws.predictions(columns)  # (chains, draws, N)
    some = [np.ascontiguousarray(values[:, :, i]) for i in at]
    data = draws.to_arviz(log_likelihood=False, posterior_predictive=False)
    posterior = data.posterior
    numbers = [posterior[name].values.astype(float) for name in ("noise_variance", "n_active")]
    numbers = [v for v in numbers if np.ptp(v) > 0]  # without jumps the second is constant
    hats = [float(arviz.rhat(v)) for v in [*some, *numbers]]
    alpha = data.sample_stats["alpha"].values
    part = alpha[:, :: max(1, alpha.shape[1] // SHOWN)]
    curves = values.mean(axis=1)
    return Run(
        np.where(np.isfinite(part), np.log10(part), np.nan).reshape(-1, alpha.shape[2]),
        curves,
        max(hats[:POINTS]),
        max(hats),
        values.shape[1] * CHAINS,
        min(float(arviz.ess(v)) for v in [*some, *numbers]),
        float(np.mean((curves.mean(axis=0) - given.f) ** 2)),
        float(posterior["n_active"].mean()),
        float(posterior["noise_variance"].mean()),
        seconds,
    )


def run(options: Options) -> Report:
    """Sample, tell how well the chains agree, and draw them."""
    report = Report("S08 Figs. 2.25-2.27: samplers of α")
    report.row = ROW
    for case, (name, number, samplers) in enumerate(CASES):
        given = task(number, options.seed)
        tasks = [(case, which, options.seed, options.quick) for which in range(len(samplers))]
        runs = repeat(sample, tasks, jobs=options.jobs, label=name)
        for sampler, found in zip(samplers, runs, strict=True):
            label = f"{name}, {sampler.label}"
            report.row = "" if sampler.finding is None else ROW
            report.add(f"{label}: worst R-hat, predictions", sampler.finding, found.r_hat, CHAINS)
            report.add(f"{label}: worst R-hat, all", None, found.r_hat_all, CHAINS)
            report.add(f"{label}: least effective draws", None, f"{found.ess:.0f}", CHAINS)
            report.add(f"{label}: MSE", None, found.error, CHAINS)
            report.note(
                f"{label}: {found.active:.1f} functions and a noise variance of {found.noise:.3g} "
                f"on average, {found.size} draws in {found.seconds:.0f} s."
            )
        setting = SETTINGS[number]
        report.note(f"{name}: the true noise variance is {given.noise:.3g} ({setting.label}).")
        by_label = {one.label: found for one, found in zip(samplers, runs, strict=True)}
        report.row = ROW
        _claims(report, name, by_label, given)
        report.draw(_figure(given, samplers, runs), name.lower())
    return report


def _claims(report: Report, name: str, found: dict[str, Run], given: Task) -> None:
    """What S08 says of its chains, by the worst R-hat of predictions."""
    walks = [found[f"MH, step {step}"] for step in STEPS]
    jumps, alone = found["RJMH"], found["RJ, one α"]
    for step, one in zip(STEPS, walks, strict=True):
        report.claim(
            f"{name}: MH with step {step} is stuck: R-hat above {AGREE:g}", one.r_hat > AGREE
        )
    if name == "Sinc":
        report.claim(f"{name}: RJMH mixes poorly: R-hat above {AGREE:g}", jumps.r_hat > AGREE)
        best = alone.r_hat < min(one.r_hat for one in (*walks, jumps))
        report.claim(f"{name}: RJ with one α has the least R-hat of the three ways", best)
    else:
        fails = jumps.r_hat > AGREE
        report.claim(f"{name}: RJMH fails: R-hat above {AGREE:g}", fails)
        power = float(given.f.var())
        good = min(one.error for one in walks) < 0.1 * power
        report.claim(
            f"{name}: MH has an acceptable mean: error below a tenth of the variance", good
        )
        report.claim(f"{name}: RJ with one α fails: R-hat above {AGREE:g}", alone.r_hat > AGREE)
    report.note(
        f"{ROW}: {name}: worst R-hat of predictions: MH "
        + ", ".join(f"{one.r_hat:.2f}" for one in walks)
        + f"; RJMH {jumps.r_hat:.2f}; RJ with one α {alone.r_hat:.2f}; our default "
        f"{found['default'].r_hat:.2f}. The acceptance ratios of S08 lack the ways to choose what "
        "is born and what dies; they are put right here, which can make chains mix that did not. "
        "S08 looked at its chains, R-hat is ours. Its one α is 1e-5, without swaps; ours is 1e-5 "
        "relative to φᵀφ/σ² of each function, with swaps."
    )


def _figure(given: Task, samplers: tuple[Sampler, ...], runs: list[Run]):
    figure = new_figure(11, 1.9 * len(runs))
    axes = figure.subplots(len(runs), 2, squeeze=False, width_ratios=(3, 2))
    for (left, right), sampler, found in zip(axes, samplers, runs, strict=True):
        shown = np.ma.masked_invalid(found.log_alpha.T)
        image = left.imshow(shown, aspect="auto", cmap="viridis_r", interpolation="nearest")
        figure.colorbar(image, ax=left, label="log₁₀ α")
        each = shown.shape[1] // CHAINS
        for chain in range(1, CHAINS):
            left.axvline(chain * each - 0.5, color="black", linewidth=0.8)
        left.set_title(f"{sampler.label}: worst R-hat {found.r_hat:.2f}", fontsize=9)
        left.set_ylabel("function", fontsize=8)
        left.set_xticks([])
        for curve, color in zip(found.curves, (BLUE, ORANGE, GREEN, PINK), strict=True):
            right.plot(curve, color=color, linewidth=0.8)
        right.plot(given.f, color="black", linewidth=0.8, linestyle="--")
        right.set_title(f"mean of each chain; MSE {found.error:.2g}", fontsize=9)
        right.margins(x=0.01)
    axes[-1, 0].set_xlabel("draws, four chains one after another", fontsize=8)
    axes[-1, 1].set_xlabel("sample", fontsize=8)
    return figure
