"""Long signals: pieces that give what a whole fit gives, from files and to files."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import denoise
from sparsebayes._support import files
from sparsebayes.denoising import long_signals
from sparsebayes.denoising.averaging import pieces
from sparsebayes.denoising.averaging.averages import Average
from sparsebayes.dictionaries import DCT, MDCT, DualTree, Wavelet

N = 200_000 + 77
KEPT = 1 << 16


def clean(n=N):
    t = np.arange(n)
    return np.sin(t / 500.0) + (t // 10_000) % 3


@pytest.fixture(scope="module")
def y():
    return clean() + 0.3 * np.random.default_rng(0).standard_normal(N)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Signals are long, and pieces small, from a few samples on."""
    monkeypatch.setattr(long_signals, "LONGEST", 150_000)
    monkeypatch.setattr(pieces, "_KEPT", KEPT)


@pytest.mark.parametrize("size", [KEPT, 2 * KEPT + 1, 3 * KEPT - 1, 10 * KEPT, N])
@pytest.mark.parametrize(("unit", "reach"), [(1024, 9000), (1000, 5000), (2, 36)])
def test_pieces_keep_every_sample_once(size, unit, reach):
    found = pieces.cut(size, unit, reach)
    assert found[0].first == 0 and found[-1].last == size
    for before, after in pairwise(found):
        assert before.last == after.first
        assert after.first - after.start >= min(reach, after.first)
        assert before.stop - before.last >= min(reach, size - before.last)
    for piece in found:
        assert piece.start % unit == 0
        assert min(size, KEPT // 2) <= piece.last - piece.first < 2 * KEPT + unit


@pytest.mark.sampled
@pytest.mark.parametrize("dictionary", [Wavelet("db2"), Wavelet("sym8", 5), MDCT(500), DualTree()])
def test_pieces_give_what_the_whole_gives_with_the_same_rules(y, dictionary):
    found = denoise(y, dictionary)
    fit = found.fits[0]
    assert isinstance(fit, long_signals.PiecewiseFit)
    assert len(pieces.cut(N, *dictionary.in_pieces()[1:])) > 2
    lesson, target = fit._learned.of_length(N), fit._samples.read(0, N)
    whole = Average(target, band=True)
    whole.add(lesson, lesson.views.analyse(target))
    inner = slice(dictionary.in_pieces().reach, -dictionary.in_pieces().reach)
    signal = whole.signal + y.mean()
    std = np.sqrt(whole.variance + found.noise_variance / N)
    # Large bands are looked up in tables, smaller ones are not.
    assert_allclose(found.signal[inner], signal[inner], atol=2e-3 * 0.3)
    assert_allclose(found.std[inner], std[inner], atol=2e-3 * 0.3)
    # The ends: each has a margin, but it leads elsewhere.
    assert np.abs(found.signal - signal).max() < 0.3
    assert abs(found.n_active - whole.kept) < 0.02 * found.n_active + 5


@pytest.mark.slow
def test_a_seam_is_not_seen(y, monkeypatch):
    found = denoise(y, "sym8")
    error = np.abs(found.signal - clean())
    assert np.sqrt(np.mean(error**2)) < 0.3 / 8
    assert np.mean(error < 1.96 * found.std) > 0.9
    monkeypatch.setattr(pieces, "_KEPT", 3 * KEPT // 4)
    other = denoise(y, "sym8")  # with seams elsewhere
    change = np.abs(found.signal - other.signal)
    for seam in (KEPT, 2 * KEPT, 3 * KEPT // 4, 3 * KEPT // 2):
        assert change[seam - 50 : seam + 50].max() < 0.1 * 0.3


@pytest.mark.slow
def test_the_same_as_one_fit_nearly(y, monkeypatch):
    found = denoise(y)
    monkeypatch.setattr(long_signals, "LONGEST", 1 << 30)
    whole = denoise(y)
    assert found.dictionary.name == whole.dictionary.name and whole.dictionary.level is None
    assert found.n_shifts == whole.n_shifts
    assert_allclose(found.noise_variance, whole.noise_variance, rtol=0.02)
    assert_allclose(found.log_evidence, whole.log_evidence, rtol=0.01)
    assert np.std(found.signal - whole.signal) < 0.4 * np.std(whole.signal - clean())
    assert_allclose(found.std.mean(), whole.std.mean(), rtol=0.05)


def test_what_is_rare_is_found(y):
    """Twenty spikes, none of them in the stretches that are looked at first."""
    places = np.arange(13_000, N, 10_000)
    rng = np.random.default_rng(1)
    spikes = 0.3 * rng.standard_normal(N)
    spikes[places] += 6.0
    assert (denoise(spikes, "haar").signal[places] > 3.0).all()


@pytest.mark.slow
def test_memory_maps(y, tmp_path):
    np.save(tmp_path / "y.npy", y.astype(np.float32))
    mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
    found = denoise(mapped, "sym8")
    assert isinstance(found.signal, np.memmap) and isinstance(found.std, np.memmap)
    assert found.signal.dtype == found.std.dtype == np.float32
    in_memory = denoise(y.astype(np.float32), "sym8")
    assert not isinstance(in_memory.signal, np.memmap)
    assert_array_equal(found.signal, in_memory.signal)
    assert_array_equal(found.std, in_memory.std)


@pytest.mark.slow
def test_out_and_std_out(y, tmp_path):
    place = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float32, (N,))
    std = np.empty(N)
    found = denoise(y, "sym8", out=place, std_out=std)
    assert found.signal is place and found.std is std
    plain = denoise(y, "sym8")
    assert_array_equal(place, plain.signal.astype(np.float32))
    assert_array_equal(std, plain.std)
    place.flush()
    assert_array_equal(np.load(tmp_path / "out.npy"), place)


@pytest.mark.slow
def test_out_of_short_signals_and_images():
    y = np.random.default_rng(0).standard_normal((4, 30))
    for values, options in ((y, {"n_shifts": 2}), (y, {"axes": 1}), (y[0], {"method": "sparse"})):
        place, std = np.empty(values.shape), np.empty(values.shape, np.float32)
        found = denoise(values, out=place, std_out=std, **options)
        plain = denoise(values, **options)
        assert found.signal is place and found.std is std
        assert_array_equal(place, plain.signal)
        assert_array_equal(std, plain.std.astype(np.float32))


@pytest.mark.slow
def test_integers_and_columns(y):
    whole = np.rint(1000 * y).astype(np.int16)
    found = denoise(whole, "haar")
    assert found.signal.dtype == np.float64
    columns = np.stack([whole, whole[::-1]], axis=1)
    assert_array_equal(denoise(columns[:, 0], "haar").signal, found.signal)


@pytest.mark.slow
def test_coefficients_are_there_when_asked_for(y):
    found = denoise(y, "haar")
    assert "transform" not in found.fits[0].__dict__  # nothing of the size of the signal is made
    repr(found)
    assert_allclose(found.reconstruct(slice(None)) + found.offset, found.signal, atol=1e-9)
    assert found.coefficients.shape == found.projections.shape == found.alpha.shape == (N,)
    assert_allclose(found.fits[0].variance() + found.noise_variance / N, found.std**2)


@pytest.mark.slow
def test_progress(y, capsys):
    denoise(y, "haar", verbose=1)
    count = len(pieces.cut(N, *Wavelet("haar").in_pieces()[1:]))
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == f"[denoise] piece {count} of {count}, {N} samples"
    denoise(y, "haar")
    assert capsys.readouterr().out == ""


def test_without_noise_nothing_changes():
    found = denoise(np.full(N, 7.0))
    assert_array_equal(found.signal, 7.0)
    assert_array_equal(found.std, 0.0)
    assert found.noise_variance == 0.0
    steps = np.repeat(np.arange(5.0), N // 5 + 1)[:N]
    assert_allclose(denoise(steps).signal, steps, atol=1e-9)


def test_gaps(y, tmp_path):
    gap = y.astype(np.float32)
    gap[777] = np.nan
    np.save(tmp_path / "y.npy", gap)
    with pytest.raises(ValueError, match=r"missing samples \(NaN\).*; fill them"):
        denoise(np.load(tmp_path / "y.npy", mmap_mode="r"))
    with pytest.raises(ValueError, match="missing samples"):
        denoise(gap, out=np.empty(N))
    gap[778] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        denoise(gap)


def test_wrong_places(y):
    with pytest.raises(ValueError, match=r"out must have the shape of y, \(200077,\), got \(3,\)"):
        denoise(y, out=np.empty(3))
    with pytest.raises(ValueError, match="std_out must be an array of float32 or float64"):
        denoise(y, std_out=np.empty(N, int))
    with pytest.raises(ValueError, match="out must be an array"):
        denoise([1.0, 2.0], out=[0.0, 0.0])
    fixed = np.empty(N)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="out cannot be written"):
        denoise(y, out=fixed)


def test_a_full_disk_is_told_of_before_the_work(y, tmp_path, monkeypatch):
    np.save(tmp_path / "y.npy", y)
    full = type("Usage", (), {"free": 10})
    monkeypatch.setattr(files.shutil, "disk_usage", lambda folder: full)
    with pytest.raises(OSError, match=f"takes {8 * N} bytes, .* has 10; give arrays"):
        denoise(np.load(tmp_path / "y.npy", mmap_mode="r"), "haar")


def test_functions_over_the_whole_signal_are_not_cut(y):
    assert DCT().in_pieces() is None and (Wavelet("haar") + DCT()).in_pieces() is None
    assert not isinstance(denoise(y, "dct").fits[0], long_signals.PiecewiseFit)
    assert not isinstance(denoise(y, "haar", method="ash").fits[0], long_signals.PiecewiseFit)


def test_the_depth_is_limited_and_a_smaller_one_is_kept():
    assert Wavelet("sym8").in_pieces().dictionary == Wavelet("sym8", 11)
    assert Wavelet("sym8", 3).in_pieces() == (Wavelet("sym8", 3), 8, 18 * 8)
    assert MDCT(256).in_pieces().dictionary == MDCT(256)
