"""The experiments on learned length scales and augmentation, their parts and small runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments.__main__ import main
from experiments.quinonero2004 import mackey_glass
from experiments.rasmussen2005 import losses, predictive
from experiments.tipping2001 import _regression, scales
from sparsebayes.datasets import loaders
from tests.experiments import records


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Small sets under the names of the real ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = 20 + 5 * np.sin(X[:, 0]) + rng.normal(size=120)
    np.savez(tmp_path / "boston.npz", X=X, y=y)
    parts = {"X_train": X[:40], "y_train": y[:40], "X_test": X[40:], "y_test": y[40:]}
    np.savez(tmp_path / "kin40k.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(losses, "KIN40K_SIZE", 20)


def test_local_linear_model_reproduces_a_plane():
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(200, 2)), 0.5 * rng.normal(size=(30, 2))

    def plane(X):
        return 3.0 + X @ [1.0, -2.0]

    model = mackey_glass.LocalLinear().fit(X, plane(X))
    assert_allclose(model.predict(X_test), plane(X_test), atol=1e-9)


@pytest.mark.parametrize("scattered", [False, True])
def test_mackey_glass_sets_are_disjoint(scattered):
    parts = [mackey_glass.examples(0, i, 1000, 8500, scattered) for i in (0, 1, 9)]
    train = [{row.tobytes() for row in X} for X, *_ in parts]
    test = {row.tobytes() for row in parts[0][2]}
    assert len(set.union(*train)) == 3000 and len(test) == 8500
    assert not set.union(*train) & test
    assert_array_equal(parts[0][2], parts[1][2])
    targets = np.concatenate([parts[0][1], parts[0][3]])
    assert abs(targets.std() - 1) < 0.03  # the series is standardised
    X, y, X_test, _ = parts[-1]
    in_order = np.isin(y[:-6], X[:, 0]).all()  # a target is an input six steps later
    assert in_order != scattered
    if not scattered:
        assert not np.isin(X_test, y).any()


def test_etas_are_those_of_the_papers_kernel():
    scale = np.array([0.5, 3.0])
    x = np.array([0.3, -1.2])
    expected = np.exp(-0.5 * np.sum((x / scale) ** 2))
    assert_allclose(np.exp(-scales.etas(scale, 2) @ x**2), expected)
    assert_allclose(scales.etas(2.0, 3), np.full(3, 0.125))


def test_vectors_of_the_svm_follow_its_tube(monkeypatch):
    monkeypatch.setattr(scales, "SVM_WIDTHS", (2.0,))
    monkeypatch.setattr(scales, "COSTS", (10.0,))
    (narrow_error, many), (wide_error, few) = (scales.by_tube(e, 0, 0) for e in (0.03, 0.4))
    assert few < 0.5 * many
    assert 0.5 < wide_error / narrow_error < 2


def test_error_bars_of_functions_without_bound_grow():
    X = predictive.INPUTS
    y = np.sin(X[:, 0])
    for name, basis in predictive.BASES.items():
        machine = predictive.Machine.fit(basis, X, y)
        near, away, beyond = (
            machine.predict(at)[1].max() for at in (X, predictive.EDGES, predictive.BEYOND)
        )
        if name == "localised":
            assert beyond == away < near
        else:
            assert near < away < 1.2 * near < beyond


@pytest.mark.parametrize("name", ["Boston", "KIN40K"])
def test_partitions_hold_each_sample_once(name, data):
    parts = [losses.SETS[name](0, i, False) for i in range(10 if name == "Boston" else 3)]
    tested = np.concatenate([y_test for *_, y_test in parts])
    assert len(np.unique(tested)) == len(tested) == (120 if name == "Boston" else 60)
    for X, y, _, y_test in parts:
        assert len(X) == len(y) == (120 - len(y_test) if name == "Boston" else 20)
        assert not set(y) & set(y_test)
    if name == "Boston":
        assert_allclose([tested.mean(), tested.std()], [0, 1], atol=1e-12)


@pytest.mark.slow
def test_losses_on_small_data(data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(losses, "N_FOLDS", 2)
    arguments = ["rasmussen2005.losses", "--repetitions", "2", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    table = records.table(tmp_path / "r", "rasmussen2005.losses")
    for data_set in ("Boston", "KIN40K"):
        assert float(table[f"{data_set}, squared: GP"][2]) > 0
        p = table[f"{data_set}, squared: p of RVM and GP"][2]
        assert 0 <= float(p.split()[0]) <= 1 and p.split()[1] in ("(RVM)", "(GP)")
    assert (tmp_path / "r" / "rasmussen2005.losses.png").read_bytes().startswith(b"\x89PNG")


def test_losses_without_data_are_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(loaders, "_OPENML", {})
    assert main(["rasmussen2005.losses", "--quick", "--results", str(tmp_path / "r")]) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err


@pytest.mark.slow
def test_scales_of_one_draw(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scales, "STARTS", (1.0,))
    monkeypatch.setattr(scales, "SVM", {"C": (10.0,), "epsilon": (0.1,)})
    for name, some in (("WIDTHS", (2.0,)), ("SVM_WIDTHS", (2.0,)), ("COSTS", (10.0,))):
        monkeypatch.setattr(_regression, name, some)
        monkeypatch.setattr(scales, name, some, raising=False)
    arguments = ["--repetitions", "1", "--results", str(tmp_path / "r")]
    assert main(["tipping2001.scales", *arguments]) == 0
    ours = records.numbers(tmp_path / "r", "tipping2001.scales")
    assert ours["RVM: η1 × 10⁴"] > 20 * ours["RVM: η2 × 10⁴"]
    assert abs(ours["RVM: weight of x2"] - 0.1) < 0.01
    assert ours["RVM: RMS error"] < 0.5 * ours["SVM: RMS error"]
    assert ours["η-RVM: MSE"] < 0.8 < ours["RVM: MSE"]
    assert ours["η-RVM: MSE"] < ours["η-RVM, α and η in turns: MSE"] < ours["RVM: MSE"]
    assert len(list((tmp_path / "r").glob("*.png"))) == 2


@pytest.mark.slow
def test_mackey_glass_of_one_set(tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["quinonero2004.mackey_glass", "--quick", "--results", str(tmp_path / "r")]) == 0
    ours = records.numbers(tmp_path / "r", "quinonero2004.mackey_glass")
    few = ours["RVM, ARD, thesis' schedule, stop at 1e-06: relevance vectors"]
    assert few < ours["RVR, ARD: relevance vectors"]
    assert ours["RVR, ARD: test error"] < ours["RVR, isotropic: test error"]
    assert ours["RVR, isotropic: test error"] < 0.01 * ours["linear: test error"]
