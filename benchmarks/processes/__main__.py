"""``python -m benchmarks.processes``: Gaussian processes, what they cost.

Predictions of ReducedRankGPR beside those of a full process: scikit-learn's, with the kernel and
the noise that ReducedRankGPR learned, on the same rows; ratios below 1 are in our favour. Then the
methods of NoisyInputGPR. CPU seconds on one thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from benchmarks.inputs import noisy_sinc
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, timed
from sparsebayes import NoisyInputGPR, ReducedRankGPR, predict_uncertain

Array = np.ndarray

ROWS, FEATURES, POINTS = (200, 500, 1000, 2000), (1, 4, 10), (1, 1000, 10_000)
NOISY = {"stochastic_em": (50, 80, 100), "slope": (50, 80, 100, 150, 300, 1000)}
CALLS = 2000  # rows predicted for a measurement, at least
REPEATS = 3
INPUTS, SPREAD = 200, 0.1  # uncertain inputs, and their standard deviation; features lie in [−1, 1]


def bowl(n_samples: int, n_features: int, seed: int) -> tuple[Array, Array]:
    """A wave along one feature and squares of up to three others, noise 0.1."""
    rng = np.random.default_rng([n_samples, n_features, seed])
    X = rng.uniform(-1, 1, (n_samples, n_features))
    truth = np.sin(4 * X[:, 0]) + (X[:, 1:4] ** 2).sum(axis=1)
    return X, truth + 0.1 * rng.standard_normal(n_samples)


def least(calls: int, *functions: Callable[[], object]) -> list[float]:
    """CPU seconds of one call of each, by turns."""
    found = [[timed(lambda f=f: [f() for _ in range(calls)])[1] for f in functions]
             for _ in range(REPEATS)]  # fmt: skip
    return [min(column) / calls for column in zip(*found, strict=True)]


def measured(rows: int, features: int) -> Iterator[str]:
    """The cells of one line of the table."""
    X, y = bowl(rows, features, 0)
    ours, seconds = timed(ReducedRankGPR(random_state=0).fit, X, y)
    kernel = ours.kernel_ + WhiteKernel(ours.noise_variance_)
    full = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y - y.mean())
    yield from (str(rows), str(features), str(len(ours.support_)), tables.seconds(seconds))
    for points, std in product(POINTS, (False, True)):
        new = bowl(points, features, 1)[0]
        pair = least(
            max(1, CALLS // points // 10),
            lambda new=new, std=std: ours.predict(new, return_std=std),
            lambda new=new, std=std: full.predict(new, return_std=std),
        )
        yield tables.fixed(pair[0] / pair[1], 2)
    mean = bowl(INPUTS, features, 1)[0]
    (each,) = least(1, lambda: predict_uncertain(ours, mean, SPREAD**2))
    yield tables.fixed(1e3 * each / INPUTS, 2)


def predictions(options: argparse.Namespace) -> None:
    """Print a line for each number of rows and features."""
    header = ["rows", "features", "support", "fit, s"]
    for points in POINTS:
        header += [f"mean, n = {points}", f"std, n = {points}"]
    sizes = product(options.rows, options.features)
    print(
        tables.table((*header, "uncertain input, ms"), [tuple(measured(*each)) for each in sizes])
    )


def noisy(options: argparse.Namespace) -> None:
    """Print medians over draws for each method and number of samples."""
    lines = []
    for method, sizes in NOISY.items():
        for size in sizes:
            draws = []
            for seed in range(options.draws):
                X, y, new, target = noisy_sinc(size, seed)
                model = NoisyInputGPR(input_noise=1.0, method=method, random_state=0)
                _, seconds = timed(model.fit, X, y)
                mean, std = model.predict(new, return_std=True)
                truth = np.sinc(new[:, 0] / np.pi)
                error = np.sqrt(np.mean((mean - truth) ** 2))
                draws.append((seconds, norm.logpdf(target, mean, std).mean(), error))
            middle = np.median(draws, axis=0)
            cells = (tables.fixed(value, 3) for value in middle)
            lines.append((method, str(size), *cells))
            print("measured:", *lines[-1], file=sys.stderr, flush=True)
    print(tables.table(("method", "samples", "fit, s", "log density", "error"), lines))


PARTS = {"predictions": predictions, "noisy": noisy}


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args(arguments)
    with one_thread():
        for name, part in PARTS.items():
            if options.only in (None, name):
                part(options)


if __name__ == "__main__":
    main()
