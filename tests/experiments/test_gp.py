"""The experiments with Gaussian processes, on small data."""

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.quinonero2004 import reduced_rank, stereo
from sparsebayes import ReducedRankGPR
from tests.experiments.records import table


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
    assert all(np.isfinite(float(row[2])) for row in rows.values())
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


def test_stereo_on_few_cases(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(stereo, "N_TRAIN", 30)
    monkeypatch.setattr(stereo, "N_ALL", 160)
    monkeypatch.setattr(stereo, "DEGREES", (2,))
    name = "quinonero2004.stereo"
    assert main([name, "--quick", "--repetitions", "1", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    assert set(stereo.PAPER) <= set(rows)
    assert all(float(row[2]) > 0 for row in rows.values())
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_triangulation_undoes_projection():
    points = np.random.default_rng(0).uniform([-150, -150, 800], [150, 150, 1200], (20, 3))
    np.testing.assert_allclose(stereo.triangulate(stereo.project(points)), points, atol=1e-6)
