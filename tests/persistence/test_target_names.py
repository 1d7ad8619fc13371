"""The names of the targets in a model file: none, one, or one for each of several."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsebayes import RVR, StudentT, persistence
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc

X, Y, _ = make_sinc(60, noise=0.1, random_state=0)
BOTH = np.column_stack([Y, 100.0 * np.sin(X[:, 0])])


@pytest.fixture(scope="module")
def model():
    return RVR(RBF(2.0)).fit(X, BOTH)


def stored(path, model, **names):
    persistence.save(model, path / "m.skops", **names)
    return persistence.load_record(path / "m.skops")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ("amps", "amps"),
        ("a, b", "a, b"),
        (7, "7"),
        (["amps", "volts"], ["amps", "volts"]),
        (("a, b", "häßlich"), ["a, b", "häßlich"]),
        (np.array(["amps", "volts"]), ["amps", "volts"]),
        ([1, 2], ["1", "2"]),
        (["amps"], ["amps"]),
    ],
)
def test_names_come_back_as_text(tmp_path, model, given, kept):
    found = stored(tmp_path, model, target_name=given).target_name
    assert found == kept and type(found) is type(kept)
    assert all(type(name) is str for name in found or [])


def test_the_columns_of_a_frame_are_names(tmp_path, model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BOTH, columns=["amps", "volts"])
    assert stored(tmp_path, model, target_name=frame.columns).target_name == ["amps", "volts"]


def test_no_name_at_all_is_refused_and_nothing_is_written(tmp_path, model):
    with pytest.raises(ValueError, match=r"target_name must be a name or .* got \[\]; None is for"):
        persistence.save(model, tmp_path / "m.skops", target_name=[])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["estimate", "varying", StudentT(), StudentT(4.0), [0.01, 1.0]])
def test_several_targets_and_their_noise_come_back(tmp_path, noise):
    model = RVR(RBF(2.0), noise=noise).fit(X, BOTH)
    again = stored(tmp_path, model, target_name=["amps", "volts"]).model
    for ours, theirs in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        assert ours.shape == (60, 2)
        assert_array_equal(ours, theirs)
    assert_array_equal(again.alpha_, model.alpha_)
    assert_array_equal(again.sigma_, model.sigma_)
    assert_array_equal(again.sample_y(X, 3, 0), model.sample_y(X, 3, 0))
    assert repr(again) == repr(model)
    assert getattr(again, "nu_", None) == getattr(model, "nu_", None)
