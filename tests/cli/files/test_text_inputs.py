"""Columns of text among the inputs: 0 and 1 for each different text, by the model itself."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sparsebayes import RVR, persistence
from sparsebayes.basis import RBF
from sparsebayes.cli import main
from tests.cli.refusal import fails
from tests.cli.tables import read_csv, write_csv

N = 60
RNG = np.random.default_rng(2)
A, KIND = RNG.uniform(0, 6, N), RNG.choice(["blue", "green", "red"], N)
SIDE = RNG.choice(["left", "right"], N)
Y = np.sin(A) + 2.0 * (KIND == "red") - (SIDE == "left") + 0.05 * RNG.standard_normal(N)
FAST = ["--length-scale", "1"]


@pytest.fixture
def table(folder):
    write_csv("d.csv", {"a": A, "kind": KIND, "side": SIDE, "y": Y})
    return ["fit", "d.csv", "--target", "y", "-o", "m.skops", *FAST]


@pytest.mark.slow
def test_texts_are_encoded_and_the_model_knows_how(table, capsys):
    assert main([*table, "--folds", "4"]) == 0
    out = capsys.readouterr().out
    assert "note               kind holds text: an input of 0 and 1 for each of blue, green" in out
    assert "side holds text: an input of 0 and 1 for each of left, right (2)" in out
    assert "4-fold CV" in out
    model = persistence.load("m.skops")[-1]
    assert model.n_features_in_ == 5  # a, three colours, and one for two sides
    assert main(["predict", "m.skops", "d.csv", "-o", "p.csv"]) == 0
    means = np.array(read_csv("p.csv")["mean"], float)
    assert np.sqrt(np.mean((means - Y) ** 2)) < 0.1
    # By hand, with the same columns.
    encoded = [(A - A.mean()) / A.std(), *(kind == KIND for kind in ("blue", "green", "red"))]
    encoded = np.column_stack([*encoded, SIDE == "right"]).astype(float)
    assert_allclose(means, model.predict(encoded), rtol=1e-9)
    capsys.readouterr()
    assert main(["inspect", "m.skops"]) == 0
    out = capsys.readouterr().out
    assert (
        "3 (a, kind, side)" in out and "kind_blue" in out and "RVR after ColumnTransformer" in out
    )
    assert main(["compare", "m.skops", "--data", "d.csv"]) == 0
    assert "regression on 60 held-out rows" in capsys.readouterr().out


def test_what_the_model_does_not_know_is_refused(table, capsys, folder):
    assert main([*table, "--folds", "0", "--quiet"]) == 0
    (folder / "new.csv").write_text("a,kind,side\n1,red,left\n2,pink,left\n")
    fails(
        capsys,
        ["predict", "m.skops", "new.csv"],
        "new.csv: line 3, column 'kind': 'pink' is not known to the model.*'blue', 'green', 'red'",
    )
    for kind in ("c", "onnx", "json"):
        message = "m.skops: the inputs 'kind', 'side' are text, .* cannot be exported; fit one"
        fails(capsys, ["export", "m.skops", "-o", f"m.{kind}"], message)


def test_rows_without_a_text_keep_their_place(table, capsys, folder):
    assert main([*table, "--folds", "0", "--quiet"]) == 0
    (folder / "new.csv").write_text("a,kind,side\n1,red,left\n2,NA,left\n3,blue,right\n")
    assert main(["predict", "m.skops", "new.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[2] == ",,,,"
    assert "1 of 3 rows have cells" in err


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([f"id{k}" for k in range(N)], "column 'kind' holds 60 different texts in 60 rows"),
        ([f"id{k % 25}" for k in range(N)], "holds 25 different texts in 60 rows, such as 'id0'"),
        (["x"] * N, "column 'kind' holds 'x' in all rows; leave it out with --exclude or"),
        ([f"{k % 3 + 1}%" for k in range(N)], "'1%' is a number with the unit '%'; write"),
        ([*["x", "y"] * 29, "3", "x"], "line 60, column 'kind': '3' is a number, other cells"),
    ],
)
def test_other_texts_are_refused(table, capsys, cells, message):
    write_csv("d.csv", {"a": A, "kind": cells, "y": Y})
    fails(capsys, ["fit", "d.csv", "--target", "y"], message)


def test_texts_are_refused_if_asked_for_and_in_chunks(table, capsys):
    argv = ["fit", "d.csv", "--target", "y"]
    message = "d.csv: the inputs 'kind', 'side' hold text; leave them out with --exclude or"
    fails(capsys, [*argv, "--categorical", "error"], message)
    message = "d.csv: the inputs 'kind', 'side' hold text, which is encoded only where all rows"
    fails(capsys, [*argv, "--chunk-rows", "20"], message)
    assert main([*argv, "--features", "a", "--categorical", "error", "--folds", "0", *FAST]) == 0


@pytest.mark.slow
def test_texts_of_parquet_and_classes(folder, capsys):
    labels = np.where(KIND == "red", "yes", "no")
    pq.write_table(pa.table({"a": A, "kind": KIND, "answer": labels}), "d.parquet")
    argv = ["fit", "d.parquet", "--target", "answer", "-o", "m.skops", "--folds", "0"]
    assert main([*argv, "--link", "logit", "--figures", "f", *FAST]) == 0
    assert "kind holds text" in capsys.readouterr().out
    assert not (folder / "f" / "fit.png").exists()  # there are no two inputs of numbers
    assert main(["predict", "m.skops", "d.parquet", "-o", "p.csv"]) == 0
    assert np.mean(np.array(read_csv("p.csv")["label"]) == labels) > 0.95


def test_only_texts(folder, capsys):
    write_csv("d.csv", {"kind": KIND, "y": Y})
    argv = ["fit", "d.csv", "--target", "y", "-o", "m.skops", "--folds", "0", *FAST]
    assert main([*argv, "--figures", "f"]) == 0
    assert main(["predict", "m.skops", "d.csv", "-o", "p.csv"]) == 0
    means = np.array(read_csv("p.csv")["mean"], float)
    for kind in ("blue", "green", "red"):
        assert np.ptp(means[kind == KIND]) == 0
        assert abs(means[kind == KIND][0] - Y[kind == KIND].mean()) < 0.3


def test_compare_knows_the_texts_that_all_models_know(folder, capsys):
    write_csv("all.csv", {"kind": KIND, "y": Y})
    some = KIND != "green"
    write_csv("some.csv", {"kind": KIND[some], "y": Y[some]})
    for name in ("all", "some"):
        argv = ["fit", f"{name}.csv", "--target", "y", "-o", f"{name}.skops", "--folds", "0"]
        assert main([*argv, "--quiet", *FAST]) == 0
    for models in (["all.skops", "some.skops"], ["some.skops", "all.skops"]):
        assert main(["compare", *models, "--data", "some.csv", "--quiet"]) == 0
        argv = ["compare", *models, "--data", "all.csv"]
        fails(capsys, argv, "'green' is not known to the model, which knows 'blue', 'red'")
    assert main(["inspect", "all.skops", "--figures", "f"]) == 0
    assert "no effects.png: the inputs 'kind' are text" in capsys.readouterr().out


def test_a_pipeline_of_python_that_takes_columns_by_name_is_described_and_refused(table, capsys):
    frame = pd.DataFrame({"a": A, "kind": KIND})
    steps = [("text", OneHotEncoder(), ["kind"]), ("numbers", StandardScaler(), ["a"])]
    model = make_pipeline(ColumnTransformer(steps), RVR(RBF(1.0), calibrate=None)).fit(frame, Y)
    persistence.save(model, "named.skops")
    assert main(["inspect", "named.skops"]) == 0
    assert "inputs             2 (a, kind)" in capsys.readouterr().out
    fails(capsys, ["predict", "named.skops", "d.csv"], "'text' of the stored .* by name")
    fails(capsys, ["export", "named.skops", "-o", "x.c"], "'kind' are text")
