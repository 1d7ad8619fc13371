"""Dictionaries that the package does not know: what they declare is all that is asked of them."""

from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import dstn, idstn

from sparsebayes import Denoiser, denoise
from sparsebayes.dictionaries import DCT, Dictionary, Transform, Wavelet
from sparsebayes.plots import DenoiseDisplay

N = 60
T = (np.arange(N) + 0.5) / N
CLEAN = 2.0 * np.sin(2 * np.pi * T) - np.sin(8 * np.pi * T)  # of mean zero
NOISY = CLEAN + 0.2 * np.random.default_rng(0).standard_normal(N)
GAP = slice(20, 26)


class ByFunctions(Transform):
    """Squares of the functions from all of them: slow, and enough for a test."""

    def squares(self):
        size = int(np.prod(self.coefficient_shape))
        functions = self.synthesise(np.eye(size).reshape(size, *self.coefficient_shape))
        return functions.reshape(size, -1) ** 2

    def spread(self, variances):
        return (variances.ravel() @ self.squares()).reshape(self.shape)

    def gather(self, weights):
        return (self.squares() @ weights.ravel()).reshape(self.coefficient_shape)


class SineTransform(ByFunctions):
    """Everything that need not be said is left out."""

    orthonormal = True

    def __init__(self, shape):
        self.shape = self.coefficient_shape = shape
        self.axes = tuple(range(-len(shape), 0))

    def analyse(self, signal):
        return dstn(signal, type=2, norm="ortho", axes=self.axes)

    def synthesise(self, coefficients):
        return idstn(coefficients, type=2, norm="ortho", axes=self.axes)


@dataclass(frozen=True)
class Sines(Dictionary):
    orthonormal = True

    def bind(self, shape, points=None):
        return SineTransform(shape)


class MatrixTransform(ByFunctions):
    """Functions in the rows of a matrix; coefficients are flat, whatever the signal is."""

    def __init__(self, matrix, shape, orthonormal):
        self.matrix, self.shape, self.orthonormal = matrix, shape, orthonormal
        self.coefficient_shape = (len(matrix),)

    def analyse(self, signal):
        batch = signal.shape[: signal.ndim - len(self.shape)]
        return (signal.reshape(*batch, -1) @ self.matrix.T).astype(signal.dtype)

    def synthesise(self, coefficients):
        flat = (coefficients @ self.matrix).astype(coefficients.dtype)
        return flat.reshape(*coefficients.shape[:-1], *self.shape)

    def places(self):
        return (np.arange(len(self.matrix)) + 0.5) / len(self.matrix)


@dataclass(frozen=True)
class Steps(Dictionary):
    """Haar wavelets as a matrix: orthonormal, in places, on lengths that can be halved."""

    orthonormal = True
    needs_regular_grid = True

    def bind(self, shape, points=None):
        assert all(n % 8 == 0 for n in shape), shape
        size = int(np.prod(shape))
        matrix = Wavelet("haar").bind(shape).synthesise(np.eye(size).reshape(size, *shape))
        return MatrixTransform(matrix.reshape(size, size), shape, True)


@dataclass(frozen=True)
class Tents(Dictionary):
    """Triangles around the samples, which may be anywhere."""

    width: float = 0.1
    orthonormal = False
    centred_on_samples = True
    label = "tents"

    def bind(self, shape, points=None):
        (t,) = points or (np.arange(shape[0]) / shape[0],)
        matrix = np.maximum(1.0 - np.abs(t[:, None] - t) / self.width, 0.0)
        return MatrixTransform(matrix, shape, False)


UNIONS = {
    "sines + haar": (Sines() + "haar", ["Sines", "haar"]),
    "dct + tents": ("dct" + Tents(), ["DCT", "tents"]),
    "steps + sines + rbf": (Steps() + Sines() + "rbf", ["Steps", "Sines", "rbf"]),
}


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def with_gap(y):
    y = y.copy()
    y[GAP] = np.nan
    return y


def check(found, clean, noisy):
    seen = ~np.isnan(noisy)
    assert found.converged
    assert found.signal.shape == found.std.shape == noisy.shape
    assert found.std.min() > 0 and np.isfinite(found.std).all()
    assert np.isfinite(found.signal).all()
    assert rms((found.signal - clean)[seen]) < rms((noisy - clean)[seen])
    assert_allclose(np.sum(found.parts, axis=0) + found.offset, found.signal, atol=1e-10)
    assert len(found.parts) == len(found.dictionary.members)
    assert_array_equal(np.isfinite(found.alpha), found.coefficients != 0)
    mean = np.nanmean(noisy)
    assert_allclose(found.reconstruct(slice(None)) + mean, found.signal, atol=1e-10)


@pytest.mark.parametrize("dictionary", [Sines(), Tents()], ids=repr)
def test_whole_signals(dictionary):
    found = denoise(NOISY, dictionary, method="sparse")
    check(found, CLEAN, NOISY)
    assert ("closed form" in found.stop_reason) == dictionary.orthonormal
    averaged = denoise(NOISY, dictionary)
    check(averaged, CLEAN, NOISY)
    assert averaged.method == ("average" if dictionary.orthonormal else "sparse")


