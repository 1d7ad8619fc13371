"""Averages over the posterior beside the optimum: what S08 2.7 expected of sampling.

Sinc, Friedman's first function and the diabetes data of scikit-learn with 100 samples each; 1000
new ones to predict, for the diabetes the other 342. The optimum is `RVR()`, for the diabetes
`RVR("linear")`; the average is over two chains from `sample_posterior` with the length scales
of that optimum. Losses are mean negative log densities of the new observations; "band" is the
share of them within 1.96 standard deviations. S08 has no figures for this.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from experiments._report import BLUE, GREY, Options, Report, new_figure, repeat
from sparsebayes import RVR, sample_posterior
from sparsebayes.datasets import make_friedman1, make_sinc

Array = np.ndarray

NAMES = ("sinc", "Friedman #1", "diabetes")
DRAWS = 400


def data(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """100 samples, and others."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(X))
        return X[order[:100]], y[order[:100]], X[order[100:]], y[order[100:]]
    if name == "sinc":
        X, y, _ = make_sinc(100, noise=0.1, random_state=seed)
        new, target, _ = make_sinc(1000, noise=0.1, random_state=100_000 + seed)
    else:
        X, y, _ = make_friedman1(100, random_state=seed)
        new, target, _ = make_friedman1(1000, random_state=100_000 + seed)
    return X, y, new, target


def _loss(mean: Array, std: Array, y: Array) -> tuple[float, float]:
    """Mean negative log density, and the share within the band of 95 %."""
    error = (y - mean) / std
    loss = 0.5 * np.mean(error**2 + np.log(2.0 * np.pi * std**2))
    return float(loss), float(np.mean(np.abs(error) < 1.96))


def one(name: str, seed: int, repetition: int, draws: int) -> Array:
    """Losses and bands of the optimum and of the average, and that of the mixture; functions."""
    X, y, new, target = data(name, 1000 * seed + repetition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RVR("linear" if name == "diabetes" else "rbf", calibrate=None)
        samples = sample_posterior(model, X, y, draws, 2, random_state=repetition)
    optimum = samples.optimum
    alone = _loss(*optimum.predict(new, return_std=True), target)
    averaged = _loss(*samples.predict(new, return_std=True), target)
    mixture = -float(samples.log_density(new, target).mean())
    active = float(samples.data.posterior["n_active"].mean())
    return np.array([*alone, *averaged, mixture, len(optimum.relevance_), active])


def run(options: Options) -> Report:
    """Compare the losses draw by draw."""
    report = Report("Averaging over the posterior (S08 2.7)")
    count = options.count(20, 3)
    draws = 50 if options.quick else DRAWS
    found = {}
    for name in NAMES:
        tasks = [(name, options.seed, k, draws) for k in range(count)]
        results = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        found[name] = results
        report.add(f"{name}: loss of the optimum", None, results[:, 0])
        report.add(f"{name}: loss of the average", None, results[:, 2])
        report.add(f"{name}: loss of the mixture", None, results[:, 4])
        report.add(f"{name}: average minus optimum", None, results[:, 2] - results[:, 0])
        report.add(f"{name}: band of the optimum", None, results[:, 1])
        report.add(f"{name}: band of the average", None, results[:, 3])
        better = int((results[:, 2] < results[:, 0]).sum())
        report.note(
            f"{name}: the average is better in {better} of {count}; {results[:, 5].mean():.1f} "
            f"functions at the optimum, {results[:, 6].mean():.1f} on average over draws."
        )
    report.draw(_figure(found))
    return report


def _figure(found: dict[str, Array]):
    figure = new_figure(12, 4)
    for axis, (name, results) in zip(figure.subplots(1, len(found)), found.items(), strict=True):
        both = results[:, [0, 2]]
        low, high = both.min(), both.max()
        axis.plot([low, high], [low, high], color=GREY, linewidth=0.8)
        axis.scatter(both[:, 0], both[:, 1], color=BLUE, s=14)
        axis.set_xlabel("loss of the optimum")
        axis.set_ylabel("loss of the average")
        axis.set_title(name)
    return figure
