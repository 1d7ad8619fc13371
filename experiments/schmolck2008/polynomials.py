"""S08 Fig. 2.2: Sinc by polynomials, smoothed by their number or by a weight penalty.

20 samples of Sinc at equal distances, both ends included; ``φ_m(x) = x^(m−1)``, m = 1, …, M. On
the left M is 3, 9 or 20, by least squares (2.11); on the right M is 20 and the squared weights
have the price α in ``(ΦᵀΦ + αI)⁻¹ Φᵀt`` (2.17). S08 shows one draw of a noise that it does not
tell, nor does it tell the unit of x, on which the meaning of α depends. So the statement about α
is asked of three units: x standardised, from −1 to 1, and from −10 to 10, as S08's Sinc is drawn
elsewhere. Noise is drawn many times at several ratios of the signal's standard deviation to that
of the noise, the SNR; 5 is the one that S08 uses for Sinc where it looks for local minima. Errors
are against Sinc itself, at 200 points between the ends. The picture has standardised x.
"""

from __future__ import annotations

import numpy as np

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, number, repeat
from experiments.schmolck2008._data import noisy

Array = np.ndarray

ROW = "S08 Fig. 2.2"
N = 20
NUMBERS = (3, 9, 20)  # of functions, printed
PENALTIES = (0.0, 0.23, 2.0)  # printed
RATIOS = (2.0, 5.0, 7.0)  # SNR: those of S08's other figures of Sinc
MAIN = 5.0
GRID = np.concatenate([[0.0], 10.0 ** np.linspace(-8.0, 8.0, 65)])  # of penalties
DRAWN = "x standardised"
STANDARD = 1.0 / np.linspace(-1.0, 1.0, N).std()  # where it ends then
UNITS = {DRAWN: STANDARD, "x from −1 to 1": 1.0, "x from −10 to 10": 10.0}
HIGHEST = 15
DENSE = 200


def sinc(x: Array) -> Array:
    """For x from −1 to 1, which stand for −10 to 10."""
    return np.sinc(10.0 * x / np.pi)


def powers(x: Array, count: int) -> Array:
    """1, x, x², …"""
    return np.vander(x, count, increasing=True)


def fitted(
    x: Array, t: Array, new: Array, count: int, penalty: float = 0.0, end: float = 1.0
) -> Array:
    """The polynomial of `count` functions that fits best, at new points.  # S08 (2.11), (2.17)

    x is from −1 to 1; the penalty is on the weights for an x from −`end` to `end`.
    """
    columns = powers(x, count)
    rows = np.sqrt(penalty) * np.diag(end ** -np.arange(count, dtype=float))
    weights = np.linalg.lstsq(np.vstack([columns, rows]), np.append(t, np.zeros(count)), None)[0]
    return powers(new, count) @ weights


def one(ratio: float, seed: int, repetition: int) -> tuple[Array, Array]:
    """Errors for 1 to 20 functions; for each unit, for the penalties printed and of the grid."""
    x, new = np.linspace(-1.0, 1.0, N), np.linspace(-1.0, 1.0, DENSE)
    t = noisy(sinc(x), ratio, np.random.default_rng([seed, repetition]))
    truth = sinc(new)

    def error(count: int, penalty: float = 0.0, end: float = 1.0) -> float:
        return float(np.mean((fitted(x, t, new, count, penalty, end) - truth) ** 2))

    by_number = [error(count) for count in range(1, N + 1)]
    by_penalty = [[error(N, a, end) for a in (*PENALTIES, *GRID)] for end in UNITS.values()]
    return np.array(by_number), np.array(by_penalty)


