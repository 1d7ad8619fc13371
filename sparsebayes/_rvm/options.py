"""From the parameters of an estimator to the parts of the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from sparsebayes._rvm.noise import StudentT
from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import LARGEST, as_number, whole_number
from sparsebayes.engine import (
    EM,
    Flat,
    Gamma,
    Prior,
    Sequential,
    Smoothness,
    Solver,
    Subspace,
    Trace,
)

SolverName = Literal["sequential", "em", "mackay", "subspace"]
SOLVERS: dict[str, Solver] = {
    "sequential": Sequential(),
    "em": EM(),
    "mackay": EM(mackay=True),
    "subspace": Subspace(),
}
PriorName = Literal["flat", "aic", "bic", "ric"]
NoiseName = Literal["estimate", "student", "varying"]
AdaptName = Literal["auto", "isotropic", "ard"]  # which length scales are learned
PRIORS: tuple[str, ...] = get_args(PriorName)
NOISES: tuple[str, ...] = get_args(NoiseName)
ADAPTS: tuple[str, ...] = get_args(AdaptName)


def as_solver(solver: Any) -> Solver:
    """A solver from its name or a solver object."""
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]
    if hasattr(solver, "climb") and not isinstance(solver, type):
        return solver
    raise ValueError(
        f"solver must be one of {sorted(SOLVERS)} or a solver object, got {solver!r}"
        f"{hint('solver', solver)}."
    )


def with_restarts(solver: Solver, n_restarts: Any) -> Solver:
    """The same solver with further random starts, if it can make them."""
    if whole_number("n_restarts", n_restarts, least=0) == 0:
        return solver
    if not isinstance(solver, Sequential):
        raise ValueError(
            f"n_restarts={n_restarts!r} needs solver='sequential', which has random starts; "
            f"with solver={solver!r} leave n_restarts=0."
        )
    return replace(solver, n_restarts=int(n_restarts))


def as_prior(prior: Any, n_samples: float, *, labels: bool = False) -> Prior:
    """A prior from its name, a number c, or a prior object; `labels`, one that labels can have."""
    smoothness = Trace if labels else Smoothness
    if isinstance(prior, str) and prior in PRIORS:
        if prior == "flat":
            return Flat()
        size = float(np.log(max(n_samples, 1.0)))  # S08 2.5; with one sample, or less, log N = 0
        return smoothness({"aic": 1.0, "bic": 0.5 * size, "ric": size}[prior])
    c = as_number(prior)
    if c is not None and 0 <= c <= LARGEST:
        return smoothness(c)
    if isinstance(prior, Prior):
        if labels and not prior.for_labels:
            price = "c" if prior.price is None else repr(prior.price)
            raise ValueError(
                f"prior={prior!r} compares precisions with the noise of a regression, and labels "
                f"have none; RVC takes prior=Trace({price}), or the number {price}."
            )
        return prior
    raise ValueError(
        f"prior must be one of {list(PRIORS)}, a number c >= 0, or a prior such as Gamma(a, b), "
        f"got {prior!r}{hint('prior', prior)}."
    )


class Noise(NamedTuple):
    """What a regression knows of its noise.

    Attributes
    ----------
    variance : float, ndarray of shape (K,) for K targets, or None
        None where it is estimated.
    shape, rate : float
        Then c and d of a gamma prior on 1/σ².
    tails : StudentT or None
    varying : bool
        Whether it depends on the input.
    """

    variance: float | np.ndarray | None
    shape: float = 0.0
    rate: float = 0.0
    tails: StudentT | None = None
    varying: bool = False


def as_noise_model(noise: Any, n_targets: int | None = None) -> Noise:
    """What a regression knows of its noise; `n_targets` if there are several."""
    if isinstance(noise, Gamma):
        return Noise(None, noise.a, noise.b)
    if isinstance(noise, str) and noise == "student":
        noise = StudentT()
    if isinstance(noise, StudentT):
        return Noise(None, tails=noise)
    if isinstance(noise, str) and noise == "varying":
        return Noise(None, varying=True)
    if isinstance(noise, (list, tuple, np.ndarray)) and np.ndim(noise) == 1:
        return Noise(_variances(noise, n_targets))
    try:
        return Noise(as_noise(noise))
    except ValueError:
        raise ValueError(
            f"noise must be 'estimate' or a positive variance, got {noise!r}; a prior of its "
            "reciprocal is Gamma(c, d), outliers are 'student' or StudentT(nu), and noise "
            f"that depends on the input is 'varying'{hint('noise', noise)}."
        ) from None


def _variances(noise: Any, n_targets: int | None) -> np.ndarray:
    """One for each target, or a clear error."""
    variances = np.array([as_number(one) or np.nan for one in noise])
    if variances.size == n_targets and np.all(variances > 0) and np.all(variances < np.inf):
        return variances
    expected = "several targets are needed for that, (n_samples, n_targets)"
    if n_targets is not None:
        expected = f"one for each of the {n_targets} targets is needed"
    raise ValueError(
        "noise must be 'estimate' or a positive variance, or several where y has several "
        f"columns, got {noise!r}; {expected}."
    )


def as_noise(noise: Any) -> float | None:
    """A fixed noise variance, or None for "estimate"."""
    if isinstance(noise, str) and noise == "estimate":
        return None
    variance = as_number(noise)
    if variance is not None and 1.0 / LARGEST**2 < variance < LARGEST**2:
        return variance
    remedy = hint("noise", noise, ("estimate",))
    raise ValueError(f"noise must be 'estimate' or a positive variance, got {noise!r}{remedy}.")


def as_augment(augment: Any) -> float | bool | str:
    """Whether predictions get a function of their own, "fast", or the variance of its weight."""
    if isinstance(augment, (bool, np.bool_)):
        return bool(augment)
    if isinstance(augment, str) and augment == "fast":
        return augment
    variance = as_number(augment)
    if variance is not None and variance > 0:
        return variance
    raise ValueError(
        f"augment must be True, False, 'fast' or a positive variance, got {augment!r}"
        f"{hint('augment', augment)}."
    )
