"""Draws from the posterior: what is sampled, how chains run, what is made of the draws."""

import logging
import pickle
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import invgamma, multivariate_normal, norm
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from sparsebayes import RVR, Gamma, PosteriorSamples
from sparsebayes.basis import RBF
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.hamiltonian import effective_sample_size
from sparsebayes.engine.mcmc.jumps import JumpChain, LogNormalBirths
from sparsebayes.engine.mcmc.priors import InclusionPrior
from sparsebayes.sampling import Gibbs, ReversibleJump
from sparsebayes.sampling.options import as_inclusion
from sparsebayes.sampling.sampled_model import Priors, build
from tests.sampling.sampled import SHORT, X_NEW, T, X, Y, Z, draw

arviz = pytest.importorskip("arviz")
pytestmark = SHORT


@pytest.fixture(scope="module")
def samples():
    return draw(n_samples=30)


def model_of(estimator, inputs, targets, weights=None, **options):
    """The model that would be sampled."""
    model = estimator.fit(inputs, targets, sample_weight=weights)
    usual = {
        "inclusion": InclusionPrior(),
        "bounds": None,
        "noise": (1e-4, 1e-4),
        "per_alpha": False,
    }
    weights = np.ones(len(inputs)) if weights is None else weights
    return build(model, (inputs, targets, weights), Priors(**{**usual, **options}))


def assert_same_posterior(one, other, scale=1.0):
    """Gram matrix, moments and noise prior agree, for targets `scale` times as large."""
    a, b = one.posterior, other.posterior
    assert_allclose(a.products.gram, b.products.gram, atol=1e-12)
    assert_allclose(a.products.moments, scale * b.products.moments, atol=1e-10 * scale)
    assert_allclose(a.norms, b.norms)
    assert_allclose(a.products.energy, scale**2 * b.products.energy)
    assert a.n_samples == pytest.approx(b.n_samples)
    assert a.noise.shape == b.noise.shape
    assert_allclose(a.noise.scale, scale**2 * b.noise.scale)
    assert_allclose([a.slab.low, a.slab.high], [b.slab.low, b.slab.high], rtol=1e-6)


# What is sampled


@pytest.mark.sampled
@pytest.mark.parametrize("prior", ["flat", "bic", Gamma(0.1, 0.1)], ids=["flat", "bic", "gamma"])
def test_a_weight_of_two_is_a_repeated_row(prior):
    twice = np.arange(18) < 7
    weights = 1.0 + twice
    one = model_of(RVR(RBF(1.5), prior=prior), X, Y, weights)
    inputs, targets = np.vstack([X, X[twice]]), np.concatenate([Y, Y[twice]])
    other = model_of(RVR(RBF(1.5), prior=prior), inputs, targets)
    assert_array_equal(one.functions, other.functions)
    assert one.posterior.n_samples == 25
    assert_same_posterior(one, other)
    assert one.posterior.slab.prior == other.posterior.slab.prior
    assert_array_equal(np.sort(one.optimum[0]), np.sort(other.optimum[0]))
    assert_allclose(one.optimum[1], other.optimum[1], rtol=1e-3)


@pytest.mark.slow
def test_rows_without_weight_do_not_count():
    weights = np.where(np.arange(18) % 3 == 0, 0.0, 1.0)
    some = draw(sample_weight=weights)
    fewer = draw(inputs=X[weights > 0], targets=Y[weights > 0])
    assert_allclose(some.predict(X_NEW), fewer.predict(X_NEW), rtol=1e-6)
    assert_array_equal(some.functions, [0, *(1 + np.flatnonzero(weights))])
    assert_array_equal(some.inclusion[1 + np.flatnonzero(weights == 0)], 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "reversible_jump"])
@pytest.mark.parametrize("prior", ["flat", "bic"])
def test_units_of_the_targets_do_not_matter(method, prior):
    # Exact in binary: with other units rounding decides, sooner or later, which way a chain goes.
    options = {"estimator": RVR(RBF(1.5), prior=prior), "method": method}
    one, other = draw(**options), draw(targets=1024.0 * Y, **options)
    assert_array_equal(one.data.posterior.active, other.data.posterior.active)
    mean, std = one.predict(X_NEW, return_std=True)
    other_mean, other_std = other.predict(X_NEW, return_std=True)
    assert_allclose(other_mean, 1024.0 * mean, rtol=1e-6)
    assert_allclose(other_std, 1024.0 * std, rtol=1e-6)
    assert_same_posterior(
        model_of(RVR(RBF(1.5), prior=prior), X, 1024.0 * Y),
        model_of(RVR(RBF(1.5), prior=prior), X, Y),
        scale=1024.0,
    )


