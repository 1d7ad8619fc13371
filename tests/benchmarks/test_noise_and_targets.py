"""The benchmark of several targets, outliers and varying noise: data, resumed runs, limits."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.noise_and_targets import draws, outliers, page, targets, varying
from benchmarks.tools.splits import Split


def cells(text, first):
    row = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in row.split("|")[1:-1]]


def by_label(limits):
    return {what: (limit, shown, met) for what, limit, shown, met in limits}


def options(**others):
    return SimpleNamespace(quick=True, splits=None, data=None, resume=False, **others)


# Which draws


def test_plan_of_a_full_run_and_of_parts():
    counts = {"a": 3, "b": 2}

    def keys(quick=False, splits=None, only=(), done=()):
        return [key for key, *_ in draws.planned(counts, ("b",), quick, splits, only, done)]

    assert keys() == ["a/0", "a/1", "a/2", "b/0", "b/1"]
    assert keys(quick=True) == ["b/0"]
    assert keys(quick=True, only=["a"]) == ["a/0"]
    assert keys(splits=1) == ["a/0", "b/0"]
    assert keys(splits=4, only=["b"], done=["b/0", "b/1"]) == ["b/2", "b/3"]
    assert list(draws.planned(counts, (), False, None, ["b"], ["b/0"])) == [("b/1", "b", 1)]


@pytest.mark.parametrize("section", page.SECTIONS)
def test_a_quick_run_asks_for_known_sets(section):
    part = page.PARTS[page.SECTIONS.index(section)]
    assert set(part.QUICK) <= set(page.KNOWN[page.SECTIONS.index(section)])


def test_unknown_names_are_refused():
    wrong = options(seed=None)
    wrong.data = "cst"
    with pytest.raises(SystemExit, match="no 'cst'; there are cstr, usps, linnerud"):
        list(page.run("targets", wrong, {}))


def test_warnings_and_time_of_a_fit_are_told():
    import warnings

    class Loud:
        def fit(self, X, y):
            warnings.warn("weak", RuntimeWarning, stacklevel=1)
            return self

    model, seconds, caught = draws.fitted(Loud(), np.zeros((2, 1)), np.zeros(2))
    assert isinstance(model, Loud) and seconds >= 0 and caught == ["RuntimeWarning"]


def test_the_deepest_step_is_the_most_negative():
    def path(*values):
        return SimpleNamespace(evidence_path_=np.array(values))

    assert draws.deepest(path(1.0, 2.0, 1.5, 3.0)) == -0.5
    assert draws.deepest(path(1.0, 2.0)) == 0.0 and draws.deepest(path(1.0)) == 0.0
    records = {"a": {"falls": [0.0, -1e-9]}, "b": {"falls": [0.0]}}
    ((what, _, _, met),) = draws.never_falls(records, "this")
    assert what == "3 fits with this: deepest step of the objective" and met
    records["b"]["falls"] = [-1e-7]
    ((*_, shown, met),) = draws.never_falls(records, "this")
    assert shown == "−1.0e−07" and not met
    assert list(draws.never_falls({}, "this")) == []


# Several targets


@pytest.fixture
def data(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "daisy_misc.npz", cstr_u=np.arange(60.0), cstr_y=np.arange(120).reshape(60, 2)
    )
    np.savez(tmp_path / "usps.npz", X_train=rng.normal(size=(40, 256)))
    np.savez(tmp_path / "motorcycle.npz", t=np.arange(40.0), accel=rng.normal(size=40))
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    monkeypatch.setattr(targets, "SIZE", 25)


def test_inputs_of_the_tank_are_from_before_its_outputs(data):
    split = targets.cstr(0)
    assert split.X.shape == (25, 7) and split.X_test.shape == (15, 7)
    # u(t) = t and y(t) = (2t, 2t + 1)
    for X, Y in ((split.X, split.y), (split.X_test, split.y_test)):
        assert_array_equal(Y[:, [0]] / 2 - X, np.tile([1, 4, 7, 10, 13, 16, 19], (len(X), 1)))
    times = np.concatenate([split.y[:, 0], split.y_test[:, 0]])
    assert len(set(times)) == 40


def test_digits_are_cut_in_half_and_missing_files_are_named(data, monkeypatch, tmp_path):
    split = targets.usps(1)
    assert split.X.shape == (25, 128) and split.y_test.shape == (15, 128)
    assert targets.linnerud(0).y_test.shape == (4, 3)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"no file usps.npz in .*set SPARSEBAYES_DATA"):
        targets.usps(0)


def test_errors_are_in_units_of_the_training_targets():
    y = np.array([[0.0, 0.0, 7.0], [4.0, 0.2, 7.0]])  # deviations 2, 0.1 and none
    split = Split(np.zeros((2, 1)), y, np.zeros((2, 1)), np.zeros((2, 3)))
    found, std = np.array([[2.0, 0.2, 9.0], [2.0, 0.2, 9.0]]), np.array([[1.0, 0.2, 1.0]] * 2)
    chosen = np.array([0, 1, 2])
    assert targets.scored(split, chosen, found, std) == {"square": 2.5, "coverage": 0.5}
    one = targets.scored(split, chosen[1:2], found[:, 1:2], std[:, 1:2])
    assert_allclose(one["square"], 4.0)
    assert_allclose(targets.of_the_mean(split, chosen)["square"], 1.0)  # the means are 2 and 0.1


def waves(n_samples=30, n_targets=4):
    X = np.linspace(-1, 1, n_samples)[:, None]
    rng = np.random.default_rng(0)
    y = np.sin(3 * X + np.arange(n_targets)) + 0.1 * rng.normal(size=(n_samples, n_targets))
    return Split(X[::2], y[::2], X[1::2], y[1::2])


@pytest.mark.slow
def test_targets_fitted_apart_stand_for_all():
    split = waves()
    first, last = (targets.apart(split, np.array([k])) for k in (0, 3))
    both = targets.apart(split, np.array([0, 3]))
    assert first["kept"] % 4 == 0 and both["kept"] == (first["kept"] + last["kept"]) / 2
    assert_allclose(both["square"], (first["square"] + last["square"]) / 2)
    together = targets.together(split, np.array([0, 3]))
    assert together["square"] < 0.2 and together["kept"] < both["kept"]


def test_some_targets_are_drawn_to_be_fitted_apart(monkeypatch):
    seen = []
    monkeypatch.setattr(targets, "SETS", {"waves": targets.Targets(lambda split: waves(), 2, 2)})
    monkeypatch.setattr(targets, "together", lambda split, chosen: "all of them")
    monkeypatch.setattr(targets, "apart", lambda split, chosen: seen.append(chosen.tolist()))
    found = dict(targets.run(False, None))
    assert list(found) == ["waves/0", "waves/1"]
    assert 0.5 < found["waves/1"].pop("mean")["square"] < 2
    assert found["waves/1"] == {
        "name": "waves", "split": 1, "shape": [15, 1, 4], "together": "all of them", "apart": None,
    }  # fmt: skip
    assert all(len(some) == 2 and some[0] < some[1] for some in seen) and seen[0] != seen[1]


def target_record(split, together, apart):
    def made(square, kept, fit):
        return {"square": square, "coverage": 0.9, "kept": kept, "fit": fit, "warnings": []}

    place = {"name": "cstr", "split": split, "shape": [300, 7, 2], "mean": {"square": 16.0}}
    return place | {"together": made(*together), "apart": made(*apart)}


def test_limits_of_targets_are_those_of_all_splits():
    records = {
        "cstr/0": target_record(0, (1.0, 10, 1.0), (4.0, 20, 4.0)),
        "cstr/1": target_record(1, (8.0, 30, 1.0), (0.0, 20, 1.0)),
    }
    found = by_label(targets.limits(records))
    label = "cstr, 2 targets together / apart: "
    assert found[label + "error"] == ("≤ 1.05", "1.500", False)  # of the squares 9 and 4
    assert found[label + "functions"] == ("< 1", "1.00", False)
    assert found[label + "time"] == ("< 1", "0.400", True)
    row = cells(targets.to_markdown(records), "cstr")
    assert row == [
        "cstr", "300 × 7 → 2", "2", "together", "2.121", "1.500", "4.000", "20.0", "1.00", "0.400",
        "90.0", "0",
    ]  # fmt: skip


# Outliers


@pytest.mark.parametrize(("kind", "size", "noise"), [("sinc", 100, 0.1), ("friedman", 240, 1.0)])
def test_a_twentieth_of_the_targets_is_far_off(kind, size, noise):
    draw = outliers.make(kind, 0)
    off = np.abs(draw.y - draw.clean) / noise
    assert draw.X.shape[0] == size and draw.f_test.shape == (500,)
    moved = off[off > 0]
    factor = 2 if kind == "sinc" else 1
    assert moved.size == 0.05 * size and 5 * factor < moved.min() < moved.max() < 15 * factor
    assert len(set(np.sign((draw.y - draw.clean)[off > 0]))) == 2
    assert_allclose(np.std(draw.y_test - draw.f_test), noise, rtol=0.1)


def outlier_record(errors, coverage, nu, falls=(0.0,)):
    names = (outliers.CLEAN, outliers.PLAIN, outliers.ROBUST, outliers.ROBUST_CLEAN, outliers.PEER)
    return {
        "name": "sinc",
        "errors": dict(zip(names, errors, strict=True)),
        "coverage": dict.fromkeys(names[:4], coverage),
        "fit": dict.fromkeys(names, 0.5),
        "nu": {outliers.ROBUST: nu, outliers.ROBUST_CLEAN: None},
        "falls": list(falls),
        "warnings": [],
    }


def test_limits_of_outliers():
    records = {
        "sinc/0": outlier_record((1.0, 4.0, 1.0, 1.0, 3.0), 0.95, 2.0),
        "sinc/1": outlier_record((1.0, 4.0, 2.0, 1.0, 0.0), 0.81, 3.0, (0.0, -1.0)),
        "t noise/0": {"name": "t noise", "nu": {outliers.ROBUST: 1.75}, "falls": [0.0]},
        "t noise/1": {"name": "t noise", "nu": {outliers.ROBUST: None}, "falls": [0.0]},
    }
    found = by_label(outliers.limits(records))
    label = "sinc, 2 draws: "
    assert found[label + "error with outliers / RVR() without"] == ("≤ 1.15", "1.500", False)
    assert found[label + "error with outliers / SVR + grid"] == ("≤ 1", "1.000", True)
    assert found[label + "error without outliers / RVR()"] == ("≤ 1.05", "1.000", True)
    assert found[label + "coverage with outliers, %"] == ("90 to 98", "88.0", False)
    label = "t noise, 2 draws: ν where it is 3, lowest and highest"
    assert found[label] == ("1.5 to 6", "1.75 to ∞", False)
    label = "5 fits with StudentT(): deepest step of the objective"
    assert found[label] == ("≥ −1e−08", "−1.0e+00", False)
    text = outliers.to_markdown(records)
    assert "the ν found are 1.75, ∞." in text
    rows = {
        row.split("|")[3].strip(): row.split("|") for row in text.splitlines() if "sinc |" in row
    }
    robust = [cell.strip() for cell in rows[outliers.ROBUST][4:-1]]
    assert robust == ["1.50", "1.500", "2.00", "88.0", "81.0", "2.50", "0.500"]
    assert rows[outliers.ROBUST_CLEAN][9].strip() == "∞"
    assert [cell.strip() for cell in rows[outliers.PEER][7:10]] == ["–", "–", "–"]


@pytest.mark.slow
def test_models_are_fitted_with_and_without_outliers(monkeypatch):
    monkeypatch.setattr(outliers, "GRID", {"svr__C": (10.0,)})
    ((key, record),) = outliers.run(True, None, ["sinc"])
    assert key == "sinc/0" and record["draw"] == 0
    errors = record["errors"]
    assert errors[outliers.ROBUST] < 0.5 * errors[outliers.PLAIN]
    assert set(record["coverage"]) == set(errors) - {outliers.PEER}
    assert record["nu"] == {
        outliers.ROBUST: pytest.approx(3.0, abs=2.0),
        outliers.ROBUST_CLEAN: None,
    }
    assert len(record["falls"]) == 2


# Noise that varies


def test_noise_of_the_fan_grows_and_that_of_the_others_does_not():
    fan = varying.fan(0)
    off = fan.y_test - np.sin(2 * np.pi * fan.X_test[:, 0])
    far = fan.X_test[:, 0] > 0.5
    assert fan.X.shape == (200, 1) and np.std(off[far]) > 2 * np.std(off[~far])
    assert len(varying.CONSTANT) == 10
    for name, make in varying.CONSTANT.items():
        first, again, other = make(0), make(0), make(1)
        assert len(first.y_test) == 1000, name
        assert_array_equal(first.y, again.y)
        assert not np.array_equal(first.y, other.y)


def test_folds_of_the_motorcycle_hold_each_row_once(data):
    folds = list(varying.motorcycle(0))
    assert len(folds) == 10
    held = np.concatenate([fold.X_test[:, 0] for fold in folds])
    assert_array_equal(np.sort(held), np.arange(40.0))
    assert not np.array_equal(held, np.concatenate([f.X_test[:, 0] for f in varying.motorcycle(1)]))


def varying_record(name, constant, varied, falls=(0.0,)):
    return {
        "name": name,
        "shape": [100, 1],
        "nlpd": {"constant": constant, "varying": varied},
        "coverage": {"constant": 0.9, "varying": 0.95},
        "fit": {"constant": 1.0, "varying": 3.0},
        "falls": list(falls),
        "warnings": [],
    }


def test_limits_of_varying_noise():
    records = {
        "motorcycle/0": varying_record("motorcycle", 4.5, 4.0),
        "motorcycle/1": varying_record("motorcycle", 4.5, 4.25),
        "fan/0": varying_record("fan", 0.0, 1.0),
        "sinc/0": varying_record("sinc", -1.0, -1.0),
        "chirp/0": varying_record("chirp", -1.0, -0.875),
        "chirp/1": varying_record("chirp", -1.0, -1.0625),
    }
    found = by_label(varying.limits(records))
    assert found["motorcycle: NLPD, constant − varying"] == ("≥ 0.3", "+0.38", True)
    label = "2 sets of constant noise: NLPD, varying − constant, largest"
    assert found[label] == ("≤ 0.02", "+0.031 (chirp)", False)
    assert found['6 fits with noise="varying": deepest step of the objective'][2]
    assert cells(varying.to_markdown(records), "chirp") == [
        "chirp", "100 × 1", "2", "−1.000", "−0.969", "−0.031", "−0.125", "90.0", "95.0", "1.00",
        "3.00", "3.00",
    ]  # fmt: skip


@pytest.mark.slow
def test_rows_of_all_folds_count_alike():
    def line(n_test):
        X = np.linspace(-1, 1, 30)[:, None]
        y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=30)
        return Split(X, y, np.zeros((n_test, 1)), np.full(n_test, float(n_test - 1)))

    parts = [varying.one(iter([line(n)]))["nlpd"]["constant"] for n in (1, 3)]
    both = varying.one(iter([line(1), line(3)]))
    assert_allclose(both["nlpd"]["constant"], (parts[0] + 3 * parts[1]) / 4)
    assert len(both["falls"]) == 2 and both["fit"]["varying"] > 0


# The page


def test_the_page_has_what_is_stored_and_a_resumed_run_adds_the_rest(monkeypatch):
    assert page.section({}) == [] == page.section({"targets": {}})
    results = {"varying": {"sinc/0": varying_record("sinc", 0.0, 0.0)}}
    text = "\n".join(page.section(results))
    assert "## Several targets, outliers and varying noise" in text
    assert "### Noise that varies with the input" in text and "### Outliers" not in text
    monkeypatch.setattr(varying, "one", lambda splits: {"fresh": True})
    resumed = options(only=None)
    resumed.resume, resumed.data, resumed.splits = True, "sinc,fan", 2
    found = dict(page.run("varying", resumed, results["varying"]))
    assert list(found) == ["sinc/1", "fan/0", "fan/1"]
    assert found["fan/1"] == {"name": "fan", "draw": 1, "fresh": True}
