"""QC04 Figs. 4.4-4.6: Gaussian processes trained on noisy inputs.

Fig. 4.4 is sin(x) at 20 points with output noise 0.01, known to the model, and input noise 1.2.
Figs. 4.5 and 4.6 are sin(x)/x at 50 points with input noise 1 and output noise 0.01 and 0.05. The
thesis shows one draw of each; the numbers here are over several draws. Losses are at 100 clean
inputs drawn uniformly, with noisy outputs. All models know the input noise.
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
from sparsebayes.uncertain import Imputation, NoisyInputGPR

Array = np.ndarray

LEVELS = np.geomspace(3e-1, 3e-3, 13)  # output standard deviations along the annealing
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
    """Fig. 4.4: errors of both models, and how far inputs are from the true ones."""
    draw = sine(seed)
    model = draw.fit("imputation", noise=1e-4)
    observed, imputed = (
        float(np.sqrt(np.mean((part[:, 0] - draw.clean) ** 2))) for part in (draw.X, model.inputs_)
    )
    return draw.error(draw.standard()), draw.error(model), observed, imputed


def annealed(seed: int) -> tuple[Array, float, tuple[float, float], tuple[float, float], Array]:
    """Fig. 4.5: losses along the annealing, at the true level, where the rule stops, and at random.

    The last are losses of fits with the noise held at the lowest level from the beginning, from
    random hyperparameters.
    """
    draw, rng = sinc(0.01, seed), np.random.default_rng(seed)
    path = np.array([draw.loss(draw.fit("imputation", noise=level**2)) for level in LEVELS])
    known = draw.loss(draw.fit("imputation", noise=1e-4))
    found, plain = draw.fit("imputation"), draw.standard()
    starts = [
        ConstantKernel(a) * RBF(b)
        for a, b in zip(rng.uniform(0.05, 0.5, 20), rng.uniform(0.3, 5.0, 20), strict=True)
    ]
    held = [
        draw.loss(draw.fit(Imputation(n_levels=1), kernel=start, noise=1e-4)) for start in starts
    ]
    rule, standard = ((noise_of(m), draw.loss(m)) for m in (found, plain))
    return path, known, rule, standard, np.array(held)


def compared(seed: int) -> dict[str, tuple[float, float]]:
    """Fig. 4.6: estimated output noise and loss of each method."""
    draw = sinc(OUTPUT, seed)
    models = {STANDARD: draw.standard(), **{method: draw.fit(method) for method in METHODS}}
    return {name: (noise_of(model), draw.loss(model)) for name, model in models.items()}


def run(options: Options) -> Report:
    """The three figures, and what the text says of them."""
    report = Report("QC04 Figs. 4.4-4.6: training on noisy inputs")
    jobs = options.jobs
    few, some, many = (options.count(*pair) for pair in ((20, 2), (5, 1), (20, 1)))

    report.row = "QC04 Fig. 4.4"
    rows = np.array(repeat(cleaned, ((k,) for k in range(few)), jobs=jobs, label="Fig. 4.4"))
    names = ("error of the standard GP", "error of cleanGP", "inputs observed: distance to the "
             "true ones", "inputs imputed: distance to the true ones")  # fmt: skip
    for name, values in zip(names, rows.T, strict=True):
        report.add(name, None, values)
    standard, clean, observed, imputed = rows.T
    for statement, holds in (
        ("cleanGP fits a better model", clean < standard),
        ("imputed inputs are closer to the true ones than those observed", imputed < observed),
    ):
        report.shown(statement, holds)
    report.note(
        "QC04 Fig. 4.4: the thesis shows one draw. With 20 points and inputs that are off by 1.2, "
        "some draws can be imputed to lie on another function: the largest error of cleanGP is "
        f"{clean.max():.2f}, of the standard GP {standard.max():.2f}; at the median they are "
        f"{np.median(clean):.2f} and {np.median(standard):.2f}."
    )
    report.draw(_figure_4(sine(0)), "fig4_4")

    report.row = "QC04 Fig. 4.5"
    found = repeat(annealed, ((k,) for k in range(some)), jobs=jobs, label="Fig. 4.5")
    paths = np.array([path for path, *_ in found])
    known, plain = (
        np.array(values) for values in zip(*((one[1], one[3][1]) for one in found), strict=True)
    )
    held = np.array([np.median(one[4]) for one in found])
    report.add("loss, standard GP", None, plain)
    report.add("loss, annealing at its best level", None, paths.min(axis=1))
    report.add("loss, annealing to the true noise", None, known)
    report.add("loss, annealing to where the rule stops", None, [one[2][1] for one in found])
    report.add("output sd where the rule stops", None, [one[2][0] for one in found])
    report.add("loss without annealing, median of 20 starts", "very poor", held)
    starts = [len(np.unique(np.round(one[4], 2))) for one in found]
    for statement, holds in (
        ("along the annealing there is a better model than the standard GP",
         paths.min(axis=1) < plain),
        ("annealed to the true noise, cleanGP is better than the standard GP", known < plain),
        ("annealed to the true noise, it is better than without annealing", known < held),
        ("without annealing it is worse than the standard GP", held > plain),
        ("without annealing several different solutions are reached", np.array(starts) > 2),
        ("further annealing over-fits: the lowest level is worse than the best",
         paths[:, -1] > paths.min(axis=1) + 0.1),
    ):  # fmt: skip
        report.shown(statement, holds)
    report.draw(_figure_5(found[0]), "fig4_5")

    report.row = "QC04 Fig. 4.6"
    results = repeat(compared, ((k,) for k in range(many)), jobs=jobs, label="Fig. 4.6")
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
    report.note("Losses are negative log densities of new observations at clean inputs.")
    report.note(
        "QC04 Fig. 4.5: the thesis stops the annealing at the true noise, which its models were "
        "told."
    )
    return report


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
    axes.set(xlabel="x", ylabel="y", title="Inputs cleaned (Fig. 4.4)")
    axes.legend(fontsize=8)
    return figure


def _figure_5(found: tuple[Any, ...]) -> Any:
    path, known, rule, standard, held = found
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    axes.semilogx(LEVELS, path, "o-", color=BLUE, ms=4, label="annealing")
    axes.plot(np.full(len(held), 0.01), np.clip(held, None, 50.0), "o", color=ORANGE, mfc="none",
              label="no annealing, 20 starts (cut at 50)")  # fmt: skip
    axes.plot(0.01, known, "D", color=BLUE, label="annealed to the true noise")
    axes.plot(*rule, "s", color=GREY, label="where the rule stops")
    axes.plot(*standard, "*", color=GREEN, ms=12, label="standard GP")
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
        axes.fill_between(grid[:, 0], mean - 1.96 * std, mean + 1.96 * std, color="0.85")
        axes.plot(grid, mean, "--", color=ORANGE)
        axes.plot(grid, np.sinc(grid / np.pi), color=GREY, lw=0.8)
        axes.set(title=f"{name}: output sd {noise_of(one):.3f}", xlabel="x", ylim=(-0.8, 1.5))
    return figure
