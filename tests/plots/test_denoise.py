"""The display of a denoised signal: what it draws is what was found."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from sparsebayes import denoise
from sparsebayes.datasets import make_signal
from sparsebayes.plots import DenoiseDisplay

KINDS = ["signal", "coefficients", "shrinkage", "parts"]
T, Y, _ = make_signal("heavisine", 128, snr=5, random_state=0)
ROWS, COLUMNS = np.mgrid[:18, :24] / 24.0
IMAGE = np.sin(6 * ROWS) + (COLUMNS > 0.5) + 0.1 * np.random.default_rng(0).normal(size=(18, 24))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def found():
    return denoise(Y, "sym8", method="sparse")


@pytest.fixture(scope="module")
def union():
    return denoise(Y[:64], "haar + rbf")


def tops(line):
    """What the stems of a line go up to."""
    x, y = (np.asarray(values).reshape(-1, 3) for values in line.get_data())
    assert not y[:, ::2].any() and np.ptp(x, axis=1).max() == 0
    return y[:, 1]


def test_signal(found):
    display = DenoiseDisplay.from_denoised(found, Y, t=T, coverage=0.9)
    assert_array_equal(np.transpose(display.lines_[0].get_data()), np.stack([T, found.signal], 1))
    assert_array_equal(display.data_[0].get_ydata(), Y)
    path = display.band_.get_paths()[0].vertices
    for k in (0, 40, 127):
        edge = path[path[:, 0] == T[k], 1]
        limits = norm.interval(0.9, found.signal[k], found.std[k])
        assert_allclose([edge.min(), edge.max()], limits)
    assert display.missing_ is None and display.images_ == []
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["samples", "90 % interval", "estimate"]
    assert display.ax_.get_xlabel() == "t"


def test_positions_are_put_in_order(found):
    order = np.random.default_rng(0).permutation(128)
    mixed = denoise(Y[order], "rbf", t=T[order], noise=0.4)
    display = DenoiseDisplay.from_denoised(mixed, Y[order], t=T[order])
    x, y = display.lines_[0].get_data()
    assert_array_equal(x, T)
    assert_array_equal(y[order], mixed.signal)
    assert_array_equal(display.data_[0].get_xdata(), T[order])


def test_missing_samples_are_shown():
    y = Y[:32].copy()
    y[[0, 7, 8, 9, 20]] = np.nan
    display = DenoiseDisplay.from_denoised(denoise(y, "dct"), y)
    spans = [path.get_extents().intervalx for path in display.missing_.get_paths()]
    assert_allclose(spans, [[0, 0.5], [6.5, 9.5], [19.5, 20.5]])
    assert "missing samples (5)" in display.missing_.get_label()
    assert np.isfinite(display.lines_[0].get_ydata()).all()
    assert display.ax_.get_xlabel() == "sample"


def test_coefficients(found):
    display = DenoiseDisplay.from_denoised(found, Y, kind="coefficients")
    assert_array_equal(tops(display.data_[0]), found.projections)
    assert_array_equal(tops(display.lines_[0]), found.coefficients)
    assert f"{found.n_active} kept" in display.lines_[0].get_label()
    assert display.ax_.get_title() == "sym8" and display.ax_.get_xscale() == "log"


def test_an_average_drops_nothing():
    display = DenoiseDisplay.from_denoised(denoise(Y, "sym8"), Y, kind="coefficients")
    assert display.lines_[0].get_label() == "after"
    display = DenoiseDisplay.from_denoised(denoise(Y, "sym8"), Y, kind="shrinkage")
    assert display.lines_[0].get_label() == "coefficients"


def test_coefficients_of_an_image_are_coarse_to_fine():
    found = denoise(IMAGE, "haar")
    display = DenoiseDisplay.from_denoised(found, IMAGE, kind="coefficients")
    before = tops(display.data_[0])
    assert_allclose(np.sort(before), np.sort(found.projections.ravel()))
    assert_array_equal(before[:24], found.projections[:4, :6].ravel())
    fine = np.concatenate([found.projections[9:].ravel(), found.projections[:9, 12:].ravel()])
    assert_array_equal(np.sort(before[-fine.size :]), np.sort(fine))


def test_shrinkage(found):
    display = DenoiseDisplay.from_denoised(found, Y, kind="shrinkage")
    before, after = display.lines_[0].get_data()
    assert_array_equal(before, found.projections)
    assert_array_equal(after, found.coefficients)
    x, y = display.data_[0].get_data()
    assert_array_equal(x, y)
    before = np.abs(found.projections)
    lost = before[np.abs(found.coefficients) < 0.5 * before].max()
    assert lost >= before[found.coefficients == 0].max()
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert axis.get_scale() == "symlog"
        assert axis.get_transform().linthresh == lost


@pytest.mark.parametrize("kind", KINDS[1:])
def test_each_member_has_its_axes(union, kind):
    y = Y[:64]
    display = DenoiseDisplay.from_denoised(union, y, kind=kind)
    assert [ax.get_title() for ax in display.ax_] == ["haar", "rbf"]
    assert len(display.lines_) == len(display.data_) == 2
    for k, line in enumerate(display.lines_):
        own = slice(64 * k, 64 * (k + 1))
        if kind == "parts":
            assert_array_equal(line.get_ydata(), union.parts[k])
            assert_allclose(display.data_[k].get_ydata(), y - union.offset)
        elif kind == "shrinkage":
            assert_array_equal(line.get_data(), [union.projections[own], union.coefficients[own]])
        else:
            assert_array_equal(tops(line), union.coefficients[own])
            assert_array_equal(tops(display.data_[k]), union.projections[own])


def test_image():
    y = IMAGE.copy()
    y[3, 4:6] = np.nan
    found = denoise(y)
    display = DenoiseDisplay.from_denoised(found, y)
    assert [ax.get_title() for ax in display.ax_] == ["samples (2 missing)", "estimate", "std"]
    shown = [np.ma.filled(image.get_array(), np.nan) for image in display.images_]
    for values, expected in zip(shown, (y, found.signal, found.std), strict=True):
        assert_array_equal(values, expected)
    assert display.images_[0].get_clim() == display.images_[1].get_clim()
    parts = DenoiseDisplay.from_denoised(found, y, kind="parts")
    assert_array_equal(parts.images_[0].get_array(), found.parts[0])


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axes", [0, 1])
def test_one_of_several_signals(kind, axes):
    y = np.stack([Y, 3.0 + Y[::-1] ** 2, np.full(128, 7.0)], axis=1 - axes)
    found = denoise(y, axes=axes)
    for index in range(3):
        one = np.take(y, index, axis=1 - axes)
        display = DenoiseDisplay.from_denoised(found, y, kind=kind, index=index)
        alone = DenoiseDisplay.from_denoised(denoise(one), one, kind=kind)
        for lines in ("lines_", "data_"):
            for a, b in zip(getattr(display, lines), getattr(alone, lines), strict=True):
                assert_array_equal(a.get_data(), b.get_data())


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_many_samples_constant_ones_and_few(kind):
    # A legend in the best place would warn that it takes long.
    for y in (np.tile(Y, 20), np.full(9, 2.5), np.array([1.0, 2.0]), np.array([3.0])):
        display = DenoiseDisplay.from_denoised(denoise(y), y, kind=kind)
        display.figure_.canvas.draw()
        drawn = [line.get_ydata() for line in (*display.lines_, *display.data_)]
        assert max(values.size for values in drawn) >= y.size
        assert all(np.isfinite(values).all() for values in drawn)


def test_given_axes_are_used_and_no_figure_is_opened(found, union):
    figure = plt.figure()
    pair = figure.subplots(2, 1)
    before = plt.get_fignums()
    display = DenoiseDisplay.from_denoised(found, Y, ax=pair[0])
    assert display.ax_ is pair[0] and display.figure_ is figure
    display = DenoiseDisplay.from_denoised(union, Y[:64], kind="parts", ax=pair)
    assert list(display.ax_) == list(pair) and display.figure_ is figure
    assert plt.get_fignums() == before


def test_std_is_computed_only_where_it_is_drawn():
    found = denoise(Y)
    for kind in KINDS[1:]:
        DenoiseDisplay.from_denoised(found, Y, kind=kind)
    assert "std" not in vars(found)


def test_refusals(found, union):
    draw = DenoiseDisplay.from_denoised
    with pytest.raises(ValueError, match=r"kind must be one of \['signal'.*got 'band'"):
        draw(found, Y, kind="band")
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 95"):
        draw(found, Y, coverage=95)
    with pytest.raises(ValueError, match=r"y must be .* of shape \(128,\), got shape \(64,\)"):
        draw(found, Y[:64])
    with pytest.raises(ValueError, match="index must be a number from 0 to 0, got 1"):
        draw(found, Y, index=1)
    with pytest.raises(ValueError, match=r"t must have shape \(128,\), got shape \(127,\)"):
        draw(found, Y, t=T[1:])
    with pytest.raises(ValueError, match="ax must be 2 Axes of matplotlib"):
        draw(union, Y[:64], kind="parts", ax=plt.gca())
    volume = np.random.default_rng(0).normal(size=(4, 5, 6))
    smooth = denoise(volume, method="sparse")
    with pytest.raises(ValueError, match="take a slice of a volume"):
        draw(smooth, volume)
    assert len(draw(smooth, volume, kind="shrinkage").lines_) == 1


def test_without_matplotlib_the_extra_is_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"sparsebayes\[plots\]"):
        DenoiseDisplay.from_denoised(found, Y)
