"""The models of smoothing as one Gaussian of all values, built step by step."""

import numpy as np

from sparsebayes.forecasting.candidates.innovations import Gains, LevelState, SmoothingDesign


def gains(level, slope=0.0, season=0.0, damping=0.0, seasonal=True):
    """One model."""
    trend = 0 if damping == 0.0 else 2 if damping == 1.0 else 1
    columns = [[level], [slope], [season], [damping]]
    return Gains(*map(np.array, columns), np.array([trend]), np.array([seasonal]))


def proper_start(size, rng, trending=True):
    """A distribution of the first state that is neither sure nor wide."""
    root = rng.standard_normal((size, size)) / np.sqrt(size)
    mean, cov = rng.standard_normal(size), root @ root.T + 0.3 * np.eye(size)
    if not trending:
        mean[1] = cov[1] = 0.0
        cov[:, 1] = 0.0
    return LevelState(mean[None], cov[None])


def value_map(gain, design):
    """How values follow from the first state and the errors, (N, k + N)."""
    size, count = design.size, len(design.rows)
    move = np.eye(size)
    move[0, 1] = move[1, 1] = gain.damping[0]
    state, rows = np.hstack([np.eye(size), np.zeros((size, count))]), []
    for t in range(count):
        state = move @ state
        seen = np.concatenate([[1.0, 0.0], design.rows[t]])
        error = np.zeros(size + count)
        error[size + t] = 1.0
        rows.append(seen @ state + error)
        push = [gain.level, gain.slope, gain.season[0] * design.shares[t]]
        state = state + np.outer(np.concatenate(push), error)
    return np.array(rows)


def joint(gain, design, start, noise=1.0):
    """Mean and covariance of all values; errors have variance `noise`, states that times `start`.

    The covariance of a state is in units of that of the errors.
    """
    paths = value_map(gain, design)
    size, count = design.size, len(design.rows)
    spread = np.zeros((size + count, size + count))
    spread[:size, :size] = start.cov[0]
    spread[size:, size:] = np.eye(count)
    return paths[:, :size] @ start.mean[0], noise * paths @ spread @ paths.T


def conditional(mean, cov, known, values):
    """Mean and covariance of the rest, given the values at `known`."""
    rest = ~known
    gain = np.linalg.solve(cov[np.ix_(known, known)], cov[np.ix_(known, rest)]).T
    middle = mean[rest] + gain @ (values[known] - mean[known])
    return middle, cov[np.ix_(rest, rest)] - gain @ cov[np.ix_(known, rest)]


def design_of(seasons, count, n_inputs=0, seed=0):
    inputs = np.random.default_rng(seed).standard_normal((count, n_inputs))
    inputs[::3] = 0.0  # such places are left out of the sums
    return SmoothingDesign.of(seasons, np.arange(count), inputs)
