"""`RVC()` beside a support vector machine with probabilities, on sets that scikit-learn has.

Two moons (two classes, 200 or 4000 rows and 2000 new ones), breast cancer (two classes), wine
(three) and digits (ten): half of the rows are for training, of the digits 600, and the others are
new; inputs standardised by the training rows. The support vector machine has its C and gamma
chosen by five folds (`GridSearchCV`, 16 pairs) and is then calibrated by
`CalibratedClassifierCV(..., ensemble=False)`, which takes the place of ``SVC(probability=True)``.
A loss is the mean negative log probability of a new label. The calibration error is the mean
distance, over ten bins of the probability of the predicted class, of that probability from the
share of right predictions, weighted by the rows in a bin. The third model is the machine of the
literature.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments._classification import CLASSICAL
from experiments._report import Options, Report, repeat
from sparsebayes import RVC

Array = np.ndarray

LOADERS = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
MOONS = {"two moons": 200, "two moons, many": 4000}  # training rows
NAMES = ("two moons", *LOADERS, "two moons, many")
MODELS = ("SVC", "RVC", "classical RVC")
SCORES = ("error (%)", "loss", "calibration error", "vectors", "fit (s)", "prediction (ms)")
GRID = {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": [0.001, 0.01, 0.1, "scale"]}
_MOST = 600  # training rows
_BINS = 10
_LEAST = 1e-12  # of a probability; no loss is infinite


def data(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Training rows, new rows, and the labels of both."""
    if name in MOONS:
        X, y = make_moons(MOONS[name], noise=0.3, random_state=seed)
        new, labels = make_moons(2000, noise=0.3, random_state=100_000 + seed)
        return X, new, y, labels
    X, y = LOADERS[name](return_X_y=True)
    size = min(len(X) // 2, _MOST)
    return tuple(train_test_split(X, y, train_size=size, stratify=y, random_state=seed))


def calibration_error(probability: Array, labels: Array) -> float:
    """How far the probability of the predicted class is from the share that is right."""
    sure, right = probability.max(axis=1), probability.argmax(axis=1) == labels
    place = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(place, sure - right, _BINS)).sum() / len(labels))


def _fitted(name: str, X: Array, y: Array) -> tuple[object, int]:
    """A model, and how many training rows it needs to predict."""
    if name != "SVC":
        options = {} if name == "RVC" else CLASSICAL
        model = make_pipeline(StandardScaler(), RVC(**options)).fit(X, y)
        return model, len(model[-1].relevance_vectors_)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID).fit(X, y)
    model = CalibratedClassifierCV(search.best_estimator_, ensemble=False).fit(X, y)
    return model, len(model.calibrated_classifiers_[0].estimator[-1].support_vectors_)


def one(name: str, seed: int) -> Array:
    """Scores of the models, (3, 6)."""
    X, new, y, labels = data(name, seed)
    found = []
    for model_name in MODELS:
        start = time.perf_counter()
        model, vectors = _fitted(model_name, X, y)
        middle = time.perf_counter()
        probability = model.predict_proba(new)
        end = time.perf_counter()
        likely = probability[np.arange(len(labels)), labels]
        found.append(
            (
                100.0 * np.mean(model.predict(new) != labels),
                -np.log(np.maximum(likely, _LEAST)).mean(),
                calibration_error(probability, labels),
                vectors,
                middle - start,
                1000.0 * (end - middle),
            )
        )
    return np.array(found)


def run(options: Options) -> Report:
    """Errors, probabilities, sizes and times, set by set."""
    report = Report("RVC() beside a calibrated support vector machine")
    for name in NAMES:
        count = options.count(20, 2)
        count = max(1, count // 4) if name == "two moons, many" else count
        tasks = [(name, 1000 * options.seed + k) for k in range(count)]
        results = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        for k, score in enumerate(SCORES):
            for j, model in enumerate(MODELS):
                report.add(f"{name}, {model}: {score}", None, results[:, j, k])
        for k, score in enumerate(SCORES[:3]):
            report.add(f"{name}: RVC minus SVC, {score}", None, results[:, 1, k] - results[:, 0, k])
    return report
