"""`denoise`: what it finds, on the closed form's route and on the solver's."""

import pickle

import numpy as np
import pytest
import pywt
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RVR, Gamma, Smoothness, Trace, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.dictionaries import DCT, Kernel, Wavelet
from tests.sweeps import thinned

SIGNALS = ["sinc", "heavisine", "doppler", "blocks", "bumps"]
T, Y, F = make_signal("heavisine", 128, snr=5, random_state=0)
GAPS = Y[:64].copy()
GAPS[[0, 1, 20, 21, 22, 23, 45, 63]] = np.nan
ROWS, COLUMNS = np.mgrid[:24, :17] / 24.0
SMOOTH = np.sin(6 * ROWS) + (COLUMNS > 0.4)
IMAGE = SMOOTH + 0.2 * np.random.default_rng(0).standard_normal(SMOOTH.shape)

# By averages, on the closed form's route and on the solver's: the samples, and the other arguments.
CASES = {
    "default": (Y, {}),
    "wavelets": (Y, {"method": "sparse"}),
    "cosines": (Y, {"dictionary": "dct", "method": "sparse"}),
    "average of cosines": (Y, {"dictionary": "dct"}),
    "kernels": (Y[:48], {"dictionary": "rbf"}),
    "union": (Y[:48], {"dictionary": "haar + dct"}),
    "gaps": (GAPS, {}),
    "times": (Y[:48], {"dictionary": "rbf", "t": T[:48] ** 2}),
    "image": (IMAGE, {}),
    "sparse image": (IMAGE, {"method": "sparse"}),
    "image with gaps": (np.where(ROWS + COLUMNS < 0.1, np.nan, IMAGE)[:8, :10], {}),
    "several": (np.stack([Y, F, 3 - Y]), {"axes": 1}),
    "soft": (Y, {"method": "soft"}),
    "ash": (Y, {"method": "ash"}),
}


def fit(case, factor=1.0, shift=0.0):
    y, options = CASES[case]
    return denoise(factor * y + shift, **options)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def found(case):
    return fit(case)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def spread_out(offset, found):
    """The offsets of signals, in the shape of an array of them."""
    return np.reshape(offset, (-1, 1)) if np.ndim(offset) else offset


