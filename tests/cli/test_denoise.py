"""``sparsebayes denoise``: files in, files of the same kind out, one clear line for errors."""

import os
import re
import sys

import imagecodecs
import numpy as np
import pytest
import tifffile
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import wavfile
from scipy.stats import norm

from sparsebayes import denoise
from sparsebayes.cli import denoise as denoise_command
from sparsebayes.cli import main
from sparsebayes.cli.reports.progress_line import ProgressLine
from sparsebayes.plots import DenoiseDisplay
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

N = 512
T = np.linspace(0.0, 1.0, N)
CLEAN = np.sin(9.0 * T) + (T > 0.6)
NOISY = CLEAN + 0.2 * np.random.default_rng(0).standard_normal(N)
ROWS, COLUMNS = np.mgrid[:48, :64] / 64.0
IMAGE = np.sin(4 * ROWS) * np.cos(3 * COLUMNS) + (COLUMNS > 0.5)
IMAGE = (IMAGE - IMAGE.min()) / np.ptp(IMAGE)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.mark.slow
def test_csv(folder, capsys):
    write_csv("a.csv", {"day": [f"d{k}" for k in range(N)], "level": NOISY.tolist()})
    assert main(["denoise", "a.csv", "-o", "b.csv", "--coverage", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    result = denoise(NOISY)
    assert f"a.csv: {N} rows, column level" in out
    assert re.search(rf"noise std +{np.sqrt(result.noise_variance):.4g}\n", out)
    assert re.search(rf"{result.n_active} kept by more than half, of {N}\n", out)
    assert re.search(rf"dictionary +{result.dictionary.label}\n", out) and "prior" not in out
    assert re.search(r"method +averaged over precisions and bases \(16 bases\)\n", out)
    share = 100 * np.var(NOISY - result.signal) / np.var(NOISY)
    assert float(re.search(r"removed +(\S+) % of the variance\n", out)[1]) == pytest.approx(
        share, rel=0.01
    )
    assert re.search(r"time +\d+\.\d\d s\n", out) and re.search(r"written +b\.csv\n", out)
    table = read_csv("b.csv")
    assert list(table) == ["level", "denoised", "std", "lower", "upper"]
    columns = {name: np.array(cells, float) for name, cells in table.items()}
    assert_array_equal(columns["level"], NOISY)
    assert_array_equal(columns["denoised"], result.signal)
    assert_array_equal(columns["std"], result.std)
    limits = norm.ppf([[0.25], [0.75]], result.signal, result.std)
    assert_allclose([columns["lower"], columns["upper"]], limits)
    assert rms(columns["denoised"] - CLEAN) < 0.5 * rms(NOISY - CLEAN)


def test_csv_with_gaps_and_times(folder, capsys, rng):
    cells = [f"{value:.6f}" for value in NOISY[:64]]
    for k, text in {5: "", 6: "nan", 50: "NaN", 51: " "}.items():
        cells[k] = text
    times = [f"{t:.7f}" for t in np.sort(rng.uniform(size=64))]
    write_csv("a.csv", {"other": times[::-1], "t": times, "y": cells})
    assert main(["denoise", "a.csv", "-o", "b.csv", "--column", "y", "--time", "t"]) == 0
    assert "64 rows, column y, 4 missing (filled)" in capsys.readouterr().out
    table = read_csv("b.csv")
    assert list(table) == ["t", "y", "denoised", "std", "lower", "upper"]
    assert list(table["t"]) == times and list(table["y"]) == list(map(str.strip, cells))
    values = np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    result = denoise(values, t=np.array(times, float))
    assert_array_equal(np.array(table["denoised"], float), result.signal)
    assert np.isfinite(np.array(table["std"], float)).all()


def test_csv_with_times_at_equal_distances(folder):
    # Rounded as they were written: the closed form is used, and thresholds can be.
    times = [f"{t:.6f}" for t in T]
    write_csv("a.csv", {"t": times, "y": NOISY.tolist()})
    for method in ("sparse", "soft"):
        argv = ["denoise", "a.csv", "-o", "b.csv", "--time", "t", "--method", method, "--quiet"]
        assert main(argv) == 0
        table = read_csv("b.csv")
        assert list(table["t"]) == times
        result = denoise(NOISY, method=method)
        assert_array_equal(np.array(table["denoised"], float), result.signal)
        assert_array_equal(np.array(table["std"], float), result.std)


def test_csv_of_one_column_with_an_empty_row(folder):
    # pandas writes a missing value of the only column so.
    (folder / "a.csv").write_text("y\n" + "\n".join(map(str, NOISY[:9])) + '\n""\n3.5\n\n')
    assert main(["denoise", "a.csv", "-o", "b.csv", "--quiet"]) == 0
    table = read_csv("b.csv")
    assert len(table["y"]) == 11 and table["y"][9] == ""
    assert np.isfinite(float(table["denoised"][9]))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_npy(folder, capsys, dtype):
    y = (100.0 * NOISY).astype(dtype)
    np.save("a.npy", y)
    argv = ["denoise", "a.npy", "-o", "b.npy", "--std", "s.npy"]
    assert main([*argv, "--dictionary", "haar", "--prior", "2.5", "--noise", "300"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"dictionary +haar\nmethod +one precision .*\nprior +2\.5\n", out)
    assert re.search(r"coefficients +\d+ kept of 512\n", out)
    assert re.search(rf"noise std +{np.sqrt(300):.4g} \(given\)\n", out)
    assert re.search(r"written +b\.npy\n +s\.npy\n", out)
    result = denoise(y, "haar", method="sparse", prior=2.5, noise=300.0)
    for name, expected in (("b.npy", result.signal), ("s.npy", result.std)):
        values = np.load(name)
        assert values.dtype == ("f4" if dtype == "f4" else "f8")
        assert_array_equal(values, expected)


@pytest.mark.slow
def test_npy_of_two_dimensions(folder, capsys):
    y = np.stack([NOISY, 0.1 * NOISY[::-1]])[:, ::4]
    np.save("a.npy", y)
    argv = ["denoise", "a.npy", "-o", "b.npy", "--n-shifts", "2"]
    assert main([*argv, "--axes", "1"]) == 0
    assert "float64 of shape (2, 128)" in (out := capsys.readouterr().out)
    assert len(re.search(r"noise std +(.*)\n", out)[1].split(", ")) == 2  # of each signal
    assert_array_equal(np.load("b.npy"), denoise(y, axes=1, n_shifts=2).signal)
    assert main([*argv, "--axes", "0,-1", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert_array_equal(np.load("b.npy"), denoise(y, n_shifts=2).signal)


METHODS = {
    "ash": "averaged over the precisions of a band",
    "hard": "hard threshold",
    "soft": "soft threshold",
    "bayes": "soft threshold for each band",
}


@pytest.mark.parametrize("method", METHODS)
def test_methods(folder, capsys, method):
    np.save("a.npy", NOISY)
    assert main(["denoise", "a.npy", "-o", "b.npy", "--method", method]) == 0
    out = capsys.readouterr().out
    assert f"method        {METHODS[method]}\n" in out and "prior" not in out
    assert_array_equal(np.load("b.npy"), denoise(NOISY, method=method).signal)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("dtype", "scale", "offset"),
    [("u1", 50.0, 128.0), ("i2", 9000.0, 0.0), ("i4", 5e8, 0.0), ("f4", 0.4, 0.0)],
)
def test_wav(folder, capsys, rng, dtype, scale, offset):
    clean = np.stack([CLEAN - CLEAN.mean(), np.sin(20.0 * T)], axis=1)
    noisy = clean + [0.2, 0.05] * rng.standard_normal(clean.shape)
    samples = offset + scale * noisy
    samples = (samples if dtype == "f4" else np.rint(samples)).astype(dtype)
    wavfile.write("a.wav", 11025, samples)
    assert main(["denoise", "a.wav", "-o", "b.wav"]) == 0
    out = capsys.readouterr().out
    assert f"a.wav: {N} samples, 2 channels, 11025 Hz" in out
    rate, values = wavfile.read("b.wav")
    assert rate == 11025 and values.dtype == dtype and values.shape == samples.shape
    for k in range(2):
        alone = denoise(samples[:, k]).signal
        assert_array_equal(values[:, k], (alone if dtype == "f4" else np.rint(alone)).astype(dtype))
        error = (values[:, k] - offset) / scale - clean[:, k]
        assert rms(error) < 0.6 * rms(noisy[:, k] - clean[:, k])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("channels", "dtype", "name"),
    [  # every pair of them; all three together are slow
        pytest.param(*one, marks=[pytest.mark.slow] * (k % 2))
        for k, one in enumerate(
            [
                *((1, "u1", "a.png"), (1, "u1", "a.tif"), (1, "u2", "a.tif"), (1, "u2", "a.png")),
                *((3, "u1", "a.tif"), (3, "u1", "a.png"), (3, "u2", "a.png"), (3, "u2", "a.tif")),
                *((4, "u1", "a.png"), (4, "u1", "a.tif"), (4, "u2", "a.tif"), (4, "u2", "a.png")),
            ]
        )
    ],
)
def test_images(folder, capsys, rng, name, dtype, channels):
    top = np.iinfo(dtype).max
    levels = np.array([0.8, 0.6, 0.4, 0.2])[:channels]
    clean = top * (0.1 + levels * IMAGE[::2, ::2, None])
    noisy = clean + 0.05 * top * rng.standard_normal(clean.shape)
    values = np.clip(np.rint(noisy), 0, top).astype(dtype)
    if channels == 1:
        values, clean = values[:, :, 0], clean[:, :, 0]
    if name == "a.png":
        (folder / name).write_bytes(imagecodecs.png_encode(values))
    else:
        options = {"extrasamples": ["unassalpha"]} if channels == 4 else {}
        kind = "minisblack" if channels == 1 else "rgb"
        tifffile.imwrite(name, values, photometric=kind, **options)
    output = name.replace("a", "b")
    assert main(["denoise", name, "-o", output, "--quiet", "--n-shifts", "1"]) == 0
    assert capsys.readouterr() == ("", "")
    if name == "a.png":
        back = imagecodecs.png_decode((folder / output).read_bytes())
    else:
        back = tifffile.imread(output)
    assert back.dtype == dtype and back.shape == values.shape
    if channels == 1:
        back, values, clean = back[:, :, None], values[:, :, None], clean[:, :, None]
    colours = values[:, :, :3]
    one = {"n_shifts": 1}
    found = (
        denoise(colours, channel_axis=-1, **one)
        if channels > 1
        else denoise(colours[:, :, 0], **one)
    )
    expected = np.clip(np.rint(found.signal.reshape(colours.shape)), 0, top)
    assert_array_equal(back[:, :, :3], expected)
    for k in range(min(channels, 3)):
        assert rms(back[:, :, k] - clean[:, :, k]) < 0.7 * rms(values[:, :, k] - clean[:, :, k])
    assert_array_equal(back[:, :, 3:], values[:, :, 3:])  # alpha


@pytest.mark.slow
def test_float_tiff_with_gaps(folder, capsys, rng):
    values = (IMAGE + 0.05 * rng.standard_normal(IMAGE.shape)).astype("f4")
    values = values[::2, ::2]
    values[10:12, 20] = np.nan
    tifffile.imwrite("a.tif", values)
    assert main(["denoise", "a.tif", "-o", "b.tiff", "--std", "s.npy"]) == 0
    assert "32 × 24 pixels, 1 channel, float32, 2 missing (filled)" in capsys.readouterr().out
    assert tifffile.imread("b.tiff").dtype == "f4"
    assert np.isfinite(tifffile.imread("b.tiff")).all()
    assert np.load("s.npy").shape == values.shape


@pytest.mark.slow
def test_std_of_an_image_with_alpha(folder, rng):
    values = rng.integers(0, 255, (16, 16, 4), dtype="u1")
    (folder / "a.png").write_bytes(imagecodecs.png_encode(values))
    argv = ["denoise", "a.png", "-o", "b.png", "--std", "s.npy"]
    assert main([*argv, "--quiet", "--n-shifts", "1"]) == 0
    std = np.load("s.npy")
    assert std.shape == values.shape and not std[..., 3].any()
    assert_array_equal(std[..., :3], denoise(values[..., :3], channel_axis=-1, n_shifts=1).std)
    assert main([*argv, "--prior", "bic"]) == 0
    sparse = denoise(values[..., :3], channel_axis=-1, method="sparse")
    assert_array_equal(np.load("s.npy")[..., :3], sparse.std)


@pytest.fixture
def shown(monkeypatch):
    """What was drawn: results, samples and displays."""
    drawn = []
    draw = DenoiseDisplay.from_denoised

    def recorded(result, y, **options):
        drawn.append((result, y.copy(), draw(result, y, **options)))
        return drawn[-1][-1]

    monkeypatch.setattr(DenoiseDisplay, "from_denoised", recorded)
    return drawn


@pytest.mark.slow
def test_figures(folder, capsys, shown):
    samples = np.stack([NOISY, NOISY[::-1]], axis=1).astype("f4")
    wavfile.write("a.wav", 8000, samples)
    assert main(["denoise", "a.wav", "-o", "b.wav", "--figures", "f/g"]) == 0
    out = capsys.readouterr().out
    for k in range(2):
        path = os.path.join("f", "g", f"denoised_channel_{k + 1}.png")
        assert (folder / path).read_bytes().startswith(b"\x89PNG") and path in out
        result, y, display = shown[k]
        assert_array_equal(y, samples[:, k])  # before
        assert_array_equal(result.signal, wavfile.read("b.wav")[1][:, k])
        assert_array_equal(display.lines_[0].get_ydata(), result.signal)
    np.save("a.npy", NOISY)
    assert main(["denoise", "a.npy", "-o", "b.npy", "--figures", "h"]) == 0
    assert os.listdir("h") == ["denoised.png"]


@pytest.mark.slow
def test_figures_of_images_and_of_times(folder, shown):
    np.save("a.npy", IMAGE)
    assert main(["denoise", "a.npy", "-o", "b.npy", "--figures", "f", "--quiet"]) == 0
    times = np.linspace(0.0, 3.0, 40) ** 2
    write_csv("a.csv", {"t": times.tolist(), "y": NOISY[:40].tolist()})
    argv = ["denoise", "a.csv", "-o", "b.csv", "--time", "t", "--column", "y", "--figures", "g"]
    assert main([*argv, "--quiet"]) == 0
    assert len(shown[0][-1].images_) == 3
    assert_array_equal(shown[1][-1].lines_[0].get_xdata(), times)
    assert imagecodecs.png_decode((folder / "f" / "denoised.png").read_bytes()).ndim == 3


def test_a_constant_signal_is_no_error(folder):
    wavfile.write("a.wav", 8000, np.full((100, 2), 7, "i2"))
    assert main(["denoise", "a.wav", "-o", "b.wav"]) == 0
    assert_array_equal(wavfile.read("b.wav")[1], 7)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["a.npy"], "the following arguments are required: -o/--output"),
        (["a.mp3", "-o", "b.mp3"], "files of type '.mp3' cannot be denoised; .* .csv, .npy, .wav"),
        (["a", "-o", "b"], "files of type 'none'"),
        (["none.npy", "-o", "b.npy"], "none.npy: No such file"),
        (["none.csv", "-o", "b.csv"], "none.csv: no such file"),
        (["d.npy", "-o", "b.npy"], "d.npy: Is a directory"),
        (["a.npy", "-o", "b.wav"], "'b.wav' must be of the type of the input; .* in .npy"),
        (["a.npy", "-o", "b"], "'b' must be of the type"),
        (["a.npy", "-o", "a.npy"], "also an input"),
        (["a.npy", "-o", "none/b.npy"], "no directory 'none'"),
        (["a.npy", "-o", "b.npy", "--std", "./b.npy"], "'./b.npy' is also the output"),
        (["a.npy", "-o", "b.npy", "--std", "a.npy"], "also an input"),
        (["a.npy", "-o", "b.npy", "--std", "s.csv"], "written as .npy"),
        (["a.csv", "-o", "b.csv", "--std", "s.npy"], "not for .csv"),
        (["a.npy", "-o", "b.npy", "--column", "y"], "--column is for tables"),
        (["a.npy", "-o", "b.npy", "--coverage", "0.9"], "--coverage is for tables"),
        (["a.csv", "-o", "b.csv", "--axes", "0"], "--axes is for .npy files"),
        (["a.npy", "-o", "b.npy", "--axes", "x"], "--axes: must be whole numbers"),
        (["a.npy", "-o", "b.npy", "--axes", "5"], "axes"),
        (["a.npy", "-o", "b.npy", "--dictionary", "tulip"], "tulip"),
        (["a.npy", "-o", "b.npy", "--prior", "low"], "--prior: must be 'flat'"),
        (["a.npy", "-o", "b.npy", "--noise", "-1"], "--noise: must be a positive number"),
        (["a.npy", "-o", "b.npy", "--method", "firm"], "--method: invalid choice"),
        (["a.csv", "-o", "b.csv"], "--column is needed: which of 'x', 'y'"),
        (["a.csv", "-o", "b.csv", "--column", "z"], "no column 'z'; the columns are"),
        (["a.csv", "-o", "b.csv", "--time", "x", "--column", "x"], "'x' is the time"),
        (["a.csv", "-o", "b.csv", "--column", "s"], "line 2, column 's': 'u' is not a number"),
        (["a.csv", "-o", "b.csv", "--column", "y", "--time", "z"], "no column 'z'"),
        (["a.csv", "-o", "b.csv", "--column", "y", "--time", "s"], "'u' is not a number"),
        (["text.csv", "-o", "b.csv"], "no column holds numbers only"),
        (["std.csv", "-o", "b.csv"], "'std' has the name of a result; rename it"),
        (["inf.csv", "-o", "b.csv"], "'inf' is not a finite number"),
        (["inf.npy", "-o", "b.npy"], "inf.npy: there are infinite values"),
        (["nan.npy", "-o", "b.npy"], "nan.npy: every sample is missing"),
        (["nan.wav", "-o", "b.wav"], "nan.wav: every sample of channel 2 is missing"),
        (["gone.csv", "-o", "b.csv", "--column", "y"], "gone.csv: every sample is missing"),
        (["volume.npy", "-o", "b.npy", "--figures", "f"], "--figures draws one signal or image"),
        (["image.npy", "-o", "b.npy", "--axes", "1", "--figures", "f"], "--figures draws one"),
        (["a.npy", "-o", "b.npy", "--figures", "a.npy"], "not a directory"),
        (["empty.wav", "-o", "b.wav"], "empty.wav: the file is empty"),
        (["cut.wav", "-o", "b.wav"], "cut.wav: not a readable .wav file .it is truncated"),
        (["cut.png", "-o", "b.png"], "cut.png: not a readable .png file .it is truncated"),
        (["cut.tif", "-o", "b.tif"], "cut.tif: not a readable .tif file .it is truncated"),
        (["cut.npy", "-o", "b.npy"], "cut.npy: not a readable .npy file"),
    ],
)
def test_one_clear_line(folder, capsys, argv, message):
    (folder / "d.npy").mkdir()
    np.save("a.npy", NOISY)
    np.save("image.npy", IMAGE)
    np.save("volume.npy", np.stack([IMAGE, IMAGE]))
    np.save("inf.npy", [1.0, np.inf, 2.0])
    np.save("nan.npy", [np.nan, np.nan])
    wavfile.write("nan.wav", 8000, np.array([[1.0, np.nan], [2.0, np.nan]]))
    (folder / "gone.csv").write_text("x,y\n1,\n2,nan\n")
    (folder / "a.csv").write_text("x,y,s\n1,2,u\n2,3,v\n3,,w\n")
    (folder / "text.csv").write_text("s,e\nu,\nv,\n")
    (folder / "std.csv").write_text("std\n1\n2\n")
    (folder / "inf.csv").write_text("y\n1\ninf\n")
    (folder / "empty.wav").touch()
    wavfile.write("cut.wav", 8000, NOISY)
    (folder / "cut.png").write_bytes(imagecodecs.png_encode((255 * IMAGE).astype("u1")))
    tifffile.imwrite("cut.tif", IMAGE)
    np.save("cut.npy", NOISY)
    for name in os.listdir():
        if name.startswith("cut"):
            (folder / name).write_bytes((folder / name).read_bytes()[:-20])
    fails(capsys, ["denoise", *argv], message)


