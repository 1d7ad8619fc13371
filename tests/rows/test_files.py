"""Rows of CSV and Parquet files."""

import builtins
import os
import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF
from sparsebayes.rows import CSV, Parquet
from sparsebayes.rows.csv_reader import as_numbers
from sparsebayes.rows.table import Column, TableError

RNG = np.random.default_rng(0)
N = 1000
X = RNG.standard_normal((N, 3)) * 10.0 ** RNG.integers(-20, 20, (N, 3))
Y = RNG.standard_normal(N)


def columns(y=Y):
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}


def write(kind, folder, table):
    """A source of rows, by its keywords."""
    path = folder / f"d.{kind}"
    if kind == "csv":
        rows = zip(*(np.asarray(values).tolist() for values in table.values()), strict=True)
        lines = [",".join(table), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        pq.write_table(pa.table({name: np.asarray(v) for name, v in table.items()}), path)
    return lambda **kwargs: {"csv": CSV, "parquet": Parquet}[kind](path, **kwargs)


@pytest.fixture(params=["csv", "parquet"])
def kind(request):
    return request.param


def join(source):
    return tuple(map(np.concatenate, zip(*source, strict=True)))


@pytest.mark.sampled
@pytest.mark.parametrize("chunk_rows", [None, 1, 7, 1000, 5000])
def test_chunks_join_to_the_whole_again_and_again(kind, tmp_path, chunk_rows):
    source = write(kind, tmp_path, columns())(target="y", chunk_rows=chunk_rows)
    assert source.feature_names == ["a", "b", "c"]
    for _ in range(2):
        found = join(source)
        assert_array_equal(found[0], X)  # each number to the last bit
        assert_array_equal(found[1], Y)
    sizes = [len(y) for _, y in source]
    assert max(sizes) == min(chunk_rows or N, N) and sum(sizes) == N


def test_two_passes_at_once_do_not_disturb_each_other(kind, tmp_path):
    source = write(kind, tmp_path, columns())(target="y", chunk_rows=100)
    for (one, _), (other, _) in zip(source, source, strict=True):
        assert_array_equal(one, other)


def test_columns_are_chosen_by_name_and_in_order(kind, tmp_path):
    table = {"word": np.array(["x"] * N), **columns()}
    source = write(kind, tmp_path, table)(target=["y", "a"], features=["c", "b"], chunk_rows=300)
    found = join(source)
    assert_array_equal(found[0], X[:, [2, 1]])
    assert_array_equal(found[1], np.column_stack([Y, X[:, 0]]))


@pytest.mark.sampled
@pytest.mark.parametrize("late", [False, True])
def test_labels_are_of_one_kind_in_all_chunks(kind, tmp_path, late):
    whole = RNG.integers(-3, 3, N)
    source = write(kind, tmp_path, columns(whole))(target="y", chunk_rows=300)
    assert {y.dtype for _, y in source} == {np.dtype(np.int64)}
    assert_array_equal(join(source)[1], whole)
    words = whole.astype(str)
    words[-1 if late else 0] = "none"
    source = write(kind, tmp_path, columns(words))(target="y", chunk_rows=300)
    assert {y.dtype.kind for _, y in source} == {"U"}
    assert_array_equal(join(source)[1], words)
    fractions = whole.astype(float)
    fractions[-1 if late else 0] = 0.5
    source = write(kind, tmp_path, columns(fractions))(target="y", chunk_rows=300)
    assert {y.dtype for _, y in source} == {np.dtype(float)}
    assert_array_equal(join(source)[1], fractions)


def test_large_whole_numbers_keep_their_digits(tmp_path):
    large = np.arange(N) % 2 + 2**55
    source = write("csv", tmp_path, columns(large))(target="y", chunk_rows=300)
    assert_array_equal(join(source)[1], large)


def test_what_looks_like_a_number_is_text(tmp_path):
    for odd in ("--5", "007", "1.0", "٣"):
        labels = np.array(["1", "2", odd] * 10)
        table = {"a": np.arange(30), "y": labels}
        source = write("csv", tmp_path, table)(target="y", chunk_rows=7)
        assert source.kind == ("text" if odd == "--5" else "numbers")
        column = Column("y", as_text=True)
        for part in source.file.tables(["y"], 7):
            column.add(part)
        assert not column.plain and column.counts == {"1": 10, "2": 10, odd: 10}


def test_weights_of_a_column(tmp_path):
    weights = RNG.uniform(0, 2, N)
    make = write("parquet", tmp_path, {**columns(), "w": weights})
    source = make(target="y", weight="w", chunk_rows=300)
    assert source.feature_names == ["a", "b", "c"]
    assert_array_equal(join(source)[2], weights)
    with pytest.raises(ValueError, match="weight='a' is a target or an input, too"):
        make(target="y", features=["a"], weight="a")


def test_what_a_file_does_not_have_is_refused_before_it_is_read(kind, tmp_path):
    make = write(kind, tmp_path, columns())
    for kwargs, message in [
        ({"target": "z"}, "no column 'z'; the columns are 'a', 'b', 'c', 'y'"),
        ({"target": "y", "features": ["a", "z"]}, "no column 'z'"),
        ({"target": "y", "features": ["a", "y"]}, "column 'y' is the target"),
        ({"target": "y", "features": "a"}, "features must be a list of names"),
        ({"target": []}, "target must name a column"),
        ({"target": "y", "chunk_rows": 0}, "chunk_rows must be a whole number >= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(**kwargs)
    with pytest.raises(ValueError, match="no such file"):
        {"csv": CSV, "parquet": Parquet}[kind](tmp_path / "none", target="y")


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("x", "'x' is not a number"),
        ("", "the cell is empty; a number is needed"),
        ("nan", "'nan' is not a finite number; drop or fill the row"),
        ("1e999", "'1e999' is not a finite number"),
        ("2020-01-01", "'2020-01-01' is not a number"),
        ("1.2.3", "is not a number"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(tmp_path, quoted, cell, message):
    path = tmp_path / "d.csv"
    lines = ["a,b,y"] + [f"{k},{k}.5,{k}.25" for k in range(50)]
    if quoted:
        lines[3] = '2,"2.5",2.25'
    lines[41] = f"40,{cell},40.25"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=f"d.csv: line 42, column 'b': .*{re.escape(message)}"):
        list(CSV(path, target="y", chunk_rows=7))


def test_a_line_with_too_many_cells_is_named(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,y\n1,2\n3,4\n\n5,6,7\n8\n")  # as many cells as four good lines
    with pytest.raises(ValueError, match=r"line 5 has 3 cells, the header has 2"):
        list(CSV(path, target="y", chunk_rows=2))


def test_blank_lines_quotes_and_line_ends(tmp_path):
    path = tmp_path / "d.csv"
    text = '\ufeff"a","y"\r\n1,2\r\n\r\n +3 , 4.\r\n.5,"6"\r\n"7","8\n"\r\n10,-0\r\n'
    path.write_bytes(text.encode())
    expected = [[1, 2], [3, 4], [0.5, 6], [7, 8], [10, 0]]
    for chunk_rows in (1, 2, 100):
        found = join(CSV(path, target=["y"], chunk_rows=chunk_rows))
        assert_array_equal(np.column_stack(found), expected)


def test_numbers_are_read_to_the_last_bit():
    values = np.concatenate(
        [RNG.standard_normal(500), 10.0 ** RNG.uniform(-300, 300, 500), [5e-324, 1.7e308, -0.0]]
    )
    found = as_numbers("\n".join(map(repr, values.tolist())).encode(), 1)
    assert_array_equal(found[:, 0], values)
    for text in ("1,2\n3", "1;2", "0x10", "1e", ".", "-", "1-2", "--1", "inf", "1 2", "1\n\n2"):
        assert as_numbers(text.encode(), 1) is None, text
    assert_array_equal(as_numbers(b"1,.5\r\n-2.,3e-1\r\n", 2), [[1, 0.5], [-2, 0.3]])


def test_wrong_columns_of_parquet_are_named_before_it_is_read(tmp_path):
    words, times = np.array(["x"] * N), np.arange(N).astype("datetime64[s]")
    make = write("parquet", tmp_path, {**columns(), "word": words, "when": times})
    message = r"the columns 'word' \(string\), 'when' \(timestamp.*\) hold no numbers; leave them"
    with pytest.raises(ValueError, match=message):
        make(target="y")
    with pytest.raises(ValueError, match=r"the columns 'word' \(string\) hold no numbers"):
        make(target=["y", "word"], features=["a"])
    with pytest.raises(ValueError, match=r"the target 'when' .* neither numbers nor text"):
        make(target="when", features=["a"])
    assert len(join(make(target="word", features=["a"]))[1]) == N


def test_missing_values_of_parquet_are_named_by_row_and_column(tmp_path):
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"a": [1.0, 2, 3, None], "y": [1.0, 2, 3, 4]}), path)
    with pytest.raises(ValueError, match=r"d.parquet: row 3, column 'a': the cell is empty"):
        list(Parquet(path, target="y", chunk_rows=2))
    pq.write_table(pa.table({"a": [1.0, 2, np.inf, 3], "y": [1.0, 2, 3, 4]}), path)
    with pytest.raises(ValueError, match=r"row 2, column 'a': 'inf' is not a finite number"):
        list(Parquet(path, target="y", chunk_rows=2))


def test_other_types_of_parquet_are_read(tmp_path):
    path = tmp_path / "d.parquet"
    table = {
        "a": pa.array([1, 2, 3], pa.int8()),
        "b": pa.array([True, False, True]),
        "c": pa.array([1.5, 2.5, 3.5], pa.float32()),
        "y": pa.array(["u", "v", "u"]).dictionary_encode(),
    }
    pq.write_table(pa.table(table), path)
    (found,) = Parquet(path, target="y")
    assert_array_equal(found[0], [[1, 1, 1.5], [2, 0, 2.5], [3, 1, 3.5]])
    assert found[1].tolist() == ["u", "v", "u"]


def test_what_is_no_parquet_file_is_refused(tmp_path):
    path = tmp_path / "d.parquet"
    path.write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"d.parquet: not a Parquet file"):
        Parquet(path, target="y")
    with pytest.raises(ValueError, match="is a directory; name a file in it"):
        Parquet(tmp_path, target="y")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    plain = builtins.__import__

    def without(name, *args):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return plain(name, *args)

    monkeypatch.setattr(
        "sparsebayes._support.optional.import_module",
        lambda name: without(name),
    )
    with pytest.raises(ImportError, match=r"pip install \"sparsebayes\[parquet\]\""):
        Parquet(tmp_path / "d.parquet", target="y")


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (12_000, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(len(X))


@pytest.mark.sampled
def test_fits_to_files_are_those_to_arrays(kind, tmp_path, many):
    X, y = many
    make = write(kind, tmp_path, {"a": X[:, 0], "b": X[:, 1], "y": y})
    kernel = RBF(1.0, centres=40)
    model = RVR(kernel, calibrate=None).fit(make(target="y", chunk_rows=5000))
    held = RVR(kernel, calibrate=None).fit(X, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert "sums over all 12000 rows" in model.approximation_
    assert_array_equal(model.relevance_, held.relevance_)
    np.testing.assert_allclose(model.weights_, held.weights_, rtol=1e-6)


@pytest.mark.sampled
def test_labels_of_files_are_classes(kind, tmp_path, many):
    X, y = many
    labels = np.where(y > 0, "up", "down")
    make = write(kind, tmp_path, {"a": X[:, 0], "b": X[:, 1], "y": labels})
    model = RVC(RBF(1.0, centres=40), link="least_squares", calibrate=None)
    model.fit(make(target="y", chunk_rows=5000))
    assert model.classes_.tolist() == ["down", "up"]
    model.__dict__.pop("feature_names_in_")
    assert np.mean(model.predict(X) == labels) > 0.9


def test_a_file_that_changes_between_passes_is_noticed(tmp_path):
    source = write("csv", tmp_path, columns())(target="y")
    (tmp_path / "d.csv").write_text("b,a,c,y\n1,2,3,4\n")
    with pytest.raises(ValueError, match="the file has changed since it was opened"):
        list(source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_is_read_as_often_as_one_likes(tmp_path):
    """As of ``<(zcat data.csv.gz)`` in a shell."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    content = b"a;y\n" + b"".join(b"%d,5;%d\n" % (k, k % 3) for k in range(40))
    writer = threading.Thread(target=lambda: fifo.write_bytes(content))
    writer.start()
    rows = CSV(fifo, target="y", chunk_rows=7)
    writer.join()
    for _ in range(2):
        X = np.concatenate([X for X, _ in rows])
        np.testing.assert_array_equal(X[:, 0], np.arange(40) + 0.5)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_refused(device):
    with pytest.raises(TableError, match=f"{device}: is a device, which may have no end"):
        CSV(device, target="y")
