"""The dictionaries of the package: wavelets, cosines and kernels.

`Wavelet`, `DCT` and `MDCT` are orthonormal: as many functions as samples, and a closed form for
the fit. `DualTree` has several orthonormal bases at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pywt

from sparsebayes._support.validation import check_choice, positive_number, whole_number
from sparsebayes.basis.kernels import RBF, Centred, Laplacian
from sparsebayes.basis.splines import LinearSpline, ThinPlateSpline
from sparsebayes.dictionaries.dictionary import Dictionary, InPieces
from sparsebayes.dictionaries.dual_tree import DualTreeTransform
from sparsebayes.dictionaries.filters import TREES, filters
from sparsebayes.dictionaries.mdct import MDCTTransform
from sparsebayes.dictionaries.transforms import CosineTransform, KernelTransform, Transform
from sparsebayes.dictionaries.wavelets import WaveletTransform, shape_with_margins

Array = np.ndarray

KernelName = Literal["gauss", "rbf", "laplacian", "linear_spline", "thin_plate"]
# A kernel's name, its basis, and the length scale of that in widths r of S08.
KERNELS: dict[str, tuple[type[Centred], float]] = {
    "gauss": (RBF, np.sqrt(0.5)),  # exp(−d²/r²)
    "rbf": (RBF, np.sqrt(0.5)),
    "laplacian": (Laplacian, 1.0),
    "linear_spline": (LinearSpline, 1.0),
    "thin_plate": (ThinPlateSpline, 1.0),
}
_WIDTH = 0.15  # of the longest axis: S08 A.1 has r = 3 for x in [−10, 10]
# Products of an orthonormal filter with its translates are smaller than this: of the wavelets of
# PyWavelets 1e-11 at most, but 2e-3 for "dmey", which says that it is orthogonal.
_ORTHOGONAL = 1e-9
_REACH = 1 << 15  # samples that pieces of a long signal share with each of their neighbours
_FRAMES = 5  # the same in frames: those beside one, beside these, and a shift


@dataclass(frozen=True)
class Wavelet(Dictionary):
    """The wavelets of an orthogonal family, periodised, along all axes of a signal.

    They are short waves on every scale: few of them make up signals with jumps, peaks and quiet
    stretches.

    Parameters
    ----------
    name : str, default="sym8"
        Any orthogonal wavelet of PyWavelets: "haar", "db2", "sym8", "coif3" and so on.
    level : int or None, default=None
        How often to split; None goes on until fewer than eight samples are left of an axis.

    See Also
    --------
    DualTree : Complex wavelets, for images.
    DCT : Waves as long as the signal.

    Notes
    -----
    Where a length is odd its last sample is set aside as a coefficient of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import Wavelet
    >>> y = np.repeat([1.0, 5.0], 64)
    >>> coefficients = Wavelet("haar", level=7).bind(y.shape).analyse(y)
    >>> int((np.abs(coefficients) > 1e-9).sum())
    4
    """

    name: str = "sym8"
    level: int | None = None

    orthonormal = True
    needs_regular_grid = True

    def __post_init__(self) -> None:
        if not is_orthogonal(self.name):
            raise ValueError(
                f"Wavelet needs the name of an orthogonal wavelet of PyWavelets, such as 'sym8', "
                f"'haar' or 'db4', got {self.name!r}."
            )
        if self.level is not None:
            whole_number("level of Wavelet", self.level, 0)

    @property
    def label(self) -> str:
        return self.name

    def padded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape_with_margins(shape)

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return WaveletTransform(self.name, shape, self.level)

    def in_pieces(self) -> InPieces:
        level, unit, reach = _levels(self.name, self.level)
        return InPieces(Wavelet(self.name, level), unit, reach)


@dataclass(frozen=True)
class DualTree(Dictionary):
    """Complex wavelets by two trees along each axis, a tight frame of several orthonormal bases.

    The magnitudes of its coefficients hardly change when a signal is moved, and in images and
    volumes each function has a direction: six on each scale of an image, 28 of a volume [1]_ [2]_.
    There are 2, 4 or 8 times as many functions as samples in one, two or three dimensions.

    Parameters
    ----------
    level : int or None, default=None
        How often to split; None goes on until fewer than eight samples are left of an axis.

    See Also
    --------
    Wavelet : Real wavelets, one orthonormal basis.

    Notes
    -----
    Coefficients have the shape ``(directions, 2, *shape)``; the second axis has the real and the
    imaginary part. Wavelets are periodic, and where a length is odd its last sample is set aside
    as a coefficient of its own, as for `Wavelet`.

    References
    ----------
    .. [1] N. Kingsbury, "Complex wavelets for shift invariant analysis and filtering of signals",
       Applied and Computational Harmonic Analysis 10, 2001.
    .. [2] I. Selesnick, R. Baraniuk, N. Kingsbury, "The dual-tree complex wavelet transform",
       IEEE Signal Processing Magazine 22(6), 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import DualTree
    >>> y = np.random.default_rng(0).standard_normal((64, 48))
    >>> transform = DualTree().bind(y.shape)
    >>> coefficients = transform.analyse(y)
    >>> coefficients.shape, transform.n_bases
    ((2, 2, 64, 48), 4)
    >>> bool(np.allclose(transform.synthesise(coefficients) / 4, y))
    True
    """

    level: int | None = None

    orthonormal = False
    n_bases = 2
    needs_regular_grid = True

    def __post_init__(self) -> None:
        if self.level is not None:
            whole_number("level of DualTree", self.level, 0)

    @property
    def label(self) -> str:
        return "dual tree"

    def padded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape_with_margins(shape)

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return DualTreeTransform(shape, self.level)

    def in_pieces(self) -> InPieces:
        level, unit, reach = _levels(TREES[0], self.level)
        return InPieces(DualTree(level), unit, reach)


@dataclass(frozen=True)
class DCT(Dictionary):
    """Cosines of all frequencies, along all axes of a signal.

    For signals whose waves go on from one end to the other.

    See Also
    --------
    MDCT : Cosines in frames, for sound.
    Wavelet : Short waves on every scale.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import DCT
    >>> y = np.cos(np.pi * 5 * (np.arange(100) + 0.5) / 100)
    >>> int(np.abs(DCT().bind(y.shape).analyse(y)).argmax())
    5
    """

    orthonormal = True

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return CosineTransform(shape)


@dataclass(frozen=True)
class MDCT(Dictionary):
    """Cosines of all frequencies in frames that overlap, for sound [1]_.

    Tones come and go: a frame has the frequencies of its own time.

    Parameters
    ----------
    frame : int, default=1024
        Samples from one frame to the next, about; a function is twice as long. 1024 are 23 ms of
        sound at 44.1 kHz and 64 ms at 16 kHz. Longer frames tell tones apart, shorter ones clicks.

    See Also
    --------
    DCT : Cosines over the whole signal.

    Notes
    -----
    Frames are as many as fit best, and differ in length by a sample at most. If they are equal,
    as in a signal whose length is a multiple of `frame`, the coefficients have the shape
    (frequencies, frames). If not, the first are longer and have one more frequency, the highest:
    coefficients are then flat, those that all frames have first, in the same order, and those of
    the highest frequency after them.

    References
    ----------
    .. [1] J. Princen, A. Johnson, A. Bradley, "Subband/transform coding using filter bank designs
       based on time domain aliasing cancellation", ICASSP 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import MDCT
    >>> y = np.cos(0.2 * np.arange(4096.0))
    >>> transform = MDCT(frame=256).bind(y.shape)
    >>> spectrogram = transform.analyse(y)
    >>> spectrogram.shape
    (256, 16)
    >>> print(np.argmax(np.abs(spectrogram).sum(axis=1)), round(0.2 / np.pi * 256))
    16 16
    """

    frame: int = 1024

    orthonormal = True

    def __post_init__(self) -> None:
        whole_number("frame of MDCT", self.frame, 2)

    def padded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Round up to a whole number of frames, and one more to go around in.

        Parameters
        ----------
        shape : tuple of int
            The shape of a signal.

        Returns
        -------
        tuple of int
            At least as large.
        """
        return tuple(self.frame * (-(-n // self.frame) + 1) for n in shape)

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        if len(shape) != 1:
            raise ValueError(
                f"MDCT is for signals of one axis, got the shape {shape}; name the axis of time "
                "(axes=0), or use 'dct' or a wavelet."
            )
        return MDCTTransform(shape, self.frame)

    def in_pieces(self) -> InPieces:
        return InPieces(self, self.frame, _FRAMES * self.frame)


@dataclass(frozen=True)
class Kernel(Dictionary):
    """One kernel function centred on each sample.

    It is slower than a fast transform, and takes samples at any positions.

    Parameters
    ----------
    kernel : str, default="rbf"
        "rbf" (also "gauss"), "laplacian", "thin_plate" or "linear_spline".
    length_scale : float or None, default=None
        In samples, or in units of the positions where these are given. None takes 3/20 of the
        longest axis (for "rbf" over √2), the width of most examples of the smooth RVM [1]_.

    See Also
    --------
    sparsebayes.basis : The same kernels as functions of inputs.
    Wavelet : A fast transform, for even grids.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, A.1: r = 3 for x in [−10, 10].

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import denoise
    >>> from sparsebayes.dictionaries import Kernel
    >>> t = np.sort(np.random.default_rng(0).uniform(0, 10, 100))
    >>> y = np.sin(t) + 0.2 * np.random.default_rng(1).standard_normal(100)
    >>> found = denoise(y, Kernel("rbf", length_scale=1.0), method="sparse", t=t)
    >>> bool(np.abs(found.signal - np.sin(t)).max() < 0.2)
    True
    """

    kernel: KernelName = "rbf"
    length_scale: float | None = None

    orthonormal = False
    centred_on_samples = True

    def __post_init__(self) -> None:
        check_choice("kernel", self.kernel, tuple(sorted(KERNELS)))
        if self.length_scale is not None:
            positive_number("length_scale of Kernel", self.length_scale)

    @property
    def label(self) -> str:
        return self.kernel

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        if points is None:
            points = tuple(np.arange(float(n)) for n in shape)
        basis, widths = KERNELS[self.kernel]
        scale = self.length_scale
        if scale is None:
            longest = max(float(np.ptp(axis)) for axis in points)
            scale = _WIDTH * (longest or 1.0) * widths
        if not basis.stationary:  # zero is the middle
            points = tuple(axis - 0.5 * (axis[0] + axis[-1]) for axis in points)
        return KernelTransform(basis(scale), points)


def _levels(name: str, most: int | None) -> tuple[int, int, int]:
    """The number of splits of pieces, and their unit and reach.

    What a function of the coarsest scale covers, and those beside it, lie within the reach.
    """
    length = max(filters(name, depth).dec_len for depth in (0, 1))
    level = max(1, (_REACH // length).bit_length() - 1)
    level = level if most is None else min(level, most)
    return level, 1 << level, length + 2 << level


def is_orthogonal(name: str) -> bool:
    """Whether PyWavelets has such a wavelet, with a filter that is orthonormal but for rounding."""
    if not isinstance(name, str) or name not in pywt.wavelist(kind="discrete"):
        return False
    wavelet = pywt.Wavelet(name)
    low = np.array(wavelet.rec_lo)
    products = np.correlate(low, low, "full")[low.size - 1 :: 2]  # with its even translates
    products[0] -= 1.0
    return wavelet.orthogonal and float(np.abs(products).max()) < _ORTHOGONAL
