"""The parts of the benchmarks that need no other package: splits and tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import savgol_filter

from benchmarks import (
    defaults,
    denoising,
    images,
    inputs,
    sampling,
    signals,
    stall,
    transforms,
    uncertainty,
    union,
)
from benchmarks.peers import denoisers
from benchmarks.tools import splits


@pytest.fixture
def data(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    test = np.arange(40).reshape(4, 10).astype(np.uint16)
    np.savez(tmp_path / "uci_yacht.npz", X=X, y=y, test_idx=test)
    np.savez(tmp_path / "kin40k.npz", X_train=X[:30], y_train=y[:30], X_test=X[30:], y_test=y[30:])
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    return X, y


def test_stored_split_leaves_the_other_rows_to_learn_from(data):
    X, y = data
    split = splits.stored("uci_yacht").make(1)
    assert_array_equal(split.y_test, y[10:20])
    assert_array_equal(split.X, np.delete(X, np.arange(10, 20), axis=0))
    assert len(split.y) == 50


def test_parts_of_kin40k_are_disjoint_and_run_out(data):
    _, y = data
    source = splits.kin40k(10, 15)
    first, second = source.make(0), source.make(1)
    assert_array_equal(first.y, y[:10])
    assert_array_equal(second.y_test, y[45:60])
    with pytest.raises(IndexError, match="no split 2 of 10 and 15"):
        source.make(2)


def test_random_splits_differ_and_share_no_row():
    made = [splits.RAW_CLASSIFICATIONS[1].make(k) for k in (0, 1, 0)]
    assert_array_equal(made[0].X_test, made[2].X_test)
    assert not np.array_equal(made[0].X_test, made[1].X_test)
    assert len(made[0].y) + len(made[0].y_test) == 178


def test_standardised_by_the_training_rows():
    split = uncertainty.standardised(splits.FRIEDMAN.make(0))
    assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(split.X.std(axis=0), 1)
    assert abs(split.X_test.mean()) > 1e-4


def record(kind="regression", **ratios):
    """Two splits, in which each variant has the given multiple of the reference's values."""
    keys = defaults.MEASURES[kind]
    fits = {name: [{key: factor for key in keys}] * 2 for name, factor in ratios.items()}
    shape = [100, 3]
    return {
        "kind": kind,
        "name": "set",
        "inputs": "raw",
        "shape": shape,
        "splits": 2,
        "fits": fits,
    }


def test_defaults_are_compared_with_the_reference():
    records = [record(none=1.0, ard=0.25), record(none=0.5, ard=0.5)]
    row = defaults.summary(records, "ard")
    # geometric mean of 1/4 and 1; smaller once; median of −0.75 and 0
    assert row == ("ard", "0.500", "1 of 2", "−0.38", "0.500", "37.5")
    assert defaults.summary(records, "none")[1] == "1.000"


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_one_variant_is_fitted_and_described(kind):
    source = splits.REGRESSIONS[0] if kind == "regression" else splits.RAW_CLASSIFICATIONS[1]
    parameters = defaults.variants()["none"]
    result = defaults.one(kind, "standardised", parameters, source.make(0))
    assert set(result) == set(defaults.MEASURES[kind])
    assert result["fit"] > 0 and result["kept"] > 0
    assert result["rmse" if kind == "regression" else "error"] < 0.2


def test_models_are_compared_with_the_peer():
    keys = ("fit", "predict", "kept", "rmse", "nlpd", "crps", "coverage")
    ours, peer = dict.fromkeys(keys, 0.5), dict.fromkeys(keys, 2.0)
    result = {"shape": [10, 2], "splits": 1, "fits": {"RVR": [ours], uncertainty.PEER: [peer]}}
    text = uncertainty.to_markdown({"set": result})
    cells = next(line for line in text.splitlines() if line.startswith("| RVR")).split("|")
    assert [cell.strip() for cell in cells[2:4]] == ["0.500", "0.250"]
    assert cells[9].strip() == "−1.50"


def test_universal_threshold_removes_noise_and_keeps_the_length():
    noise = np.random.default_rng(0).normal(size=2001)
    step = np.repeat([0.0, 50.0], [1000, 1001])
    for mode in ("hard", "soft"):
        assert np.mean(denoisers.thresholded(noise, mode) ** 2) < 0.03
        assert np.mean((denoisers.thresholded(step + noise, mode) - step) ** 2) < 1.0


def test_savgol_error_of_left_out_samples_is_that_of_a_fit_without_them():
    y = np.random.default_rng(0).normal(size=30)
    window = 9
    direct = []
    for n in range(4, 26):
        others = np.delete(np.arange(n - 4, n + 5), 4)
        fit = np.polynomial.Polynomial.fit(others, y[others], 3)
        direct.append((y[n] - fit(n)) ** 2)
    estimate = savgol_filter(y, window, 3)
    assert_allclose(denoisers.left_out(y, estimate, window), np.mean(direct))


