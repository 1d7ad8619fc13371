"""``python -m benchmarks.many_rows``: a hundred thousand rows, more candidates, products, memory.

CPU seconds of one thread. The error is the root mean square difference from the function without
noise, at other inputs; the noise has variance 1.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from sklearn import config_context
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from sparsebayes import RVC, RVR, Statistics, datasets
from sparsebayes.basis import RBF
from sparsebayes.engine import (
    Dense,
    Exact,
    Flat,
    Gaussian,
    Policy,
    Sequential,
    Solution,
    Solver,
    run,
)

Array = np.ndarray
SCALES = np.array([0.8, 0.8, 0.9, 3.0, 4.0, *[30.0] * 5])  # about those learned, Friedman's first
NESTED = (250, 500, 1000, 2000)
SEQUENTIAL = Sequential()
EQUAL = Sequential(Policy(route_share=0.0, search_share=0.0))  # with the search that rows have


def solved(problem: Exact, solver: Solver = SEQUENTIAL) -> tuple[Solution, float]:
    """The end of a solver, and the time it took."""
    before = time.process_time()
    tol = 0.01 * max(1.0, problem.n_samples / 1000.0)
    end = run(solver, problem, max_iter=10_000, tol=tol, rng=np.random.default_rng(0))
    return end, time.process_time() - before


def default_fit(n_rows: int) -> None:
    """`RVR()` on Friedman's first function."""
    X, y, _ = datasets.make_friedman1(n_rows, random_state=0)
    before = time.process_time()
    model = RVR().fit(X, y)
    seconds = time.process_time() - before
    Xt, yt, ft = datasets.make_friedman1(10_000, random_state=1)
    mean, std = model.predict(Xt, return_std=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"RVR() on {n_rows} x 10: {seconds:.1f} s, {memory:.2f} GB, {model.approximation_}")
    print(
        f"  {len(model.relevance_)} functions, error {np.sqrt(np.mean((mean - ft) ** 2)):.4f}, "
        f"95 % intervals cover {100 * np.mean(np.abs(yt - mean) < 1.96 * std):.1f} %"
    )


