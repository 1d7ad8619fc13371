"""Objects as tables: every class of the list, as fitted models hold it, comes back the same."""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn import compose, decomposition, feature_selection, impute, preprocessing
from sklearn import gaussian_process as process
from sklearn import kernel_approximation as approximation
from sklearn.datasets import make_blobs
from sklearn.gaussian_process import kernels
from sklearn.linear_model import ARDRegression, BayesianRidge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from sparsebayes import (
    EM,
    RVR,
    Denoiser,
    Flat,
    Forecaster,
    Gamma,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ParetoClassifier,
    ReducedRankGPR,
    Sequential,
    Smoothness,
    StudentT,
    Subspace,
    Trace,
    persistence,
)
from sparsebayes import dictionaries as of_signals
from sparsebayes.basis import (
    RBF,
    KernelFunction,
    Laplacian,
    Linear,
    LinearSpline,
    Polynomial,
    Precomputed,
    ThinPlateSpline,
)
from sparsebayes.datasets import make_sinc
from sparsebayes.persistence import archive, objects, trusted
from sparsebayes.uncertain import Imputation, Slope, StochasticEM
from tests.classical import classical

from .crafting import same

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(30)
BLOBS, K = make_blobs(45, centers=3, cluster_std=4.0, random_state=1)
LABELS = np.array(["a", "b", "c"], dtype=object)[K]
WALK = np.cumsum(RNG.standard_normal(60))
KINDS = {"object array", "structured array", "dict", "slice", "type", "function", "numpy.dtype"}


def regressors():
    bases = [RBF(1.0), Laplacian(1.0), Linear(), LinearSpline(), Polynomial(), ThinPlateSpline()]
    for basis in [*bases, "rbf", RBF([1.0, 2.0]) + Linear()]:
        yield RVR(basis).fit(X, Y)
    yield RVR(Precomputed()).fit(X @ X.T, Y)
    for solver in (Sequential(), EM(), Subspace(), "mackay"):
        yield RVR(RBF(2.0), solver=solver, tol=0.5).fit(X, Y)
    for prior in (Flat(), Gamma(0.1, 0.1), Smoothness(1.0), Trace(1.0), "bic", 0.5):
        yield RVR(RBF(2.0), prior=prior, random_state=np.random.RandomState(3)).fit(X, Y)
    both = np.column_stack([Y, 100.0 * X[:, 1] * Y])
    for noise in (Gamma(1.0, 0.1), StudentT(), StudentT(4.0), "varying", 0.01):
        for targets in (Y, both):
            yield RVR(RBF(2.0), noise=noise).fit(X, targets)
    for targets in (Y, both):
        yield RVR(RBF(2.0), augment=True).fit(X, targets)
    yield RVR(RBF(2.0, centres=X[:9])).partial_fit(X, Y)
    fan = np.linspace(0.0, 1.0, 120)
    noisy = np.sin(3 * fan) + 0.5 * fan * np.random.default_rng(0).standard_normal(120)
    yield RVR(RBF(0.3), noise="varying").fit(fan[:, None], noisy)
    many, y, _ = make_sinc(600, noise=0.1, random_state=0)
    yield RVR(RBF(2.0), augment="fast").fit(many, y)


def classifiers():
    for options in ({}, {"multi_class": "ovr"}, {"link": "probit"}, {"share_alpha": True}):
        yield classical(RBF(3.0), augment=True, **options).fit(BLOBS, LABELS)
    for augment in (False, True):
        yield classical(RBF(3.0), link="least_squares", augment=augment).fit(BLOBS, LABELS)
    yield classical(RBF(3.0), class_weight={0: 1.0, 1: np.float64(3.0)}).fit(BLOBS, K == 1)
    few = {"n_evaluations": 200, "population": 20, "random_state": 0}
    yield ParetoClassifier(seeds=None, **few).fit(BLOBS, K == 1)