@pytest.mark.slow
def test_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(30)
    one, other = draw(RVR("linear"), Z, T), draw(RVR("linear"), Z[order], T[order])
    assert_array_equal(one.data.posterior.active, other.data.posterior.active)
    assert_allclose(one.predict(Z), other.predict(Z), rtol=1e-6)


def test_functions_are_computed_in_blocks_where_memory_is_short():
    whole = model_of(RVR(RBF(1.5)), X, Y)
    with config_context(working_memory=0.001):
        assert_same_posterior(model_of(RVR(RBF(1.5)), X, Y), whole)


def test_learned_length_scales_are_held():
    samples = draw(RVR(), n_chains=1)
    learned = samples.optimum.basis_.log_scales()
    assert_allclose(samples.basis.log_scales(), learned)
    fresh = RVR()._fit_basis(X, np.ones(18)).log_scales()
    assert abs(learned - fresh).max() > 0.1
    assert_allclose(
        samples.basis.columns(X_NEW, samples.optimum.relevance_),
        samples.optimum.basis_.columns(X_NEW),
    )


@pytest.mark.slow
def test_log_density_of_a_draw(samples):
    """`lp` is what the definition of the model gives, priors with all their constants."""
    posterior = samples.data.posterior
    columns = samples.basis.columns(X, samples.functions)
    target = Y - Y.mean()
    model = samples.optimum
    energy = float(target @ target)
    low, high = np.clip(model.noise_variance_ / (1000.0 * energy), 1e-10, 1e-4), 10.0
    scale = 1e-4 * energy / 18
    for chain, number in [(0, 0), (1, 29), (0, 17)]:
        one = posterior.isel(chain=chain, draw=number)
        active, variance = one.active.values, float(one.noise_variance)
        alpha = samples.data.sample_stats.alpha.values[chain, number][active]
        size = int(active.sum())
        ratio = alpha * variance / (columns[:, active] ** 2).sum(axis=0)
        assert np.all((ratio >= low * (1 - 1e-9)) & (ratio <= high * (1 + 1e-9)))
        cov = variance * np.eye(18) + columns[:, active] / alpha @ columns[:, active].T
        expected = multivariate_normal.logpdf(target, np.zeros(18), cov)
        expected -= size * np.log(np.log(high / low))
        expected += InclusionPrior().log_prior(size, 19)
        expected += invgamma.logpdf(variance, 1e-4, scale=scale)
        lp = float(samples.data.sample_stats.lp[chain, number])
        assert_allclose(lp, expected, rtol=1e-8)


def test_priors_reach_the_posterior():
    posterior = model_of(
        RVR(RBF(1.5), noise=0.04),
        X,
        Y,
        inclusion=as_inclusion((2.0, 5.0)),
        bounds=(1e-3, 2.0),
        noise=(3.0, 0.5),
        per_alpha=True,
    ).posterior
    assert posterior.inclusion == InclusionPrior(2.0, 5.0)
    assert (posterior.slab.low, posterior.slab.high, posterior.slab.per_alpha) == (1e-3, 2.0, True)
    assert posterior.noise.fixed == 0.04
    assert as_inclusion(0.25) == InclusionPrior(fixed=0.25)
    assert as_inclusion("uniform") == InclusionPrior(1.0, 1.0)
    free = model_of(RVR(RBF(1.5)), X, Y, noise=(3.0, 0.5)).posterior.noise
    assert (free.shape, free.fixed) == (3.0, None)
    assert_allclose(free.scale, 0.5 * Y.var())


def test_fixed_noise_stays():
    samples = draw(RVR(RBF(1.5), noise=0.04))
    assert_allclose(samples.data.posterior.noise_variance, 0.04)


# How chains run


@pytest.mark.slow
def test_same_seed_same_draws(samples):
    again, other = draw(n_samples=30), draw(random_state=1)
    assert_array_equal(samples.data.sample_stats.alpha, again.data.sample_stats.alpha)
    assert_array_equal(samples.data.posterior.weights, again.data.posterior.weights)
    weights = samples.data.posterior.weights.values
    assert not np.array_equal(weights[:, :12], other.data.posterior.weights)
    assert not np.array_equal(weights[0], weights[1])
    stream = np.random.RandomState(0)
    assert_array_equal(draw(random_state=stream).data.posterior.weights, weights[:, :12])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_draws_do_not_depend_on_n_jobs(samples, backend):
    with joblib.parallel_config(backend=backend):
        other = draw(n_samples=30, n_jobs=2)
    assert_array_equal(other.data.posterior.weights, samples.data.posterior.weights)