class TestEveryRoute:
    @pytest.mark.sampled
    def test_arrays_are_like_the_input(self, case, found):
        y, _ = CASES[case]
        assert found.signal.shape == found.std.shape == y.shape
        assert np.isfinite(found.signal).all() and np.isfinite(found.std).all()
        assert found.std.min() > 0 and found.converged
        assert found.coefficients.shape == found.projections.shape == found.alpha.shape
        kept, largest = np.count_nonzero(found.coefficients), 0.6 * found.signal.size
        averaged = found.method in ("average", "ash")
        assert np.sum(found.n_active) == kept or (averaged and np.all(found.n_active < largest))
        assert_array_equal(np.isfinite(found.alpha), found.coefficients != 0)

    def test_parts_add_up(self, found):
        assert len(found.parts) == len(found.dictionary.members)
        total = np.sum(found.parts, axis=0) + spread_out(found.offset, found)
        assert_allclose(total, found.signal, atol=1e-10)
        if len(found.parts) > 1:  # a constant belongs to no member
            assert_allclose([np.median(part) for part in found.parts], 0.0, atol=1e-10)

    def test_reconstruct(self, case, found):
        y, options = CASES[case]
        mean = np.nanmean(y, axis=options.get("axes"), keepdims=True)
        assert_allclose(found.reconstruct(slice(None)) + mean, found.signal, atol=1e-10)
        mask = np.random.default_rng(0).uniform(size=found.coefficients.shape) < 0.5
        some, rest = found.reconstruct(mask), found.reconstruct(~mask)
        assert some.shape == found.signal.shape
        assert_allclose(some + rest + mean, found.signal, atol=1e-10)
        assert_array_equal(found.reconstruct([]), 0.0)

    @pytest.mark.sampled
    def test_scale_and_shift(self, case, found):
        for factor, shift in ((250.0, -40.0), (1e-3, 7.0)):
            other = fit(case, factor, shift)
            assert_allclose(other.signal, factor * found.signal + shift, rtol=1e-5, atol=1e-6)
            assert_allclose(other.std, factor * found.std, rtol=1e-4)
            assert_allclose(other.noise_variance, factor**2 * found.noise_variance, rtol=1e-4)
            assert_array_equal(other.n_active, found.n_active)

    @pytest.mark.sampled
    def test_the_same_twice_and_the_input_is_not_changed(self, case, found):
        y, options = CASES[case]
        given = y.copy()
        again = denoise(given, **options)
        assert_array_equal(again.signal, found.signal)
        assert_array_equal(again.std, found.std)
        assert_array_equal(given, y)

    @pytest.mark.sampled
    def test_single_precision_is_kept(self, case, found):
        y, options = CASES[case]
        single = denoise(y.astype(np.float32), **options)
        arrays = (single.signal, single.std, single.coefficients, single.projections)
        for array in (*arrays, *single.parts, single.reconstruct([0])):
            assert array.dtype == np.float32
        assert_allclose(single.signal, found.signal, atol=2e-3 * np.ptp(found.signal))
        assert found.signal.dtype == found.std.dtype == np.float64

    def test_storing(self, found):
        again = pickle.loads(pickle.dumps(found))
        assert_array_equal(again.signal, found.signal)
        assert_array_equal(again.std, found.std)
        assert again.n_active is not None and repr(again) == repr(found)

    def test_repr(self, found):
        kept, size = np.sum(found.n_active), found.coefficients.size
        assert repr(found).startswith(f"<Denoised: {kept} of {size} coefficients kept, ")
        assert repr(found.dictionary) in repr(found)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "prior", [*thinned(["aic", "bic", "ric", 2.5], 2), Smoothness(1.5), Trace(1.5)]
)
@pytest.mark.parametrize("noise", [0.5, "estimate"])
def test_the_closed_form_is_what_rvr_finds(prior, noise):
    # The same model twice: a transform, and its matrix with the sequential solver.
    y = Y[:64]
    transform = Wavelet("haar").bind((64,))
    matrix = transform.synthesise(np.eye(64)).T
    found = denoise(y, "haar", method="sparse", prior=prior, noise=noise)
    model = RVR("precomputed", bias=False, prior=prior, noise=noise, tol=1e-8)
    model.fit(matrix, y - y.mean())
    assert_allclose(model.predict(matrix), found.signal - found.offset, atol=1e-6)
    assert_allclose(model.noise_variance_, found.noise_variance, rtol=1e-6)
    assert_allclose(model.log_evidence_, found.log_evidence, atol=1e-6)
    assert_array_equal(np.sort(model.relevance_), np.flatnonzero(np.isfinite(found.alpha)))


def test_coefficients_follow_the_closed_form():
    found = denoise(Y, method="sparse", prior=3.0, noise=0.4)
    assert_allclose(found.projections, Wavelet("sym8").bind((128,)).analyse(Y - Y.mean()))
    z = found.projections**2 / 0.4
    expected = np.where(z > 7.0, found.projections * (1 - 1 / np.maximum(z - 6.0, 1.0)), 0.0)
    assert_allclose(found.coefficients, expected)
    assert_allclose(1 / found.alpha, np.maximum(found.projections**2 - 0.4 * 7.0, 0.0), atol=1e-12)
    assert found.noise_variance == 0.4 and "given" in found.stop_reason


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("snr", [2, 5, 7])
def test_noise_is_removed_and_found_by_the_evidence(name, snr):
    _, y, f = make_signal(name, 1024, snr=snr, random_state=1)
    found = denoise(y, method="sparse")
    # What a sharp signal has in small coefficients is lost, and counts as noise.
    error, excess = (0.75, 1.5) if name in ("blocks", "bumps") else (0.5, 1.1)
    assert rms(found.signal - f) < error * rms(y - f)
    assert 0.8 < found.noise_variance / np.mean((y - f) ** 2) < excess
    assert found.n_active < 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((name, "sparse") for name in SIGNALS),
        *(
            pytest.param(name, "average", marks=[pytest.mark.slow] * (name != "sinc"))
            for name in SIGNALS
        ),
    ],
)
def test_the_band_covers_the_signal(name, method):
    covered = []
    for seed in range(8):
        _, y, f = make_signal(name, 4096, snr=5, random_state=seed)
        found = denoise(y, method=method)
        covered.append(np.mean(np.abs(found.signal - f) < 1.96 * found.std))
    assert 0.90 <= np.mean(covered) <= (0.99 if method == "average" else 0.98)


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["ash", "hard", "soft", "bayes"])
def test_the_band_of_other_rules_covers_too(method):
    covered = []
    for name in SIGNALS:
        _, y, f = make_signal(name, 4096, snr=5, random_state=0)
        found = denoise(y, method=method)
        covered.append(np.mean(np.abs(found.signal - f) < 1.96 * found.std))
    assert np.mean(covered) > 0.8


