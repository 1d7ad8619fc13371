"""A classification of many rows: a start from some of them, then passes over all.

The likelihood and the length scales are chosen on a sample. Least squares then need one pass, for
sums over all rows. A likelihood of labels needs a few: each expands it about the model found so
far (`LabelSums`), and the next model is that of a regression. Its evidence is Laplace's once the
model does not move any more; then all functions are looked at again, which may lead further.

Outputs for the temperature are those of the sample, each row left out in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes._rvm.options import as_prior
from sparsebayes._rvm.parts import kernels_of, refuse_all_rows, sample_size
from sparsebayes._rvm.progress import Progress
from sparsebayes._support.calibration import is_splitter
from sparsebayes.basis import Basis, as_basis
from sparsebayes.basis.centres import MOST_ROWS, USUAL, is_number
from sparsebayes.classification import latent, least_squares
from sparsebayes.classification.choice import Chosen, choose
from sparsebayes.classification.class_weight import weigh_classes
from sparsebayes.classification.held_out import spread_sample
from sparsebayes.classification.label_sums import (
    Labelled,
    LabelSumsOf,
    LeastSquaresOf,
    Survey,
    SurveyOf,
)
from sparsebayes.classification.likelihood import Samples, make_sites, prior_of
from sparsebayes.classification.passes import Expansion, Weights, passes
from sparsebayes.engine import (
    AdaptableProblem,
    Dense,
    Exact,
    Flat,
    Latent,
    Solution,
    Solver,
    State,
)
from sparsebayes.engine.solvers.driver import quick
from sparsebayes.rows.chunk import Chunk
from sparsebayes.rows.sample import SAMPLE, Sample
from sparsebayes.rows.source import Arrays, Rows

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray

_STEPS = tuple(0.5**k for k in range(8))  # parts of the way to a mode
_DEVIATIONS = 3.0  # standard ones by which a sample may speak against a mode
_FEW = 4  # rows for each function, at least
_START_TOL = 1.0  # nats for 1000 samples at which a first fit ends
_MANY = 20_000  # rows of the sample, where there are four times as many or nobody knows
_START = 1500  # rows from which length scales are learned by the evidence


def by_sums(model: RVC, samples: Samples, folds: Any) -> bool:
    """Whether a fit to rows that are held goes by sums over them."""
    many = len(samples.rows) > MOST_ROWS and samples.X.shape[0] >= _FEW * _functions(model)
    given = folds is not None and is_splitter(folds)  # which need the rows that they name
    return many and not given and _has_sums(model, model.classes_.size)


def _functions(model: RVC) -> int:
    """How many functions there are of many rows, about."""
    sizes = []
    for kernel in kernels_of(as_basis(model.basis)):
        given = kernel.centres
        sizes.append(USUAL if given is None else int(given) if is_number(given) else len(given))
    return sum(sizes)


def _has_sums(model: RVC, n_classes: int) -> bool:
    if model.link == "least_squares" or n_classes == 2:
        return model.inference == "laplace"
    return model.link == "auto" and model.multi_class != "ovr"


def fit_arrays(model: RVC, solver: Solver, samples: Samples, y: Array, folds: Any) -> None:
    """Fit to rows that are held, with weights that have those of the classes in them."""
    rows = Arrays(samples.rows, y, samples.weights, labels=True)
    fit_rows(model, solver, rows, folds, None, samples)


def fit_chunks(model: RVC, solver: Solver, rows: Rows) -> None:
    """Fit to rows that are read in chunks."""
    if not rows.again:
        raise ValueError(
            "Labels take several passes over the rows, and a generator gives them once; give a "
            "list of chunks, or an object that can be iterated again."
        )
    if model.augment:
        raise ValueError(
            f"augment={model.augment!r} keeps training rows, which needs all of them in memory; "
            "give arrays, or augment=False."
        )
    if model.calibrate is not None and is_splitter(model.calibrate):
        raise ValueError(
            f"calibrate={model.calibrate!r} divides rows that are held in memory; for rows in "
            "chunks give 'auto', None, or a number of folds."
        )
    refuse_all_rows(model.basis, type(model).__name__, rows)
    fit_rows(model, solver, rows, model.calibrate, model.class_weight)
    model._store_names(rows.feature_names)


def fit_rows(
    model: RVC, solver: Solver, rows: Rows, folds: Any, class_weight: Any,
    samples: Samples | None = None,
) -> None:  # fmt: skip
    """Choose and fit; `samples` are all rows, where they are held."""
    size = sample_size(model.basis)
    fewer = rows.n_rows is not None and rows.n_rows < _FEW * _MANY
    survey = rows.total(SurveyOf(size if fewer else max(size, _MANY)))
    labelled = _classes(model, survey, class_weight)
    if not _has_sums(model, labelled.classes.size):
        raise ValueError(
            f"link={model.link!r}, inference={model.inference!r} and multi_class="
            f"{model.multi_class!r} need all rows of {labelled.classes.size} classes in memory; "
            "for rows in chunks take link='least_squares', or 'logit' with two classes."
        )
    sample = survey.sample
    if sample.n_rows < _FEW * _MANY:
        sample = sample.first(size)
    for few in survey.of_class.values():
        known = np.isin(few.numbers, sample.numbers)
        place = np.argsort(np.append(sample.numbers, few.numbers[~known]), kind="stable")
        joined = (
            np.concatenate([getattr(sample, name), getattr(few, name)[~known]])[place]
            for name in ("numbers", "X", "y", "weights")
        )
        sample = Sample(sample.size, sample.n_rows, *joined)
    model.n_features_in_ = sample.X.shape[1]
    X, labels, weights = labelled.numbered(Chunk(0, sample.X, sample.y, sample.weights))
    some = None if sample.complete else sample.some
    progress = Progress(model, sample.X, sample.y, model.max_iter)
    basis = model._fit_basis(sample.X, sample.weights, some)
    drawn = Samples(sample.X, X, labels, weights)
    chosen = choose(model, solver, basis, drawn, folds, by_sums=True)
    model.link_ = chosen.link
    told = _fit(model, solver, chosen, labelled, rows, drawn, samples, progress)
    model._temperature = None
    if folds is not None or chosen.link == "least_squares":
        model._temperature = _temperature(model, drawn)
    model._store_latent_inputs(drawn)
    model._n_rows, model._input_range = sample.n_rows, survey.input_range
    n_functions = basis.distinct_.size
    model.approximation_ = (
        f"{n_functions} functions of {len(X)} rows, which chose the likelihood and length scales; "
        f"{told} over all {sample.n_rows} rows"
    )
    progress.end()


def _classes(model: RVC, survey: Survey, class_weight: Any) -> Labelled:
    """The classes that have weight, or a clear error; sets what follows from them."""
    classes = np.array(sorted(survey.totals))
    totals = np.array([survey.totals[label] for label in classes.tolist()])
    weighed = weigh_classes(class_weight, classes, totals)
    seen = weighed > 0
    model.classes_ = classes[seen]
    if model.classes_.size < 2:
        raise ValueError(
            "RVC needs samples of at least two classes, "
            f"got only one class: {model.classes_[:1].tolist()[0]!r}."
        )
    model.class_prior_ = weighed[seen] / weighed.sum()
    model.multi_class_ = "multinomial"
    return Labelled(classes[seen], (weighed / totals)[seen], totals[seen])


def _fit(
    model: RVC, solver: Solver, chosen: Chosen, labelled: Labelled, rows: Rows, drawn: Samples,
    samples: Samples | None, progress: Progress,
) -> str:  # fmt: skip
    """Fit by sums over all rows, and say how; `samples` are all of them, where they are held."""
    basis = chosen.basis
    if chosen.learn:
        part = spread_sample(drawn, _START)
        few = model._fit_basis(part.rows, part.weights)
        basis = basis.rescaled(_learned(model, solver, few, part).log_scales())
    if chosen.link == "least_squares":
        sums = rows.total(LeastSquaresOf(basis, labelled))
        sums = sums.times(sums.n_rows / sums.count)  # weights of 1 on average, as precisions
        which = None if labelled.classes.size == 2 else np.arange(labelled.classes.size)
        sites = sums.sites(sums.offset, which)
        prior = as_prior(prior_of(model.prior, "least_squares"), sites.size)
        solution = model._climb(
            solver, Exact(sums.design(), prior, sites), basis, drawn.rows, drawn.weights, progress,
            learn=False,
        )[1]  # fmt: skip
        offset = sums.offset[0] if which is None else sums.offset
        least_squares.store(model, basis, offset, solution)
        if samples is not None:
            known = least_squares.label_sites(model, samples)[0]
            least_squares.prepare_augment(model, samples, known, solution)
        return "sums"

    solution = _by_passes(model, solver, basis, labelled, rows, drawn)
    latent.store(model, basis, solution)
    if samples is not None:
        f = model.basis_.columns(samples.rows) @ model.weights_
        labels = make_sites(samples, 2, model.link_, model.inference)
        latent.prepare_augment(model, samples, labels.expand(f[:, None], None))
    return f"{solution.n_iter} passes"


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that tell where a model of all rows has its mode, about.

    Attributes
    ----------
    basis : Basis
    samples : Samples
    link : str
    each : float
        How often each of them counts.
    """

    basis: Basis
    samples: Samples
    link: str
    each: float

    def follow(self, before: Weights, state: State) -> list[Weights]:
        """The weights of a state, or as far towards them as these rows allow, and all steps there.

        In units of `each` the mode of all rows is half of a χ² below that of these rows, with a
        degree of freedom for each function. Where the functions are others, the mode of these rows
        may be nearer.
        """
        functions = np.union1d(before.functions, state.active)
        columns = self.basis.columns(self.samples.rows, self.basis.distinct_[functions])
        old, new, alpha = np.zeros((3, functions.size))
        place = np.searchsorted(functions, state.active)
        old[np.searchsorted(functions, before.functions)] = before.values
        new[place], alpha[place] = state.mean, state.alpha
        counted = replace(self.samples, weights=self.each * self.samples.weights)
        sites = make_sites(counted, 2, self.link, "laplace")

        def height(weights: Array) -> float:
            f = columns @ weights
            return sites.expand(f[:, None], None).value - 0.5 * float(alpha @ weights**2)

        steps = [old + t * (new - old) for t in _STEPS]
        heights = np.array([height(weights) for weights in steps])
        points = [Weights(state.active, state.mean)]
        points += [Weights(functions, weights) for weights in steps[1:]]
        size = state.active.size
        slack = self.each * (0.5 * size + _DEVIATIONS * np.sqrt(0.5 * size) + 1.0)
        chosen = int(np.argmax(heights >= heights.max() - slack))
        if chosen and not np.array_equal(np.sort(before.functions), np.sort(state.active)):
            problem = Latent(Dense(columns[:, place]), Flat(), sites)
            own = problem.evaluate(np.arange(size), state.alpha, 1.0)
            if own is not None:
                return [Weights(state.active, own.mean), *points]
        return [points[chosen], *points[:chosen], *points[chosen + 1 :]]


