"""Generators of data for regression, classification and forecasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from scipy.signal import lfilter

from sparsebayes._support.data import finite_array
from sparsebayes._support.validation import (
    as_generator,
    check_choice,
    finite_number,
    positive_number,
    whole_number,
)

Array = np.ndarray
NoiseKind = Literal["gaussian", "uniform"]

_FAR = 1e150  # of inputs and noise, so that squares are numbers
_FAST = 1e6  # rates, powers and levels of a series: powers of what is larger are no numbers
_MOST_STEPS = 1e8  # of an integration: some seconds


def _drawn(random_state: Any, n_samples: Any, noise: Any) -> tuple[np.random.Generator, int, float]:
    """What all generators need, or a clear error."""
    size = whole_number("n_samples", n_samples)
    return as_generator(random_state), size, finite_number("noise", noise, 0.0, _FAR)


def make_sinc(
    n_samples: int = 100,
    *,
    noise: float = 0.1,
    noise_kind: NoiseKind = "gaussian",
    random_state: Any = None,
    low: float = -10.0,
    high: float = 10.0,
) -> tuple[Array, Array, Array]:
    """Make noisy ``sin(x)/x`` at equally spaced inputs [1]_.

    It is the usual first example of a relevance vector machine.

    Parameters
    ----------
    n_samples : int, default=100
        Number of samples.
    noise : float, default=0.1
        Standard deviation of Gaussian noise, half width of uniform noise.
    noise_kind : {"gaussian", "uniform"}, default="gaussian"
        Distribution of the noise.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the noise.
    low, high : float, default=-10, 10
        First and last input.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        The inputs, ascending.
    y : ndarray of shape (n_samples,)
        Noisy targets.
    f_true : ndarray of shape (n_samples,)
        The function without noise.

    See Also
    --------
    make_friedman1 : Ten inputs, half of them without effect.
    make_signal : Signals with jumps and peaks.

    References
    ----------
    .. [1] M. E. Tipping, "Sparse Bayesian learning and the relevance vector machine",
       JMLR 1, 2001, appendix E.1.

    Examples
    --------
    >>> from sparsebayes.datasets import make_sinc
    >>> X, y, f = make_sinc(5, noise=0.0)
    >>> X.shape, float(f[2])
    ((5, 1), 1.0)
    """
    check_choice("noise_kind", noise_kind, get_args(NoiseKind))
    rng, n_samples, noise = _drawn(random_state, n_samples, noise)
    bounds = finite_number("low", low, -_FAR, _FAR), finite_number("high", high, -_FAR, _FAR)
    x = np.linspace(*bounds, n_samples)
    f = np.sinc(x / np.pi)
    if noise_kind == "gaussian":
        e = noise * rng.standard_normal(n_samples)
    else:
        e = rng.uniform(-noise, noise, n_samples)
    return x[:, None], f + e, f


def make_friedman1(
    n_samples: int = 240, *, noise: float | None = None, random_state: Any = None
) -> tuple[Array, Array, Array]:
    """Make Friedman's first function: ten inputs, five of them without effect.

    ``f = 10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5``.

    Parameters
    ----------
    n_samples : int, default=240
        Number of samples.
    noise : float, default=None
        Standard deviation of the noise; None is 1, as in Tipping (2001).
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the inputs and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
        Inputs in the unit cube.
    y : ndarray of shape (n_samples,)
        Noisy targets.
    f_true : ndarray of shape (n_samples,)
        The function without noise.

    See Also
    --------
    make_friedman2 : The second function.
    make_friedman3 : The third.

    Examples
    --------
    >>> from sparsebayes.datasets import make_friedman1
    >>> X, y, f = make_friedman1(50, random_state=0)
    >>> X.shape, bool(f.std() > (y - f).std())
    ((50, 10), True)
    """
    rng, n_samples, noise = _drawn(random_state, n_samples, 1.0 if noise is None else noise)
    X = rng.random((n_samples, 10))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    f += 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + noise * rng.standard_normal(n_samples), f


def make_friedman2(
    n_samples: int = 240, *, noise: float | None = None, random_state: Any = None
) -> tuple[Array, Array, Array]:
    """Make Friedman's second function: the modulus of an impedance, four inputs.

    ``f = √(x1² + (x2 x3 − 1/(x2 x4))²)`` with x1 in [0, 100], x2 in [40π, 560π], x3 in [0, 1]
    and x4 in [1, 11].

    Parameters
    ----------
    n_samples : int, default=240
        Number of samples.
    noise : float, default=None
        Standard deviation of the noise; None is one third of the standard deviation of the
        drawn ``f_true``, as in Tipping (2001).
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the inputs and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 4)
        The inputs, each in its own range.
    y : ndarray of shape (n_samples,)
        Noisy targets.
    f_true : ndarray of shape (n_samples,)
        The function without noise.

    See Also
    --------
    make_friedman1 : The first function.
    make_friedman3 : The phase of the same impedance.

    Examples
    --------
    >>> from sparsebayes.datasets import make_friedman2
    >>> X, y, f = make_friedman2(50, random_state=0)
    >>> X.shape, bool((f >= 0).all())
    ((50, 4), True)
    """
    return _impedance(np.hypot, n_samples, noise, random_state)


def make_friedman3(
    n_samples: int = 240, *, noise: float | None = None, random_state: Any = None
) -> tuple[Array, Array, Array]:
    """Make Friedman's third function: the phase of an impedance, four inputs.

    ``f = arctan((x2 x3 − 1/(x2 x4)) / x1)``, inputs as in :func:`make_friedman2`.

    Parameters
    ----------
    n_samples : int, default=240
        Number of samples.
    noise : float, default=None
        Standard deviation of the noise; None is one third of the standard deviation of the
        drawn ``f_true``, as in Tipping (2001).
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the inputs and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 4)
        The inputs, each in its own range.
    y : ndarray of shape (n_samples,)
        Noisy targets.
    f_true : ndarray of shape (n_samples,)
        The function without noise.

    See Also
    --------
    make_friedman1 : The first function.
    make_friedman2 : The modulus of the same impedance.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.datasets import make_friedman3
    >>> X, y, f = make_friedman3(50, random_state=0)
    >>> X.shape, bool((np.abs(f) <= np.pi / 2).all())
    ((50, 4), True)
    """
    # x1 ≥ 0, so arctan2 is the same angle and needs no division.
    return _impedance(np.arctan2, n_samples, noise, random_state)


def _impedance(
    function: Callable[[Array, Array], Array],
    n_samples: int,
    noise: float | None,
    random_state: Any,
) -> tuple[Array, Array, Array]:
    rng, n_samples, given = _drawn(random_state, n_samples, 0.0 if noise is None else noise)
    low, high = np.array([[0, 40 * np.pi, 0, 1], [100, 560 * np.pi, 1, 11]])
    X = rng.uniform(low, high, (n_samples, 4))
    # T01 (63), (64) print 1/x2x4; it is 1/(ω C) of a circuit.
    f = function(X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]), X[:, 0])
    return X, f + (f.std() / 3 if noise is None else given) * rng.standard_normal(n_samples), f


def make_mackey_glass(
    n_samples: int = 1000,
    *,
    tau: float = 17.0,
    a: float = 0.2,
    b: float = 0.1,
    power: float = 10,
    initial: float = 1.2,
    burn_in: float = 500,
    step: float = 0.02,
    noise: float = 0.0,
    random_state: Any = None,
) -> Array:
    """Make a Mackey-Glass series, sampled at period 1.

    It solves ``z' = −b z + a z(t−τ) / (1 + z(t−τ)^power)``.

    Parameters
    ----------
    n_samples : int, default=1000
        Length of the series.
    tau : float, default=17
        Delay; chaotic above about 16.8 with the other defaults.
    a, b, power : float, default=0.2, 0.1, 10
        Constants of the equation.
    initial : float, default=1.2
        Constant value of the series before time 0.
    burn_in : float, default=500
        Time that is integrated and thrown away.
    step : float, default=0.02
        Longest step of the fourth-order Runge-Kutta integration.
    noise : float, default=0
        Standard deviation of Gaussian noise added to the samples.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the noise; the series itself is deterministic.

    Returns
    -------
    ndarray of shape (n_samples,)
        The series.

    See Also
    --------
    lagged : Inputs and targets made of a series.
    sparsebayes.Forecaster : Forecasts of a series.

    Notes
    -----
    With the default step the first 1500 periods are exact to 1e-8. The series is chaotic:
    trajectories of two step lengths part some thousand periods later, while the attractor is the
    same, and so is the error made within a hundred periods, below 1e-11.

    Examples
    --------
    >>> from sparsebayes.datasets import make_mackey_glass
    >>> make_mackey_glass(4).round(3)
    array([1.063, 1.011, 0.961, 0.914])
    """
    rng, n_samples, noise = _drawn(random_state, n_samples, noise)
    tau, step = positive_number("tau", tau), positive_number("step", step)
    a, b = (finite_number(name, value, -_FAST, _FAST) for name, value in (("a", a), ("b", b)))
    power = finite_number("power", power, -_FAST, _FAST)
    initial = finite_number("initial", initial, -_FAST, _FAST)
    burn_in = finite_number("burn_in", burn_in, 0.0)
    n_steps = (burn_in + n_samples + 2.0 * tau) / min(step, tau)
    if n_steps > _MOST_STEPS:
        raise ValueError(
            f"n_samples={n_samples}, burn_in={burn_in:g} and tau={tau:g} take {n_steps:.3g} steps "
            f"of step={step:g}, more than {_MOST_STEPS:.0e}; use a longer step or a shorter series."
        )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # refused below
        m = max(2, int(np.ceil(tau / step - 1e-9)))
        h, u = tau / m, -b * tau / m
        times = burn_in + np.arange(n_samples)
        # With a delay, the forcing term of one interval of length tau is known when it begins, and
        # a Runge-Kutta step of z' = −b z + g is a first-order recurrence in z.
        c0, cm = h / 6 * (1 + u + u**2 / 2 + u**3 / 4), h / 6 * (4 + 2 * u + u**2 / 2)
        growth = 1 + u + u**2 / 2 + u**3 / 6 + u**4 / 24
        z, dz = np.full(m + 1, float(initial)), np.zeros(m + 1)
        pieces, slopes = [], []
        for _ in range(int(times.max(initial=0.0) / tau) + 2):
            middle = (z[:-1] + z[1:]) / 2 + h / 8 * (dz[:-1] - dz[1:])  # cubic Hermite
            g, gm = (a * v / (1 + v**power) for v in (z, middle))
            forcing = c0 * g[:-1] + cm * gm + h / 6 * g[1:]
            new, _ = lfilter([1.0], [1.0, -growth], forcing, zi=[growth * z[-1]])
            z = np.concatenate([z[-1:], new])
            dz = -b * z + g
            pieces.append(z[:-1])
            slopes.append(dz[:-1])
        z, dz = np.concatenate(pieces), np.concatenate(slopes)
        i = np.minimum((times / h).astype(int), len(z) - 2)
        s = times / h - i
        series = (1 + 2 * s) * (1 - s) ** 2 * z[i] + s**2 * (3 - 2 * s) * z[i + 1]
        series += h * s * (1 - s) * ((1 - s) * dz[i] - s * dz[i + 1])
    if not np.isfinite(series).all():
        raise ValueError(
            f"With a={a:g}, b={b:g}, power={power:g}, initial={initial:g}, tau={tau:g} and "
            f"step={step:g} the series leaves the range of numbers; use values nearer to the "
            "defaults, or a shorter step."
        )
    return series + noise * rng.standard_normal(n_samples)


def lagged(series: Any, lags: int = 16, step: int = 6, horizon: int = 6) -> tuple[Array, Array]:
    """Make inputs and targets to predict a series from its own past.

    `sparsebayes.Forecaster` does this by itself; this is for regressions of your own.

    Parameters
    ----------
    series : array-like of shape (n,)
        The series z.
    lags : int, default=16
        Number of past values in an input.
    step : int, default=6
        Distance between two of them.
    horizon : int, default=6
        Distance of the target from the latest of them.

    Returns
    -------
    X : ndarray of shape (n - horizon - (lags - 1) * step, lags)
        Rows ``[z(k − horizon), z(k − horizon − step), …]``.
    y : ndarray of shape (n - horizon - (lags - 1) * step,)
        The values ``z(k)``.

    See Also
    --------
    make_mackey_glass : A series to try it on.

    Examples
    --------
    >>> from sparsebayes.datasets import lagged
    >>> X, y = lagged(range(6), lags=2, step=1, horizon=2)
    >>> X.tolist(), y.tolist()
    ([[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]], [3.0, 4.0, 5.0])
    """
    z = finite_array("series", series)
    lags, step = whole_number("lags", lags), whole_number("step", step)
    oldest = whole_number("horizon", horizon) + step * (lags - 1)
    if len(z) <= oldest:
        raise ValueError(
            f"series has {len(z)} values, but the oldest input lies {oldest} before the target, "
            f"with lags={lags}, step={step}, horizon={horizon}; give a longer series or fewer lags."
        )
    delays = horizon + step * np.arange(lags)
    k = np.arange(delays[-1], len(z))
    return z[k[:, None] - delays], z[k]


def make_sensor(
    n_samples: int = 150, *, noise: float = 1.5, random_state: Any = None
) -> tuple[Array, Array, Array]:
    """Simulate a gas sensor while its heater is ramped from 100 to 500 °C.

    A rising baseline (the film's conductance) carries desorption peaks of different widths, each
    steeper on its hot side.

    Parameters
    ----------
    n_samples : int, default=150
        Number of readings.
    noise : float, default=1.5
        Standard deviation of the reading error, in mV.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the temperatures and the errors.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Heater temperature in °C, ascending.
    y : ndarray of shape (n_samples,)
        Sensor response in mV.
    f_true : ndarray of shape (n_samples,)
        The response without reading error.

    See Also
    --------
    load_sensor : One such set of readings, stored.
    make_gases : Readings of three gases.

    Examples
    --------
    >>> from sparsebayes.datasets import make_sensor
    >>> X, y, f = make_sensor(5, noise=0.0, random_state=0)
    >>> X[:, 0], bool((y == f).all())
    (array([106.6, 116.4, 207.9, 354.8, 425.3]), True)
    """
    rng, n_samples, noise = _drawn(random_state, n_samples, noise)
    t = np.sort(rng.uniform(100, 500, n_samples)).round(1)
    f = 20 + 35 / (1 + np.exp(-(t - 330) / 45))
    for height, centre, cold, hot in ((24, 168, 24, 16), (38, 262, 34, 22), (20, 401, 30, 20)):
        f += height * np.exp(-0.5 * ((t - centre) / np.where(t < centre, cold, hot)) ** 2)
    return t[:, None], f + noise * rng.standard_normal(n_samples), f


def make_gases(
    n_samples: int = 240, *, noise: float = 3.0, random_state: Any = None
) -> tuple[Array, Array]:
    """Simulate readings of two sensor films exposed to one of three gases.

    Each film answers to the concentration by a power law of its own for each gas, so that the gases
    lie on curved rays, which meet where the concentration is low.

    Parameters
    ----------
    n_samples : int, default=240
        Number of readings.
    noise : float, default=3
        Standard deviation of the reading error, in mV.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the gases, the concentrations and the errors.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Responses of the films in mV.
    y : ndarray of str of shape (n_samples,)
        "ammonia", "ethanol" or "methane".

    See Also
    --------
    load_gases : One such set of readings, stored.
    make_sensor : A regression.

    Examples
    --------
    >>> from sparsebayes.datasets import make_gases
    >>> X, y = make_gases(4, random_state=0)
    >>> X.shape, y.tolist()
    ((4, 2), ['methane', 'ethanol', 'ethanol', 'ammonia'])
    """
    rng, n_samples, noise = _drawn(random_state, n_samples, noise)
    gases = np.array(["ammonia", "ethanol", "methane"])
    height = np.array([[28.0, 62.0], [58.0, 50.0], [66.0, 16.0]])  # (gas, film)
    power = np.array([[0.7, 0.9], [0.5, 1.1], [0.9, 0.4]])
    kind = rng.integers(len(gases), size=n_samples)
    concentration = rng.uniform(0.08, 1.0, (n_samples, 1))
    X = height[kind] * concentration ** power[kind]
    return X + noise * rng.standard_normal((n_samples, 2)), gases[kind]
