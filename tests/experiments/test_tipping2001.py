"""Parts of T01's regression experiments: the SVMs, and widths by cross-validation."""

import numpy as np
import pytest
from sklearn.svm import SVR

from experiments._report import Options
from experiments.tipping2001 import _regression, regression, ripley, sinc
from sparsebayes.datasets import make_sinc


def test_svm_keeps_noise_free_sinc_inside_its_tube():
    X, y, _ = make_sinc(100, noise=0.0)
    model = sinc.Machine.fit(X, y, SVR(kernel="precomputed", **sinc.EXACT_SVM))
    assert np.abs(model.predict(X) - y).max() < 0.0105
    assert 25 < len(model.vectors) < 45


@pytest.fixture
def short(monkeypatch, tmp_path):
    """Short grids, and few houses with inputs of unlike ranges."""
    for name, some in (
        ("WIDTHS", (1.0, 2.0)),
        ("SVM_WIDTHS", (1.0, 2.0)),
        ("COSTS", (10.0,)),
        ("TUBES", (0.1,)),
    ):
        monkeypatch.setattr(_regression, name, some)
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(80, 2)) * [1.0, 100.0]
    np.savez(tmp_path / "boston.npz", X=X, y=np.sin(X[:, 0]) + 0.3 * rng.normal(size=80))
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))


@pytest.mark.parametrize("machine", ["SVM", pytest.param("RVM", marks=pytest.mark.slow)])
def test_cross_validation_chooses_width_and_scaling(machine, short):
    found = _regression.one("Boston housing", machine, 0, 0)
    assert found.error in found.scaled.values() and set(found.scaled) == set(_regression.SCALERS)
    assert found.width in (1.0, 2.0) and 0 < found.vectors <= 55
    again = _regression.one("Boston housing", machine, 0, 0)
    assert again == found


def test_normalised_mean_is_that_of_the_ratios():
    results = {
        name: {
            "RVM": [_regression.Found(error, vectors, 1.0, {})],
            "SVM": [_regression.Found(2.0, 10.0, 1.0, {})],
        }
        for name, error, vectors in (("Friedman #3", 1.0, 1.0), ("Boston housing", 2.0, 3.0))
    }
    report = regression.Report("")
    regression._add_means(report, results)
    assert [value.ours for value in report.values] == [0.75, 0.2]
    assert [value.paper for value in report.values] == [None, None]  # sets are missing
    assert "Friedman #3 60.98 and 99.01; Boston housing 0.27 and 0.25." in report.notes[0]


def test_papers_normalised_mean_is_that_of_its_rows():
    rows = [task for task in _regression.TASKS if task.name != regression.LEFT_OUT]
    for name, attribute in (("error", "error"), ("vectors", "vectors")):
        ratios = [getattr(task, attribute)[0] / getattr(task, attribute)[1] for task in rows]
        assert round(float(np.mean(ratios)), 2) == regression.PAPER_MEAN[name]


def test_distance_from_a_straight_boundary():
    class Line:
        def decision_function(self, X):
            return X[:, 0] - 0.5

    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    vectors = np.array([[0.5, 0.4], [0.9, 0.2]])
    assert abs(ripley.distance(Line(), vectors, corners) - 0.2) < 0.01


@pytest.mark.slow
def test_regression_table_of_one_draw(short):
    pytest.importorskip("matplotlib")
    report = regression.run(Options(repetitions=1))
    compared = [value for value in report.values if value.verdict]
    assert len(compared) == 5 * 4 + 2
    assert {value.row for value in report.values} == {"T01 Table 4.4.1"}
