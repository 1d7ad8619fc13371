"""The fits: each gives the arrays that are recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF as SquaredExponential
from sklearn.gaussian_process.kernels import ConstantKernel

from sparsebayes import (
    EM,
    RVC,
    RVR,
    Forecaster,
    Gamma,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ParetoClassifier,
    ReducedRankGPR,
    Subspace,
    denoise,
    predict_uncertain,
    sample_posterior,
)
from sparsebayes.basis import RBF, Linear, LinearSpline
from sparsebayes.datasets import (
    load_gases,
    make_friedman1,
    make_gauss_snake,
    make_signal,
    make_sinc,
)
from sparsebayes.sampling import ReversibleJump
from sparsebayes.uncertain import StochasticEM
from tests.classical import classical

Array = np.ndarray
FITS: dict[str, Callable[[], list[Any]]] = {}


def fit(function: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
    """Enter a fit under the name of its function."""
    FITS[function.__name__] = function
    return function


def run(name: str) -> list[Array]:
    """The arrays of a fit; that a short one did not converge is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [np.asarray(part, dtype=np.float64) for part in FITS[name]()]


def sinc() -> tuple[Array, Array, Array]:
    X, y, _ = make_sinc(100, noise=0.1, random_state=0)
    return X, y, np.linspace(-12.0, 12.0, 41)[:, None]


def friedman() -> tuple[Array, Array, Array]:
    X, y, _ = make_friedman1(120, noise=1.0, random_state=3)
    return X, y, make_friedman1(40, noise=1.0, random_state=4)[0]


def regression(model: RVR, data: tuple[Array, Array, Array]) -> list[Any]:
    X, y, new = data
    model.fit(X, y)
    found = [*model.predict(new, return_std=True), model.alpha_, model.relevance_]
    return [*found, model.log_evidence_, model.noise_variance_]


def classes(model: RVC, X: Array, y: Array, new: Array) -> list[Any]:
    model.fit(X, y)
    return [model.predict_proba(new), model.decision_function(new), model.alpha_, model.relevance_]


def moons() -> tuple[Array, Array, Array]:
    X, y = make_moons(150, noise=0.25, random_state=0)
    return X, y, make_moons(40, noise=0.25, random_state=1)[0]


def gases() -> tuple[Array, Array, Array]:
    data = load_gases()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return X[::2], data.target[::2], X[1::6]


@fit
def rvr_default() -> list[Any]:
    return regression(RVR(), sinc())


@fit
def rvr_ard() -> list[Any]:
    return regression(RVR(), friedman())


@fit
def rvr_isotropic_union() -> list[Any]:
    return regression(RVR(RBF() + Linear(), adapt="isotropic"), friedman())


@fit
def rvr_sequential_bic() -> list[Any]:
    return regression(RVR(RBF(2.0), prior="bic", calibrate=None), sinc())


@fit
def rvr_em_gamma() -> list[Any]:
    return regression(
        RVR(RBF(2.0), solver=EM(), prior=Gamma(1e-3, 1e-3), tol=0.1, calibrate=None), sinc()
    )


@fit
def rvr_mackay_noise() -> list[Any]:
    return regression(
        RVR(LinearSpline(), solver="mackay", noise=0.01, tol=0.1, calibrate=None), sinc()
    )


@fit
def rvr_subspace_aic() -> list[Any]:
    model = RVR(
        RBF(2.0), solver=Subspace(size=30), prior="aic", tol=0.1, random_state=0, calibrate=None
    )
    return regression(model, sinc())


@fit
def rvr_augment() -> list[Any]:
    return regression(RVR(augment=True), sinc())


@fit
def rvr_augment_fast() -> list[Any]:
    X, y, _ = make_sinc(600, noise=0.1, random_state=0)
    return regression(
        RVR(RBF(2.0), augment="fast", calibrate=None), (X, y, np.linspace(-12, 12, 41)[:, None])
    )


@fit
def rvr_polynomial_weights() -> list[Any]:
    X, y, new = friedman()
    model = RVR("polynomial", prior="ric", calibrate=None).fit(X, y, np.arange(len(X)) % 3)
    return [*model.predict(new, return_cov=True), model.sample_y(new, 2, random_state=0)]


@fit
def rvc_logit() -> list[Any]:
    return classes(classical(), *moons())


@fit
def rvc_logit_trace() -> list[Any]:
    return classes(classical(RBF(0.5), prior="bic", class_weight="balanced"), *moons())


@fit
def rvc_probit_laplace_em() -> list[Any]:
    return classes(classical(RBF(0.5), link="probit", solver="em", tol=0.1), *moons())


@fit
def rvc_probit_mean_field() -> list[Any]:
    return classes(classical(RBF(0.5), link="probit", inference="mean_field"), *moons())


@fit
def rvc_probit_tap() -> list[Any]:
    return classes(classical(RBF(0.5), link="probit", inference="tap"), *moons())


@fit
def rvc_ard_augment() -> list[Any]:
    return classes(classical(adapt="ard", augment=True), *moons())


@fit
def rvc_softmax() -> list[Any]:
    return classes(classical(), *gases())


@fit
def rvc_softmax_shared_augment() -> list[Any]:
    return classes(classical(share_alpha=True, augment=True, prior="aic"), *gases())