@pytest.mark.slow
def test_lengths(monkeypatch):
    sweeps = []
    sweep = GibbsChain.sweep

    def counted(self):
        sweeps.append(1)
        sweep(self)

    monkeypatch.setattr(GibbsChain, "sweep", counted)
    samples = draw(n_samples=7, n_warmup=5, thin=3, n_chains=1)
    assert len(sweeps) == 5 + 7 * 3
    assert (samples.n_draws, samples.n_chains) == (7, 1)
    sweeps.clear()
    draw(n_samples=6, n_warmup=None, n_chains=1)
    assert len(sweeps) == 106


def test_chains_start_at_different_optima(monkeypatch):
    starts = []
    start = GibbsChain.start

    def recorded(self, active, x, beta):
        starts.append((active, x, beta))
        start(self, active, x, beta)

    monkeypatch.setattr(GibbsChain, "start", recorded)
    samples = draw(n_samples=1, n_warmup=0, n_chains=4)
    model, functions = samples.optimum, samples.functions
    active, x, beta = starts[0]
    assert_array_equal(functions[active], model.relevance_)
    assert_allclose(beta, 1.0 / model.noise_variance_)
    norms = (samples.basis.columns(X, functions[active]) ** 2).sum(axis=0)
    assert_allclose(np.exp(x) * beta * norms, model.alpha_)
    assert len({tuple(np.sort(active)) for active, _, _ in starts}) >= 3
    for active, x, beta in starts[1:]:  # an optimum: nothing gains by another α
        alpha = np.exp(x) * beta * samples._norms[active]
        columns = samples.basis.columns(X, functions[active])
        cov = np.linalg.inv(beta * columns.T @ columns + np.diag(alpha))
        mean = beta * cov @ columns.T @ (Y - Y.mean())
        assert_allclose(alpha * mean**2, 1.0 - alpha * cov.diagonal(), atol=0.05)


@pytest.mark.slow
def test_progress(capfd):
    draw(n_samples=20, n_warmup=0, verbose=1)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 20 and all(line.startswith("[sample_posterior] chain") for line in lines)
    assert "chain 1  100 %  functions" in lines[-1] and "noise variance" in lines[-1]
    draw(n_samples=5, n_warmup=0)
    assert capfd.readouterr().out == ""
    draw(n_samples=25, n_warmup=0, n_chains=1, verbose=2)
    assert len(capfd.readouterr().out.splitlines()) == 25


def test_reversible_jumps_are_what_was_asked_for(monkeypatch):
    made = []
    begin = JumpChain.__init__

    def recorded(self, posterior, rng, births, **options):
        made.append((births, options))
        begin(self, posterior, rng, births, **options)

    monkeypatch.setattr(JumpChain, "__init__", recorded)
    draw(method=ReversibleJump("lognormal", 2.5, walk=0.7), n_chains=1)
    ((births, options),) = made
    assert isinstance(births, LogNormalBirths) and births._spread == 2.5
    assert options == {"walk": 0.7, "jump": True}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"method": ReversibleJump(birth="fixed")}, 1e-5),
        ({"method": ReversibleJump(birth="fixed"), "bounds": (1e-2, 1e-2)}, 1e-2),
        ({"method": "reversible_jump", "bounds": (1e-2, 1e-2)}, 1e-2),
        ({"bounds": (1e-2, 1e-2)}, 1e-2),
    ],
)
def test_one_precision_for_all(options, value):
    samples = draw(**options)
    one = samples.data.posterior
    ratio = samples.data.sample_stats.alpha * one.noise_variance / samples._norms
    assert_allclose(ratio.values[one.active.values], value)
    assert one.n_active.values.std() > 0


def test_walk_without_jumps_keeps_all_functions():
    samples = draw(method=ReversibleJump(walk=1.0, jump=False))
    assert samples.data.posterior.active.values.all()
    x = np.log(
        samples.data.sample_stats.alpha.values
        * samples.data.posterior.noise_variance.values[..., None]
    )
    assert (x.std(axis=1) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_methods_agree(n):
    """Inclusion probabilities and the noise within four standard errors."""
    options = {"inputs": Z[:, 1:3], "targets": T, "n_samples": n, "bounds": (1e-2, 5.0)}
    kinds = (
        {"method": "gibbs"},
        {"method": "reversible_jump"},
        {"method": ReversibleJump(birth="lognormal"), "inclusion": (1.0, 1.0)},
    )
    found = []
    for kind in kinds:
        one = draw(RVR("linear"), **options, **kind).data.posterior
        values = np.concatenate(
            [one.active.values, np.log(one.noise_variance.values)[..., None]], axis=2
        )
        error = values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values))
        found.append((values.mean(axis=(0, 1)), error))
    mean, error = found[0]
    assert mean[:-1].min() > 0.05 and (mean[:-1] < 0.95).any()
    assert error.max() < 0.1
    for other, other_error in found[1:]:
        assert np.all(abs(other - mean) < 4.0 * np.hypot(error, other_error) + 1e-3)


