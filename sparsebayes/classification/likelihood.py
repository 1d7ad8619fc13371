"""Labelled samples, and the likelihood of their labels given the latent functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sparsebayes._support.validation import check_choice
from sparsebayes.engine import Logit, Probit, Sites, Softmax
from sparsebayes.engine.model.sites import Cavity

Array = np.ndarray

LinkName = Literal["auto", "logit", "probit", "least_squares"]
MultiClassName = Literal["multinomial", "ovr"]
InferenceName = Literal["laplace", "mean_field", "tap"]
LINKS: tuple[str, ...] = get_args(LinkName)
MULTI_CLASS: tuple[str, ...] = get_args(MultiClassName)
INFERENCES: tuple[str, ...] = get_args(InferenceName)
# How the variance of a latent value enters its likelihood, by the name of the inference.
_CAVITIES: dict[str, Cavity] = {"laplace": "none", "mean_field": "prior", "tap": "posterior"}
FEW_CLASSES = 5  # with more, a softmax takes long
_CHARGE = 0.5  # c of the smoothness prior of a regression on labels


@dataclass(frozen=True, eq=False)
class Samples:
    """What is fitted.

    Attributes
    ----------
    X : ndarray, (N, D)
        All inputs, which the functions may be centred on.
    rows, labels, weights : ndarray, (n, D), (n,) and (n,)
        The samples that have weight; labels are numbers of classes.
    """

    X: Array
    rows: Array
    labels: Array
    weights: Array


def check_likelihood(link: Any, inference: Any, multi_class: Any) -> None:
    """The names are known and go together, or a clear error."""
    check_choice("link", link, LINKS)
    check_choice("inference", inference, INFERENCES)
    check_choice("multi_class", multi_class, MULTI_CLASS)
    if link != "probit" and inference != "laplace":
        raise ValueError(
            f"inference={inference!r} needs link='probit'; link={link!r} has inference='laplace'."
        )


def prior_of(prior: Any, link: str) -> Any:
    """What "auto" stands for: Gaussian noise goes on asking for functions, labels do not."""
    if isinstance(prior, str) and prior == "auto":
        return _CHARGE if link == "least_squares" else "flat"
    return prior


def make_sites(samples: Samples, n_classes: int, link: str, inference: str) -> Sites:
    """The likelihood of two classes, or the softmax of more."""
    if n_classes > 2:
        return Softmax(samples.labels, samples.weights, n_classes)
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    if link == "logit":
        return Logit(signs, samples.weights)
    return Probit(signs, samples.weights, _CAVITIES[inference])


def label_noise(link: str, n_outputs: int) -> float:
    """The variance of the noise of a latent value.

    A label is the sign of f with normal or logistic noise, or, with several outputs, the place of
    the largest f with Gumbel's.
    """
    if link == "probit":
        return 1.0
    return np.pi**2 / (6.0 if n_outputs > 1 else 3.0)
