"""QC04 Figs. 4.4-4.6: Gaussian processes trained on noisy inputs.

Fig. 4.4 is sin(x) at 20 points with output noise 0.01, known to the model, and input noise 1.2.
Figs. 4.5 and 4.6 are sin(x)/x at 50 points with input noise 1 and output noise 0.01 and 0.05. The
thesis shows one draw of each; the numbers here are over several draws. Losses are at 100 clean
inputs drawn uniformly, with noisy outputs. All models know the input noise.

The annealing of Fig. 4.5 is the thesis' own: one path, on which each level of the noise begins
where the last one ended. It says that "the rest of the parameters (i.e. lengthscales)" are learned,
and not how long; so the amplitude is also held, and only a few steps taken.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from experiments._report import BLUE, GREEN, GREY, ORANGE, Options, Report, new_figure, repeat
from sparsebayes.engine.noisy_gp import log_evidence
from sparsebayes.uncertain import NoisyInputGPR
from sparsebayes.uncertain.noisy.imputation import Imputed, begin, cool, process_of, spread_of
from sparsebayes.uncertain.noisy.space import NoisyData, Space

Array = np.ndarray

LEVELS = 10.0 ** np.linspace(-0.5, -2.5, 13)  # output standard deviations along the annealing
TRUE = 9  # the place of the true one, 0.01
HELD = 0, 3, 6, TRUE  # places at which all is learned from random hyperparameters
N_STARTS = 20
APART = 0.1  # between losses of different solutions
STEPS = 100  # at most, at each level
# What is learned at each level, and in how many steps.
WAYS = {"all learned": (False, STEPS), "amplitude held": (True, STEPS), "3 steps": (False, 3)}
MAIN = "all learned"
N_ARROWS = 6  # of the inputs that move most, in the picture of Fig. 4.4
METHODS = ("stochastic_em", "imputation", "slope")
STANDARD = "standard GP"
OUTPUT = 0.05  # standard deviation of the outputs in Fig. 4.6
ACCURATE = 0.03, 0.09  # estimates of it that are called accurate


class Draw:
    """A training set with noisy inputs, and clean test data."""

    def __init__(
        self, function: Any, ends: float, size: int, output: float, inputs: float, seed: Any
    ):
        rng = np.random.default_rng(seed)
        self.clean = np.linspace(-ends, ends, size)
        self.y = function(self.clean) + output * rng.standard_normal(size)
        self.X = (self.clean + inputs * rng.standard_normal(size))[:, None]
        self.test = rng.uniform(-ends, ends, 100)
        self.truth = function(self.test)
        self.y_test = self.truth + output * rng.standard_normal(100)
        self.input_noise = inputs**2

    def standard(self) -> GaussianProcessRegressor:
        """A Gaussian process that takes the inputs as they are."""
        kernel = ConstantKernel(0.1, (1e-4, 1e2)) * RBF(2.0, (0.1, 100)) + WhiteKernel(0.01)
        return GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=0).fit(
            self.X, self.y
        )

    def fit(self, method: Any, **options: Any) -> NoisyInputGPR:
        """One that knows their noise."""
        model = NoisyInputGPR(
            input_noise=self.input_noise, method=method, random_state=0, **options
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self.X, self.y)

    def loss(self, model: Any) -> float:
        """Negative log density of the test data."""
        mean, std = model.predict(self.test[:, None], return_std=True)
        return float(-norm.logpdf(self.y_test, mean, std).mean())

    def error(self, model: Any) -> float:
        """Root mean square of the error to the true function."""
        return float(np.sqrt(np.mean((model.predict(self.test[:, None]) - self.truth) ** 2)))


def sine(seed: Any) -> Draw:
    """The data of Fig. 4.4."""
    return Draw(np.sin, 3.0, 20, 0.01, 1.2, [4, seed])


def sinc(output: float, seed: Any) -> Draw:
    """The data of Figs. 4.5 and 4.6."""
    return Draw(lambda x: np.sinc(x / np.pi), 10.0, 50, output, 1.0, [6, seed])


def noise_of(model: Any) -> float:
    """The estimated standard deviation of the outputs."""
    if isinstance(model, NoisyInputGPR):
        return float(np.sqrt(model.noise_variance_))
    return float(np.sqrt(model.kernel_.k2.noise_level))


def cleaned(seed: int) -> tuple[float, ...]:
    """Fig. 4.4: errors and slopes of both models, and how far inputs are from the true ones."""
    draw = sine(seed)
    plain, model = draw.standard(), draw.fit("imputation", noise=1e-4)
    observed, imputed = (
        float(np.sqrt(np.mean((part[:, 0] - draw.clean) ** 2))) for part in (draw.X, model.inputs_)
    )
    slopes = (float(np.diff(one.predict([[-0.1], [0.1]]))[0] / 0.2) for one in (plain, model))
    return draw.error(plain), draw.error(model), observed, imputed, *slopes


class Annealing:
    """The thesis' cleanGP of one draw at levels of the output noise that are held."""

    def __init__(self, draw: Draw, kernel: Any):
        self.draw = draw
        self.data = NoisyData(draw.y, draw.X, np.array([[draw.input_noise]]))
        space = Space(kernel, LEVELS[0] ** 2, 1, by_kernel=True, noise_bounds=None)
        self.state = begin(space, self.data)

    def go(self, level: float, steps: int) -> tuple[float, float, float, float]:
        """Learn all else from here on; loss, error, slope by log noise, share in the 95 % band."""
        self.state, _ = cool(self.state, self.data, level**2, steps)
        mean, variance = process_of(self.state, self.data).marginal(self.draw.test[:, None])
        std = np.sqrt(variance + level**2)
        loss = -norm.logpdf(self.draw.y_test, mean, std).mean()
        error = np.sqrt(np.mean((mean - self.draw.truth) ** 2))
        inside = np.mean(np.abs(self.draw.y_test - mean) <= 1.96 * std)
        return float(loss), float(error), slope_by_noise(self.state, self.data), float(inside)


