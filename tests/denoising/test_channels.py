"""Channels: mixed, denoised and unmixed."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import Denoiser, denoise
from sparsebayes.denoising.observed.channels import Mixture

SIDE = 48
OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
METHODS = ["average", "sparse", "ash", "hard", "soft", "bayes"]


def picture():
    """Shapes that all channels share, of different brightness, with little colour."""
    row, column = np.mgrid[:SIDE, :SIDE]
    disc = (row - 20) ** 2 + (column - 26) ** 2 < 150
    grey = 100.0 + 60 * disc + 40 * (column > 30) * (row > 10)
    return grey[..., None] * [1.0, 0.9, 0.8] + 10.0 * disc[..., None] * [0, 1, 0]


def noisy(deviations=(15.0, 15.0, 15.0), seed=0):
    truth = picture()
    noise = np.random.default_rng(seed).standard_normal(truth.shape)
    return truth, truth + np.multiply(deviations, noise)


def error(found, truth):
    return float(np.mean((found.signal - truth) ** 2))


def test_the_mixture_of_three_channels_is_brightness_and_two_colours():
    y = np.random.default_rng(0).standard_normal((5, 3))
    mixture = Mixture(np.full(3, 7.0), 1)
    assert_allclose(np.abs(mixture.mix(y)), np.abs(y @ OPPONENT.T), atol=1e-12)
    assert_allclose(mixture.unmix(mixture.mix(y)), y, atol=1e-12)
    assert_allclose(mixture.mix_variances(np.ones(3)), 1.0)


def test_the_mixture_has_noise_that_is_white_and_grey_is_one_channel():
    variances = np.array([1.0, 4.0, 25.0])
    mixture = Mixture(variances, 0)
    matrix = mixture.mix(np.eye(3))
    assert_allclose(matrix @ np.diag(variances) @ matrix.T, 25.0 * np.eye(3), atol=1e-12)
    assert_allclose(matrix[1:] @ np.ones(3), 0.0, atol=1e-12)
    assert_allclose(mixture.unmix(matrix), np.eye(3), atol=1e-12)


@pytest.mark.slow
def test_together_is_better_than_each_alone():
    truth, y = noisy()
    assert error(denoise(y, channel_axis=-1), truth) < 0.75 * error(denoise(y, axes=(0, 1)), truth)


@pytest.mark.slow
def test_unequal_noise_is_balanced():
    deviations = np.array([5.0, 15.0, 40.0])
    truth, y = noisy(deviations)
    found = denoise(y, channel_axis=-1)
    plain = denoise(y @ OPPONENT.T, axes=(0, 1)).signal @ OPPONENT
    assert error(found, truth) < 0.75 * np.mean((plain - truth) ** 2)
    assert_allclose(np.sqrt(found.noise_variance), deviations, rtol=0.12)
    inside = np.abs(found.signal - truth) < 1.96 * found.std
    assert np.all(inside.mean(axis=(0, 1)) > 0.85)


@pytest.mark.slow
def test_variances_of_channels_may_be_given():
    truth, y = noisy((5.0, 15.0, 40.0))
    given = denoise(y, channel_axis=-1, noise=[25.0, 225.0, 1600.0])
    assert_allclose(given.noise_variance, [25.0, 225.0, 1600.0])
    assert error(given, truth) < 1.1 * error(denoise(y, channel_axis=-1), truth)
    few = y[:12, :12]
    assert_allclose(denoise(few, channel_axis=-1, noise=30.0).noise_variance, 30.0)


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
def test_every_method(method):
    truth, y = noisy()
    found = denoise(y, "haar", channel_axis=2, method=method)
    assert found.signal.shape == found.std.shape == y.shape
    assert found.noise_variance.shape == (3,)
    assert error(found, truth) < 0.5 * np.mean((y - truth) ** 2)


@pytest.mark.slow
def test_any_axis_and_stacks():
    y, other = (noisy(seed=seed)[1][:24, :24] for seed in (0, 1))
    options = {"dictionary": "haar", "n_shifts": 2}
    last = denoise(y, channel_axis=-1, **options)
    first = denoise(np.moveaxis(y, 2, 0), channel_axis=0, **options)
    assert_allclose(np.moveaxis(first.signal, 0, 2), last.signal, rtol=1e-9)
    assert_allclose(np.moveaxis(first.std, 0, 2), last.std, rtol=1e-9)
    options["noise"] = 225.0
    stack = denoise(np.stack([y, other]), axes=(1, 2), channel_axis=-1, **options)
    alone = denoise(other, channel_axis=-1, **options)
    assert_allclose(stack.signal[1], alone.signal, rtol=1e-9)
    assert_allclose(stack.std[1], alone.std, rtol=1e-9)
    assert stack.noise_variance.shape == (2, 3)


def test_parts_and_offset_are_in_channels():
    _, y = noisy((5.0, 15.0, 40.0))
    found = denoise(y, "haar", channel_axis=-1, method="sparse")
    assert_allclose(found.parts[0] + found.offset, found.signal, rtol=1e-9)
    assert_allclose(found.reconstruct(slice(None)), found.parts[0], atol=1e-9)


def test_types():
    y = noisy()[1][:24, :24]
    options = {"dictionary": "haar", "channel_axis": -1, "n_shifts": 1}
    found = denoise(y.astype(np.float32), **options)
    assert found.signal.dtype == found.std.dtype == np.float32
    assert_allclose(found.signal, denoise(y, **options).signal, rtol=1e-3)
    whole = np.clip(y, 0, 255).astype(np.uint8)
    assert denoise(whole, **options).signal.dtype == np.float64


@pytest.mark.slow
def test_channels_without_noise_stay_as_they_are():
    y = noisy()[1][:16, :16]
    opaque = np.concatenate([y, np.full((16, 16, 1), 255.0)], axis=2)
    options = {"channel_axis": -1, "n_shifts": 1}
    found = denoise(opaque, **options)
    assert_allclose(found.signal[..., 3], 255.0)
    assert_allclose(found.signal[..., :3], denoise(y, **options).signal, rtol=1e-9)
    assert_allclose(found.noise_variance[3], 0.0)
    constant = denoise(np.full((8, 8, 3), 2.0), **options)
    assert_allclose(constant.signal, 2.0)
    grey = denoise(y[..., :1], **options)
    assert_allclose(grey.signal[..., 0], denoise(y[..., 0], n_shifts=1).signal, rtol=1e-9)


def test_a_sample_missing_in_one_channel_is_missing_in_all():
    t = np.linspace(0, 1, 64)
    y = np.stack([np.sin(6 * t), np.cos(6 * t)], axis=1)
    y += 0.1 * np.random.default_rng(0).standard_normal(y.shape)
    one, both = y.copy(), y.copy()
    one[20, 0] = both[20] = np.nan
    found, other = (denoise(some, channel_axis=1, noise=0.01) for some in (one, both))
    assert_allclose(found.signal, other.signal)
    assert np.isfinite(found.signal).all() and np.isfinite(found.std).all()


@pytest.mark.slow
def test_an_image_with_channels_is_no_volume_without_a_word():
    y = noisy()[1][:12, :12]
    with pytest.warns(UserWarning, match="channel_axis=-1, else axes=") as caught:
        denoise(y, "haar", n_shifts=1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        denoise(y, "haar", n_shifts=1, channel_axis=-1)
        denoise(y, "haar", n_shifts=1, axes=(0, 1, 2))
        denoise(y[:4], "haar", n_shifts=1)
        Denoiser().fit_transform(y[:, :4, 0])


@pytest.mark.parametrize("axis", [3, -4, 1.0, True, "last"])
def test_bad_axes(axis):
    with pytest.raises(ValueError, match="channel_axis must be None or an axis of y"):
        denoise(np.zeros((8, 8, 3)), channel_axis=axis)


def test_bad_combinations():
    y = np.zeros((8, 8, 3))
    with pytest.raises(ValueError, match="axes must leave out the axis of the channels"):
        denoise(y, channel_axis=-1, axes=(1, 2))
    with pytest.raises(ValueError, match="one for each of the 3 channels"):
        denoise(y, channel_axis=-1, noise=[1.0, 2.0])
    with pytest.raises(ValueError, match="one for each of the 3 channels"):
        denoise(y, channel_axis=-1, noise=[1.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="several only with channel_axis="):
        denoise(y[..., 0], noise=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="another one for the signal"):
        denoise(np.zeros(8), channel_axis=0)
