"""Generators against their formulas, loaders against what they promise."""

import urllib.error
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from sparsebayes import datasets
from sparsebayes.datasets import loaders

GENERATORS = [
    datasets.make_sinc,
    datasets.make_friedman1,
    datasets.make_friedman2,
    datasets.make_friedman3,
    datasets.make_sensor,
]


@pytest.mark.parametrize("make", GENERATORS)
def test_seed_fixes_everything(make):
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        assert_array_equal(a, b)
    assert np.any(first[1] != other[1])


@pytest.mark.parametrize("make", GENERATORS)
def test_shapes_and_zero_noise(make):
    X, y, f = make(50, noise=0.0, random_state=0)
    assert X.ndim == 2 and len(X) == 50
    assert y.shape == f.shape == (50,)
    assert_array_equal(y, f)


def test_generator_is_advanced_not_reset():
    rng = np.random.default_rng(0)
    _, y, _ = datasets.make_sinc(random_state=rng)
    _, z, _ = datasets.make_sinc(random_state=rng)
    assert np.any(y != z)


def test_sinc_values_and_noise_kinds():
    X, y, f = datasets.make_sinc(20001, noise=0.1, noise_kind="uniform", random_state=0)
    assert X[0, 0] == -10 and X[-1, 0] == 10
    assert f[10000] == 1.0  # sin(0)/0
    assert_allclose(f[5000], np.sin(5) / 5)
    assert np.abs(y - f).max() <= 0.1
    assert_allclose((y - f).std(), 0.1 / np.sqrt(3), rtol=0.02)
    _, y, f = datasets.make_sinc(20001, noise=0.1, random_state=0)
    assert_allclose((y - f).std(), 0.1, rtol=0.02)
    with pytest.raises(
        ValueError, match=r"noise_kind must be one of \['gaussian', 'uniform'\], got 'cauchy'"
    ):
        datasets.make_sinc(noise_kind="cauchy")


def test_friedman1_uses_five_of_ten_inputs():
    X, y, f = datasets.make_friedman1(20000, random_state=0)
    assert X.shape[1] == 10 and X.min() >= 0 and X.max() <= 1
    x = X[7]
    by_hand = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    assert_allclose(f[7], by_hand)
    assert_allclose((y - f).std(), 1.0, rtol=0.02)


@pytest.mark.parametrize("make", [datasets.make_friedman2, datasets.make_friedman3])
def test_impedance_inputs_and_noise(make):
    X, y, f = make(20000, random_state=0)
    low, high = [0, 40 * np.pi, 0, 1], [100, 560 * np.pi, 1, 11]
    assert (X - low).min() >= 0 and (X - high).max() <= 0
    assert np.all(np.ptp(X, axis=0) > 0.99 * np.subtract(high, low))
    assert_allclose((y - f).std() / f.std(), 1 / 3, rtol=0.02)


def test_impedance_formulas():
    X, _, modulus = datasets.make_friedman2(5, random_state=1)
    _, _, phase = datasets.make_friedman3(5, random_state=1)
    reactance = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    assert_allclose(modulus, np.sqrt(X[:, 0] ** 2 + reactance**2))
    assert_allclose(phase, np.arctan(reactance / X[:, 0]))