def processes():
    constant = kernels.ConstantKernel()
    for kernel in (
        None,
        constant * kernels.Matern(),
        kernels.RationalQuadratic() + kernels.DotProduct(),
        kernels.ExpSineSquared() ** 2,
    ):
        yield ReducedRankGPR(kernel, n_support=10, n_cycles=1, random_state=0).fit(X, Y)
    yield LeaveOneOutGPR(random_state=np.random.RandomState(0)).fit(X, Y)
    some = StochasticEM(n_samples=4, n_chains=2, max_iter=5)
    for method in (Slope(), Imputation(n_levels=3, max_iter=5), some):
        yield NoisyInputGPR(input_noise=0.1, method=method, random_state=0).fit(X, Y)


def forecasters():
    gpr = process.GaussianProcessRegressor(kernels.RBF() + kernels.WhiteKernel(), random_state=0)
    for estimator in (RVR("linear"), gpr, BayesianRidge(), make_pipeline(StandardScaler(), gpr)):
        yield Forecaster(estimator, lags=2, difference=1, transform=None).fit(WALK)
    yield Forecaster(RVR("linear"), lags=2).fit(WALK, np.arange(60.0)[:, None])
    pd = pytest.importorskip("pandas")
    dated = pd.Series(WALK, pd.date_range("2020", periods=60, tz="UTC"))
    yield Forecaster(RVR("linear"), lags=2).fit(dated)
    yield from mixtures()


def mixtures():
    """Forecasters of all kinds of candidates, a gap, a season and two series."""
    gap = np.where(np.arange(60) % 13 == 5, np.nan, WALK)
    for y in (gap, X.ravel(), np.exp(0.1 * WALK), np.rint(np.abs(WALK))):
        yield Forecaster(seasons=4).fit(y, np.sin(np.arange(60.0))[:, None])
    curved = np.full(90, 0.4)
    for t in range(1, 90):
        curved[t] = 3.7 * curved[t - 1] * (1 - curved[t - 1])
    yield Forecaster().fit(curved)
    yield Forecaster().fit(np.column_stack([WALK, gap]))


def denoisers():
    signals = X[:, :1].repeat(16, 1)
    union = of_signals.DCT() + of_signals.Kernel("rbf")
    others = of_signals.DualTree(level=1), of_signals.MDCT(frame=4)
    for dictionary in ("sym8", of_signals.Wavelet("db4"), *others, union):
        yield Denoiser(dictionary).fit(signals)


def steps():
    """Transformers that a pipeline may hold."""
    scores, positive = feature_selection.f_regression, np.abs(X) + 0.1
    plain = [
        compose.make_column_transformer((StandardScaler(), slice(0, 1)), remainder="passthrough"),
        compose.make_column_transformer((StandardScaler(), [True, False]), remainder="drop"),
        decomposition.PCA(1, random_state=np.random.RandomState(0)),
        decomposition.FactorAnalysis(1),
        decomposition.FastICA(2, random_state=0, whiten_solver="svd"),
        decomposition.IncrementalPCA(1),
        decomposition.KernelPCA(2, kernel="rbf"),
        decomposition.TruncatedSVD(1),
        feature_selection.GenericUnivariateSelect(scores, param=50),
        feature_selection.RFE(RVR("linear"), n_features_to_select=1),
        feature_selection.SelectFromModel(RVR("linear"), max_features=1),
        feature_selection.SelectFdr(scores),
        feature_selection.SelectFpr(scores),
        feature_selection.SelectFwe(scores),
        feature_selection.SelectKBest(scores, k=1),
        feature_selection.SelectPercentile(feature_selection.mutual_info_regression),
        feature_selection.VarianceThreshold(),
        impute.KNNImputer(add_indicator=True),
        impute.MissingIndicator(features="all"),
        impute.SimpleImputer(strategy="median", add_indicator=True),
        approximation.AdditiveChi2Sampler(),
        approximation.Nystroem(n_components=5),
        approximation.PolynomialCountSketch(random_state=0),
        approximation.RBFSampler(n_components=5),
        approximation.SkewedChi2Sampler(n_components=5),
        make_union(StandardScaler(), decomposition.PCA(1)),
        preprocessing.Binarizer(),
        preprocessing.FunctionTransformer(np.log1p, np.expm1),
        preprocessing.KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        preprocessing.MaxAbsScaler(),
        preprocessing.MinMaxScaler(),
        preprocessing.Normalizer(),
        preprocessing.PolynomialFeatures(),
        preprocessing.PowerTransformer(),
        preprocessing.QuantileTransformer(n_quantiles=5),
        preprocessing.RobustScaler(),
        StandardScaler().set_output(transform="default"),
        GaussianRandomProjection(1),
    ]
    for step in plain:
        yield step.fit(positive, positive[:, 0]), positive
    words = np.array(["a", "b", "c"], dtype=object)[RNG.integers(0, 3, (30, 2))]
    for step in (
        preprocessing.OneHotEncoder(sparse_output=False, min_frequency=3, dtype=np.float32),
        preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
        preprocessing.TargetEncoder(random_state=0),
    ):
        yield step.fit(words, Y), words


