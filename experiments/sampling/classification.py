"""Class probabilities averaged over sampled models, beside those of the optimum.

Two moons with 100 samples and 2000 new ones, iris with 75 samples and the other 75, and the breast
cancer data of scikit-learn with 100 samples and the other 469; inputs standardised by the training
samples. The optimum is an RVC with the logit and no calibration, for the latter two with a linear
basis; the average is over two chains from `sample_posterior`. Losses are mean negative log
probabilities of the new labels.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from experiments._report import Options, Report, repeat
from sparsebayes import RVC, sample_posterior

Array = np.ndarray

NAMES = ("two moons", "iris", "breast cancer")
DRAWS = 400
_LEAST = 1e-12  # of a probability; no loss is infinite


def data(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Samples, and others."""
    if name == "two moons":
        X, y = make_moons(100, noise=0.3, random_state=seed)
        new, labels = make_moons(2000, noise=0.3, random_state=100_000 + seed)
        return X, y, new, labels
    load, size = (load_iris, 75) if name == "iris" else (load_breast_cancer, 100)
    X, y = load(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    own, other = order[:size], order[size:]
    X = (X - X[own].mean(axis=0)) / X[own].std(axis=0)
    return X[own], y[own], X[other], y[other]


def _scores(probability: Array, labels: Array) -> tuple[float, float]:
    """Loss and error rate."""
    likely = probability[np.arange(len(labels)), labels]
    loss = -np.log(np.maximum(likely, _LEAST)).mean()
    return float(loss), float(np.mean(probability.argmax(axis=1) != labels))


def one(name: str, seed: int, repetition: int, draws: int) -> Array:
    """Losses and errors of the optimum and of the average, and their numbers of weights."""
    X, y, new, labels = data(name, 1000 * seed + repetition)
    model = RVC("rbf" if name == "two moons" else "linear", link="logit", calibrate=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        samples = sample_posterior(model, X, y, draws, 2, random_state=repetition)
    active = samples.data.posterior["active"]
    sizes = active.sum([name for name in active.dims if name not in ("chain", "draw")])
    return np.array(
        [
            *_scores(samples.optimum.predict_proba(new), labels),
            *_scores(samples.predict_proba(new), labels),
            np.isfinite(samples.optimum.alpha_).sum(),
            float(sizes.mean()),
        ]
    )


def run(options: Options) -> Report:
    """Compare losses and errors set by set."""
    report = Report("Class probabilities averaged over sampled models")
    count = options.count(20, 3)
    draws = 50 if options.quick else DRAWS
    for name in NAMES:
        tasks = [(name, options.seed, k, draws) for k in range(count)]
        results = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        report.add(f"{name}: loss of the optimum", None, results[:, 0])
        report.add(f"{name}: loss of the average", None, results[:, 2])
        report.add(f"{name}: average minus optimum", None, results[:, 2] - results[:, 0])
        report.add(f"{name}: error of the optimum", None, results[:, 1])
        report.add(f"{name}: error of the average", None, results[:, 3])
        better = int((results[:, 2] < results[:, 0]).sum())
        report.note(
            f"{name}: the average has the smaller loss in {better} of {count}; "
            f"{results[:, 4].mean():.1f} weights at the optimum, {results[:, 5].mean():.1f} on "
            "average over draws."
        )
    return report
