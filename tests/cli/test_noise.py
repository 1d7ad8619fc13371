"""``sparsebayes fit --noise``: noise with outliers, noise that varies, and what is said of it."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.model_selection import KFold

from sparsebayes import RVR, Gamma, persistence
from sparsebayes._rvm.options import NOISES
from sparsebayes.basis import RBF
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

N = 120
X = np.linspace(-10, 10, N)
F = np.sinc(X / np.pi)
RNG = np.random.default_rng(0)
OUTLIERS = F + 0.05 * RNG.standard_t(2, N)
VARYING = F + np.exp(0.2 * X - 3.0) * RNG.normal(size=N)
NORMAL = F + 0.1 * RNG.normal(size=N)
FAST = ["--length-scale", "3", "--folds", "0", "-o", "m.skops"]


def fit(capsys, noise, y, *more):
    """The report of a fit to one target, or to several by name."""
    write_csv("d.csv", {"x": X} | (y if isinstance(y, dict) else {"y": y}))
    target = ",".join(y) if isinstance(y, dict) else "y"
    argv = ["fit", "d.csv", "--target", target, "--features", "x", "--noise", noise]
    assert main([*argv, *(more or FAST)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def line(out, name):
    (found,) = re.findall(rf"^{name}  +(.*)$", out, re.MULTILINE)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("word", [*NOISES, "0.04"])
def test_every_word_reaches_the_estimator(folder, capsys, word):
    out = fit(capsys, word, NORMAL)
    expected = {"0.04": 0.04}.get(word, word)
    assert persistence.load("m.skops").noise == expected
    settings = {
        "estimate": "noise estimated",
        "student": "noise with outliers",
        "varying": "noise that varies with the inputs",
        "0.04": "noise variance 0.04",
    }
    assert line(out, "solver").endswith(f"prior flat, {settings[word]}")


def test_outliers_are_told_with_their_degrees_of_freedom(folder, capsys):
    out = fit(capsys, "student", OUTLIERS)
    model = persistence.load("m.skops")
    assert 1 < model.nu_ < 10
    assert line(out, "outliers").startswith(f"Student's t with nu = {model.nu_:.3g}; 68 %")
    assert line(out, "noise std") == f"{np.sqrt(model.noise_variance_):.4g}"
    assert main(["inspect", "m.skops"]) == 0
    assert f"nu = {model.nu_:.3g};" in line(capsys.readouterr().out, "outliers")


def test_no_outliers_are_told_too(folder, capsys):
    out = fit(capsys, "student", NORMAL)
    assert persistence.load("m.skops").nu_ == np.inf
    assert line(out, "outliers") == "none: nu = inf, the noise is normal"


@pytest.mark.slow
def test_intervals_of_outliers_have_their_tails(folder, capsys):
    fit(capsys, "student", OUTLIERS)
    assert main(["predict", "m.skops", "d.csv", "-o", "p.csv", "--coverage", "0.9"]) == 0
    cells = {name: np.array(cell, dtype=float) for name, cell in read_csv("p.csv").items()}
    model = persistence.load("m.skops")
    lower, upper = model.predict_interval(X[:, None], 0.9)
    assert_allclose([cells["lower"], cells["upper"]], [lower, upper])
    # The function is known far better than an observation: nearly Student's t alone.
    unit = cells["std"] / student.ppf(norm.cdf(1.0), model.nu_)  # 68 % are within the std
    half = student.ppf(0.95, model.nu_) * unit
    assert_allclose(upper - lower, 2.0 * half, rtol=0.03)
    assert np.all(upper - lower > 2.1 * norm.ppf(0.95) * cells["std"])
    assert np.all(upper - lower < 2.0 * half)


@pytest.mark.slow
def test_cross_validation_asks_the_same_intervals(folder, capsys):
    out = fit(capsys, "student", OUTLIERS, "--length-scale", "3", "--folds", "4", "-o", "m.skops")
    model, inside = persistence.load("m.skops"), np.empty((2, N))
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        mean, std = model.fit(X[train, None], OUTLIERS[train]).predict(X[test, None], True)
        lower, upper = model.predict_interval(X[test, None])
        inside[0, test] = (lower <= OUTLIERS[test]) & (OUTLIERS[test] <= upper)
        inside[1, test] = np.abs(OUTLIERS[test] - mean) <= 1.96 * std
    right, narrow = 100 * inside.mean(axis=1)
    assert line(out, "4-fold CV").endswith(f"95 % intervals cover {right:.1f} %")
    assert narrow < right - 2.0  # with the quantiles of a normal distribution


@pytest.mark.slow
def test_noise_that_varies_is_told_with_its_range(folder, capsys):
    out = fit(capsys, "varying", VARYING)
    model = persistence.load("m.skops")
    total = model.predict(X[:, None], return_std=True)[1]
    function = model.predict(X[:, None], return_std=True, include_noise=False)[1]
    noise = np.sqrt(total**2 - function**2) / model.calibration_
    low, high = map(float, re.search(r"(\S+) to (\S+)$", line(out, "noise std")).groups())
    assert line(out, "noise std").startswith("varies with the inputs: ")
    assert_allclose([low, high], [noise.min(), noise.max()], rtol=1e-3)
    assert high > 10 * low
    assert main(["inspect", "m.skops"]) == 0
    inspected = line(capsys.readouterr().out, "noise std")
    found = re.fullmatch(r"varies .*: (\S+) to (\S+) at the relevance vectors", inspected)
    assert low <= float(found[1]) < float(found[2]) <= high


@pytest.mark.slow
def test_noise_that_does_not_vary_is_told_too(folder, capsys):
    out = fit(capsys, "varying", NORMAL)
    std = np.sqrt(persistence.load("m.skops").noise_variance_)
    found = re.fullmatch(r"(\S+), not found to vary with the inputs", line(out, "noise std"))
    assert_allclose(float(found[1]), std, rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["student", "varying"])
def test_several_targets_have_their_noise(folder, capsys, noise):
    y = {"a": OUTLIERS, "b": 100 * VARYING}
    out = fit(capsys, noise, y, *FAST, "--figures", "f")
    first, second = re.search(r"^noise std  +a: (.*)\n +b: (.*)$", out, re.MULTILINE).groups()
    if noise == "varying":
        spans = [re.fullmatch(r"varies .*: (\S+) to (\S+)", text) for text in (first, second)]
        levels = [float(span[1]) for span in spans]
    else:
        assert "nu = " in line(out, "outliers")
        levels = float(first), float(second)
    assert levels[1] > 20 * levels[0]


@pytest.mark.slow
def test_several_inputs_are_standardised_for_the_noise_too(folder, capsys):
    u = np.random.default_rng(1).normal(size=N)
    write_csv("d.csv", {"x": 1000 * X, "u": u, "y": VARYING})
    argv = ["fit", "d.csv", "--target", "y", "--noise", "varying", "--folds", "0", "-o", "m.skops"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    low, high = map(float, re.search(r"(\S+) to (\S+)$", line(out, "noise std")).groups())
    assert high > 3 * low
    assert main(["inspect", "m.skops"]) == 0
    assert "at the relevance vectors" in line(capsys.readouterr().out, "noise std")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("noise", "settings"),
    [
        (Gamma(2.0, 0.5), r"noise estimated, prior Gamma\(a=2.0, b=0.5\)"),
        ([0.04, 100.0], "noise variances 0.04, 100"),
        (np.float64(0.04), "noise variance 0.04"),
    ],
)
def test_inspect_knows_noise_that_only_the_library_takes(folder, capsys, noise, settings):
    model = RVR(RBF(3.0), noise=noise).fit(X[:, None], np.column_stack([NORMAL, 100 * NORMAL]))
    persistence.save(model, "m.skops")
    assert main(["inspect", "m.skops"]) == 0
    assert re.search(f"prior flat, {settings}$", line(capsys.readouterr().out, "solver"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--noise", "low"], "'estimate', 'student', 'varying' or a positive number, got 'low'"),
        (["--noise", "-1"], "--noise: must be a positive number, got -1"),
        (["--task", "classification", "--noise", "student"], "--noise is for regression, but the"),
        (["--task", "classification", "--noise", "varying"], "--noise is for regression, but the"),
    ],
)
def test_refusals(folder, capsys, argv, message):
    fails(capsys, ["fit", *argv], message)