def more_of_sklearn():
    """What models rarely hold."""
    yield compose.make_column_selector("a", dtype_include=float)
    yield kernels.CompoundKernel([kernels.PairwiseKernel(metric="laplacian"), kernels.RBF()])
    yield kernels.Product(kernels.Sum(kernels.RBF(), kernels.RBF()), kernels.WhiteKernel())
    yield ARDRegression().fit(X, Y)
    yield BayesianRidge().fit(X, Y)


def come_back(models):
    """Each comes back the same; the names that their files hold."""
    found = set()
    for model in models:
        content = persistence.dumps(model)
        again = persistence.models._restore(content).model
        table = objects.pack(model)
        assert same(objects.pack(again), table), model
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        found |= {row["class"] for row in table}
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            text = file.read("schema.json").decode()
        assert not re.search(r"(sparsebayes|sklearn|numpy|scipy)[\w.]*\._", text), model
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
def test_every_class_of_ours():
    found = set()
    for family in (regressors, classifiers, processes, forecasters, denoisers):
        found |= come_back(family())
    ours = {name for name in trusted._CLASSES if not name.startswith("sklearn.")}
    assert {name for name in found if name in ours} == ours


def test_every_class_of_scikit_learn():
    pd = pytest.importorskip("pandas")
    found = set()
    for step, data in steps():
        again = objects.unpack(objects.pack(step))
        assert same(objects.pack(again), objects.pack(step)), step
        assert same(again.transform(data), step.transform(data)), step
        found |= {row["class"] for row in objects.pack(step)}
    for part in more_of_sklearn():
        assert same(objects.pack(objects.unpack(objects.pack(part))), objects.pack(part))
        found |= {row["class"] for row in objects.pack(part)}
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": LABELS[:30]})
    encoder = preprocessing.OneHotEncoder(sparse_output=False)
    columns = compose.make_column_transformer(
        (make_pipeline(impute.SimpleImputer(), StandardScaler()), ["a", "b"]), (encoder, ["c"])
    )
    found |= come_back([make_pipeline(columns, RVR(RBF(2.0))).fit(frame, Y)])
    kernel = kernels.ConstantKernel() * kernels.Matern() + kernels.RationalQuadratic()
    kernel += kernels.DotProduct() * kernels.ExpSineSquared() ** 2
    gpr = process.GaussianProcessRegressor(kernel, alpha=1.0, optimizer=None).fit(X[:, :1], Y)
    found |= {row["class"] for row in objects.pack(gpr)}
    theirs = {name for name in trusted._CLASSES if name.startswith("sklearn.")}
    assert {name for name in found if name in theirs} == theirs
    assert found >= KINDS - {"structured array"}


def test_the_documentation_has_the_list():
    text = (Path(__file__).parents[2] / "docs" / "howto" / "save_and_load.md").read_text(
        encoding="utf-8"
    )
    theirs = [name for name in trusted._CLASSES if name.startswith("sklearn.")]
    theirs += trusted._OFFSETS
    told = set(re.findall(r"`(\w+)`", text))
    assert {name.rpartition(".")[2] for name in (*theirs, *trusted._FUNCTIONS)} <= told
    for limit in ("2 GiB", "32 MiB", "100 000", "| 64 |"):
        assert limit in text
    assert (archive.MAX_FILE, archive.MAX_SCHEMA) == (2 * 2**30, 32 * 2**20)
    assert (archive.MAX_MEMBERS, archive.MAX_DEPTH) == (100_000, 64)


