"""Denoising with any dictionary, or with samples missing: the sequential solver on transforms."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sparsebayes._machine import memory_budget
from sparsebayes._shrinkage import joined
from sparsebayes._transforms import StackedTransform, Transform
from sparsebayes._wavelets import WaveletTransform
from sparsebayes.engine import (
    Exact,
    Exchanging,
    Gaussian,
    MatrixFree,
    Prior,
    Sequential,
    Solver,
    Swap,
    inclusion,
    run,
)

Array = np.ndarray

_EXCHANGED = 1 << 22  # samples times functions, up to which exchanges are tried
_SEEN = 0.5  # the part of a coefficient's energy on samples from which its band is learned


class Pursued:
    """One signal's sparse fit; the attributes are those of `Shrunk`.

    Parameters
    ----------
    transform : Transform
        On a grid.
    target : ndarray, (N,)
        Samples, centred.
    rows : ndarray of int, (N,)
        Where on the flattened grid they are.
    """

    def __init__(
        self,
        transform: Transform,
        target: Array,
        rows: Array,
        prior: Prior,
        noise: float | None,
        *,
        max_iter: int,
        tol: float,
        report: Any,
    ) -> None:
        self.transform, self._rows = transform, rows
        self.n_seen = rows.size
        self._target = target.astype(np.float64)
        if not np.any(target) and noise is None:
            noise = np.finfo(np.float64).tiny ** 0.5
        sites = Gaussian(self._target, np.ones(rows.size), noise)
        design = MatrixFree(transform, rows, memory_budget())
        problem = Exact(design, prior, sites, memory_budget())
        solution = run(
            _solver(transform),
            problem,
            max_iter=max_iter,
            tol=tol * max(1.0, rows.size / 1000.0),
            rng=np.random.default_rng(0),
            report=report,
        )
        state = self._state = solution.state
        self.noise_variance = float(1.0 / state.beta)
        self.log_evidence = float(state.evidence)
        self.converged, self.stop_reason = solution.stop.converged, solution.stop.value
        self.maxima = [(self.noise_variance, float(state.objective))]
        self.n_active = state.active.size
        self.coefficients = self._filled(state.mean, 0.0)
        self.alpha = self._filled(state.alpha, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            projections = np.nan_to_num(problem.moments / problem.norms, posinf=0.0, neginf=0.0)
        self.projections = projections.reshape(transform.coefficient_shape)

    def _filled(self, values: Array, other: float) -> Array:
        out = np.full(int(np.prod(self.transform.coefficient_shape)), other)
        out[self._state.active] = values
        return out.reshape(self.transform.coefficient_shape)

    @cached_property
    def _estimate(self) -> Array:
        return self.transform.synthesise(self.coefficients)

    def signal(self) -> Array:
        return self._estimate

    def variance(self) -> Array:
        """Posterior variances on the grid, and the errors of what was left out."""
        state = self._state
        total = np.zeros(self.transform.shape)
        root = np.linalg.cholesky(state.cov) if state.active.size else state.cov
        for column in root.T:
            total += self.transform.synthesise(self._filled(column, 0.0)) ** 2
        return total + self._left_out()

    def _left_out(self) -> Array:
        """What the kept functions do not explain, judged in one orthonormal basis."""
        probe, kept = self._probe()
        shape = probe.shape
        residual = self._target - self._estimate.ravel()[self._rows]
        size = int(np.prod(shape))
        counts = np.bincount(self._rows, minlength=size).reshape(shape)
        rest = np.bincount(self._rows, residual, minlength=size).reshape(shape)
        seen = np.clip(probe.gather(np.minimum(counts, 1.0)), 1e-12, 1.0)
        mean = np.divide(rest, counts, out=np.zeros(shape), where=counts > 0)
        coefficients = probe.analyse(mean) / seen
        variance = self.noise_variance
        z = coefficients**2 * seen / variance
        errors = np.zeros(shape)
        for bands in joined(probe.bands()):
            told = np.concatenate(
                [np.ravel(z[b.index] + kept[b.index] ** 2 / variance) for b in bands]
            )
            well = np.concatenate([np.ravel(seen[b.index] > _SEEN) for b in bands])
            found = inclusion.estimate(told[well] if well.any() else told)
            for band in bands:
                part = found.error(z[band.index], 0.0, seen[band.index])
                errors[band.index] = part.reshape(errors[band.index].shape)
        errors[kept != 0] = 0.0
        return probe.spread(errors * variance)

    def _probe(self) -> tuple[Transform, Array]:
        """An orthonormal transform, of the dictionary if it has one, and what is kept of it."""
        transform = self.transform
        if isinstance(transform, StackedTransform):
            for member, part in zip(transform.members, transform.slices, strict=True):
                if member.orthonormal:
                    return member, self.coefficients[part].reshape(member.coefficient_shape)
        elif transform.orthonormal:
            return transform, self.coefficients
        return WaveletTransform("sym8", transform.shape, None), np.zeros(transform.shape)


def _solver(transform: Transform) -> Solver:
    """The sequential solver; with exchanges where members of a union are found in places."""
    if not isinstance(transform, StackedTransform):
        return Sequential()
    size = transform.coefficient_shape[0]
    located = [member.places() for member in transform.members]
    if sum(place is not None for place in located) < 2:
        return Sequential()
    if size * int(np.prod(transform.shape)) > _EXCHANGED:
        return Sequential()
    everywhere = np.full(size, -1.0)
    for place, part in zip(located, transform.slices, strict=True):
        if place is not None:
            everywhere[part] = place
    swaps = []
    for depth in (2, 4, 8):
        for piece in range(depth):
            inside = (everywhere >= piece / depth) & (everywhere < (piece + 1) / depth)
            drop = np.flatnonzero(inside)
            for place, part in zip(located, transform.slices, strict=True):
                if place is not None:
                    pool = drop[(drop >= part.start) & (drop < part.stop)]
                    swaps.append(Swap(drop, pool))
    return Exchanging(swaps)