def test_missing_extras_are_named(folder, capsys, monkeypatch):
    np.save("a.npy", NOISY)
    (folder / "a.png").write_bytes(imagecodecs.png_encode((255 * IMAGE).astype("u1")))
    monkeypatch.setitem(sys.modules, "imagecodecs", None)
    fails(capsys, ["denoise", "a.png", "-o", "b.png"], r"sparsebayes\[images\]")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    fails(capsys, ["denoise", "a.npy", "-o", "b.npy", "--figures", "f"], r"sparsebayes\[plots\]")


def test_a_failed_write_leaves_nothing(folder, capsys, monkeypatch):
    np.save("a.npy", NOISY)

    def full(*_):
        raise OSError(28, "No space left on device", "b.npy")

    monkeypatch.setattr(os, "replace", full)
    fails(capsys, ["denoise", "a.npy", "-o", "b.npy", "--std", "s.npy"], "b.npy: No space left")


@pytest.mark.slow
def test_progress_names_the_channel(folder, monkeypatch):
    told = []

    class Told(ProgressLine):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name == "text" and value:
                told.append(value)

    monkeypatch.setattr(denoise_command, "ProgressLine", Told)
    wavfile.write("a.wav", 8000, np.stack([NOISY, NOISY], axis=1))
    assert main(["denoise", "a.wav", "-o", "b.wav", "--quiet"]) == 0
    assert told == [
        "reading a.wav",
        "denoising a.wav, channel 1 (1 of 2)",
        "denoising a.wav, channel 2 (2 of 2)",
        "writing b.wav",
    ]


