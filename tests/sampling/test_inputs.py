"""What the sampling of posteriors refuses, the inputs it takes, and its plots."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, Trace
from sparsebayes.plots.inclusion import InclusionDisplay
from sparsebayes.sampling import ReversibleJump, sampled_model
from tests.laws.test_imports import BLOCK, run
from tests.sampling.sampled import SHORT, X_NEW, T, X, Y, Z, draw

matplotlib.use("Agg")
pytest.importorskip("arviz")
pytestmark = SHORT


@pytest.fixture(scope="module")
def samples():
    return draw(n_samples=30)


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be a whole number >= 1, got 0"),
        ({"n_samples": 2.5}, "n_samples must be a whole number"),
        ({"n_chains": True}, "n_chains must be a whole number >= 1, got True"),
        ({"n_warmup": -1}, "n_warmup must be a whole number >= 0, got -1"),
        ({"thin": 0}, "thin must be a whole number >= 1"),
        ({"method": "nuts"}, r"one of \['gibbs', 'reversible_jump'\], or an object.*got 'nuts'"),
        ({"method": ReversibleJump}, "method must be one of .* got <class"),
        (
            {"method": ReversibleJump(birth="fixed"), "bounds": (1e-3, 1.0)},
            "the same number twice",
        ),
        (
            {"method": ReversibleJump(birth="lognormal"), "bounds": (0.1, 0.1)},
            r"bounds=\(0.1, 0.1\) there is one precision only.*birth='lognormal'",
        ),
        ({"method": ReversibleJump(walk=2.0), "bounds": (0.1, 0.1)}, "leave out walk=2.0"),
        ({"method": ReversibleJump(jump=False), "bounds": (0.1, 0.1)}, "leave out jump=False"),
        ({"bounds": (1.0, 0.1)}, "0 < low <= high, got"),
        ({"bounds": (0.0, 1.0)}, "0 < low <= high, got"),
        ({"bounds": 1.0}, r"bounds must be None or a pair \(low, high\), got 1.0"),
        ({"bounds": (1.0, np.inf)}, "bounds must be None or a pair"),
        ({"inclusion": "flat"}, "inclusion must be 'uniform', a probability"),
        ({"inclusion": 1.0}, "inclusion must be 'uniform', a probability"),
        ({"inclusion": (1.0, 0.0)}, "inclusion must be 'uniform', a probability"),
        ({"inclusion": (1.0, 2.0, 3.0)}, "inclusion must be 'uniform', a probability"),
        ({"noise_prior": (-1.0, 1.0)}, "noise_prior must be a pair"),
        ({"noise_prior": None}, "noise_prior must be a pair"),
        ({"per_alpha": 1}, "per_alpha must be True or False"),
        ({"verbose": -1}, "verbose must be a whole number"),
        ({"sample_weight": np.zeros(18)}, "(?i)sample.weight.*zero"),
        ({"targets": np.r_[np.nan, Y[1:]]}, "NaN.*\n.*repair"),
        ({"inputs": np.full_like(X, np.inf)}, "infinity.*\n.*repair"),
        ({"estimator": RVR(augment=True)}, "augment=True is not sampled.*augment=False"),
        ({"estimator": RVR(prior=Trace(1.0))}, r"prior=Trace\(c=1.0\) is not sampled.*'flat'"),
        ({"estimator": RVR(prior="jeffreys")}, "prior must be one of"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        draw(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"birth": "gamma"},
            r"birth must be one of \['prior', 'fixed', 'lognormal'\], got 'gamma'",
        ),
        ({"birth_spread": 0.0}, "birth_spread must be a positive number, got 0.0"),
        ({"walk": -1.0}, "walk must be None or a standard deviation >= 0, got -1.0"),
        ({"walk": np.nan}, "walk must be"),
        ({"jump": "no"}, "jump must be True or False, got 'no'"),
        ({"jump": False, "walk": 0.0}, "jump=False leaves only the walk, and walk=0 is none"),
        ({"birth": "fixed", "walk": 1.0}, "birth='fixed' there is one precision.*walk=1.0"),
        ({"birth": "fixed", "jump": False}, "one precision only.*leave out jump=False"),
    ],
)
def test_refusals_of_reversible_jumps(options, message):
    with pytest.raises(ValueError, match=message):
        ReversibleJump(**options)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (Ridge(), "Ridge"),
        (RVR, "RVR"),
        (make_pipeline(StandardScaler(), RVR()), "Pipeline"),
    ],
)
def test_only_a_relevance_vector_machine_is_sampled(estimator, name):
    with pytest.raises(TypeError, match=rf"an RVR or RVC, such as RVR\(\), got {name};.*pipeline"):
        draw(estimator)


def test_too_many_functions_are_refused(monkeypatch):
    monkeypatch.setattr(sampled_model, "_MOST", 18)
    with pytest.raises(ValueError, match=r"19 functions.*fewer rows.*18 at most"):
        draw()


def test_without_arviz_nothing_is_computed(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    monkeypatch.setattr(RVR, "fit", None)
    with pytest.raises(ImportError, match=r'needs arviz: pip install "sparsebayes\[sampling\]"'):
        draw()


@pytest.mark.slow
def test_without_arviz_the_rest_works():
    code = BLOCK.format(blocked={"arviz"}) + (
        "import numpy as np, sparsebayes\n"
        "from sparsebayes import RVR, sample_posterior, plots\n"
        "model = RVR('linear').fit(np.arange(9.0)[:, None], np.arange(9.0))\n"
        "try:\n"
        "    sample_posterior(model, [[0.0]], [0.0])\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert run(code) == 'sample_posterior needs arviz: pip install "sparsebayes[sampling]"\n'


# Inputs of all kinds


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["gibbs", "reversible_jump"])
@pytest.mark.parametrize("level", [0.0, 3.0, -1e6])
def test_constant_targets(method, level):
    samples = draw(targets=np.full(18, level), method=method)
    mean, std = samples.predict(X_NEW, return_std=True)
    assert_allclose(mean, level, atol=1e-12)
    assert np.all(std <= 1e-8 * max(1.0, abs(level)))
    assert np.isfinite(samples.summary()["mean"]).all()


@pytest.mark.parametrize("method", ["gibbs", "reversible_jump"])
@pytest.mark.parametrize("n", [1, 2])
def test_few_samples(method, n):
    samples = draw(inputs=X[:n], targets=Y[:n], method=method)
    mean, std = samples.predict(X_NEW, return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(std).all()


@pytest.mark.slow
def test_more_functions_than_samples():
    inputs = np.random.default_rng(0).standard_normal((10, 40))
    samples = draw(RVR("precomputed", prior="bic"), inputs, inputs[:, 3] + 0.1 * Y[:10])
    mean, std = samples.predict(inputs, return_std=True)
    assert np.isfinite(mean).all() and np.all(std > 0)
    assert samples.inclusion.shape == (41,)


@pytest.mark.parametrize("method", ["gibbs", "reversible_jump"])
def test_functions_that_are_zero_are_left_out(method):
    inputs = np.column_stack([np.zeros(30), Z, np.zeros(30)])
    samples = draw(RVR("precomputed"), inputs, T, method=method)
    assert_array_equal(samples.functions, [0, 2, 3, 4, 5])
    assert_array_equal(samples.inclusion[[1, 6]], 0.0)
    none = draw(RVR("precomputed", bias=False), np.zeros((30, 2)), T, method=method)
    mean, std = none.predict(np.ones((2, 2)), return_std=True)
    assert_allclose(mean, T.mean())
    assert_allclose(std, T.std(), rtol=0.3)
    assert none.sample_y(np.ones((2, 2)), 3).shape == (2, 3)


@pytest.mark.slow
def test_single_precision():
    samples = draw(inputs=X.astype(np.float32), targets=Y.astype(np.float32))
    assert samples.predict(X_NEW).dtype == np.float64
    assert_allclose(samples.predict(X), draw().predict(X), atol=0.2)


@pytest.mark.slow
def test_data_frames():
    frame = pd.DataFrame(X, columns=["time"])
    samples = draw(inputs=frame, targets=pd.Series(Y))
    assert_array_equal(samples.predict(frame), draw().predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        samples.predict(frame.rename(columns={"time": "place"}))
    assert samples.plot().ax_.get_xlabel() == "time of the centre"


def test_bad_inputs_of_predictions(samples):
    for method in (samples.predict, samples.predictions, samples.sample_y, samples.summary):
        with pytest.raises(ValueError, match="2 features"):
            method(np.zeros((3, 2)))
        with pytest.raises(ValueError, match=r"NaN.*\n.*repair"):
            method([[np.nan]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        samples.log_density(X_NEW, [1.0])
    with pytest.raises(ValueError, match="one dimension"):
        samples.log_density(X_NEW, np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"NaN.*\n.*repair"):
        samples.log_density(X_NEW, [1.0, np.nan, 0.0])


# Plots


def test_plot_along_one_input(samples):
    display = samples.plot()
    assert isinstance(display, InclusionDisplay)
    assert display.ax_.get_xlabel() == "x of the centre"
    assert_allclose(display.heads_.get_offsets(), np.column_stack([X, samples.inclusion[1:]]))
    (line,) = display.lines_
    assert_allclose(line.get_ydata(), samples.inclusion[0])
    kept = samples.optimum.relevance_
    rings = np.asarray(display.optimum_.get_offsets())
    assert_allclose(rings[:, 0], X[kept[kept > 0] - 1, 0])
    assert_allclose(rings[:, 1], samples.inclusion[kept[kept > 0]])
    ax = display.ax_
    assert samples.plot(ax=ax).ax_ is ax


def test_plot_by_number():
    display = draw(RVR("linear"), Z, T).plot()
    assert display.ax_.get_xlabel() == "function"
    assert_array_equal(np.asarray(display.heads_.get_offsets())[:, 0], np.arange(5))
    assert display.lines_ == []


def test_plot_without_matplotlib(samples, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'matplotlib: pip install "sparsebayes\[plots\]"'):
        samples.plot()