def test_ends_can_be_missing():
    y = Y.copy()
    y[:12] = y[-12:] = np.nan
    found = denoise(y)
    inside = slice(20, -20)
    assert found.std[:6].mean() > np.median(found.std[inside])
    assert rms(found.signal[inside] - F[inside]) < 0.7 * rms((Y - F)[inside])


def test_a_few_missing_samples_change_little():
    y = Y.copy()
    y[[17, 60, 100]] = np.nan
    whole, found = denoise(Y), denoise(y)
    assert rms(found.signal - whole.signal) < 0.5 * rms(Y - F)
    assert abs(found.noise_variance / whole.noise_variance - 1) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_two_sources_are_told_apart(seed):
    t = np.arange(256) / 256
    steps = 2.0 * (t > 0.2) - 3.0 * (t > 0.43) + 1.5 * (t > 0.77)
    tone = np.cos(2 * np.pi * 20 * (t + 1 / 512))
    y = steps + tone + 0.1 * np.random.default_rng(seed).standard_normal(256)
    found = denoise(y, "haar + dct", prior="ric")
    assert rms(found.parts[0] - (steps - np.median(steps))) < 0.05
    assert rms(found.parts[1] - tone) < 0.01


def test_bands_of_frequencies_can_be_chosen():
    t = np.arange(200) / 200
    slow, fast = np.cos(2 * np.pi * 2 * t), 0.7 * np.cos(2 * np.pi * 25 * t)
    found = denoise(slow + fast + 0.05 * np.random.default_rng(0).standard_normal(200), "dct")
    assert rms(found.reconstruct(slice(30, None)) - fast) < 0.12
    assert rms(found.reconstruct(np.arange(30)) - slow) < 0.12
    mask = np.zeros(200, dtype=bool)
    mask[30:] = True
    assert_array_equal(found.reconstruct(mask), found.reconstruct(slice(30, None)))
    assert_array_equal(found.reconstruct([-1]), found.reconstruct([199]))
    assert_array_equal(found.reconstruct(4), found.reconstruct([4]))