def test_savgol_window_follows_the_signal():
    t, rng = np.linspace(0, 1, 1024), np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=t.size)
    assert denoisers.windows(1024) == [5, 9, 17, 33, 65, 129]
    assert max(denoisers.windows(2**22)) == 33
    for truth, window in ((t**2, 129), (np.sin(2 * np.pi * 100 * t), 5)):
        expected = savgol_filter(truth + noise, window, 3)
        assert_array_equal(denoisers.smoothed(truth + noise), expected)


def test_scores_are_in_units_of_the_noise():
    truth, std = np.zeros(4), np.array([1.0, 1.0, 1.0, 3.0])
    estimates = {"denoise": np.array([0.0, 1.9, 2.0, 4.0]), "other": np.full(4, 2.0)}
    one = signals.scored(truth, 4.0, estimates, {"denoise": std})
    assert one["coverage"] == {"denoise": 0.75} and one["std"] == {"denoise": 0.75}
    assert one["errors"]["other"] == 1.0
    worse = signals.scored(truth, 4.0, estimates | {"other": np.full(4, 4.0)}, {"denoise": std})
    both = signals.averaged([one, worse])
    assert both["errors"]["other"] == 2.5 and both["draws"] == 2
    assert_allclose(both["gaps"]["denoise"]["other"], 1.5)  # two differences, 3 apart
    assert_allclose(signals.width(both), 0.75 / np.sqrt(one["errors"]["denoise"]))
    assert signals.best_other(both) == ("other", one["errors"]["denoise"] / 2.5)
    assert signals.averaged([one])["gaps"] is None


def signal_record(size=4096, signal="bumps", snr=5, ours=1.0, coverage=0.95, **others):
    errors = {"denoise": ours, "denoise, average": 0.5 * ours, **others}
    return {
        "size": size,
        "signal": signal,
        "snr": snr,
        "draws": 20,
        "noise_variance": 0.01,
        "errors": errors,
        "gaps": dict.fromkeys(("denoise", "denoise, average"), dict.fromkeys(others, 0.125)),
        "coverage": {"denoise": coverage, "denoise, average": 0.5},
        "std": {"denoise": 0.8, "denoise, average": 0.1},
    }


def test_entries_where_ours_is_behind_are_listed_worst_first():
    names = ("sinc", "blocks", "bumps")
    records = {
        name: signal_record(signal=name, hard=error, soft=9.0)
        for name, error in zip(names, (0.5, 2.0, 0.25), strict=True)
    }
    lines = signals.behind(records, "denoise").splitlines()
    assert "1 of 3 entries" in lines[0]
    assert "2 of 3 entries" in signals.behind(records, signals.AVERAGE)
    assert [line.split("|")[1].strip() for line in lines[4:]] == [
        "N = 4096, bumps, SNR 5",
        "N = 4096, sinc, SNR 5",
    ]
    assert [cell.strip() for cell in lines[4].split("|")[2:6]] == ["hard", "4.00", "75", "12"]
    assert "hard | soft" in signals.to_markdown(records)


def test_ours_is_counted_against_each_other_method():
    records = {str(error): signal_record(hard=error) for error in (0.25, 4.0)}
    rows = signals.against(records).splitlines()[4:]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert cells == [["hard", "1 of 2, 1.00", "1 of 2, 0.50"]]


def test_limits_of_denoising():
    shrinkers = dict.fromkeys(denoisers.shrinkers(), 1.25) | {"hard": 0.1}
    records = {
        "4096/bumps/5": signal_record(**shrinkers),
        "1024/doppler/7": signal_record(1024, "doppler", 7, ours=0.04, coverage=0.99, **shrinkers),
    }
    cost = {"ratios": {"denoise": 7.0}, "resident": {"denoise": 5.5}}
    times = {str(2**20): {"shape": [2**20], **cost}, "growth": {"total": [1.2, 1.0, 1.3]}}
    union_record = {"fit": 30.0, "memory": 3000.0}
    results = {"signals": records, "transforms": times, "union": {"65536/sym8+dct": union_record}}
    found = {what: (value, met) for what, _, value, met in denoising.limits(results)}
    assert found["Doppler, N = 1024, SNR 7, 20 draws: mean squared error"] == ("4.00e-04", False)
    assert found["bumps, N = 4096, SNR 5, 20 draws: error / Bayes, sym8"] == ("0.800", True)
    assert found["N = 4096: coverage, lowest and highest"] == ("0.9500 to 0.9500", True)
    assert found["all N: coverage, lowest and highest"] == ("0.9500 to 0.9900", False)
    assert found["all N: mean std of the band / RMSE, largest"] == ("4.00", False)
    assert found["2²⁰ samples: time / wavedec + waverec"] == ("7.00", False)
    assert found["2²⁰ samples: peak memory beyond the input, arrays"] == ("5.5", True)
    assert found["exponent of the time, 2²⁰ to 2²³ samples"] == ("1.20", False)
    assert [met for what, (_, met) in found.items() if what.startswith("sym8 + dct")] == [
        True,
        False,
    ]


