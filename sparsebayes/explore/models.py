"""From requests to fitted models, and to what the page draws of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._rvm.options import as_augment, as_noise_model, as_prior, as_solver
from sparsebayes._support.calibration import interval_width
from sparsebayes._support.validation import check_choice
from sparsebayes.basis import RBF
from sparsebayes.classification import RVC
from sparsebayes.classification.likelihood import LINKS
from sparsebayes.denoising import METHODS, NOISE_MODELS, denoise
from sparsebayes.engine.solvers.driver import quick
from sparsebayes.explore import fields
from sparsebayes.explore.contours import contour
from sparsebayes.explore.fields import MOST_POINTS, MOST_SAMPLES, RequestError, of_field
from sparsebayes.regression import RVR

Array = np.ndarray
Request = Mapping[str, Any]

DICTIONARIES = ("auto", "haar", "db4", "sym8", "dct", "mdct")
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)  # of probability contours
_SECONDS = 20.0  # that a fit may take
_SAME = 1.001  # a factor of standard deviations that is none
_STEPS = 400  # of an evidence path that are drawn
_COMMON = (
    "kind",
    "width",
    "prior",
    "solver",
    "augment",
    "calibrate",
    "draft",
    "names",
    "from",
    "to",
    "grid",
)


@dataclass(frozen=True)
class View:
    """A kind of request that has a picture.

    Attributes
    ----------
    known : tuple of str
        The fields it takes.
    fit : callable
        From a request to a fitted model.
    draw : callable
        From a request and the model to the answer.
    n_names : int
        Columns of its data.
    """

    known: tuple[str, ...]
    fit: Callable[[Request], Any]
    draw: Callable[[Request, Any], dict[str, Any]]
    n_names: int


def _points(request: Request) -> tuple[Array, Array]:
    x = fields.numbers(request, "x", 3, MOST_POINTS)
    fields.as_many(request, "y", "x", len(x))
    return x, fields.numbers(request, "y", 3, MOST_POINTS)


def _options(request: Request, n_points: int, prior: str, labels: bool) -> dict[str, Any]:
    """What regression and classification have in common, checked."""
    found: dict[str, Any] = {"solver": "sequential", "prior": prior, "augment": False}
    found |= {name: request[name] for name in found if name in request}
    with of_field("solver"):
        solver = as_solver(found["solver"])
    with of_field("prior"):
        if not (labels and isinstance(found["prior"], str) and found["prior"] == "auto"):
            as_prior(found["prior"], n_points, labels=labels)
    with of_field("augment"):
        as_augment(found["augment"])
    length, calibrate = fields.width(request), fields.calibrate(request)
    if fields.switch(request, "draft"):
        found["solver"], calibrate = quick(solver), None
    return {
        "basis": RBF() if length is None else RBF(length),
        "calibrate": calibrate,
        "max_time": _SECONDS,
        "random_state": 0,
        **found,
    }


def fit_regression(request: Request) -> RVR:
    """A regression on one input."""
    x, y = _points(request)
    noise = request.get("noise", "estimate")
    with of_field("noise"):
        as_noise_model(noise)
    options = _options(request, len(x), "flat", labels=False)
    return RVR(noise=noise, **options).fit(x[:, None], y)


def draw_regression(request: Request, model: Any) -> dict[str, Any]:
    """Mean, bands and relevance vectors."""
    x, y = _points(request)
    coverage = fields.coverage(request)
    grid = np.linspace(*fields.bounds(request, x), fields.whole(request, "grid", 200, 2, 1000))
    X = grid[:, None]
    mean, std = model.predict(X, return_std=True)
    _, of_function = model.predict(X, return_std=True, include_noise=False)
    lower, upper = model.predict_interval(X, coverage)
    half = interval_width(coverage, None) * of_function
    rows = _rows_of(x[:, None], model)
    residual = y - model.predict(x[:, None])
    return {
        "grid": grid,
        "mean": mean,
        "std": std,
        "lower": lower,
        "upper": upper,
        "function_lower": mean - half,
        "function_upper": mean + half,
        "relevance": rows,
        "relevance_vectors": np.column_stack([x[rows], y[rows]]),
        "evidence_path": _path(model),
        "summary": {
            **_summary(model, len(x), rows),
            "noise_std": float(np.sqrt(model.noise_variance_)),
            "noise_found": _noise_found(model, std**2 - of_function**2),
            "rmse": float(np.sqrt(np.mean(residual**2))),
            "calibration": float(model.calibration_),
        },
    }


def _noise_found(model: Any, variance: Array) -> str:
    """In words; of outliers and of noise that varies the model may have found none."""
    if model.noise == "student":
        if np.isinf(model.nu_):
            return "normal: no outliers found"
        return f"Student, {model.nu_:.3g} degrees of freedom"
    if model.noise == "varying":
        share = float(np.sqrt(variance.max() / variance.min()))
        if share < _SAME:
            return "the same everywhere: no change found"
        return f"varies by a factor of {share:.3g}"
    return "estimated" if isinstance(model.noise, str) else "given"


def _plane(request: Request) -> tuple[Array, Array]:
    """Points and labels; there are two different labels, or a clear error."""
    first = fields.numbers(request, "x1", 4, MOST_POINTS)
    for name in ("x2", "label"):
        fields.as_many(request, name, "x1", len(first))
    X = np.column_stack([first, fields.numbers(request, "x2", 4, MOST_POINTS)])
    labels = fields.listed(request, "label")
    wrong = [one for one in labels if isinstance(one, bool) or not isinstance(one, (str, int))]
    if wrong:
        raise RequestError(
            "label", f"label must be texts or whole numbers, got {fields.brief(wrong[0])}."
        )
    different = sorted(set(map(str, labels)))
    if len(different) != 2:
        raise RequestError(
            "label",
            f"label must have two different values, got {fields.brief(different)}; keep points of "
            "two classes.",
        )
    return X, np.array([str(label) for label in labels])


def fit_classification(request: Request) -> RVC:
    """A classification of two classes in the plane."""
    X, labels = _plane(request)
    link = request.get("link", "logit")
    with of_field("link"):
        check_choice("link", link, LINKS)
    return RVC(link=link, **_options(request, len(X), "auto", labels=True)).fit(X, labels)


def draw_classification(request: Request, model: Any) -> dict[str, Any]:
    """Probabilities on a grid, their contours, and relevance vectors."""
    X, labels = _plane(request)
    count = fields.whole(request, "grid", 40, 4, 100)
    x1, x2 = (np.linspace(*fields.bounds(request, X[:, k], k), count) for k in (0, 1))
    plane = np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2)
    probability = model.predict_proba(plane)[:, 1].reshape(count, count)
    rows = _rows_of(X, model)
    return {
        "x1": x1,
        "x2": x2,
        "classes": model.classes_.tolist(),
        "probability": np.round(probability, 4),
        "contours": [
            {"level": level, "pieces": contour(x1, x2, probability, level)} for level in LEVELS
        ],
        "relevance": rows,
        "relevance_vectors": X[rows],
        "evidence_path": _path(model),
        "summary": {
            **_summary(model, len(X), rows),
            "wrong": int(np.sum(model.predict(X) != labels)),
            "link": model.link_,
        },
    }


def _rows_of(X: Array, model: Any) -> list[int]:
    """Which points are relevance vectors; of equal ones the first that is not taken."""
    vectors = getattr(model, "relevance_vectors_", None)
    rows: list[int] = []
    for vector in [] if vectors is None else np.asarray(vectors):
        same = np.flatnonzero(np.all(vector == X, axis=1)).tolist()
        rows += [i for i in same if i not in rows][:1]
    return rows


def _path(model: Any) -> Array:
    """The evidence along the steps, or some of them where they are many."""
    path = np.atleast_1d(np.asarray(getattr(model, "evidence_path_", []), dtype=float))
    if len(path) <= _STEPS:
        return path
    return path[np.linspace(0, len(path) - 1, _STEPS).astype(int)]


def _summary(model: Any, n_points: int, rows: list[int]) -> dict[str, Any]:
    scale = getattr(model, "length_scale_", None)
    return {
        "points": n_points,
        "relevance_vectors": len(rows),
        "width": None if scale is None else float(np.exp(np.mean(np.log(scale)))),
        "log_evidence": float(model.log_evidence_),
        "steps": int(model.n_iter_),
        "converged": bool(model.converged_),
        "stop_reason": str(model.stop_reason_),
    }


def fit_denoise(request: Request) -> Any:
    """A signal without its noise."""
    y = fields.numbers(request, "y", 16, MOST_SAMPLES, gaps=True)
    if np.isnan(y).all():
        raise RequestError("y", "y must have numbers, got none but null; draw or load a signal.")
    found: dict[str, Any] = {
        "dictionary": "auto",
        "method": "average",
        "prior": "bic",
        "noise": "estimate",
        "noise_model": "gaussian",
    }
    found |= {name: request[name] for name in found if name in request}
    choices = {"dictionary": DICTIONARIES, "method": tuple(METHODS), "noise_model": NOISE_MODELS}
    for name, words in choices.items():
        with of_field(name):
            check_choice(name, found[name], words)
    with of_field("prior"):
        as_prior(found["prior"], len(y))
    if isinstance(found["noise"], (list, tuple)):
        raise RequestError(
            "noise", f"noise must be 'estimate' or a positive variance, got {found['noise']!r}."
        )
    return denoise(y, found.pop("dictionary"), **found)


def draw_denoise(request: Request, model: Any) -> dict[str, Any]:
    """The signal and its band."""
    half = interval_width(fields.coverage(request), None) * model.std
    return {
        "signal": model.signal,
        "lower": model.signal - half,
        "upper": model.signal + half,
        "summary": {
            "samples": len(model.signal),
            "kept": int(model.n_active),
            "noise_std": float(np.sqrt(model.noise_variance)),
            "log_evidence": float(model.log_evidence),
            "dictionary": model.dictionary.label,
            "method": model.method,
            "converged": bool(model.converged),
        },
    }


VIEWS = {
    "regression": View(
        (*_COMMON, "x", "y", "noise", "coverage"), fit_regression, draw_regression, 2
    ),
    "classification": View(
        (*_COMMON, "x1", "x2", "label", "link"), fit_classification, draw_classification, 3
    ),
    "denoise": View(
        ("kind", "y", "dictionary", "method", "prior", "noise", "noise_model", "coverage", "names"),
        fit_denoise,
        draw_denoise,
        1,
    ),
}
