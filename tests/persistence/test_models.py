"""Stored models: the same predictions, nothing unsafe, nothing half written."""

import os
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    RVC,
    RVR,
    Forecaster,
    Gamma,
    NoisyInputGPR,
    ReducedRankGPR,
    Sequential,
    persistence,
)
from sparsebayes._support.files import write_files
from sparsebayes._support.version import package_version
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1, make_sinc
from sparsebayes.persistence import archive
from tests.classical import classical


class Hostile:
    """A type that no model file has any business to hold."""

    def __init__(self):
        self.payload = 1


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(60, random_state=0)
    return RVR(RBF(2.0)).fit(X, y), X


@pytest.mark.sampled
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


@pytest.mark.slow
def test_pipeline_and_metadata(tmp_path):
    X, y, _ = make_friedman1(60, random_state=0)
    model = make_pipeline(StandardScaler(), RVR()).fit(X, y)
    names = [f"c{j}" for j in range(10)]
    persistence.save(model, tmp_path / "m.skops", feature_names=names, target_name="t")
    record = persistence.load_record(tmp_path / "m.skops")
    assert record.feature_names == names and record.target_name == "t"
    assert record.version == package_version()
    assert isinstance(record.final, RVR)
    assert_array_equal(record.model.predict(X), model.predict(X))


LABELS = {
    "text": np.array(["a, b", "häßlich", "no"]),
    "objects": np.array(["yes", "no", "perhaps"], dtype=object),
    "whole": np.array([-3, 0, 40]),
    "bool": np.array([False, True]),
}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ("text", {}),
        ("objects", {"multi_class": "ovr", "prior": "bic"}),
        ("whole", {"link": "probit"}),
        ("whole", {"share_alpha": True, "class_weight": "balanced", "prior": Gamma(0.1, 0.1)}),
        ("bool", {"link": "probit", "inference": "tap", "max_iter": 2}),
        ("bool", {"solver": Sequential(), "bias": False, "prior": 0.5}),
    ],
)
@pytest.mark.filterwarnings("ignore:RVC stopped at max_iter")
def test_classifier_round_trip(tmp_path, labels, options):
    labels = LABELS[labels]
    X, k = make_blobs(45, centers=labels.size, cluster_std=4.0, random_state=1)
    model = classical(RBF(3.0), **options).fit(X, labels[k])
    persistence.save(model, tmp_path / "m.skops")
    again = persistence.load(tmp_path / "m.skops")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.decision_function(X, True), model.decision_function(X, True))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.classes_.dtype == labels.dtype and set(again.classes_) == set(labels)
    assert repr(again) == repr(model)
    ours, theirs = (vars(m).get("estimators_", []) for m in (model, again))
    each = labels.size > 2 and ("multi_class" in options or "link" in options)
    assert len(theirs) == len(ours) == (labels.size if each else 0)
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(other, RVC)
        assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_class_weights_by_label_are_kept(tmp_path):
    X, k = make_blobs(40, centers=2, cluster_std=3.0, random_state=1)
    model = classical(class_weight={"a": 1.0, "b": 3.0}).fit(X, np.array(["a", "b"])[k])
    persistence.save(model, tmp_path / "m.skops")
    again = persistence.load(tmp_path / "m.skops")
    assert again.class_weight == model.class_weight
    assert_array_equal(again.fit(X, np.array(["a", "b"])[k]).weights_, model.weights_)


def test_as_many_names_as_inputs(sinc, tmp_path):
    for names in (["a", "b"], ["a", "b", "c"]):
        with pytest.raises(
            ValueError, match=rf"feature_names must name .* 1 inputs, got {len(names)}"
        ):
            persistence.save(sinc[0], tmp_path / "m.skops", feature_names=names)
    assert not list(tmp_path.iterdir())


def test_feature_names_of_a_frame_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, _ = make_sinc(40, random_state=0)
    model = RVR(RBF(2.0)).fit(pd.DataFrame(X, columns=["volts"]), y)
    persistence.save(model, tmp_path / "m.skops")
    assert persistence.load_record(tmp_path / "m.skops").feature_names == ["volts"]