def test_transforms_of_reference_are_inverse_to_each_other():
    for shape in ((256,), (64, 128)):
        y = transforms.noisy(shape) if len(shape) == 1 else np.arange(8192.0).reshape(shape)
        assert_allclose(transforms.there_and_back(y), y, atol=1e-8)
    assert transforms.noisy((600, 700)).shape == (600, 700)


def test_growth_is_the_exponent_between_two_sizes(monkeypatch):
    costs = iter([(1, 8), (1, 1), (2, 2)])  # exponents 2, 1, 1; eight small ones, one large

    def cpu(function, y, count):
        if count == 8:
            cpu.last = next(costs)
        return {"total": cpu.last[count == 1], "user": 1.0}

    monkeypatch.setattr(transforms, "cpu", cpu)
    monkeypatch.setattr(transforms, "noisy", lambda shape: np.arange(16.0))
    assert transforms.growth(3) == {"total": [1.0, 1.0, 2.0], "user": [1.0, 1.0, 1.0]}


def test_psnr_of_an_image():
    assert_allclose(images.psnr(1.0, 25.5), 20.0)
    assert_allclose(images.psnr(0.1, 25.5), 30.0)


def test_union_is_measured():
    y, truth = union.bumps_and_tones(512)
    assert_allclose(np.std(truth) / np.std(y - truth), union.SNR, rtol=0.1)
    record = union.child("sym8+dct", 512)
    assert record["converged"] and record["errors"]["denoise"] < 1.0
    assert record["band_memory"] >= record["memory"] > 10
    assert "| sym8+dct " in union.to_markdown({"512/sym8+dct": record})


def test_moments_agree_with_the_draws_they_are_timed_against(monkeypatch):
    monkeypatch.setattr(inputs, "MODELS", {"process": inputs.process})
    records = dict(inputs.run("moments", quick=True))
    ((key, record),) = records.items()
    assert key == "process/100/2" and record["apart"] < 5.0 and record["draws"] > 1000
    page = "\n".join(inputs.section({"moments": records}))
    assert "## Uncertain inputs" in page and "| process |" in page


def test_samplers_and_fronts_are_timed():
    results = {name: dict(sampling.run(name, quick=True)) for name in sampling.SECTIONS}
    record = results["samplers"]["64"]
    assert 2 < record["functions"] < 64 and record["gibbs"]["ess"] > 2
    assert results["fronts"]["125"]["points"] > 10
    page = "\n".join(sampling.section(results))
    assert "### Samplers" in page and "| 64 " in page and "| 125 " in page


def test_noisy_inputs_are_off_and_outputs_are_not():
    X, y, X_test, y_test = inputs.noisy_sinc(2000, 0)
    clean = np.linspace(-10, 10, 2000)
    assert_allclose(np.std(X[:, 0] - clean), 1.0, rtol=0.1)
    assert_allclose(np.std(y - np.sinc(clean / np.pi)), 0.05, rtol=0.1)
    assert_allclose(np.std(y_test - np.sinc(X_test[:, 0] / np.pi)), 0.05, rtol=0.1)


def test_draws_go_on_from_what_is_stored(monkeypatch):
    seen = []

    def shortfall(task, prior):
        seen.append((task, prior))
        return float(task), 1.0 + task

    monkeypatch.setattr(stall, "_shortfall", shortfall)
    monkeypatch.setattr(stall, "PROBLEMS", {"some": lambda draw: draw})
    monkeypatch.setattr(stall, "PRIORS", {"flat": "flat"})
    monkeypatch.setattr(stall, "EVERY", 2)
    records = [record for _, record in stall.run_draws(False, 3)]
    assert [record["draws"] for record in records] == [2, 3]
    last = records[-1]
    assert (last["below"], last["worst"], last["middle"], last["fit"]) == (1, 2.0, 1.0, 2.0)
    seen.clear()
    ((key, more),) = stall.run_draws(False, 4, None, {"some/flat": records[0]})
    assert seen == [(2, "flat"), (3, "flat")]
    assert key == "some/flat" and more["shortfalls"] == [0.0, 1.0, 2.0, 3.0]
    *_, row = stall.draws_to_markdown({key: more}).splitlines()
    assert row.replace(" ", "") == "|some|flat|4|2|3.00|1.50|2.50|"