@fit
def rvc_one_vs_rest() -> list[Any]:
    return classes(classical(multi_class="ovr"), *gases())


@fit
def reduced_rank() -> list[Any]:
    X, y, new = friedman()
    model = ReducedRankGPR(n_support=20, n_cycles=3, random_state=0, calibrate=None).fit(X, y)
    return [*model.predict(new, return_std=True), model.support_, model.log_evidence_]


@fit
def leave_one_out() -> list[Any]:
    X, y, new = sinc()
    return [*LeaveOneOutGPR().fit(X, y).predict(new, return_std=True)]


def noisy_inputs(method: Any) -> list[Any]:
    X, y, new = sinc()
    kernel = ConstantKernel(1.0) * SquaredExponential(2.0)
    noisy = X[::3] + 0.3 * np.random.default_rng(0).standard_normal((len(X[::3]), 1))
    model = NoisyInputGPR(kernel, input_noise=0.3, method=method, random_state=0)
    model.fit(noisy, y[::3])
    return [*model.predict(new, return_std=True)]


@fit
def noisy_inputs_em() -> list[Any]:
    return noisy_inputs(StochasticEM(max_iter=12, n_chains=2, n_samples=8))


@fit
def noisy_inputs_impute() -> list[Any]:
    return noisy_inputs("imputation")


@fit
def noisy_inputs_slope() -> list[Any]:
    return noisy_inputs("slope")


@fit
def uncertain_inputs() -> list[Any]:
    X, y, new = sinc()
    mean, cov = new[::4], np.array([[0.5]])
    plain, augmented = RVR().fit(X, y), RVR(augment=True).fit(X, y)
    exact = predict_uncertain(plain, mean, cov, return_cross_cov=True)
    draws = predict_uncertain(plain, mean, cov, method="monte_carlo", n_samples=500)
    taylor = predict_uncertain(augmented, mean, cov, method="taylor")
    return [*exact, *draws, *taylor, *augmented.predict_uncertain(mean, cov)]


def denoised(y: Array, *args: Any, **options: Any) -> list[Any]:
    found = denoise(y, *args, **options)
    return [found.signal, found.std, found.noise_variance, found.n_active]


@fit
def denoise_closed_form() -> list[Any]:
    y = make_signal("doppler", 1024, snr=5, random_state=0)[1]
    priors = ("bic", "flat", "ric")
    found = [part for prior in priors for part in denoised(y, method="sparse", prior=prior)]
    return found + denoised(y, "dct", method="sparse") + denoised(y, method="ash")


@fit
def denoise_image() -> list[Any]:
    rng = np.random.default_rng(0)
    image = np.add.outer(np.arange(48) > 20, np.arange(64) / 32)
    image = image + 0.1 * rng.standard_normal((48, 64))
    return denoised(image, method="ash") + denoised(image, method="sparse", axes=(1,))


@fit
def denoise_average() -> list[Any]:
    y = make_signal("doppler", 1024, snr=5, random_state=0)[1]
    image = np.add.outer(np.arange(48) > 20, np.arange(64) / 32)
    image = image + 0.1 * np.random.default_rng(0).standard_normal((48, 64))
    return denoised(y) + denoised(y, "mdct") + denoised(image)


@fit
def denoise_union() -> list[Any]:
    y = make_signal("blocks", 256, snr=5, random_state=0)[1]
    y = y + 2.0 * np.cos(2 * np.pi * 20 * np.arange(256) / 256)
    found = denoise(y, "haar + dct", prior="ric")
    return [found.signal, found.std, *found.parts]


@fit
def denoise_gap() -> list[Any]:
    y = make_signal("heavisine", 256, snr=5, random_state=1)[1]
    y[100:115] = np.nan
    return denoised(y, method="sparse")


@fit
def forecast() -> list[Any]:
    t, rng = np.arange(144), np.random.default_rng(0)
    sales = np.exp(5 + 0.01 * t + 0.15 * np.sin(np.pi * t / 6) + 0.03 * rng.standard_normal(144))
    model = Forecaster().fit(sales[:120])
    return [*model.predict(24, return_std=True), *model.predict_interval(24)]


@fit
def forecast_rvr() -> list[Any]:
    y = make_signal("doppler", 256, snr=7, random_state=0)[1]
    model = Forecaster(RVR(augment=True, adapt=None), lags=5).fit(y[:200])
    return [*model.predict(20, return_std=True)]


def sampled(**options: Any) -> list[Any]:
    X, y, new = sinc()
    found = sample_posterior(
        RVR(RBF(2.0)), X[::2], y[::2], 60, 2, n_warmup=60, random_state=0, **options
    )
    return [*found.predict(new, return_std=True), found.inclusion]


@fit
def sample_gibbs() -> list[Any]:
    return sampled()


@fit
def sample_jumps() -> list[Any]:
    return sampled(method=ReversibleJump(birth="lognormal", birth_spread=3.0))


@fit
def pareto() -> list[Any]:
    X, y = make_gauss_snake(200, separation=1.5, random_state=0)
    model = ParetoClassifier(n_evaluations=1000, random_state=0).fit(X, y)
    new = make_gauss_snake(100, separation=1.5, random_state=1)[0]
    front = model.front_
    return [front.fpr, front.tpr, front.complexity, model.predict(new, cost_fn=10.0)]