def slope_by_noise(state: Imputed, data: NoisyData) -> float:
    """Of the log evidence at the imputed inputs, by the log of the output noise."""
    X = data.X + spread_of(state.space, data) * state.xi
    return float(log_evidence(X[None], data.y, state.space.theta(state.vector))[1].noise[0])


def amplitude(value: float, held: bool = False) -> ConstantKernel:
    """Of the kernel."""
    return ConstantKernel(value, "fixed" if held else (1e-4, 1e2))


def annealed(way: str, seed: int) -> Array:
    """Fig. 4.5: losses, errors, slopes, shares in the band along the annealing, (levels, 4)."""
    held, steps = WAYS[way]
    path = Annealing(sinc(0.01, seed), amplitude(0.1, held) * RBF(2.0, (0.1, 100)))
    return np.array([path.go(float(level), steps) for level in LEVELS])


def restarted(seed: int) -> Array:
    """Fig. 4.5: losses from random hyperparameters, the noise held, (`HELD`, starts)."""
    draw, rng = sinc(0.01, seed), np.random.default_rng(seed)
    kernels = [
        amplitude(a) * RBF(b, (0.1, 100))
        for a, b in zip(
            rng.uniform(0.05, 0.5, N_STARTS), rng.uniform(0.3, 5.0, N_STARTS), strict=True
        )
    ]
    return np.array(
        [[Annealing(draw, one).go(float(LEVELS[k]), STEPS)[0] for one in kernels] for k in HELD]
    )


