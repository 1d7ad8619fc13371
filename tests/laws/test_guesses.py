"""Names of neighbours never end in a bare error, and what the errors say is true."""

import copy
import functools
import importlib
import inspect
import pickle
import re

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as gp_kernels
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ARDRegression, BayesianRidge, Lasso, LogisticRegression
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_is_fitted

import sparsebayes
from sparsebayes import basis, dictionaries, uncertain
from sparsebayes._support.guesses.arguments import ARGUMENTS, SAME
from sparsebayes._support.guesses.attributes import ATTRIBUTES
from sparsebayes._support.guesses.mixin import GuidedMixin, _documented
from sparsebayes._support.guesses.names import HOMES, NAMES
from sparsebayes._support.guesses.values import VALUES
from sparsebayes.sktime import SparseBayesForecaster
from tests.laws.test_house import PUBLIC

X = np.random.default_rng(0).standard_normal((40, 2))
Y = X[:, 0] + 0.1 * X[:, 1] ** 2
LABELS = (Y > 0).astype(int)

NEIGHBOURS = (SVR, SVC, GaussianProcessRegressor, GaussianProcessClassifier, BayesianRidge,
              ARDRegression, KernelRidge, Lasso, LogisticRegression)  # fmt: skip
THEIR_ARGUMENTS = sorted(
    {name for kind in NEIGHBOURS for name in inspect.signature(kind).parameters}
)
BARE = re.compile(r"unexpected keyword|object has no attribute|takes no arguments")


def public_classes():
    """Every public class of ours that has parameters."""
    modules = [importlib.import_module(f"sparsebayes.{name}") for name in PUBLIC]
    found = [getattr(module, name) for module in modules for name in module.__all__]
    ours = {kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseEstimator)}
    return sorted((kind for kind in ours if not inspect.isabstract(kind)), key=lambda c: c.__name__)


def test_signatures_without_unwrapping():
    for kind in public_classes():
        if getattr(kind.__init__, "is_guided", False):
            argspec = inspect.getfullargspec(kind.__init__)
            assert (argspec.varargs, argspec.varkw) == (None, None), kind
            assert argspec.args[0] == "self"


CLASSES = public_classes()
WITH_ARGUMENTS = [kind for kind in CLASSES if kind.__init__ is not object.__init__]


def made(kind):
    """An object of a class, with what it needs."""
    given = {"input_noise": 0.1, "function": np.dot, "left": basis.RBF(), "right": basis.Bias()}
    names = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in given.items() if name in names})


@functools.cache
def their_attributes():
    """What fitted neighbours have."""
    found = set()
    for kind in NEIGHBOURS:
        labels = issubclass(kind, SVC | GaussianProcessClassifier | LogisticRegression)
        model = kind().fit(X, LABELS if labels else Y)
        found |= {name for name in (*vars(model), *dir(kind)) if not name.startswith("_")}
    return sorted(found)


def test_all_estimators_are_guided():
    assert {"RVR", "RVC", "Forecaster", "Denoiser", "RBF"} <= {kind.__name__ for kind in CLASSES}
    assert [kind for kind in CLASSES if not issubclass(kind, GuidedMixin)] == []


@pytest.mark.parametrize("kind", WITH_ARGUMENTS, ids=lambda kind: kind.__name__)
def test_arguments_of_neighbours(kind):
    unknown = [name for name in THEIR_ARGUMENTS if name not in inspect.signature(kind).parameters]
    assert len(unknown) > 20
    for name in (*unknown, "rubbish"):
        with pytest.raises(TypeError) as caught:
            kind(**{name: 1.0})
        assert not BARE.search(str(caught.value))
        assert str(caught.value).startswith(f"{kind.__name__} has no argument {name!r}; ")
        with pytest.raises(ValueError, match=f"has no argument {name!r}; "):
            made(kind).set_params(**{name: 1.0})


@pytest.mark.sampled
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_attributes_of_neighbours(kind):
    model, count = made(kind), 0
    for name in (*their_attributes(), "rubbish", "rubbish_"):
        if name in inspect.signature(kind).parameters:
            continue
        try:
            getattr(model, name)
        except AttributeError as error:
            count += 1
            assert not hasattr(model, name)
            assert not BARE.search(str(error)), str(error)
            assert name in str(error) or isinstance(error, NotFittedError)
    assert count > 20


# What the tables say is true.

CALL = re.compile(r"\b[A-Z]\w*\((?:[^()]|\([^()]*\))*\)")


def by_name(key):
    """The class or function that an entry is about, some for a base class."""
    public = {kind.__name__: kind for kind in (*CLASSES, SparseBayesForecaster)}
    if key in public:
        return [public[key]]
    if hasattr(sparsebayes, key):
        return [getattr(sparsebayes, key)]
    return [kind for kind in CLASSES if key in [base.__name__ for base in kind.__mro__]]


def code_in(remedy):
    return [call for call in CALL.findall(remedy) if "y)" not in call and "X" not in call]


