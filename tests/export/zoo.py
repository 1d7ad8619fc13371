"""Fitted models of all kinds that can be exported, and inputs to ask them about."""

from functools import cache

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.gaussian_process import kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from sparsebayes import RVC, RVR, Forecaster, ReducedRankGPR
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline, Polynomial
from sparsebayes.datasets import load_sensor
from sparsebayes.forecasting.one_step import one_step


def _sensor(**options):
    data = load_sensor()
    return RVR(RBF(30.0), **options).fit(data.data, data.target)


def _diabetes(model, n_targets=1):
    X, y = load_diabetes(return_X_y=True)
    X, y = 20.0 * X[:120], y[:120]  # of the order of 1
    return model.fit(X, y if n_targets == 1 else np.column_stack([y, 100.0 - 2.0 * X[:, 2] * y]))


def _iris(model, labels=None):
    X, y = load_iris(return_X_y=True)
    return model.fit(X[::2], (y if labels is None else np.array(labels)[y])[::2])


def _moons(model):
    return model.fit(*make_moons(80, noise=0.3, random_state=0))


def _series():
    rng = np.random.default_rng(3)
    steps = np.arange(90)
    return np.exp(2.0 + 0.01 * steps + 0.3 * np.sin(steps) + 0.05 * rng.standard_normal(90))


def _varying():
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 10, 150))[:, None]
    y = np.sin(X[:, 0]) + (0.02 + 0.1 * X[:, 0]) * rng.standard_normal(150)
    return RVR(RBF(1.5), noise="varying", calibrate=None).fit(X, y)


def _noise():
    rng = np.random.default_rng(0)
    return RVR(RBF(1.0), calibrate=None).fit(rng.standard_normal((40, 2)), rng.standard_normal(40))


def _many():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (600, 2))
    y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.standard_normal(600)
    return RVR(RBF(1.0), augment="fast", calibrate=None).fit(X, y)


_PLAIN = {"adapt": None, "calibrate": None}