def beside(seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Fig. 4.5: noise and loss of the standard GP, and where our own rule stops the annealing."""
    draw = sinc(0.01, seed)
    models = draw.standard(), draw.fit("imputation")
    standard, rule = ((noise_of(model), draw.loss(model)) for model in models)
    return standard, rule


def solutions(losses: Array) -> int:
    """How many of these are different."""
    return 1 + int(np.sum(np.diff(np.sort(losses)) > APART))


def compared(seed: int) -> dict[str, tuple[float, float]]:
    """Fig. 4.6: estimated output noise and loss of each method."""
    draw = sinc(OUTPUT, seed)
    models = {STANDARD: draw.standard(), **{method: draw.fit(method) for method in METHODS}}
    return {name: (noise_of(model), draw.loss(model)) for name, model in models.items()}


def run(options: Options) -> Report:
    """The three figures, and what the text says of them."""
    report = Report("QC04 Figs. 4.4-4.6: training on noisy inputs")
    _cleaned(report, options)
    _annealed(report, options)
    _sampled(report, options)
    report.note("Losses are negative log densities of new observations at clean inputs.")
    return report


def _cleaned(report: Report, options: Options) -> None:
    report.row = "QC04 Fig. 4.4"
    few = options.count(20, 2)
    tasks = ((k,) for k in range(few))
    rows = np.array(repeat(cleaned, tasks, jobs=options.jobs, label="Fig. 4.4"))
    names = (
        "error of the standard GP",
        "error of cleanGP",
        "inputs observed: distance to the true ones",
        "inputs imputed: distance to the true ones",
        "slope of the standard GP at 0 (true 1)",
        "slope of cleanGP at 0 (true 1)",
    )
    for name, values in zip(names, rows.T, strict=True):
        report.add(name, None, values)
    standard, clean, observed, imputed, flat, steep = rows.T
    for statement, holds in (
        ("cleanGP fits a better model", clean < standard),
        ("the standard GP underestimates the slope, and cleanGP comes closer",
         (flat < 1) & (np.abs(steep - 1) < 1 - flat)),
        ("imputed inputs are closer to the true ones than those observed", imputed < observed),
    ):  # fmt: skip
        report.shown(statement, holds)
    report.note(
        f"QC04 Fig. 4.4: the thesis shows one draw on which cleanGP errs less, as it does on "
        f"{np.sum(clean < standard)} of our {few}. Over all of them it errs by {clean.mean():.3f} "
        f"on average, the standard GP by {standard.mean():.3f} (at the median "
        f"{np.median(clean):.3f} and {np.median(standard):.3f}). With 20 points and inputs that "
        "are off by 1.2, some draws can be imputed to lie on another function: the largest error "
        "of cleanGP is "
        f"{clean.max():.2f}, of the standard GP {standard.max():.2f}. The picture has the first "
        f"draw, on which they err by {clean[0]:.2f} and {standard[0]:.2f}."
    )
    report.draw(_figure_4(sine(0)), "fig4_4")


def _annealed(report: Report, options: Options) -> None:
    report.row = "QC04 Fig. 4.5"
    jobs, draws = options.jobs, range(options.count(20, 1))
    found = {}
    for way in WAYS:
        tasks = [(way, k) for k in draws]
        found[way] = np.array(repeat(annealed, tasks, jobs=jobs, label=f"Fig. 4.5, {way}"))
    starts = np.array(repeat(restarted, [(k,) for k in draws], jobs=jobs, label="Fig. 4.5, starts"))
    others = np.array(repeat(beside, [(k,) for k in draws], jobs=jobs, label="Fig. 4.5, GP"))
    plain, ours = others[:, 0, 1], others[:, 1]
    report.add("loss, standard GP", None, plain)
    for way, paths in found.items():
        losses = paths[..., 0]
        report.add(f"{way}: loss at the best level of the annealing", None, losses.min(axis=1))
        report.add(f"{way}: loss at the true noise", None, losses[:, TRUE])
        report.add(f"{way}: loss at the true noise, median", None, np.median(losses[:, TRUE]))
        stop = np.abs(paths[..., 2]).argmin(axis=1)
        at = losses[np.arange(len(stop)), stop]
        report.add(f"{way}: loss where the gradient by the noise is least", None, at)
    report.add("loss where our own rule stops", None, ours[:, 1])
    report.add("output sd where our own rule stops", None, ours[:, 0])
    paths = found[MAIN]
    losses, true = paths[..., 0], starts[:, -1]
    report.add("random starts at the true noise: least loss", "very poor", true.min(axis=1))
    report.add("random starts at the true noise: median loss", "very poor", np.median(true, axis=1))
    counts = np.array([[solutions(one) for one in levels] for levels in starts])
    for k, values in zip(HELD, counts.T, strict=True):
        report.add(f"different solutions of {N_STARTS} starts at sd {LEVELS[k]:.2g}", None, values)
    known, best = losses[:, TRUE], losses.min(axis=1)
    for statement, holds in (
        ("the annealing passes a solution that is better than the standard GP", best < plain),
        ("annealed to the true noise, cleanGP is better than the standard GP", known < plain),
        ("annealed to the true noise, it is better than from most random starts",
         known < np.median(true, axis=1)),
        ("several different solutions from random starts at the true noise (more than 2)",
         counts[:, -1] > 2),
        ("fewer of them at the highest noise", counts[:, 0] < counts[:, -1]),
        ("all of them generalise very poorly: worse than the standard GP",
         true.min(axis=1) > plain),
        ("annealed too far it over-fits: the lowest level is worse than the best",
         losses[:, -1] > best + APART),
    ):  # fmt: skip
        report.shown(statement, holds)
    report.draw(_figure_5(paths[0, :, 0], starts[0], others[0]), "fig4_5")
    _say_annealed(report, found, plain, ours)


def _say_annealed(report: Report, found: dict[str, Array], plain: Array, ours: Array) -> None:
    """Where the annealing is best, and why it is not at the true noise."""
    of, paths = len(plain), found[MAIN]
    every, place = np.arange(of), paths[..., 0].argmin(axis=1)
    levels, stop = LEVELS[place], np.abs(paths[..., 2]).argmin(axis=1)
    ahead = {way: np.sum(one[:, TRUE, 0] < plain) for way, one in found.items()}
    report.note(
        "QC04 Fig. 4.5: the thesis does not say where its optimal solution lies on the path, but "
        "that one has to know the true noise. Here the best level, which test data tell, has an "
        f"output sd of {levels.min():.2g} to {levels.max():.2g} (median {np.median(levels):.2g}), "
        f"above the true {LEVELS[TRUE]:g}, on {np.sum(place < TRUE)} of {of} draws. From there to "
        f"the true noise the function errs by {np.median(paths[every, place, 1]):.3f} and then "
        f"{np.median(paths[:, TRUE, 1]):.3f} (medians), "
        f"{np.median(paths[:, TRUE, 1]) / LEVELS[TRUE]:.1f} times the noise that the model is "
        "told. Its error bars take the imputed inputs as certain: the 95 % band covers "
        f"{paths[every, place, 3].mean():.0%} at the best levels, and at the true noise "
        f"{paths[:, TRUE, 3].mean():.0%}. So the loss at the true noise is below that of the "
        "standard GP on "
        + ", ".join(f"{count} ({way})" for way, count in ahead.items())
        + f" of {of} draws. The gradient by the noise, which the thesis followed with limited "
        f"success, is least at an sd of {np.median(LEVELS[stop]):.2g} (median), and the loss there "
        f"is lower on {np.sum(paths[every, stop, 0] < plain)} draws; where our own rule stops, on "
        f"{np.sum(ours[:, 1] < plain)}."
    )


def _sampled(report: Report, options: Options) -> None:
    many = options.count(20, 1)
    report.row = "QC04 Fig. 4.6"
    tasks = ((k,) for k in range(many))
    results = repeat(compared, tasks, jobs=options.jobs, label="Fig. 4.6")
    paper = {STANDARD: "0.16, one draw", "stochastic_em": "0.06, one draw"}
    losses = {name: np.array([one[name][1] for one in results]) for name in results[0]}
    noises = {name: np.array([one[name][0] for one in results]) for name in results[0]}
    for name, values in noises.items():
        report.add(f"output sd, {name} (true {OUTPUT:g})", paper.get(name), values)
    for name, values in losses.items():
        report.add(f"loss, {name}", None, values)
    low, high = ACCURATE
    sampled = noises["stochastic_em"]
    for statement, holds in (
        (f"the standard GP over-estimates the noise (more than twice {OUTPUT:g})",
         noises[STANDARD] > 2 * OUTPUT),
        (f"stochastic EM estimates it well (between {low:g} and {high:g})",
         (sampled >= low) & (sampled <= high)),
        ("stochastic EM has the better predictive density",
         losses["stochastic_em"] < losses[STANDARD]),
    ):  # fmt: skip
        report.shown(statement, holds)
    for name in METHODS[1:]:
        wins = np.sum(losses[name] < losses[STANDARD])
        report.note(f"Fig. 4.6: {name} is better than the standard GP on {wins} of {many} draws.")
    report.draw(_figure_6(sinc(OUTPUT, 0)), "fig4_6")


def _figure_4(draw: Draw) -> Any:
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    grid = np.linspace(-3, 3, 200)[:, None]
    model = draw.fit("imputation", noise=1e-4)
    axes.plot(grid, draw.standard().predict(grid), "--", color=GREEN, label="standard GP")
    axes.plot(grid, model.predict(grid), color=ORANGE, label="cleanGP")
    axes.plot(draw.clean, draw.y, "o", color=BLUE, mfc="none", label="true inputs")
    axes.plot(draw.X[:, 0], draw.y, "x", color=GREEN, label="noisy inputs")
    axes.plot(model.inputs_[:, 0], draw.y, "s", color=ORANGE, mfc="none", label="imputed inputs")
    moved = model.inputs_[:, 0] - draw.X[:, 0]
    for k in np.argsort(-np.abs(moved))[:N_ARROWS]:
        ends = {"xy": (model.inputs_[k, 0], draw.y[k]), "xytext": (draw.X[k, 0], draw.y[k])}
        axes.annotate("", **ends, arrowprops={"arrowstyle": "->", "color": GREY})
    axes.set(xlabel="x", ylabel="y", title="Inputs cleaned (Fig. 4.4)")
    axes.legend(fontsize=8)
    return figure


def _figure_5(path: Array, starts: Array, others: Array) -> Any:
    figure = new_figure(7.0, 4.5)
    axes = figure.subplots()
    best = int(path.argmin())
    axes.semilogx(LEVELS, path, "o-", color=BLUE, ms=4, label="annealing")
    for k, losses in zip(HELD, starts, strict=True):
        label = f"random starts, {N_STARTS} at a level" if k == TRUE else None
        at = np.full(losses.size, LEVELS[k])
        axes.plot(at, losses, "o", color=ORANGE, mfc="none", label=label)
    axes.plot(LEVELS[best], path[best], "D", color=BLUE, ms=9, mfc="none", label="its best level")
    axes.axvline(LEVELS[TRUE], color=GREY, lw=0.8, ls=":", label="true noise")
    axes.plot(*others[0], "*", color=GREEN, ms=12, label="standard GP")
    axes.plot(*others[1], "s", color=GREY, mfc="none", ms=9, label="where our own rule stops")
    axes.set_yscale("symlog")
    axes.set(xlabel="output noise, standard deviation", ylabel="loss", title="Annealing (Fig. 4.5)")
    axes.legend(fontsize=8)
    return figure


def _figure_6(draw: Draw) -> Any:
    figure = new_figure(9.0, 6.5)
    top, left, right = figure.subplot_mosaic([["t", "t"], ["l", "r"]]).values()
    model, grid = draw.fit("stochastic_em"), np.linspace(-10, 10, 300)[:, None]
    samples = model.samples_[:, :, 0]
    top.plot(samples.ravel(), np.tile(draw.y, len(samples)), ".", color="0.75", ms=2,
             label="samples of the inputs")  # fmt: skip
    top.plot(draw.clean, draw.y, "o", color=BLUE, mfc="none", ms=5, label="true inputs")
    top.plot(draw.X[:, 0], draw.y, "x", color="k", label="noisy inputs")
    top.set(title="Stochastic EM (Fig. 4.6)", xlabel="x", ylabel="y")
    top.legend(fontsize=8)
    for axes, name, one in ((left, STANDARD, draw.standard()), (right, "stochastic EM", model)):
        mean, std = one.predict(grid, return_std=True)
        band = mean - 1.96 * std, mean + 1.96 * std
        axes.fill_between(grid[:, 0], *band, color="0.85", label="95 % band")
        axes.plot(grid, mean, "--", color=ORANGE, label="mean")
        axes.plot(grid, np.sinc(grid / np.pi), color=GREY, lw=0.8, label="truth")
        axes.set(title=f"{name}: output sd {noise_of(one):.3f}", xlabel="x", ylim=(-0.8, 1.5))
        axes.legend(fontsize=8)
    return figure
