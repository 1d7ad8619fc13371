"""A model that was read back: it predicts, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.data import check_numbers, check_size
from sparsebayes._support.validation import check_switches
from sparsebayes.export.programs.program import Program

Array = np.ndarray


class ExportedModel:
    """Predictions of a model that was exported, from its steps alone.

    Made by :func:`from_json`. What was learned besides (weights, evidence) is not kept.

    Parameters
    ----------
    program : Program
        The steps from inputs to predictions.

    Attributes
    ----------
    n_features_in_ : int
    feature_names, target_names : list of str
        Empty if they have none.
    classes_ : ndarray, (K,)
        Of a classification.

    See Also
    --------
    from_json : Reads one.
    sparsebayes.persistence.load : Brings back a whole model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import RVC
    >>> from sparsebayes.export import from_json, to_json
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = RVC("rbf", link="logit", adapt=None, calibrate=None).fit(X, y)
    >>> again = from_json(to_json(model))
    >>> again.predict_proba(X[:3]).shape, bool((again.predict(X) == model.predict(X)).all())
    ((3, 2), True)
    """

    def __init__(self, program: Program) -> None:
        self.program = program

    def __repr__(self) -> str:
        program = self.program
        of = f"{len(program.classes)} classes" if program.classes else ", ".join(program.outputs)
        return f"<ExportedModel of {program.kind}: {program.n_inputs} inputs, {of}>"

    @property
    def n_features_in_(self) -> int:
        """The number of inputs."""
        return self.program.n_inputs

    @property
    def feature_names(self) -> list[str]:
        """Names of the inputs; empty if they have none."""
        return list(self.program.feature_names)

    @property
    def target_names(self) -> list[str]:
        """Names of the targets; empty if they have none."""
        return list(self.program.target_names)

    @property
    def classes_(self) -> Array:
        """The labels, of a classification."""
        if not self.program.is_classifier:
            raise AttributeError("A regression has no classes_.")
        labels: list[Any] = self.program.classes or list(range(self.program.size("probabilities")))
        return np.array(labels)

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict the mean of a new observation, or the most probable class.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.
        return_std : bool, default=False
            Whether to return the standard deviation of a regression too, noise included.

        Returns
        -------
        mean : ndarray, (n,), with K targets (n, K); or labels : ndarray, (n,)
            The predictions.
        std : ndarray, the same shape
            Only if asked for.
        """
        X = self._checked(X)
        check_switches(return_std=return_std)
        if self.program.is_classifier:
            if return_std:
                raise ValueError("return_std is for regressions; a classification has none.")
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        if return_std and "std" not in self.program.outputs:
            raise ValueError("return_std=True, but the model was exported without it.")
        wanted = ("mean", "std") if return_std else ("mean",)
        found = self.program.only(*wanted).run(X)
        one = self.program.size("mean") == 1
        mean, *std = (found[name][:, 0] if one else found[name] for name in wanted)
        return (mean, std[0]) if return_std else mean

    def predict_proba(self, X: Any) -> Array:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n, K)
            In the order of `classes_`.
        """
        if not self.program.is_classifier:
            raise AttributeError("predict_proba is for classifications; this is a regression.")
        return self.program.run(self._checked(X))["probabilities"]

    def _checked(self, X: Any) -> Array:
        X = check_size("X", check_numbers("X", X, ensure_2d=True))
        if X.shape[1] != self.program.n_inputs:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model takes {self.program.n_inputs}."
            )
        return X
