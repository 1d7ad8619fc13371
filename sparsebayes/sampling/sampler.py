"""Draws from the posterior: which functions, their precisions, the noise."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import as_n_jobs, as_random_state, check_switches, whole_number
from sparsebayes.classification import RVC
from sparsebayes.regression import RVR
from sparsebayes.sampling.arviz import load_arviz
from sparsebayes.sampling.chains import run_chain
from sparsebayes.sampling.class_samples import ClassificationSamples
from sparsebayes.sampling.draws import Draws
from sparsebayes.sampling.methods import MethodName, SamplingMethod, as_method
from sparsebayes.sampling.options import (
    as_bounds,
    as_inclusion,
    as_length,
    as_noise_prior,
    as_sampled,
    check_estimator,
)
from sparsebayes.sampling.regression_samples import PosteriorSamples
from sparsebayes.sampling.sampled_model import (
    LabelModel,
    Priors,
    SampledModel,
    build,
    build_labels,
)

_LEAST = 4  # draws of each chain from which R-hat can be computed


@overload
def sample_posterior(
    estimator: RVR, X: Any, y: Any, n_samples: int = ..., n_chains: int = ..., **options: Any
) -> PosteriorSamples: ...


@overload
def sample_posterior(
    estimator: RVC, X: Any, y: Any, n_samples: int = ..., n_chains: int = ..., **options: Any
) -> ClassificationSamples: ...


@guided  # type: ignore[misc]  # the options above are the keywords here
def sample_posterior(
    estimator: RVR | RVC,
    X: Any,
    y: Any,
    n_samples: int = 1000,
    n_chains: int = 4,
    *,
    method: MethodName | SamplingMethod = "gibbs",
    n_warmup: int | None = None,
    thin: int = 1,
    sample_weight: Any = None,
    inclusion: Literal["uniform"] | float | tuple[float, float] = "uniform",
    bounds: Any = None,
    per_alpha: bool = False,
    noise_prior: Any = (1e-4, 1e-4),
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> PosteriorSamples | ClassificationSamples:
    """Sample which functions are in the model of an RVR or RVC, their precisions and the noise.

    A fit finds one maximum of the evidence. Here several chains, whose agreement is checked
    (R-hat), visit each set of functions as often as the data make it likely, and predictions are
    averages over all draws. The weights are integrated out; those of an RVC given Pólya-Gamma
    variables [2]_, which are drawn in turns with the rest. A clone of the estimator is fitted
    first: the first chain starts at its optimum, and all use its length scales, which are not
    sampled.

    Parameters
    ----------
    estimator : RVR or RVC
        Fitted or not. Its `basis`, `prior`, `noise`, `bias` and `class_weight` are those of the
        model; `augment` must be False. ``noise="estimate"`` samples the noise variance too. Of an
        RVC, `link` must be "logit", which is also what "auto" stands for here: two classes have a
        logistic likelihood, more of them a softmax. Its `prior` must be "flat" or
        ``Gamma(a, b)``.
    X : array-like of shape (n_samples, n_features)
        The inputs of the training samples.
    y : array-like of shape (n_samples,)
        Numbers for an RVR, labels for an RVC.
    n_samples : int, default=1000
        Draws that each chain keeps.
    n_chains : int, default=4
        The first starts at the estimator's optimum, each other at the optimum of a random half
        of the functions.
    method : {"gibbs", "reversible_jump"}, Gibbs or ReversibleJump, default="gibbs"
        How chains move; both sample the same distribution. :class:`Gibbs` draws from exact
        conditionals: a function that comes in is chosen by what it adds. :class:`ReversibleJump` is
        the sampler of [1]_: births, deaths and moves are proposed blindly; it has options of its
        own, as in ``ReversibleJump(walk=2.0)``.
    n_warmup : int, default=None
        Sweeps before the first draw; None is half of `n_samples`, at least 100.
    thin : int, default=1
        Sweeps for each draw.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of 2 counts as the same sample twice.
    inclusion : "uniform", float or pair of floats, default="uniform"
        Prior of the set of functions. "uniform": all numbers of functions are equally likely. A
        probability: each function is in the model with this probability; 0.5 makes all sets equally
        likely. A pair (a, b): that probability has a beta prior.
    bounds : pair of floats, default=None
        Limits of the precision of a function in the model, as ``α σ²/φᵀφ``: at 1 its weight is
        shrunk to half of what the data say. The estimator's `prior` has no finite mass without
        them. None is (low, 10), where low depends on the data:
        ``σ̂²/(1000 Σ(y − ȳ)²)`` with the optimum's noise variance, but within 1e-10 and 1e-4. Twice
        the same number holds all precisions there. Of an RVC, read ``4α/φᵀφ`` for two
        classes and ``α K²/((K − 1)φᵀφ)`` for K: what the labels say where f = 0. Then low is
        1/(1000 n_samples), within the same limits.
    per_alpha : bool, default=False
        Whether the prior is a density per unit of α, as [1]_ writes it, rather than per unit of
        log α. Nearly all of its mass is then at the upper bound, where a function does nothing.
    noise_prior : pair of floats, default=(1e-4, 1e-4)
        Shape and scale of the inverse-gamma prior of the noise variance; the scale in
        units of the variance of y. Not used where the estimator's noise is a number, nor for an
        RVC.
    n_jobs : int, default=None
        Chains to run at a time, as in joblib; the draws do not depend on it.
    random_state : int, RandomState instance or None, default=None
        The seed of all chains; the same one gives the same draws, whatever `n_jobs` is.
    verbose : int, default=0
        1 prints a line at each tenth of each chain, 2 one for each sweep.

    Returns
    -------
    PosteriorSamples or ClassificationSamples
        The draws, with predictions averaged over them; the latter for an RVC.

    Warns
    -----
    ConvergenceWarning
        If R-hat of the noise variance, the number of functions or a prediction is above 1.05, if
        a chain never changed some function's precision, and where the fit warns.

    See Also
    --------
    Gibbs : The usual way to move.
    ReversibleJump : Blind proposals, with options.
    sparsebayes.RVR : One model at a maximum of the evidence, much faster.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, section 2.7.
    .. [2] N. Polson, J. Scott, J. Windle, "Bayesian inference for logistic models using
       Pólya-Gamma latent variables", JASA 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, sample_posterior
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.standard_normal(60)
    >>> model = RVR("linear", bias=False)
    >>> samples = sample_posterior(model, X, y, n_samples=200, n_chains=2, random_state=0)
    >>> samples
    PosteriorSamples(n_chains=2, n_draws=200, n_functions=5)
    >>> (samples.inclusion > 0.9).nonzero()[0]
    array([1, 3])
    >>> mean, std = samples.predict(X, return_std=True)

    Class probabilities, averaged over models:

    >>> from sparsebayes import RVC
    >>> model = RVC("linear", bias=False)
    >>> samples = sample_posterior(model, X, y > 0, n_samples=200, n_chains=2, random_state=0)
    >>> (samples.inclusion > 0.9).nonzero()[0]
    array([1, 3])
    >>> samples.predict_proba(X).shape
    (60, 2)
    """
    load_arviz("sample_posterior")
    check_estimator(estimator)
    method = as_method(method)
    limits = method.bounds(as_bounds(bounds))
    length, n_chains = as_length(n_samples, n_warmup, thin), whole_number("n_chains", n_chains)
    n_jobs = as_n_jobs(n_jobs, n_chains)
    check_switches(per_alpha=per_alpha, verbose=verbose)
    sets, noise = as_inclusion(inclusion), as_noise_prior(noise_prior)
    seed = as_random_state(random_state).randint(2**31 - 1)

    optimum = as_sampled(estimator)
    priors = Priors(sets, limits, noise, per_alpha)
    regression = isinstance(optimum, RVR)
    inputs, targets, weights = optimum._check_data(X, y, sample_weight, labels=not regression)
    if weights.sum() < 1.0:
        raise ValueError(
            f"sample_weight sums to {weights.sum():.3g}, less than one sample, and says next to "
            "nothing of the noise; rescale the weights."
        )
    model: SampledModel
    if isinstance(optimum, RVR):
        optimum.fit(X, targets, sample_weight=sample_weight)
        model = build(optimum, (inputs, targets, weights), priors)
    else:
        optimum.fit(X, targets, sample_weight=sample_weight)
        model = build_labels(optimum, (inputs, targets, weights), priors)
    seeds = np.random.SeedSequence(seed).spawn(n_chains)
    chains = Parallel(n_jobs=n_jobs)(
        delayed(run_chain)(number, model, method, length, child, verbose)
        for number, child in enumerate(seeds)
    )
    draws = Draws.joined(chains)
    samples: PosteriorSamples | ClassificationSamples
    if isinstance(optimum, RVR):
        samples = PosteriorSamples(optimum, model, draws, n_chains, inputs)
    else:
        assert isinstance(model, LabelModel)
        samples = ClassificationSamples(optimum, model, draws, n_chains, inputs)
    if length.n_samples >= _LEAST:
        if n_chains > 1:
            samples.warn_of_disagreement()
        if not model.posterior.slab.point:
            _warn_of_constant_precisions(chains, model.functions)
    return samples


def _warn_of_constant_precisions(chains: list[Draws], functions: np.ndarray) -> None:
    """R-hat does not show them: chains that start at the same precision and stay there agree."""
    for number, draws in enumerate(chains):
        if draws.constant.size:
            function = functions[draws.constant[0] % functions.size]
            warnings.warn(
                f"The precision of function {function} never changed in chain "
                f"{number}, which R-hat does not show. Set walk=1.0, use method='gibbs', or raise "
                "n_samples.",
                ConvergenceWarning,
                stacklevel=4,
            )
            return