def _learned(model: RVC, solver: Solver, basis: Basis, part: Samples) -> Basis:
    """The basis with the length scales that some rows tell, by their evidence."""
    if model.link_ == "least_squares":
        problem: AdaptableProblem = least_squares.label_problem(model, basis, part)[0]
    else:
        problem = latent.latent_problem(model, model._design(basis, part.rows), part)
    few = part.rows, part.weights
    return model._climb(quick(solver), problem, basis, *few, None, first=True)[0]


def _by_passes(
    model: RVC, solver: Solver, basis: Basis, labelled: Labelled, rows: Rows, drawn: Samples
) -> Solution:
    """The model of all rows, begun with those of fewer."""
    few = spread_sample(drawn, SAMPLE)
    problem = latent.latent_problem(model, model._design(basis, few.rows), few)
    solution = model._run(quick(solver), problem, max(model.tol, _START_TOL), first=True)

    def pass_over(rows: Rows, labelled: Labelled, part: Samples, solver: Solver) -> Solution:
        def expand(points: list[Weights]) -> Expansion:
            weights = np.zeros((len(points), basis.distinct_.size))
            for k, point in enumerate(points):
                weights[k, point.functions] = point.values
            active = np.flatnonzero(weights.any(axis=0))
            sums = rows.total(LabelSumsOf(basis, labelled, model.link_, active, weights[:, active]))
            prior = as_prior(prior_of(model.prior, model.link_), sums.count, labels=True)
            problem = Exact(sums.design(), prior, sums.sites(weights[0]))
            return Expansion(problem, sums.values)

        each = float(labelled.factors @ labelled.totals) / part.weights.sum()
        seen = Drawn(basis, part, model.link_, each)
        search = partial(model._run, first=True)
        return passes(expand, seen, solution, solver, search, model.tol)

    if len(drawn.rows) > len(few.rows):
        part = Arrays(drawn.rows, drawn.labels, drawn.weights, labels=True)
        totals = np.bincount(drawn.labels, drawn.weights)
        solution = pass_over(part, Labelled(np.arange(2), np.ones(2), totals), few, quick(solver))
    return pass_over(rows, labelled, drawn, solver)


def _temperature(model: RVC, drawn: Samples) -> Any:
    if model.link_ == "least_squares":
        return least_squares.left_out_temperature(model, drawn)
    return latent.left_out_temperature(model, drawn)
