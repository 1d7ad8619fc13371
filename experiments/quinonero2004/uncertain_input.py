"""QC04 Fig. 4.1: a prediction at an uncertain input, by exact, Taylor and sampled moments.

The paper does not say which function, model and input it used. Here an RVR learns from 60 noisy
samples of a smooth function, and the input is so uncertain that the prediction has two modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from experiments._report import BLUE, GREEN, GREY, ORANGE, Options, Report, new_figure
from sparsebayes import RVR, predict_uncertain

Array = np.ndarray

N_TRAIN, NOISE = 60, 0.05
CENTRE, SPREAD = 0.35, 0.75  # of the input
N_DOTS = 100
LIMITS = (-4.0, 4.0)


def function(x: Array) -> Array:
    """The truth."""
    return np.sin(1.6 * x) + 0.15 * x


def model_of(rng: np.random.Generator) -> RVR:
    """The fitted model."""
    X = np.linspace(*LIMITS, N_TRAIN)[:, None]
    return RVR(calibrate=None).fit(X, function(X[:, 0]) + NOISE * rng.standard_normal(N_TRAIN))


def moments(model: Any, draws: int, seed: int) -> dict[str, tuple[float, float]]:
    """Mean and variance of the prediction, by each method."""
    found = {}
    for method in ("exact", "taylor", "monte_carlo"):
        mean, variance = predict_uncertain(
            model,
            [[CENTRE]],
            [[SPREAD**2]],
            method=method,
            n_samples=draws,
            random_state=seed,
        )
        found[method] = float(mean[0]), float(variance[0])
    return found


def run(options: Options) -> Report:
    """The moments and the figure."""
    rng = np.random.default_rng(options.seed)
    model = model_of(rng)
    draws = 20_000 if options.quick else 1_000_000
    found = moments(model, draws, options.seed)
    inputs = CENTRE + SPREAD * rng.standard_normal(N_DOTS)
    outputs = model.predict(inputs[:, None])
    report = Report("QC04 Fig. 4.1: the moments of a prediction at an uncertain input")
    labels = {
        "exact": "exact",
        "taylor": "Taylor",
        "monte_carlo": f"Monte Carlo, {draws} draws",
    }
    report.row = "QC04 Fig. 4.1"
    for method, label in labels.items():
        report.add(f"mean, {label}", None, found[method][0])
    for method, label in labels.items():
        report.add(f"standard deviation, {label}", None, np.sqrt(found[method][1]))
    (mean, variance), (sampled, sampled_variance) = found["exact"], found["monte_carlo"]
    deviation = abs(mean - sampled) / np.sqrt(sampled_variance / draws)
    report.claim("the exact mean is that of the samples (within 4 standard errors)", deviation < 4)
    # The standard error of a sampled variance is taken as that of normal draws.
    report.claim(
        "the exact variance is that of the samples (within 4 standard errors)",
        abs(variance / sampled_variance - 1) < 4 * np.sqrt(2 / draws),
    )
    taylor = found["taylor"]
    report.claim(
        "Taylor's expansion is further off in both moments",
        abs(taylor[0] - sampled) > abs(mean - sampled)
        and abs(taylor[1] - sampled_variance) > abs(variance - sampled_variance),
    )
    report.note(
        f"x ~ N({CENTRE}, {SPREAD}²). Exact and sampled means differ by "
        f"{deviation:.2g} standard errors, variances "
        f"by {abs(variance / sampled_variance - 1):.2g} in parts. The paper prints no numbers."
    )
    report.note(
        "QC04 Fig. 4.1: the thesis does not say which function, model and input it used, and ours "
        f"are made up: {N_TRAIN} noisy samples of a smooth function, and an input so uncertain "
        "that the prediction has two modes."
    )
    report.draw(_figure(model, inputs, outputs, found))
    return report


def _figure(model: Any, inputs: Array, outputs: Array, found: dict) -> Any:
    figure = new_figure(7, 5)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 3), height_ratios=(3, 1))
    main = figure.add_subplot(grid[0, 1])
    left, below = (
        figure.add_subplot(grid[0, 0], sharey=main),
        figure.add_subplot(grid[1, 1], sharex=main),
    )
    x = np.linspace(*LIMITS, 400)
    main.plot(x, function(x), color=GREY, label="truth")
    main.plot(inputs, outputs, ".", color=GREEN, markersize=4, label="samples through the model")
    main.legend(frameon=False, loc="upper left")
    main.tick_params(labelbottom=False, labelleft=False)
    main.set_ylim(-3.2, 3.2)

    density = np.exp(-0.5 * ((x - CENTRE) / SPREAD) ** 2) / (SPREAD * np.sqrt(2 * np.pi))
    below.plot(x, density, "--", color=GREY)
    below.plot(inputs, np.full(inputs.size, -0.04), ".", color=GREEN, markersize=3)
    below.plot(CENTRE, 0.0, "^", color=GREY)
    below.set(xlabel="input", ylabel="density", xlim=LIMITS)

    y = np.linspace(-3.2, 3.2, 400)
    density = gaussian_kde(outputs, 0.25)(y)  # narrow, to show the modes
    left.plot(density, y, "--", color=GREY)
    left.plot(np.full(outputs.size, -0.03), outputs, ".", color=GREEN, markersize=3)
    left.plot(0.0, outputs.mean(), ">", color=GREY)
    for place, (method, marker, color, label) in enumerate(
        (("exact", "o", BLUE, "exact"), ("taylor", "*", ORANGE, "Taylor"))
    ):
        mean, variance = found[method]
        left.errorbar(
            0.55 + 0.15 * place,
            mean,
            1.96 * np.sqrt(variance),
            fmt=marker,
            color=color,
            capsize=3,
            label=label,
        )
    left.set(xlabel="density", ylabel="prediction", xlim=(0.8, -0.08))
    left.legend(frameon=False, loc="lower left")
    return figure