# What is made of the draws


def conditionals(samples, inputs):
    """Mean and variance of f, and the noise variance, draw by draw, by dense formulas."""
    one = samples.data.posterior
    train = samples.basis.columns(X, samples.functions)
    test = samples.basis.columns(inputs, samples.functions)
    for chain in range(samples.n_chains):
        for number in range(samples.n_draws):
            active = one.active.values[chain, number]
            alpha = samples.data.sample_stats.alpha.values[chain, number][active]
            variance = one.noise_variance.values[chain, number]
            inside = train[:, active]
            cov = variance * np.eye(len(X)) + inside / alpha @ inside.T
            cross = test[:, active] / alpha @ inside.T
            mean = Y.mean() + cross @ np.linalg.solve(cov, Y - Y.mean())
            own = (test[:, active] ** 2 / alpha).sum(axis=1)
            yield mean, own - np.einsum("nk,kn->n", cross, np.linalg.solve(cov, cross.T)), variance


def test_predictions_are_those_of_all_draws(samples):
    means, variances, noise = (np.array(v) for v in zip(*conditionals(samples, X_NEW), strict=True))
    mean, std = samples.predict(X_NEW, return_std=True)
    assert_allclose(mean, means.mean(axis=0), rtol=1e-7)
    assert_allclose(std**2, means.var(axis=0) + variances.mean(axis=0) + noise.mean(), rtol=1e-6)
    assert_array_equal(samples.predict(X_NEW), mean)
    assert samples.predictions(X_NEW).shape == (2, 30, 3)
    assert_allclose(samples.predictions(X_NEW).reshape(60, 3), means, rtol=1e-7)
    targets = np.array([1.0, 2.2, 3.5])
    density = norm.pdf(targets, means, np.sqrt(variances + noise[:, None])).mean(axis=0)
    assert_allclose(samples.log_density(X_NEW, targets), np.log(density), rtol=1e-6)


def test_predictions_in_blocks(samples):
    expected = samples.predict(X, return_std=True), samples.log_density(X, Y)
    with config_context(working_memory=0.005):
        assert_allclose(samples.predict(X, return_std=True), expected[0], rtol=1e-9)
        assert_allclose(samples.log_density(X, Y), expected[1], rtol=1e-9)


def test_drawn_observations_have_the_moments_of_the_prediction(samples):
    drawn = samples.sample_y(X_NEW, 4000)
    mean, std = samples.predict(X_NEW, return_std=True)
    assert drawn.shape == (3, 4000)
    assert np.all(abs(drawn.mean(axis=1) - mean) < 4.0 * std / np.sqrt(4000))
    assert_allclose(drawn.std(axis=1), std, rtol=0.1)
    assert_array_equal(samples.sample_y(X_NEW, 3), samples.sample_y(X_NEW, 3, random_state=0))
    near = samples.sample_y([[0.3], [0.301]], 2000)  # one function, so they go together
    noise = (1.0 / samples._draws.beta).mean()
    assert np.corrcoef(near)[0, 1] == pytest.approx(1.0 - noise / near.var(), abs=0.1)
    with pytest.raises(ValueError, match="n_samples must be a whole number"):
        samples.sample_y(X_NEW, 0)


def test_drawn_weights_are_from_the_posterior(samples):
    """Squared distances from the conditional mean are chi-square with S degrees of freedom."""
    one = samples.data.posterior
    columns = samples.basis.columns(X, samples.functions)
    total, count = 0.0, 0
    for chain in range(2):
        for number in range(30):
            active = one.active.values[chain, number]
            inside, beta = columns[:, active], 1.0 / one.noise_variance.values[chain, number]
            alpha = samples.data.sample_stats.alpha.values[chain, number][active]
            hessian = beta * inside.T @ inside + np.diag(alpha)
            off = one.weights.values[chain, number][active]
            off = off - beta * np.linalg.solve(hessian, inside.T @ (Y - Y.mean()))
            total, count = total + off @ hessian @ off, count + active.sum()
    assert count > 100
    assert abs(total - count) < 4.0 * np.sqrt(2.0 * count)


