"""Reversible jumps, as S08 2.7: functions are born, die and move, and are proposed blindly.

The printed acceptance ratios (2.103)-(2.124) leave out in how many ways a function that is born or
dies can be chosen. Without that they are right for one prior only: all numbers of functions equally
likely (`InclusionPrior` with a = b = 1), where it cancels.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from sparsebayes.engine.mcmc.active_set import ActiveSet
from sparsebayes.engine.mcmc.chain import Cells, Chain, pick
from sparsebayes.engine.mcmc.posterior import SparsePosterior

Array = np.ndarray


class Births:
    """Where x of a new function comes from: the slab itself, but for cells."""

    def __init__(self, posterior: SparsePosterior) -> None:
        self._slab, self._norms = posterior.slab, posterior.norms
        self._cells = Cells(*posterior.slab.ends)

    def _log_steps(self, function: int, beta: float) -> Array:
        steps = self._slab.log_density(self._cells.centres, beta * self._norms[function])
        steps = steps - steps.max()
        return steps - np.log(np.exp(steps).sum()) - self._cells.log_width

    def draw(self, function: int, beta: float, rng: np.random.Generator) -> float:
        return self._cells.within(pick(np.exp(self._log_steps(function, beta)), rng), rng)

    def log_density(self, function: int, x: float, beta: float) -> float:
        return float(self._log_steps(function, beta)[self._cells.cell(x)])


class LogNormalBirths:
    """The third proposal of S08: α/g is log-normal about 1, cut off at the ends of the slab.

    # S08 (2.110)-(2.112); the density is one of x, so the factor 1/α is not in it.
    """

    def __init__(self, posterior: SparsePosterior, spread: float) -> None:
        self._spread = spread
        low, high = posterior.slab.ends
        self._low, self._high = ndtr(low / spread), ndtr(high / spread)

    def draw(self, function: int, beta: float, rng: np.random.Generator) -> float:
        return float(self._spread * ndtri(rng.uniform(self._low, self._high)))

    def log_density(self, function: int, x: float, beta: float) -> float:
        mass = self._spread * (self._high - self._low) * np.sqrt(2.0 * np.pi)
        return float(-0.5 * (x / self._spread) ** 2 - np.log(mass))


def chances(size: int, total: int) -> tuple[float, float, float]:
    """Of birth, death and move.  # S08 (2.102), but a model may be empty"""
    if size == 0:
        return 1.0, 0.0, 0.0
    if size == total:
        return 0.0, 1.0, 0.0
    return 1 / 3, 1 / 3, 1 / 3


def log_choices(size: int, total: int) -> float:
    """One of ``total − size`` functions is born, one of ``size + 1`` would die in return."""
    return float(np.log((total - size) / (size + 1)))


class JumpChain(Chain):
    """A chain that moves by proposals.

    Parameters
    ----------
    posterior : SparsePosterior
    rng : numpy.random.Generator
    births : Births or LogNormalBirths, default=None
        None is `Births`.
    walk : float, default=0
        With a standard deviation, every jump is followed by a random step in the x of one function.
    jump : bool, default=True
        Whether there are births, deaths and moves.
    steps : int, default=None
        In a sweep; None is one for each function of the basis.
    """

    def __init__(
        self,
        posterior: SparsePosterior,
        rng: np.random.Generator,
        births: Births | LogNormalBirths | None = None,
        *,
        walk: float = 0.0,
        jump: bool = True,
        steps: int | None = None,
    ) -> None:
        super().__init__(posterior, rng)
        self.births = Births(posterior) if births is None else births
        self.walk, self.jump = walk, jump
        self.steps = posterior.n_functions if steps is None else steps

    def sweep(self) -> None:
        """So many steps, then the noise."""
        for _ in range(self.steps):
            if self.jump:
                self._jump()
            if self.walk > 0 and self.active_set.size:
                self._step()
        self.active_set.refresh()
        self._renew_noise()

    def _jump(self) -> None:
        size, total = self.active_set.size, self.posterior.n_functions
        kind = pick(np.array(chances(size, total)), self.rng)
        (self._birth, self._death, self._move)[kind]()

    def _log_weight(self, function: int, x: float) -> float:
        """What a function outside the active set would add to the log density, at x."""
        active_set, beta = self.active_set, self.beta
        q = active_set.q[function]
        gain = self.posterior.gain(beta)(x, active_set.s[function], q * q, active_set.residual)
        return float(
            gain + self.posterior.slab.log_density(x, beta * self.posterior.norms[function])
        )

    def _log_birth(self, function: int, x: float) -> float:
        """Log acceptance ratio of a birth; minus that of the death which undoes it."""
        size, total = self.active_set.size, self.posterior.n_functions
        ratio = self._log_weight(function, x) + self.posterior.inclusion.log_odds(size, total)
        ratio += float(np.log(chances(size + 1, total)[1] / chances(size, total)[0]))
        ratio += log_choices(size, total)
        return ratio - self.births.log_density(function, x, self.beta)

    def _birth(self) -> None:
        function = int(self.rng.choice(self.active_set.others()))
        x = self.births.draw(function, self.beta, self.rng)
        if self._accept(self._log_birth(function, x)):
            self.active_set.add(function, x)

    def _death(self) -> None:
        function, x = self.active_set.remove(int(self.rng.integers(self.active_set.size)))
        if not self._accept(-self._log_birth(function, x)):
            self.active_set.add(function, x)

    def _move(self) -> None:
        others = self.active_set.others()
        old, old_x = self.active_set.remove(int(self.rng.integers(self.active_set.size)))
        new = int(self.rng.choice(others))
        x = self.births.draw(new, self.beta, self.rng)
        ratio = self._log_weight(new, x) - self.births.log_density(new, x, self.beta)
        ratio -= self._log_weight(old, old_x) - self.births.log_density(old, old_x, self.beta)
        if self._accept(ratio):
            old, old_x = new, x
        self.active_set.add(old, old_x)

    def _step(self) -> None:
        active_set = self.active_set
        function, x = active_set.remove(int(self.rng.integers(active_set.size)))
        new = x + self.walk * self.rng.standard_normal()
        low, high = self.posterior.slab.ends
        inside = low <= new <= high
        if inside and self._accept(self._log_weight(function, new) - self._log_weight(function, x)):
            x = new
        active_set.add(function, x)

    def _renew_noise(self) -> None:
        """β given a draw of the weights, as (2.126); x is held, so the prior of w has β in it.

        Where the slab depends on β too, the draw is accepted or rejected for that.
        """
        posterior, active_set = self.posterior, self.active_set
        if posterior.noise.fixed is not None:
            return
        draws = self.rng.standard_normal(active_set.size)
        spread = float(draws @ draws) / self.beta  # penalised energy about that of the mean
        shape = posterior.noise.shape + 0.5 * (posterior.n_samples + active_set.size)
        rate = posterior.noise.scale + 0.5 * (active_set.residual + spread)
        beta = float(self.rng.gamma(shape) / rate)
        if self._accept(
            _log_slab(posterior, active_set, beta) - _log_slab(posterior, active_set, self.beta)
        ):
            self.beta = beta


def _log_slab(posterior: SparsePosterior, active_set: ActiveSet, beta: float) -> float:
    return float(
        posterior.slab.log_density(active_set.x, beta * posterior.norms[active_set.active]).sum()
    )