MODELS = {
    "sensor": _sensor,
    "sensor, calibrated by folds": lambda: _sensor(calibrate=3),
    "outliers": lambda: _sensor(noise="student"),
    "default": lambda: _diabetes(RVR()),
    "several targets": lambda: _diabetes(RVR(**_PLAIN), 2),
    "several targets, augmented": lambda: _diabetes(RVR(augment=True, **_PLAIN), 2),
    "varying noise": _varying,
    "no functions": _noise,
    "constant target": lambda: RVR(bias=False, calibrate=None).fit(
        np.arange(9.0)[:, None], np.full(9, 3.0)
    ),
    "polynomial": lambda: _diabetes(RVR(Polynomial(3) + Linear(), calibrate=None)),
    "linear": lambda: _diabetes(RVR("linear")),
    "laplacian": lambda: _diabetes(RVR(Laplacian(20.0), prior="bic", calibrate=None)),
    "thin plate": lambda: _diabetes(RVR("thin_plate", **_PLAIN)),
    "spline": lambda: _diabetes(RVR(LinearSpline(4.0), augment=0.5, calibrate=None)),
    "two kernels, augmented": lambda: _diabetes(
        RVR(Linear() + RBF() + Laplacian(20.0), prior="bic", augment=True, **_PLAIN)
    ),
    "fast augmentation": _many,
    "scaler": lambda: _diabetes(make_pipeline(StandardScaler(), RVR(calibrate=3))),
    "scalers and components": lambda: _diabetes(
        make_pipeline(
            MaxAbsScaler(), RobustScaler(), VarianceThreshold(), PCA(3, whiten=True), RVR(**_PLAIN)
        )
    ),
    "clipped": lambda: _diabetes(make_pipeline(MinMaxScaler(clip=True), RVR(**_PLAIN))),
    "columns": lambda: _diabetes(
        make_pipeline(
            ColumnTransformer(
                [("far", StandardScaler(), [4, 2]), ("as is", "passthrough", [0])],
                remainder=MaxAbsScaler(),
            ),
            RVR(**_PLAIN),
        )
    ),
    "columns of all kinds": lambda: _diabetes(
        make_pipeline(
            MinMaxScaler(),
            ColumnTransformer(
                [
                    ("turned", make_pipeline(RobustScaler(), PCA(2)), slice(4, 8)),
                    ("bounded", MinMaxScaler(clip=True), [-1]),
                    ("left out", "drop", [0]),
                    ("mask", "passthrough", np.arange(10) == 2),
                    ("again", StandardScaler(), [2, 1]),
                ]
            ),
            RVR(**_PLAIN),
        )
    ),
    "process": lambda: _diabetes(ReducedRankGPR(n_support=20, random_state=0)),
    "process of several kernels": lambda: _diabetes(
        ReducedRankGPR(
            kernels.ConstantKernel(100.0) * kernels.Matern(3.0, nu=2.5)
            + kernels.DotProduct(1.0) * kernels.RationalQuadratic(2.0, 1.5)
            + kernels.ExpSineSquared(2.0, 5.0) ** 2,
            n_support=15, optimize=False, augment=True, random_state=0,
        )
    ),
    "plain process": lambda: _diabetes(
        ReducedRankGPR(kernels.Matern(3.0, nu=0.5), n_support=10, augment=False, random_state=0)
    ),
    "two classes": lambda: _moons(RVC(RBF(0.7), calibrate=3)),
    "two classes, logit": lambda: _moons(RVC("rbf", link="logit", **_PLAIN)),
    "two classes, probit": lambda: _moons(RVC("rbf", link="probit", adapt=None, calibrate=3)),
    "two classes, augmented": lambda: _moons(RVC(RBF(0.7), link="logit", augment=True, **_PLAIN)),
    "classes": lambda: _iris(RVC("rbf", link="least_squares", adapt=None), ["b", "a", "c"]),
    "classes, augmented": lambda: _iris(RVC(link="least_squares", augment=True, adapt=None)),
    "one against the rest": lambda: _iris(RVC(link="logit", multi_class="ovr", **_PLAIN)),
    "one against the rest, augmented": lambda: _iris(
        RVC(link="probit", multi_class="ovr", augment=True, **_PLAIN)
    ),
    "softmax": lambda: _iris(RVC(link="logit", **_PLAIN)),
    "softmax, calibrated": lambda: _iris(RVC(link="logit", adapt=None, calibrate=3)),
    "softmax, augmented": lambda: _iris(RVC(link="logit", augment=True, **_PLAIN)),
    "softmax, no functions": lambda: RVC(RBF(1.0), link="logit", bias=False, calibrate=None).fit(
        np.tile([[-1.0], [0.0], [1.0]], (6, 1)), np.repeat([0, 1, 2], 6)
    ),
    "softmax, fast augmentation": lambda: make_pipeline(
        StandardScaler(), RVC(link="logit", augment="fast", share_alpha=True, **_PLAIN)
    ).fit(*load_iris(return_X_y=True)),
    "forecast": lambda: Forecaster(RVR("linear"), lags=3).fit(_series()),
    "forecast of changes of logarithms": lambda: Forecaster(
        RVR(), lags=[1, 3], difference=[1, 2], transform="log"
    ).fit(_series()),
    "forecast far from 0": lambda: Forecaster(
        RVR("linear"), lags=2, difference=0, transform="log"
    ).fit(1e4 + np.random.default_rng(0).standard_normal(80)),
    "forecast of roots": lambda: Forecaster(lags=2, transform="sqrt", calibrate=5).fit(_series()),
}  # fmt: skip


@cache
def model(name):
    """One of the models, fitted once."""
    return MODELS[name]()


def inputs(program, count, seed=0):
    """Rows around those of the training, some of them outside."""
    rng = np.random.default_rng(seed)
    rows = program.examples[rng.integers(0, len(program.examples), count)]
    width = program.examples.std(axis=0) + 0.05 * np.abs(program.examples).max(axis=0)
    return rows + 0.3 * width * rng.standard_normal(rows.shape)


def python(fitted, X):
    """What the model itself says, by name of the output, (n, K); one step of a forecast."""
    if isinstance(fitted, Forecaster):
        mean, std = one_step(fitted).predict(X)
        return {"mean": mean[:, None], "std": std[:, None]}
    if hasattr(fitted, "predict_proba"):
        return {"probabilities": fitted.predict_proba(X)}
    mean, std = fitted.predict(X, return_std=True)
    return {"mean": mean.reshape(len(X), -1), "std": std.reshape(len(X), -1)}
