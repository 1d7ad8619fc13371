"""Sparse Bayesian learning on arrays: designs, priors, sites, and solvers that climb.

The engine imports numpy and scipy (and threadpoolctl) only; it knows nothing of estimators.
"""

from sparsebayes.engine.design import Dense, Design, Lazy, MatrixFree, make_design
from sparsebayes.engine.driver import Solution, Solver, Step, Stop, run
from sparsebayes.engine.em import EM
from sparsebayes.engine.exact import Exact
from sparsebayes.engine.exchange import Exchanging, Swap
from sparsebayes.engine.latent import Latent
from sparsebayes.engine.posterior import State
from sparsebayes.engine.priors import Flat, Gamma, Prior, Smoothness, Trace
from sparsebayes.engine.problem import Problem
from sparsebayes.engine.scales import Adaptive, Family, learn
from sparsebayes.engine.sequential import Sequential
from sparsebayes.engine.sites import Gaussian, Logit, Probit, Sites, Softmax
from sparsebayes.engine.subspace import Subspace

__all__ = [
    "EM",
    "Adaptive",
    "Dense",
    "Design",
    "Exact",
    "Exchanging",
    "Family",
    "Flat",
    "Gamma",
    "Gaussian",
    "Latent",
    "Lazy",
    "Logit",
    "MatrixFree",
    "Prior",
    "Probit",
    "Problem",
    "Sequential",
    "Sites",
    "Smoothness",
    "Softmax",
    "Solution",
    "Solver",
    "State",
    "Step",
    "Stop",
    "Subspace",
    "Swap",
    "Trace",
    "learn",
    "make_design",
    "run",
]
