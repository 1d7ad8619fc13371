"""How much is left of each coefficient: what is learned from a signal, band by band.

The precisions of the coefficients of a band have a distribution (`engine.orthonormal`). What a
coefficient says about its precision is little; those around it say more, since large ones come
together. So they are taken to share it, with a weight: 0 if they say nothing about it, 1 if they
say as much as the coefficient itself. Of a few weights those are taken with which coefficients are
best foretold by those around them (a pseudo-likelihood [1]_); all else is a closed form.

References
----------
.. [1] J. Besag, "Statistical analysis of non-lattice data", The Statistician 24, 1975.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.bands import joined
from sparsebayes.dictionaries import Band
from sparsebayes.engine.orthonormal import shrinkage_prior
from sparsebayes.engine.orthonormal.log_bins import Histogram

Array = np.ndarray

# Weights of those beside a coefficient and of its parent.
_WEIGHTS = ((0.0, 0.0), (0.25, 0.0), (0.5, 0.0), (0.25, 0.25), (0.5, 0.5))
# Coefficients of a band, from which on there is so much noise that some of it looks like a signal:
# of n times as many the prior has to gain log n nats over one of noise alone.
_MANY = 4096
_LOOKED_AT = 4096  # coefficients of a band, for the choice of weights


@dataclass(frozen=True)
class Rule:
    """What was learned about a band.

    Attributes
    ----------
    prior : ShrinkagePrior
    beside, above : float
        Weights of those beside a coefficient, and of its parent.
    noise : float
        The noise variance of its coefficients.
    """

    prior: shrinkage_prior.ShrinkagePrior
    beside: float
    above: float
    noise: float


@dataclass(frozen=True)
class Rules:
    """What was learned about a signal.

    Attributes
    ----------
    of_bands : list of Rule
    log_evidence : float
        For each coefficient of a basis.
    """

    of_bands: list[Rule]
    log_evidence: float

    def shrunk(self, around: Neighbourhoods, coefficients: Array) -> tuple[Array, Array, int]:
        """Posterior means, their expected squared errors, and of how many most is left."""
        z = energies(around, coefficients, [rule.noise for rule in self.of_bands])
        means, errors = coefficients.copy(), np.zeros(coefficients.shape)
        kept = 0
        for number, (band, rule) in enumerate(zip(around.bands, self.of_bands, strict=True)):
            if rule.prior.is_zero:
                means[band.index] = 0.0
                continue
            sums, count = around.sums(z, number, rule.beside, rule.above)
            gain, uncertain = rule.prior.shrinkage(sums, count)
            means[band.index] *= gain
            if around.parts:
                uncertain = uncertain * z[band.index].mean(around.parts, keepdims=True)
            else:
                uncertain *= z[band.index]
            uncertain += gain
            errors[band.index] = rule.noise * uncertain
            kept += int(np.count_nonzero(gain > 0.5)) * (means[band.index].size // gain.size)
        return means, errors, kept


def learn_rules(
    around: Neighbourhoods,
    views: Sequence[Array],
    noises: Sequence[float],
    n_bases: int,
    *,
    weights: bool = True,
) -> Rules:
    """The rules for a signal.

    Parameters
    ----------
    views : sequence of ndarray
        The coefficients of the signal, shifted by this and that.
    noises : sequence of float
        For each band the noise variance of its coefficients.
    n_bases : int
        How many bases all of them are from.
    weights : bool
        Whether those of neighbours are chosen; the evidence does not depend on them.
    """
    all_z = [energies(around, view, noises) for view in views]
    counts = Counts(around, len(views))
    counts.add(all_z)
    return rules_of(counts, around, all_z if weights else [], noises, n_bases)


def energies(around: Neighbourhoods, coefficients: Array, noises: Sequence[float]) -> Array:
    """c²/σ² of all coefficients, with the noise variances of the bands."""
    z = np.square(coefficients, dtype=np.float64)
    for band, noise in zip(around.bands, noises, strict=True):
        z[band.index] /= noise
    return z


class Counts:
    """How large the energies of coefficients are, counted for bands that are taken together.

    Parameters
    ----------
    around : Neighbourhoods
    n_views : int
        Of how many arrays of coefficients there will be energies.

    Attributes
    ----------
    groups : list of (list of Band, Histogram)
    """

    groups: list[tuple[list[Band], Histogram]]

    def __init__(self, around: Neighbourhoods, n_views: int) -> None:
        groups = joined(around.bands, n_views)
        self.groups = [(bands, shrinkage_prior.counted([])) for bands in groups]

    def add(self, several: Iterable[Array]) -> None:
        """Count the energies of all coefficients of each array."""
        for z in several:
            for bands, histogram in self.groups:
                shrinkage_prior.counted((z[band.index] for band in bands), histogram)


def rules_of(
    counts: Counts,
    around: Neighbourhoods,
    some: Sequence[Array],
    noises: Sequence[float],
    n_bases: int,
) -> Rules:
    """The rules, from counts of all energies and from some energies in their places.

    Parameters
    ----------
    counts : Counts
    around : Neighbourhoods
        Of the transform that made `some`; it has the same bands, of any length.
    some : sequence of ndarray
        Energies from which weights are chosen; if there are none, weights are zero.
    noises : sequence of float
        For each band the noise variance of its coefficients.
    n_bases : int
        How many bases all that were counted are from.
    """
    rules: list[Rule] = []
    evidence, total = 0.0, 0.0
    for bands, histogram in counts.groups:
        size = histogram.size / n_bases
        proof = float(np.log(size / _MANY))
        prior = shrinkage_prior.estimate(histogram, shrinkage_prior.LEAST_TOGETHER, n_bases, proof)
        evidence += prior.log_evidence
        sizes = np.array(
            [np.prod([part.stop - part.start for part in band.index]) for band in bands]
        )
        for share in sizes / sizes.sum():
            number = len(rules)
            beside, above = _weights(around, some, number, prior) if some else (0.0, 0.0)
            rules.append(Rule(prior, beside, above, noises[number]))
            evidence -= 0.5 * share * size * float(np.log(noises[number]))
        total += size
    return Rules(rules, evidence / total)


def _weights(
    around: Neighbourhoods,
    energies: Sequence[Array],
    number: int,
    prior: shrinkage_prior.ShrinkagePrior,
) -> tuple[float, float]:
    """The weights with which coefficients of a band are best foretold by those around them."""
    index = around.bands[number].index
    size = energies[0][index].size
    some = energies[: max(1, -(-_LOOKED_AT // size))]
    step = slice(None, None, max(1, len(some) * size // _LOOKED_AT))
    own = np.concatenate([np.ravel(z[index]) for z in some])[step]
    found = []
    for beside, above in _WEIGHTS:
        sums = []
        for z in some:
            around_each, count = around.sums(z, number, beside, above)
            sums.append(np.ravel(np.broadcast_to(around_each, z[index].shape)))
        others = np.maximum(np.concatenate(sums)[step] - own, 0.0)
        found.append(prior.log_predictive(own, others, count - 1.0))
    return _WEIGHTS[int(np.argmax(found))]
