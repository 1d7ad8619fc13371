"""Progress of a fit: scikit-learn's callbacks where it has them, and `verbose`."""

from __future__ import annotations

from functools import wraps
from typing import Any

from sparsebayes.engine.solvers.driver import Step

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        @wraps(method)
        def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            return method(estimator, *args, **kwargs)  # as deep as scikit-learn's: for stacklevel

        return managed


class Progress:
    """Called by the engine after each step; returns True where a callback asks to stop."""

    def __init__(self, estimator: Any, X: Any, y: Any, max_iter: int) -> None:
        self.estimator = estimator
        self.context = None
        # Without callbacks, its own or those of an estimator around it, there is none to tell.
        if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        self.data = {"X": X, "y": y}

    @property
    def report(self) -> Any:
        """The function for the engine; None where nobody listens."""
        listens = self.estimator.verbose or hasattr(self.estimator, "_skl_callbacks")
        return self._report if listens else None

    def _report(self, n_iter: int, step: Step) -> bool:
        if self.estimator.verbose and (n_iter % 10 == 1 or self.estimator.verbose > 1):
            state = step.state
            print(
                f"[{type(self.estimator).__name__}] step {n_iter:5d}  "
                f"objective {state.objective:.6g}  functions {state.active.size}"
                f"{f'  noise variance {1.0 / state.beta:.3g}' if state.local is None else ''}"
                f"{'' if step.accepted else '  (exploring)'}"
            )
        if self.context is None:
            return False
        task = self.context.subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator))

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data)
