"""How uncertain a coefficient is, whether it was kept or dropped: adaptive shrinkage.

A fit holds one precision for each coefficient, and what it drops it holds to be exactly zero.
That is too sure: most of what is wrong with an estimate are small coefficients that were
dropped. So the precisions of coefficients that are alike (a band) get a distribution, on a few
values from ∞ downwards, with weights that maximise the evidence of the band. Given that, the
expected squared error of any estimate follows for each coefficient.

A mixture of zero-mean Gaussians on a fixed grid of variances with a point mass at zero, its
weights by EM and a penalty that favours zero, is the adaptive shrinkage of [1]_; a prior of a point
mass and a slab for each band of wavelet coefficients, by the evidence, is that of [2]_. Ours are
the bins in which the coefficients are counted, the tables, and the error of estimates that are not
its own posterior mean.

References
----------
.. [1] M. Stephens, "False discovery rates: a new deal", Biostatistics 18, 2017.
.. [2] I. Johnstone, B. Silverman, "Empirical Bayes selection of wavelet thresholds", Annals of
   Statistics 33, 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.orthonormal.log_bins import Bins, Histogram, chunks

Array = np.ndarray
Gain = Callable[[Array], Array]  # the factor between a coefficient and its estimate, from z

# Below 3σ² (the coefficients' standard deviation twice that of the noise) it cannot be told from
# one coefficient; with those around it, it can.
LEAST_ALONE, LEAST_TOGETHER = 3.0, 0.5
_NULLS = 4.0  # dropped coefficients added to those of a band: a penalty, as in [1], for short ones
_FIRST_SHARE = 0.01  # not zero at first: EM lets a weight grow faster than vanish
_STEPS, _CHANGE = 100, 1e-6  # of EM: at most, and the change of the weights at which it ends
_SMALLEST = 2.0**-10  # a z below it is as good as zero
_BINS = Bins(_SMALLEST, bits=3)  # for the distribution of a band
_FINE = Bins(_SMALLEST, bits=7)  # for the errors of many coefficients: 128 values an octave
_MANY = 1 << 12  # coefficients, of which a table is quicker
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ShrinkagePrior:
    """A distribution of prior variances in units of the noise variance.

    Attributes
    ----------
    variances : ndarray
        1/(ασ²); the first is 0.
    weights : ndarray
    log_evidence : float
        Of the coefficients it was learned from, in units of σ.
    """

    variances: Array
    weights: Array
    log_evidence: float = np.nan

    def error(self, z: Array, gain: Array, precision: Array | float = 1.0) -> Array:
        """The expected squared error of the estimate ``gain · x``, in units of σ².

        Parameters
        ----------
        z : ndarray
            ``x²`` in units of its own noise variance, which is σ² over `precision`.
        gain : ndarray
            The factor between the coefficient and its estimate.
        precision : float or ndarray
            How much of the coefficient was seen: 1 where it was measured in full.
        """
        z, gain, precision = (np.ravel(a) for a in np.broadcast_arrays(z, gain, precision))
        out = np.empty(z.size)
        for part in chunks(z.size):
            seen = precision[part, None]
            prior = seen * self.variances
            share = _posterior(z[part, None], prior, self.weights)
            # With the prior's variance v the posterior mean is x v/(1 + pv), p the precision.
            factor = prior / (1.0 + prior)
            bias = (factor - gain[part, None]) ** 2 * z[part, None] / seen
            out[part] = (share * (bias + self.variances / (1.0 + prior))).sum(axis=1)
        return out

    def errors(self, z: Array, gain: Gain) -> Array:
        """The same for many coefficients measured in full, from a table."""
        return _tabulated(lambda some: self.error(some, gain(some)), z)

    def gain(self, z: Array) -> Array:
        """The factor of the posterior mean, averaged over the precisions; from a table if many."""

        def factor(some: Array) -> Array:
            share = _posterior(some[:, None], self.variances, self.weights)
            return share @ (self.variances / (1.0 + self.variances))

        return _tabulated(factor, z)

    def shrinkage(self, sums: Array, count: float) -> tuple[Array, Array]:
        """Factors of posterior means where coefficients of one precision are seen together.

        Parameters
        ----------
        sums : ndarray
            For each coefficient the sum of z over those that share its precision, each with the
            weight that is given to what it says.
        count : float
            The sum of these weights.

        Returns
        -------
        mean, variance : ndarray
            Of the factor v/(1 + v), with v the prior variance, given the sums. The expected
            squared error of the posterior mean is ``σ² (mean + variance · z)``.
        """
        removed = 1.0 / (1.0 + self.variances)  # 1 less the factor, which may be close to 1

        def moments(some: Array) -> Array:
            share = _posterior(some[:, None], self.variances, self.weights, count)
            mean = share @ removed
            return np.stack([1.0 - mean, np.maximum(share @ removed**2 - mean**2, 0.0)])

        mean, variance = _tabulated(moments, np.ravel(sums))
        return mean.reshape(sums.shape), variance.reshape(sums.shape)

    def log_predictive(self, z: Array, sums: Array, count: float) -> float:
        """The mean log density of z, given sums over others of the same precision.

        A constant of z is left out.
        """
        z, sums = np.ravel(z)[:, None], np.ravel(sums)[:, None]
        share = _posterior(sums, self.variances, self.weights, count)
        density = np.exp(-0.5 * z / (1.0 + self.variances)) / np.sqrt(1.0 + self.variances)
        return float(np.log(np.maximum((share * density).sum(axis=1), _TINY)).mean())

    @property
    def is_zero(self) -> bool:
        """Whether all coefficients are, whatever was measured."""
        return bool(self.weights[0] == 1.0)

    def included(self, z: Array) -> Array:
        """The probability that a coefficient is not zero; from a table if many."""

        def probability(some: Array) -> Array:
            return 1.0 - _posterior(some[:, None], self.variances, self.weights)[:, 0]

        return _tabulated(probability, z)


def _tabulated(function: Gain, z: Array) -> Array:
    """A smooth function of z; of many z, looked up in narrow bins."""
    if z.size <= _MANY:
        return function(z)
    index = _FINE.index(z)
    lower = _FINE.lower(int(index.max()) + 2)
    return np.take(function(0.5 * (lower[:-1] + lower[1:])), index, axis=-1)


def _posterior(z: Array, prior: Array, weights: Array, count: float = 1.0) -> Array:
    """The weights given the sum z of so many, by row."""
    log = np.log(np.maximum(weights, _TINY))
    log = log - 0.5 * (count * np.log1p(prior) + z / (1.0 + prior))
    share = np.exp(log - log.max(axis=1, keepdims=True))
    return share / share.sum(axis=1, keepdims=True)


def counted(several: Iterable[Array], so_far: Histogram | None = None) -> Histogram:
    """Arrays of z in the bins from which `estimate` learns, with those that were counted before."""
    found = so_far or Histogram(_BINS)
    for z in several:
        flat = np.ravel(z)
        for part in chunks(flat.size):
            found.add(flat[part])
    return found


def estimate(
    z: Array | Histogram, least: float = LEAST_ALONE, n_bases: int = 1, least_gain: float = -np.inf
) -> ShrinkagePrior:
    """The distribution for coefficients with these ``z = c²/σ²``.

    Parameters
    ----------
    z : ndarray or Histogram
        A histogram is one of `counted`.
    least : float
        The smallest variance that is not zero, in units of σ².
    n_bases : int
        How many bases the coefficients are from: those of one count once together.
    least_gain : float
        Nats by which it has to be better than the distribution under which all are zero.
    """
    levels, counts = (z if isinstance(z, Histogram) else counted([z])).levels()
    counts = counts / n_bases
    top = max(float(levels[-1]) if levels.size else 0.0, 2.0 * least)
    octaves = int(np.ceil(np.log2(top / least)))
    variances = np.concatenate([[0.0], least * 2.0 ** np.arange(octaves + 1)])
    weights = np.full(variances.size, _FIRST_SHARE / (variances.size - 1))
    weights[0] = 1.0 - _FIRST_SHARE
    # EM, on bins: the evidence of a mixture never falls.
    log = -0.5 * (np.log1p(variances) + levels[:, None] / (1.0 + variances))
    highest = log.max(axis=1, keepdims=True)
    likelihood = np.exp(log - highest)
    for _ in range(_STEPS):
        joint = likelihood * weights
        numbers = (counts / joint.sum(axis=1)) @ joint
        numbers[0] += _NULLS
        new = numbers / numbers.sum()
        done = np.abs(new - weights).max() < _CHANGE
        weights = new
        if done:
            break
    sums = np.log(likelihood @ weights) + highest[:, 0]
    gain = float(counts @ (sums + 0.5 * levels)) + _NULLS * float(np.log(weights[0]))
    if gain < least_gain:  # over all of them zero
        weights = np.eye(variances.size)[0]
        sums = -0.5 * levels
    evidence = float(counts @ (sums - 0.5 * np.log(2.0 * np.pi)))
    return ShrinkagePrior(variances, weights, evidence)