@pytest.mark.parametrize("key", list(ARGUMENTS))
def test_remedies_of_arguments(key):
    """Arguments that are named exist, and examples of calls can be made."""
    space = {**vars(gp_kernels), **vars(dictionaries), **vars(uncertain), **vars(basis)}
    space |= {name: getattr(sparsebayes, name) for name in sparsebayes.__all__}
    space |= {"a": 1.0, "b": 1.0, "inputs": None}
    space |= dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 1e-6)
    space["StandardScaler"] = object
    owner, _, method = key.partition(".")
    targets = by_name(owner)
    assert targets
    for target in targets:
        called = getattr(target, method) if method else target
        known, space[target.__name__] = set(inspect.signature(called).parameters), target
        for guess, remedy in ARGUMENTS[key].items():
            if guess in known:
                continue
            assert not remedy.endswith("."), remedy
            named = re.match(r"use (\w+)=", remedy)
            if named and key not in ("GuidedMixin",) and "RVR(" not in remedy:
                assert named[1] in known, (target, remedy)
            text = remedy.replace("{name}", target.__name__)
            gp = "kernel" in known or "sklearn" in text
            space["RBF"] = gp_kernels.RBF if gp else basis.RBF
            for call in code_in(text):
                eval(call, dict(space))


def test_words_for_one_argument():
    for name, words in SAME.items():
        assert any(name in inspect.signature(kind).parameters for kind in CLASSES)
        assert name not in words.split()


@pytest.mark.parametrize("key", list(ATTRIBUTES))
def test_remedies_of_attributes(key):
    """Learned attributes that are named are those of the documentation, and methods exist."""
    owners = [sparsebayes.PosteriorSamples] if key == "BaseSamples" else by_name(key)
    assert owners
    for remedy in ATTRIBUTES[key].values():
        for name in re.findall(r"(?<![\w.(])([a-z]\w*_)(?!\w)", remedy):
            assert any(name in _documented(kind) for kind in owners), remedy
        for name in re.findall(r"(?<![\w.])([a-z]\w+)\(", remedy):
            there = any(hasattr(kind, name) for kind in owners)
            assert there or name in ("repr", "len", "denoise"), remedy
        for path in re.findall(r"sparsebayes\.([\w.]+)\(", remedy):
            found = sparsebayes
            module, _, rest = path.partition(".")
            found = importlib.import_module(f"sparsebayes.{module}") if rest else sparsebayes
            for part in (rest or module).split("."):
                found = getattr(found, part)


def test_names_of_the_package():
    for module, names in HOMES.items():
        public = importlib.import_module(f"sparsebayes.{module}").__all__
        assert set(names) <= set(public)
        assert not set(names) & set(sparsebayes.__all__)
    for guess, remedy in NAMES.items():
        assert not hasattr(sparsebayes, guess)
        module, names = re.search(r"from (\S+) import (.*)$", remedy).groups()
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name)


def test_values_name_what_is_allowed():
    """Values that the constructors refuse have remedies that name the argument or a value."""
    for name, entries in VALUES.items():
        assert all(f"{name}=" in remedy or "'" in remedy or "(" in remedy
                   for remedy in entries.values())  # fmt: skip


# Nobody else sees a difference.


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_copies_and_signatures(kind):
    model = made(kind)
    for other in (clone(model), copy.copy(model), copy.deepcopy(model),
                  pickle.loads(pickle.dumps(model))):  # fmt: skip
        assert repr(other) == repr(model)
    assert set(inspect.signature(kind).parameters) == set(model.get_params(deep=False))
    bare = kind.__new__(kind)  # as copies and pickles begin
    for name in inspect.signature(kind).parameters:
        assert hasattr(bare, name) == hasattr(kind, name)


@pytest.mark.slow
def test_learned_attributes_are_documented():
    """So that each is known before a fit, and says so."""
    rvr = sparsebayes.RVR(adapt=None, calibrate=None).fit(X, Y)
    rvc = sparsebayes.RVC(link="logit", adapt=None, calibrate=None).fit(X, LABELS)
    rank = sparsebayes.ReducedRankGPR(calibrate=None).fit(X, Y)
    series = sparsebayes.Forecaster(lags=2, calibrate=None).fit(Y)
    for model in (rvr, rvc, rank, series):
        check_is_fitted(model)
        learned = [name for name in vars(model) if name.endswith("_") and name[0] != "_"]
        fresh = clone(model)
        with pytest.raises(NotFittedError):
            check_is_fitted(fresh)
        for name in learned:
            assert name in _documented(type(model)), name
            with pytest.raises(NotFittedError, match="before it is fitted"):
                getattr(fresh, name)


def test_derived_classes():
    """A constructor that calls ours is told about ours; one without is told about itself."""

    class Narrow(sparsebayes.RVR):
        def __init__(self, width=1.0):
            self.width = width
            super().__init__(kernel=width)

    class Plain(sparsebayes.RVR):
        """Nothing new."""

    with pytest.raises(TypeError, match="RVR has no argument 'kernel'; use basis="):
        Narrow()
    with pytest.raises(TypeError, match=r"Narrow has no argument 'kernel'; use basis="):
        Narrow(kernel=1)
    with pytest.raises(TypeError, match="Plain has no argument 'kernel'; use basis="):
        Plain(kernel="rbf")
