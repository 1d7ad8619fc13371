"""What all posterior samples have: draws, inclusion probabilities, diagnostics of the chains."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._rvm.base import RelevanceVectorMachine
from sparsebayes._support.batching import batches
from sparsebayes._support.data import check_inputs
from sparsebayes._support.guesses.mixin import GuidedAttributes
from sparsebayes._support.validation import as_random_state, check_switches
from sparsebayes.basis.kernels import centres_of
from sparsebayes.sampling.arviz import as_arviz, summarise
from sparsebayes.sampling.draws import DrawnWeights, Draws
from sparsebayes.sampling.sampled_model import SampledModel

Array = np.ndarray

# A larger R-hat means that the chains disagree; usual limits are 1.01 (Vehtari et al. 2021) to 1.1.
_AGREE = 1.05
_INPUTS = 1_000_000  # numbers of the training inputs, up to which ArviZ's structure has them
_ROWS = 10  # training rows at which the predictions of the chains are compared


class BaseSamples(GuidedAttributes, ABC):
    """Draws from a posterior; of K outputs, K > 1, arrays of functions have an axis for them."""

    optimum: RelevanceVectorMachine

    def __init__(self, model: SampledModel, draws: Draws, n_chains: int, X: Array) -> None:
        self.basis = model.basis
        self.functions = model.functions
        self.n_chains = n_chains
        self.n_draws = draws.beta.size // n_chains
        self.centers = None
        if X.shape[1] == 1:
            self.centers = np.full(self.basis.n_functions_, np.nan)
            self.centers[self.basis.kinds() >= 0] = centres_of(self.basis, 1)[:, 0]
        self._observed = model.observed
        self._draws = draws
        self._norms = model.problem.norms
        self._drawn = DrawnWeights(draws)
        self._part = self.basis.select(self.functions[self._drawn.used])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_chains={self.n_chains}, n_draws={self.n_draws}, "
            f"n_functions={self.functions.size})"
        )

    @property
    @abstractmethod
    def _axes(self) -> dict[str, Array]:
        """Names and coordinates of the axes before that of the functions, if there are any."""

    @abstractmethod
    def _numbers(self) -> dict[str, Array]:
        """What has one value for each draw, or one for each output, by chain."""

    @abstractmethod
    def _predictions(self, X: Array) -> Array:
        """What the summary shows of predictions, (T, n) or (T, n, K)."""

    @abstractmethod
    def _log_likelihood(self) -> Array:
        """Of the training samples given each draw, (T, n)."""

    @abstractmethod
    def _replicates(self, rng: np.random.RandomState) -> Array:
        """New targets at the training rows given each draw, (T, n)."""

    @property
    def _dims(self) -> dict[str, list[str]]:
        names = list(self._axes)
        dims = {name: [*names, "function"] for name in ("active", "alpha", "weights")}
        rows = {"y": ["observation"], "inputs": ["observation", "input"]}
        return dims | rows | {"n_active": names, "prediction": ["row", *names]}

    @cached_property
    def data(self) -> Any:
        """What `to_arviz` gives, made once."""
        return self.to_arviz()

    def to_arviz(
        self,
        *,
        log_likelihood: bool = True,
        posterior_predictive: bool = True,
        random_state: Any = 0,
    ) -> Any:
        """The draws in ArviZ's structure, for its plots, diagnostics and comparisons.

        Group "posterior", over chain, draw and, for the first two, function (the coordinate has
        the numbers of `functions`; with more than two classes there is `class` before it):
        `active`; `weights`, a draw of them, 0 for a function that is out; `n_active`; of a
        regression, `noise_variance`. Group "sample_stats": `alpha`, over function too, which is ∞
        for a function that is out, so that diagnostics of it have no meaning; `lp`, the log density
        of data, active set and log precisions (log(α σ²/φᵀφ)) together, of a regression with σ², of
        a classification with the weights.

        Over observation, the number of a training row that has weight, `y` is in three groups:
        in "log_likelihood" that of each target given the drawn weights, times its weight; in
        "posterior_predictive" a new target at the same row; in "observed_data" the target. Labels
        are numbers there, those of `classes_`. Group "constant_data" has `inputs`, over observation
        and input, if they are no more than a million numbers.

        Parameters
        ----------
        log_likelihood, posterior_predictive : bool, default=True
            Whether to make these groups. Each holds a number for every draw and training row:
            4000 draws and 10,000 rows are 320 MB.
        random_state : int, RandomState instance or None, default=0
            Of the new targets.

        Returns
        -------
        arviz.InferenceData, or a DataTree from ArviZ 1.0 on
            What ``az.loo``, ``az.plot_ppc`` and the other functions of ArviZ take.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsebayes import RVR, sample_posterior
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> y = X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(50)
        >>> model = RVR("linear", noise=0.25)
        >>> data = sample_posterior(model, X, y, n_samples=100, random_state=0).to_arviz()
        >>> dict(data.posterior_predictive.sizes)
        {'chain': 4, 'draw': 100, 'observation': 50}
        """
        check_switches(log_likelihood=log_likelihood, posterior_predictive=posterior_predictive)
        draws, observed = self._draws, self._observed
        alpha = np.exp(draws.x) * np.repeat(draws.beta, draws.sizes) * self._norms[draws.index]
        groups = {
            "posterior": {
                "active": self._table(np.ones(draws.index.size, dtype=bool), False),
                "weights": self._table(draws.weights, 0.0),
                **self._numbers(),
            },
            "sample_stats": {
                "lp": self._shaped(draws.lp),
                "alpha": self._table(alpha, np.inf),
            },
            "observed_data": {"y": observed.targets},
        }
        if log_likelihood:
            groups["log_likelihood"] = {"y": self._shaped(self._log_likelihood())}
        if posterior_predictive:
            rng = as_random_state(random_state)
            groups["posterior_predictive"] = {"y": self._shaped(self._replicates(rng))}
        coords = {**self._axes, "function": self.functions, "observation": observed.places}
        if observed.rows.size <= _INPUTS:
            groups["constant_data"] = {"inputs": observed.rows}
            numbered = [f"x{j}" for j in range(observed.rows.shape[1])]
            coords["input"] = np.asarray(getattr(self.optimum, "feature_names_in_", numbered))
        return as_arviz(groups, coords, self._dims)

    def _table(self, values: Array, fill: float) -> Array:
        """Values of active functions, by chain and draw, over all functions."""
        table = self._draws.table(values, fill)
        axes = tuple(axis.size for axis in self._axes.values())
        return self._shaped(table.reshape(len(table), *axes, self.functions.size))

    def _shaped(self, values: Array) -> Array:
        """Draws (T, ...) by chain."""
        return values.reshape(self.n_chains, self.n_draws, *values.shape[1:])

    @property
    def inclusion(self) -> Array:
        """The probability of each function of the basis to be in the model, (n_functions,).

        With K > 2 classes of each function for each class, (K, n_functions).
        """
        draws = self._draws
        counts = np.bincount(draws.index, minlength=draws.n_functions)
        axes = tuple(axis.size for axis in self._axes.values())
        return self._over_basis(counts.reshape(*axes, self.functions.size) / draws.beta.size)

    @property
    def inclusion_of_any(self) -> Array:
        """The probability of each function to be in the model of any class, (n_functions,)."""
        draw, _, function = self._draws.places
        pairs = np.unique(np.stack([draw, function]), axis=1)
        counts = np.bincount(pairs[1], minlength=self.functions.size)
        return self._over_basis(counts / self._draws.beta.size)

    def _over_basis(self, values: Array) -> Array:
        """From values of the candidates to those of all functions of the basis."""
        share = np.zeros((*values.shape[:-1], self.basis.n_functions_))
        share[..., self.functions] = values
        return share

    def predictions(self, X: Any) -> Array:
        """Predict with each draw by itself, for diagnostics.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Inputs to predict at.

        Returns
        -------
        ndarray, (n_chains, n_draws, n), with more than two classes (..., n, K)
            Of a regression, its mean. Of a classification, the probability of the second of two
            classes, or of each class.
        """
        return self._shaped(self._predictions(check_inputs(self.optimum, X)))

    def _batches(self, n_rows: int) -> Iterator[slice]:
        """Slices of rows that keep arrays over draws and rows within the memory budget."""
        outputs = self._drawn.outputs
        return batches(n_rows, 4 * (outputs * self._draws.beta.size + self._part.n_functions_))

    def summary(self, X: Any = None) -> Any:
        """Summarise the draws by means, standard deviations and diagnostics of ArviZ.

        R-hat should be near 1.

        Parameters
        ----------
        X : array-like of shape (n, n_features), default=None
            Rows whose prediction (see `predictions`) is summarised too.

        Returns
        -------
        pandas.DataFrame
            Rows: noise_variance (of a regression), n_active, lp, and prediction[k] for each row of
            X. Columns: ArviZ's, such as mean, sd, ess_bulk, ess_tail and r_hat.
        """
        values = {**self._numbers(), "lp": self._shaped(self._draws.lp)}
        if X is not None:
            values["prediction"] = self.predictions(X)
        return self._summarised(values)

    def _summarised(self, values: dict[str, Array]) -> Any:
        return summarise(values, {name: self._dims[name] for name in values if name in self._dims})

    def warn_of_disagreement(self) -> None:
        """Warn if R-hat shows that the chains disagree, in predictions at training rows too."""
        X = self._observed.rows
        rows = np.unique(np.linspace(0, len(X) - 1, _ROWS).astype(int))
        values = {**self._numbers(), "prediction": self._shaped(self._predictions(X[rows]))}
        table = self._summarised(values)["r_hat"].astype(float)
        if table.max() > _AGREE:
            warnings.warn(
                f"The chains disagree: R-hat of {table.idxmax()} is {table.max():.2f}, and should "
                f"be below {_AGREE}. Raise n_samples or thin, and n_warmup; summary() has more.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the inclusion probabilities along the basis.

        With more than two classes, those of functions to be in the model of any class.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        sparsebayes.plots.InclusionDisplay
            The figure.
        """
        from sparsebayes.plots.inclusion import InclusionDisplay

        return InclusionDisplay.from_samples(self, ax=ax)
