"""T01 D.2, Fig. 10: latent function of RVM and SVM beside the true log-odds, one dimension.

Class +1 is uniform on [0, 1], class -1 on [0.5, 1.5]: the log-odds are 0 on [0.5, 1] and infinite
elsewhere, and the least error is 25 %. T01 trains on 1000 examples with a Gaussian kernel of width
0.1, and does not state the SVM's C, which is here chosen by 5-fold cross-validation. The SVM's
probabilities are those of Platt's sigmoid. Errors and densities are exact integrals over x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from experiments._classification import COSTS, fit_rvc, fit_svm, folds, search_svm
from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, repeat

Array = np.ndarray

LENGTH_SCALE = 0.1 / np.sqrt(2)  # width 0.1
GRID = (np.arange(3000) + 0.5) / 2000  # the middles of equal parts of [0, 1.5]
POSITIVE, NEGATIVE = GRID < 1, GRID > 0.5
OVERLAP = POSITIVE & NEGATIVE
TOP = 12.0  # the largest log-odds shown
STEP = 1.0  # of the heights at which relevance vectors are shown
BAYES_LOSS = 0.5 * np.log(2)


def draw(seed: int, repetition: int) -> tuple[Array, Array]:
    """500 examples of each class."""
    rng = np.random.default_rng([seed, repetition])
    y = np.repeat([1, -1], 500)
    return (rng.uniform(size=1000) + 0.5 * (y < 0))[:, None], y


def fit(seed: int, repetition: int) -> tuple[Any, Any, Any]:
    """On one draw RVM, SVM, and SVM with Platt's sigmoid."""
    X, y = draw(seed, repetition)
    split = X, y, X, y
    cost, _ = search_svm(X, y, [LENGTH_SCALE], seed)
    svm = fit_svm(split, LENGTH_SCALE, COSTS[cost])[0]
    platt = CalibratedClassifierCV(svm, cv=folds(seed), ensemble=False).fit(X, y)
    return fit_rvc(split, LENGTH_SCALE)[0], svm, platt


def one(seed: int, repetition: int) -> dict[str, list[float]]:
    """Of RVM and SVM: latent function, error, density, vectors."""
    rvm, svm, platt = fit(seed, repetition)
    return {
        "RVM": _measure(rvm, rvm, len(rvm.relevance_vectors_)),
        "SVM": _measure(svm, platt, svm.support_.size),
    }


def _measure(model: Any, probabilistic: Any, vectors: int) -> list[float]:
    latent = model.decision_function(GRID[:, None])
    other, own = probabilistic.predict_proba(GRID[:, None]).T
    log_odds = np.log(own / other)
    wrong = np.mean(latent[POSITIVE] <= 0) + np.mean(latent[NEGATIVE] > 0)
    loss = -0.5 * (np.log(own[POSITIVE]).mean() + np.log(other[NEGATIVE]).mean())
    return [
        np.abs(log_odds[OVERLAP]).mean(),
        np.abs(log_odds[OVERLAP]).max(),
        np.abs(log_odds[~OVERLAP]).mean(),
        50 * wrong,
        loss,
        vectors,
    ]


ROWS: tuple[tuple[str, float | str | None], ...] = (
    ("mean |log-odds| on [0.5, 1]", "0 (true)"),
    ("largest |log-odds| on [0.5, 1]", "0 (true)"),
    ("mean |log-odds| elsewhere", "∞ (true)"),
    ("error (%)", "25 (Bayes)"),
    ("negative log density", f"{BAYES_LOSS:.4f} (Bayes)"),
    ("vectors", None),
)


def run(options: Options) -> Report:
    """Measure both on several draws, and show the first."""
    count = options.count(20, 3)
    report = Report("T01 D.2: log-odds of overlapping uniform classes, 1000 examples, width 0.1")
    tasks = [(options.seed, i) for i in range(count)]
    results = repeat(one, tasks, jobs=options.jobs, label="draws")
    values = {name: np.array([result[name] for result in results]) for name in ("RVM", "SVM")}
    report.row = "T01 Fig. 10"
    for number, (row, true) in enumerate(ROWS):
        for name, found in values.items():
            report.add(f"{name}: {row}", true, found[:, number])
    rvm, svm = values["RVM"].mean(axis=0), values["SVM"].mean(axis=0)
    for name, found in (("RVM", rvm), ("SVM", svm)):
        report.claim(
            f"the {name} is optimal in generalisation: error within 1 point of 25 %",
            abs(found[3] - 25) <= 1,
            count,
        )
    report.claim(
        "RVM a reasonable approximation, SVM highly unrepresentative: on [0.5, 1] the RVM's mean "
        "|log-odds| is less than half the SVM's",
        rvm[0] < 0.5 * svm[0],
        count,
    )
    report.claim(
        "posterior estimates of the RVM are the more accurate ones: its log density is better",
        rvm[4] < svm[4],
        count,
    )
    report.note(
        f"T01 Fig. 10: Mean |log-odds| on [0.5, 1], where the truth is 0: RVM {rvm[0]:.3f}, SVM "
        f"with Platt's sigmoid {svm[0]:.3f}. T01's text has the truth 0 \"in [0.5, 1.5]\", a slip: "
        "class +1 ends at 1, and three sentences on the region is x ∈ [0.5, 1]."
    )
    report.note(
        "T01 Fig. 10: T01 gives a figure, no numbers; the second column is the truth. Log-odds are "
        "those of the probabilities (RVM: averaged over the weights; SVM: Platt's sigmoid). The "
        'picture has the outputs themselves. T01 rescaled the SVM\'s "without prejudice", it does '
        "not say how; here its largest size is that of the RVM's."
    )
    report.draw(_figure(options.seed))
    return report


def _figure(seed: int):
    rvm, svm, _ = fit(seed, 0)
    figure = new_figure(8, 4.5)
    ax = figure.subplots()
    truth = np.array([2, 2, 0, 0, -2, -2]) * TOP
    ax.plot([0, 0.5, 0.5, 1, 1, 1.5], truth, color=GREY, linewidth=3, alpha=0.5, label="true")
    latent, output = (machine.decision_function(GRID[:, None]) for machine in (rvm, svm))
    factor = np.abs(latent).max() / np.abs(output).max()
    ax.plot(GRID, latent, color=BLUE, label="RVM")
    label = f"SVM, times {factor:.2g}"
    ax.plot(GRID, factor * output, color=ORANGE, linestyle="--", label=label)
    vectors = np.sort(rvm.relevance_vectors_[:, 0])
    ax.plot(
        vectors,
        STEP * (np.arange(len(vectors)) % 3 + 0.5) - TOP,  # not on top of each other
        "o",
        color=BLUE,
        markerfacecolor="none",
        markersize=7,
        label=f"x of {len(vectors)} relevance vectors",
    )
    ax.set(xlabel="x", ylabel="log-odds", ylim=(-TOP, TOP))
    ax.set_title("The true log-odds are infinite outside [0.5, 1]")
    ax.legend(frameon=False)
    return figure
