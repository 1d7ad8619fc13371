"""Rows in chunks: iterables of arrays, and arrays in files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.rows.recognise import as_rows
from sparsebayes.rows.source import Arrays, Parts

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (12_000, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(len(X))


def cut(*arrays, step=5000):
    return [tuple(a[k : k + step] for a in arrays) for k in range(0, len(arrays[0]), step)]


def count(chunk):
    return len(chunk.X)


def joined(rows, name="X"):
    return np.concatenate([getattr(chunk, name) for chunk in rows.chunks()])


def test_parts_are_read_again():
    rows = Parts(cut(X, Y), labels=False)
    assert rows.again and rows.n_rows is None
    for _ in range(2):
        assert rows.total(count) == len(X)
        assert_array_equal(joined(rows), X)
        assert_array_equal(joined(rows, "y"), Y)
    assert [chunk.first for chunk in rows.chunks()] == [0, 5000, 10_000]


def test_a_generator_gives_one_pass_with_what_was_read_before():
    rows = Parts(iter(cut(X, Y)), labels=False)
    assert not rows.again
    assert rows.few(6000) is None  # two chunks
    assert rows.sample(100).n_rows == 10_000
    assert rows.total(count) == len(X)
    with pytest.raises(ValueError, match="There are no rows"):
        rows.total(count)


def test_few_rows_are_held():
    held = Parts(iter(cut(X, Y, np.arange(len(X)) % 2)), labels=False).few(len(X))
    assert_array_equal(held.X, X)
    assert_array_equal(held.weights, np.arange(len(X)) % 2)


def test_the_sample_does_not_depend_on_the_chunks():
    samples = [Parts(cut(X, Y, step=step), labels=False).sample(50) for step in (700, 12_000)]
    assert_array_equal(samples[0].numbers, samples[1].numbers)
    assert_array_equal(samples[0].X, X[samples[0].numbers])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts[1][0], r"Chunk 1 must be a pair \(X, y\), .* got ndarray"),
        (lambda parts: (parts[1][0],), "Chunk 1 must be a pair"),
        (lambda parts: (X[:3, :1], Y[:3]), "Chunk 1 has 1 features, those before have 2"),
        (lambda parts: (X[:3], Y[:2]), "Chunk 1, rows 5000 to 5002: "),
        (lambda parts: (X[:3] * np.nan, Y[:3]), "Chunk 1, rows 5000 to 5002: .*NaN"),
        (lambda parts: (X[:3], np.full(3, np.inf)), "Chunk 1, rows 5000 to 5002: .*infinity"),
        (lambda parts: (X[:3], Y[:3], [1, -1, 1]), "Chunk 1, rows 5000 to 5002: .*[Nn]egative"),
    ],
)
def test_what_is_wrong_with_a_chunk_names_it(change, message):
    parts = cut(X, Y)
    parts[1] = change(parts)
    with pytest.raises(ValueError, match=message):
        RVR().fit(iter(parts))


def test_an_empty_chunk_is_no_harm():
    parts = cut(X, Y)
    parts.insert(1, (X[:0], Y[:0]))
    assert Parts(parts, labels=False).total(count) == len(X)
    with pytest.raises(ValueError, match="There are no rows"):
        RVR().fit(iter([]))


def test_names_of_the_features_are_kept():
    class Named(list):
        feature_names = ("a", "b")

    rows = Parts(Named(cut(X, Y)), labels=False)
    assert rows.feature_names == ("a", "b")


def test_arrays_are_read_in_chunks_of_a_memory_map(tmp_path):
    file = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (300_000, 4))
    file[:] = np.arange(file.size).reshape(file.shape) % 1000
    file.flush()
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    y = np.arange(len(mapped)) % 7.0
    rows = as_rows(mapped, y)
    assert isinstance(rows, Arrays) and rows.n_rows == len(mapped)
    sizes = [len(chunk.X) for chunk in rows.chunks()]
    assert len(sizes) > 1 and sum(sizes) == len(mapped)
    assert {chunk.X.dtype for chunk in rows.chunks()} == {np.dtype(np.float64)}
    assert_array_equal(joined(rows), mapped)
    assert_array_equal(joined(rows, "y"), y)
    with pytest.raises(ValueError, match="X has 300000 rows, but y has 3; give as many"):
        as_rows(mapped, y[:3])
    with pytest.raises(ValueError, match="y is needed"):
        as_rows(mapped, None)


def test_a_memory_map_is_fitted_as_the_array_is(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    kernel = RBF(1.0, centres=np.linspace([-3, -3], [3, 3], 20))
    model = RVR(kernel, adapt=None, calibrate=None).fit(mapped, Y)
    held = RVR(kernel, adapt=None, calibrate=None).fit(X.astype(np.float32), Y)
    assert_array_equal(model.relevance_, held.relevance_)
    np.testing.assert_allclose(model.predict(mapped), held.predict(X), rtol=1e-4, atol=1e-4)