@pytest.mark.sampled
@pytest.mark.parametrize("axes", [0, 1, 2, (0, 1), (2, 0), (1, 2, 0), None])
def test_axes(axes):
    y = np.random.default_rng(0).standard_normal((5, 3, 8)) + 5 * np.sin(np.arange(8))
    found = denoise(y, "haar", axes=axes, n_shifts=2)
    assert found.signal.shape == found.coefficients.shape == found.std.shape == y.shape
    inner = (0, 1, 2) if axes is None else tuple(np.atleast_1d(axes))
    outer = tuple(k for k in range(3) if k not in inner)
    assert np.shape(found.noise_variance) == tuple(y.shape[k] for k in outer)
    moved = np.moveaxis(y, outer, range(len(outer)))
    signal = np.moveaxis(found.signal, outer, range(len(outer)))
    where = tuple(n - 1 for n in moved.shape[: len(outer)])
    alone = denoise(moved[where], "haar", n_shifts=2)
    assert_allclose(signal[where], alone.signal, atol=1e-12)
    assert_allclose(np.asarray(found.noise_variance)[where], alone.noise_variance)
    assert_allclose(np.asarray(found.offset)[where], alone.offset)
    mask = np.abs(found.coefficients) > 1.0
    chosen = np.moveaxis(found.reconstruct(mask), outer, range(len(outer)))
    assert_allclose(chosen[where], alone.reconstruct(np.abs(alone.coefficients) > 1.0), atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("last", [Y[64:], GAPS], ids=["whole", "gaps"])
def test_several_signals_do_not_know_each_other(last):
    y = np.stack([Y[:64], 100 * Y[63::-1], np.full(64, 4.0), last])
    found = denoise(y, "haar", axes=1)
    order = [3, 1, 0, 2]
    mixed = denoise(y[order], "haar", axes=1)
    assert_array_equal(mixed.signal, found.signal[order])
    assert_array_equal(mixed.noise_variance, found.noise_variance[order])
    assert_array_equal(found.signal[2], 4.0)
    assert len(found.noise_maxima) == 4


def test_several_signals_of_a_union():
    y = np.stack([Y[:32], Y[32:64]], axis=1)
    found = denoise(y, "haar + dct", axes=0)
    assert found.coefficients.shape == found.alpha.shape == (2, 64)
    assert [part.shape for part in found.parts] == [(32, 2)] * 2
    alone = denoise(y[:, 1], "haar + dct")
    assert_array_equal(found.coefficients[1], alone.coefficients)
    mask = np.zeros((2, 64), dtype=bool)
    mask[1, 32:] = True
    chosen = found.reconstruct(mask)
    assert_array_equal(chosen[:, 0], 0.0)
    part = chosen[:, 1] - np.median(chosen[:, 1])
    assert_allclose(part, alone.parts[1], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("layout", [np.asfortranarray, lambda y: y[::-1, ::-1].copy()[::-1, ::-1]])
def test_memory_order_does_not_matter(layout):
    assert_allclose(denoise(layout(IMAGE)).signal, denoise(IMAGE).signal, atol=1e-12)
    assert_allclose(denoise(IMAGE.T, "haar").signal.T, denoise(IMAGE, "haar").signal, atol=1e-10)


@pytest.mark.slow
def test_images_and_volumes():
    clean = np.zeros((12, 9, 10))
    clean[4:, 3:6] = 4.0
    noisy = clean + np.random.default_rng(0).standard_normal(clean.shape)
    assert rms(denoise(noisy, "haar").signal - clean) < 0.85
    image = denoise(IMAGE, "haar").signal
    assert rms(image - SMOOTH) < 0.8 * rms(IMAGE - SMOOTH)


class TestPositions:
    times = np.sort(np.random.default_rng(1).uniform(0.0, 10.0, 60))
    clean = np.sin(times) + 0.5 * np.cos(2 * times)
    noisy = clean + 0.1 * np.random.default_rng(2).standard_normal(60)

    @pytest.mark.parametrize("dictionary", ["sym8", "dct", "rbf"])
    def test_unequal_spacing(self, dictionary):
        found = denoise(self.noisy, dictionary, t=self.times)
        assert rms(found.signal - self.clean) < 0.9 * rms(self.noisy - self.clean)
        order = np.random.default_rng(0).permutation(60)
        mixed = denoise(self.noisy[order], dictionary, t=self.times[order])
        assert_allclose(mixed.signal, found.signal[order], atol=1e-5)
        moved = denoise(self.noisy, dictionary, t=1e3 * self.times - 7e4)
        assert_allclose(moved.signal, found.signal, atol=1e-5)

    @pytest.mark.parametrize("dictionary", ["sym8", "dct", "rbf"])
    def test_equal_spacing_is_none(self, dictionary):
        expected = denoise(Y[:50], dictionary)
        for t in (
            np.arange(50),
            5 - 1e-3 * np.arange(50)[::-1],
            np.round(np.linspace(0, 1, 50), 6),
        ):
            assert_allclose(denoise(Y[:50], dictionary, t=t).signal, expected.signal, atol=1e-9)
        if dictionary != "rbf":
            found = denoise(Y[:50], dictionary, t=np.arange(50), method="soft")
            assert_array_equal(found.signal, denoise(Y[:50], dictionary, method="soft").signal)

    @pytest.mark.parametrize("dictionary", ["haar", "rbf"])
    def test_repeated_positions(self, dictionary):
        t = np.repeat(self.times[:30], 2)
        found = denoise(self.noisy, dictionary, t=t)
        assert_array_equal(found.signal[::2], found.signal[1::2])
        assert found.std.shape == (60,)
        together = denoise(self.noisy, dictionary, t=np.ones(60))
        assert_allclose(together.signal, self.noisy.mean())

    def test_missing_samples_too(self):
        y = self.noisy.copy()
        y[20:25] = np.nan
        found = denoise(y, "rbf", t=self.times)
        assert np.isfinite(found.signal).all()
        assert np.abs(found.signal - self.clean)[20:25].max() < 0.5


@pytest.mark.parametrize("dictionary", ["haar", "dct"])
def test_thresholds_are_those_of_pywavelets(dictionary):
    projections = denoise(Y, dictionary).projections
    for mode in ("hard", "soft"):
        found = denoise(Y, dictionary, method=mode, noise=0.3)
        limit = np.sqrt(2 * 0.3 * np.log(128))
        assert_allclose(found.coefficients, pywt.threshold(projections, limit, mode))
        assert np.isnan(found.log_evidence)
    found = denoise(Y, dictionary, method="soft")
    assert_allclose(
        np.sqrt(found.noise_variance), np.median(np.abs(projections[64:])) / 0.6744897501960817
    )


def test_an_average_over_precisions():
    found = denoise(Y, method="ash", noise=0.4)
    factor = found.coefficients / found.projections
    assert np.all((factor > 0) & (factor < 1))  # nothing is dropped, nothing left as it was
    order = np.argsort(np.abs(found.projections[64:]))
    assert np.all(np.diff(factor[64:][order]) > -1e-12)
    assert_allclose(1 / (1 + 0.4 * found.alpha), factor)


def test_an_average_is_better_for_images():
    rows, columns = np.mgrid[:64, :64] / 64
    clean = np.sin(9 * rows * columns) + (np.hypot(rows - 0.5, columns - 0.4) < 0.3)
    noisy = clean + 0.3 * np.random.default_rng(0).standard_normal(clean.shape)
    errors = [rms(denoise(noisy, method=m).signal - clean) for m in ("ash", "sparse")]
    assert errors[0] < 0.95 * errors[1]


def test_bayes_shrink():
    found = denoise(Y, "haar", method="bayes", noise=0.3)
    for band in (slice(64, 128), slice(16, 32)):
        values = found.projections[band]
        limit = 0.3 / np.sqrt(max(np.mean(values**2) - 0.3, 1e-12))
        assert_allclose(found.coefficients[band], pywt.threshold(values, limit, "soft"), atol=1e-12)


def test_noise_of_images_is_that_of_the_finest_diagonal():
    image = IMAGE[:16, :16]
    found = denoise(image, "haar", method="soft")
    finest = np.abs(found.projections[8:, 8:])
    assert_allclose(np.sqrt(found.noise_variance), np.median(finest) / 0.6744897501960817)


def test_thresholds_without_noise():
    # Half of the finest coefficients are zero, and so is the noise.
    steps = np.repeat([0.0, 1.0, 5.0, 2.0], 16)
    for method in ("ash", "hard", "soft", "bayes"):
        found = denoise(steps, "haar", method=method)
        assert found.noise_variance == 0.0
        assert_allclose(found.signal, steps, atol=1e-12)
        assert_array_equal(found.std, 0.0)
        assert (
            found.n_active == np.isfinite(found.alpha).sum() == np.count_nonzero(found.projections)
        )


@pytest.mark.parametrize(
    "dictionary", [Wavelet("db4", level=2), DCT() + "haar", Kernel("rbf", 9.0)]
)
def test_dictionaries_as_objects(dictionary):
    found = denoise(Y[:64], dictionary)
    assert found.dictionary is dictionary
    assert rms(found.signal - F[:64]) < rms(Y[:64] - F[:64])


def test_other_priors_go_by_the_solver():
    found = denoise(Y[:64], method="sparse", prior=Gamma(1.0, 1.0), noise=0.4)
    assert found.coefficients.shape == (64,) and found.converged
    assert 0 < found.n_active < 64


@pytest.mark.parametrize("method", ["ash", "hard", "soft", "bayes"])
def test_the_prior_does_not_matter_to_other_rules(method):
    expected = denoise(Y, method=method)
    for prior in ("ric", Gamma(1.0, 1.0)):
        assert_array_equal(denoise(Y, method=method, prior=prior).signal, expected.signal)


def test_local_maxima_of_the_noise():
    found = denoise(Y, method="sparse")
    assert (found.noise_variance, found.log_evidence) != found.noise_maxima[0]
    assert found.noise_maxima[0][0] == found.noise_variance
    objectives = [objective for _, objective in found.noise_maxima]
    assert objectives == sorted(objectives, reverse=True)


def test_a_wide_kernel_is_not_fitted_in_rounding(monkeypatch):
    """Convolutions round more than a matrix: a fit that is lost there must say so."""
    x = np.arange(512.0)
    y = np.sin(x / 30.0) + 0.1 * np.random.default_rng(0).standard_normal(512)
    found = denoise(y, Kernel("rbf", 40.0), prior="flat")
    assert found.converged and rms(found.signal - np.sin(x / 30.0)) < 0.05
    fit = type(found.fits[0])
    monkeypatch.setattr(fit, "_estimate", np.zeros(512))
    with pytest.warns(ConvergenceWarning, match="rounding hides the fit"):
        assert not denoise(y, Kernel("rbf", 40.0), prior="flat").converged
