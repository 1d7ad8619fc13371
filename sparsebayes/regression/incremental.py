"""Fits to rows that come in parts, and to sums over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.metaestimators import available_if

from sparsebayes._rvm.interruption import interruptible
from sparsebayes.regression import many_rows
from sparsebayes.regression.statistics import Statistics
from sparsebayes.rows.recognise import as_rows
from sparsebayes.rows.source import Parts

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR


def _by_sums(model: RVR) -> bool:
    """Whether sums over rows are all that a fit needs; else an AttributeError that says why not."""
    found = many_rows.obstacle(model)
    if found is not None:
        raise AttributeError(found)
    return True


class FromParts:
    """What a regression offers besides `fit`."""

    @available_if(_by_sums)
    @interruptible
    def partial_fit(self: RVR, X: Any, y: Any = None, sample_weight: Any = None) -> RVR:
        """Add rows, and fit the model to all that were given.

        The first call chooses the functions: their centres, unless these are given as points, and
        their length scales are those that suit its rows. Sums over the rows are kept, not the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or what else `fit` takes.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the same sample twice.

        Returns
        -------
        RVR
            This model, fitted to all rows so far.
        """
        solver = self._checked_solver()
        before = self.__dict__.get("_statistics")
        rows = as_rows(X, y, sample_weight)
        if rows is None:
            data = self._check_data(X, y, sample_weight, several=True, reset=before is None)
            names = getattr(self, "feature_names_in_", None)
            rows = Parts([data], labels=False)
            rows.feature_names = None if names is None else list(names)
        if before is None:
            basis, told = many_rows.choose_functions(self, solver, rows, first=True)
            before = Statistics(basis), told
        total, told = before
        total = total + rows.total(many_rows.StatisticsOf(total.basis))
        many_rows.fit_statistics(self, solver, total, told, rows.feature_names)
        self._statistics = total, told
        return self

    @available_if(_by_sums)
    @interruptible
    def fit_statistics(self: RVR, statistics: Statistics) -> RVR:
        """Fit the model to sums over rows; the functions are those of the sums.

        Parameters
        ----------
        statistics : Statistics
            Sums over the rows of all parts.

        Returns
        -------
        RVR
            This model, fitted.
        """
        if not isinstance(statistics, Statistics):
            raise TypeError(
                f"fit_statistics needs Statistics, got {type(statistics).__name__}; fit takes rows."
            )
        solver = self._checked_solver()
        self.__dict__.pop("_statistics", None)
        many_rows.fit_statistics(self, solver, statistics, [])
        return self
