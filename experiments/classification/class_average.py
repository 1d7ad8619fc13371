"""How exact the averaged softmax of a Gaussian is, beside Monte Carlo and by log loss.

Means and covariances of the latent functions are those that the classical machine and `augment`
give for new rows of iris, wine, digits and gases, and for the same rows moved away from the data;
and made-up ones, with Wishart covariances of very unequal variances. The truth is a mean over
quasi-random draws and their negatives. Losses are mean negative log probabilities of the new rows.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, softmax
from scipy.stats import qmc
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from experiments._classification import Split
from experiments._report import Options, Report, repeat
from sparsebayes import RVC
from sparsebayes.classification import class_probability, latent
from sparsebayes.datasets import make_gases

Array = np.ndarray

DIGITS = (3, 4, 5, 6)  # how many of the ten
NAMES = ("iris", "wine", "gases", *(f"{count} digits" for count in DIGITS))
CLASSES = (3, 5, 10)
SCALES = (0.5, 1.0, 2.0, 4.0, 1000.0)
_AWAY = 1.5  # standard deviations of the inputs
_MOST = 100  # new rows


def load(name: str, rng: np.random.Generator) -> Split:
    """Training and new rows, standardised."""
    if name == "gases":
        X, y = make_gases(400, random_state=int(rng.integers(1000)))[:2]
    elif name.endswith("digits"):
        X, y = load_digits(return_X_y=True)
        few = y < int(name[0])
        X, y = X[few], y[few]
    else:
        X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    order = rng.permutation(len(y))
    train, new = np.split(order[: 2 * min(_MOST, len(y) // 2)], 2)
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[new]), y[new]


def draws(mean: Array, covariance: Array, count: int, seed: int) -> Array:
    """The mean softmax over draws of f."""
    points = qmc.Sobol(mean.shape[1], rng=np.random.default_rng(seed)).random(count // 2)
    normal = ndtri(np.clip(points, 1e-12, 1.0 - 1e-12))
    values, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    out = np.empty(mean.shape)
    for row, (center, root) in enumerate(zip(mean, roots, strict=True)):
        f = normal @ root.T
        both = softmax(center + f, axis=1) + softmax(center - f, axis=1)
        out[row] = 0.5 * both.mean(axis=0)
    return out


def fitted(name: str, augment: bool, count: int, seed: int) -> tuple[Array, float, float]:
    """Errors of the formula, and the losses by it and by the draws."""
    rng = np.random.default_rng(seed)
    X, y, new, labels = load(name, rng)
    model = RVC(link="logit", adapt=None, calibrate=None, augment=augment).fit(X, y)
    rows = np.vstack([new, new + _AWAY * rng.standard_normal(new.shape)])
    parts = list(latent.joint(model, rows))
    mean, covariance = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    ours = class_probability.softmax(mean, covariance)
    truth = draws(mean, covariance, count, seed)
    losses = [log_loss(labels, p[: len(new)], labels=model.classes_) for p in (ours, truth)]
    return np.abs(ours - truth), losses[0], losses[1]


def made_up(n_classes: int, scale: float, count: int, seed: int) -> Array:
    """Errors of the formula."""
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((100, n_classes)) * max(1.5, scale)
    half = rng.standard_normal((100, n_classes, n_classes))
    half *= rng.uniform(0.3, 1.7, (100, n_classes, 1)) * scale / np.sqrt(n_classes)
    covariance = half @ half.transpose(0, 2, 1)
    truth = draws(mean, covariance, count, seed)
    return np.abs(class_probability.softmax(mean, covariance) - truth)


def run(options: Options) -> Report:
    """Mean and largest errors."""
    report = Report("The average of a softmax: errors of the formula to Monte Carlo")
    count, repetitions = (2**13, 1) if options.quick else (2**16, options.count(3, 1))
    seeds = [options.seed + i for i in range(repetitions)]
    everything = []
    for name in NAMES:
        for augment in (False, True):
            label = f"{name}, augment" if augment else name
            tasks = [(name, augment, count, seed) for seed in seeds]
            found = repeat(fitted, tasks, jobs=options.jobs, label=label)
            errors = np.concatenate([one[0].ravel() for one in found])
            everything.append(errors)
            report.add(f"{label}: mean error", None, errors.mean())
            report.add(f"{label}: largest error", None, errors.max())
            report.add(f"{label}: loss", None, np.array([one[1] for one in found]))
            report.add(f"{label}: loss by draws", None, np.array([one[2] for one in found]))
    report.add("all sets: mean error", None, np.mean([errors.mean() for errors in everything]))
    report.add("all sets: largest error", None, max(errors.max() for errors in everything))
    for n_classes in CLASSES:
        for scale in SCALES:
            label = f"made up, {n_classes} classes, std {scale:g}"
            cases = [(n_classes, scale, count, seed) for seed in seeds]
            errors = np.concatenate(repeat(made_up, cases, jobs=options.jobs, label=label))
            report.add(f"{label}: mean error", None, errors.mean())
            report.add(f"{label}: largest error", None, errors.max())
    report.note(f"Draws for each row: {count}.")
    return report
