"""scikit-learn's own checks, for every solver, prior and likelihood; none is expected to fail."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from sparsebayes import RVC, RVR, Gamma, Sequential
from tests.classical import classical

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "aic": "aic", "bic": "bic", "ric": "ric", "gamma": Gamma(1e-3, 1e-3)}
BASES = ["linear"]
SLOW_BASES = ["thin_plate", "polynomial", "laplacian", "linear_spline"]
LIKELIHOODS = [
    ("logit", "laplace"),
    ("probit", "laplace"),
    ("probit", "mean_field"),
    ("probit", "tap"),
]


def assert_clean(estimator):
    with warnings.catch_warnings():
        # The checks fit random data to the last bit, and skip array API inputs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", ".*too few distinct rows")
        results = check_estimator(estimator, on_fail=None)
    assert len(results) > 40
    failed = {
        result["check_name"]: f"{result['status']}: {result['exception']!r}"
        for result in results
        if result["status"] not in ("passed", "skipped")
    }
    assert failed == {}
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
    assert not any(result["expected_to_fail"] for result in results)


def test_regressor():
    assert_clean(RVR(solver="subspace", adapt=None, calibrate=None))  # others take longer


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_and_prior(solver, prior):
    assert_clean(RVR(solver=solver, prior=PRIORS[prior], adapt=None))


@pytest.mark.slow
def test_length_scales_that_are_learned():
    assert_clean(RVR(prior="flat"))


@pytest.mark.parametrize(
    "basis", BASES + [pytest.param(basis, marks=pytest.mark.slow) for basis in SLOW_BASES]
)
def test_basis(basis):
    assert_clean(RVR(basis, solver="mackay"))


@pytest.mark.slow
def test_fixed_noise_and_no_bias():
    assert_clean(RVR(noise=0.1, bias=False))


@pytest.mark.parametrize(
    ("solver", "link", "inference"),
    [
        pytest.param(
            solver,
            *likelihood,
            marks=[pytest.mark.slow] * ((solver, *likelihood) != ("sequential", *LIKELIHOODS[0])),
        )
        for solver in SOLVERS
        for likelihood in LIKELIHOODS
    ],
)
def test_classifier(solver, link, inference):
    if solver == "sequential" and inference == "tap":  # whose whole search takes minutes
        solver = Sequential(brief=True)
    assert_clean(classical(solver=solver, link=link, inference=inference))


@pytest.mark.parametrize(
    ("solver", "prior"),
    [
        pytest.param(solver, prior, marks=pytest.mark.slow)
        for solver in SOLVERS
        for prior in PRIORS
        if prior != "flat"
    ],
)
def test_classifier_and_prior(solver, prior):
    assert_clean(classical(solver=solver, prior=PRIORS[prior]))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"multi_class": "ovr"}, marks=pytest.mark.slow),  # so is probit
        pytest.param({"share_alpha": True}, marks=pytest.mark.slow),
        pytest.param({"class_weight": "balanced", "bias": False}, marks=pytest.mark.slow),
        *(
            pytest.param({"solver": solver, **several}, marks=pytest.mark.slow)
            for solver in SOLVERS[1:]
            for several in ({"multi_class": "ovr"}, {"share_alpha": True})
        ),
        *(
            pytest.param({"basis": basis, "link": link}, marks=pytest.mark.slow)
            for basis in BASES + SLOW_BASES
            for link in ("logit", "probit")
        ),
    ],
    ids=str,
)
def test_classifier_and_options(options):
    assert_clean(classical(**options))


@pytest.mark.slow
@pytest.mark.parametrize("link", ["auto", "least_squares"])
def test_classifier_that_chooses(link):
    assert_clean(RVC(link=link))
