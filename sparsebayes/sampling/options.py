"""What `sample_posterior` is asked for, checked and turned into parts of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from sparsebayes._rvm.options import as_augment, as_prior
from sparsebayes._support.validation import as_number, check_choice, check_switches
from sparsebayes.engine.mcmc.gibbs import Gibbs
from sparsebayes.engine.mcmc.jumps import Births, Jumps, LogNormalBirths
from sparsebayes.engine.mcmc.posterior import Target
from sparsebayes.engine.mcmc.priors import Inclusion
from sparsebayes.engine.model.priors import Separable
from sparsebayes.regression import RVR

FIXED_BIRTH = 1e-5  # S08's, there of α itself


@dataclass(frozen=True)
class Scheme:
    """How a chain moves."""

    method: str
    birth: str
    birth_spread: float
    walk: float
    jump: bool

    def sampler(self, target: Target, rng: np.random.Generator) -> Gibbs | Jumps:
        if self.method == "gibbs":
            return Gibbs(target, rng)
        births: Births | LogNormalBirths = Births(target)
        if self.birth == "lognormal":
            births = LogNormalBirths(target, self.birth_spread)
        return Jumps(target, rng, births, walk=self.walk, jump=self.jump)


def as_scheme(
    method: Any, birth: Any, birth_spread: Any, walk: Any, jump: Any, bounds: Any
) -> Scheme:
    """The arguments that say how a chain moves; `bounds` as `as_bounds` gives them."""
    check_choice("method", method, ("gibbs", "rjmh"))
    check_choice("birth", birth, ("prior", "fixed", "lognormal"))
    check_switches(verbose=0, jump=jump)
    spread = _positive("birth_spread", birth_spread)
    point = birth == "fixed" or (bounds is not None and bounds[0] == bounds[1])
    width = as_number((0.0 if point else 1.0) if walk is None else walk)
    if width is None or width < 0:
        raise ValueError(f"walk must be None or a standard deviation >= 0, got {walk!r}.")
    if method == "gibbs" and not (birth == "prior" and spread == 5.0 and walk is None and jump):
        raise ValueError(
            "birth, birth_spread, walk and jump belong to method='rjmh', which proposes; "
            "method='gibbs' has nothing of the kind. Leave them out or set method='rjmh'."
        )
    if not jump and not width:
        raise ValueError(f"jump=False leaves only the walk, and walk={walk!r} is none here.")
    if birth == "fixed" and bounds is not None and bounds[0] != bounds[1]:
        raise ValueError(
            "birth='fixed' gives every function the same precision, and bounds="
            f"{bounds!r} are two; give the same number twice, or None for {FIXED_BIRTH:g}."
        )
    if point and (width or birth == "lognormal"):
        raise ValueError(
            f"With birth={birth!r} and bounds={bounds!r} there is one precision only, so nothing "
            "can walk or be drawn; use walk=None and birth='prior' or 'fixed', or wider bounds."
        )
    return Scheme(method, birth, spread, width, bool(jump))


def as_bounds(bounds: Any) -> tuple[float, float] | None:
    if bounds is None:
        return None
    low, high = _pair("bounds", bounds, "None or a pair (low, high)")
    if not 0 < low <= high:
        raise ValueError(f"bounds must be a pair with 0 < low <= high, got {bounds!r}.")
    return low, high


def as_inclusion(inclusion: Any) -> Inclusion:
    if isinstance(inclusion, str) and inclusion == "uniform":
        return Inclusion()
    wanted = "'uniform', a probability between 0 and 1, or a pair (a, b) of positive numbers"
    share = as_number(inclusion)
    if share is not None:
        if 0 < share < 1:
            return Inclusion(fixed=share)
        raise ValueError(f"inclusion must be {wanted}, got {inclusion!r}.")
    a, b = _pair("inclusion", inclusion, wanted)
    if not (a > 0 and b > 0):
        raise ValueError(f"inclusion must be {wanted}, got {inclusion!r}.")
    return Inclusion(a, b)


def as_noise_prior(noise_prior: Any) -> tuple[float, float]:
    shape, scale = _pair("noise_prior", noise_prior, "a pair (shape, scale)")
    if not (shape >= 0 and scale >= 0):
        raise ValueError(
            f"noise_prior must be a pair (shape, scale) of numbers >= 0, got {noise_prior!r}."
        )
    return shape, scale


@dataclass(frozen=True)
class Length:
    """How long a chain is, in sweeps."""

    n_samples: int
    n_warmup: int
    thin: int

    @property
    def total(self) -> int:
        return self.n_warmup + self.n_samples * self.thin


def as_length(n_samples: Any, n_warmup: Any, thin: Any) -> Length:
    n_samples = whole("n_samples", n_samples)
    if n_warmup is None:
        n_warmup = max(100, n_samples // 2)
    return Length(n_samples, whole("n_warmup", n_warmup, least=0), whole("thin", thin))


def check_estimator(estimator: Any) -> None:
    """An RVR that can be sampled, or a clear error."""
    if not isinstance(estimator, RVR):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"sample_posterior samples the model of an RVR, such as RVR(), got {name}; "
            "of a pipeline give the RVR at its end, and X as the steps before it transform it."
        )
    if as_augment(estimator.augment) is not False:
        raise ValueError(
            f"augment={estimator.augment!r} is not sampled: the functions it adds belong to "
            "single predictions; use RVR(augment=False)."
        )
    as_separable(estimator.prior, 2.0)


def as_separable(prior: Any, n_samples: float) -> Separable:
    """The prior of each precision by itself, or a clear error."""
    found = as_prior(prior, n_samples)
    if not isinstance(found, Separable):
        raise ValueError(
            f"prior={prior!r} is not sampled: it is no density of single precisions. "
            "Use 'flat', 'aic', 'bic', 'ric', a number c or Gamma(a, b)."
        )
    return found


def whole(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(value)


def _positive(name: str, value: Any) -> float:
    number = as_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return number


def _pair(name: str, value: Any, wanted: str) -> tuple[float, float]:
    try:
        first, second = value
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.") from error
    numbers = as_number(first), as_number(second)
    if numbers[0] is None or numbers[1] is None:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return numbers[0], numbers[1]
