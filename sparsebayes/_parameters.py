"""From the parameters of an estimator to the parts of the engine."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from sparsebayes.engine import EM, Flat, Gamma, Prior, Sequential, Smoothness, Solver, Subspace

_SOLVERS: dict[str, Solver] = {
    "sequential": Sequential(),
    "em": EM(),
    "mackay": EM(mackay=True),
    "subspace": Subspace(),
}
_PRIORS = ("flat", "aic", "bic", "ric")


def as_solver(solver: Any) -> Solver:
    """A solver from its name or a solver object."""
    if isinstance(solver, str) and solver in _SOLVERS:
        return _SOLVERS[solver]
    if hasattr(solver, "climb") and not isinstance(solver, type):
        return solver
    raise ValueError(f"solver must be one of {sorted(_SOLVERS)} or a solver object, got {solver!r}.")


def as_prior(prior: Any, n_samples: float) -> Prior:
    """A prior from its name, a number c for `Smoothness`, or a prior object."""
    if isinstance(prior, str) and prior in _PRIORS:
        if prior == "flat":
            return Flat()
        # S08 2.5; with one sample log N = 0.
        return Smoothness(
            {"aic": 1.0, "bic": 0.5 * np.log(n_samples), "ric": np.log(n_samples)}[prior]
        )
    if isinstance(prior, Real) and not isinstance(prior, bool) and np.isfinite(prior) and prior >= 0:
        return Smoothness(float(prior))
    if isinstance(prior, (Flat, Smoothness, Gamma)) or (
        hasattr(prior, "optimum") and not isinstance(prior, type)
    ):
        return prior
    raise ValueError(
        f"prior must be one of {list(_PRIORS)}, a number c >= 0, or a prior such as Gamma(a, b), "
        f"got {prior!r}."
    )


def as_noise(noise: Any) -> float | None:
    """A fixed noise variance, or None for "estimate"."""
    if isinstance(noise, str) and noise == "estimate":
        return None
    if isinstance(noise, Real) and not isinstance(noise, bool) and np.isfinite(noise) and noise > 0:
        return float(noise)
    raise ValueError(f"noise must be 'estimate' or a positive variance, got {noise!r}.")


def check_limits(max_iter: Any, tol: Any) -> None:
    """`max_iter` and `tol` are what they should be, or a clear error."""
    if not isinstance(max_iter, Integral) or isinstance(max_iter, bool) or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number >= 1, got {max_iter!r}.")
    ok = isinstance(tol, Real) and not isinstance(tol, bool) and np.isfinite(tol) and tol > 0
    if not ok:
        raise ValueError(f"tol must be a positive number (in units of log evidence), got {tol!r}.")