def test_structure_of_the_data():
    inputs, targets = np.vstack([X, X[:5]]), np.concatenate([Y, Y[:5]])
    samples = draw(inputs=inputs, targets=targets)
    assert isinstance(samples, PosteriorSamples)
    one = samples.data.posterior
    assert_array_equal(one.function, np.arange(19))  # repeated rows have no functions of their own
    alpha = samples.data.sample_stats.alpha
    assert one.active.dims == alpha.dims == one.weights.dims == ("chain", "draw", "function")
    assert one.active.dtype == bool
    assert_array_equal(np.isfinite(alpha), one.active)
    assert_array_equal(one.weights != 0.0, one.active)
    assert_array_equal(one.active.sum("function"), one.n_active)
    assert samples.data.sample_stats.lp.shape == one.noise_variance.shape == (2, 12)
    assert_allclose(samples.inclusion[:19], one.active.mean(("chain", "draw")))
    assert_array_equal(samples.inclusion[19:], 0.0)
    assert samples.inclusion.shape == (24,) == (samples.basis.n_functions_,)
    assert repr(samples) == "PosteriorSamples(n_chains=2, n_draws=12, n_functions=19)"


@pytest.mark.slow
def test_nothing_given_is_changed():
    estimator, inputs, targets = RVR(RBF(1.5)), X.copy(), Y.copy()
    draw(estimator, inputs, targets)
    assert_array_equal(inputs, X)
    assert_array_equal(targets, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    fitted = RVR(RBF(1.5)).fit(X, Y - 1.0)
    assert_array_equal(draw(fitted).predict(X), draw().predict(X))
    assert fitted.offset_ == pytest.approx(Y.mean() - 1.0)


def test_pickle(samples):
    again = pickle.loads(pickle.dumps(samples))
    assert_array_equal(again.predict(X), samples.predict(X))
    assert_array_equal(again.data.sample_stats.alpha, samples.data.sample_stats.alpha)


def test_summary(samples):
    table = samples.summary()
    assert list(table.index) == ["noise_variance", "n_active", "lp"]
    assert {"mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"} <= set(table.columns)
    assert_allclose(table.loc["n_active", "mean"], samples.data.posterior.n_active.mean())
    table = samples.summary(X_NEW)
    assert list(table.index)[3:] == [f"prediction[{k}]" for k in range(3)]
    assert_allclose(table["mean"].iloc[3:], samples.predict(X_NEW))


def test_summary_of_a_single_chain_logs_nothing(caplog):
    logger = getattr(arviz, "_log", logging.getLogger("arviz"))  # which passes nothing on
    logger.addHandler(caplog.handler)
    try:
        table = draw(n_samples=8, n_chains=1).summary()
    finally:
        logger.removeHandler(caplog.handler)
    assert table["r_hat"].isna().all() and caplog.records == []


def test_chains_that_disagree_are_told_of():
    with pytest.warns(ConvergenceWarning, match=r"R-hat of .* Raise n_samples or thin, and n_warm"):
        draw(n_samples=8, n_warmup=0)


@pytest.mark.slow
def test_precisions_that_never_change_are_told_of():
    """Both chains start with the same α of the input that matters: R-hat alone sees nothing."""
    options = {"inputs": Z[:, 1:3], "targets": 3.0 * Z[:, 1] + T}
    with pytest.warns(ConvergenceWarning, match=r"precision of function 1 never.*walk=1\.0.*gibbs"):
        stuck = draw(RVR("linear"), **options, method=ReversibleJump(walk=0.0))
    one = stuck.data.posterior
    ratio = (stuck.data.sample_stats.alpha * one.noise_variance).sel(function=1).values
    assert_allclose(ratio, ratio[:, :1] * np.ones(12))
    assert stuck.summary().loc["noise_variance", "r_hat"] < 1.5
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The precision")
        draw(RVR("linear"), **options, method=Gibbs())
        draw(RVR("linear"), **options, method=ReversibleJump(), n_samples=40)
        draw(RVR("linear"), **options, method=ReversibleJump(birth="fixed"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {"n_samples": 8, "n_warmup": 0, "n_chains": 1},
        {"n_samples": 3, "n_warmup": 0},  # too few to tell
        {"estimator": RVR("linear"), "inputs": Z[:, 1:3], "targets": T, "n_samples": 200},
    ],
    ids=["alone", "few", "agree"],
)
def test_chains_that_agree_or_are_alone_are_not(options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        draw(**options)
    assert not [w for w in caught if "disagree" in str(w.message)]