def _mackey_glass_step_by_step(n, h=0.1, tau=17, a=0.2, b=0.1):
    """Textbook Runge-Kutta with cubic interpolation of the past, one step at a time."""
    m = round(tau / h)
    z, dz = [1.2] * (m + 1), [0.0] * (m + 1)

    def force(v):
        return a * v / (1 + v**10)

    for k in range(round((n - 1) / h)):
        left, right, x = z[-m - 1], z[-m], z[-1]
        slope = h / 8 * (dz[-m - 1] - dz[-m]) if k >= m else 0.0
        middle = force((left + right) / 2 + slope)
        k1 = -b * x + force(left)
        k2 = -b * (x + h / 2 * k1) + middle
        k3 = -b * (x + h / 2 * k2) + middle
        k4 = -b * (x + h * k3) + force(right)
        if k == 0:
            dz[-1] = k1
        z.append(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        dz.append(-b * z[-1] + force(right))
    return np.array(z[m :: round(1 / h)])


def test_mackey_glass_agrees_with_a_plain_integrator():
    ours = datasets.make_mackey_glass(120, burn_in=0, step=0.1)
    assert ours[0] == 1.2
    assert_allclose(ours, _mackey_glass_step_by_step(120), atol=1e-12)


@pytest.mark.parametrize("tau", [17.0, 17.3])
def test_mackey_glass_is_of_fourth_order(tau):
    coarse, middle, fine = (
        datasets.make_mackey_glass(200, tau=tau, burn_in=0, step=s) for s in (0.4, 0.2, 0.1)
    )
    ratio = np.abs(coarse - middle).max() / np.abs(middle - fine).max()
    assert 11 < ratio < 23  # halving the step divides the error by 16
    assert np.abs(middle - fine).max() < 1e-6


def test_mackey_glass_is_exact_to_eight_digits():
    ours = datasets.make_mackey_glass(1500, burn_in=0)
    finer = datasets.make_mackey_glass(1500, burn_in=0, step=0.005)
    assert np.abs(ours - finer).max() < 1e-8
    assert np.abs(ours - finer)[:100].max() < 1e-11

    # another method: eighth order, the delayed term from the last interval's dense output
    past, z, start = (lambda t: [1.2]), 1.2, 0
    for _ in range(7):
        piece = solve_ivp(
            lambda t, z, past=past: -0.1 * z + 0.2 * past(t - 17)[0] / (1 + past(t - 17)[0] ** 10),
            (start, start + 17),
            [z],
            method="DOP853",
            dense_output=True,
            rtol=1e-12,
            atol=1e-13,
        )
        inside = np.arange(start, start + 18)
        assert np.abs(piece.sol(inside)[0] - ours[inside]).max() < 1e-9
        past, z, start = piece.sol, piece.y[0, -1], start + 17


def test_a_series_that_divides_by_zero_is_refused():
    with pytest.raises(ValueError, match=r"initial=-1, .* leaves the range of numbers"):
        datasets.make_mackey_glass(5, initial=-1, power=3)


def test_mackey_glass_attractor_and_noise():
    z = datasets.make_mackey_glass(5000)
    assert 0.2 < z.min() < 0.5 and 1.2 < z.max() < 1.4
    assert 0.2 < z.std() < 0.25
    noisy = datasets.make_mackey_glass(5000, noise=0.03, random_state=0)
    assert_allclose((noisy - z).std(), 0.03, rtol=0.05)
    with pytest.raises(ValueError, match="tau must be a positive number, got 0"):
        datasets.make_mackey_glass(10, tau=0)


def test_lagged_rows():
    X, y = datasets.lagged(np.arange(200.0))
    assert X.shape == (200 - 96, 16)
    assert_array_equal(y, np.arange(96.0, 200.0))
    assert_array_equal(X[0], 96 - np.arange(6.0, 97.0, 6.0))
    assert_array_equal(X - y[:, None], np.tile(X[0] - y[0], (len(y), 1)))
    X, y = datasets.lagged(np.arange(4.0), lags=2, step=1, horizon=2)
    assert_array_equal(X, [[1.0, 0.0]])
    assert_array_equal(y, [3.0])


def test_lagged_refuses():
    with pytest.raises(ValueError, match="series has 96 values, but the oldest input lies 96"):
        datasets.lagged(np.zeros(96))
    with pytest.raises(ValueError, match="one dimension"):
        datasets.lagged(np.zeros((9, 2)))
    with pytest.raises(ValueError, match="must be a whole number >= 1, got 0"):
        datasets.lagged(np.zeros(9), lags=0)


def test_sensor_file_is_what_its_generator_makes():
    sensor = datasets.load_sensor()
    X, y, f = datasets.make_sensor(random_state=2001)
    assert sensor.feature_names == ["temperature"] and sensor.target_names == ["response"]
    assert_allclose(sensor.data, X, atol=0.05)
    assert_allclose(sensor.target, y, atol=0.0051)
    assert np.corrcoef(f, y)[0, 1] > 0.99


def test_gases_file_is_what_its_generator_makes():
    gases = datasets.load_gases()
    X, y = datasets.make_gases(random_state=2001)
    assert gases.feature_names == ["film_a", "film_b"]
    assert_allclose(gases.data, X, atol=0.0051)
    assert_array_equal(gases.target, y)
    assert gases.target_names == sorted(set(y.tolist()))


def test_gases_lie_on_curves():
    X, y = datasets.make_gases(600, noise=0.0, random_state=0)
    laws = {
        "ammonia": (28, 0.7, 62, 0.9),
        "ethanol": (58, 0.5, 50, 1.1),
        "methane": (66, 0.9, 16, 0.4),
    }
    for gas, (a, p, b, q) in laws.items():
        first, second = X[y == gas].T
        assert_allclose(second, b * (first / a) ** (q / p))
        assert 150 < len(first) < 250
    noisy, again = datasets.make_gases(600, noise=2.0, random_state=0)
    assert_array_equal(again, y)
    assert_allclose((noisy - X).std(axis=0), 2.0, rtol=0.1)


def test_benchmark_from_directory(tmp_path, monkeypatch):
    np.savez(tmp_path / "toy_set.npz", X=np.eye(3), y=np.arange(3))
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    arrays = datasets.load_benchmark("toy_set")
    assert_array_equal(arrays["X"], np.eye(3))
    assert_array_equal(arrays["y"], np.arange(3))
    with pytest.raises(FileNotFoundError, match=r"no file kin40k.npz in .*set SPARSEBAYES_DATA"):
        datasets.load_benchmark("kin40k")
    with pytest.raises(ValueError, match="name must be letters"):
        datasets.load_benchmark("../toy_set")


def test_benchmark_beside_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    np.savez(tmp_path / "shared" / "data" / "toy_set.npz", y=np.arange(3))
    monkeypatch.delenv("SPARSEBAYES_DATA", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    assert_array_equal(datasets.load_benchmark("toy_set")["y"], np.arange(3))


def test_benchmark_beside_the_checkout(tmp_path, monkeypatch):
    assert Path(loaders.__file__).parent == (loaders._CHECKOUT / "sparsebayes" / "datasets")
    (tmp_path / "shared" / "data").mkdir(parents=True)
    np.savez(tmp_path / "shared" / "data" / "toy_set.npz", y=np.arange(3))
    monkeypatch.delenv("SPARSEBAYES_DATA", raising=False)
    monkeypatch.setattr(loaders, "_CHECKOUT", tmp_path / "checkout")
    assert_array_equal(datasets.load_benchmark("toy_set")["y"], np.arange(3))


def test_benchmark_from_openml_decodes_categories(tmp_path, monkeypatch):
    def fetch(**kwargs):
        assert kwargs["name"] == "boston" and kwargs["version"] == 1
        return SimpleNamespace(
            data=np.array([[0.5, 2.0], [0.7, 0.0]]),
            target=np.array(["24.0", "21.6"]),
            feature_names=["CRIM", "RAD"],
            categories={"RAD": ["1", "2", "24"]},
        )

    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    arrays = datasets.load_benchmark("boston")
    assert_array_equal(arrays["X"], [[0.5, 24.0], [0.7, 1.0]])
    assert_array_equal(arrays["y"], [24.0, 21.6])


def test_benchmark_without_network(tmp_path, monkeypatch):
    def fetch(**kwargs):
        raise urllib.error.URLError("no network")

    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    with pytest.raises(FileNotFoundError, match=r"set SPARSEBAYES_DATA.*no network"):
        datasets.load_benchmark("boston")
