"""From the parameters of an estimator to the parts of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np

from sparsebayes.engine import EM, Flat, Prior, Sequential, Smoothness, Solver, Subspace, Trace

_SOLVERS: dict[str, Solver] = {
    "sequential": Sequential(),
    "em": EM(),
    "mackay": EM(mackay=True),
    "subspace": Subspace(),
}
_PRIORS = ("flat", "aic", "bic", "ric")


def _number(value: Any) -> float | None:
    """A finite real number, None for anything else."""
    if not isinstance(value, bool) and isinstance(value, Real) and np.isfinite(float(value)):
        return float(value)
    return None


def as_solver(solver: Any) -> Solver:
    """A solver from its name or a solver object."""
    if isinstance(solver, str) and solver in _SOLVERS:
        return _SOLVERS[solver]
    if hasattr(solver, "climb") and not isinstance(solver, type):
        return solver
    raise ValueError(
        f"solver must be one of {sorted(_SOLVERS)} or a solver object, got {solver!r}."
    )


def as_prior(
    prior: Any, n_samples: float, smoothness: type[Smoothness] | type[Trace] = Smoothness
) -> Prior:
    """A prior from its name, a number c for `smoothness`, or a prior object."""
    if isinstance(prior, str) and prior in _PRIORS:
        if prior == "flat":
            return Flat()
        # S08 2.5; with one sample log N = 0.
        return smoothness(
            {"aic": 1.0, "bic": 0.5 * np.log(n_samples), "ric": np.log(n_samples)}[prior]
        )
    c = _number(prior)
    if c is not None and c >= 0:
        return smoothness(c)
    if isinstance(prior, Smoothness):
        return smoothness(prior.c)
    if hasattr(prior, "optimum") and not isinstance(prior, type):
        return prior
    raise ValueError(
        f"prior must be one of {list(_PRIORS)}, a number c >= 0, or a prior such as Gamma(a, b), "
        f"got {prior!r}."
    )


def as_noise(noise: Any) -> float | None:
    """A fixed noise variance, or None for "estimate"."""
    if isinstance(noise, str) and noise == "estimate":
        return None
    variance = _number(noise)
    if variance is not None and variance > 0:
        return variance
    raise ValueError(f"noise must be 'estimate' or a positive variance, got {noise!r}.")


def as_augment(augment: Any) -> float | bool | str:
    """Whether predictions get a function of their own, "fast", or the variance of its weight."""
    if isinstance(augment, (bool, np.bool_)):
        return bool(augment)
    if isinstance(augment, str) and augment == "fast":
        return augment
    variance = _number(augment)
    if variance is not None and variance > 0:
        return variance
    raise ValueError(
        f"augment must be True, False, 'fast' or a positive variance, got {augment!r}."
    )


def check_limits(max_iter: Any, tol: Any) -> None:
    """`max_iter` and `tol` are what they should be, or a clear error."""
    if isinstance(max_iter, bool) or not isinstance(max_iter, Integral) or int(max_iter) < 1:
        raise ValueError(f"max_iter must be a whole number >= 1, got {max_iter!r}.")
    gain = _number(tol)
    if gain is None or gain <= 0:
        raise ValueError(f"tol must be a positive number (in units of log evidence), got {tol!r}.")


def check_switches(*, verbose: Any, **switches: Any) -> None:
    """`verbose` and what can be True or False are what they should be, or a clear error."""
    for name, value in switches.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} must be True or False, got {value!r}.")
    if not isinstance(verbose, (Integral, np.bool_)) or int(verbose) < 0:
        raise ValueError(f"verbose must be a whole number >= 0, got {verbose!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """`value` is one of the words, or a clear error."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}.")


def weigh_classes(class_weight: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of the samples times those of their classes."""
    if class_weight is None:
        return weights
    classes, labels = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(labels, weights)
        seen = totals > 0
        factors = np.zeros(classes.size)
        factors[seen] = totals.sum() / (seen.sum() * totals[seen])
        return weights * factors[labels]
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict from class to weight, "
            f"got {class_weight!r}."
        )
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight has a weight for {unknown[0]!r}, which is not among the classes "
            f"{classes.tolist()!r}."
        )
    factors = np.ones(classes.size)
    for i, label in enumerate(classes.tolist()):
        value = class_weight.get(label, 1.0)
        weight = _number(value)
        if weight is None or weight < 0:
            raise ValueError(f"class_weight must be >= 0, got {value!r} for class {label!r}.")
        factors[i] = weight
    weights = weights * factors[labels]
    if not weights.any():
        raise ValueError("class_weight leaves no sample any weight; give some.")
    return weights


def check_labels(y: np.ndarray) -> None:
    """Labels can be put in order, or a clear error."""
    kinds = sorted({type(label).__name__ for label in y.tolist()})
    if y.dtype == object and len(kinds) > 1:
        raise ValueError(
            f"y mixes labels of different types, {', '.join(kinds)}; "
            "use one type, and drop samples without a label."
        )


def check_range(y: np.ndarray) -> None:
    """The squares of the targets are numbers, or a clear error."""
    largest = float(np.abs(y).max())
    if largest > 0 and not 1e-60 < largest < 1e60:
        raise ValueError(
            f"The largest target is {largest:.3g}, and its square is out of range; "
            "rescale y to between 1e-60 and 1e60."
        )


@contextmanager
def remedies() -> Iterator[None]:
    """Add to scikit-learn's errors about values that are no numbers what to do about them."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        if "contains NaN" in text or "contains infinity" in text:
            raise ValueError(f"{text}\nDrop these samples or repair their values.") from error
        raise
