"""Gaussian processes: of reduced rank, and tuned by their leave-one-out density."""

from sparsebayes._support.homes import settle
from sparsebayes.gp.leave_one_out import LeaveOneOutGPR, loo_log_predictive
from sparsebayes.gp.reduced_rank import ReducedRankGPR

__all__ = ["LeaveOneOutGPR", "ReducedRankGPR", "loo_log_predictive"]

settle(globals())