def waves(n_rows: int) -> tuple[Array, Array, Array]:
    """A rough function of two inputs of four."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, (n_rows, 4))
    y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + X[:, 2] ** 2 / 18
    return X, y + 0.3 * rng.standard_normal(n_rows), np.array([0.9, 1.2, 3.0, 30.0])


def labels(n_rows: int) -> None:
    """`RVC()` on moons."""
    X, y = make_moons(n_rows, noise=0.3, random_state=0)
    Xt, yt = make_moons(10_000, noise=0.3, random_state=1)
    for link in ("auto", "logit"):
        before = time.process_time()
        model = RVC(link=link).fit(X, y)
        seconds = time.process_time() - before
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        loss = log_loss(yt, model.predict_proba(Xt))
        print(
            f"RVC(link={link!r}) on {n_rows} moons: {seconds:.1f} s, {memory:.2f} GB, "
            f"{model.approximation_}\n  {model.link_}, {len(model.relevance_)} functions, error "
            f"{100 * np.mean(model.predict(Xt) != yt):.2f} %, log loss {loss:.4f}",
            flush=True,
        )


def rough_function() -> None:
    """KIN40K, 10,000 rows: fewer centres beside all rows."""
    data = datasets.load_benchmark("kin40k")
    X, Xt = data["X_train"], data["X_test"]
    y, yt = data["y_train"].ravel(), data["y_test"].ravel()
    print("KIN40K, 10,000 rows")
    for centres in (1000, 2000, 2500, len(X)):
        before = time.process_time()
        model = RVR(RBF(centres=centres), calibrate=None).fit(X, y)
        seconds = time.process_time() - before
        error = np.sqrt(np.mean((model.predict(Xt) - yt) ** 2))
        print(
            f"  {centres} centres: {seconds:.1f} s, error {error:.4f}, {len(model.relevance_)} "
            "functions",
            flush=True,
        )


def sets(n_rows: int) -> dict[str, tuple[Array, Array, Array]]:
    """Inputs, targets and length scales."""
    found = {}
    for name, width in (("friedman1", 1.0), ("friedman1, narrow", 0.6)):
        X, y, _ = datasets.make_friedman1(n_rows, random_state=len(found))
        found[name] = X, y, width * SCALES
    found["waves"] = waves(n_rows)
    X, y, _ = datasets.make_friedman2(n_rows, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scales = RVR(calibrate=None).fit(X[:1500], y[:1500]).length_scale_
    found["friedman2"] = X, y / y.std(), scales
    return found


def more_candidates(n_rows: int) -> None:
    """The evidence with more and more candidates of one draw."""
    print(f"evidence of {n_rows} rows above that with {NESTED[0]} candidates (functions, seconds)")
    for name, (X, y, scales) in sets(n_rows).items():
        points = X[np.random.default_rng(0).permutation(n_rows)[: NESTED[-1]]]
        whole = Statistics(RBF(scales, centres=points)).update(X, y).problem()
        told, first = [], None
        for size in NESTED:
            end, seconds = solved(whole.restrict(np.arange(size)))
            first = end.state.evidence if first is None else first
            gain = end.state.evidence - first
            told.append(f"{size}: {gain:.1f} ({end.state.active.size}, {seconds:.1f})")
        print(f"  {name}: {', '.join(told)}", flush=True)


def products_once() -> None:
    """Fits with and without all products formed once, the same search, the median of three."""
    print("rows, candidates, width: time without and with products formed once")
    for n_rows, size in ((2000, 500), (4000, 250), (4000, 1000), (8000, 500), (20_000, 500)):
        X, y, _ = datasets.make_friedman1(n_rows, random_state=0)
        for name, scales in (("learned", SCALES), ("narrow", np.full(10, 0.5))):
            columns = RBF(scales).fit(X[:size]).columns(X)
            sites = Gaussian(y - y.mean(), np.ones(n_rows))
            times: list[list[float]] = [[], []]
            ends = []
            for _ in range(3):
                for kind in range(2):
                    problem = Exact(Dense(columns), Flat(), sites)
                    if kind == 0:
                        problem.design = Dense(columns)
                    end, seconds = solved(problem, EQUAL)
                    times[kind].append(seconds)
                    ends.append(set(end.state.active.tolist()))
            plain, once = np.median(times, axis=1)
            same = "same functions" if all(end == ends[0] for end in ends) else "other functions"
            print(
                f"  {n_rows}, {size}, {name}: {plain:.2f} and {once:.2f} s, ratio "
                f"{plain / once:.2f}, {same}",
                flush=True,
            )


def plain_sets(n_rows: int) -> dict[str, tuple[Array, Array, float | Array]]:
    """Inputs, targets and the widths of a kernel at every row."""
    found: dict[str, tuple[Array, Array, float | Array]] = {}
    makers = (datasets.make_friedman1, datasets.make_friedman2, datasets.make_friedman3)
    for make, width in zip(makers, (np.sqrt(5.0), 2.0, 1.5), strict=True):
        X, y, _ = make(n_rows, random_state=0)
        found[make.__name__[5:]] = (X - X.mean(axis=0)) / X.std(axis=0), y / y.std(), width
    found["waves"] = waves(n_rows)
    rng = np.random.default_rng(6)
    X = rng.uniform(-10, 10, (n_rows, 2))
    y = np.sinc(np.hypot(X[:, 0], X[:, 1]) / np.pi) + 0.1 * rng.standard_normal(n_rows)
    found["sinc"] = X, y, 2.0
    return found


def memory(n_rows: int, only: str | None = None) -> None:
    """Plain fits with a kernel at every row, with the working memory of before and four times."""
    print(
        f"evidence of {n_rows} rows with four times the working memory, and without it above that"
    )
    for name, (X, y, scales) in plain_sets(n_rows).items():
        if only not in (None, name):
            continue
        told = []
        for factor in (4, 1):
            with config_context(working_memory=1024 * factor):
                before = time.process_time()
                model = RVR(RBF(scales, centres=n_rows), adapt=None, calibrate=None).fit(X, y)
                told.append((model.log_evidence_, time.process_time() - before))
        (much, longer), (own, seconds) = told
        print(
            f"  {name}: {much:.1f} ({longer:.1f} s), {own - much:.1f} ({seconds:.1f} s, "
            f"{len(model.relevance_)} functions)",
            flush=True,
        )


PARTS = ("fit", "labels", "rough", "candidates", "products", "memory")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_rows", description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.only in (None, "fit"):
            default_fit(arguments.rows)
        if arguments.only in (None, "labels"):
            labels(arguments.rows)
        if arguments.only in (None, "rough"):
            rough_function()
        if arguments.only in (None, "candidates"):
            more_candidates(arguments.rows)
        if arguments.only in (None, "products"):
            products_once()
        if arguments.only in (None, "memory"):
            memory(10_000)
            memory(20_000, "friedman1")
