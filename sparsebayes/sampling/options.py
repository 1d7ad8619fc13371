"""What `sample_posterior` is asked for, checked and turned into parts of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from sparsebayes._rvm.options import as_augment, as_noise_model, as_prior
from sparsebayes._support.validation import as_number, whole_number
from sparsebayes.classification import RVC
from sparsebayes.classification.likelihood import prior_of
from sparsebayes.engine.mcmc.priors import InclusionPrior
from sparsebayes.engine.model.prior import Separable
from sparsebayes.regression import RVR


def as_bounds(bounds: Any) -> tuple[float, float] | None:
    """Two positive numbers in order, or None."""
    if bounds is None:
        return None
    low, high = _pair("bounds", bounds, "None or a pair (low, high)")
    if not 0 < low <= high:
        raise ValueError(f"bounds must be a pair with 0 < low <= high, got {bounds!r}.")
    return low, high


def as_inclusion(inclusion: Any) -> InclusionPrior:
    """The prior of the set of functions."""
    if isinstance(inclusion, str) and inclusion == "uniform":
        return InclusionPrior()
    wanted = "'uniform', a probability between 0 and 1, or a pair (a, b) of positive numbers"
    share = as_number(inclusion)
    if share is not None:
        if 0 < share < 1:
            return InclusionPrior(fixed=share)
        raise ValueError(f"inclusion must be {wanted}, got {inclusion!r}.")
    a, b = _pair("inclusion", inclusion, wanted)
    if not (a > 0 and b > 0):
        raise ValueError(f"inclusion must be {wanted}, got {inclusion!r}.")
    return InclusionPrior(a, b)


def as_noise_prior(noise_prior: Any) -> tuple[float, float]:
    """Shape and scale."""
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
    """The length of each chain; None for `n_warmup` is half of the draws, at least 100."""
    n_samples = whole_number("n_samples", n_samples)
    if n_warmup is None:
        n_warmup = max(100, n_samples // 2)
    return Length(
        n_samples, whole_number("n_warmup", n_warmup, least=0), whole_number("thin", thin)
    )


def check_estimator(estimator: Any) -> None:
    """An RVR or RVC that can be sampled, or a clear error."""
    if not isinstance(estimator, RVR | RVC):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"estimator must be an RVR or RVC, such as RVR(), got {name}; of "
            "a pipeline give the one at its end, and X as the steps before it transform it."
        )
    if as_augment(estimator.augment) is not False:
        raise ValueError(
            f"augment={estimator.augment!r} is not sampled: the functions it adds belong to "
            f"single predictions; use {type(estimator).__name__}(augment=False)."
        )
    if isinstance(estimator, RVC):
        _check_labels(estimator)
    else:
        _check_noise(estimator)


def _check_noise(estimator: RVR) -> None:
    noise = as_noise_model(estimator.noise)
    if noise.tails is not None or noise.varying:
        raise ValueError(
            f"noise={estimator.noise!r} is not sampled, only normal noise that is the same for "
            "all samples; use noise='estimate', a variance or Gamma(c, d)."
        )
    as_separable(estimator.prior, 2.0)


# What an RVC is sampled as: its parameters may also be "auto", which leaves the choice to us.
_AS_SAMPLED = {"link": "logit", "multi_class": "multinomial", "share_alpha": False}


def _check_labels(estimator: RVC) -> None:
    for name, sampled in _AS_SAMPLED.items():
        value = getattr(estimator, name)
        if value not in (sampled, "auto"):
            raise ValueError(
                f"{name}={value!r} is not sampled: draws are of a logit or softmax in which each "
                f"class has precisions of its own; use RVC({name}={sampled!r})."
            )
    as_separable(estimator.prior, 2.0, labels=True)


def as_sampled(estimator: RVR | RVC) -> RVR | RVC:
    """A clone whose fit is the optimum of what is sampled."""
    wanted = {"calibrate": None, **_AS_SAMPLED}
    known = estimator.get_params(deep=False)
    copy: RVR | RVC = clone(estimator)
    return copy.set_params(**{name: value for name, value in wanted.items() if name in known})


def as_separable(prior: Any, n_samples: float, *, labels: bool = False) -> Separable:
    """The prior of each precision by itself, or a clear error."""
    found = as_prior(prior_of(prior, "logit") if labels else prior, n_samples, labels=labels)
    if not isinstance(found, Separable):
        names = "'flat'" if labels else "'flat', 'aic', 'bic', 'ric', a number c"
        raise ValueError(
            f"prior={prior!r} is not sampled: it is no density of single precisions. "
            f"Use {names} or Gamma(a, b)."
        )
    return found


def _pair(name: str, value: Any, wanted: str) -> tuple[float, float]:
    try:
        first, second = value
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.") from error
    numbers = as_number(first), as_number(second)
    if numbers[0] is None or numbers[1] is None:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return numbers[0], numbers[1]
