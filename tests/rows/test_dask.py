"""Rows of Dask's arrays and dataframes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF, Bias
from sparsebayes.rows.dask_rows import DaskRows
from sparsebayes.rows.source import Arrays

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")  # of Dask's own

Array = np.ndarray
CLASSICAL = {"adapt": None, "calibrate": None}


def sample(n_rows: int = 20_000) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (n_rows, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(n_rows)


def points(count: int = 80) -> Array:
    return np.random.default_rng(1).uniform(-3, 3, (count, 2))


@pytest.fixture(autouse=True)
def in_this_thread():
    """Without a cluster, unless a test asks for one."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def workers():
    """Two worker processes with 1 GiB each."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=None
        ) as started,
        distributed.Client(started, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def cluster(workers):
    """The same as what computes."""
    # By name: what is in the configuration goes to workers that are started again.
    with workers.as_current(), dask.config.set(scheduler="distributed"):
        yield workers


def _patience(count: int, dask_scheduler=None) -> None:
    """How often a task may end with the death of its worker."""
    dask_scheduler.allowed_failures = count


def same(model: RVR, other: RVR, X: Array) -> None:
    assert np.array_equal(model.relevance_, other.relevance_)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e-7 * len(X))
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-9)
    assert model.predict(X[:200]) == pytest.approx(other.predict(X[:200]), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("centres", [points(), pytest.param(150, marks=pytest.mark.slow)])
def test_a_cluster_finds_the_model_of_memory(cluster, centres) -> None:
    X, y = sample()
    model = RVR(RBF(0.9, centres=centres), **CLASSICAL)
    model.fit(da.from_array(X, chunks=(3000, 1)), da.from_array(y, chunks=4500))
    expected = RVR(RBF(0.9, centres=centres), **CLASSICAL).fit(X, y)
    assert "sums over all 20000 rows" in model.approximation_
    same(model, expected, X)


def test_nothing_is_fetched_but_sums_and_a_sample(cluster) -> None:
    """Rows are made on the workers; what comes to the client is far smaller than they are."""
    made = da.map_blocks(_rows, chunks=((20_000,) * 10, (12,)), dtype=float, meta=np.empty((0, 0)))
    received = []
    whole = distributed.comm.tcp.TCP.read

    async def counted(self, *args, **kwargs):
        message = await whole(self, *args, **kwargs)
        received.append(dask.sizeof.sizeof(message))
        return message

    distributed.comm.tcp.TCP.read = counted
    try:
        centres = np.random.default_rng(0).uniform(size=(50, 11))
        model = RVR(RBF(1.0, centres=centres), **CLASSICAL).fit(made[:, :11], made[:, 11])
    finally:
        distributed.comm.tcp.TCP.read = whole
    n_bytes = 200_000 * 12 * 8
    assert sum(received) < 0.2 * n_bytes and model.n_features_in_ == 11


def _rows(block_info=None) -> Array:
    number = block_info[None]["chunk-location"][0]
    X = np.random.default_rng(number).uniform(size=(20_000, 12))
    X[:, 11] = np.sin(6 * X[:, 0]) + 0.1 * X[:, 11]
    return X


class Killing:
    """Work whose process is killed, as often as there are files to remove."""

    def __init__(self, work, files: list[str]) -> None:
        self.work, self.files = work, files

    def __call__(self, chunk):
        for file in self.files:
            try:
                os.remove(file)
            except FileNotFoundError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(chunk)


def killed(monkeypatch, files: list[str]) -> None:
    total = DaskRows.total
    monkeypatch.setattr(DaskRows, "total", lambda self, work: total(self, Killing(work, files)))


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(cluster, monkeypatch, tmp_path) -> None:
    X, y = sample()
    chunks = da.from_array(X, chunks=(2000, 2)), da.from_array(y, chunks=2000)
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL)
    expected = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(*chunks)
    (tmp_path / "once").touch()
    killed(monkeypatch, [str(tmp_path / "once")])
    model.fit(*chunks)
    assert not (tmp_path / "once").exists()
    same(model, expected, X)


@pytest.mark.slow
def test_a_worker_that_dies_again_and_again(cluster, monkeypatch, tmp_path) -> None:
    cluster.run_on_scheduler(_patience, count=0)
    X, y = sample(4000)
    files = [str(tmp_path / str(k)) for k in range(8)]
    for file in files:
        open(file, "w").close()
    killed(monkeypatch, files)
    try:
        with pytest.raises(RuntimeError, match=r"up to 1000 rows.*RBF\(centres="):
            RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(
                da.from_array(X, chunks=(1000, 2)), da.from_array(y, chunks=1000)
            )
    finally:
        cluster.run_on_scheduler(_patience, count=3)  # as it was


@pytest.mark.slow
def test_labels(cluster) -> None:
    X, f = sample()
    y = np.where(f > 0.2, "high", "low")
    model = RVC(RBF(0.9, centres=points()), link="logit")
    lazy = da.from_array(X, chunks=(4000, 2))
    model.fit(lazy, da.from_array(y, chunks=4000))
    expected = RVC(RBF(0.9, centres=points()), link="logit").fit(X, y)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence_, abs=2.0)
    probability, labels = model.predict_proba(lazy), model.predict(lazy)
    assert isinstance(probability, da.Array) and probability.shape == (20_000, 2)
    assert probability.compute() == pytest.approx(model.predict_proba(X), abs=1e-12)
    assert np.array_equal(labels.compute(), model.predict(X))


@pytest.mark.slow
def test_predictions_are_lazy() -> None:
    X, y = sample(6000)
    model = RVR(RBF(0.9, centres=points())).fit(X, y)
    lazy = da.from_array(X, chunks=(2500, 1))
    mean, std = model.predict(lazy, return_std=True)
    assert mean.chunks == ((2500, 2500, 1000),) and std.shape == (6000,)
    found, expected = dask.compute(mean, std), model.predict(X, return_std=True)
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12)
    both = RVR(RBF(0.9, centres=points())).fit(X, np.column_stack([y, -y]))
    assert both.predict(lazy).shape == (6000, 2)
    with pytest.raises(ValueError, match="each row by itself"):
        model.predict(lazy, return_cov=True)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(da.zeros((10, 3)))


@pytest.mark.slow
def test_dataframes() -> None:
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = sample(12_000)
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y, "name": "text"})
    lazy = frames.from_pandas(table, npartitions=5)
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(lazy[["a", "b"]], lazy["y"])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.warns(UserWarning, match="valid feature names"):
        same(model, RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(X, y), X)
    mean = model.predict(lazy[["a", "b"]])
    assert mean.compute() == pytest.approx(model.predict(table[["a", "b"]]))
    with pytest.raises(ValueError, match="'name'"):
        RVR(RBF(0.9, centres=points())).fit(lazy[["a", "name"]], lazy["y"])
    with pytest.raises(ValueError, match="in this order"):
        model.predict(lazy[["b", "a"]])


@pytest.mark.slow
def test_chunks_of_unknown_and_unequal_sizes() -> None:
    X, y = sample()
    lazy = da.from_array(X, chunks=(3000, 2))
    some = lazy[lazy[:, 0] > -1.0]  # how many rows that are nobody knows
    assert np.isnan(some.chunks[0]).all()
    targets = da.from_array(y, chunks=3000)[lazy[:, 0] > -1.0]
    model = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(some, targets)
    kept = X[:, 0] > -1.0
    same(model, RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(X[kept], y[kept]), X)
    with pytest.raises(ValueError, match="chunks of other sizes"):
        model.fit(some, da.from_array(y, chunks=2500)[da.from_array(X[:, 0] > -1, chunks=2500)])
    with pytest.raises(ValueError, match="20000 rows, but y has 19999"):
        model.fit(lazy, da.from_array(y[1:], chunks=3000))
    weights = np.linspace(0.0, 2.0, 20_000)
    found = RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(lazy, y, weights)
    same(found, RVR(RBF(0.9, centres=points()), **CLASSICAL).fit(X, y, weights), X)


def test_what_is_refused() -> None:
    X, y = sample(12_000)
    lazy, targets = da.from_array(X, chunks=(3000, 2)), da.from_array(y, chunks=3000)
    for model in (RVR(), RVC(), RVR(Bias() + RBF(1.0))):
        with pytest.raises(ValueError, match=r"RBF\(centres=1000\)"):
            model.fit(lazy, targets)
    model = RVR(RBF(0.9, centres=points()))
    broken = X.copy()
    broken[7000, 1] = np.nan
    with pytest.raises(ValueError, match=r"Chunk 2, rows 6000 to 8999: .*NaN"):
        model.fit(da.from_array(broken, chunks=(3000, 2)), targets)
    with pytest.raises(ValueError, match="y is needed"):
        model.fit(lazy)
    with pytest.raises(ValueError, match=r"y\.compute\(\)"):
        model.fit(X, targets)
    with pytest.raises(ValueError, match="two dimensions"):
        model.fit(targets, targets)
    assert not hasattr(model, "weights_")


def test_a_sample_does_not_depend_on_the_source() -> None:
    X, y = sample(12_000)
    weights = np.random.default_rng(0).integers(0, 3, 12_000).astype(float)
    lazy = (da.from_array(one, chunks=2100) for one in (X, y, weights))
    one, other = DaskRows(*lazy, labels=False), Arrays(X, y, weights, labels=False)
    found, expected = one.sample(700), other.sample(700)
    assert np.array_equal(found.numbers, expected.numbers)
    assert np.array_equal(found.X, expected.X) and np.array_equal(found.y, expected.y)
    assert found.n_rows == np.count_nonzero(weights) and len(found.X) == 700


@pytest.mark.slow
def test_more_rows_on_a_cluster(cluster) -> None:
    X, y = sample(200_000)
    model = RVR(RBF(0.9, centres=points(300)), **CLASSICAL)
    model.fit(da.from_array(X, chunks=(20_000, 2)), da.from_array(y, chunks=20_000))
    same(model, RVR(RBF(0.9, centres=points(300)), **CLASSICAL).fit(X, y), X)


@pytest.mark.slow
def test_dask_is_not_imported() -> None:
    code = (
        "import sys, numpy as np; from sparsebayes import RVR; X = np.arange(20.0)[:, None]; "
        "RVR(calibrate=None).fit(X, X[:, 0]).predict(X); assert 'dask' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_blocks_some_of_whose_sizes_are_not_known_are_counted() -> None:
    X = np.arange(20.0).reshape(10, 2)
    known, unknown = da.from_array(X[:4], chunks=4), da.from_array(X[4:], chunks=6)
    joined = da.concatenate([known, unknown[unknown[:, 0] > 9.0]])
    assert np.isnan(joined.chunks[0]).tolist() == [False, True]
    assert DaskRows(joined, np.zeros(9), None, labels=False).sizes == [4, 5]
