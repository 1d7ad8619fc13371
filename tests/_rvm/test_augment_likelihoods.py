"""Augmented predictions with likelihoods of several outputs that no part of the package knows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sparsebayes._rvm.augment
from sparsebayes._rvm.augment import KeptWeights, TrainingRows, summarise
from sparsebayes._rvm.covariance import Covariance
from sparsebayes.basis import RBF, Bias
from sparsebayes.engine import Dense, Flat, Latent, Sequential, Softmax, run
from tests.conftest import X3, Y3
from tests.engine.likelihoods import IndependentLogits, TemperedSoftmax

K, VARIANCE = 3, 2.0
POINTS = np.array([[0.0, 0.5], [1.0, -0.2], [2.5, 1.5], [-1.5, -1.0], [9.0, 9.0]])
WEIGHTS = np.random.default_rng(0).uniform(0.3, 2.0, len(X3))
SIGNS = np.where(np.eye(K)[Y3] > 0, 1.0, -1.0)
LIKELIHOODS = {
    "softmax": Softmax(Y3, WEIGHTS, K),
    "independent": IndependentLogits(SIGNS, WEIGHTS),
    "tempered": TemperedSoftmax(Y3, WEIGHTS, K),
}


def fitted(name, basis, share):
    """What is kept of a fit and what its data say, with B by differences of the slopes."""
    basis, sites = basis.fit(X3), LIKELIHOODS[name]
    problem = Latent(Dense(basis.columns(X3)), Flat(), sites, share=share)
    rng = np.random.default_rng(0)
    solution = run(Sequential(), problem, max_iter=1000, tol=0.01, rng=rng)
    assert solution.stop.converged
    state = solution.state
    weights = (state.active[:, None] * problem.group + np.arange(problem.group)).ravel()
    size = problem.design.shape[1]
    function, output = np.divmod(weights, K) if share else np.divmod(weights, size)[::-1]
    kept = KeptWeights(basis, state.mean, Covariance(state.cov), state.precisions, output, function)
    expansion = state.local.expansion
    curvature = np.stack([expansion.curvature(k) for k in range(K)], axis=1)
    observed = TrainingRows(X3, expansion.slope, curvature, VARIANCE)
    f = np.zeros((len(X3), K))
    np.add.at(f.T, output, (kept.functions(X3) * state.mean).T)
    step = 1e-4 * np.eye(K)
    moved = [(sites.expand(f - e, None).slope - sites.expand(f + e, None).slope) for e in step]
    return kept, observed, np.stack(moved, axis=2) / 2e-4, sites.expand(f, None).slope


def newton(kept, B, slope, x):
    """The latent mean and covariance at x by one Newton step of a model with more functions."""
    kernels, size = kept.basis.centred, kept.mean.size
    extra = len(kernels) * K
    start = np.append(kept.mean, np.zeros(extra))
    precision = np.append(kept.alpha, np.full(extra, len(kernels) / VARIANCE))
    rows = np.vstack([X3, x])
    columns = np.zeros((K, len(rows), size + extra))
    columns[kept.output, :, np.arange(size)] = kept.functions(rows).T
    for j, kernel in enumerate(kernels):
        for k in range(K):
            columns[k, :, size + j * K + k] = kernel.between(rows, x[None])[:, 0]
    train, test = columns[:, :-1], columns[:, -1]
    H = np.einsum("knp,nkl,lnq->pq", train, B, train) + np.diag(precision)
    slopes = np.einsum("knp,nk->p", train, slope) - precision * start
    return test @ (start + np.linalg.solve(H, slopes)), test @ np.linalg.solve(H, test.T)


@pytest.mark.sampled
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("basis", [Bias() + RBF(0.7), RBF(0.5) + RBF(2.0)], ids=["one", "two"])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_corrections_are_a_newton_step(name, basis, share):
    kept, observed, B, slope = fitted(name, basis, share)
    functions = kept.functions(POINTS)
    shift, root = observed.refined(kept).augmentation(kept).correct(POINTS, functions)
    for i, x in enumerate(POINTS):
        columns = np.zeros((K, kept.mean.size))
        columns[kept.output, np.arange(kept.mean.size)] = functions[i]
        mean, cov = newton(kept, B, slope, x)
        assert_allclose(columns @ kept.mean + shift[i], mean, atol=1e-5)
        ours = columns @ kept.sigma @ columns.T + root[i] @ root[i].T
        assert_allclose(ours, cov, rtol=1e-4, atol=1e-6)
    assert np.abs(shift).max() > 1e-3  # there is something to correct


@pytest.mark.sampled
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_summary_of_all_rows_says_the_same(name, monkeypatch):
    monkeypatch.setattr(sparsebayes._rvm.augment, "_REPRESENTATIVES", K * (len(X3) - 1))
    kept, observed, *_ = fitted(name, Bias() + RBF(0.7), False)
    fast = summarise(observed, kept)
    assert fast is not observed
    functions = kept.functions(POINTS[:4])
    ours, theirs = (
        data.augmentation(kept).correct(POINTS[:4], functions) for data in (fast, observed)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(one, other, atol=1e-3)
