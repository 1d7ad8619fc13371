"""`denoise` and `Denoiser` with what users bring: short, constant, huge or wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError, SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from sparsebayes import Denoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.dictionaries import DCT, Wavelet

Y = make_signal("heavisine", 64, snr=5, random_state=0)[1]
DICTIONARIES = ["sym8", "haar", "dct", "rbf", "haar + dct"]


@pytest.mark.sampled
@pytest.mark.parametrize("dictionary", DICTIONARIES)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 9])
def test_short_signals(dictionary, length):
    y = Y[:length]
    found = denoise(y, dictionary)
    assert found.signal.shape == found.std.shape == (length,)
    assert np.isfinite(found.signal).all() and np.isfinite(found.std).all()
    spread = max(np.ptp(y), 1e-9)
    assert np.all(np.abs(found.signal - y.mean()) < 1.5 * spread)
    assert found.n_active <= found.coefficients.size


@pytest.mark.sampled
@pytest.mark.parametrize("dictionary", ["sym8", "dct"])
def test_lengths_that_are_no_power_of_two(dictionary):
    for length in (999, 1000, 1001):
        _, y, f = make_signal("sinc", length, snr=5, random_state=0)
        found = denoise(y, dictionary)
        assert np.mean((found.signal - f) ** 2) < 0.1 * np.mean((y - f) ** 2)


@pytest.mark.sampled
@pytest.mark.parametrize("dictionary", DICTIONARIES)
@pytest.mark.parametrize("value", [0.0, 3.7, -1e30, 1 / 3])
def test_constant_signals(dictionary, value):
    for y in (np.full(9, value), np.full(64, value), [value, np.nan, value, value]):
        found = denoise(y, dictionary)
        assert_allclose(found.signal, value, rtol=1e-15)
        assert_array_equal(found.std, 0.0)
        assert found.n_active == 0 and found.noise_variance == 0.0 and found.converged
        assert "constant" in found.stop_reason
        assert np.isinf(found.alpha).all() and not found.coefficients.any()
        assert np.all(np.isfinite(found.parts))


@pytest.mark.parametrize("method", ["sparse", "ash", "hard", "soft", "bayes"])
def test_constant_signals_with_given_noise(method):
    found = denoise(np.full(16, 2.0), method=method, noise=0.25)
    assert_array_equal(found.signal, 2.0)
    # The mean of 16 samples is known to ¼ of the noise, and zeros say little against more.
    assert found.noise_variance == 0.25 and np.all(found.std >= 0.125)
    assert np.isfinite(found.log_evidence) and np.all(found.std < 0.5)


@pytest.mark.slow
def test_one_sample_among_missing_ones():
    found = denoise([np.nan, 5.0, np.nan, np.nan])
    assert_array_equal(found.signal, 5.0)


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e-50, 1e-20, 1e20, 1e50])
@pytest.mark.parametrize("case", ["sym8", "dct", "rbf", "gaps"])
def test_huge_and_tiny_signals(scale, case):
    y = np.where(np.arange(64) % 20 == 7, np.nan, Y) if case == "gaps" else Y
    dictionary = "haar" if case == "gaps" else case
    found, other = denoise(y, dictionary), denoise(scale * y, dictionary)
    assert_allclose(other.signal, scale * found.signal, rtol=1e-6)
    assert_allclose(other.std, scale * found.std, rtol=1e-5)
    assert other.n_active == found.n_active


@pytest.mark.sampled
@pytest.mark.parametrize("shift", [1e6, 1e12])
def test_large_offsets(shift):
    found, other = denoise(Y), denoise(Y + shift)
    assert_allclose(other.signal - shift, found.signal, atol=1e-9 * shift)
    assert other.n_active == found.n_active
    assert_allclose(other.offset, shift + found.offset)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "float16", "longdouble", ">f8"])
def test_other_numbers(kind):
    y = np.round(5.0 * Y + 60.0).astype(kind)
    found = denoise(y)
    assert found.signal.dtype == found.std.dtype == np.float64
    assert_allclose(found.signal, denoise(y.astype(float)).signal)
    assert_allclose(denoise(y.tolist()).signal, found.signal)


@pytest.mark.slow
def test_views_and_read_only_arrays():
    y = np.repeat(Y, 2)[::2]
    y.flags.writeable = False
    assert_array_equal(denoise(y).signal, denoise(Y).signal)
    assert_array_equal(denoise(pd.Series(Y)).signal, denoise(Y).signal)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.inf, 2.0], "y contains infinity; repair these samples, or set them to NaN"),
        ([-np.inf], "y contains infinity"),
        ([np.nan, np.nan], "every sample is NaN; drop it"),
        ([True, False], "y must hold real numbers, got an array of type bool"),
        ([1j, 2.0], "of type complex128"),
        (["a", "b"], "y must hold real numbers"),
        ([None, 1.0], "of type object"),
        ([], r"samples in it; got shape \(0,\)"),
        (3.0, r"got shape \(\)"),
        (np.ones((2,) * 5), r"got shape \(2, 2, 2, 2, 2\)"),
        (np.full(4, 1e70), "rescale y to between 1e-60 and 1e60"),
        ([1e-70, 0.0], "rescale y"),
    ],
    ids=str,
)
def test_bad_signals(y, message):
    with pytest.raises(ValueError, match=message):
        denoise(y)


def test_one_signal_of_several_is_missing():
    with pytest.raises(ValueError, match="every sample is NaN"):
        denoise([[1.0, 2.0, 3.0], [np.nan] * 3], axes=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dictionary": "tulip"}, "'tulip' is not known"),
        ({"dictionary": 5}, "dictionary must be a name"),
        ({"prior": "none"}, r"prior must be one of \['flat', 'aic', 'bic', 'ric'\].* got 'none'"),
        ({"prior": -1.0}, "got -1.0"),
        ({"prior": True}, "got True"),
        ({"noise": 0.0}, "noise must be 'estimate', 'per_level' or a positive variance, got 0.0"),
        ({"noise": "mad"}, "got 'mad'"),
        ({"noise": np.inf}, "got inf"),
        ({"method": "firm"}, r"method must be one of \['average', 'sparse', 'ash', 'hard'"),
        ({"method": "hard", "dictionary": "rbf"}, "'hard' needs an orthonormal dictionary"),
        ({"method": "soft", "t": np.arange(64.0) ** 2}, "equal spacing; use method='sparse'"),
        ({"axes": 1}, "axes must be axes of y, which has 1 dimensions, got 1"),
        ({"axes": (0, 0)}, "different axes of y"),
        ({"axes": ()}, "one to three"),
        ({"axes": "x"}, "axes must be axes of y"),
        ({"axes": 0.0}, "axes must be axes of y"),
        ({"axes": False}, "axes must be axes of y"),
        ({"t": [0.0, 1.0]}, r"t must have shape \(64,\), got shape \(2,\)"),
        ({"t": np.full(64, np.nan)}, "Input t contains NaN"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"verbose": -1}, "verbose must be a whole number >= 0"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        denoise(Y, **options)


@pytest.mark.slow
def test_gaps_and_positions_that_do_not_fit():
    gaps = np.where(np.arange(64) == 5, np.nan, Y)
    with pytest.raises(ValueError, match="a signal without gaps"):
        denoise(gaps, method="bayes")
    with pytest.raises(ValueError, match="one-dimensional signal"):
        denoise(Y.reshape(8, 8), t=np.arange(8))
    with pytest.raises(ValueError, match="one to three different axes"):
        denoise(np.ones((2, 2, 2, 2)))
    two = denoise(Y.reshape(2, 2, 4, 4), "haar", axes=(1, 2, 3), n_shifts=1)
    assert two.noise_variance.shape == (2,)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([64], "keep has numbers beyond the 64 coefficients"),
        ([-65], "beyond the 64"),
        ([1.5], "keep must be a mask, numbers or a slice"),
        ("all", "keep must be a mask"),
        ([True, False], r"keep is a mask of shape \(2,\), the coefficients have shape \(64,\)"),
    ],
)
def test_bad_choices_of_coefficients(keep, message):
    with pytest.raises(ValueError, match=message):
        denoise(Y).reconstruct(keep)


@pytest.mark.parametrize("dictionary", ["sym8", "haar + dct"])
def test_the_flat_prior_warns(dictionary):
    with pytest.warns(ConvergenceWarning, match="prior='bic'"):
        found = denoise(Y, dictionary, method="sparse", prior="flat")
    assert not found.converged and "evidence" in found.stop_reason
    assert denoise(Y, dictionary, method="sparse", prior="flat", noise=0.5).converged


def test_the_flat_prior_keeps_everything():
    with pytest.warns(ConvergenceWarning, match="kept everything"):
        found = denoise(Y, method="sparse", prior="flat")
    assert found.n_active >= 63 and found.noise_maxima == []
    assert np.abs(found.signal - Y).max() < 0.1 * Y.std()


def test_max_iter_warns():
    with pytest.warns(ConvergenceWarning, match="denoise stopped at max_iter"):
        found = denoise(Y, "haar + dct", max_iter=2)
    assert not found.converged and np.isfinite(found.signal).all()


def test_verbose(capsys):
    denoise(Y, verbose=2)
    assert capsys.readouterr().out == ""  # one transform, no steps
    denoise(Y, "rbf")
    assert capsys.readouterr().out == ""
    denoise(Y, "rbf", verbose=1)
    few = capsys.readouterr().out.splitlines()
    denoise(Y, "rbf", verbose=2)
    many = capsys.readouterr().out.splitlines()
    assert few and len(many) > 3 * len(few) and set(few) <= set(many)
    assert all(line.startswith("[denoise] step ") and "noise variance" in line for line in many)


class TestDenoiser:
    X = np.stack([Y, Y[::-1] + 3.0, 0.1 * Y])

    @pytest.mark.sampled
    @pytest.mark.parametrize("options", [{}, {"dictionary": "dct", "prior": "ric"}], ids=str)
    def test_rows_are_signals(self, options):
        model = Denoiser(**options)
        assert model.fit(self.X) is model and model.n_features_in_ == 64
        result = model.transform(self.X)
        assert_array_equal(result, denoise(self.X, axes=1, **options).signal)
        assert_array_equal(result[1], denoise(self.X[1], **options).signal)
        assert_array_equal(model.fit_transform(self.X), result)
        assert_array_equal(model.transform(self.X[:1])[0], result[0])

    def test_parameters_reach_denoise(self):
        options = {"dictionary": Wavelet("db2"), "noise": 0.3, "method": "soft", "tol": 0.5}
        model = clone(Denoiser(**options)).fit(self.X)
        del options["tol"]
        assert_array_equal(model.transform(self.X), denoise(self.X, axes=1, **options).signal)

    def test_missing_samples_are_filled(self):
        X = self.X[:2].copy()
        X[0, 10:13] = np.nan
        assert np.isfinite(Denoiser("haar").fit_transform(X)).all()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "model",
        [
            Denoiser("haar", method="sparse"),
            pytest.param(Denoiser("sym8"), marks=pytest.mark.slow),
            pytest.param(Denoiser("dct"), marks=pytest.mark.slow),
            pytest.param(Denoiser(DCT() + "haar"), marks=pytest.mark.slow),
        ],
        ids=str,
    )
    def test_conventions(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", SkipTestWarning)
            results = check_estimator(model, on_fail=None)
        bad = [r for r in results if r["status"] not in ("passed", "skipped")]
        assert len(results) > 30 and bad == []

    @pytest.mark.slow
    def test_pipeline_and_search(self):
        rng = np.random.default_rng(0)
        t = np.arange(64) / 64
        waves = np.where(np.arange(40)[:, None] % 2, np.sin(9 * t), (t > 0.5) - 0.3)
        X = waves + 0.5 * rng.standard_normal(waves.shape)
        model = make_pipeline(Denoiser("haar", n_shifts=1), LogisticRegression())
        assert model.fit(X, np.arange(40) % 2).score(X, np.arange(40) % 2) == 1.0
        search = GridSearchCV(
            make_pipeline(Denoiser(method="sparse"), LogisticRegression()),
            {"denoiser__dictionary": ["haar", DCT()], "denoiser__prior": ["bic"]},
            cv=2,
        )
        search.fit(X, np.arange(40) % 2)
        assert search.best_score_ > 0.9

    @pytest.mark.slow
    def test_names_are_kept(self):
        frame = pd.DataFrame(self.X, columns=[f"t{k}" for k in range(64)])
        model = Denoiser().set_output(transform="pandas").fit(frame)
        result = model.transform(frame)
        assert list(result.columns) == list(frame.columns)
        assert list(model.get_feature_names_out()) == list(frame.columns)
        assert_array_equal(result.to_numpy(), Denoiser().fit_transform(self.X))

    @pytest.mark.slow
    def test_single_precision_is_kept(self):
        assert Denoiser().fit_transform(self.X.astype("f4")).dtype == np.float32
        assert Denoiser().fit_transform(np.arange(64).reshape(1, -1)).dtype == np.float64

    def test_refusals(self):
        with pytest.raises(NotFittedError):
            Denoiser().transform(self.X)
        with pytest.raises(ValueError, match="64 features"):
            Denoiser().fit(self.X).transform(self.X[:, :32])
        for options in ({"method": "x"}, {"noise": 0}, {"dictionary": "x"}, {"prior": "x"}):
            with pytest.raises(ValueError, match=r"must be|not known"):
                Denoiser(**options).fit(self.X)
        with pytest.raises(ValueError, match="tol must be"):
            Denoiser(tol=-1.0).fit(self.X)
        with pytest.raises(ValueError, match="infinity"):
            Denoiser().fit([[1.0, np.inf]])
