"""A sampler that mixes: functions come, go and change places by their exact conditionals.

Given all the others, how much any function would add at any α is explicit in its (s, q), for all
functions at once [S08 (2.73), (2.80)]. So nothing is proposed blindly: a function that comes is
drawn by what it adds, and one that was taken out is replaced by a draw from the conditional of its
place. The integral over α is a sum over cells of log α, and the draw within a cell is
accepted or rejected for the difference. Where no prior but its own depends on it, the noise is
integrated out of all that. Gibbs sampling of which functions are in is GM93's; the draw of a
function together with its α is our own.
"""

from __future__ import annotations

import numpy as np

from sparsebayes.engine.mcmc.chain import Cells, Chain, pick
from sparsebayes.engine.mcmc.posterior import SparsePosterior

Array = np.ndarray


class GibbsChain(Chain):
    """A chain that moves by conditionals.

    Parameters
    ----------
    posterior : SparsePosterior
    rng : numpy.random.Generator
    tries : int, default=8
        Arrivals and departures tried in a sweep, at least. More of them in larger models pay, but
        among draws it must not follow the size of the model: large ones would be left sooner.
    """

    def __init__(
        self, posterior: SparsePosterior, rng: np.random.Generator, *, tries: int = 8
    ) -> None:
        super().__init__(posterior, rng)
        self.tries = self._least = tries
        self._cells = Cells(*posterior.slab.ends)
        self._sizes: list[int] = []
        self._prepare()

    def start(self, active: Array, x: Array, beta: float) -> None:
        super().start(active, x, beta)
        self._prepare()

    def warm(self) -> None:
        """A sweep that is no draw; it sets `tries` to the usual number of functions."""
        self.sweep()
        self._sizes.append(self.active_set.size)
        usual = np.mean(self._sizes[len(self._sizes) // 2 :])
        self.tries = max(self._least, int(usual))

    def sweep(self) -> None:
        """Renew every function in the model, try as many arrivals as departures, and the noise."""
        active_set = self.active_set
        for place in range(active_set.size - 1, -1, -1):
            self._replace(place)
        for _ in range(self.tries):
            if self.rng.random() < 0.5:
                self._arrive()
            else:
                self._depart()
        active_set.refresh()
        self.beta = self.posterior.draw_beta(active_set, self.beta, self.rng)
        self._prepare()

    def _prepare(self) -> None:
        """What depends on the noise, where it is not integrated out."""
        posterior = self.posterior
        self._gain = posterior.gain(None if posterior.collapses else self.beta)
        rates = np.ones(1) if posterior.slab.noise_free else self.beta * posterior.norms
        slab = posterior.slab.log_density(self._cells.centres, rates[:, None])
        self._slab = np.atleast_2d(slab)

    def _log_weights(self, functions: Array) -> Array:
        """Of each function and cell, relative to leaving the function out, (k, K)."""
        active_set = self.active_set
        slab = self._slab if len(self._slab) == 1 else self._slab[functions]
        s, q = active_set.s[functions, None], active_set.q[functions, None]
        return self._gain(self._cells.centres, s, q * q, active_set.residual) + slab

    def _excess(self, steps: Array, functions: Array, x: Array) -> Array:
        """How much more likely each x is than its cell says, in logarithms.

        `steps` has the log weights of the functions, (k, K).
        """
        active_set = self.active_set
        q = active_set.q[functions]
        gain = self._gain(x, active_set.s[functions], q * q, active_set.residual)
        slab = self.posterior.slab.log_density(x, self.beta * self.posterior.norms[functions])
        cells = [self._cells.cell(value) for value in x]
        return gain + slab - steps[np.arange(len(cells)), cells]

    def _draw(self, functions: Array) -> tuple[int, float, float, Array]:
        """A function by what it adds, with its x: its number in `functions`, x, and the log of
        what all of them add; and the log weights."""
        log_weights = self._log_weights(functions)
        top = float(log_weights.max())
        weights = np.exp(log_weights - top)
        each = weights.sum(axis=1)
        chosen = pick(each, self.rng)
        x = self._cells.within(pick(weights[chosen], self.rng), self.rng)
        return chosen, x, top + float(np.log(each.sum())) + self._cells.log_width, log_weights

    def _replace(self, place: int) -> None:
        """Draw anew which function is at a place of the model, given the others.

        Every place is as likely to be renewed before as after, so there is nothing else to
        weigh.
        """
        active_set = self.active_set
        old, old_x = active_set.remove(place)
        others = active_set.others()
        chosen, x, _, log_weights = self._draw(others)
        rows = np.array([np.searchsorted(others, old), chosen])
        before, after = self._excess(log_weights[rows], others[rows], np.array([old_x, x]))
        if self._accept(after - before):
            old, old_x = int(others[chosen]), x
        active_set.add(old, old_x)

    def _arrive(self) -> None:
        """Let a function in, drawn by what it adds."""
        active_set = self.active_set
        size = active_set.size
        if size == active_set.n_functions:
            return
        others = active_set.others()
        chosen, x, log_total, log_weights = self._draw(others)
        excess = self._excess(log_weights[[chosen]], others[[chosen]], np.array([x]))[0]
        if self._accept(self._log_arrival(size, log_total) + excess):
            active_set.add(int(others[chosen]), x)

    def _depart(self) -> None:
        """Take any function out: the reverse of `_arrive`."""
        active_set = self.active_set
        if active_set.size == 0:
            return
        old, x = active_set.remove(int(self.rng.integers(active_set.size)))
        others = active_set.others()
        log_weights = self._log_weights(others)
        top = float(log_weights.max())
        log_total = top + float(np.log(np.exp(log_weights - top).sum())) + self._cells.log_width
        row = [np.searchsorted(others, old)]
        excess = self._excess(log_weights[row], others[row], np.array([x]))[0]
        if not self._accept(-self._log_arrival(active_set.size, log_total) - excess):
            active_set.add(old, x)

    def _log_arrival(self, size: int, log_total: float) -> float:
        """Log ratio for an arrival at `size` functions, in which the one that comes has no say.

        It is drawn in proportion to what it adds and leaves as one of ``size + 1``.
        """
        odds = self.posterior.inclusion.log_odds(size, self.posterior.n_functions)
        return odds + log_total - float(np.log(size + 1))
