"""Denoising with any dictionary, or with samples missing: the sequential solver on transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter

from sparsebayes._support.batching import memory_budget
from sparsebayes.denoising.bands import coarse, joined
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Transform, Wavelet
from sparsebayes.engine import (
    Exact,
    Exchanging,
    Gaussian,
    MatrixFree,
    Policy,
    Prior,
    Sequential,
    Solver,
    Step,
    Swap,
    run,
)
from sparsebayes.engine.orthonormal import shrinkage_prior

Array = np.ndarray

# Of more functions one low-noise restart is enough: they hardly overlap.
# Nothing more is tried: exchanges take its place, and with it signals come out a little worse.
_SEARCH = Sequential(Policy(many=1024, work=0.0, routes=()))
_TOL_SAMPLES = 1000.0  # samples that `tol` is meant for: the log evidence grows with their number
# Samples times functions up to which exchanges are tried. They take as long as the search or
# twice that, which is seconds from there on.
_EXCHANGED = 1 << 22
_PIECES = (2, 4, 8)  # of the signal, within which functions are exchanged
# Of the signal's energy, by which the residual may differ from what it should be. In sound fits
# it differs by 1e-5 at most.
_ROUNDED = 1e-3
ROUNDED = (
    "ended where rounding hides the fit: its functions are nearly dependent; use a shorter "
    "length scale, wavelets or cosines, or prior='bic'"
)
# The part of its energy on samples that a function needs to be judged by them. Of 0.1 to 0.9
# this had the smallest error in gaps (20 of 256 samples, the signals of docs/guide/denoising.md).
_SEEN = 0.5
# Coefficients: how far those reach by which an unseen one is judged. It matters little: from 0.5
# to 8 the share of a gap that the band covers falls from 75 to 69 %.
_NEAR = 2.0
_PROBE = "sym8"  # as the default dictionary of `denoise`


class SequentialFit(SignalFit):
    """The fit with any dictionary, and to any samples.

    Parameters
    ----------
    transform : Transform
        The dictionary on the grid of the signal.
    target : ndarray, (N,)
        Samples without their mean.
    rows : ndarray of int, (N,)
        Where on the flattened grid they are.
    prior : Prior
    noise : float or None
        The noise variance; None estimates it.
    max_iter : int
    tol : float
        Gain in log evidence for 1000 samples below which the solver stops.
    report : callable or None
        Called after each step of the solver.
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
        report: Callable[[int, Step], bool] | None,
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
            tol=tol * max(1.0, rows.size / _TOL_SAMPLES),
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
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num(problem.moments / problem.norms, posinf=0.0, neginf=0.0)
        projections = np.zeros(int(np.prod(transform.coefficient_shape)))
        projections[functions] = ratio
        self.projections = projections.reshape(transform.coefficient_shape)
        # The solver has the residual from inner products. With nearly dependent kernels rounding
        # errors may be larger than it is.
        actual = float(np.sum((self._target - self._estimate.ravel()[rows]) ** 2))
        if abs(actual - residual) > _ROUNDED * problem.energy:
            self.converged, self.stop_reason = False, ROUNDED

    def _filled(self, values: Array, other: float) -> Array:
        out = np.full(int(np.prod(self.transform.coefficient_shape)), other)
        out[self._functions[self._state.active]] = values
        return out.reshape(self.transform.coefficient_shape)

    @property
    def alpha(self) -> Array:
        return self._filled(self._state.alpha, np.inf)

    @cached_property
    def _estimate(self) -> Array:
        return self.transform.synthesise(self.coefficients)

    def signal(self) -> Array:
        return self._estimate

    def variance(self) -> Array:
        """Posterior variances, and the expected squares of what was left out."""
        state = self._state
        total = np.zeros(self.transform.shape)
        for column in state.root.T:
            total += self.transform.synthesise(self._filled(column, 0.0)) ** 2
        return total + self._left_out()

    def _left_out(self) -> Array:
        """The expected squares of what the kept functions miss, found in one orthonormal basis.

        A coefficient that is well sampled is judged by the residual. Others may be as large as
        those of their band are on average in the estimate.
        """
        probe, kept = self._probe()
        shape, variance = probe.shape, self.noise_variance
        residual = self._target - self._estimate.ravel()[self._rows]
        size = int(np.prod(shape))
        counts = np.bincount(self._rows, minlength=size).reshape(shape)
        rest = np.bincount(self._rows, residual, minlength=size).reshape(shape)
        sampled = counts > 0
        seen = np.clip(probe.gather(sampled.astype(float)), 1e-12, 1.0)  # a divisor: never zero
        told = (seen >= _SEEN * sampled.mean()) & coarse(probe, float(sampled.sum()))
        mean = np.divide(rest, counts, out=np.zeros(shape), where=sampled)
        z = probe.analyse(mean) ** 2 / (seen * variance)
        with_kept = np.where(kept != 0, kept**2 / variance, z)
        explained = probe.analyse(self._estimate) ** 2 / variance
        errors = np.zeros(probe.coefficient_shape)
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
        """An orthonormal transform with functions in places, and what is kept of it.

        It is a member of the dictionary, or wavelets if that has none.
        """
        members = self.transform.members
        for member, own in zip(members, self.transform.split(self.coefficients), strict=True):
            if member.orthonormal and member.places() is not None:
                return member, own
        probe = Wavelet(_PROBE).bind(self.transform.shape)
        return probe, np.zeros(probe.coefficient_shape)


