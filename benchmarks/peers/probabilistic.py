"""Regressions with a predictive distribution, each behind the same few functions."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

from benchmarks.peers.error_bars import PEER, Probabilistic, predicted
from benchmarks.tools.splits import Split
from sparsebayes import RVR

Array = np.ndarray
STEPS, RATE = 200, 0.1  # of Adam
N_INDUCING = 200
CHOLESKY = 10_000  # GPyTorch's own limit is 800; above it conjugate gradients replace it


def our_rvr(name: str, **parameters: Any) -> Probabilistic:
    """`sparsebayes.RVR`."""
    return Probabilistic(
        name,
        lambda split: RVR(**parameters).fit(split.X, split.y),
        predicted,
        lambda fitted: len(fitted.relevance_vectors_),
    )


def reduced_rank() -> Probabilistic:
    """`sparsebayes.ReducedRankGPR` with the support of SGPR's size."""
    from sparsebayes import ReducedRankGPR

    def fit(split: Split) -> Any:
        count = min(N_INDUCING, len(split.y))
        return ReducedRankGPR(n_support=count, random_state=0).fit(split.X, split.y)

    return Probabilistic("ReducedRankGPR", fit, predicted, lambda fitted: len(fitted.support_))


def sklearn_gp() -> Probabilistic:
    """`GaussianProcessRegressor`: constant × RBF with a scale for each input + white noise."""

    def fit(split: Split) -> GaussianProcessRegressor:
        D = split.X.shape[1]
        scales = RBFKernel(np.full(D, np.sqrt(D / 2)), (1e-2, 1e4))
        kernel = ConstantKernel(1.0, (1e-3, 1e5)) * scales + WhiteKernel(0.1, (1e-8, 10.0))
        return GaussianProcessRegressor(kernel, normalize_y=True).fit(split.X, split.y)

    return Probabilistic(PEER, fit, predicted, lambda fitted: len(fitted.X_train_))


class _Process(gpytorch.models.ExactGP):
    """A Gaussian process with an ARD kernel, through inducing points if they are given."""

    def __init__(self, X: Any, y: Any, likelihood: Any, inducing: Any = None) -> None:
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        inner = gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1])
        inner.lengthscale = np.sqrt(X.shape[1] / 2)
        self.covar_module = gpytorch.kernels.ScaleKernel(inner)
        if inducing is not None:
            self.covar_module = gpytorch.kernels.InducingPointKernel(
                self.covar_module, inducing_points=inducing, likelihood=likelihood
            )

    def forward(self, X: Any) -> Any:
        """The distribution of the function at X."""
        mean, cov = self.mean_module(X), self.covar_module(X)
        return gpytorch.distributions.MultivariateNormal(mean, cov)


class TorchGP:
    """GPyTorch's exact process, or SGPR, trained by Adam as its documentation does."""

    def __init__(self, n_inducing: int | None) -> None:
        self.n_inducing = n_inducing

    def fit(self, X: Array, y: Array) -> TorchGP:
        """Maximise the marginal likelihood, or its bound."""
        with gpytorch.settings.max_cholesky_size(CHOLESKY):
            return self._fit(X, y)

    def _fit(self, X: Array, y: Array) -> TorchGP:
        torch.manual_seed(0)
        self.offset, self.scale = y.mean(), y.std()
        inputs, targets = torch.as_tensor(X), torch.as_tensor((y - self.offset) / self.scale)
        inducing = None
        if self.n_inducing is not None:
            centers = KMeans(min(self.n_inducing, len(y)), n_init=1, random_state=0).fit(X)
            inducing = torch.as_tensor(centers.cluster_centers_)
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        likelihood.noise = 0.1
        self.model = _Process(inputs, targets, likelihood, inducing).double()
        self.kept = len(y) if inducing is None else len(inducing)
        self.model.train()
        optimizer = torch.optim.Adam(self.model.parameters(), lr=RATE)
        objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, self.model)
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = -objective(self.model(inputs), targets)
            loss.backward()
            optimizer.step()
        self.model.eval()
        return self

    def predict(self, X: Array) -> tuple[Array, Array]:
        """Mean and standard deviation, the noise included."""
        with torch.no_grad(), gpytorch.settings.max_cholesky_size(CHOLESKY):
            found = self.model.likelihood(self.model(torch.as_tensor(X)))
            mean, variance = found.mean.numpy(), found.variance.numpy()
        return self.offset + self.scale * mean, self.scale * np.sqrt(variance)


def torch_gp(name: str, n_inducing: int | None = None) -> Probabilistic:
    """GPyTorch, in double precision."""
    return Probabilistic(
        name,
        lambda split: TorchGP(n_inducing).fit(split.X, split.y),
        lambda fitted, X: fitted.predict(X),
        lambda fitted: fitted.kept,
    )


def all_probabilistic() -> list[Probabilistic]:
    """The models compared, ours first."""
    return [
        our_rvr("RVR", adapt="ard"),
        our_rvr("RVR, augment", adapt="ard", augment=True),
        reduced_rank(),
        sklearn_gp(),
        torch_gp("GPyTorch, exact"),
        torch_gp(f"GPyTorch, SGPR {N_INDUCING}", N_INDUCING),
    ]
