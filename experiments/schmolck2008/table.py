"""S08 Table 2.1: number of components, error and noise of each prior on standard signals.

Four blocks estimate the noise; in the fifth, Doppler, it is given. S08 prints that block as SNR 2;
its numbers are those of SNR 7. Each row has the paper's mean ± spread over its 10 runs. An entry
agrees within the printed spread or 10 %; where the spread is printed as 0, within half of the last
printed digit. How many are "met", within two spreads or 10 %, is told below the table.

100 draws are the default since the entries vary: "Sinc, symmlet, RIC: MSE" is at the limit, and was
missed with the first 20 draws. Grid and scaling of the noise are those that agree best with the
table (see `_data`), so this is no blind test of them.

The flat prior ("None") with wavelets keeps everything at vanishing noise, of which `denoise` warns;
that is the point of these rows, so the warning is silenced.

S08 prices a component by ``c/(1 + σ²α)`` whatever its norm; ours is relative to the norm, so that
nothing depends on units. It makes no difference to wavelets. Gaussians have a squared norm of 24
here, so the "gauss 3.0" block has S08's own algorithm with its own price below ours.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments._report import BLUE, ORANGE, Options, Report, new_figure, repeat
from experiments.schmolck2008._climber import FIRST_NOISE, Unscaled, climb
from experiments.schmolck2008._data import clean, noisy, samples
from sparsebayes import denoise
from sparsebayes.dictionaries import Dictionary, Kernel, Wavelet
from sparsebayes.engine import Dense, Exact, Gaussian
from sparsebayes.engine.linalg import one_thread

Array = np.ndarray
Entry = tuple[float, float] | None  # mean and spread, as printed

ROW = "S08 Table 2.1"
PRIORS = {"None": "flat", "AIC": "aic", "BIC": "bic", "RIC": "ric"}


@dataclass(frozen=True)
class Row:
    """A row of the table: S, MSE and noise variance."""

    prior: str
    active: Entry
    error: Entry
    noise: Entry = None

    def entries(self) -> tuple[tuple[str, Entry, float], ...]:
        """Each with its name and half of its last printed digit."""
        digits = 5e-4 if self.noise is not None else 5e-6
        return ("S", self.active, 0.05), ("MSE", self.error, digits), ("σ²", self.noise, digits)


@dataclass(frozen=True)
class Block:
    """Rows that share a signal and a dictionary."""

    label: str
    signal: str
    n: int
    snr: float
    kernel: str
    rows: tuple[Row, ...]
    given: bool = False

    @property
    def as_printed(self) -> bool:
        """Whether it is run by the document's own algorithm and price."""
        return self.kernel.endswith("as printed")

    def dictionary(self) -> Dictionary:
        if self.kernel == "symmlet":
            return Wavelet("sym8")
        return Kernel("rbf", samples(3.0 / np.sqrt(2.0), self.n))