def test_coefficients_of_any_shape():
    # The same functions twice: flat coefficients of a matrix, and our own transform.
    rng = np.random.default_rng(0)
    noisy = (np.mgrid[:16, :24][1] > 9) + 0.2 * rng.standard_normal((16, 24))
    for method in ("sparse", "ash", "soft"):
        ours = denoise(noisy, Wavelet("haar"), method=method, noise=0.04)
        found = denoise(noisy, Steps(), method=method, noise=0.04)
        assert found.coefficients.shape == (16 * 24,)
        assert found.signal.shape == found.std.shape == ours.signal.shape
        if method != "ash":  # which learns from bands, and Steps has one
            assert_allclose(found.signal, ours.signal, atol=1e-10)
    several = denoise(np.stack([noisy, noisy.T.reshape(16, 24)]), Steps(), axes=(1, 2))
    assert several.coefficients.shape == (2, 16 * 24)
    mask = np.zeros((2, 16 * 24), dtype=bool)
    mask[0] = True
    chosen = several.reconstruct(mask)
    assert chosen[0].any() and not chosen[1].any()


@pytest.mark.sampled
@pytest.mark.parametrize(
    "dictionary", [Sines(), Tents(), *(u for u, _ in UNIONS.values())], ids=repr
)
def test_signals_with_a_gap(dictionary):
    y = with_gap(NOISY)
    found = denoise(y, dictionary)
    check(found, CLEAN, y)
    assert found.std[GAP].mean() > np.median(found.std)


def test_a_regular_grid_under_a_gap():
    # Its own lengths of 60 samples would be refused by Steps; errors are judged by its functions.
    clean = 3.0 * (T > 0.4)
    y = with_gap(clean + NOISY - CLEAN)
    found = denoise(y, Steps(), method="sparse")
    check(found, clean, y)
    assert found.coefficients.shape == (64,)
    assert_allclose(found.signal, denoise(y, "haar", method="sparse").signal, atol=1e-8)


@pytest.mark.slow
def test_errors_are_judged_by_an_orthonormal_member_with_places(monkeypatch):
    asked, spread = set(), ByFunctions.spread

    def spy(self, variances):
        asked.add((self.orthonormal, self.places() is not None))
        return spread(self, variances)

    monkeypatch.setattr(ByFunctions, "spread", spy)
    assert denoise(NOISY[:56], Tents() + Sines()).std.min() > 0
    assert asked == set()  # neither can: wavelets do it
    assert denoise(NOISY[:56], Tents() + Sines() + Steps()).std.min() > 0
    assert asked == {(True, True)}


@pytest.mark.sampled
@pytest.mark.parametrize("name", UNIONS)
def test_unions(name):
    dictionary, labels = UNIONS[name]
    y, clean = (NOISY[:56], CLEAN[:56]) if "steps" in name else (NOISY, CLEAN)
    check(denoise(y, dictionary), clean, y)
    assert [member.label for member in dictionary.members] == labels
    assert dictionary.label == " + ".join(labels)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["signal", "coefficients", "shrinkage", "parts"])
@pytest.mark.parametrize("dictionary", [Sines(), "dct" + Tents()], ids=repr)
def test_displays(kind, dictionary):
    y = with_gap(NOISY)
    display = DenoiseDisplay.from_denoised(denoise(y, dictionary), y, kind=kind)
    display.figure_.canvas.draw()
    titles = [ax.get_title() for ax in np.ravel(display.ax_)]
    assert kind == "signal" or titles == [member.label for member in dictionary.members]
    plt.close("all")


def test_images():
    rows, columns = np.mgrid[:12, :15]
    clean = np.sin(np.pi * (rows + 0.5) / 12) * np.sin(2 * np.pi * (columns + 0.5) / 15)
    noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    check(denoise(noisy, Sines()), clean, noisy)
    noisy[4:6, 7] = np.nan
    check(denoise(noisy, Sines() + "haar"), clean, noisy)


@pytest.mark.slow
def test_uneven_positions():
    t = np.sort(np.random.default_rng(1).uniform(size=N))
    clean = np.sin(3 * np.pi * t)
    y = clean + 0.2 * np.random.default_rng(2).standard_normal(N)
    on_grid, at_samples, both = (denoise(y, d, t=t) for d in (Sines(), Tents(), Sines() + Tents()))
    check(at_samples, clean, y)
    assert rms(on_grid.signal - clean) < rms(y - clean)
    assert at_samples.coefficients.shape == (N,)  # centred on the samples
    assert on_grid.coefficients.size > N  # a grid as fine as the closest two
    assert both.coefficients.size == 2 * on_grid.coefficients.size
    assert np.ptp(np.diff(t)) > 0.01
    steps = denoise(y, Steps(), t=t)  # its length is checked in bind
    assert steps.coefficients.size >= on_grid.coefficients.size


def test_the_transformer():
    X = np.stack([NOISY, NOISY[::-1]])
    assert_array_equal(Denoiser(Sines()).fit_transform(X)[0], denoise(NOISY, Sines()).signal)


def test_what_must_be_said_is_named():
    class Nothing(Transform):
        pass

    class Unbound(Dictionary):
        orthonormal = True

    with pytest.raises(TypeError, match=r"abstract method.*analyse.*gather.*spread.*synthesise"):
        Nothing()
    with pytest.raises(TypeError, match=r"abstract method.*bind"):
        Unbound()


def test_what_need_not_be_said():
    dictionary, transform = Sines(), Sines().bind((9, 4))
    assert dictionary.members == (dictionary,) and dictionary.label == "Sines"
    assert not dictionary.centred_on_samples and not dictionary.needs_regular_grid
    assert transform.members == (transform,) and transform.places() is None
    (band,) = transform.bands()
    assert np.ones((9, 4))[band.index].size == 36
    assert DCT() + dictionary == "dct" + dictionary
