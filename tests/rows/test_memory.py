"""Files much larger than what is held of them."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparsebayes.rows import CSV

NAMES = [f"x{j}" for j in range(10)]


def repeated(path, times):
    """A file of 10,000 rows, so often; its size."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(10_000, 10))
    rows = np.column_stack([X, X[:, 0] + 0.1 * rng.standard_normal(len(X))])
    if path.suffix == ".csv":
        text = "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist())
        with path.open("w") as stream:
            stream.write(",".join([*NAMES, "y"]) + "\n")
            for _ in range(times):
                stream.write(text)
    else:
        table = pa.table(list(rows.T), names=[*NAMES, "y"])
        with pq.ParquetWriter(path, table.schema, use_dictionary=False) as writer:
            for _ in range(times):
                writer.write_table(table)
    return path.stat().st_size


def test_a_pass_over_a_csv_file_holds_a_chunk(tmp_path):
    size = repeated(tmp_path / "d.csv", 4)
    source = CSV(tmp_path / "d.csv", target="y", chunk_rows=500)
    tracemalloc.start()
    try:
        total = sum(len(y) for _, y in source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 40_000
    assert peak < size / 8


FIT = """
import resource, sys
from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.rows import CSV, Parquet
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
model = RVR(RBF(1.0, centres=50), adapt=None, calibrate=None)
model.fit({source}("{small}", target="y", chunk_rows=10_000))  # what is set up once
before = peak()
model.fit({source}("{large}", target="y", chunk_rows=10_000))
print(model.approximation_.split()[-2], peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "source"), [("csv", "CSV"), ("parquet", "Parquet")])
def test_a_fit_to_a_large_file_holds_some_of_it(tmp_path, kind, source):
    small, large = tmp_path / f"small.{kind}", tmp_path / f"large.{kind}"
    repeated(small, 2)
    size = repeated(large, 200) / 2**20
    code = FIT.format(source=source, small=small, large=large)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    n_rows, grown = map(int, done.stdout.split())
    assert n_rows == 2_000_000 and size > 150
    assert grown < 50, f"{grown} MB more for a file of {size:.0f} MB"