_GAUSS = (
    Row("None", (5.7, 0.7), (0.004, 0.001), (0.032, 0.001)),
    Row("AIC", (5.4, 1.1), (0.004, 0.001), (0.034, 0.001)),
    Row("BIC", (5.2, 0.6), (0.005, 0.001), (0.035, 0.002)),
    Row("RIC", (4.9, 1.0), (0.005, 0.001), (0.036, 0.002)),
)
BLOCKS = (
    Block(
        "Bumps SNR 2",
        "bumps",
        128,
        2.0,
        "symmlet",
        (
            Row("None", (127.0, 0.0), (0.119, 0.001), (0.0, 0.0)),
            Row("AIC", (36.3, 7.8), (0.088, 0.008), (0.121, 0.037)),
            Row("BIC", (11.9, 2.5), (0.153, 0.034), (0.262, 0.038)),
            Row("RIC", (2.6, 1.4), (0.320, 0.051), (0.450, 0.068)),
        ),
    ),
    Block(
        "Bumps SNR 7",
        "bumps",
        128,
        7.0,
        "symmlet",
        (
            Row("None", (127.0, 0.0), (0.010, 0.000), (0.0, 0.0)),
            Row("AIC", (61.9, 6.0), (0.009, 0.001), (0.010, 0.004)),
            Row("BIC", (19.2, 4.9), (0.081, 0.024), (0.106, 0.029)),
            Row("RIC", (6.4, 1.3), (0.203, 0.024), (0.238, 0.018)),
        ),
    ),
    Block("Sinc SNR 2", "sinc", 128, 2.0, "gauss 3.0", _GAUSS),
    Block("Sinc SNR 2", "sinc", 128, 2.0, "gauss 3.0 as printed", _GAUSS),
    Block(
        "Sinc SNR 2",
        "sinc",
        128,
        2.0,
        "symmlet",
        (
            Row("None", (127.0, 0.0), (0.031, 0.000), (0.0, 0.0)),
            Row("AIC", (28.9, 5.9), (0.012, 0.003), (0.020, 0.004)),
            Row("BIC", (9.1, 1.9), (0.006, 0.002), (0.032, 0.003)),
            Row("RIC", (6.2, 0.6), (0.006, 0.001), (0.036, 0.002)),
        ),
    ),
    Block(
        "Doppler SNR 7",
        "doppler",
        1024,
        7.0,
        "symmlet",
        (
            Row("None", (367.3, 10.5), (0.00067, 0.00002)),
            Row("AIC", (130.5, 6.9), (0.00041, 0.00002)),
            Row("BIC", (56.6, 2.8), (0.00026, 0.00002)),
            Row("RIC", (42.2, 1.5), (0.00036, 0.00002)),
        ),
        given=True,
    ),
)


def one(number: int, seed: int, repetition: int) -> Array:
    """S, MSE and noise variance of each row of a block, for one draw of the noise."""
    block = BLOCKS[number]
    f = clean(block.signal, block.n)
    rng = np.random.default_rng([seed, repetition])
    y = noisy(f, block.snr, rng)
    if block.as_printed:
        return np.array([_as_printed(y, f, row, block, rng) for row in block.rows])
    noise = f.var(ddof=1) / block.snr**2 if block.given else "estimate"
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for row in block.rows:
            found = denoise(
                y, block.dictionary(), method="sparse", prior=PRIORS[row.prior], noise=noise
            )
            error = float(np.mean((found.signal - f) ** 2))
            out.append((found.n_active, error, found.noise_variance))
    return np.array(out)


def _as_printed(
    y: Array, f: Array, row: Row, block: Block, rng: np.random.Generator
) -> tuple[float, float, float]:
    """S08's Alg. 1: a random order of steps, functions not scaled, targets not centred."""
    price = {"None": 0.0, "AIC": 1.0, "BIC": 0.5 * np.log(y.size), "RIC": np.log(y.size)}
    columns = block.dictionary().bind((y.size,)).synthesise(np.eye(y.size)).T
    problem = Exact(Dense(columns), Unscaled(price[row.prior]), Gaussian(y, np.ones(y.size)))
    with one_thread():
        start = FIRST_NOISE * float(y.var())
        state = climb(problem, columns.T @ columns, rng, first_noise=start).state
    error = float(np.mean((columns[:, state.active] @ state.mean - f) ** 2))
    return state.active.size, error, 1.0 / state.beta


def met(ours: float, paper: tuple[float, float], spreads: float = 2.0) -> bool:
    """Whether a mean is within some spreads of the printed one, or 10 %."""
    return bool(abs(ours - paper[0]) <= max(spreads * paper[1], 0.1 * paper[0]) + 1e-12)


