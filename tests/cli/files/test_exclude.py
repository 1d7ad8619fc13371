"""``--exclude``: columns that are left out, in place of naming all others."""

import numpy as np
import pytest

from sparsebayes import persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import write_csv

N = 40
RNG = np.random.default_rng(3)
A, B = RNG.uniform(0, 6, N), RNG.uniform(-1, 1, N)
FAST = ["--length-scale", "1", "--folds", "0"]


@pytest.fixture
def table(folder):
    columns = {"sample, no": [f"S{k}" for k in range(N)], "a": A, "day": range(N), "b": B}
    write_csv("d.csv", {**columns, "y": np.sin(A) + B})


@pytest.mark.parametrize("argv", [[], ["--chunk-rows", "15"]])
def test_all_other_columns_are_inputs(table, capsys, argv):
    fit = ["fit", "d.csv", "--target", "y", *FAST, *argv]
    assert main([*fit, "--exclude", 'day, "sample, no"', "-o", "m.skops"]) == 0
    assert main([*fit, "--features", "a,b", "-o", "n.skops"]) == 0
    one, other = (persistence.load_record(name) for name in ("m.skops", "n.skops"))
    assert one.feature_names == other.feature_names == ["a", "b"]
    X = np.column_stack([A, B])
    np.testing.assert_array_equal(one.model.predict(X), other.model.predict(X))


def test_cells_of_columns_that_are_left_out_may_be_missing(folder, capsys):
    write_csv("d.csv", {"a": A, "remark": ["", *["x"] * (N - 1)], "y": np.sin(A)})
    assert main(["fit", "d.csv", "--target", "y", "--exclude", "remark", *FAST]) == 0
    out = capsys.readouterr().out
    assert f"{N} rows, target y" in out and "left out" not in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--exclude", "a,z"], "d.csv: no column 'z'; the columns are 'sample, no', 'a', 'day', "),
        (["--exclude", "a,a"], "column 'a' is named more than once in 'a,a'"),
        (["--exclude", "a,y"], "--exclude 'a,y' names 'y', which is to be predicted; leave it out"),
        (
            ["--features", "a", "--exclude", "b"],
            "--features 'a' and --exclude 'b' both choose columns; give one of them",
        ),
        (
            ["--exclude", '"sample, no",a,b,day'],
            "leaves no column of d.csv besides 'y'; exclude fewer",
        ),
    ],
)
def test_what_is_refused(table, capsys, argv, message):
    fails(capsys, ["fit", "d.csv", "--target", "y", *argv], message)


def test_several_targets_and_the_data_of_the_package(table, capsys):
    argv = ["fit", "d.csv", "--target", "y,b", "--exclude", '"sample, no",b']
    fails(capsys, argv, "names 'b', which is to be predicted")
    fails(capsys, ["fit", "--exclude", "temperature"], "leaves no column of .* besides 'response'")