def run(options: Options) -> Report:
    """Compare the errors, and draw the first samples."""
    report = Report("S08 Fig. 2.2: Sinc by polynomials")
    count = options.count(1000, 20)
    drawn = {}
    for ratio in RATIOS:
        tasks = [(ratio, options.seed, k) for k in range(count)]
        results = repeat(one, tasks, jobs=options.jobs, label=f"SNR {ratio:g}")
        drawn[ratio] = [np.array(values) for values in zip(*results, strict=True)]
    for ratio, (by_number, by_penalty) in drawn.items():
        report.row = ROW if ratio == MAIN else ""
        told = "" if ratio == MAIN else f"SNR {ratio:g}, "
        for m in NUMBERS:
            median = float(np.median(by_number[:, m - 1]))
            report.add(f"{told}M = {m}: median MSE", None, median, count)
        least = np.argmin(by_number, axis=1) + 1
        report.add(f"{told}median of the best M", "9", float(np.median(least)), count)
        for unit, errors in zip(UNITS, np.moveaxis(by_penalty, 1, 0), strict=True):
            for column, penalty in enumerate(PENALTIES):
                median = float(np.median(errors[:, column]))
                name = f"{told}M = 20, α = {penalty:g}, {unit}: median MSE"
                report.add(name, None, median, count)
            best = float(np.median(_best(errors)))
            report.add(f"{told}{unit}: median of the best α", "0.23", best, count)
        if ratio == MAIN:
            _claims(report, by_number, by_penalty)
    report.row = ROW
    report.draw(_figure(options.seed))
    return report


def _best(errors: Array) -> Array:
    """The best α of the grid, of each draw."""
    return GRID[np.argmin(errors[:, len(PENALTIES) :], axis=1)]


def _middle(errors: Array) -> Array:
    """Whether α = 0.23 has the least error of those printed, in each draw."""
    none, middle, high = errors[:, : len(PENALTIES)].T
    return (middle < none) & (middle < high)


def _claims(report: Report, by_number: Array, by_penalty: Array) -> None:
    count = len(by_number)
    three, nine, twenty = (by_number[:, m - 1] for m in NUMBERS)

    def most(statement: str, holds: Array) -> None:
        report.claim(statement, bool(np.mean(holds) > 0.5), count)

    most("M = 3 oversmooths: its error is more than twice that of M = 9", three > 2.0 * nine)
    most("M = 9 has the least error of 3, 9 and 20", (nine < three) & (nine < twenty))
    least = np.argmin(by_number, axis=1) + 1
    most(f"overfitting starts well before M = 20: no M above {HIGHEST} is best", least <= HIGHEST)
    shares = []
    for unit, errors in zip(UNITS, np.moveaxis(by_penalty, 1, 0), strict=True):
        most(f"α = 0.23 has the least error of 0, 0.23 and 2, {unit}", _middle(errors))
        best = number(np.median(_best(errors)))
        shares.append(f"with {unit} in {np.mean(_middle(errors)):.0%} (best α {best})")
    report.note(
        f"{ROW}: Statements are decided by most draws at a signal-to-noise ratio of {MAIN:g}, that "
        "of the signal's standard deviation to the noise's. S08 tells neither its noise nor its "
        "unit of x, and shows one draw. The weight of a power of x depends on that unit, and so "
        "does the meaning of α. Of the three α printed 0.23 has the least error "
        f"{', '.join(shares)}; in brackets is the median of the best α of a grid, which is "
        f"another in each unit; the grid ends at {number(GRID[-1])}. With x from −10 to 10 the "
        f"median error is still {number(np.median(by_penalty[:, -1, len(PENALTIES) - 1]))} at α = "
        f"{PENALTIES[-1]:g}: the weights of high powers are tiny in that unit, so that a price on "
        "them does little."
    )


def _figure(seed: int):
    figure = new_figure(10, 7)
    x, new = np.linspace(-1.0, 1.0, N), np.linspace(-1.0, 1.0, DENSE)
    t = noisy(sinc(x), MAIN, np.random.default_rng([seed, 0]))
    left = [(f"M = {m}", m, 0.0) for m in NUMBERS]
    right = [(f"M = {N}, α = {a:g}", N, a) for a in PENALTIES]
    for column, panels in zip(figure.subplots(3, 2, sharex=True).T, (left, right), strict=True):
        for ax, (title, count, penalty) in zip(column, panels, strict=True):
            estimate = fitted(x, t, new, count, penalty, UNITS[DRAWN])
            error = number(np.mean((estimate - sinc(new)) ** 2))
            ax.plot(10 * x, t, ".", color=GREY, label="samples")
            ax.plot(10 * new, sinc(new), color=ORANGE, linewidth=1, label="Sinc")
            ax.plot(10 * new, estimate, color=BLUE, linewidth=1.2, label="estimate")
            ax.set(ylim=(-0.8, 1.5))
            ax.set_title(f"{title}: MSE {error}", fontsize=10)
    figure.axes[0].legend(frameon=False, fontsize=8)
    figure.supxlabel("x", fontsize=10)
    return figure
