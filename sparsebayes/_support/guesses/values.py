"""Values that users try for an argument, with what to give instead."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from sparsebayes._support.guesses.table import Table, spelled_out

_CALLABLE = "a callable k(X, Z) works: {name}=sklearn.metrics.pairwise."

# By argument: the value in small letters, and the end of the sentence.
VALUES: Table = spelled_out(
    {
        "adapt": {
            "false none no off fixed": "adapt=None keeps length scales as they are",
            "true on": "adapt='ard' learns one for each input, 'isotropic' a common factor",
        },
        "calibrate": {
            "false none no off": "calibrate=None takes error bars as the evidence has them",
            "true yes on cv": "calibrate='auto' chooses the folds",
            "isotonic sigmoid platt temperature": (
                "calibrate='auto' corrects probabilities; for other ways put "
                "CalibratedClassifierCV around a model with calibrate=None"
            ),
        },
        "augment": {"none no off auto": "augment=False is the default"},
        "noise": {
            "none auto gaussian normal learn optimize": "noise='estimate' learns it",
            "0 0.0": "where there is next to none, noise='estimate' finds that too",
            "t student-t studentt robust": "noise='student' is for outliers",
            "heteroscedastic heteroskedastic": "noise='varying' depends on the inputs",
        },
        "prior": {
            "none no uniform auto": "prior='flat' is the classical machine",
            "gamma": "give its numbers, prior=Gamma(1e-3, 1e-3)",
            "smoothness smooth": "use prior='bic', or a number c",
            "l1 laplace lasso": "prior='bic' keeps fewer functions",
            "ard": "each function has a precision of its own with any prior; prior='flat'",
        },
        "solver": {
            "none auto default lbfgs newton-cg saga fast": "solver='sequential' is the default",
            "vb variational": "solver='em' climbs the same evidence",
            "fixed_point": "use solver='mackay'",
        },
        "basis": {
            "none": "basis='rbf' is the default, basis='bias' a constant alone",
            "poly quadratic cubic": "use basis='polynomial', or Polynomial(degree=3)",
            "sigmoid tanh": f"{_CALLABLE}sigmoid_kernel",
            "cosine": f"{_CALLABLE}cosine_similarity",
            "chi2": f"{_CALLABLE}chi2_kernel",
            "matern rational_quadratic": (
                "a kernel of scikit-learn works: basis=Matern(length_scale=1.0, nu=1.5)"
            ),
            "gaussian gauss se squared_exponential rbf": "use basis='rbf'",
            "exponential laplace": "use basis='laplacian'",
            "spline cubic_spline": "use basis='linear_spline' or 'thin_plate'",
            "tps thin_plate_spline": "use basis='thin_plate'",
            "identity raw": "use basis='linear'",
            "constant intercept": "use basis='bias'",
        },
        "link": {
            "none": "link='auto' chooses",
            "logistic sigmoid softmax logreg": (
                "use link='logit', with more than two classes the softmax"
            ),
            "normal gaussian": "use link='probit'",
            "mse ls lssvm": "use link='least_squares'",
        },
        "multi_class": {
            "auto softmax none": "multi_class='multinomial' is the default",
            "ovo one_vs_rest one-vs-rest": "multi_class='ovr' has a model for each class",
        },
        "inference": {
            "ep expectation_propagation": "inference='tap' is expectation propagation",
            "vb variational": "use inference='mean_field'",
            "none auto": "inference='laplace' is the default",
        },
        "transform": {
            "false no none": "transform=None models the series as it is",
            "true boxcox box-cox": "transform='auto' tries the logarithm, or the root of counts",
        },
        "lags": {"none true all": "lags='auto' chooses them"},
        "difference": {
            "false no": "difference=None takes none",
            "true": "difference=1 takes changes of one step",
        },
        "seeds": {"true": "seeds='rvc' starts from an RVC", "false no": "seeds=None starts anew"},
        "penalty": {
            "l2 none elasticnet": "penalty='l1' is the mass, 'l0+' the number of kernels",
            "l0 sparsity": "use penalty='l0+', the number of kernels",
            "lasso": "use penalty='l1'",
            "df dof smooth trace aic bic ric": (
                "penalty='smoothness' is the effective degrees of freedom"
            ),
        },
        "method": {
            "nuts hmc mcmc": "method='gibbs' needs no tuning",
            "rjmcmc": "use method='reversible_jump'",
            "em": "use method='stochastic_em'",
            "visushrink bayesshrink sureshrink": (
                "method='average' shrinks by its own estimate; 'soft', 'hard' and 'bayes' are rules"
            ),
            "mc": "use method='monte_carlo'",
        },
        "length_scale": {
            "auto none": "'scale' takes it from the inputs, and adapt= of the model learns it"
        },
    }
)


def hint(name: str, value: Any, choices: Collection[str] | None = None) -> str:
    """What to give instead, to be added to an error; nothing if it is not known.

    With `choices`, nothing unless it is one of them: arguments of one name have other choices
    elsewhere.
    """
    if isinstance(value, type):
        return f"; give an object, {name}={value.__name__}(...)"
    plain = value is None or isinstance(value, (str, bool, int, float))
    remedy = VALUES.get(name, {}).get(str(value).lower()) if plain else None
    if remedy is None:
        return ""
    words = re.findall(r"'([^']*)'", remedy)
    if choices is not None and words and not set(words) & set(choices):
        return ""
    return f"; {remedy.replace('{name}', name)}"
