"""``sparsebayes fit --target a,b``: several targets, from the table to the predictions."""

import os
import re

import numpy as np
import pytest
from matplotlib.image import imread
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.model_selection import KFold

from sparsebayes import RVR, LeaveOneOutGPR, ReducedRankGPR, persistence
from sparsebayes.basis import RBF
from sparsebayes.cli import main
from sparsebayes.rows.files import open_file
from sparsebayes.rows.table import TableError
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

FAST = ["--features", "x", "--length-scale", "3", "--folds", "0"]
N = 60


@pytest.fixture
def table(folder):
    """Columns of numbers, of labels and of a name with a comma in it."""
    rng = np.random.default_rng(0)
    x, u = np.linspace(-10, 10, N), rng.normal(size=N)
    noise = rng.normal(size=(3, N))
    columns = {
        "x": x,
        "u": u,
        "a": np.sinc(x / np.pi) + 0.05 * noise[0],
        "b": 50 + 10 * np.cos(x / 2) + noise[1],
        "a,b": x + noise[2],
        "flat": np.full(N, 3.5),
        "word": ["p", "q"] * (N // 2),
        "count": np.arange(N) % 3,
    }
    write_csv("d.csv", columns)
    return columns


def told(report, name):
    """The lines of a report under a name, one for each target."""
    lines = report.split("\n")
    (start,) = (i for i, line in enumerate(lines) if line.startswith(name + "  "))
    width = len(lines[start]) - len(lines[start][len(name) :].lstrip())
    found = [lines[start][width:]]
    for line in lines[start + 1 :]:
        if line[:width].strip() or not line.strip():
            break
        found.append(line[width:])
    return found


@pytest.mark.slow
def test_the_report_has_a_line_for_each_target(table, capsys):
    argv = ["fit", "d.csv", "--target", "a, b", "--features", "x", "--length-scale", "3"]
    assert main([*argv, "-o", "m.skops", "--folds", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "60 rows, targets a, b\n" in out
    assert "regression: there are 2 targets" in out
    model = persistence.load("m.skops")
    X, Y = table["x"][:, None], np.column_stack([table["a"], table["b"]])
    noise = np.sqrt(model.noise_variance_)
    assert told(out, "noise std") == [f"a: {noise[0]:.4g}", f"b: {noise[1]:.4g}"]
    bars = told(out, "error bars")
    for k, name in enumerate("ab"):
        assert bars[k].startswith(f"{name}: times {model.calibration_[k]:.3g}")
        away = np.sqrt(model.left_out_variance_[k])
        assert (f"{away:.3g} more away" in bars[k]) == (away > 0)
    rms = np.sqrt(np.mean((Y - model.predict(X)) ** 2, axis=0))
    r2 = 1 - rms**2 / Y.var(axis=0)
    assert told(out, "training data") == [
        f"{name}: RMSE {rms[k]:.4g}, R² {r2[k]:.4f}" for k, name in enumerate("ab")
    ]
    wrong, inside = np.empty(Y.shape), np.empty(Y.shape)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        mean, std = model.fit(X[train], Y[train]).predict(X[test], return_std=True)
        wrong[test] = Y[test] - mean
        inside[test] = np.abs(wrong[test]) <= norm.ppf(0.975) * std
    rms, share = np.sqrt(np.mean(wrong**2, axis=0)), 100 * inside.mean(axis=0)
    assert told(out, "3-fold CV") == [
        f"{name}: RMSE {rms[k]:.4g}, 95 % intervals cover {share[k]:.1f} %"
        for k, name in enumerate("ab")
    ]


@pytest.mark.slow
def test_the_file_has_all_names_and_the_same_model(table, capsys):
    assert main(["fit", "d.csv", "--target", "b,a", *FAST, "-o", "m.skops", "--quiet"]) == 0
    record = persistence.load_record("m.skops")
    assert record.target_name == ["b", "a"] and record.feature_names == ["x"]
    Y = np.column_stack([table["b"], table["a"]])
    same = RVR(RBF(3.0), adapt=None, random_state=0).fit(table["x"][:, None], Y)
    assert_array_equal(record.model.weights_, same.weights_)


@pytest.mark.slow
def test_predictions_have_columns_for_each_target(table, capsys):
    assert main(["fit", "d.csv", "--target", "b,a", *FAST, "-o", "m.skops", "--quiet"]) == 0
    assert main(["predict", "m.skops", "d.csv", "-o", "p.csv", "--coverage", "0.5"]) == 0
    cells = read_csv("p.csv")
    kinds = ["mean", "std", "lower", "upper"]
    names = [f"{kind}_{target}" for target in "ba" for kind in kinds]
    assert list(cells) == [*names, "inside"]
    mean, std = persistence.load("m.skops").predict(table["x"][:, None], return_std=True)
    half = norm.ppf(0.75) * std
    values = dict(zip(kinds, (mean, std, mean - half, mean + half), strict=True))
    for k, target in enumerate("ba"):
        for kind, expected in values.items():
            found = np.array(cells[f"{kind}_{target}"], dtype=float)
            assert_allclose(found, expected[:, k], rtol=1e-12)
    assert set(cells["inside"]) == {"1"}


def test_inspect_shows_each_target(table, capsys):
    assert main(["fit", "d.csv", "--target", "a,b,flat", *FAST, "-o", "m.skops", "--quiet"]) == 0
    assert main(["inspect", "m.skops"]) == 0
    out = capsys.readouterr().out
    model = persistence.load("m.skops")
    assert told(out, "targets") == ["3 (a, b, flat)"]
    assert [line.split(":")[0] for line in told(out, "noise std")] == ["a", "b", "flat"]
    assert len(told(out, "error bars")) == 3
    assert re.search(r"function +x +w\[a\] +w\[b\] +w\[flat\] +gamma\n", out)
    for (one, other, none), gamma in zip(model.weights_, model.determined_, strict=True):
        # A target that does not vary has no weights.
        line = rf" {one:.5g} ± \S+ +{other:.5g} ± \S+ +{gamma:.3f}\n"
        assert none == 0 and re.search(line, out)


def panels(monkeypatch, argv):
    """The axes that the figures of a fit have, by file."""
    import sparsebayes.cli.fit as module

    drawn, png = [], module.png
    monkeypatch.setattr(module, "png", lambda figure: drawn.append(figure) or png(figure))
    assert main(argv) == 0
    return [figure.axes for figure in drawn]


@pytest.mark.slow
def test_one_input_has_a_curve_for_each_target(table, monkeypatch):
    argv = ["fit", "d.csv", "--target", "a,b,flat", *FAST, "--figures", "f", "--quiet"]
    fit, path = panels(monkeypatch, argv)
    assert [ax.get_ylabel() for ax in fit] == ["a", "b", "flat"] and len(path) == 1
    assert [ax.get_xlabel() for ax in fit] == ["", "", "x"]
    assert sorted(os.listdir("f")) == ["evidence.png", "fit.png"]
    height, width = imread("f/fit.png").shape[:2]
    assert height > width  # one above the other


@pytest.mark.slow
def test_several_inputs_have_errors_for_each_target(table, monkeypatch):
    argv = ["fit", "d.csv", "--target", "a,b,flat,count", "--task", "regression"]
    argv += ["--features", "x,u", "--length-scale", "2", "--folds", "0", "--quiet"]
    fit, _ = panels(monkeypatch, [*argv, "--figures", "f", "-o", "m.skops"])
    assert [ax.get_title() for ax in fit] == ["a", "b", "flat", "count"]
    model = persistence.load("m.skops")
    predicted = model.predict(np.column_stack([table["x"], table["u"]]))
    for k, name in enumerate(("a", "b", "flat", "count")):
        (points,) = fit[k].collections
        assert_allclose(points.get_offsets(), np.column_stack([predicted[:, k], table[name]]))


def test_too_many_panels_are_refused_before_the_fit(folder, capsys):
    rows = np.random.default_rng(0).normal(size=(20, 32))
    write_csv("d.csv", {f"c{j}": rows[:, j] for j in range(32)})
    names = ",".join(f"c{j}" for j in range(1, 32))
    argv = ["fit", "d.csv", "--target", names, "--figures", "f"]
    fails(capsys, argv, "--figures draws 30 targets at most, but --target names 31")


def test_long_lists_of_targets_are_cut_short(folder, capsys):
    rng = np.random.default_rng(0)
    x = np.linspace(-5, 5, 30)
    waves = {f"t{k}": np.sin(x + k) + 0.1 * rng.normal(size=30) for k in range(12)}
    write_csv("d.csv", {"x": x, **waves})
    argv = ["fit", "d.csv", "--target", ",".join(waves), "--length-scale", "2", "--folds", "0"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    lines = told(out, "training data")
    assert len(lines) == 11 and lines[9].startswith("t9: ") and lines[10] == "(2 more targets)"
    assert out.endswith("(6 more targets)\n")


@pytest.mark.slow
def test_a_name_with_a_comma_is_one_target(table, capsys):
    assert main(["fit", "d.csv", "--target", "a,b", *FAST, "-o", "m.skops"]) == 0
    assert "60 rows, target a,b\n" in capsys.readouterr().out
    record = persistence.load_record("m.skops")
    assert record.target_name == "a,b" and record.model.weights_.ndim == 1
    assert main(["fit", "d.csv", "--target", '"a,b",b', *FAST, "-o", "m.skops"]) == 0
    assert persistence.load_record("m.skops").target_name == ["a,b", "b"]


def test_names_are_read_like_a_row_of_the_table(table):
    (read,) = open_file("d.csv").tables([], None)
    assert read.named(" a ") == ["a"] and read.named("x , u") == ["x", "u"]
    assert read.named("a,b") == ["a,b"] and read.named("b,a") == ["b", "a"]
    assert read.named('u, "a,b"') == ["u", "a,b"]
    for text in ("", ",", "a,", "a,\nb"):
        with pytest.raises(TableError, match="no column"):
            read.named(text)


@pytest.mark.slow
def test_inputs_default_to_what_is_no_target(table, capsys):
    argv = ["fit", "d.csv", "--target", "a,b", "--quiet", "--folds", "0", "-o", "m.skops"]
    write_csv("d.csv", {name: table[name] for name in ("a", "x", "b", "u")})
    assert main(argv) == 0
    assert persistence.load_record("m.skops").feature_names == ["x", "u"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--target", "a,c"], "d.csv: no column 'c'; the columns are 'x', 'u', 'a'"),
        (["--target", "b,b"], "column 'b' is named more than once in 'b,b'"),
        (["--target", "b,a", "--features", "x,a"], "column 'a' is a target and cannot be an input"),
        (["--target", "b,a", "--features", "x,x"], "column 'x' is named more than once in 'x,x'"),
        (
            ["--target", "b,word", "--features", "x"],
            r"'word' is taken for classes \(.* text\), and",
        ),
        (["--target", "b,count", "--features", "x"], "'count' is .* --task regression overrides"),
        (
            ["--target", "b,word", "--features", "x", "--task", "regression"],
            "line 2, column 'word': 'p' is not a number",
        ),
        (
            ["--target", "b,flat", "--features", "x", "--task", "classification"],
            "--task classification has one target, but --target names 2; fit a model for each",
        ),
        (["--target", "b,a", "--features", "x", "--link", "probit"], "but the task is regression"),
    ],
)
def test_refusals(table, capsys, argv, message):
    fails(capsys, ["fit", "d.csv", *argv, "-o", "m.skops", "--figures", "f"], message)


@pytest.mark.slow
def test_whole_numbers_are_targets_where_they_are_said_to_be(table, capsys):
    argv = ["fit", "d.csv", "--target", "b,count", "--task", "regression", *FAST]
    assert main(argv) == 0
    assert "regression: asked for by --task" in capsys.readouterr().out


def test_no_input_is_left(folder, capsys):
    write_csv("d.csv", {"a": [1, 2], "b": [3, 4]})
    fails(capsys, ["fit", "d.csv", "--target", "b,a"], "no input column besides 'b', 'a'")


@pytest.mark.slow
def test_stored_names_that_do_not_fit_the_model(table, capsys):
    X, Y = table["x"][:, None], np.column_stack([table["a"], table["b"]])
    model = RVR(RBF(3.0)).fit(X, Y)
    for names, listed in ((["a", "b", "c"], "'a', 'b', 'c'"), (["a", "a"], "'a', 'a'")):
        persistence.save(model, "m.skops", feature_names=["x"], target_name=names)
        for argv in (["predict", "m.skops", "d.csv"], ["inspect", "m.skops"]):
            fails(capsys, argv, f"names the targets {listed}, but the model has 2; save it with")


@pytest.mark.slow
def test_targets_without_names_are_numbered(table, capsys):
    X, Y = table["x"][:, None], np.column_stack([table["a"], table["b"]])
    for name, first in ((None, "y0"), ("t", "t0")):
        persistence.save(RVR(RBF(3.0)).fit(X, Y), "m.skops", feature_names=["x"], target_name=name)
        assert main(["predict", "m.skops", "d.csv"]) == 0
        assert capsys.readouterr().out.startswith(f"mean_{first},std_{first},")
        assert main(["inspect", "m.skops"]) == 0
        out = capsys.readouterr().out
        assert told(out, "target") == [name or "not named"]
        assert told(out, "noise std")[0].startswith(f"{first}: ")


def test_one_target_in_a_column_is_one(table, capsys):
    X = table["x"][:, None]
    model = RVR(RBF(3.0)).fit(X, table["a"][:, None])
    persistence.save(model, "m.skops", feature_names=["x"], target_name=["a"])
    assert main(["predict", "m.skops", "d.csv"]) == 0
    assert capsys.readouterr().out.startswith("mean,std,lower,upper,inside\n")
    assert main(["inspect", "m.skops"]) == 0
    out = capsys.readouterr().out
    assert told(out, "noise std") == [f"{np.sqrt(model.noise_variance_[0]):.4g}"]
    assert re.search(r"function +x +weight +std +gamma +alpha\n", out)


def test_other_models_give_an_account_of_themselves(table, capsys):
    X, Y = table["x"][:, None], np.column_stack([table["a"], table["b"]])
    process = ReducedRankGPR(n_support=5, random_state=0).fit(X, table["a"])
    persistence.save(process, "m.skops", feature_names=["x"], target_name="a")
    assert main(["inspect", "m.skops"]) == 0
    out = capsys.readouterr().out
    assert told(out, "support inputs") == ["5 of 60 rows, chosen by evidence"]
    assert told(out, "kernel") == [f"{process.kernel_}"]
    assert told(out, "target") == ["a"]
    process = LeaveOneOutGPR(random_state=0).fit(X[::3], Y[::3])
    persistence.save(process, "m.skops", feature_names=["x"], target_name=["a", "b"])
    assert main(["inspect", "m.skops"]) == 0
    assert told(capsys.readouterr().out, "targets") == ["2 (a, b)"]
    assert main(["predict", "m.skops", "d.csv"]) == 0
    assert capsys.readouterr().out.startswith("mean_a,std_a,lower_a,upper_a,mean_b,")


@pytest.mark.parametrize("targets", [1, 2])
def test_of_many_functions_the_surest_are_listed(table, capsys, targets):
    Y = np.column_stack([table["a"], table["b"]])[:, :targets]
    model = RVR(RBF(0.4), noise=1e-3, calibrate=None, bias=False).fit(table["x"][:, None], Y)
    count = len(model.relevance_)
    assert count > 22
    persistence.save(model, "m.skops")
    assert main(["inspect", "m.skops"]) == 0
    out = capsys.readouterr().out
    stds = np.sqrt(np.diagonal(model.sigma_)).T
    surest = np.sort(np.argsort(-np.abs(model.weights_ / stds).max(axis=1))[:20])
    assert re.findall(r"^ *#(\d+) ", out, re.MULTILINE) == [
        str(number) for number in model.relevance_[surest]
    ]
    assert f"({count - 20} more, of smaller weight" in out
    if targets == 1:
        k = surest[0]
        assert re.search(rf" {model.weights_[k, 0]:.5g} +{stds[k, 0]:.3g} ", out)
