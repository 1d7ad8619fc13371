"""What estimators say of themselves: `summary`, and their picture in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from sparsebayes.summaries import Summary


class SummaryMixin:
    """`summary` of an estimator, which notebooks show below the diagram once it is fitted."""

    def summary(self) -> Summary:
        """Tell what was fitted, as a table.

        Returns
        -------
        sparsebayes.summaries.Summary
            ``print`` shows it as text, notebooks as HTML, and `to_dict` gives plain data.
        """
        check_is_fitted(self)
        return described(self)

    def _html_repr(self) -> str:
        """What scikit-learn shows in notebooks, and of a fitted model the summary."""
        diagram: str = estimator_html_repr(self)
        try:
            check_is_fitted(self)
        except NotFittedError:
            return diagram
        return f"{diagram}\n{self.summary()._repr_html_()}"


class NamedSummaryMixin(SummaryMixin):
    """The same of a model of inputs, which may be given names."""

    def summary(self, *, feature_names: Any = None, target_names: Any = None) -> Summary:
        """Tell what was fitted, as a table.

        Parameters
        ----------
        feature_names : list of str, default=None
            Names of the inputs, such as those before a Pipeline's other steps. None is those of
            the DataFrame that the model was fitted to, or x0, x1, ...
        target_names : str or list of str, default=None
            The name of the target, or of each target. None is y, or y0, y1, ...

        Returns
        -------
        sparsebayes.summaries.Summary
            ``print`` shows it as text, notebooks as HTML, and `to_dict` gives plain data.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsebayes import RVR
        >>> X = np.linspace(-10, 10, 100)[:, None]
        >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
        >>> found = RVR().fit(X, y).summary(feature_names=["distance"])
        >>> print(str(found).splitlines()[0])
        RVR: relevance vector regression
        >>> found.to_dict()["inputs"]
        ['distance']
        """
        check_is_fitted(self)
        return described(self, feature_names=feature_names, target_names=target_names)


def described(model: Any, **names: Any) -> Summary:
    """The summary of a fitted model."""
    # Imported here: it lies above the estimators.
    from sparsebayes.summaries.describe import describe

    return describe(model, **names)
