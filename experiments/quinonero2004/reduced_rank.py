"""QC04 Table 3.1, Figs. 3.1 and 3.2: reduced-rank Gaussian processes, KIN40K.

The thesis splits KIN40K into 10 disjoint sets of 2000 training and 2000 test cases, and uses 512
support inputs. It calls the fixed hyperparameters of SGGP and SGEV "carefully selected" and says
no more; here they are learned with a random support set (of at most 4000 of the training
cases), not the one of HPEV-rand. This was one of three choices tried on one set. Those of a full
process on 1000 cases, whose noise is far lower, give smaller errors (MSE 0.0030, augmented) but an
NTL of -0.12 for SGGP, in the units below. The sets of 36000 cases are repeated a fifth as often.
On these HPEV-rand ends below the thesis' evidence; on 10000 of the cases, four different starts
led to the same optimum.

The stored targets have unit variance; those of the thesis are in units it does not state. `UNIT`,
their standard deviation there, is taken from another of its tables: Table 2.4 has 0.0024 (squared
error), 0.0334 (absolute error) and -1.7446 (negative log density) for a full Gaussian process
on sets of the same sizes. A full process on two sets of ours has these in units of 0.209, 0.203
and 0.207. In these units the errors and evidences of Table 3.1 come out too, but its negative log
densities (NTL) are all about ½ log 2π = 0.919 higher than the errors beside them imply. The
paper's column has them less this constant, and so they are compared: as printed, all of ours would
be far below them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import ttest_rel
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from experiments._report import (
    BLUE,
    GREY,
    ORANGE,
    Options,
    Report,
    new_figure,
    repeat,
)
from sparsebayes import ReducedRankGPR
from sparsebayes.datasets import load_benchmark, make_sinc
from sparsebayes.gp.support import Model, evaluate, select

Array = np.ndarray

UNIT = 0.206  # standard deviation of KIN40K's targets in the thesis
SHIFT = 0.5 * np.log(2 * np.pi)
SIZES = {False: (2000, 512), True: (500, 128)}  # cases and support inputs; --quick
TUNED = 4000  # cases at most for the fixed hyperparameters
GAP = 0.025
LEVEL = 0.01  # of the t-tests
AROUND = 5, 15  # what is called "around 8 to 10" support inputs

LOSSES = ("MAE", "MSE", "NTL")
# evidence (negative, per case), then losses without and with the extra weight
SMALL = {
    "SGGP": (None, 0.0481, 0.0048, -0.3525, 0.0460, 0.0045, -0.4613),
    "SGEV": (-1.1555, 0.0484, 0.0049, -0.3446, 0.0463, 0.0045, -0.4562),
    "HPEV-rand": (-1.0978, 0.0503, 0.0047, -0.3694, 0.0486, 0.0045, -0.4269),
    "HPEV-SGEV": (-1.3234, 0.0425, 0.0036, -0.4218, 0.0404, 0.0033, -0.5918),
    "HPEV-SGGP": (-1.3274, 0.0425, 0.0036, -0.4217, 0.0405, 0.0033, -0.5920),
}
LARGE = {
    "SGEV": (-1.4932, 0.0371, 0.0028, -0.6223, 0.0346, 0.0024, -0.6672),
    "HPEV-rand": (-1.5378, 0.0363, 0.0026, -0.6417, 0.0340, 0.0023, -0.7004),
}
KINDS = ("non-augmented", "augmented")
COLUMNS = (
    "negative log evidence per case",
    *(f"{loss}, {kind}" for kind, loss in product(KINDS, LOSSES)),
)
SELECTION = {"SGGP": "posterior", "SGEV": "evidence", "rand": "random"}


def fit(
    method: str, X: Array, y: Array, n_support: int, seed: int, fixed: ReducedRankGPR
) -> ReducedRankGPR:
    """One of the methods of Table 3.1; some take the hyperparameters of `fixed`."""
    selection = SELECTION[method.removeprefix("HPEV-")]
    model = ReducedRankGPR(
        n_support=n_support, selection=selection, random_state=seed, calibrate=None
    )
    if not method.startswith("HPEV-"):
        model.set_params(kernel=fixed.kernel_, noise=fixed.noise_variance_, optimize=False)
    return model.fit(X, y)


def losses(mean: Array, std: Array, y: Array) -> list[float]:
    """Mean absolute error, mean squared error, negative log density."""
    error = y - mean
    density = np.log(std) + 0.5 * (error / std) ** 2 + SHIFT
    return [float(np.mean(v)) for v in (np.abs(error), error**2, density)]


def nystrom_variances(model: ReducedRankGPR, X: Array) -> Array:
    """Predictive variances of the Nyström approximation (3.39), its sign corrected."""
    kernel, noise, Z = model.kernel_, model.noise_variance_, model.support_vectors_
    square = kernel(Z)
    square[np.diag_indices_from(square)] *= 1 + 1e-10
    lower = np.linalg.cholesky(square)
    rows = solve_triangular(lower, kernel(Z, model.X_train_), lower=True)
    inner = np.linalg.cholesky(np.eye(len(Z)) + rows @ rows.T / noise)
    cross = kernel(model.X_train_, X)
    inside = solve_triangular(inner, rows @ cross, lower=True) / np.sqrt(noise)
    explained = ((cross**2).sum(axis=0) - (inside**2).sum(axis=0)) / noise
    return noise + kernel.diag(X) - explained


def one(methods: tuple[str, ...], part: tuple, n_support: int, seed: int) -> tuple[Array, float]:
    """A row of `COLUMNS` for each method, and how many Nyström variances are negative."""
    X, y, X_test, y_test = part
    table, negative = [], np.nan
    fixed = ReducedRankGPR(
        n_support=n_support, selection="random", random_state=seed + 1000, calibrate=None
    )
    fixed.fit(X[:TUNED], y[:TUNED])
    for method in methods:
        model = fit(method, X, y, n_support, seed, fixed)
        row = [-model.log_evidence_ / len(y)]
        for extra in (False, True):
            model.set_params(augment=extra)
            row += losses(*model.predict(X_test, return_std=True), y_test)
        table.append(row)
        if method == "HPEV-SGEV":
            negative = float(np.mean(nystrom_variances(model, X_test) < 0))
    return np.array(table), negative


def in_paper_units(table: Array) -> Array:
    """Multiply the targets by `UNIT`."""
    scaled = table.copy()
    scaled[..., [0, 3, 6]] += np.log(UNIT)
    scaled[..., [1, 4]] *= UNIT
    scaled[..., [2, 5]] *= UNIT**2
    return scaled


def run(options: Options) -> Report:
    """Make both parts of the table, the two figures, and the tests."""
    count = options.count(10, 1)
    data = load_benchmark("kin40k")
    X = np.concatenate([data["X_train"], data["X_test"]]).astype(float)
    y = np.concatenate([np.ravel(data["y_train"]), np.ravel(data["y_test"])]).astype(float)
    order = np.random.default_rng(options.seed).permutation(len(y))
    X, y = X[order], y[order]
    size, n_support = SIZES[options.quick]
    report = Report(f"QC04 Table 3.1: KIN40K, {size} training cases, {n_support} support inputs")
    parts = np.split(np.arange(20 * (len(y) // 20)), 20)
    small = [
        (tuple(SMALL), _part(X, y, a[:size], b[:size]), n_support, options.seed + i)
        for i, (a, b) in enumerate(zip(parts[::2], parts[1::2], strict=True))
    ][:count]
    _table(report, SMALL, repeat(one, small, jobs=options.jobs, label="small sets"), "")
    if options.quick:
        report.note("--quick: smaller sets than the paper's; its numbers cannot be compared.")
    else:
        folds = np.split(np.arange(10 * (len(y) // 10)), 10)
        large = [
            (tuple(LARGE), _part(X, y, np.setdiff1d(order, f), f), n_support, options.seed + i)
            for i, f in enumerate(folds)
        ][: max(1, count // 5)]
        _table(
            report,
            LARGE,
            repeat(one, large, jobs=options.jobs, label="large sets"),
            "36000 cases, ",
        )
    report.note(
        f"QC04 Table 3.1: targets in units in which their standard deviation is {UNIT:g}, taken "
        "from the thesis' Table 2.4. The printed NTL are ½ log 2π too high for the printed errors "
        f"beside them and are compared less {SHIFT:.3f}. SGGP and SGEV have hyperparameters "
        "learned with another random support set, since the thesis calls its own 'carefully "
        "selected' and says no more; the sets of 36000 cases are repeated a fifth as often."
    )
    report.row = "QC04 Fig. 3.1"
    report.draw(_degenerate(report), "fig1")
    report.row = "QC04 Fig. 3.2"
    count = options.count(20, 2)
    tasks = [(options.seed, i) for i in range(count)]
    _sparsity(report, repeat(sparsity, tasks, jobs=options.jobs, label="Fig. 3.2"))
    return report


def _part(X: Array, y: Array, train: Array, test: Array) -> tuple[Array, ...]:
    return X[train], y[train], X[test], y[test]


def _table(report: Report, paper: dict, results: list, label: str) -> None:
    raw = np.array([table for table, _ in results])  # repetition, method, column
    ours = in_paper_units(raw)
    report.row = "QC04 Table 3.1"
    for i, (method, printed) in enumerate(paper.items()):
        for j, column in enumerate(COLUMNS):
            value = printed[j]
            if value is not None and "NTL" in column:
                value -= SHIFT
            report.add(f"{label}{method}: {column}", value, ours[:, i, j], best="low")
    _claims(report, tuple(paper), ours, label)
    _tests(report, tuple(paper), ours, label)
    values = np.array([row for row in paper.values() if row[0] is not None], dtype=float)
    rows = [i for i, row in enumerate(paper.values()) if row[0] is not None]
    ratio = values / raw.mean(axis=0)[rows]
    scales = (
        np.exp(np.mean(values[:, 0] - raw.mean(axis=0)[rows, 0])),
        np.mean(ratio[:, [1, 4]]),
        np.mean(np.sqrt(ratio[:, [2, 5]])),
        np.exp(np.mean((values - raw.mean(axis=0)[rows])[:, [3, 6]]) - SHIFT),
    )
    report.note(
        f"{label}the targets' standard deviation that would make our figures the paper's: by the "
        "evidence {:.3f}, MAE {:.3f}, MSE {:.3f}, NTL less the constant {:.3f}.".format(*scales)
    )
    negative = [share for _, share in results]
    if not np.isnan(negative).any():
        report.note(
            "Nyström predictor (3.39) on HPEV-SGEV's support: "
            f"{100 * np.mean(negative):.1f} % of its predictive variances are negative."
        )


def significant(lower: Array, higher: Array) -> list[bool]:
    """Whether the first is below the second in each loss, by a paired t-test where that can be."""
    return [
        a.mean() < b.mean() and (len(a) < 3 or ttest_rel(a, b).pvalue < LEVEL)
        for a, b in zip(lower.T, higher.T, strict=True)
    ]


def _claims(report: Report, methods: tuple[str, ...], ours: Array, label: str) -> None:
    """What the text says of the table, by paired t-tests."""
    count, plain, extra = len(ours), ours[:, :, 1:4], ours[:, :, 4:]
    level = f"p < {LEVEL:g}" if count > 2 else "by the means"
    every = range(len(methods))
    report.claim(
        f"{label}augmented beats non-augmented in all losses and methods, {level}",
        all(all(significant(extra[:, i], plain[:, i])) for i in every), count,
    )  # fmt: skip
    if len(methods) != len(SMALL):
        return
    for kind, values in (("non-augmented", plain), ("augmented", extra)):
        report.claim(
            f"{kind}: HPEV-SGEV and HPEV-SGGP beat the other three in all losses, {level}",
            all(all(significant(values[:, i], values[:, j])) for i in (3, 4) for j in range(3)),
            count,
        )
        if count < 3:
            continue
        for group in ((0, 1, 2), (3, 4)):
            apart = [
                any(significant(values[:, i], values[:, j]))
                for i in group for j in group if i != j
            ]  # fmt: skip
            names = ", ".join(methods[i] for i in group)
            report.claim(f"{kind}: {names} do not differ (no {level})", not any(apart), count)


def _tests(report: Report, methods: tuple[str, ...], ours: Array, label: str) -> None:
    """Orderings of the means, and paired t-tests."""

    def verdict(name: str, lower: Array, higher: Array) -> None:
        wins = [
            f"{loss} {'yes' if a.mean() < b.mean() else 'NO'}"
            + (f" (p {ttest_rel(a, b).pvalue:.1g})" if len(a) > 1 else "")
            for loss, a, b in zip(LOSSES, lower.T, higher.T, strict=True)
        ]
        report.note(f"{label}{name}: {', '.join(wins)}")

    for i, method in enumerate(methods):
        verdict(f"{method}, augmented beats non-augmented", ours[:, i, 4:], ours[:, i, 1:4])
    if len(methods) == len(SMALL):
        for i, j in product((3, 4), range(3)):
            verdict(f"{methods[i]} beats {methods[j]}, augmented", ours[:, i, 4:], ours[:, j, 4:])


def _degenerate(report: Report):
    """Fig. 3.1: with all inputs as support, with and without the extra weight."""
    X = np.array([-5.0, -3.0, -0.5, 2.0, 4.5])[:, None]
    grid = np.linspace(-15, 15, 400)[:, None]
    kernel = ConstantKernel(1.0) * RBF(1.0)
    figure = new_figure(7, 3.5)
    ax = figure.subplots()
    model = ReducedRankGPR(kernel, optimize=False, noise=1.0, calibrate=None).fit(
        X, np.sin(X[:, 0])
    )
    for extra, label, style in ((True, "full GP", "-"), (False, "degenerate GP", "-.")):
        std = model.set_params(augment=extra).predict(grid, return_std=True)[1]
        near = model.predict(X, return_std=True)[1]
        ax.plot(grid[:, 0], std, style, color=BLUE if extra else ORANGE, label=label)
        report.add(f"{label}: std at x = 15", None, std[-1])
        report.add(f"{label}: std at the training inputs", None, near.mean())
        if extra:
            report.claim("full GP: more certain near the training inputs than far away",
                         near.max() < std[[0, -1]].min())  # fmt: skip
        else:
            report.claim("degenerate GP: less certain near the training inputs than far away",
                         near.min() > std[[0, -1]].max())  # fmt: skip
            report.claim("degenerate GP: far away the noise alone is left (to 1 %)",
                         np.allclose(std[[0, -1]], 1.0, rtol=0.01))  # fmt: skip
    ax.plot(X[:, 0], np.full(len(X), 0.95), "x", color="black", label="training inputs")
    ax.set(xlabel="x", ylabel="predictive standard deviation")
    ax.legend(frameon=False)
    return figure


def sparsity(seed: int, repetition: int) -> dict[str, Array]:
    """Fig. 3.2 for one draw: evidence, test errors and bounds by the size of the support set."""
    rng = np.random.default_rng([seed, repetition])
    X, y, _ = make_sinc(100, noise=0.1, random_state=rng)
    grid, _, truth = make_sinc(1000, noise=0.0, low=-12, high=12)
    model = Model(ConstantKernel(1.0) * RBF(1.0), X, y, np.empty(0, dtype=int), 0.01)
    found = {}
    for by_evidence, name in ((True, "evidence"), (False, "posterior")):
        support, path = select(
            model,
            100,
            by_evidence=by_evidence,
            n_search=100,
            rng=np.random.RandomState(seed),
            candidates=np.arange(100),
        )
        sizes = range(1, len(support) + 1)
        found[f"error by {name}"] = np.array(
            [_error(model, support[:m], grid, truth) for m in sizes]
        )
        if by_evidence:
            found["loss"] = -path
        else:
            found["bounds"] = np.array([_bounds(model, support[:m]) for m in sizes])
    return found


def _sparsity(report: Report, draws: list[dict[str, Array]]) -> None:
    """Fig. 3.2: evidence, test error and the gap over the size of the support set."""
    least = {
        name: np.array([1 + int(np.argmin(draw[key])) for draw in draws])
        for name, key in (
            ("support size of least test error, by evidence (SGEV)", "error by evidence"),
            ("support size of least test error, by posterior (SGGP)", "error by posterior"),
            ("support size of greatest evidence", "loss"),
        )
    }
    low, high = AROUND
    of = len(draws)
    for name, values in least.items():
        report.add(name, "around 8 to 10", values)
        middle = np.median(values)
        report.claim(f"{name}: around 8 to 10 ({low} to {high}) at the median",
                     bool(low <= middle <= high), of)  # fmt: skip
    for name in ("evidence", "posterior"):
        rises = [draw[f"error by {name}"][-1] > draw[f"error by {name}"].min() for draw in draws]
        report.shown(f"by {name}: the test error rises again for larger sets", rises)
    gaps = [_gap(draw["bounds"]) for draw in draws]
    report.claim(
        "the gap always falls: it is nowhere wider than before, on any draw",
        all(np.all(np.diff(gap) <= 1e-6) for gap in gaps), of,
    )  # fmt: skip
    first = [1 + int(np.argmax(gap < GAP)) for gap in gaps if np.any(gap < GAP)]
    if first:
        report.add(f"support size at which the gap is below {GAP:g}, where it is", None, first)
    report.note(
        f"Fig. 3.2: the gap is below {GAP:g} on {len(first)} of {of} draws, before further columns "
        f"are lost in rounding (at a support of {min(map(len, gaps))} or more)."
    )
    report.draw(_figure_sparsity(draws[0]), "fig2")


def _gap(bounds: Array) -> Array:
    return 2 * (bounds[:, 0] - bounds[:, 1]) / -bounds.sum(axis=1)


def _figure_sparsity(draw: dict[str, Array]):
    figure = new_figure(8, 6)
    top, bottom = figure.subplots(2, 1, sharex=True)
    right = top.twinx()
    for name, style in (
        ("evidence (SGEV)", {"color": GREY}),
        ("posterior (SGGP)", {"color": "black", "linestyle": "--"}),
    ):
        errors = draw[f"error by {name.split()[0]}"]
        sizes = np.arange(1, len(errors) + 1)
        top.plot(sizes, errors, label=f"test error, by {name}", **style)
    right.plot(np.arange(1, len(draw["loss"]) + 1), draw["loss"], color=BLUE)
    bounds = draw["bounds"]
    below = _gap(bounds) < GAP
    bottom.plot(sizes, bounds[:, 0], color=ORANGE, label="upper bound")
    bottom.plot(sizes, bounds[:, 1], color=BLUE, label="lower bound")
    if below.any():
        bottom.axvline(1 + int(np.argmax(below)), color=GREY, linestyle=":", label=f"gap < {GAP:g}")
    top.set(ylabel="mean squared test error", yscale="log")
    top.legend(frameon=False, loc="upper right")
    right.set_ylabel("negative log evidence", color=BLUE)
    bottom.set(xlabel="size of the support set", ylabel="negative log posterior")
    bottom.legend(frameon=False)
    return figure


def _error(model: Model, support: Array, grid: Array, truth: Array) -> float:
    state = evaluate(replace(model, support=support))[0]
    weights = solve_triangular(state.factor, state.latent, lower=True, trans=1)
    return float(np.mean((model.kernel(grid, model.X[support]) @ weights - truth) ** 2))


def _bounds(model: Model, support: Array) -> tuple[float, float]:
    """Smola and Bartlett's bounds on the minimum of the full negative log posterior (3.34)."""
    kernel, X, y, _, noise = model.parts
    columns = kernel(X, X[support])
    square = columns[support]
    inner = columns.T @ columns + noise * square
    fitted = columns.T @ y
    upper = -0.5 * fitted @ np.linalg.lstsq(inner, fitted, rcond=1e-14)[0]
    dual = square + noise * np.eye(len(support))
    lower = -0.5 * y @ y + 0.5 * noise * y[support] @ np.linalg.solve(dual, y[support])
    return float(upper), float(lower)
