"""The display of a front: what it draws is what the front says."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba_array
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from experiments._report import Options
from experiments.pareto import choices
from experiments.schmolck2008 import gauss_snake, pareto
from sparsebayes import RVC, ParetoClassifier
from sparsebayes.pareto import hull_area, roc_hull
from sparsebayes.plots import ParetoDisplay

pytest.importorskip("pymoo")

X, Y = make_moons(120, noise=0.35, random_state=0)
X_NEW, Y_NEW = make_moons(200, noise=0.35, random_state=1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return ParetoClassifier(n_evaluations=1000, random_state=0).fit(X, Y)


def points(collection):
    return np.asarray(collection.get_offsets())


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_training_and_held_out_rates(model):
    display = ParetoDisplay.from_estimator(model)
    front = model.front_
    assert_array_equal(points(display.train_), np.column_stack([front.fpr, front.tpr]))
    held_out = np.column_stack([front.held_out_fpr, front.held_out_tpr])
    assert_array_equal(points(display.other_), held_out)
    assert_array_equal(display.hulls_[1].get_xydata(), roc_hull(*held_out.T))
    areas = [hull_area(front.fpr, front.tpr), hull_area(*held_out.T)]
    assert labels(display) == [f"training: area {areas[0]:.3f}", f"held-out: area {areas[1]:.3f}"]
    assert display.chosen_ is None and display.figure_ is display.ax_.figure
    keys = display.ax_.get_legend().legend_handles  # as the points: rings and dots
    assert [key.get_marker() for key in keys] == ["o", "o"]
    assert [key.get_markerfacecolor() == "none" for key in keys] == [True, False]


def test_new_samples_and_a_chosen_point(model):
    _, ax = plt.subplots()
    wishes = {"max_kernels": 3, "max_fpr": 0.3}
    display = ParetoDisplay.from_estimator(model, X_NEW, Y_NEW, ax=ax, chosen=wishes, name="test")
    new, index = model.evaluate(X_NEW, Y_NEW), model.choose(**wishes)
    assert display.ax_ is ax
    assert_array_equal(points(display.other_), np.column_stack([new.fpr, new.tpr]))
    assert_allclose(display.chosen_.get_xydata(), [[new.fpr[index], new.tpr[index]]])
    assert labels(display)[1].startswith("test: area")
    kernels = model.front_.n_kernels[index]
    assert labels(display)[2] == f"chosen: {kernels} kernel{'' if kernels == 1 else 's'}"


def test_colours_tell_the_kernels_and_the_bar_counts_them(model):
    display = ParetoDisplay.from_estimator(model)
    kernels = model.front_.n_kernels
    colors = to_rgba_array(display.other_.get_facecolors())
    assert_array_equal(colors, to_rgba_array(display.train_.get_edgecolors()))
    by_number = {k: {tuple(c) for c in colors[kernels == k]} for k in np.unique(kernels)}
    assert all(len(c) == 1 for c in by_number.values())
    assert len({c.copy().pop() for c in by_number.values()}) == len(by_number)
    assert_array_equal(display.colorbar_.get_ticks(), np.arange(kernels.max() + 1))
    bare = ParetoDisplay.from_estimator(model, colorbar=False)
    assert bare.colorbar_ is None


def test_many_kernels_have_a_continuous_scale():
    rates = np.linspace(0, 1, 31)
    display = ParetoDisplay(fpr=rates, tpr=rates**0.5, n_kernels=np.arange(31)).plot()
    assert display.other_ is None and len(display.hulls_) == 1
    assert display.colorbar_.vmax == 30


def test_without_held_out_samples_there_are_none():
    model = ParetoClassifier(n_evaluations=300, validation_fraction=None, random_state=0).fit(X, Y)
    display = ParetoDisplay.from_estimator(model, chosen=0)
    assert display.other_ is None
    assert_array_equal(display.chosen_.get_xydata(), [[0, 0]])


def test_errors(model):
    with pytest.raises(ValueError, match="needs a ParetoClassifier, got RVC"):
        ParetoDisplay.from_estimator(RVC())
    with pytest.raises(NotFittedError):
        ParetoDisplay.from_estimator(ParetoClassifier())
    with pytest.raises(ValueError, match="y is missing"):
        ParetoDisplay.from_estimator(model, X_NEW)
    with pytest.raises(ValueError, match=r"chosen must be below .*, got 10000"):
        ParetoDisplay.from_estimator(model, chosen=10_000)


@pytest.mark.slow
def test_experiment_on_small_data(tmp_path, monkeypatch):
    parts = {"X_train": X, "y_train": Y, "X_test": X_NEW, "y_test": Y_NEW}
    np.savez(tmp_path / "ripley_synth.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(pareto, "N_QUICK", 200)
    report = pareto.run(Options(quick=True, repetitions=1))
    rows = {value.name: value.ours for value in report.values if value.paper is None}
    assert len(rows) == 3 + 3 * len(pareto.ROWS)
    few = rows[f"L0+, {pareto.ROWS['few']}"]
    assert rows[f"L0+, {pareto.ROWS['oracle']}"] <= few <= 40
    assert rows[f"Lasso, {pareto.ROWS['train_error']}"] < 25
    claims = [value for value in report.values if value.paper is not None]
    assert len(claims) == 5 and all(value.verdict in ("agrees", "short") for value in claims)
    assert not any("smoothness" in value.name for value in claims)
    assert set(report.pictures) == {"fig3", "fig4", "smoothness"}
    assert len(report.save(tmp_path / "r", "pareto", {})) == 4


@pytest.fixture
def five_sets(tmp_path, monkeypatch):
    parts = {"X_train": X, "y_train": Y, "X_test": X_NEW, "y_test": Y_NEW}
    np.savez(tmp_path / "ripley_synth.npz", **parts)
    rows = np.stack([np.random.default_rng(k).permutation(200) for k in range(2)])
    parts = {"X": X_NEW, "y": 2 * Y_NEW - 1, "train_idx": rows[:, :80], "test_idx": rows[:, 80:]}
    for file in list(choices.SETS.values())[1:]:
        np.savez(tmp_path / f"{file}.npz", **parts)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(choices, "N_QUICK", 200)
    return tmp_path


@pytest.mark.slow
def test_choices_experiment_on_small_data(five_sets):
    report = choices.run(Options(quick=True, repetitions=2))
    rows = {row[0]: (float(row[2]), row[4]) for row in (value.cells() for value in report.values)}
    for name in choices.SETS:
        error = {by: rows[f"{name}, chosen by {by}: test error (%)"][0] for by in choices.RATES}
        assert all(0 < value < 50 for value in error.values())
        for by in ("held_out", "train"):
            difference, draws = rows[f"{name}, chosen by {by} less by pooled: test error (%)"]
            assert_allclose(difference, error[by] - error["pooled"], atol=0.02)
            assert draws == "2"
        for kind in ("area under the test hull", "test error (%)"):
            seeded, seedless, difference = (
                rows[f"{name}, seeds={text}: {kind}"]
                for text in ("'rvc'", "None", "None less 'rvc'")
            )
            assert_allclose(difference[0], seedless[0] - seeded[0], atol=0.02)
            assert difference[1] == "2"
    assert len(report.save(five_sets / "r", "choices", {})) == 1


@pytest.mark.parametrize(("name", "size", "total"), [("Ripley", 120, 320), ("Heart", 80, 200)])
def test_draws_of_the_choices_part_all_samples(name, size, total, five_sets):
    first, second = (choices.split(name, draw) for draw in (0, 1))
    assert len(first[0]) == len(first[1]) == size
    samples = {tuple(x) for part in (first[0], first[2]) for x in part}
    assert len(samples) == len(first[1]) + len(first[3]) == total
    assert not np.array_equal(first[0], second[0])


@pytest.mark.slow
def test_snake_experiment_on_small_data(tmp_path, monkeypatch):
    monkeypatch.setattr(gauss_snake, "N_TRAIN", 60)
    monkeypatch.setattr(gauss_snake, "N_TEST", 300)
    report = gauss_snake.run(Options(quick=True, repetitions=1))
    rows = {value.name: value.ours for value in report.values if value.paper is None}
    for prior in ("None", "RIC"):
        assert rows["true probabilities: log loss"] < rows[f"{prior}: log loss"]
        assert 0 < rows[f"{prior}: mean distance from the true probability"] < 0.4
    assert [value.verdict is not None for value in report.values].count(True) == 3
    assert len(report.save(tmp_path, "snake", {})) == 3
