"""A sampler that mixes: functions come, go and change places by their exact conditionals.

Given all the others, how much any function would add at any α is explicit in its (s, q), for all
functions at once [S08 (2.73), (2.80)]. So nothing is proposed blindly: a function that comes is
drawn by what it adds, and one that was taken out is replaced by a draw from the conditional of its
place. The integral over α is a sum over cells of log α, and the draw within a cell is
accepted or rejected for the difference. Where no prior but its own depends on it, the noise is
integrated out of all that.
"""

from __future__ import annotations

import numpy as np

from sparsebayes.engine.mcmc.chain import Cells, Chain, pick
from sparsebayes.engine.mcmc.posterior import Target

Array = np.ndarray


class Gibbs(Chain):
    """A chain that moves by conditionals.

    Parameters
    ----------
    target : Target
    rng : numpy.random.Generator
    tries : int, default=8
        Arrivals and departures tried in a sweep, at least. More of them in larger models pay, but
        among draws it must not follow the size of the model: large ones would be left sooner.
    """

    def __init__(self, target: Target, rng: np.random.Generator, *, tries: int = 8) -> None:
        super().__init__(target, rng)
        self.tries = self._least = tries
        self._cells = Cells(*target.slab.ends)
        self._sizes: list[int] = []
        self._prepare()

    def start(self, active: Array, x: Array, beta: float) -> None:
        super().start(active, x, beta)
        self._prepare()

    def warm(self) -> None:
        """A sweep that is no draw; it sets `tries` to the usual number of functions."""
        self.sweep()
        self._sizes.append(self.tableau.size)
        usual = np.mean(self._sizes[len(self._sizes) // 2 :])
        self.tries = max(self._least, int(usual))

    def sweep(self) -> None:
        """Renew every function in the model, try as many arrivals as departures, and the noise."""
        tableau = self.tableau
        for place in range(tableau.size - 1, -1, -1):
            self._replace(place)
        for _ in range(self.tries):
            if self.rng.random() < 0.5:
                self._arrive()
            else:
                self._depart()
        tableau.refresh()
        self.beta = self.target.draw_beta(tableau, self.beta, self.rng)
        self._prepare()

    def _prepare(self) -> None:
        """What depends on the noise, where it is not integrated out."""
        target = self.target
        self._gain = target.gain(None if target.collapses else self.beta)
        rates = np.ones(1) if target.slab.noise_free else self.beta * target.norms
        slab = target.slab.log_density(self._cells.centres, rates[:, None])
        self._slab = np.atleast_2d(slab)

    def _log_weights(self, functions: Array) -> Array:
        """Of each function and cell, relative to leaving the function out, (k, K)."""
        tableau = self.tableau
        slab = self._slab if len(self._slab) == 1 else self._slab[functions]
        s, q = tableau.s[functions, None], tableau.q[functions, None]
        return self._gain(self._cells.centres, s, q * q, tableau.residual) + slab

    def _excess(self, steps: Array, functions: Array, x: Array) -> Array:
        """How much more likely each x is than its cell says, in logarithms.

        `steps` has the log weights of the functions, (k, K).
        """
        tableau = self.tableau
        q = tableau.q[functions]
        gain = self._gain(x, tableau.s[functions], q * q, tableau.residual)
        slab = self.target.slab.log_density(x, self.beta * self.target.norms[functions])
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
        tableau = self.tableau
        old, old_x = tableau.remove(place)
        others = tableau.others()
        chosen, x, _, log_weights = self._draw(others)
        rows = np.array([np.searchsorted(others, old), chosen])
        before, after = self._excess(log_weights[rows], others[rows], np.array([old_x, x]))
        if self._accept(after - before):
            old, old_x = int(others[chosen]), x
        tableau.add(old, old_x)

    def _arrive(self) -> None:
        """Let a function in, drawn by what it adds."""
        tableau = self.tableau
        size = tableau.size
        if size == tableau.n_functions:
            return
        others = tableau.others()
        chosen, x, log_total, log_weights = self._draw(others)
        excess = self._excess(log_weights[[chosen]], others[[chosen]], np.array([x]))[0]
        if self._accept(self._log_arrival(size, log_total) + excess):
            tableau.add(int(others[chosen]), x)

    def _depart(self) -> None:
        """Take any function out: the reverse of `_arrive`."""
        tableau = self.tableau
        if tableau.size == 0:
            return
        old, x = tableau.remove(int(self.rng.integers(tableau.size)))
        others = tableau.others()
        log_weights = self._log_weights(others)
        top = float(log_weights.max())
        log_total = top + float(np.log(np.exp(log_weights - top).sum())) + self._cells.log_width
        row = [np.searchsorted(others, old)]
        excess = self._excess(log_weights[row], others[row], np.array([x]))[0]
        if not self._accept(-self._log_arrival(tableau.size, log_total) - excess):
            tableau.add(old, x)

    def _log_arrival(self, size: int, log_total: float) -> float:
        """Log ratio for an arrival at `size` functions, in which the one that comes has no say.

        It is drawn in proportion to what it adds and leaves as one of ``size + 1``.
        """
        odds = self.target.inclusion.log_odds(size, self.target.n_functions)
        return odds + log_total - float(np.log(size + 1))
