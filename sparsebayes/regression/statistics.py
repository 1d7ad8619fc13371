"""What a regression needs of its samples, as sums that can be formed part by part."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._rvm.parts import kernels_of
from sparsebayes._rvm.summing import sums_over
from sparsebayes._support.data import check_fit
from sparsebayes.basis import Basis, as_basis
from sparsebayes.basis.centres import is_number
from sparsebayes.engine import Exact, Flat, Prior
from sparsebayes.engine.model.sums import Sums
from sparsebayes.rows.chunk import Chunk
from sparsebayes.rows.sample import Sample

Array = np.ndarray


class Statistics:
    """Sums over samples from which a regression with Gaussian noise can be fitted.

    The evidence and the posterior depend on the samples through the four that are listed below.
    Those of two parts of the data add up: ``a + b`` is what both together give, in any order, so
    that parts may be summed in other processes or at other times. They are counted from the mean
    of the first targets: a large constant in y costs no digits.

    Parameters
    ----------
    basis : Basis or str
        Whose functions do not depend on the rows: fitted already, as ``RVR(...).fit(...).basis_``,
        or with ``centres`` given as an array and length scales as numbers.

    Attributes
    ----------
    n : float
        The sum of the sample weights.
    n_rows : int
    offset : float, or ndarray, (T,) for several targets
        The mean of y.
    energy : float, or ndarray, (T,)
        ``Σ w (y − offset)²``.
    moments : ndarray, (M,) or (M, T)
        ``Σ w φ(x) (y − offset)``.
    gram : ndarray, (M, M)
        ``Σ w φ(x) φ(x)ᵀ``, of the functions that do not repeat an earlier one.
    input_range : ndarray, (2, D)
        The smallest and the largest value of each input.
    sample : Sample
        Up to 5000 of the rows, by which `RVR.fit_statistics` finds how wide error bars have to be.

    See Also
    --------
    RVR : Its `fit_statistics` fits a model to such sums.
    sparsebayes.rows : Rows in files, which `RVR.fit` sums part by part.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import Statistics
    >>> from sparsebayes.basis import RBF
    >>> X = np.linspace(-10, 10, 1000)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi)
    >>> basis = RBF(2.0, centres=np.linspace(-10, 10, 21)[:, None])
    >>> left = Statistics(basis).update(X[:400], y[:400])
    >>> right = Statistics(basis).update(X[400:], y[400:])
    >>> both = left + right
    >>> both.n, both.gram.shape
    (1000.0, (21, 21))
    """

    def __init__(self, basis: Any) -> None:
        basis = as_basis(basis)
        self._fitted = hasattr(basis, "n_functions_")
        if not self._fitted:
            _check_fixed(basis)
        self.basis = basis
        self._sums: Sums | None = None
        self._several = False
        self._seen = 0
        self._sample: Sample | None = None
        self._range: Array | None = None

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Statistics:
        """Add samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The inputs of the samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice.

        Returns
        -------
        Statistics
            These sums, with the samples added.
        """
        X, y, weights = check_fit(None, X, y, sample_weight, several=True, part=True)
        several = y.ndim == 2
        if self._sums is not None and several != self._several:
            raise ValueError("y must have as many dimensions as it had in the update before.")
        self._several = several
        if not self._fitted:
            self.basis, self._fitted = copy.copy(self.basis).fit(X), True
        return self.add_rows(X, y, weights)

    def add_rows(self, X: Array, y: Array, weights: Array, first: int | None = None) -> Statistics:
        """Add samples in arrays that were checked before.

        Parameters
        ----------
        X : ndarray, (n, D)
            The inputs.
        y : ndarray, (n,) or (n, T)
            The targets.
        weights : ndarray, (n,)
            How often each sample counts.
        first : int or None, default=None
            The number of the first row; None counts on.

        Returns
        -------
        Statistics
            These sums, with the samples added.
        """
        self._several = y.ndim == 2
        for kernel in self.basis.centred:
            if kernel.centers_.shape[1] != X.shape[1]:
                raise ValueError(
                    f"X has {X.shape[1]} features, but the functions are centred on points with "
                    f"{kernel.centers_.shape[1]}."
                )
        counts = np.flatnonzero(weights > 0)
        targets = y if self._several else y[:, None]
        one = sums_over(self.basis, X[counts], targets[counts], weights[counts])
        if one is not None:
            self._sums = one if self._sums is None else self._sums + one
        chunk = Chunk(self._seen if first is None else first, X, y, weights)
        self._seen += len(X)
        self._look(Sample.of(chunk), _range_of(X[counts]) if counts.size else None)
        return self

    def _look(self, sample: Sample, found: Array | None) -> None:
        """Note further rows of the sample, and how far the inputs go."""
        self._sample = sample if self._sample is None else self._sample + sample
        if found is not None:
            both = [found] if self._range is None else [self._range, found]
            self._range = _range_of(np.concatenate(both))

    def times(self, factor: float) -> Statistics:
        """Multiply the weights of all samples.

        Parameters
        ----------
        factor : float
            By which they are multiplied.

        Returns
        -------
        Statistics
            New sums; these stay as they are.
        """
        other = copy.copy(self)
        other._sums = self.sums.times(factor)
        return other

    def __add__(self, other: Statistics) -> Statistics:
        return self._joined(other, 1)

    def __sub__(self, other: Statistics) -> Statistics:
        return self._joined(other, -1)

    def _joined(self, other: Statistics, sign: int) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        if other._sums is None:
            return copy.copy(self)
        if self._sums is None and sign > 0:
            return copy.copy(other)
        if not _same(self.basis, other.basis) or self._several != other._several:
            raise ValueError("Statistics of other functions or of other targets do not add up.")
        both = copy.copy(self)
        both._sums = self.sums + other._sums if sign > 0 else self.sums - other._sums
        if sign > 0:
            both._seen += other._seen
            assert other._sample is not None
            both._look(other._sample, other._range)
        return both

    @property
    def sums(self) -> Sums:
        """As the engine has them."""
        if self._sums is None:
            raise ValueError("There are no samples yet; call update(X, y) first.")
        return self._sums

    @property
    def n(self) -> float:
        """The sum of the sample weights."""
        return self.sums.count

    @property
    def n_rows(self) -> int:
        """How many rows were added, those of weight 0 left out."""
        return self.sums.n_rows

    def _each(self, values: Array) -> Any:
        if self._several:
            return values
        return values[..., 0] if values.ndim > 1 else float(values[0])

    @property
    def offset(self) -> float | Array:
        """The mean of y; one for each of several targets."""
        return self._each(self.sums.offset)

    @property
    def energy(self) -> float | Array:
        """The weighted sum of squares of the centred targets."""
        return self._each(self.sums.centred().squares)

    @property
    def moments(self) -> Array:
        """The weighted products of the functions and the centred targets."""
        return self._each(self.sums.centred().moments)

    @property
    def gram(self) -> Array:
        """The weighted products of the functions with each other."""
        return self.sums.gram

    @property
    def input_range(self) -> Array:
        """The smallest and the largest value of each input, (2, D)."""
        found = self._range
        if found is None:
            raise ValueError("There are no samples yet; call update(X, y) first.")
        return found

    @property
    def sample(self) -> Sample:
        """Some of the rows, by which the widths of error bars are found."""
        found = self._sample
        if found is None:
            raise ValueError("There are no samples yet; call update(X, y) first.")
        return found

    @property
    def several(self) -> bool:
        """Whether there are several targets."""
        return self._several

    def problem(self, prior: Prior | None = None, noise_variance: float | None = None) -> Exact:
        """Set up what a solver of the engine climbs, for one target.

        Parameters
        ----------
        prior : Prior or None, default=None
            On the precisions; None is `Flat`.
        noise_variance : float or None, default=None
            The noise variance where it is known; None estimates it.

        Returns
        -------
        Exact
            The problem, for `sparsebayes.engine.run`.
        """
        if self._several:
            raise ValueError("problem needs a single target.")
        sites = self.sums.sites(self.sums.offset, noise_variance=noise_variance)
        return Exact(self.sums.design(), prior or Flat(), sites)


@dataclass(frozen=True)
class StatisticsOf:
    """From a chunk of rows to their sums."""

    basis: Basis

    def __call__(self, chunk: Chunk) -> Statistics:
        return Statistics(self.basis).add_rows(chunk.X, chunk.y, chunk.weights, chunk.first)


def _range_of(X: Array) -> Array:
    return np.stack([X.min(axis=0), X.max(axis=0)])


def _check_fixed(basis: Basis) -> None:
    """A clear error if functions would depend on the rows that come first."""
    for part in kernels_of(basis):
        if part.centres is None or is_number(part.centres):
            raise ValueError(
                f"The functions of {part!r} depend on the rows; give their centres as an array, "
                "centres=points, or a basis that is fitted."
            )
        if isinstance(getattr(part, "length_scale", 1.0), str):
            raise ValueError(
                f"The length scale of {part!r} depends on the rows; give it as a number, or a "
                "basis that is fitted."
            )


def _same(one: Basis, other: Basis) -> bool:
    """Whether two fitted bases have the same functions."""
    if one is other:
        return True
    if type(one) is not type(other) or one.n_functions_ != other.n_functions_:
        return False
    pairs = zip(one.centred, other.centred, strict=True)
    same = all(np.array_equal(a.centers_, b.centers_) for a, b in pairs)
    return (
        same
        and np.array_equal(one.distinct_, other.distinct_)
        and np.array_equal(one.log_scales(), other.log_scales())
    )
