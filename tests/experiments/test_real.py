"""The experiments on EEG, ECG and images, their parts and small runs on made-up recordings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments.__main__ import main
from experiments.schmolck2008 import _detection, real, spindles
from tests.experiments import records


def asleep(n, fs, starts, rng):
    """Noise with a second of 13 Hz at each of some times, and the marks of these."""
    t = np.arange(n) / fs
    x = rng.normal(size=n)
    for start in starts:
        inside = (t >= start) & (t < start + 1)
        x[inside] += 5 * np.sin(2 * np.pi * 13 * t[inside])
    return x, np.column_stack([starts, np.ones(len(starts))])


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Small recordings under the names of the real ones."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(spindles, "LENGTH", 1024)
    monkeypatch.setattr(spindles, "SHOWN", 1024)
    x, marks = asleep(6200, 100.0, np.arange(2.0, 60.0, 5.0), rng)
    arrays = {"excerpt1": x, "excerpt1_scorer1": marks[:9], "excerpt1_scorer2": marks}
    for name in spindles.EPOCHS:
        x, marks = asleep(2000, 200.0, np.array([1.5, 4.0, 7.5]), rng)
        arrays |= {name: x, f"{name}_scorer1": marks, f"{name}_scorer2": marks[:2]}
    np.savez(tmp_path / "eeg_dreams_spindles.npz", excerpt1_fs=100.0, epoch_fs=200.0, **arrays)
    t = np.arange(2048) / 360
    ecg = 1000 + 100 * np.exp(-(((t % 0.8) - 0.4) ** 2) / 0.001)
    both = np.round(np.array([ecg, 0.5 * ecg])).astype(np.int16)
    np.savez(tmp_path / "ecg_mitbih108_60s.npz", x=both, fs=360.0)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))


def test_detections_are_joined_and_short_ones_dropped():
    strength = np.zeros(100)
    strength[[*range(10, 14), *range(15, 20), *range(40, 42), *range(96, 100)]] = 1.0
    assert_array_equal(_detection.detect(strength, 0.5, fs=10.0), [[10, 20], [96, 100]])
    assert _detection.detect(strength, 2.0, fs=10.0).shape == (0, 2)


def test_a_mark_is_found_once_and_only_with_enough_overlap():
    marks = np.array([[10, 20], [30, 40], [60, 70]])
    found = np.array([[10, 15], [15, 20], [39, 49], [58, 72]])
    assert _detection.hits(found, marks) == 2
    assert _detection.hits(found[:0], marks) == 0
    marked = np.zeros(100, dtype=bool)
    marked[60:70] = True
    counts = _detection.count(found[3:], marked)
    assert_array_equal(counts, [[10, 14, 10], [1, 1, 1]])
    assert_allclose(_detection.scores(counts), [[10 / 14, 1, 20 / 24], [1, 1, 1]])


def test_a_threshold_is_chosen_on_the_other_fold(data):
    recording = spindles.load()[1]
    marked = recording.marks["expert 2"]
    odd = recording.fold == 1
    strength = marked * np.where(odd, 3.0, 1.0)[:, None]
    strength[odd] += np.roll(
        marked[odd], 200, axis=1
    )  # no spindles there, but as strong as in even
    counts = spindles.judge(recording, strength, 400)["expert 2"]
    assert _detection.scores(counts[~odd].sum(axis=0))[0, 2] == 0  # the threshold of odd
    alike = spindles.judge(recording, marked.astype(float), 400)["expert 2"]
    assert_allclose(_detection.scores(alike.sum(axis=0))[0], 1)


def test_made_up_spindles_stand_out(data):
    recording = spindles.load()[0]
    seen = spindles.looked_at(recording, 0)
    assert seen.regions == 2 and seen.threshold > 1 and seen.alike > 0.8
    assert seen.inside > 2 * max(seen.beside, seen.between)
    assert len(seen.cuts) == len(spindles.CUTS) and min(seen.cuts) > 0.8
    marks = recording.marks["expert 1"]
    assert spindles.contrast(np.where(marks, 3.0, 2.0), marks) == 1.5


@pytest.mark.slow
def test_spindles_of_made_up_sleep(data, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["schmolck2008.spindles", "--quick", "--results", str(tmp_path / "r")]
    assert main(arguments) == 0
    table = records.table(tmp_path / "r", "schmolck2008.spindles")
    for method in spindles.METHODS:
        by_sample, by_event = table[f"excerpt 1, whole, expert 2: {method}"][2].split("; ")
        assert float(by_sample.split()[0]) > 0.8
        assert float(by_event.split()[0]) > 0.9
    agreed = table["epochs: expert 2 against expert 1"][2]
    assert agreed == "0.800 (1.00, 0.67); 0.800 (1.00, 0.67)"
    assert int(table["excerpt 1, expert 1: band-pass"][4]) == 4  # blocks before the last mark
    assert len(list((tmp_path / "r").glob("*.png"))) == 4


@pytest.mark.slow
def test_real_data_of_one_draw(data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    for name in ("camera", "ascent", "aero"):
        image = getattr(real.pywt.data, name)()[:128, :128]
        monkeypatch.setattr(real.pywt.data, name, lambda image=image: image)
    assert main(["schmolck2008.real", "--quick", "--results", str(tmp_path / "r")]) == 0
    ours = {
        name: row[2] for name, row in records.table(tmp_path / "r", "schmolck2008.real").items()
    }
    for case in ("ECG, MIT-BIH 108: SNR", "ECG, PyWavelets: SNR", "image camera: PSNR"):
        noisy, better = (float(ours[f"{case} (dB), {which}"]) for which in ("noisy", "average"))
        assert better > noisy + 2
    assert abs(float(ours["ECG, PyWavelets: SNR (dB), noisy"]) - 10) < 1
    assert 0.8 < float(ours["ECG, PyWavelets: noise found / added, average"]) < 1.2
    assert len(list((tmp_path / "r").glob("*.png"))) == 3


@pytest.mark.parametrize("name", ["spindles", "real"])
def test_without_data_it_is_an_error(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    assert main([f"schmolck2008.{name}", "--quick", "--results", str(tmp_path / "r")]) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err