def test_what_is_shared_stays_shared():
    model = Forecaster(RVR("linear"), lags=2, difference=1, transform=None).fit(WALK)
    again = objects.unpack(objects.pack(model))
    assert model.estimator_ is model._one.fitted.combination.models[0].recursion.model
    assert again.estimator_ is again._one.fitted.combination.models[0].recursion.model
    state = np.random.RandomState(0)
    shared = objects.unpack(objects.pack({"a": state, "b": [state]}))
    assert shared["a"] is shared["b"][0]
    assert shared["a"].normal() == np.random.RandomState(0).normal()


class Fleeting:
    """Its state is made when it is asked for, and gone afterwards."""

    def __init__(self, number):
        self.number = number

    def __getstate__(self):
        return {"number": {"n": self.number}}


def test_what_is_gone_is_not_taken_for_what_comes_later(monkeypatch):
    monkeypatch.setitem(trusted._CLASSES, "Fleeting", f"{__name__}.Fleeting")
    table = objects.pack([Fleeting(i) for i in range(50)])
    assert [row["state"]["items"] for row in table[::2]] == [[("n", i)] for i in range(50)]


class Mine(RBF):
    """A class of a user."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("attribute", "value", "match"),
    [
        ("basis", KernelFunction(max), r"KernelFunction at RVR\.basis, .*classes that docs"),
        ("basis", Mine(), r"Mine at RVR\.basis"),
        ("basis", np.linalg.norm, r"norm at RVR\.basis, .* basis object of sparsebayes"),
        ("basis", RBF, r"the class RBF at RVR\.basis"),
        ("coef_", np.array(["2020"], "M8[D]"), r"numpy.ndarray at RVR\.coef_, .*use arrays"),
        ("coef_", np.ma.array([1.0]), r"MaskedArray at RVR\.coef_"),
        ("coef_", np.array([1, {2}], dtype=object), r"builtins.set at RVR\.coef_\.items\[1\]"),
        ("coef_", [1, (2, 3j)], r"builtins.complex at RVR\.coef_\[1\]\[1\]"),
        ("coef_", np.bytes_(b"a"), r"bytes_ at RVR\.coef_"),
        pytest.param("coef_", 10**5000, r"builtins.int at RVR\.coef_", id="long"),
        ("note", 1, r"other attributes than this version has: .'note'."),
        ("fit", 1, "the attribute 'fit', which is not trusted"),
    ],
)
def test_what_cannot_be_brought_back_is_not_saved(tmp_path, attribute, value, match):
    model = RVR(RBF(2.0)).fit(X, Y)
    vars(model)[attribute] = value
    with pytest.raises(persistence.ModelFileError, match=f"^The model .*{match}"):
        persistence.save(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_a_circle_is_not_saved():
    model = RVR(RBF(2.0)).fit(X, Y)
    model.weights_ = [model]
    with pytest.raises(archive.Refused, match=r"holds itself at RVR\.weights_\[0\]"):
        objects.pack(model)
    model.weights_ = []
    model.weights_.append(model.weights_)
    with pytest.raises(archive.Refused, match="holds itself"):
        objects.pack(model)


def test_a_cache_is_not_saved(tmp_path):
    model = make_pipeline(StandardScaler(), RVR(RBF(2.0)), memory=str(tmp_path)).fit(X, Y)
    with pytest.raises(persistence.ModelFileError, match=r"cache; use set_params.memory=None."):
        persistence.dumps(model)
    assert persistence.dumps(model.set_params(memory=None))


def test_another_version_of_scikit_learn_is_told():
    from sklearn.exceptions import InconsistentVersionWarning

    table = objects.pack(make_pipeline(StandardScaler(), RVR(RBF(2.0))).fit(X, Y))
    (scaler,) = (row for row in table if row["class"].endswith("StandardScaler"))
    scaler["state"]["_sklearn_version"] = "1.0"
    with pytest.warns(InconsistentVersionWarning, match="StandardScaler from version 1.0"):
        objects.unpack(table)
