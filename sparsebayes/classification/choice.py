"""Which likelihood and which length scales: decided by labels of rows that were held out.

No likelihood of labels is best everywhere, and the evidence of labels says little about length
scales. So a few candidates are fitted to all folds but one, at scales that are fixed, and the one
under which labels of the other fold are most likely is fitted to all rows. Least squares tell more
about scales than labels do (`engine.solvers.scales.process`): those for each input are learned from
them, at a price, since they have seen the rows that are held out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsebayes._rvm.length_scales import ScaleFamily, covariances_known
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.calibration import Fold, content_folds, is_splitter
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes._support.fits.clock import OutOfTime, share_of_time
from sparsebayes.basis import Basis
from sparsebayes.classification.held_out import (
    Candidate,
    Held,
    at_scales,
    held_out,
    joined,
    spread_sample,
)
from sparsebayes.classification.least_squares import label_problem, left_out_temperature, merged
from sparsebayes.classification.likelihood import FEW_CLASSES, Samples
from sparsebayes.classification.temperature import Temperature
from sparsebayes.engine import Prior, Solver, learn
from sparsebayes.engine.solvers.driver import quick

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray

# Widths tried, in units of the usual one, which comes first.
_FACTORS = {
    "logit": (1.0, 0.5, 2.0),
    "probit": (1.0, 0.5, 2.0),
    "least_squares": (1.0, 2.0),
}
_MOST_ROWS, _MOST_OF_MANY = 600, 1500  # that are looked at, of few and of many
_ROWS_PER_SCALE = 5  # with fewer, no scales for each input
_PRICE = 1.0  # nats for a scale that was learned from labels, as Akaike's
_FOLDS = 5
_REPEATED = 4.0  # times that a row occurs, from which on its samples are in all folds
_BEHIND, _ENOUGH_ROWS = 3.0, 100  # standard errors at which a candidate drops out, and from when on
_SHARE = 0.5  # of the time that is left, where that is limited, for the choice
_ENOUGH = 1000  # rows held out that tell a temperature


class Chosen(NamedTuple):
    """What is fitted to all rows.

    Attributes
    ----------
    link : str
    basis : Basis
        At the length scales chosen.
    learn : bool
        Whether the evidence has still to find them.
    held : Held or None
        What was found of all rows when they were held out.
    """

    link: str
    basis: Basis
    learn: bool
    held: Held | None = None


def choose(
    model: RVC, solver: Solver, basis: Basis, samples: Samples, folds: Any, *, by_sums: bool = False
) -> Chosen:
    """The likelihood and the length scales to fit.

    Parameters
    ----------
    folds : "auto", None, int or list of pairs
        As `calibrate` has them; pairs are of rows with weight.
    by_sums : bool
        Whether the fit is to sums over many rows: then more than two classes have least squares.
    """
    links = _links(model)
    if by_sums and model.classes_.size > 2:
        links = ("least_squares",)
    by_evidence = model.adapt in ("isotropic", "ard") and len(links) == 1
    if by_evidence and model._learns(basis):
        return Chosen(links[0], basis, learn=True)
    given = folds is not None and is_splitter(folds)
    most = _MOST_OF_MANY if by_sums else _MOST_ROWS
    some = samples if given else spread_sample(samples, most)
    with share_of_time(_SHARE):
        candidates = _candidates(model, links, basis, some)
        parts = _folds(some, folds) if len(candidates) > 1 else []
        best, held = candidates[0], None
        if parts:
            best, held = _most_likely(model, quick(solver), candidates, some, parts)
    basis = at_scales(basis, best.log_scales)
    whole = some is samples and (given or isinstance(folds, str))
    return Chosen(best.link, basis, learn=False, held=held if whole else None)


def temperature(
    model: RVC, solver: Solver, chosen: Chosen, basis: Basis, samples: Samples, folds: Any
) -> Temperature | None:
    """How to make probabilities of what a fitted model says; None to take it as it is.

    Few rows are fitted again without each fold, with all the effort of the model's own fit: one
    that has searched further is surer of itself. As if `folds` were None where the time is up.

    Parameters
    ----------
    basis : Basis
        At the length scales of the fit.
    """
    by_least_squares = chosen.link == "least_squares"
    many = model.classes_.size > FEW_CLASSES
    if folds is None or (by_least_squares and many and isinstance(folds, str)):
        return left_out_temperature(model, samples) if by_least_squares else None
    held = chosen.held
    searched = not by_least_squares and len(samples.rows) <= _MOST_ROWS
    if held is None or searched:
        solver = solver if searched else quick(solver)
        candidate, found, count = Candidate(chosen.link, basis.log_scales()), [], 0
        for fold in _folds(samples, folds):
            try:
                found.append(held_out(model, solver, candidate, samples, fold))
            except OutOfTime:
                found = found if held is None else []  # what the choice has found will do
                break
            count += fold[1].size
            if isinstance(folds, str) and count >= (1 if many else _ENOUGH):
                break
        held = joined(found) if found else held
    if held is None:
        return left_out_temperature(model, samples) if by_least_squares else None
    return held.temperature(chosen.link)


def _links(model: RVC) -> tuple[str, ...]:
    """The likelihoods to choose from."""
    if model.link != "auto":
        return (model.link,)
    if model.multi_class == "ovr" and model.classes_.size > 2:
        return ("logit",)
    if isinstance(model.prior, Prior) and not model.prior.for_labels:
        return ("least_squares",)
    if model.classes_.size > FEW_CLASSES:
        return ("least_squares",)
    return ("logit", "least_squares")


def _candidates(
    model: RVC, links: tuple[str, ...], basis: Basis, samples: Samples
) -> list[Candidate]:
    """The most usual first."""
    usual = basis.log_scales()
    if not model._learns(basis):
        return [Candidate(link, usual) for link in links]
    distinct = merged(samples)
    family = model._family(basis, distinct.rows, distinct.weights)
    assert family is not None
    if len(family.trials) > 1 or family.fine:
        problem = label_problem(model, basis, distinct)[0]
        usual = family.basis(learn(problem, family)).log_scales()
    else:
        usual = family.basis(family.trials[0]).log_scales()
    if family.fine:  # scales that were asked for
        return [Candidate(link, usual) for link in links]
    if model.classes_.size > FEW_CLASSES:
        return [Candidate(links[0], usual)]
    found = [Candidate(link, usual + np.log(factor)) for link in links for factor in _FACTORS[link]]
    each = _scale_of_each_input(model, basis.rescaled(usual), distinct)
    if each is not None:
        count = samples.rows.shape[1]
        found += [Candidate(link, each, count) for link in links]
    return found


def _scale_of_each_input(model: RVC, basis: Basis, samples: Samples) -> Array | None:
    """Length scales that suit a regression on the labels, if there are rows enough."""
    n_rows, n_inputs = samples.rows.shape
    if n_inputs == 1 or n_rows < _ROWS_PER_SCALE * n_inputs or not covariances_known(basis):
        return None
    problem = label_problem(model, basis, samples)[0]
    family = ScaleFamily(basis, samples.rows, samples.weights, memory_budget(), ard=True)
    if problem.energy == 0 or family.inputs is None:
        return None
    return family.basis(learn(problem, family)).log_scales()


def _folds(samples: Samples, folds: Any) -> list[Fold]:
    """Those that are given, or as many as are asked for; none if there are too few rows.

    Equal rows are in the same fold, unless there is little else: inputs with a few levels have
    rows of both classes in all folds.
    """
    if folds is not None and is_splitter(folds):
        return folds
    rows, labels = samples.rows, samples.labels.astype(np.float64)
    count = _FOLDS if folds is None or isinstance(folds, str) else int(folds)
    first, place = distinct_rows(rows)
    if len(rows) >= _REPEATED * len(first):
        each = np.argsort(np.lexsort((place, labels)))  # by label, then by row
        rows = each[:, None]
    fold = content_folds(rows, labels, samples.weights, count)
    if fold is None:
        return []
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]


def _most_likely(
    model: RVC, solver: Solver, candidates: list[Candidate], samples: Samples, folds: list[Fold]
) -> tuple[Candidate, Held | None]:
    """The candidate whose fits make the labels of held-out rows most likely, and what they say.

    Those that are far behind drop out on the way. When the time is up, the folds that were seen by
    all candidates have decided, and what they say is not known of all rows.
    """
    best = 0
    racing: dict[int, list[Held]] = {number: [] for number in range(len(candidates))}
    for n_seen, fold in enumerate(folds, start=1):
        losses = {}
        for number, parts in racing.items():
            one = candidates[number]
            try:
                parts.append(held_out(model, solver, one, samples, fold))
            except OutOfTime:
                return candidates[best], None
            price = _PRICE * one.n_learned / len(samples.rows)
            losses[number] = joined(parts).losses(one.link) + price
        weights = joined(next(iter(racing.values()))).weights
        total = weights.sum()
        best = min(losses, key=lambda number: float(weights @ losses[number]))
        if n_seen == len(folds):
            break
        for number, loss in losses.items():
            excess = loss - losses[best]
            mean = float(weights @ excess) / total
            error = np.sqrt(float(weights**2 @ (excess - mean) ** 2)) / total
            if len(weights) >= _ENOUGH_ROWS and mean > _BEHIND * error:
                del racing[number]
    return candidates[best], joined(racing[best])
