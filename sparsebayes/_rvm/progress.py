"""Progress of a fit: scikit-learn's callbacks where it has them, and `verbose`."""

from __future__ import annotations

from typing import Any

from sparsebayes._support.reporting import Reporter
from sparsebayes.engine import Step

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method


def tell_step(reporter: Reporter, n_iter: int, step: Step) -> bool:
    """Report a step of a solver, if it is due; False, as the search goes on."""
    if reporter.due(n_iter):
        state = step.state
        reporter.tell(
            f"step {n_iter:5d}  objective {state.objective:.6g}  functions {state.active.size}"
            f"{f'  noise variance {1.0 / state.beta:.3g}' if state.local is None else ''}"
            f"{'' if step.accepted else '  (exploring)'}"
        )
    return False


class Progress:
    """Called by the engine after each step; returns True where the search is to stop.

    Attributes
    ----------
    cancelled : bool
        Whether it is to stop for another reason than that a callback asks for it.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, max_iter: int) -> None:
        self.estimator, self.cancelled = estimator, False
        self.reporter = Reporter(type(estimator).__name__, estimator.verbose)
        self.context = None
        # Without callbacks, its own or those of an estimator around it, there is none to tell.
        if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        self.data = {"X": X, "y": y}

    def __call__(self, n_iter: int, step: Step) -> bool:
        tell_step(self.reporter, n_iter, step)
        if self.context is None or not hasattr(self.estimator, "_skl_callbacks"):
            return self.cancelled  # nobody listens to steps
        task = self.context.subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=self.estimator)
        asked = bool(task.call_on_fit_task_end(estimator=self.estimator))
        return asked or self.cancelled

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data)
