"""Stored models: the same predictions, nothing unsafe, nothing half written."""

import os
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, persistence
from sparsebayes._files import write_files
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1, make_sinc


class Hostile:
    """A type that no model file has any business to hold."""

    def __init__(self):
        self.payload = 1


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(60, random_state=0)
    return RVR(RBF(2.0)).fit(X, y), X


@pytest.mark.parametrize("basis", ["rbf", "linear_spline", "polynomial"])
@pytest.mark.parametrize("prior", ["flat", "bic", 0.5])
def test_round_trip(tmp_path, basis, prior):
    X, y, _ = make_sinc(40, random_state=0)
    model = RVR(basis, prior=prior).fit(X, y)
    persistence.save(model, tmp_path / "m.skops")
    again = persistence.load(tmp_path / "m.skops")
    for ours, theirs in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        assert_array_equal(ours, theirs)
    assert_array_equal(model.evidence_path_, again.evidence_path_)
    assert repr(again) == repr(model)


def test_pipeline_and_metadata(tmp_path):
    X, y, _ = make_friedman1(60, random_state=0)
    model = make_pipeline(StandardScaler(), RVR()).fit(X, y)
    names = [f"c{j}" for j in range(10)]
    persistence.save(model, tmp_path / "m.skops", feature_names=names, target_name="t")
    record = persistence.load_record(tmp_path / "m.skops")
    assert record.feature_names == names and record.target_name == "t"
    assert record.version == persistence.package_version()
    assert isinstance(record.final, RVR)
    assert_array_equal(record.model.predict(X), model.predict(X))


def test_feature_names_of_a_frame_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, _ = make_sinc(40, random_state=0)
    model = RVR(RBF(2.0)).fit(pd.DataFrame(X, columns=["volts"]), y)
    persistence.save(model, tmp_path / "m.skops")
    assert persistence.load_record(tmp_path / "m.skops").feature_names == ["volts"]


def test_callable_basis_is_refused_and_nothing_is_written(tmp_path):
    X, y, _ = make_sinc(40, random_state=0)
    model = RVR(lambda a, b: np.exp(-((a - b.T) ** 2))).fit(X, y)
    with pytest.raises(persistence.ModelFileError, match=r"lambda.*basis object"):
        persistence.save(model, tmp_path / "m.skops")
    assert os.listdir(tmp_path) == []


def test_other_models_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"estimator of sparsebayes.*got Ridge"):
        persistence.save(Ridge().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.skops")
    with pytest.raises(NotFittedError):
        persistence.save(RVR(), tmp_path / "m.skops")
    assert os.listdir(tmp_path) == []


def test_untrusted_types_are_refused_by_name(tmp_path, sinc):
    path = tmp_path / "m.skops"
    skops.io.dump({"format": "sparsebayes-model", "model": sinc[0], "more": Hostile()}, path)
    with pytest.raises(
        persistence.ModelFileError, match=r"not trusted: .*test_persistence\.Hostile"
    ):
        persistence.load(path)


def test_damaged_and_foreign_files(tmp_path, sinc):
    path = tmp_path / "m.skops"
    path.write_bytes(b"not a zip file")
    with pytest.raises(persistence.ModelFileError, match="damaged or not a model file"):
        persistence.load(path)
    persistence.save(sinc[0], path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(persistence.ModelFileError, match="damaged or not a model file"):
        persistence.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(persistence.ModelFileError, match="damaged or not a model file"):
        persistence.load(path)
    skops.io.dump(Ridge().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(persistence.ModelFileError, match=r"not a sparsebayes model.*Ridge"):
        persistence.load(path)
    skops.io.dump({"format": "sparsebayes-model", "format_version": 99, "version": "9.9"}, path)
    with pytest.raises(persistence.ModelFileError, match=r"format version 99.*sparsebayes 9\.9"):
        persistence.load(path)
    with pytest.raises(FileNotFoundError):
        persistence.load(tmp_path / "none.skops")


def test_a_failed_write_leaves_the_old_file(tmp_path, sinc, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        persistence.save(sinc[0], path)
    assert os.listdir(tmp_path) == ["m.skops"]
    assert path.read_bytes() == b"old"


def test_files_are_written_together_and_with_usual_rights(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_files({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes() == b"12"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode
    with pytest.raises(FileNotFoundError, match="no directory"):
        write_files({tmp_path / "a": b"new", tmp_path / "none" / "b": b"2"})
    assert (tmp_path / "a").read_bytes() == b"1"
    with pytest.raises(IsADirectoryError, match="is a directory; name a file"):
        write_files({tmp_path: b""})
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "plain"]


def test_without_skops_the_extra_is_named(tmp_path, sinc, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[persistence\]"'):
        persistence.save(sinc[0], tmp_path / "m.skops")
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[persistence\]"'):
        persistence.load(tmp_path / "m.skops")
