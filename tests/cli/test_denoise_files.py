"""``sparsebayes denoise`` of JPEG, TIFF stacks, FLAC and OGG, and of files that are long."""

import os
import sys
import wave

import imagecodecs
import numpy as np
import pytest
import tifffile
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import wavfile

from sparsebayes import denoise
from sparsebayes.cli import denoise as denoise_command
from sparsebayes.cli import main
from sparsebayes.cli.media import media, read
from sparsebayes.denoising import long_signals
from sparsebayes.denoising.averaging import pieces
from tests.cli.refusal import fails
from tests.cli.test_denoise import IMAGE, NOISY, rms


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.mark.parametrize("output", ["b.jpg", "b.png"])
def test_jpeg(folder, rng, output):
    clean = 255 * (0.1 + 0.8 * IMAGE)
    values = np.clip(clean + 10 * rng.standard_normal(clean.shape), 0, 255).astype("u1")
    (folder / "a.jpeg").write_bytes(imagecodecs.jpeg8_encode(values, level=98))
    assert main(["denoise", "a.jpeg", "-o", output, "--quiet"]) == 0
    decode = imagecodecs.jpeg8_decode if output == "b.jpg" else imagecodecs.png_decode
    back = decode((folder / output).read_bytes()).astype(float)
    assert back.shape == values.shape
    assert rms(back - clean) < 0.6 * rms(values - clean)


@pytest.mark.slow
def test_pages_of_a_tiff(folder, capsys, rng):
    levels = np.array([1.0, 0.5, 0.2])[:, None, None]
    image = IMAGE[::2, ::2]
    pages = np.rint(200 * levels * image + 8 * rng.standard_normal((3, *image.shape)) + 30)
    pages = np.clip(pages, 0, 255).astype("u1")
    tifffile.imwrite("a.tif", pages, photometric="minisblack")
    once = ["--n-shifts", "1"]
    assert main(["denoise", "a.tif", "-o", "b.tif", "--figures", "f", *once]) == 0
    assert "3 pages, 32 × 24 pixels, 1 channel, uint8" in capsys.readouterr().out
    back = tifffile.imread("b.tif")
    for page, found in zip(pages, back, strict=True):
        assert_array_equal(found, np.clip(np.rint(denoise(page, n_shifts=1).signal), 0, 255))
    assert sorted(os.listdir("f")) == [f"denoised_page_{k}.png" for k in (1, 2, 3)]
    assert main(["denoise", "a.tif", "-o", "c.tif", "--volume", "--quiet", *once]) == 0
    volume = np.clip(np.rint(denoise(pages, n_shifts=1).signal), 0, 255)
    assert_array_equal(tifffile.imread("c.tif"), volume)
    assert not np.array_equal(volume, back)
    fails(capsys, ["denoise", "a.tif", "-o", "b.png"], "must be of the type of the input")
    tifffile.imwrite("one.tif", pages[0])
    fails(capsys, ["denoise", "one.tif", "-o", "b.tif", "--volume"], "several pages")
    np.save("a.npy", NOISY)
    fails(capsys, ["denoise", "a.npy", "-o", "b.npy", "--volume"], "--volume is for .tif files")


def test_flac_and_ogg_need_an_extra(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    for name in ("a.flac", "a.ogg"):
        (folder / name).write_bytes(b"fLaC")
        fails(capsys, ["denoise", name, "-o", "b.wav"], r"soundfile: .*sparsebayes\[sound\]")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "kind", "output"),
    [
        ("a.flac", "PCM_16", "b.flac"),
        ("a.flac", "PCM_24", "b.wav"),
        ("a.flac", "PCM_S8", "b.wav"),
        ("a.ogg", "VORBIS", "b.wav"),
        ("a.ogg", "VORBIS", "b.ogg"),
    ],
)
def test_compressed_sounds(folder, capsys, rng, name, kind, output):
    sound = pytest.importorskip("soundfile")
    tone = 0.5 * np.sin(0.2 * np.arange(20_000))
    noisy = np.stack([tone, -tone], axis=1) + 0.05 * rng.standard_normal((20_000, 2))
    sound.write(name, noisy, 16_000, subtype=kind)
    assert main(["denoise", name, "-o", output]) == 0
    assert "a.flac: 20000" in (out := capsys.readouterr().out) or "a.ogg: 20000" in out
    back, rate = sound.read(output)
    assert rate == 16_000 and back.shape == noisy.shape
    assert rms(back[:, 0] - tone) < 0.5 * rms(noisy[:, 0] - tone)
    assert rms(back[:, 1] + tone) < 0.5 * rms(noisy[:, 1] - -tone)


@pytest.fixture
def long_ones(monkeypatch):
    """Files are long, and go piece by piece, from a few samples on."""
    for module in (denoise_command, media, read, long_signals):
        monkeypatch.setattr(module, "LONGEST", 45_000)
    monkeypatch.setattr(pieces, "_KEPT", 1 << 14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bits", [pytest.param(8, marks=pytest.mark.slow), 16, pytest.param(24, marks=pytest.mark.slow)]
)
def test_long_sounds(folder, rng, long_ones, bits):
    n = 50_000
    tone = 0.5 * np.sin(0.002 * np.arange(n))
    noisy = np.stack([tone, -tone], axis=1) + 0.05 * rng.standard_normal((n, 2))
    whole = np.rint(noisy * 2 ** (bits - 1)).astype("<i4")
    packed = (whole + 128).astype("u1") if bits == 8 else whole.astype("<i2")
    content = packed.tobytes()
    if bits == 24:
        content = whole.reshape(-1, 1).view("u1")[:, :3].tobytes()
    with wave.open("a.wav", "wb") as file:
        file.setparams((2, bits // 8, 16_000, 0, "NONE", ""))
        file.writeframes(content)
    assert main(["denoise", "a.wav", "-o", "b.wav", "--std", "s.npy", "--figures", "f"]) == 0
    _, back = wavfile.read("b.wav")
    back = back / 128 - 1 if bits == 8 else back / 2.0 ** (31 if bits == 24 else 15)
    assert back.shape == noisy.shape
    result = denoise(whole[:, 0] + 0.0)
    assert isinstance(result.fits[0], long_signals.PiecewiseFit)
    assert_allclose(back[:, 0], result.signal / 2 ** (bits - 1), atol=0.6 / 2 ** (bits - 1))
    assert_allclose(np.load("s.npy")[:, 0], result.std, rtol=1e-3)
    assert rms(back[:, 1] + tone) < 0.3 * 0.05
    assert len(os.listdir("f")) == 2


@pytest.mark.slow
def test_long_arrays(folder, rng, long_ones):
    y = (np.sin(0.002 * np.arange(50_000)) + 0.3 * rng.standard_normal(50_000)).astype("f4")
    np.save("a.npy", y)
    assert main(["denoise", "a.npy", "-o", "b.npy", "--dictionary", "haar", "--quiet"]) == 0
    back = np.load("b.npy")
    assert back.dtype == y.dtype
    assert_array_equal(back, denoise(y, "haar").signal)
    np.save("a.npy", np.rint(100 * y).astype("i2"))
    assert main(["denoise", "a.npy", "-o", "b.npy", "--dictionary", "haar", "--quiet"]) == 0
    assert np.load("b.npy").dtype == "f8"
    y[5] = np.nan
    np.save("a.npy", y)
    assert main(["denoise", "a.npy", "-o", "b.npy", "--quiet"]) == 2
