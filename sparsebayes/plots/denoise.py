"""The display of a denoised signal; :mod:`sparsebayes.plots` is where it is public."""

from __future__ import annotations

from itertools import cycle

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.data import finite_array
from sparsebayes._support.optional import require
from sparsebayes._support.validation import (
    check_choice,
    check_coverage,
    finite_number,
    whole_number,
)
from sparsebayes.denoising import Denoised
from sparsebayes.plots._style import BLUE, COLORS, GREY, INK, ORANGE, check_axes

_KINDS = ("signal", "coefficients", "shrinkage", "parts")
_MANY = 2000  # samples, from which on they are drawn as dots


class DenoiseDisplay:
    """A denoised signal or image, its coefficients, or what each dictionary contributes.

    Use :meth:`from_denoised` to make one.

    Parameters
    ----------
    y, signal, std : ndarray of one or two dimensions
        The samples, their estimate and its standard deviation, without noise.
    members : list of dict
        For each member of the dictionary its "name", its "part" of the signal, its coefficients
        "before" and "after" shrinkage, flat and coarse to fine, and whether they are in
        "octaves".
    offset : float
        What the parts lack of the signal.
    t : ndarray or None
        Positions of the samples of a signal.
    kind : {"signal", "coefficients", "shrinkage", "parts"}, default="signal"
    coverage : float, default=0.95
        Probability inside the error band.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        One for a signal, three for an image, else one for each member of the dictionary.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Of a signal the estimate; for each member its part, its coefficients after shrinkage, or
        those against the ones before.
    data_ : list of matplotlib Line2D
        What was there before: the samples, or the coefficients.
    band_, missing_ : matplotlib Collection or None
        The error band, and the places of missing samples.
    images_ : list of matplotlib AxesImage

    See Also
    --------
    sparsebayes.denoise : Finds what is drawn.

    Examples
    --------
    >>> from sparsebayes import denoise
    >>> from sparsebayes.datasets import make_signal
    >>> from sparsebayes.plots import DenoiseDisplay
    >>> t, y, f = make_signal("doppler", 512, random_state=0)
    >>> display = DenoiseDisplay.from_denoised(denoise(y), y, t=t)
    >>> display.band_.get_label()
    '95 % interval'
    """

    def __init__(
        self, *, y, signal, std, members, offset=0.0, t=None, kind="signal", coverage=0.95
    ):
        check_choice("kind", kind, _KINDS)
        self.signal = finite_array("signal", signal, None)
        self.y = finite_array("y", y, self.signal.shape, like="signal", gaps=True)
        needed = std is not None or kind == "signal"
        self.std = finite_array("std", std, self.y.shape, like="signal") if needed else None
        if not isinstance(members, list):
            raise TypeError(f"members must be a list with what is drawn of each, got {members!r}.")
        self.members = members
        self.offset = finite_number("offset", offset)
        self.t = None if t is None else finite_array("t", t, self.y.shape, like="signal")
        self.kind = kind
        self.coverage = check_coverage(coverage)

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, or array of them, default=None
            Where to draw, as many as `ax_` has; None is a new figure.

        Returns
        -------
        DenoiseDisplay
            This display, drawn.
        """
        require("matplotlib", "DenoiseDisplay")
        image = np.ndim(self.y) == 2
        panels = self._new_axes(image) if ax is None else ax
        panels = check_axes("ax", panels, self._n_panels(image))
        self.lines_, self.data_, self.images_ = [], [], []
        self.band_ = self.missing_ = None
        if self.kind == "signal" and image:
            self._draw_images(panels)
        elif self.kind == "signal":
            self._draw_signal(panels[0])
        else:
            draw = {
                "coefficients": self._draw_coefficients,
                "shrinkage": self._draw_shrinkage,
                "parts": self._draw_image_part if image else self._draw_part,
            }[self.kind]
            for panel, member, color in zip(panels, self.members, cycle(COLORS), strict=False):
                draw(panel, member, color)
                panel.set_title(member["name"], fontsize="medium")
        self.ax_ = panels[0] if panels.size == 1 else panels
        self.figure_ = panels[0].figure
        return self

    def _n_panels(self, image):
        if self.kind == "signal":
            return 3 if image else 1
        return len(self.members)

    def _new_axes(self, image):
        import matplotlib.pyplot as plt

        count = self._n_panels(image)
        beside = self.kind == "shrinkage" or (image and self.kind != "coefficients")
        shape = (1, count) if beside else (count, 1)
        size = (4.2 * count, 4.0) if beside else (7.5, max(4.0, 2.6 * count))
        shared = image and beside and self.kind != "shrinkage"
        _, panels = plt.subplots(
            *shape, figsize=size, layout="constrained", sharex=shared, sharey=shared
        )
        return panels

    def _positions(self):
        """Positions of the samples, and the order that makes them rise."""
        t = np.arange(self.y.size) if self.t is None else self.t
        return t, np.argsort(t, kind="stable")

    def _draw_signal(self, ax):
        t, order = self._positions()
        half = ndtri(0.5 + self.coverage / 2) * self.std
        self.data_ += ax.plot(
            t,
            self.y,
            _marker(self.y),
            color=GREY,
            alpha=0.6,
            markersize=4,
            label="samples",
            zorder=1,
        )
        self.band_ = ax.fill_between(
            t[order],
            (self.signal - half)[order],
            (self.signal + half)[order],
            color=BLUE,
            alpha=0.3,
            linewidth=0,
            label=f"{100 * self.coverage:g} % interval",
            zorder=2,
        )
        self.lines_ += ax.plot(
            t[order], self.signal[order], color=BLUE, linewidth=1.2, label="estimate", zorder=3
        )
        gaps = _gaps(t[order], np.isnan(self.y[order]))
        if gaps:
            self.missing_ = ax.broken_barh(
                gaps,
                (0.0, 1.0),
                transform=ax.get_xaxis_transform(),
                color=ORANGE,
                alpha=0.15,
                linewidth=0.5,
                label=f"missing samples ({np.count_nonzero(np.isnan(self.y))})",
                zorder=0,
            )
        ax.set(xlabel="sample" if self.t is None else "t", ylabel="y")
        ax.margins(x=0.01)
        ax.legend(fontsize="small", loc=_corner(self.y))

    def _draw_images(self, panels):
        missing = np.count_nonzero(np.isnan(self.y))
        noisy = f"samples ({missing} missing)" if missing else "samples"
        low, high = np.nanmin(self.y), np.nanmax(self.y)
        for panel, values, title in zip(
            panels, (self.y, self.signal, self.std), (noisy, "estimate", "std"), strict=True
        ):
            spread = title == "std"
            limits = {} if spread else {"vmin": low, "vmax": high}
            self._show(panel, values, title, "viridis" if spread else "gray", **limits)
        panels[0].figure.colorbar(self.images_[2], ax=panels[2], shrink=0.8)

    def _show(self, ax, values, title, colors, **limits):
        from matplotlib import colormaps

        cmap = colormaps[colors].with_extremes(bad=ORANGE)
        self.images_.append(ax.imshow(values, cmap=cmap, interpolation="nearest", **limits))
        ax.set_title(title, fontsize="medium")
        ax.set(xticks=[], yticks=[])

    def _draw_coefficients(self, ax, member, color):
        before, after = member["before"], member["after"]
        self.data_ += ax.plot(
            *_stems(before), color=GREY, alpha=0.6, linewidth=0.8, label="before", zorder=1
        )
        self.lines_ += ax.plot(
            *_stems(after), color=color, linewidth=1.2, label=f"after{_kept(after)}", zorder=2
        )
        if member["octaves"]:  # each is as wide as the others
            ax.set_xscale("log", base=2)
        _scale(ax, "y", before, after)
        ax.set(xlabel="coefficient", ylabel="value")
        ax.margins(x=0.01)
        ax.legend(fontsize="small", loc=_corner(before))

    def _draw_shrinkage(self, ax, member, color):
        before, after = member["before"], member["after"]
        ends = [min(before.min(), after.min()), max(before.max(), after.max())]
        self.data_ += ax.plot(
            ends, ends, color=INK, linestyle="--", linewidth=1.0, label="unchanged", zorder=1
        )
        size = 2 if before.size > _MANY else 4
        label = f"coefficients{_kept(after)}"
        self.lines_ += ax.plot(
            before, after, "o", color=color, markersize=size, label=label, zorder=2
        )
        _scale(ax, "x", before, after)
        _scale(ax, "y", before, after)
        ax.set(xlabel="coefficient before", ylabel="posterior mean")
        ax.legend(fontsize="small", loc="upper left")

    def _draw_part(self, ax, member, color):
        t, order = self._positions()
        self.data_ += ax.plot(
            t,
            self.y - self.offset,
            _marker(self.y),
            color=GREY,
            alpha=0.6,
            markersize=2,
            label="samples − offset",
            zorder=1,
        )
        self.lines_ += ax.plot(
            t[order], member["part"][order], color=color, linewidth=1.2, label="part", zorder=2
        )
        ax.set(xlabel="sample" if self.t is None else "t", ylabel="y − offset")
        ax.margins(x=0.01)
        ax.legend(fontsize="small", loc=_corner(self.y))

    def _draw_image_part(self, ax, member, color):
        part = member["part"]
        largest = float(np.abs(part).max()) or 1.0
        self._show(ax, part, member["name"], "RdBu_r", vmin=-largest, vmax=largest)
        ax.figure.colorbar(self.images_[-1], ax=ax, shrink=0.8)

    @classmethod
    def from_denoised(cls, denoised, y, *, kind="signal", t=None, coverage=0.95, index=0, ax=None):
        """Draw what `denoise` found.

        Parameters
        ----------
        denoised : Denoised
            The result of `denoise`.
        y : array-like
            What it was found in.
        kind : {"signal", "coefficients", "shrinkage", "parts"}, default="signal"
            Samples, estimate and error band (of an image, side by side with its standard
            deviation); the coefficients before and after, or one against the other, by member of
            the dictionary; what each member contributes.
        t : array-like or None, default=None
            Positions of the samples of a signal.
        coverage : float, default=0.95
            Probability inside the error band, which is that of the signal, without noise.
        index : int, default=0
            Which one, where several signals were denoised.
        ax : matplotlib Axes, or array of them, default=None
            Where to draw: three for an image, one for each member of the dictionary where they
            are drawn, else one; None is a new figure.

        Returns
        -------
        DenoiseDisplay
            The figure: axes and what was drawn.
        """
        require("matplotlib", cls.__name__)
        check_choice("kind", kind, _KINDS)
        check_coverage(coverage)
        if not isinstance(denoised, Denoised):
            raise TypeError(f"denoised must be what denoise() gives, got {denoised!r}.")
        values = np.asarray(y, dtype=float)
        if values.shape != denoised.signal.shape:
            raise ValueError(
                f"y must be what was denoised, of shape {denoised.signal.shape}, got shape "
                f"{values.shape}."
            )
        layout, fits = denoised.layout, denoised.fits
        if whole_number("index", index, 0) >= len(fits):
            raise ValueError(f"index must be a number from 0 to {len(fits) - 1}, got {index!r}.")
        if kind in ("signal", "parts") and len(layout.axes) > 2:
            raise ValueError(f"kind={kind!r} draws signals and images; take a slice of a volume.")
        positions = None if t is None else finite_array("t", t, layout.signal_shape)

        def chosen(array):
            return layout.split(array)[index]

        return cls(
            y=chosen(values),
            signal=chosen(denoised.signal),
            std=chosen(denoised.std) if kind == "signal" else None,
            members=_members(denoised, fits[index], [chosen(part) for part in denoised.parts]),
            offset=float(np.ravel(denoised.offset)[index]),
            t=positions,
            kind=kind,
            coverage=coverage,
        ).plot(ax)


def _members(denoised, fit, parts):
    """What is drawn of each member of the dictionary."""
    transform = fit.transform
    return [
        {
            "name": member.label,
            "part": part,
            "before": _coarse_to_fine(one, before),
            "after": _coarse_to_fine(one, after),
            "octaves": len(one.bands()) > 1,
        }
        for member, one, before, after, part in zip(
            denoised.dictionary.members,
            transform.members,
            transform.split(fit.projections),
            transform.split(fit.coefficients),
            parts,
            strict=True,
        )
    ]


def _coarse_to_fine(transform, coefficients):
    return np.concatenate([coefficients[band.index].ravel() for band in transform.bands()])


def _kept(after):
    """How many are left, if some are not."""
    kept = np.count_nonzero(after)
    return f" ({kept} kept)" if kept < after.size else ""


def _marker(values):
    return "," if values.size > _MANY else "."


def _corner(values):
    """Where the legend goes; the best place takes long to find among many values."""
    return "upper right" if values.size > _MANY else "best"


def _scale(ax, axis, before, after):
    """Linear up to the largest coefficient that lost more than half, logarithmic beyond."""
    from matplotlib.ticker import FixedLocator

    lost = np.abs(after) < 0.5 * np.abs(before)
    largest = float(max(np.abs(before).max(), np.abs(after).max())) or 1.0
    least = float(np.abs(before[lost]).max(initial=0.0)) or largest
    powers = np.arange(np.ceil(np.log10(3.0 * least)), np.log10(largest))
    ticks = [least, *10.0 ** powers[:: -max(1, -(-powers.size // 2))]]  # two at most
    getattr(ax, f"set_{axis}scale")("symlog", linthresh=least)
    labelled = getattr(ax, f"{axis}axis")
    labelled.set_major_locator(FixedLocator([0.0, *ticks, *[-tick for tick in ticks]]))
    labelled.set_major_formatter(lambda x, _: f"{float(f'{x:.2g}'):g}")


def _stems(values):
    """A line that goes up to each value and back; where there are many, it is fast to draw."""
    x = np.repeat(np.arange(1, values.size + 1), 3)
    y = np.zeros(3 * values.size)
    y[1::3] = values
    return x, y


def _gaps(t, missing):
    """Beginning and length of each run of missing samples, halfway to their neighbours."""
    if not missing.any():
        return []
    middle = 0.5 * (t[1:] + t[:-1])
    edges = np.concatenate([t[:1], middle, t[-1:]])
    change = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(int), [0]])))
    return [(edges[a], edges[b] - edges[a]) for a, b in change.reshape(-1, 2)]