def run(options: Options) -> Report:
    """Make the table, and a figure of ours relative to the paper's."""
    count = options.count(100, 3)
    report = Report("S08 Table 2.1: components, error and noise of the smoothness priors")
    shown: list[tuple[str, Row, Array]] = []
    verdicts: dict[str, list[bool]] = {"S": [], "MSE": []}
    strict: list[bool] = []
    for number, block in enumerate(BLOCKS):
        label = f"{block.label}, {block.kernel}"
        tasks = [(number, options.seed, i) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=label))
        for k, row in enumerate(block.rows):
            shown.append((f"{label}, {row.prior}", row, values[:, k]))
            for column, (name, paper, digit) in enumerate(row.entries()):
                if paper is None:
                    continue
                some = values[:, k, column]
                good = met(some.mean(), paper)
                report.row = "" if block.as_printed else ROW
                mean, spread = paper[0], paper[1] or digit
                best = "low" if name == "MSE" else None
                report.add(f"{label}, {row.prior}: {name}", mean, some, spread=spread, best=best)
                if name != "σ²" and not block.as_printed:
                    verdicts[name].append(good)
                    strict.append(met(some.mean(), paper, 2.0 / np.sqrt(10.0)))
    report.note(
        "Mean ± spread over runs. Within two of the paper's spreads or 10 %: "
        + ", ".join(f"{name} {sum(v)} of {len(v)}" for name, v in verdicts.items())
        + " (the rows as printed not counted). Within two standard errors of the paper's means "
        f"(spread/√10) or 10 %: {sum(strict)} of {len(strict)} entries."
    )
    _tell_price(report, shown)
    report.draw(_figure(shown), "", ROW)
    return report


def _tell_price(report: Report, shown: list[tuple[str, Row, Array]]) -> None:
    """Why Gaussians are fewer here, where both prices have been run."""
    sizes = {name: values[:, 0].mean() for name, _, values in shown}
    label = "Sinc SNR 2, gauss 3.0"
    ours, printed = sizes.get(f"{label}, BIC"), sizes.get(f"{label} as printed, BIC")
    if ours is None or printed is None:
        return
    report.note(
        f"{ROW}: gauss 3.0: the price (2.59) is on degrees of freedom, which (2.58) counts as "
        "1/(1 + σ²α) for each function. That is so for functions of unit norm; for others it is "
        "1/(1 + σ²α/φᵀφ). S08 takes (2.58) for kernels too (2.60); ours has φᵀφ in it, so that "
        "nothing depends on the unit of a function. These Gaussians have φᵀφ = 24 in the middle, "
        "so S08 asks less for the same function, and more of them stay: with BIC ours keeps "
        f"{ours:.1f}, S08 prints 5.2, and its own algorithm with its own price keeps "
        f'{printed:.1f} (the lines "as printed", which are not part of the verdict). It makes no '
        "difference to wavelets, whose norm is 1. Ours also centres the targets and searches "
        "further."
    )


def _figure(shown: list[tuple[str, Row, Array]]):
    figure = new_figure(10, 6.5)
    axes = figure.subplots(1, 2, sharey=True)
    positions = np.arange(len(shown))
    for ax, column, title in zip(axes, (0, 1), ("components S", "mean squared error"), strict=True):
        for position, (_, row, values) in zip(positions, shown, strict=True):
            mean, spread = (row.active if column == 0 else row.error) or (np.nan, np.nan)
            ours = values[:, column] / mean
            low, width = 1 - 2 * spread / mean, 4 * spread / mean
            ax.barh(position, width, 0.7, low, color=ORANGE, alpha=0.3)
            ax.plot(1, position, "|", color=ORANGE, markersize=9)
            ax.errorbar(ours.mean(), position, xerr=ours.std(), fmt="o", color=BLUE, markersize=4)
        ax.set_xlabel(f"{title}, relative to the paper's mean")
        ax.set_xlim(0, 2.1)
    axes[0].set_yticks(positions, [name for name, _, _ in shown], fontsize=8)
    axes[0].invert_yaxis()
    axes[0].set_title("bars: paper ± two spreads; dots: ours ± spread", loc="left", fontsize=9)
    return figure
