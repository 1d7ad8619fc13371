"""More than two classes: one model for each class against the rest, and all of them as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import block_diag
from sklearn.utils.parallel import Parallel, delayed

from sparsebayes._rvm.progress import Progress
from sparsebayes._support.fits.clock import current_limit, under
from sparsebayes._support.validation import as_n_jobs
from sparsebayes.basis import Basis
from sparsebayes.classification.latent import fit_latent, latent_problem, set_weights
from sparsebayes.classification.likelihood import Samples
from sparsebayes.engine import Solver, Stop
from sparsebayes.engine import learn as learn_scales
from sparsebayes.engine.linalg import one_thread

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray


def fit_one_vs_rest(
    whole: RVC,
    solver: Solver,
    basis: Basis,
    samples: Samples,
    progress: Progress | None,
    *,
    learn: bool,
) -> Basis:
    """Fit a model for each class, in threads, and set the attributes of `whole` from them.

    Ctrl-C ends all models; since some may not have begun, none is kept.
    """
    family = whole._family(basis, samples.rows, samples.weights) if learn else None
    if family is not None:  # the classes share their length scales
        problem = latent_problem(whole, whole._design(basis, samples.rows), samples)
        with one_thread():
            basis = family.basis(learn_scales(problem, family))
    design = whole._design(basis, samples.rows)
    parameters = {**whole.get_params(deep=False), "multi_class": "multinomial", "adapt": None}
    parameters |= {"link": whole.link_, "calibrate": None}

    limit = current_limit()

    def fit(k: int) -> RVC:
        model = type(whole)(**parameters)
        model.classes_ = np.array([False, True])
        model.n_features_in_ = whole.n_features_in_
        model.link_, model.multi_class_ = whole.link_, "multinomial"
        model._temperature = None  # that of all classes is the whole's
        share = whole.class_prior_[k]
        model.class_prior_ = np.array([1.0 - share, share])
        inside = (samples.labels == k).astype(np.intp)
        part = replace(samples, labels=inside)
        with under(limit):
            fit_latent(model, solver, basis, design, part, progress, learn=False)
        model._store_latent_inputs(part)
        if model.stop_reason_ == Stop.INTERRUPTED.value:
            raise KeyboardInterrupt
        return model

    with one_thread():  # threads share the design; BLAS must not start its own in each
        parallel = Parallel(
            n_jobs=as_n_jobs(whole.n_jobs, whole.classes_.size), require="sharedmem"
        )
        try:
            models = parallel(delayed(fit)(k) for k in range(whole.classes_.size))
        except KeyboardInterrupt:
            if progress is not None:
                progress.cancelled = True  # threads that still run end with their next step
            raise
    whole.estimators_ = list(models)
    _combine(whole, basis)
    return basis


def _combine(whole: RVC, basis: Basis) -> None:
    """All models as one whose outputs have independent weights."""
    models = whole.estimators_
    whole._drop_training_rows()
    if whole.augment:
        whole.augment_variance_ = np.array([model.augment_variance_ for model in models])
    kept = np.unique(np.concatenate([model.relevance_ for model in models]))
    whole._keep(basis, kept)
    set_weights(
        whole,
        np.concatenate([model.weights_ for model in models]),
        np.concatenate([model.alpha_ for model in models]),
        np.concatenate([model.determined_ for model in models]),
        np.concatenate([np.full(model.weights_.size, k) for k, model in enumerate(models)]),
        np.concatenate([np.searchsorted(kept, model.relevance_) for model in models]),
        (len(models), kept.size),
    )
    whole.sigma_ = block_diag(*[model.sigma_ for model in models])
    whole.log_evidence_ = float(sum(model.log_evidence_ for model in models))
    paths = [model.evidence_path_ for model in models]
    longest = max(path.size for path in paths)
    padded = [np.pad(path, (0, longest - path.size), mode="edge") for path in paths]
    whole.evidence_path_ = np.sum(padded, axis=0)
    whole.n_iter_ = max(model.n_iter_ for model in models)
    whole.converged_ = all(model.converged_ for model in models)
    worst = next((model for model in models if not model.converged_), models[0])
    whole.stop_reason_ = worst.stop_reason_
