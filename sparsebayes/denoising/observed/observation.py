"""What lies between an array as it was measured and the signals that are denoised."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sparsebayes._support.validation import check_choice
from sparsebayes.denoising.grid import lay_out
from sparsebayes.denoising.observed.channels import (
    Mixture,
    looks_like_colour,
    noise_of_channels,
)
from sparsebayes.denoising.observed.noise_models import NOISE_MODELS, make_model

Array = np.ndarray


class Observation:
    """Samples, which of their axes are what, and the transforms to signals with additive noise.

    Parameters
    ----------
    y : ndarray
        Checked.
    axes, channel_axis, noise, noise_model
        As in `denoise`.

    Attributes
    ----------
    layout : Layout
        Channels count as several signals.
    noises : list of (float or None)
        The noise variance of each signal, None if it is to be estimated; with channels those of
        their mixtures, once `signals` made them.
    by_level : bool
        Whether the noise differs between scales.
    """

    def __init__(
        self, y: Array, axes: Any, channel_axis: Any, noise: Any, noise_model: str
    ) -> None:
        check_choice("noise_model", noise_model, NOISE_MODELS)
        self._channel = _channel(y.shape, channel_axis)
        if self._channel is not None and axes is None:
            axes = tuple(axis for axis in range(y.ndim) if axis != self._channel)
        elif axes is None and looks_like_colour(y.shape):
            warnings.warn(
                f"y has the shape {y.shape} and is denoised as a volume; if its last axis has "
                "channels, use channel_axis=-1, else axes=(0, 1, 2).",
                UserWarning,
                stacklevel=4,
            )
        self.layout = lay_out(y.shape, axes)
        if self._channel in self.layout.axes:
            raise ValueError(
                f"axes must leave out the axis of the channels, {channel_axis!r}, got {axes!r}."
            )
        self._model = make_model(noise_model, y, self.layout)
        n_channels = None if self._channel is None else y.shape[self._channel]
        self._variances, self.by_level = self._model.noise(noise, n_channels)
        self._mixture: Mixture | None = None
        self.noises: list[float | None] = [None] * int(np.prod(self.layout.batch_shape))
        if self._variances is not None:
            self.noises = [float(self._variances[0])] * len(self.noises)

    def signals(self, y: Array) -> Array:
        """The signals that y has, one after another, with additive noise."""
        stable = self._model.forward(y)
        if self._channel is not None:
            stable = self._mixed(stable, self._channel)
        return self.layout.split(stable)

    @property
    def _place(self) -> int:
        """The axis of the channels among those that count signals."""
        return sum(axis not in self.layout.axes for axis in range(self._channel or 0))

    def _mixed(self, stable: Array, axis: int) -> Array:
        """Mixtures of the channels; `noises` are then those of the mixtures."""
        n_channels, batch = stable.shape[axis], self.layout.batch_shape
        variances = self._variances
        if variances is None:
            shape = self.layout.signal_shape
            signals = self.layout.split(stable).reshape(*batch, *shape)
            by_channel = np.moveaxis(signals, self._place, 0)
            variances = noise_of_channels(by_channel.reshape(n_channels, -1, *shape))
        self._mixture = Mixture(np.broadcast_to(variances, n_channels), axis)
        if self._variances is not None:
            mixed = self._mixture.mix_variances(np.broadcast_to(variances, n_channels))
            along = [-1 if k == self._place else 1 for k in range(len(batch))]
            self.noises = np.broadcast_to(mixed.reshape(along), batch).ravel().tolist()
        return self._mixture.mix(stable)

    def stable(self, joined: Array) -> Array:
        """Of what was found for the signals, joined, that which belongs to the channels."""
        return joined if self._mixture is None else self._mixture.unmix(joined)

    def stable_deviation(self, joined: Array) -> Array:
        """The same of standard deviations."""
        if self._mixture is None:
            return joined
        return np.sqrt(self._mixture.unmix_variances(np.square(joined)))

    def offset(self, values: Any) -> Any:
        """The same of a number for each signal."""
        return values if self._mixture is None else self._mixture.unmix(values, self._place)

    def noise_variance(self, values: Any) -> Any:
        """The noise variance of each channel, from those of the signals."""
        if self._mixture is None:
            return values
        return self._mixture.unmix_variances(values, self._place)

    def signal(self, stable: Array) -> Array:
        """The signal as it was measured, without noise."""
        return self._model.inverse(stable)

    def deviation(self, stable: Array, std: Array) -> Array:
        """Its standard deviation."""
        return self._model.deviation(stable, std)


def _channel(shape: tuple[int, ...], channel_axis: Any) -> int | None:
    """The axis of the channels, not negative, or a clear error."""
    if channel_axis is None:
        return None
    n_dim = len(shape)
    whole = isinstance(channel_axis, (int, np.integer)) and not isinstance(channel_axis, bool)
    if not whole or not -n_dim <= channel_axis < n_dim or n_dim < 2:
        raise ValueError(
            f"channel_axis must be None or an axis of y, which has {n_dim} dimensions and needs "
            f"another one for the signal, got {channel_axis!r}."
        )
    return int(channel_axis) % n_dim
