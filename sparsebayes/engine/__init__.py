"""Sparse Bayesian learning on arrays: designs, priors, sites, and solvers that climb.

The engine imports numpy and scipy (and threadpoolctl) only; it knows nothing of estimators.
"""

from sparsebayes._support.homes import settle
from sparsebayes.engine.model.design import Dense, Design, Lazy, make_design
from sparsebayes.engine.model.exact import Exact
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.model.latent import Latent
from sparsebayes.engine.model.matrix_free import MatrixFree
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.prior import Prior
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness, Trace
from sparsebayes.engine.model.problem import AdaptableProblem, Problem
from sparsebayes.engine.model.sites import Logit, Probit, Sites, Softmax
from sparsebayes.engine.solvers.driver import Interrupted, Solution, Solver, Step, Stop, run
from sparsebayes.engine.solvers.em import EM
from sparsebayes.engine.solvers.exchange import Exchanging, Swap
from sparsebayes.engine.solvers.in_turns import InTurns
from sparsebayes.engine.solvers.policy import Effort, Policy
from sparsebayes.engine.solvers.scales.adaptive import Adaptive, learn
from sparsebayes.engine.solvers.scales.family import Family
from sparsebayes.engine.solvers.sequential import Sequential
from sparsebayes.engine.solvers.subspace import Subspace

__all__ = [
    "EM",
    "AdaptableProblem",
    "Adaptive",
    "Dense",
    "Design",
    "Effort",
    "Exact",
    "Exchanging",
    "Family",
    "Flat",
    "Gamma",
    "Gaussian",
    "InTurns",
    "Interrupted",
    "Latent",
    "Lazy",
    "Logit",
    "MatrixFree",
    "Policy",
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

settle(globals())