def test_options_are_passed_on(folder, monkeypatch):
    np.save("a.npy", NOISY)
    given = []

    def recorded(y, **options):
        given.append(options)
        return denoise(y, **{**options, "noise": "estimate", "noise_model": "gaussian"})

    monkeypatch.setattr(denoise_command, "denoise", recorded)
    argv = ["denoise", "a.npy", "-o", "b.npy", "--quiet"]
    assert main(argv) == 0
    assert main([*argv, "--n-shifts", "3", "--noise", "per_level", "--noise-model", "poisson"]) == 0
    plain, other = given
    assert (plain["dictionary"], plain["method"], plain["n_shifts"]) == ("auto", "average", "auto")
    assert (plain["noise_model"], plain["noise"]) == ("gaussian", "estimate")
    assert (other["n_shifts"], other["noise"], other["noise_model"]) == (3, "per_level", "poisson")


def test_the_report_names_all_dictionaries(folder, capsys):
    np.save("a.npy", IMAGE)
    assert main(["denoise", "a.npy", "-o", "b.npy"]) == 0
    result = denoise(IMAGE)
    out = capsys.readouterr().out
    labels = [one.label for one in result.dictionaries]
    assert len(labels) == 2 and re.search(rf"dictionary +{' and '.join(labels)}\n", out)
    assert f"({result.n_bases} bases)" in out
    argv = ["denoise", "a.npy", "-o", "b.npy", "--dictionary", "haar", "--n-shifts", "3"]
    assert main(argv) == 0
    assert re.search(
        r"dictionary +haar\nmethod +averaged .* \(3 bases\)\n", capsys.readouterr().out
    )


@pytest.mark.slow
def test_colours_go_together(folder, monkeypatch, rng):
    values = rng.integers(0, 255, (16, 16, 4), dtype="u1")
    (folder / "a.png").write_bytes(imagecodecs.png_encode(values))
    seen = []

    def together(y, *, channel_axis=None, **options):
        seen.append((y.shape, channel_axis))
        return denoise(y, channel_axis=channel_axis, **options)

    monkeypatch.setattr(denoise_command, "denoise", together)
    assert main(["denoise", "a.png", "-o", "b.png", "--quiet"]) == 0
    assert seen == [((16, 16, 3), -1)]
    back = imagecodecs.png_decode((folder / "b.png").read_bytes())
    assert_array_equal(back[..., 3], values[..., 3])
    assert not np.array_equal(back[..., :3], values[..., :3])
