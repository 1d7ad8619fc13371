"""``python -m benchmarks.export_onnx``: models in onnxruntime and in Python.

For each model: the size of the file in float and in double; the largest difference from Python at
1000 new rows, of mean and std in units of the target's standard deviation, of probabilities as they
are; and the time of onnxruntime as a part of that of Python's ``predict(X, return_std=True)`` or
``predict_proba``, for one row and for 1000 rows, with one thread each.
"""

from __future__ import annotations

import argparse
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import skl2onnx
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sparsebayes import RVC, RVR, ReducedRankGPR
from sparsebayes.datasets import make_friedman1
from sparsebayes.export import to_onnx

Array = np.ndarray
ROWS = 1000  # of a large request
DTYPES = {"float": np.float32, "double": np.float64}


def models(n_rows: int) -> Iterator[tuple[str, Any, Array, float]]:
    """Name, fitted model, new rows that float32 holds, and the unit of differences."""
    X, y, _ = make_friedman1(n_rows + ROWS, random_state=0)
    X, new = X[:n_rows], X[n_rows:].astype(np.float32).astype(np.float64)
    y = y[:n_rows]
    for name, model in (
        ("RVR()", make_pipeline(StandardScaler(), RVR())),
        ("RVR(augment=True)", RVR(augment=True)),
        ("ReducedRankGPR(n_support=50)", ReducedRankGPR(n_support=50, random_state=0)),
    ):
        yield name, model.fit(X, y), new, float(y.std())
    points, labels = make_moons(n_rows + ROWS, noise=0.25, random_state=0)
    new = points[n_rows:].astype(np.float32).astype(np.float64)
    for name, model in (("RVC()", RVC()), ('RVC(link="logit")', RVC(link="logit"))):
        yield name, model.fit(points[:n_rows], labels[:n_rows]), new, 1.0


def in_python(model: Any) -> Callable[[Array], Any]:
    if hasattr(model, "predict_proba"):
        return lambda X: [model.predict_proba(X)]
    return lambda X: [one[:, None] for one in model.predict(X, return_std=True)]


def in_onnxruntime(content: bytes) -> Callable[[Array], Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs() if one.name != "label"]
    return lambda X: session.run(names, {"X": X})


def seconds(function: Callable[[Array], Any], X: Array) -> float:
    """CPU seconds of a call, the least of some."""
    number = 100 if len(X) == 1 else 3
    timer = timeit.Timer(lambda: function(X), timer=time.process_time)
    return min(timer.repeat(7, number)) / number


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export_onnx", description=__doc__)
    parser.add_argument("--rows", type=int, default=300, help="of the training (default: 300)")
    versions = (onnx.__version__, skl2onnx.__version__, onnxruntime.__version__)
    print("onnx {}, skl2onnx {}, onnxruntime {}".format(*versions))
    print("| model | numbers | file | difference | time, 1 row | time, 1000 rows |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, model, new, unit in models(parser.parse_args().rows):
        predict = in_python(model)
        expected, slow = predict(new), [seconds(predict, rows) for rows in (new[:1], new)]
        for dtype, kind in DTYPES.items():
            content = to_onnx(model, dtype=dtype).SerializeToString()
            run, rows = in_onnxruntime(content), new.astype(kind)
            pairs = zip(run(rows), expected, strict=True)
            error = max(np.abs(found - value).max() for found, value in pairs) / unit
            fast = [seconds(run, part) for part in (rows[:1], rows)]
            ratios = " | ".join(f"{a / b:.2f}" for a, b in zip(fast, slow, strict=True))
            print(f"| {name} | {dtype} | {len(content) / 1000:.0f} kB | {error:.1e} | {ratios} |")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
