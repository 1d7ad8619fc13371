"""Denoising with any dictionary, or with samples missing: the sequential solver on transforms."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from sparsebayes._support.batching import memory_budget
from sparsebayes.denoising.closed_form import joined
from sparsebayes.dictionaries.transforms import StackedTransform, Transform
from sparsebayes.dictionaries.wavelets import WaveletTransform
from sparsebayes.engine import (
    Exact,
    Exchanging,
    Gaussian,
    MatrixFree,
    Prior,
    Sequential,
    Solver,
    Swap,
    run,
)
from sparsebayes.engine.orthonormal import shrinkage_prior

Array = np.ndarray

_SEARCH = Sequential(many=1024)  # of more functions one dive is enough: they hardly overlap
_EXCHANGED = 1 << 22  # samples times functions, up to which exchanges are tried
_ROUNDED = 1e-3  # of the signal's energy, by which the residual may differ from what it should be
ROUNDED = (
    "ended where rounding hides the fit: its functions are nearly dependent; use a shorter "
    "length scale, wavelets or cosines, or prior='bic'"
)
_NEAR = 2.0  # coefficients: how far those reach by which an unseen one is judged
_SEEN = 0.5  # the part of a function's energy on samples that it needs to be judged by them


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
        sites = Gaussian(self._target, np.ones(rows.size), noise)
        self._functions = functions = _seen_functions(transform, rows)
        design = MatrixFree(transform, rows, functions, memory_budget())
        problem = Exact(design, prior, sites, memory_budget())
        solution = run(
            _solver(transform, functions),
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
        residual = problem.residual_energy(state)
        self.n_active = state.active.size
        self.coefficients = self._filled(state.mean, 0.0)
        self.alpha = self._filled(state.alpha, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num(problem.moments / problem.norms, posinf=0.0, neginf=0.0)
        projections = np.zeros(int(np.prod(transform.coefficient_shape)))
        projections[functions] = ratio
        self.projections = projections.reshape(transform.coefficient_shape)
        # The solver knows the residual by products only; of nearly dependent kernels they round.
        actual = float(np.sum((self._target - self._estimate.ravel()[rows]) ** 2))
        if abs(actual - residual) > _ROUNDED * problem.energy:
            self.converged, self.stop_reason = False, ROUNDED

    def _filled(self, values: Array, other: float) -> Array:
        out = np.full(int(np.prod(self.transform.coefficient_shape)), other)
        out[self._functions[self._state.active]] = values
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
        """What the kept functions do not explain, judged in one orthonormal basis.

        Of a coefficient that can be told, what the residual says counts. Others may be as
        large as those of their band are on average, as the estimate has them.
        """
        probe, kept = self._probe()
        shape, variance = probe.shape, self.noise_variance
        residual = self._target - self._estimate.ravel()[self._rows]
        size = int(np.prod(shape))
        counts = np.bincount(self._rows, minlength=size).reshape(shape)
        rest = np.bincount(self._rows, residual, minlength=size).reshape(shape)
        sampled = counts > 0
        seen = np.clip(probe.gather(sampled.astype(float)), 1e-12, 1.0)
        told = (seen >= _SEEN * sampled.mean()) & _coarse(probe, float(sampled.sum()))
        mean = np.divide(rest, counts, out=np.zeros(shape), where=sampled)
        z = probe.analyse(mean) ** 2 / (seen * variance)
        with_kept = np.where(kept != 0, kept**2 / variance, z)
        explained = probe.analyse(self._estimate) ** 2 / variance
        errors = np.zeros(shape)
        for bands in joined(probe.bands()):
            known = np.concatenate([with_kept[b.index][told[b.index]] for b in bands])
            found = shrinkage_prior.estimate(known)
            for band in bands:
                here, sure = errors[band.index], told[band.index]
                here[sure] = found.error(z[band.index][sure], np.zeros(1), seen[band.index][sure])
                if sure.any():
                    energy = here[sure] + explained[band.index][sure]
                    here[~sure] = _around(energy, sure)[~sure]
        errors[kept != 0] = 0.0
        return probe.spread(errors * variance)

    def _probe(self) -> tuple[Transform, Array]:
        """A wavelet transform, of the dictionary if it has one, and what is kept of it."""
        transform = self.transform
        if isinstance(transform, StackedTransform):
            for member, part in zip(transform.members, transform.slices, strict=True):
                if isinstance(member, WaveletTransform):
                    return member, self.coefficients[part].reshape(member.coefficient_shape)
        elif isinstance(transform, WaveletTransform):
            return transform, self.coefficients
        return WaveletTransform("sym8", transform.shape, None), np.zeros(transform.shape)


def _seen_functions(transform: Transform, rows: Array) -> Array:
    """The functions that can be told: not too fine, and with enough of their energy on samples.

    The prior knows a function by its samples only. One that lies in a gap but for its tail would
    follow the noise there, and be anything in the gap.
    """
    counts = _on_grid(transform, rows)
    whole = transform.gather(np.ones(transform.shape)).ravel()
    enough = transform.gather(counts).ravel() >= _SEEN * counts.mean() * whole
    members = transform.members if isinstance(transform, StackedTransform) else (transform,)
    coarse = [_coarse(member, counts.sum()).ravel() for member in members]
    return np.flatnonzero(enough & np.concatenate(coarse))


def _around(values: Array, known: Array) -> Array:
    """The mean of what is known, or of what is near if that is more, on the array of the mask."""
    filled = np.zeros(known.shape)
    filled[known] = values
    near = gaussian_filter(known.astype(float), _NEAR, mode="wrap")
    local = gaussian_filter(filled, _NEAR, mode="wrap") / np.maximum(near, 1e-3)
    return np.maximum(local, values.mean())


def _on_grid(transform: Transform, rows: Array) -> Array:
    """1 where there is a sample, 0 elsewhere."""
    size = int(np.prod(transform.shape))
    return np.minimum(np.bincount(rows, minlength=size), 1.0).reshape(transform.shape)


def _coarse(transform: Transform, n_samples: float) -> Array:
    """A mask of the coarser bands, with hardly more coefficients than samples."""
    mask = np.zeros(transform.coefficient_shape, dtype=bool)
    for band in transform.bands():
        if np.count_nonzero(mask) >= n_samples:
            break
        mask[band.index] = True
    return mask


def _solver(transform: Transform, functions: Array) -> Solver:
    """The sequential solver; with exchanges between the members of a union, if it is not large.

    All that is active is exchanged for what one member can do alone, then what is in a half, a
    quarter or an eighth of the signal. A member that is everywhere takes part in the first only.
    """
    if not isinstance(transform, StackedTransform):
        return _SEARCH
    if functions.size * int(np.prod(transform.shape)) > _EXCHANGED:
        return _SEARCH
    place = np.full(transform.coefficient_shape[0], np.nan)
    member = np.empty(place.size, dtype=int)
    for number, (one, part) in enumerate(zip(transform.members, transform.slices, strict=True)):
        member[part] = number
        places = one.places()
        if places is not None:
            place[part] = places
    place, member = place[functions], member[functions]
    swaps = [Swap(np.arange(functions.size), np.flatnonzero(member == k)) for k in set(member)]
    located = set(member[~np.isnan(place)])
    for pieces in (2, 4, 8) if len(located) > 1 else ():
        for piece in range(pieces):
            inside = (place >= piece / pieces) & (place < (piece + 1) / pieces)
            drop = np.flatnonzero(inside)
            swaps += [Swap(drop, np.flatnonzero(inside & (member == k))) for k in located]
    return Exchanging(swaps, _SEARCH)
