"""`python -m tests.laws.same_bits.fits`: fit every public estimator, and print what it learned.

As JSON: a digest of the bits of all that was learned, and predictions. `test_same_bits` runs it in
several surroundings.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import sparsebayes as sb
from sparsebayes.basis import RBF

Array = np.ndarray


def estimators(large: bool) -> dict[str, Any]:
    """Each public estimator, with little to do unless the data are `large`."""
    return {
        "RVR": sb.RVR() if large else sb.RVR(RBF(1.5)),
        "RVC": sb.RVC() if large else sb.RVC(RBF(1.5), multi_class="ovr"),
        "Denoiser": sb.Denoiser(),
        "Forecaster": sb.Forecaster() if large else sb.Forecaster(lags=3, difference=None),
        "LeaveOneOutGPR": sb.LeaveOneOutGPR(),
        "NoisyInputGPR": sb.NoisyInputGPR(input_noise=0.1, method="slope"),
        "ParetoClassifier": sb.ParetoClassifier(n_evaluations=1000, seeds=None),
        "ReducedRankGPR": sb.ReducedRankGPR(n_support=40 if large else 8),
    }


def public_estimators() -> set[str]:
    """Names of all public classes that have a `fit`."""
    found = {name: getattr(sb, name) for name in sb.__all__}
    return {name for name, one in found.items() if inspect.isclass(one) and hasattr(one, "fit")}


def data(n_rows: int) -> tuple[Array, Array, Array]:
    """Inputs, targets and labels of three classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(0.0, 1.5, (n_rows, 5))
    f = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    labels = np.digitize(f + 0.3 * rng.standard_normal(n_rows), [-0.7, 0.7])
    return X, f + 0.1 * rng.standard_normal(n_rows), labels


def learned(model: Any, X: Array, y: Array, labels: Array) -> Array:
    """Fit, and predict; the signal itself where there is nothing to predict."""
    name = type(model).__name__
    if name == "Denoiser":
        return model.fit_transform(y[None])
    if name == "Forecaster":
        return model.fit(np.column_stack([y, X[:, 0]])).predict(4)
    if name == "RVC":
        return model.fit(X, labels).predict_proba(X)
    if name == "ParetoClassifier":
        return model.fit(X, labels > 0).predict(X)
    return np.column_stack(model.fit(X, y).predict(X, return_std=True))


def digest(model: Any) -> str:
    """Of the bits of what a fit has left in the attributes that end in an underscore."""
    found = hashlib.sha256()
    for array in _arrays(model):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _arrays(value: Any) -> Iterator[Array]:
    """All numbers in an estimator, in order; those of a kernel and of estimators within it too."""
    value = getattr(value, "theta", value)
    if isinstance(value, list | tuple):
        for one in value:
            yield from _arrays(one)
    elif isinstance(value, dict):
        yield from _arrays([value[key] for key in sorted(value)])
    elif hasattr(value, "get_params") and hasattr(value, "fit"):
        yield from _arrays({k: v for k, v in vars(value).items() if k[0] != "_" and k[-1] == "_"})
    elif isinstance(value, int | float | np.ndarray) and np.asarray(value).dtype.kind in "biuf":
        yield np.asarray(value)


def answers(n_rows: int, n_jobs: int) -> dict[str, dict[str, Any]]:
    """By estimator: the digest, and the predictions."""
    X, y, labels = data(n_rows)
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, model in estimators(n_rows > 100).items():
            for parameter, value in (("n_jobs", n_jobs), ("random_state", 0)):
                if parameter in model.get_params():
                    model.set_params(**{parameter: value})
            predictions = learned(model, X, y, labels)
            out[name] = {"digest": digest(model), "predictions": np.asarray(predictions).tolist()}
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.laws.same_bits.fits", description=__doc__)
    parser.add_argument("--rows", type=int, default=40, help="default: %(default)d")
    parser.add_argument("--n-jobs", type=int, default=1, help="default: %(default)d")
    arguments = parser.parse_args()
    print(json.dumps(answers(arguments.rows, arguments.n_jobs)))
