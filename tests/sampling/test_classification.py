"""Draws from the posterior of a classification."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit, log_softmax, logsumexp, softmax
from scipy.stats import norm
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RVC, RVR, ClassificationSamples, Gamma
from sparsebayes.basis import RBF
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.hamiltonian import effective_sample_size
from sparsebayes.sampling import ReversibleJump, sampled_model
from tests.sampling.sampled import SHORT, T, X, Y, Z, draw

arviz = pytest.importorskip("arviz")
pytestmark = SHORT

TWO = np.where(T > 0, "yes", "no")
THREE = np.digitize(Z[:, 1] + 0.4 * np.random.default_rng(0).standard_normal(30), [-0.5, 0.5])
NEW = np.array([[0.0, -1.0, 0.2, 0.0], [0.3, 2.0, -1.0, 0.5], [0.0, 0.0, 0.0, 0.0]])


def draw_two(**options):
    return draw(**{"estimator": RVC("linear"), "inputs": Z, "targets": TWO, **options})


def draw_three(**options):
    return draw(**{"estimator": RVC("linear"), "inputs": Z, "targets": THREE, **options})


@pytest.fixture(scope="module")
def two():
    return draw_two(n_samples=30)


@pytest.fixture(scope="module")
def three():
    return draw_three(n_samples=20)


def weights_of(samples):
    """Drawn weights, (T, M) or (T, K, M)."""
    weights = samples.data.posterior.weights.values
    return weights.reshape(-1, *weights.shape[2:])


# What is sampled


def exact(low, high, n_nodes=120):
    """Inclusion, weights and probabilities at two inputs, of one function and a bias, on a grid."""
    inputs, labels = Z[:10, 1], TWO[:10] == "yes"
    matrix = np.column_stack([np.ones(10), inputs])
    norms = 0.25 * (matrix**2).sum(axis=0)
    new = np.array([[1.0, -1.0], [1.0, 0.5]])
    nodes, masses = np.polynomial.legendre.leggauss(n_nodes // 2)
    nodes, masses = 0.5 * (nodes + 1.0), 0.5 * masses
    weight, mass = 60.0 * nodes**2, 120.0 * nodes * masses
    weight, mass = np.concatenate([-weight, weight]), np.concatenate([mass, mass])
    places, steps = np.polynomial.legendre.leggauss(30)
    ends = np.log([low, high])
    x = ends.mean() + 0.5 * np.diff(ends) * places
    density = norm.pdf(weight[:, None], 0.0, np.exp(-0.5 * x)) @ (0.5 * steps) * mass
    sizes = {0: 1 / 3, 1: 1 / 6, 2: 1 / 3}  # of one set, all numbers of functions equally likely
    total, moments = 0.0, 0.0
    for bias, slope in [(0, 0), (1, 0), (0, 1), (1, 1)]:
        one = (weight, density) if bias else (np.zeros(1), np.ones(1))
        other = (weight, density) if slope else (np.zeros(1), np.ones(1))
        grid = np.stack(np.meshgrid(one[0], other[0], indexing="ij"), axis=2).reshape(-1, 2)
        share = sizes[bias + slope] * np.outer(one[1], other[1]).ravel()
        f = grid / np.sqrt(norms) @ matrix.T
        share = share * np.exp(log_expit(np.where(labels, f, -f)).sum(axis=1))
        tried = expit(grid / np.sqrt(norms) @ new.T)
        values = np.column_stack([np.tile([bias, slope], (len(grid), 1)), tried])
        total, moments = total + share.sum(), moments + share @ values
    return moments / total


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "reversible_jump"])
def test_probabilities_are_those_of_the_integral(method):
    options = {"inputs": Z[:10, 1:2], "targets": TWO[:10], "method": method, "bounds": (0.02, 2.0)}
    samples = draw_two(**options, n_samples=400, n_warmup=30)
    posterior = samples.data.posterior
    tried = samples.predictions([[-1.0], [0.5]])
    values = np.concatenate([posterior.active.values, tried], axis=2)
    error = values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values))
    expected = exact(0.02, 2.0)
    assert error.max() < 0.05
    assert np.all(abs(values.mean(axis=(0, 1)) - expected) < 4.0 * error)
    assert_allclose(samples.inclusion, posterior.active.mean(("chain", "draw")))
    assert_allclose(samples.predict_proba([[-1.0], [0.5]])[:, 1], tried.mean(axis=(0, 1)))


@pytest.mark.slow
def test_a_weight_of_two_is_a_repeated_row():
    """The same posterior: inclusion and probabilities within their errors."""
    twice = np.arange(30) < 10
    options = {"n_samples": 150, "n_warmup": 30, "bounds": (0.02, 2.0)}
    one = draw_two(**options, sample_weight=1.0 + twice)
    rows = np.concatenate([np.arange(30), np.flatnonzero(twice)])
    other = draw_two(**options, inputs=Z[rows], targets=TWO[rows], random_state=1)
    found = []
    for samples in (one, other):
        values = samples.predictions(NEW)
        error = values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values))
        found.append((values.mean(axis=(0, 1)), error))
    assert np.all(abs(found[0][0] - found[1][0]) < 4.0 * np.hypot(found[0][1], found[1][1]))
    assert_allclose(one._norms, other._norms)


@pytest.mark.slow
def test_rows_without_weight_do_not_count():
    weights = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    some = draw_two(sample_weight=weights)
    fewer = draw_two(inputs=Z[weights > 0], targets=TWO[weights > 0])
    assert_allclose(some.predict_proba(NEW), fewer.predict_proba(NEW), rtol=1e-6)
    assert_array_equal(some.data.log_likelihood.observation, np.flatnonzero(weights))


@pytest.mark.slow
def test_class_weights_are_weights_of_the_samples():
    factors = {"yes": 2.0, "no": 1.0}
    one = draw_two(estimator=RVC("linear", class_weight=factors))
    other = draw_two(sample_weight=np.where(TWO == "yes", 2.0, 1.0))
    assert_array_equal(one.predict_proba(NEW), other.predict_proba(NEW))
    balanced = draw_two(estimator=RVC("linear", class_weight="balanced"))
    assert np.isfinite(balanced.predict_proba(NEW)).all()


def test_chains_start_at_different_optima(monkeypatch):
    starts = []
    start = GibbsChain.start

    def recorded(self, active, x, beta):
        starts.append((active, x, beta))
        start(self, active, x, beta)

    monkeypatch.setattr(GibbsChain, "start", recorded)
    samples = draw_three(n_samples=1, n_warmup=0, n_chains=2)
    assert len(starts) == 6  # three classes of two chains
    for k in range(3):
        active, x, beta = starts[k]
        kept = np.isfinite(samples.optimum.alpha_[k])
        assert_array_equal(samples.functions[active], samples.optimum.relevance_[kept])
        columns = samples.basis.columns(Z, samples.functions[active])
        norms = 2.0 / 9.0 * (columns**2).sum(axis=0)
        assert_allclose(np.exp(x) * norms, samples.optimum.alpha_[k][kept])
        assert beta == 1.0


@pytest.mark.slow
def test_the_default_bounds():
    samples = draw_two(n_samples=150, n_warmup=0, n_chains=1)
    columns = np.column_stack([np.ones(30), Z])
    ratio = samples.data.sample_stats.alpha.values / (0.25 * (columns**2).sum(axis=0))
    inside = ratio[np.isfinite(ratio)]
    low = 1.0 / (1000.0 * 30)
    assert low <= inside.min() < 100 * low and 5.0 < inside.max() <= 10.0


# What is made of the draws


def test_averages_over_two_classes(two):
    assert isinstance(two, ClassificationSamples)
    assert_array_equal(two.classes_, ["no", "yes"])
    f = weights_of(two) @ np.column_stack([np.ones(3), NEW]).T
    probability = two.predict_proba(NEW)
    assert_allclose(probability[:, 1], expit(f).mean(axis=0))
    assert_allclose(probability.sum(axis=1), 1.0)
    assert_array_equal(two.predict(NEW), np.where(probability[:, 1] > 0.5, "yes", "no"))
    assert_allclose(two.predictions(NEW), expit(f).reshape(2, 30, 3))
    labels = np.array(["yes", "no", "yes"])
    expected = np.log(probability[np.arange(3), [1, 0, 1]])
    assert_allclose(two.log_density(NEW, labels), expected)
    assert_allclose(two.predict_log_proba(NEW), np.log(probability))
    other = two.predict_proba(NEW, class_prior=[0.9, 0.1])
    assert np.all(other[:, 1] < probability[:, 1])


@pytest.mark.slow
def test_averages_over_three_classes(three):
    f = np.einsum("tkm,nm->tnk", weights_of(three), np.column_stack([np.ones(3), NEW]))
    probability = three.predict_proba(NEW)
    assert_allclose(probability, softmax(f, axis=2).mean(axis=0))
    assert_allclose(probability.sum(axis=1), 1.0)
    assert_array_equal(three.predict(NEW), probability.argmax(axis=1))
    assert three.predictions(NEW).shape == (2, 20, 3, 3)


def test_structure_of_the_data(two, three):
    one = two.data.posterior
    assert list(one.data_vars) == ["active", "weights", "n_active"]
    assert one.active.dims == ("chain", "draw", "function")
    assert_array_equal(np.isfinite(two.data.sample_stats.alpha), one.active)
    assert_array_equal(one.weights != 0.0, one.active)
    assert_array_equal(one.active.sum("function"), one.n_active)
    assert two.inclusion.shape == (5,)
    assert_array_equal(two.inclusion_of_any, two.inclusion)
    one = three.data.posterior
    assert one.active.dims == ("chain", "draw", "class", "function")
    assert one.n_active.dims == ("chain", "draw", "class")
    assert_array_equal(one["class"], [0, 1, 2])
    assert_array_equal(one.active.sum("function"), one.n_active)
    assert_allclose(three.inclusion, one.active.mean(("chain", "draw")))
    assert_allclose(three.inclusion_of_any, one.active.any("class").mean(("chain", "draw")))
    assert repr(three) == "ClassificationSamples(n_chains=2, n_draws=20, n_functions=5)"


def test_log_likelihood_of_labels(two, three):
    columns = np.column_stack([np.ones(30), Z])
    f = weights_of(two) @ columns.T
    expected = log_expit(np.where(TWO == "yes", f, -f))
    logs = two.data.log_likelihood.y
    assert logs.dims == ("chain", "draw", "observation")
    assert_allclose(logs.values.reshape(60, 30), expected)
    f = np.einsum("tkm,nm->tnk", weights_of(three), columns)
    expected = log_softmax(f, axis=2)[:, np.arange(30), THREE]
    assert_allclose(three.data.log_likelihood.y.values.reshape(40, 30), expected)
    mean = logsumexp(logs.values.reshape(60, 30), axis=0) - np.log(60)
    assert_allclose(two.log_density(Z, TWO), mean)


def test_log_likelihood_of_a_regression():
    weights = np.where(np.arange(18) < 4, 2.0, 1.0)
    weights[7] = 0.0
    samples = draw(sample_weight=weights)
    one, logs = samples.data.posterior, samples.data.log_likelihood.y
    columns = samples.basis.columns(X, samples.functions)
    mean = samples.optimum.offset_ + one.weights.values @ columns.T
    expected = weights * norm.logpdf(Y, mean, np.sqrt(one.noise_variance.values)[..., None])
    assert_array_equal(logs.observation, np.flatnonzero(weights))
    assert_allclose(logs, expected[..., weights > 0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_leave_one_out_by_arviz(two):
    for samples in (two, draw(n_samples=30)):
        found = arviz.loo(samples.data)
        assert np.isfinite(getattr(found, "elpd_loo", getattr(found, "elpd", None)))


def test_predictions_in_blocks(two, three):
    for samples in (two, three):
        expected = samples.predict_proba(Z), samples._log_likelihood()
        with config_context(working_memory=0.005):
            assert_allclose(samples.predict_proba(Z), expected[0], rtol=1e-9)
            assert_allclose(samples._log_likelihood(), expected[1], rtol=1e-9)


def test_summary(two, three):
    table = two.summary(NEW)
    assert list(table.index) == ["n_active", "lp", *(f"prediction[{k}]" for k in range(3))]
    assert_allclose(table["mean"].iloc[2:], two.predict_proba(NEW)[:, 1])
    table = three.summary(NEW[:1])
    names = [
        *(f"n_active[{k}]" for k in range(3)),
        "lp",
        *(f"prediction[0, {k}]" for k in range(3)),
    ]
    assert list(table.index) == names


def test_plots(two, three):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    heads = np.asarray(three.plot().heads_.get_offsets())
    assert_allclose(heads[:, 1], three.inclusion_of_any)
    assert two.plot().ax_.get_xlabel() == "function"


def test_pickle(three):
    again = pickle.loads(pickle.dumps(three))
    assert_array_equal(again.predict_proba(NEW), three.predict_proba(NEW))
    assert_array_equal(again.data.log_likelihood.y, three.data.log_likelihood.y)


# How chains run


@pytest.mark.slow
def test_same_seed_same_draws(two):
    again, other = draw_two(n_samples=30), draw_two(n_samples=30, random_state=1)
    assert_array_equal(again.data.posterior.weights, two.data.posterior.weights)
    assert not np.array_equal(other.data.posterior.weights, two.data.posterior.weights)
    with joblib.parallel_config(backend="threading"):
        jobs = draw_two(n_samples=30, n_jobs=2)
    assert_array_equal(jobs.data.posterior.weights, two.data.posterior.weights)


@pytest.mark.slow
def test_nothing_given_is_changed():
    estimator = RVC("linear").fit(Z, TWO == "no")
    before = estimator.predict_proba(NEW)
    assert_array_equal(draw_two(estimator=estimator).predict(NEW), draw_two().predict(NEW))
    assert_array_equal(estimator.predict_proba(NEW), before)


def test_progress(capfd):
    draw_three(n_samples=10, n_warmup=0, n_chains=1, verbose=1)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 10 and "100 %  functions " in lines[-1]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {"method": ReversibleJump(birth="fixed")},
        {"method": ReversibleJump(birth="lognormal")},
        {"method": ReversibleJump(jump=False)},
        {"estimator": RVC("linear", prior=Gamma(1.0, 1.0))},
        {"inclusion": 0.2, "per_alpha": True},
        {"estimator": RVC(RBF(1.0), bias=False)},
        {"targets": TWO == "yes", "inputs": pd.DataFrame(Z, columns=list("abcd"))},
    ],
    ids=["fixed", "lognormal", "walk", "gamma", "priors", "kernel", "frame"],
)
def test_options(options):
    samples = draw_two(**options)
    rows = options.get("inputs", Z)
    probability = samples.predict_proba(rows)
    assert np.isfinite(probability).all()
    assert_allclose(probability.sum(axis=1), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_can_be_separated(n_classes):
    """Nothing in the labels holds f back; the bounds do."""
    labels = np.arange(30) % n_classes
    inputs = 100.0 * labels[:, None] + np.linspace(0.0, 1.0, 30)[:, None]
    samples = draw(RVC("linear"), inputs, labels, n_samples=30)
    assert np.isfinite(samples.data.posterior.weights).all()
    assert np.isfinite(samples.data.log_likelihood.y).all()
    assert (samples.predict(inputs) == labels).mean() > 0.9


def test_functions_that_are_all_zero():
    samples = draw(RVC("precomputed", bias=False), np.zeros((30, 2)), TWO)
    assert_array_equal(samples.predict_proba(np.ones((2, 2))), 0.5)
    assert_array_equal(samples.inclusion, 0.0)


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "least_squares"}, r"link='least_squares' is not sampled.*RVC\(link='logit'\)"),
        ({"link": "probit"}, r"link='probit' is not sampled.*RVC\(link='logit'\)"),
        ({"multi_class": "ovr"}, r"multi_class='ovr' is not.*RVC\(multi_class='multinomial'\)"),
        ({"share_alpha": True}, r"share_alpha=True is not sampled.*RVC\(share_alpha=False\)"),
        ({"augment": True}, r"augment=True is not sampled.*RVC\(augment=False\)"),
        ({"prior": "bic"}, r"prior='bic' is not sampled.*Use 'flat' or Gamma\(a, b\)"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        draw_two(estimator=RVC("linear", **options))


@pytest.mark.slow
def test_what_is_left_to_us_is_what_can_be_sampled():
    estimator = RVC("linear", link="auto", multi_class="auto")
    samples = draw_three(estimator=estimator)
    assert samples.optimum.link == "logit"
    assert_array_equal(samples.predict_proba(NEW), draw_three().predict_proba(NEW))


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(sampled_model, "_MOST", 12)
    with pytest.raises(ValueError, match=r"values of 5 functions at 30 samples.*fewer rows"):
        draw_two()


def test_labels_are_checked(two):
    with pytest.raises(ValueError, match="only one class"):
        draw_two(targets=np.zeros(30))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        draw_two(targets=T)
    with pytest.raises(ValueError, match=r"label 'maybe', which is not among the classes.*leave"):
        two.log_density(NEW, ["yes", "maybe", "no"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        two.log_density(NEW, ["yes"])
    with pytest.raises(ValueError, match="class_prior must be one number"):
        two.predict_proba(NEW, class_prior=[1.0])


@pytest.mark.slow
def test_chains_that_disagree_are_told_of():
    with pytest.warns(ConvergenceWarning, match="R-hat of .* Raise n_samples or thin, and n_warm"):
        draw_three(n_samples=8, n_warmup=0)


@pytest.mark.slow
def test_iris():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        samples = draw(RVC("linear"), X[::2], y[::2], n_samples=300, n_warmup=100)
    assert (samples.predict(X[1::2]) == y[1::2]).mean() > 0.93
    assert isinstance(samples.optimum, RVC) and not isinstance(samples.optimum, RVR)