def _seen_functions(transform: Transform, rows: Array) -> Array:
    """The functions that may be used: not too fine, and with enough of their energy on samples.

    A function that lies in a gap but for its tail would follow the noise at its tail, and take
    any value in the gap.
    """
    counts = _on_grid(transform, rows)
    whole = transform.gather(np.ones(transform.shape)).ravel()
    enough = transform.gather(counts).ravel() >= _SEEN * counts.mean() * whole
    not_fine = [coarse(member, counts.sum()).ravel() for member in transform.members]
    return np.flatnonzero(enough & np.concatenate(not_fine))


def _around(values: Array, known: Array) -> Array:
    """The mean of what is known, or of what is near if that is more, on the array of the mask."""
    filled = np.zeros(known.shape)
    filled[known] = values
    near = gaussian_filter(known.astype(float), _NEAR, mode="wrap")
    local = gaussian_filter(filled, _NEAR, mode="wrap") / np.maximum(near, 1e-3)  # far away: 0
    return np.maximum(local, values.mean())


def _on_grid(transform: Transform, rows: Array) -> Array:
    """1 where there is a sample, 0 elsewhere."""
    size = int(np.prod(transform.shape))
    return np.minimum(np.bincount(rows, minlength=size), 1.0).reshape(transform.shape)


def _solver(transform: Transform, functions: Array) -> Solver:
    """The sequential solver; with exchanges between the members of a union, if it is not large.

    All that is active is exchanged for what one member can do alone, then what is in a half, a
    quarter or an eighth of the signal. A member that is everywhere takes part in the first only.
    """
    large = functions.size * int(np.prod(transform.shape)) > _EXCHANGED
    if large or len(transform.members) == 1:
        return _SEARCH
    sizes = [int(np.prod(one.coefficient_shape)) for one in transform.members]
    member = np.repeat(np.arange(len(sizes)), sizes)
    places = [one.places() for one in transform.members]
    pairs = zip(places, sizes, strict=True)
    place = np.concatenate([np.full(n, np.nan) if p is None else p for p, n in pairs])
    place, member = place[functions], member[functions]
    swaps = [Swap(np.arange(functions.size), np.flatnonzero(member == k)) for k in set(member)]
    located = set(member[~np.isnan(place)])
    for pieces in _PIECES if len(located) > 1 else ():
        for piece in range(pieces):
            inside = (place >= piece / pieces) & (place < (piece + 1) / pieces)
            drop = np.flatnonzero(inside)
            swaps += [Swap(drop, np.flatnonzero(inside & (member == k))) for k in located]
    return Exchanging(swaps, _SEARCH)
