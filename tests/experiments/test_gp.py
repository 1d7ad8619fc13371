"""The experiments with Gaussian processes, on small data."""

from dataclasses import replace

import numpy as np
import pytest

from experiments import _cameras
from experiments.__main__ import main
from experiments.quinonero2004 import reduced_rank, stereo
from sparsebayes import ReducedRankGPR
from tests.experiments.records import numbers, table


@pytest.mark.slow
def test_reduced_rank_on_small_data(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2400, 2))
    y = np.sin(2 * X).sum(axis=1) + 0.1 * rng.standard_normal(2400)
    parts = {"X_train": X[:600], "y_train": y[:600], "X_test": X[600:], "y_test": y[600:]}
    np.savez(tmp_path / "kin40k.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(reduced_rank, "SIZES", {True: (60, 15)})
    name = "quinonero2004.reduced_rank"
    assert main([name, "--quick", "--repetitions", "2", "--results", str(tmp_path / "r")]) == 0
    rows = table(tmp_path / "r", name)
    assert {"SGGP: MAE, augmented", "HPEV-SGEV: NTL, non-augmented"} <= set(rows)
    assert np.isfinite(list(numbers(tmp_path / "r", name).values())).all()
    assert rows["HPEV-rand: MSE, augmented"][4] == "2"
    printed = capsys.readouterr().out
    assert "HPEV-SGEV beats SGEV" in printed and "Nyström" in printed
    for end in ("fig1", "fig2"):
        assert (tmp_path / "r" / f"{name}_{end}.png").read_bytes().startswith(b"\x89PNG")


def test_reduced_rank_without_data_is_one_clear_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    assert main(["quinonero2004.reduced_rank", "--quick", "--results", str(tmp_path / "r")]) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err


def test_units_of_the_paper_are_those_of_scaled_targets():
    rng = np.random.default_rng(0)
    mean, y = rng.standard_normal((2, 50))
    std = rng.uniform(0.5, 2.0, 50)
    plain = [0.0, *reduced_rank.losses(mean, std, y), *reduced_rank.losses(mean, std, y)]
    scaled = reduced_rank.losses(*(reduced_rank.UNIT * v for v in (mean, std, y)))
    np.testing.assert_allclose(reduced_rank.in_paper_units(np.array(plain))[4:], scaled)


def test_nystrom_variances_are_exact_with_all_points():
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((30, 2)), rng.standard_normal((5, 2))
    model = ReducedRankGPR(noise=0.1, calibrate=None).fit(X, np.sin(X[:, 0]))
    std = model.predict(points, return_std=True)[1]
    np.testing.assert_allclose(reduced_rank.nystrom_variances(model, points), std**2, rtol=1e-6)


@pytest.mark.slow
def test_stereo_on_few_cases(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(stereo, "N_TRAIN", 30)
    monkeypatch.setattr(stereo, "N_ALL", 160)
    monkeypatch.setattr(stereo, "DEGREES", (2,))
    monkeypatch.setattr(_cameras, "DEGREES", (1,))
    monkeypatch.setattr(stereo, "UNEVEN", ())
    name = "quinonero2004.stereo"
    assert main([name, "--quick", "--repetitions", "1", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    assert set(stereo.PAPER) <= set(rows)
    assert min(numbers(tmp_path, name).values()) > 0
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_errors_of_places_are_those_of_their_cases():
    points = np.column_stack([np.zeros((16, 2)), np.repeat(_cameras.DEPTHS, 2)])
    images = np.column_stack([np.arange(16.0), np.zeros((16, 3))])
    square = np.repeat(np.arange(8.0), 2) ** 2
    np.testing.assert_allclose(stereo.by_depth(square, points), np.arange(8))
    at, errors = stereo.by_ring(square, images)
    np.testing.assert_allclose(at, 0.5 + 2.0 * np.arange(8))
    np.testing.assert_allclose(errors, np.arange(8))


def test_triangulation_undoes_projection():
    points = np.random.default_rng(0).uniform([-150, -150, 800], [150, 150, 1200], (20, 3))
    np.testing.assert_allclose(stereo.triangulate(stereo.project(points)), points, atol=1e-6)


def test_calibration_finds_cameras_that_it_can_describe():
    rng = np.random.default_rng(0)
    train, test = rng.uniform([-150, -150, 800], [150, 150, 1200], (2, 60, 3))
    plain = tuple(replace(camera, distortion=(0.0, 0.0)) for camera in stereo.CAMERAS)
    images = stereo.project(train, plain)
    cameras = [_cameras.calibrate(train, images[:, 2 * i : 2 * i + 2], c, 1)
               for i, c in enumerate(plain)]  # fmt: skip
    found = stereo.triangulate(stereo.project(test, plain), tuple(cameras))
    np.testing.assert_allclose(found, test, atol=1e-3)


def test_degree_of_a_calibration_is_that_of_the_lenses(monkeypatch):
    monkeypatch.setattr(_cameras, "DEGREES", (1, 3))
    monkeypatch.setattr(_cameras, "N_FOLDS", 2)
    points = np.random.default_rng(0).uniform([-150, -150, 800], [150, 150, 1200], (80, 3))
    assert [camera.degree for camera in _cameras.bundle(points, stereo.project(points))] == [3, 3]


def test_difference_without_a_sign_is_not_significant():
    rng = np.random.default_rng(0)
    losses = rng.standard_normal((10, 3))
    assert reduced_rank.significant(losses - 1.0, losses + 1e-3 * losses) == [True] * 3
    assert reduced_rank.significant(losses + 1.0, losses) == [False] * 3
    assert not any(reduced_rank.significant(losses, losses + 1e-9 * rng.standard_normal((10, 3))))


def test_gap_closes_as_the_support_grows():
    draw = reduced_rank.sparsity(0, 0)
    gap = reduced_rank._gap(draw["bounds"])
    assert np.all(np.diff(gap) < 0) and gap[0] > 5 * gap[-1] > 0
    assert draw["loss"].argmin() < 0.5 * len(draw["loss"])
