"""What `augment` does to the probabilities of the classical machine: losses on many sets.

Rätsch's sets with their first splits, Ripley's data, and iris, wine and digits in halves, inputs
standardised (pixels are not), one kernel of the usual width. An extra function has either the
variance that the latent function has over the training rows, or that but at most three times the
variance of the noise of labels (`augment=True`). A loss is the mean negative log probability of a
new label.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments._classification import Split, fit_rvc, unit
from experiments._report import Options, Report, progress, repeat
from sparsebayes.datasets import load_benchmark

Array = np.ndarray

RAETSCH = (
    "banana", "breast_cancer", "diabetes", "flare_solar", "heart", "ringnorm", "thyroid",
    "waveform",
)  # fmt: skip
BUNDLED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
ONCE = ("flare_solar", "ripley")  # sets with one split
NAMES = (*RAETSCH, "ripley", *BUNDLED)
MODELS = ("classical", "variance of f", "augment=True")


def load(name: str, split: int) -> Split:
    """Training and new rows."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        X, new, y, labels = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
        if name == "digits":
            return X, y, new, labels
    elif name == "ripley":
        data = load_benchmark("ripley_synth")
        X, new, y, labels = (data[f"{what}_{part}"] for what in "Xy" for part in ("train", "test"))
    else:
        data = load_benchmark(f"raetsch_{name}")
        train, test = data["train_idx"][split], data["test_idx"][split]
        X, new = (data["X"][rows].astype(float) for rows in (train, test))
        y, labels = data["y"][train], data["y"][test]
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(new), labels


def one(name: str, split: int) -> Array:
    """The losses of the three models."""
    parts = load(name, split)
    width = unit(parts[0])
    classical, score = fit_rvc(parts, width)
    latent, _ = classical.decision_function(parts[0], return_std=True)
    variance = float(np.mean(latent.var(axis=0)))
    losses = [score.loss]
    for augment in (max(variance, 1e-12), True):
        model, _ = fit_rvc(parts, width, augment=augment)
        losses.append(log_loss(parts[3], model.predict_proba(parts[2]), labels=model.classes_))
    return np.array(losses)


def run(options: Options) -> Report:
    """Losses, and how much `augment=True` changes them."""
    report = Report("Losses of RVC with one more function at each test point")
    for name in NAMES:
        count = 1 if name in ONCE else options.count(10, 1)
        try:
            load(name, 0)
        except FileNotFoundError as error:
            progress(f"{name}: left out. {error}")
            report.note(f"{name}: left out, the data are missing. {error}")
            continue
        tasks = [(name, split) for split in range(count)]
        losses = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        for k, model in enumerate(MODELS):
            report.add(f"{name}, {model}: loss", None, losses[:, k])
        report.add(f"{name}: augment=True less classical", None, losses[:, 2] - losses[:, 0])
    return report
