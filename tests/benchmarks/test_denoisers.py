"""The benchmark of denoising: cases, resumed runs, scores, limits."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.denoisers import (
    bands,
    cases,
    colour,
    cost,
    gaps,
    images,
    models,
    noise,
    page,
    recordings,
    signals,
    union,
)
from benchmarks.tools import measure


def cells(text, first):
    row = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in row.split("|")[1:-1]]


def by_label(limits):
    return {what: (limit, shown, met) for what, limit, shown, met in limits}


def options(**others):
    usual = dict.fromkeys(("splits", "seed", "size", "data"))
    return SimpleNamespace(**({"quick": True, "resume": False} | usual | others))


# What is denoised


def test_there_are_as_many_cases_as_asked():
    assert len(cases.GREY) == 24 and len(cases.COLOUR) == 3
    assert len(cases.OF_DONOHO) == 20 and len(cases.SIGNALS) == 26 and len(cases.RECORDINGS) == 9
    assert len(bands.CASES) == 53 and len(gaps.CASES) == 40
    assert min(images.SEEDS["camera-10"]) == cases.FIRST and len(images.SEEDS["page-50"]) == 3


@pytest.mark.parametrize("section", page.SECTIONS)
def test_a_quick_run_asks_for_known_cases(section):
    part = page.PARTS[section][1]
    assert set(getattr(part, "QUICK", ())) <= set(part.SEEDS)


def test_noise_has_the_ratio_and_differs_between_draws():
    one = cases.SIGNALS["bumps-4096-7"].make(100)
    assert_allclose(one.truth.std() / one.deviation, 7)
    assert_allclose(np.std(one.y - one.truth), one.deviation, rtol=0.05)
    assert_array_equal(one.y, cases.SIGNALS["bumps-4096-7"].make(100).y)
    assert not np.array_equal(one.y, cases.SIGNALS["bumps-4096-7"].make(101).y)


def test_recordings_are_read_and_cut(tmp_path, monkeypatch):
    wave = np.arange(5000, dtype=np.int16)
    np.savez(tmp_path / "ecg_mitbih108_60s.npz", x=np.stack([wave, -wave]))
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    found = cases.RECORDINGS["ECG-108-2"].make(100)
    assert_array_equal(found.truth, wave[:4096])
    assert cases.RECORDINGS["ECG-pywt-2"].make(100).y.shape == (1024,)


def test_the_middle_of_an_image():
    assert_array_equal(cases.middle(np.arange(25).reshape(5, 5), 3)[0], [6, 7, 8])
    assert cases.middle(np.zeros((400, 600, 3))).shape == (256, 256, 3)


# Ours


def test_ours_are_calls_of_denoise():
    y = cases.SIGNALS["blocks-512-7"].make(100)
    found = {
        name: (one, told) for name, one, told in models.estimated(y.y, models.ours(models.OPTIONS))
    }
    assert list(found) == ["denoise", "ash", "sparse"]
    for estimate, told in found.values():
        assert np.mean((estimate - y.truth) ** 2) < y.deviation**2
        assert told["seconds"] > 0 and told["warnings"] == []


def test_shifts_and_wavelet_are_read_from_a_result():
    def result(label, **others):
        return SimpleNamespace(dictionary=SimpleNamespace(label=label), **others)

    assert models.n_shifts(result("haar")) == 1
    assert models.n_shifts(result("haar", n_shifts=16)) == 16
    assert models.wavelet(result("haar")) == "haar" and models.wavelet(result("dct")) == "sym8"


def test_medians_are_over_the_draws_that_have_the_model():
    records = {
        f"a/{k}": {"name": "a", "s": {"x": {"v": value}} | ({"y": {"v": 9.0}} if k == 0 else {})}
        for k, value in enumerate((1.0, 5.0, 2.0))
    }
    found = models.medians(records, lambda one: one["s"])
    assert found == {"a": {"x": {"v": 2.0}, "y": {"v": 9.0}}}


def test_bm3d_is_left_out_where_it_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    assert models.slow() == {}
    assert "left out: BM3D" in capsys.readouterr().err


# Images


def picture(name, noise, draw=100, **values):
    """A record of (psnr, ssim, seconds) by model."""
    scores = {
        model.replace("_", ", "): dict(zip(("psnr", "ssim", "seconds"), some, strict=True))
        | {"warnings": []}
        for model, some in values.items()
    }
    place = {"name": f"{name}-{noise}", "seed": draw, "image": name, "noise": noise}
    return place | {"shape": [8, 8], "scores": scores}


def image_records():
    usual = {"Bayes_spun": (29.0, 0.8, 1.0), "nl-means": (30.5, 0.7, 1.0)}
    first = picture("camera", 10, denoise=(30.0, 0.9, 0.5), BM3D=(31.0, 0.9, 8.0), **usual)
    second = picture("camera", 10, 101, denoise=(32.0, 0.9, 0.5), **usual)
    other = picture("page", 25, denoise=(28.0, 0.6, 2.0), BM3D=(28.5, 0.9, 8.0), **usual)
    return {"camera-10/100": first, "camera-10/101": second, "page-25/100": other}


def test_psnr_of_an_image():
    truth = np.zeros((4, 4))
    assert_allclose(images.psnr(truth, truth + 25.5), 20.0)
    assert_allclose(images.psnr(truth, truth + 255 / np.sqrt(1000)), 30.0)


def test_limits_of_images():
    found = by_label(images.limits(image_records()))
    label = "2 images with noise: "
    assert found[label + "PSNR − Bayes, spun, mean, dB"] == ("≥ +0.5", "+0.50", True)
    assert found[label + "PSNR ≥ Bayes, spun"] == ("≥ 0 of 2", "1", True)
    assert found[label + "PSNR − nl-means, mean, dB"] == ("> 0", "−1.00", False)
    assert found[label + "SSIM − Bayes, spun, mean"] == ("> 0", "−0.0500", False)
    # Of the draws that BM3D has: 31 − 30 and 28.5 − 28; √(1/16 · 1/4).
    assert found[label + "BM3D − PSNR, mean, dB"] == ("≤ 0.8", "0.75", True)
    assert found[label + "time / BM3D"] == ("≤ 1/10", "1/8.0", False)
    without = {key: one for key, one in image_records().items() if "BM3D" not in one["scores"]}
    assert not any("BM3D" in what for what in by_label(images.limits(without)))


def test_tables_of_images():
    text = images.to_markdown(image_records())
    expected = ["denoise", "31.00", "28.00", "29.50", "0.900", "0.600", "0.750", "1.25"]
    assert cells(text, "denoise") == expected
    assert cells(text, "camera") == ["camera", "8 × 8", "10", "31.00", "31.00", "29.00", "30.50"]


@pytest.mark.slow
def test_images_are_denoised_by_all(monkeypatch):
    monkeypatch.setattr(cases, "image", lambda name: np.full((64, 64), 100.0))
    monkeypatch.setattr(images, "similarity", lambda truth, estimate: 0.5)
    monkeypatch.setattr(models.denoisers, "of_images", lambda: {"noisy": lambda y: y})
    monkeypatch.setattr(models, "slow", lambda: {"BM3D": lambda y: 0 * y})
    found = dict(images.run(options(splits=2), ["page-25"], ["page-25/99"]))
    assert list(found) == ["page-25/100", "page-25/101"]
    assert list(found["page-25/100"]["scores"]) == ["denoise", "ash", "sparse", "noisy", "BM3D"]
    assert "BM3D" not in found["page-25/101"]["scores"]
    scores = found["page-25/101"]["scores"]
    assert_allclose(scores["noisy"]["psnr"], 20 * np.log10(255 / 25), atol=0.3)
    assert scores["denoise"]["psnr"] > scores["noisy"]["psnr"] + 10


@pytest.mark.slow
def test_colour_together_is_compared_with_each_channel(monkeypatch):
    table = models.COLOUR_OPTIONS | {"denoise": {"axes": (0, 1)}}
    monkeypatch.setattr(models, "COLOUR_OPTIONS", table)
    monkeypatch.setattr(models.denoisers, "of_colours", lambda: {})
    monkeypatch.setattr(cases, "image", lambda name: np.full((300, 300, 3), 100.0))
    monkeypatch.setattr(images, "similarity", lambda truth, estimate: 0.5)
    ((key, record),) = colour.run(options())
    assert key == "astronaut-25/100" and list(record["scores"]) == ["denoise", models.CHANNELS]
    record["scores"]["denoise"]["psnr"] = record["scores"][models.CHANNELS]["psnr"] + 2.75
    ((what, *rest),) = colour.limits({key: record})
    assert what == "1 colour images: PSNR − ash, each channel, mean, dB"
    assert rest == ["≥ +2.5", "+2.75", True]
    assert "PSNR, noise 25" in colour.to_markdown({key: record})


# Signals and recordings


def signal(name, draw=100, **errors):
    scores = {
        model: {"error": error, "seconds": 0.001, "warnings": []} for model, error in errors.items()
    }
    place = {"name": name, "seed": draw, "signal": name.split("-")[0], "snr": 3, "size": 512}
    return place | {"scores": scores}


def signal_records():
    sinc = {"denoise": 0.5, "ash": 1.0, "sparse": 1.0, "hard": 0.25, "soft": 2.0}
    brain = {"denoise": 1.28, "ash": 1.0, "sparse": 1.0, "hard": 4.0, "soft": 1.28}
    return {
        "sinc-512-3/100": signal("sinc-512-3", **sinc),
        "sinc-512-3/101": signal("sinc-512-3", 101, **sinc),
        "EEG-1/100": signal("EEG-1", **brain),
    }


def test_limits_of_signals(monkeypatch):
    monkeypatch.setattr(signals, "LISTED", ())
    found = by_label(signals.limits(signal_records()))
    label = "2 signals with noise: "
    assert found[label + "error / ash, geometric mean"] == ("≤ 0.82", "0.800", True)
    assert found[label + "error / ash, largest"] == ("≤ 1.05", "1.280 (EEG-1)", False)
    lost = "1 entries of the five signals: another method is better"
    assert found[lost] == ("0", "1", False)
    monkeypatch.setattr(signals, "LISTED", ("sinc-512-3",))
    listed = by_label(signals.limits(signal_records()))
    assert listed[lost + ", besides 1 that are listed"] == ("0", "0", True)


def test_tables_of_signals():
    text = signals.to_markdown(signal_records())
    assert cells(text, "hard") == ["hard", "1.000", "4.00 (EEG-1)", "1 of 2", "1.0"]
    assert cells(text, "sinc")[-1] == "2.00 (hard)"
    assert "in 1 of 2 cases: sinc-512-3 (hard, 2.00)." in text


def test_limits_of_recordings():
    records = {
        "EEG-2/100": signal("EEG-2", denoise=0.5, ash=1.0, hard=0.625),
        "EEG-2/101": signal("EEG-2", 101, denoise=0.75, ash=1.0, hard=0.625),
        "EEG-2/102": signal("EEG-2", 102, denoise=1.25, ash=1.0, hard=0.625),
    }
    found = by_label(recordings.limits(records))
    label = "3 noisy recordings: error / noise variance, largest"
    assert found[label] == ("< 1", "1.250 (EEG-2/102)", False)
    label = "1 recordings and ratios: error / best other, largest"
    assert found[label] == ("≤ 1.05", "1.200 (EEG-2)", False)
    assert cells(recordings.to_markdown(records), "EEG")[2] == "75.0"


def test_errors_are_in_units_of_the_noise(monkeypatch, tmp_path, capsys):
    methods = {"same": lambda y: y, "none": lambda y: np.zeros_like(y)}
    monkeypatch.setattr(models, "for_signals", lambda: methods)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    found = dict(recordings.run(options(), ["ECG-pywt-2", "EEG-2"]))
    assert list(found) == ["ECG-pywt-2/100"] and "left out: EEG-2" in capsys.readouterr().err
    scores = found["ECG-pywt-2/100"]["scores"]
    truth = cases.small_heart()
    assert_allclose(scores["same"]["error"], 1.0, rtol=0.1)
    assert_allclose(scores["none"]["error"], 4 * np.mean(truth**2) / truth.var(), rtol=1e-5)


# Noise, bands and gaps


def test_noise_and_constants_are_measured(monkeypatch):
    kept = {"denoise": lambda y: 2.0 * (np.arange(y.size) == 3).reshape(y.shape)}
    monkeypatch.setattr(models, "ours", lambda table: kept)
    found = dict(noise.run(options(size=100)))
    assert found["noise/100"]["scores"]["denoise"]["largest"] == 2.0
    assert found["noise/100"]["scores"]["denoise"]["above"] == 1
    assert found["constant/100"]["scores"]["denoise"]["off"] == 2.0
    limits = by_label(noise.limits(found))
    label = "noise alone, 100 samples, 1 draws: largest estimate / σ"
    assert limits[label] == ("≤ 1", "2.000", False)
    assert limits["constants: largest departure, relative"] == ("≤ 1e−09", "2.0e+00", False)


def test_a_constant_comes_back(monkeypatch):
    monkeypatch.setattr(noise, "SHAPES", ((64,), (16, 16)))
    record = dict(noise.run(options(), [noise.CONSTANT]))["constant/100"]
    assert all(one["off"] <= noise.ROUNDING for one in record["scores"].values())


def test_scores_of_bands_are_in_units_of_the_noise():
    truth, std = np.zeros(4), np.array([1.0, 1.0, 1.0, 3.0])
    estimates = {"denoise": np.array([0.0, 1.9, 2.0, 4.0]), "other": np.full(4, 2.0)}
    one = bands.scored(truth, 4.0, estimates, {"denoise": std})
    assert one["coverage"] == {"denoise": 0.75} and one["std"] == {"denoise": 0.75}
    assert one["errors"]["other"] == 1.0
    assert_allclose(bands.width(one), 0.75 / np.sqrt(one["errors"]["denoise"]))


@pytest.mark.slow
def test_bands_of_each_kind():
    found = dict(bands.run(options(), ["blocks-512-3", "ECG-pywt-5"]))
    assert [one["kind"] for one in found.values()] == ["signals", "recordings"]
    assert all(0.7 < one["coverage"]["denoise"] <= 1 for one in found.values())
    found["blocks-512-3/100"]["coverage"]["denoise"] = 0.875
    again = found["blocks-512-3/100"] | {"coverage": {"denoise": 1.0, "ash": 1.0, "sparse": 1.0}}
    limits = by_label(bands.limits(found | {"blocks-512-3/101": again}))
    label = "1 signals with noise: coverage of 95 % bands, mean, %"
    assert limits[label] == ("92 to 98", "93.8", True)
    assert cells(bands.to_markdown(found), "signals")[1:4] == ["denoise", "1", "87.5"]


def test_a_gap_is_somewhere_inside():
    places = []
    for seed in range(20):
        case, missing = gaps.CASES["blocks-256-40"].make(seed)
        assert missing.sum() == 40 and not missing[:40].any() and not missing[-40:].any()
        assert_array_equal(np.isnan(case.y), missing)
        assert np.isfinite(case.truth).all()
        places.append(int(np.argmax(missing)))
    assert len(set(places)) > 10


def test_gaps_are_measured():
    found = dict(gaps.run(options(), ["sinc-256-5"]))
    record = found["sinc-256-5/100"]
    assert 0 <= record["coverage"] <= 1 and record["std"] > 0 and record["error"] >= 0
    more = {
        "a": record | {"length": 5, "coverage": 0.8},
        "b": record | {"length": 5, "coverage": 1.0},
        "c": record | {"length": 40, "coverage": 1.0},
    }
    limits = by_label(gaps.limits(more))
    label = "gaps of {} samples: coverage of 95 % bands inside, %"
    assert limits[label.format(5)] == ("88 to 99", "90.0", True)
    assert limits[label.format(40)] == ("88 to 99", "100.0", False)
    assert cells(gaps.to_markdown(more), "sinc")[2].startswith("90 · ")


# Time and memory


def test_transforms_of_reference_are_inverse_to_each_other():
    for shape in ((256,), (64, 128)):
        y = cost.noisy(shape) if len(shape) == 1 else np.arange(8192.0).reshape(shape)
        for wavelet in ("sym8", "haar"):
            assert_allclose(cost.there_and_back(y, wavelet), y, atol=1e-8)
    assert cost.noisy((600, 700)).shape == (600, 700)


def test_growth_is_the_exponent_between_two_sizes(monkeypatch):
    costs = iter([(1, 8), (1, 1), (2, 2)])  # exponents 2, 1, 1; eight small ones, one large

    def cpu(function, y, count):
        if count == 8:
            cpu.last = next(costs)
        return {"total": cpu.last[count == 1], "user": 1.0}

    monkeypatch.setattr(cost, "cpu", cpu)
    monkeypatch.setattr(cost, "noisy", lambda shape: np.arange(16.0))
    assert cost.growth(3) == {"total": [1.0, 1.0, 2.0], "user": [1.0, 1.0, 1.0]}


def cost_record(shape, shifts=4):
    names = (cost.BOTH, "denoise", cost.BAND, "ash", "sparse", cost.PEER)
    values = dict(zip(names, (1.0, 32.0, 40.0, 3.0, 2.0, 1.5), strict=True))
    resident = dict.fromkeys(names, 5.5)
    return {
        "shape": list(shape),
        "shifts": shifts,
        "wavelet": "sym8",
        "seconds": {name: 0.05 * value for name, value in values.items()},
        "ratios": values,
        "resident": resident,
        "traced": resident,
    }


def test_limits_of_time():
    records = {
        str(2**20): cost_record((2**20,)),
        "512x512": cost_record((512, 512)),
        cost.GROWN: {"total": [1.2, 1.0, 1.3], "user": [1.0, 1.0, 1.0]},
        cost.MAPPED: {
            "peaks": [
                {"size": 10, "seconds": 1.0, "memory": 40.0},
                {"size": 100, "seconds": 9.0, "memory": 50.0},
            ]
        },
    }
    found = by_label(cost.limits(records))
    what = "2²⁰ samples, with band: time / transforms of its 4 shifts"
    assert found[what] == ("≤ 12", "10.00", True)
    assert found["2²⁰ samples, sparse: peak memory beyond the input, arrays"][1:] == ("5.5", True)
    assert found["image of 512², with band: time, s"] == ("< 1.5", "2.00", False)
    assert found["exponent of the time, 2²⁰ to 2²³ samples"] == ("≤ 1.1", "1.20", False)
    what = "file of 100 samples: peak memory / that of 10"
    assert found[what] == ("≤ 1.5", "1.25", True)
    text = cost.to_markdown(records)
    assert cells(text, "1048576")[:6] == ["1048576", "4, sym8", "50.0", "1600", "2000", "10.00"]
    assert "file of 100 samples: 9.0 s" in text


@pytest.mark.slow
def test_a_signal_in_a_file_is_denoised(monkeypatch):
    monkeypatch.setattr(cost, "CHUNK", 3000)
    found = cost.mapped(8000)
    assert found["shape"] == [8000] and found["seconds"] > 0
    assert found["memory"] is None or found["memory"] < 200


@pytest.mark.slow
def test_peak_of_memory_without_files():
    kept, peak = measure.anonymous_peak(lambda: np.ones(2**23).sum())  # 64 MB, let go
    assert kept == 2**23
    assert peak is None or 0 <= peak < 130
    held, peak = measure.anonymous_peak(lambda: np.ones(2**23))
    assert held.size == 2**23 and (peak is None or 50 < peak < 130)


def test_files_are_measured_only_if_asked_for(monkeypatch):
    monkeypatch.setattr(cost, "_child", lambda *arguments: {"asked": arguments})
    monkeypatch.setattr(cost, "times", lambda y, turns: {"turns": turns})
    monkeypatch.setattr(cost, "noisy", np.zeros)
    assert list(dict(cost.run(options()))) == ["65536"]
    found = dict(cost.run(options(size=1000), [cost.MAPPED]))
    asked = [one["asked"] for one in found[cost.MAPPED]["peaks"]]
    assert asked == [(cost.MAPPED, 100), (cost.MAPPED, 1000)]
    assert dict(cost.run(options(), (), ["65536"])) == {}


@pytest.mark.slow
def test_union_is_measured():
    y, truth = union.bumps_and_tones(512)
    assert_allclose(np.std(truth) / np.std(y - truth), union.SNR, rtol=0.1)
    record = union.child("sym8+dct", 512)
    assert record["converged"] and record["errors"]["denoise"] < 1.0
    assert record["band_memory"] >= record["memory"] > 10
    assert "| sym8+dct " in union.to_markdown({"512/sym8+dct": record})
    limits = by_label(union.limits({"65536/sym8+dct": {"fit": 30.0, "memory": 3000.0}}))
    assert [met for *_, met in limits.values()] == [True, False]


# The page


def test_the_page_has_what_is_stored_and_a_resumed_run_adds_the_rest(monkeypatch):
    assert page.section({}) == [] == page.section({"signals": {}})
    results = {"signals": signal_records(), "images": image_records()}
    text = "\n".join(page.section(results))
    assert "## Denoising" in text and "### Limits of denoising" in text
    assert text.index("### Images") < text.index("### Signals") and "### Gaps" not in text
    monkeypatch.setattr(models, "for_signals", lambda: {"same": lambda y: y})
    asked = options(resume=True, splits=2, data="sinc-512-3,bumps-512-7")
    found = dict(page.run("signals", asked, {"sinc-512-3/100": {}}))
    assert list(found) == ["sinc-512-3/101", "bumps-512-7/100", "bumps-512-7/101"]
    with pytest.raises(SystemExit, match="no 'lena'"):
        list(page.run("images", options(data="lena"), {}))
