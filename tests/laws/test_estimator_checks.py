"""scikit-learn's own checks, for every solver, prior and likelihood; none is expected to fail.

They are about the face of an estimator, not about how far it searches: but for the defaults, the
sequential solver is brief here, and of pairs there are as many as have each value.
"""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from sparsebayes import RVC, RVR, Gamma, Sequential
from tests.classical import classical

BRIEF = Sequential(brief=True)
SOLVERS = [BRIEF, "em", "mackay", "subspace"]
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


@pytest.mark.slow
def test_regressor():
    assert_clean(RVR(solver="subspace", adapt=None, calibrate=None))  # others take longer


def pairs(*priors):
    """Each solver and each prior, as slow tests."""
    found = []
    for k in range(max(len(SOLVERS), len(priors))):
        solver, prior = SOLVERS[k % len(SOLVERS)], priors[k % len(priors)]
        found.append(pytest.param(solver, prior, marks=pytest.mark.slow, id=f"{solver}-{prior}"))
    return found


@pytest.mark.parametrize(("solver", "prior"), pairs(*PRIORS))
def test_solver_and_prior(solver, prior):
    assert_clean(RVR(solver=solver, prior=PRIORS[prior], adapt=None))


@pytest.mark.slow
def test_a_given_width():
    assert_clean(RVR(adapt=None))


@pytest.mark.slow
def test_length_scales_that_are_learned():
    assert_clean(RVR(prior="flat"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "basis", BASES + [pytest.param(basis, marks=pytest.mark.slow) for basis in SLOW_BASES]
)
def test_basis(basis):
    assert_clean(RVR(basis, solver="mackay"))


@pytest.mark.slow
def test_fixed_noise_and_no_bias():
    assert_clean(RVR(noise=0.1, bias=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "link", "inference"),
    [
        pytest.param(
            solver,
            *likelihood,
            marks=[pytest.mark.slow] * ((solver, *likelihood) != (BRIEF, *LIKELIHOODS[0])),
        )
        for solver in SOLVERS
        for likelihood in LIKELIHOODS
    ],
)
def test_classifier(solver, link, inference):
    assert_clean(classical(solver=solver, link=link, inference=inference))


@pytest.mark.slow
def test_classifier_of_the_literature():
    assert_clean(classical())


@pytest.mark.parametrize(("solver", "prior"), pairs("aic", "bic", "ric", "gamma"))
def test_classifier_and_prior(solver, prior):
    assert_clean(classical(solver=solver, prior=PRIORS[prior]))


OPTIONS = [
    {"multi_class": "ovr", "solver": BRIEF},
    {"share_alpha": True, "solver": BRIEF},
    {"class_weight": "balanced", "bias": False, "solver": BRIEF},
    {"share_alpha": True, "solver": "em"},
    {"multi_class": "ovr", "solver": "mackay"},
    {"share_alpha": True, "solver": "subspace"},
    {"basis": "linear", "link": "logit", "solver": BRIEF},
    {"basis": "thin_plate", "link": "probit", "solver": BRIEF},
    {"basis": "polynomial", "link": "logit", "solver": BRIEF},
    {"basis": "laplacian", "link": "probit", "solver": BRIEF},
    {"basis": "linear_spline", "link": "logit", "solver": BRIEF},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_classifier_and_options(options):
    assert_clean(classical(**options))


@pytest.mark.slow
@pytest.mark.parametrize("link", ["auto", "least_squares"])
def test_classifier_that_chooses(link):
    assert_clean(RVC(link=link))