def test_callable_basis_is_refused_and_nothing_is_written(tmp_path):
    X, y, _ = make_sinc(40, random_state=0)
    model = RVR(lambda a, b: np.exp(-((a - b.T) ** 2))).fit(X, y)
    with pytest.raises(
        persistence.ModelFileError, match=r"function .*lambda> at RVR\.basis, .*basis object"
    ):
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
    record = {"format": "sparsebayes-model", "format_version": 2, "version": "9.9"}
    path.write_bytes(archive.seal(skops.io.dumps({**record, "more": Hostile()})))
    with pytest.raises(
        persistence.ModelFileError, match=r"test_models\.Hostile .ObjectNode., which is not trusted"
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
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(persistence.ModelFileError, match="damaged or not a model file"):
        persistence.load(path)
    skops.io.dump(Ridge().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(persistence.ModelFileError, match=r"not a sparsebayes model.*Ridge"):
        persistence.load(path)
    with pytest.raises(FileNotFoundError):
        persistence.load(tmp_path / "none.skops")
    with pytest.raises(IsADirectoryError):
        persistence.load(tmp_path)


@pytest.mark.parametrize(
    ("version", "match"),
    [
        (1, r"version 1, written by sparsebayes 0\.1\.0; .* reads version 2: fit .* again"),
        (3, r"version 3, written by sparsebayes 0\.1\.0; .* reads version 2: install a newer"),
        (99, "format version 99"),
        (0, "damaged"),
        (2.0, "damaged"),
        (True, "damaged"),
        ("2", "damaged"),
        (None, "damaged"),
    ],
)
def test_files_of_other_versions(tmp_path, sinc, version, match):
    """What skops has written by itself, as the first version of the format did."""
    path = tmp_path / "m.skops"
    record = {"format": "sparsebayes-model", "format_version": version, "version": "0.1.0"}
    skops.io.dump({**record, "model": sinc[0], "feature_names": [], "target_name": None}, path)
    with pytest.raises(persistence.ModelFileError, match=match):
        persistence.load(path)


def test_a_file_that_is_too_large(tmp_path, sinc, monkeypatch):
    path = tmp_path / "m.skops"
    persistence.save(sinc[0], path)
    size = path.stat().st_size
    monkeypatch.setattr(archive, "MAX_FILE", size - 1)
    match = f"has {size} bytes; a model file has at most {size - 1}"
    with pytest.raises(persistence.ModelFileError, match=match):
        persistence.load(path)
    path.unlink()
    with pytest.raises(persistence.ModelFileError, match="a model file has at most"):
        persistence.save(sinc[0], path)
    assert not path.exists()


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
    persistence.save(sinc[0], tmp_path / "m.skops")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[persistence\]"'):
        persistence.save(sinc[0], tmp_path / "n.skops")
    assert isinstance(persistence.load(tmp_path / "m.skops"), RVR)  # reading takes nothing


def test_processes_and_forecasters(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1))
    y = np.sin(X[:, 0])
    models = [
        ReducedRankGPR(n_support=10, random_state=0),
        NoisyInputGPR(input_noise=0.1, method="slope", random_state=0),
    ]
    for model in models:
        persistence.save(model.fit(X, y), tmp_path / "model.skops")
        loaded = persistence.load(tmp_path / "model.skops")
        assert_array_equal(loaded.predict(X), model.predict(X))
    walk = np.cumsum(rng.standard_normal(50))
    forecaster = Forecaster(lags=2, difference=1, transform=None).fit(walk)
    persistence.save(forecaster, tmp_path / "model.skops")
    assert_array_equal(persistence.load(tmp_path / "model.skops").predict(3), forecaster.predict(3))


@pytest.mark.slow
def test_mixtures_of_forecasts(tmp_path):
    """Loaded ones go on as the fitted ones would, to the bit."""
    rng = np.random.default_rng(0)
    t = np.arange(90)
    inputs = rng.standard_normal((100, 1))
    y = 20 + 5 * np.sin(np.pi * t / 6) + inputs[:90, 0] + rng.standard_normal(90)
    y[[5, 40, 41, 88]] = np.nan
    fitted = Forecaster(random_state=0).fit(y, inputs[:90])
    persistence.save(fitted, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    assert loaded.chosen_ == fitted.chosen_ and loaded.candidates_ == fitted.candidates_
    for _ in range(2):
        for one, other in (
            (m.predict(5, inputs[90:], return_cov=True) for m in (loaded, fitted)),
            (m.predict_interval(5, 0.9, inputs[90:]) for m in (loaded, fitted)),
            (m.simulate(5, 4, inputs[90:]) for m in (loaded, fitted)),
        ):
            for ours, theirs in zip(one, other, strict=True):
                assert_array_equal(ours, theirs)
        for model in (loaded, fitted):
            model.update([21.0, np.nan], inputs[90:92])
    panel = Forecaster().fit(np.column_stack([y, y[::-1]]))
    persistence.save(panel, tmp_path / "panel.skops")
    again = persistence.load(tmp_path / "panel.skops")
    assert_array_equal(again.predict(4), panel.predict(4))
