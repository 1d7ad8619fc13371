"""What `NoisyInputGPR` accepts and refuses, and data at the edges."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from sparsebayes.uncertain import Imputation, Slope, StochasticEM
from tests.uncertain.noisy.examples import (
    DATA,
    FEW,
    GRID,
    METHODS,
    TEST,
    X2,
    X_FEW,
    Y2,
    Y_FEW,
    X,
    Y,
    fit,
    quick,
)


@pytest.mark.parametrize(
    ("input_noise", "expected"),
    [
        (0.3, np.full((25, 2), 0.3)),
        ([0.1, 0.4], np.tile([0.1, 0.4], (25, 1))),
        ([[0.1, 0.4]], np.tile([0.1, 0.4], (25, 1))),
        (np.arange(25) / 25, np.tile(np.arange(25)[:, None] / 25, 2)),
        (np.arange(25)[:, None] / 25, np.tile(np.arange(25)[:, None] / 25, 2)),
        (DATA.variances, DATA.variances),
    ],
)
def test_shapes_of_the_input_noise(input_noise, expected):
    model = fit(quick("slope", input_noise=input_noise), X2, Y2)
    np.testing.assert_allclose(model.input_noise_, expected)


def test_the_same_noise_in_two_shapes_is_the_same_model():
    one = quick("slope", input_noise=0.2).fit(X2, Y2)
    other = quick("slope", input_noise=np.full((25, 2), 0.2)).fit(X2, Y2)
    np.testing.assert_allclose(one.predict(GRID), other.predict(GRID), rtol=1e-6)


@pytest.mark.parametrize(
    ("input_noise", "message"),
    [
        (-1.0, r"must be finite and >= 0; got -1\.0"),
        (np.nan, "must be finite and >= 0"),
        ([0.1, np.inf], "must be finite and >= 0"),
        ("guess", "must be 'estimate' or variances >= 0, got 'guess'"),
        ([0.1, "a"], "must be 'estimate' or variances >= 0"),
        (None, "must be 'estimate' or variances"),
        (np.ones(3), r"got shape \(3,\)"),
        (np.ones((2, 25)), r"\(25, 2\); got shape \(2, 25\)"),
        (np.ones((25, 2, 2)), "got shape"),
    ],
)
def test_bad_input_noise_is_refused(input_noise, message):
    with pytest.raises(ValueError, match=message):
        quick("slope", input_noise=input_noise).fit(X2, Y2)


def test_ambiguous_input_noise_is_refused():
    with pytest.raises(ValueError, match=r"\(1, 2\) for the inputs or as \(2, 1\) for the samples"):
        quick("slope", input_noise=[0.1, 0.2]).fit(X2[:2], Y2[:2])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"method": "em"}, ValueError, "method must be one of"),
        ({"kernel": Matern()}, ValueError, r"what works is RBF\(\) or ConstantKernel\(\) \* RBF"),
        ({"kernel": RBF() + RBF()}, ValueError, "what works is"),
        ({"kernel": 1.0 * RBF() + RBF()}, ValueError, "what works is"),
        ({"kernel": 1.0 * RBF() * WhiteKernel()}, ValueError, "at most one WhiteKernel"),
        ({"kernel": RBF([1.0, 1.0, 1.0])}, ValueError, "3 length scales, but X has 2 inputs"),
        ({"kernel": "rbf"}, TypeError, "kernel must be None or a kernel"),
        ({"noise": 0.0}, ValueError, "noise must be 'estimate' or a positive variance"),
        ({"optimize": 1}, ValueError, "optimize must be True or False"),
        ({"method": Slope}, ValueError, r"an object such as StochasticEM\(n_chains=4\)"),
        ({"method": Slope(max_iter=0)}, ValueError, "max_iter must be a whole number >= 1"),
        ({"method": Slope(tol=0.0)}, ValueError, "tol must be a positive number"),
        ({"method": StochasticEM(n_samples=0)}, ValueError, "n_samples must be a whole number"),
        ({"method": StochasticEM(n_chains=1.5)}, ValueError, "n_chains must be a whole number"),
        ({"method": StochasticEM(thin=True)}, ValueError, "thin must be a whole number >= 1"),
        ({"method": StochasticEM(max_iter=0)}, ValueError, "max_iter"),
        ({"method": StochasticEM(tol=-1.0)}, ValueError, "tol"),
        ({"method": Imputation(n_levels=0)}, ValueError, "n_levels must be a whole number >= 1"),
        ({"method": Imputation(n_folds=1)}, ValueError, "n_folds must be a whole number >= 2"),
        ({"method": Imputation(max_iter=0)}, ValueError, "max_iter"),
        ({"verbose": -1}, ValueError, "verbose"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        quick("slope").set_params(**changes).fit(X2, Y2)


def test_missing_values_are_refused():
    broken = X2.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN[\s\S]*Drop these samples"):
        quick("slope").fit(broken, Y2)


@pytest.mark.parametrize("method", METHODS)
class TestEdges:
    def test_one_sample(self, method):
        model = fit(quick(method), X[:1], Y[:1])
        mean, std = model.predict([[0.0]], return_std=True)
        assert mean == pytest.approx(Y[0]) and np.isfinite(std).all()

    def test_constant_targets(self, method):
        model = fit(quick(method), X_FEW, np.full(12, 3.0))
        mean, std = model.predict(TEST[:5], return_std=True)
        np.testing.assert_allclose(mean, 3.0)
        assert np.all(std < 1e-6)

    @pytest.mark.sampled
    def test_duplicated_rows(self, method):
        twice = fit(quick(method), np.repeat(X_FEW, 2, axis=0), np.repeat(Y_FEW, 2))
        assert np.isfinite(twice.predict(TEST, return_std=True)[1]).all()

    @pytest.mark.sampled
    def test_single_precision(self, method):
        model = fit(quick(method), X_FEW.astype(np.float32), Y_FEW.astype(np.float32))
        assert model.predict(TEST.astype(np.float32)).dtype == np.float64

    @pytest.mark.sampled
    def test_inputs_are_not_changed(self, method):
        before, targets = X_FEW.copy(), Y_FEW.copy()
        model = fit(quick(method), before, targets)
        model.inputs_[:] = 0.0
        np.testing.assert_array_equal(before, X_FEW)
        np.testing.assert_array_equal(targets, Y_FEW)

    @pytest.mark.sampled
    def test_fixed_parameters_stay(self, method):
        kernel = ConstantKernel(0.2, "fixed") * RBF(1.5, "fixed")
        model = fit(quick(method, kernel=kernel, noise=0.01), *FEW)
        assert model.kernel_ == kernel and model.noise_variance_ == pytest.approx(0.01)
