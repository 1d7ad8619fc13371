"""Draw the pictures of docs/benchmarks.md and print its table from stored results.

``python docs/make_benchmark_plots.py`` measures nothing: it reads docs/evidence/benchmarks.json,
which ``python -m benchmarks`` writes, and the table of docs/evidence/forecasting.md.
"""

import json
import re
import subprocess
from collections import defaultdict
from datetime import date
from pathlib import Path
from statistics import geometric_mean, mean, median

from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parent
IMAGES, STORE, FORECASTS = (
    DOCS / name for name in ("images", "evidence/benchmarks.json", "evidence/forecasting.md")
)
# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#5A5A5A"
SVC, GP, ASH = "SVC + grid + Platt", "GaussianProcessRegressor", "ash"
OURS = ("RV", "ReducedRankGPR", "denoise")  # how names of models begin
ROWS = 300  # of the data sets on which coverage is shown


# What is stored, as docs/evidence/benchmarks.md averages it.


def load():
    return json.loads(STORE.read_text("utf-8"))


def by_rows(results, section, model, key):
    """(rows, value) of a model on Friedman #1, medians over the data sets."""
    found = []
    for name, data_sets in results[section].items():
        data_sets = data_sets if isinstance(data_sets, list) else [data_sets]
        values = [one[model][key] for one in data_sets if model in one]
        if values:
            found.append((int(name.split()[-1]), median(values)))
    return sorted(found)


def by_name(records):
    found = defaultdict(list)
    for record in records.values():
        found[record["name"]].append(record)
    return found


def coverages(results):
    """By model, the share of each data set that 95 % intervals cover: means over the splits."""
    records = {k: one for k, one in results["coverage"].items() if one["size"] == ROWS}
    found = defaultdict(list)
    for splits in by_name(records).values():
        for model in splits[0]["fits"]:
            found[model].append(mean(one["fits"][model]["coverage"] for one in splits))
    return dict(found)


def errors_of_regression(results, model="RVR()"):
    """Errors over those of the Gaussian process, one for each data set."""
    records = {k: one for k, one in results["coverage"].items() if one["size"] == ROWS}
    return [
        geometric_mean(one["fits"][model]["rmse"] / one["fits"][GP]["rmse"] for one in splits)
        for splits in by_name(records).values()
    ]


def classifiers(results, key):
    """By model, a score over that of the tuned SVC, one for each data set."""
    found = defaultdict(list)
    for splits in by_name(results["labels"]).values():
        scores = {}
        for model in splits[0]["fits"]:
            scores[model] = mean(one["fits"][model][key] for one in splits)
            if key == "wrong":  # never zero
                scores[model] += 0.5
        for model, score in scores.items():
            found[model].append(score / scores[SVC])
    return dict(found)


def denoisers(results, section, key):
    """By model, a score for each noisy signal or image: medians over the draws."""
    found = defaultdict(list)
    for draws in by_name(results[section]).values():
        for model in draws[0]["scores"]:
            some = [one["scores"][model][key] for one in draws if model in one["scores"]]
            found[model].append(median(some))
    return dict(found)


def forecasters():
    """Scores of others over ours by model: MASE, CRPS, and both of the seasonal series."""
    rows = re.findall(r"^\| ([^|]+?) \|((?: *[\d.]+ \|){4})$", FORECASTS.read_text("utf-8"), re.M)
    return {name: [float(value) for value in values.split("|")[:4]] for name, values in rows}


# When it was measured.


def git(*arguments):
    command = ["git", "-C", str(DOCS), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dates(results):
    """By section, the day since which it is stored as it is now."""
    found = dict.fromkeys(results, date.fromtimestamp(STORE.stat().st_mtime).isoformat())
    log = git("log", "--follow", "--format=%H %cs", "--name-only", "--", str(STORE))
    same = set(results)
    for commit, day, path in re.findall(r"^(\w{40}) (\S+)\n\n(\S+)$", log, re.MULTILINE):
        then = json.loads(git("show", f"{commit}:{path}"))
        same = {section for section in same if then.get(section) == results[section]}
        if not same:
            break
        found |= dict.fromkeys(same, day)
    return found


# Pictures.


def canvas(title, days):
    figure = Figure(figsize=(5.4, 4.3), layout="constrained")
    ax = figure.subplots()
    ax.set_title(title, loc="left", fontsize="medium", pad=16)
    days = sorted(set(days))
    said = "results of " + (days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}")
    ax.annotate(said, (0, 1), (0, 4), "axes fraction", "offset points", fontsize=7, color=GREY)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize="small")
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    return figure, ax


def save(figure, name):
    figure.savefig(IMAGES / f"benchmarks_{name}.png", dpi=150)


def plain_numbers(axis, ticks):
    """A logarithmic axis with these numbers, and no others."""
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


OPEN = {"linestyle": "--", "markerfacecolor": "white"}
LINES = (  # section, model, label, style; what is drawn last is on top
    ("friedman", "fastrvm", "fastrvm, width given", {"color": ORANGE, "marker": "s"}),
    ("friedman", "SVR + grid", "SVR, width given, tuned", {"color": GREEN, "marker": "^"}),
    ("scales", "RVR, scales given", "RVR, width given", {"color": BLUE, "marker": "o"}),
    ("friedman", GP, "Gaussian process, one width learned", {"color": PINK, "marker": "D"}),
    ("scales", f"{GP}, ARD", "Gaussian process, ten widths learned",
     {"color": PINK, "marker": "D"} | OPEN),
    ("scales", "RVR, scales learned", "RVR, ten widths learned",
     {"color": BLUE, "marker": "o"} | OPEN),
)  # fmt: skip


def against_rows(results, days, key, title, label, ticks):
    figure, ax = canvas(title, (days["friedman"], days["scales"]))
    for section, model, name, style in LINES:
        points = by_rows(results, section, model, key)
        ax.loglog(*zip(*points, strict=True), label=name, markersize=5, linewidth=1.5, **style)
    ax.set(xlabel="rows", ylabel=label)
    plain_numbers(ax.xaxis, [250, 500, 1000, 2000, 5000])
    plain_numbers(ax.yaxis, ticks)
    figure.legend(frameon=False, fontsize=7.5, loc="outside lower center", ncols=2)
    return figure


def time(results, days):
    title, label = "Time of a fit: Friedman #1, ten inputs", "CPU seconds, one thread"
    save(against_rows(results, days, "fit", title, label, [0.1, 1, 10, 100]), "time")


def error(results, days):
    title, label = "Error of the same fits", "RMSE to the function without noise"
    save(against_rows(results, days, "rmse", title, label, [0.1, 0.2, 0.5, 1, 2]), "error")


def color_of(model):
    return BLUE if model.startswith(OURS) else GREY


def strips(ax, found, centre, distance):
    """A row for each model, best on top: a dot for each data set, a diamond at their centre."""
    order = sorted(found, key=lambda model: distance(centre(found[model])), reverse=True)
    for row, model in enumerate(order):
        values = sorted(found[model])
        heights = [row + 0.16 * (i % 3 - 1) for i in range(len(values))]
        dots = {"alpha": 0.45, "markersize": 4, "markeredgewidth": 0}
        ax.plot(values, heights, "o", color=color_of(model), **dots)
        ax.plot(centre(values), row, "D", color=color_of(model), markeredgecolor="white")
    ax.set_yticks(range(len(order)), order)
    for tick, model in zip(ax.get_yticklabels(), order, strict=True):
        tick.set_color(BLUE if color_of(model) == BLUE else "black")
    ax.grid(axis="y", visible=False)


def coverage(results, days):
    found = coverages(results)
    title = f"95 % intervals: {len(found[GP])} data sets, {ROWS} rows each"
    figure, ax = canvas(title, [days["coverage"]])
    shown = {model: [100 * share for share in shares] for model, shares in found.items()}
    strips(ax, shown, mean, lambda share: abs(share - 95))
    ax.axvline(95, color="black", linewidth=1, linestyle="--")
    ax.set_xlabel("test targets inside, % (diamonds: means)")
    save(figure, "coverage")


def classification(results, days):
    found = classifiers(results, "wrong")
    figure, ax = canvas(f"Error of classifiers: {len(found[SVC])} data sets", [days["labels"]])
    strips(ax, found, geometric_mean, float)
    ax.set_xscale("log")
    ax.axvline(1, color="black", linewidth=1, linestyle="--")
    ax.set_xlabel("error / tuned SVC's (diamonds: geometric means)")
    plain_numbers(ax.xaxis, [0.5, 1, 2, 4])
    save(figure, "classification")


NAMES = {  # of methods for images, and where their label is
    "denoise": ("denoise", "left"),
    "ash": ('denoise, method="ash"', "left"),
    "sparse": ('denoise, method="sparse"', "right"),
    "Bayes": ("BayesShrink", "right"),
    "Bayes, spun": ("BayesShrink, cycle spinning", "left"),
    "nl-means": ("non-local means", "right"),
    "TV": ("total variation", "right"),
    "BM3D": ("BM3D", "left"),
}


def denoising(results, days):
    psnr, seconds = denoisers(results, "images", "psnr"), denoisers(results, "images", "seconds")
    figure, ax = canvas(f"Denoising: {len(psnr['denoise'])} noisy images", [days["images"]])
    for model, (name, side) in NAMES.items():
        x, y, color = mean(seconds[model]), mean(psnr[model]), color_of(name)
        ax.plot(x, y, "D" if model == "denoise" else "o", color=color)
        ax.annotate(
            name, (x, y), (8 if side == "right" else -8, 0), textcoords="offset points",
            ha="left" if side == "right" else "right", va="center", fontsize=8,
            color=BLUE if color == BLUE else "black",
        )  # fmt: skip
    ax.set(xscale="log", xlabel="CPU seconds for an image, one thread", ylabel="mean PSNR, dB")
    ax.set_xlim(0.0015, 30)
    plain_numbers(ax.xaxis, [0.01, 0.1, 1, 10])
    save(figure, "denoising")


def forecasting():
    found = forecasters()
    days = re.findall(r"Measured on (\S+);", FORECASTS.read_text("utf-8"))
    figure, ax = canvas("Forecasts of real series: above 1 Forecaster() is better", days)
    order = list(found)[::-1]
    for column, (name, color, marker) in enumerate(
        (("MASE, 18 series", GREEN, "o"), ("CRPS, 18 series", ORANGE, "s"),
         ("MASE, 12 seasonal", GREEN, "o"), ("CRPS, 12 seasonal", ORANGE, "s"))
    ):  # fmt: skip
        values = [found[model][column] for model in order]
        heights = [row + (0.12 if column < 2 else -0.12) for row in range(len(order))]
        face = color if column < 2 else "white"
        style = {"linestyle": "none", "markersize": 7, "markerfacecolor": face}
        ax.plot(values, heights, color=color, marker=marker, label=name, **style)
    long, short = "the best of the first three on", "best of three\non"
    ax.set_yticks(range(len(order)), [model.replace(long, short) for model in order])
    ax.set_xscale("log")
    ax.set_xlim(0.8, 2.4)
    plain_numbers(ax.xaxis, [0.8, 1, 1.25, 1.5, 2])
    ax.axvline(1, color="black", linewidth=1, linestyle="--")
    ax.set_xlabel("score / Forecaster()'s")
    figure.legend(frameon=False, fontsize=7.5, loc="outside lower center", ncols=2)
    save(figure, "forecasting")


def draw(results, days):
    """All pictures; `days` are those of the sections, for the titles."""
    for picture in (time, error, coverage, classification, denoising):
        picture(results, days)
    forecasting()


# The table.


def digits(value):
    """Three significant ones."""
    return f"{value:#.3g}".rstrip(".")


def table(results):
    """The Markdown table of docs/benchmarks.md."""

    def fits(rows, models):
        """Time and error of the first model, and those of the others with their names."""
        cells = []
        for name, (section, model) in models.items():
            time, error = (
                dict(by_rows(results, section, model, key))[rows] for key in ("fit", "rmse")
            )
            cells.append(f"{name}{digits(time)} s, {digits(error)}")
        return cells[0], "; ".join(cells[1:])

    def peers(section):
        return {"fastrvm ": (section, "fastrvm"), "tuned SVR ": (section, "SVR + grid")}

    def share(model):
        return f"{100 * mean(covered[model]):.1f} ({100 * min(covered[model]):.1f})"

    ours, process = {"": ("scales", "RVR, scales given")}, "Gaussian process "
    small = {"": ("sinc", "RVR")} | peers("sinc") | {process: ("sinc", GP)}
    given = ours | peers("friedman")
    learned = {"": ("scales", "RVR, scales learned"), process: ("scales", f"{GP}, ARD")}
    covered = coverages(results)
    wrong, loss = classifiers(results, "wrong"), classifiers(results, "log_loss")
    vectors = {
        model: mean(
            mean(one["fits"][model]["vectors"] for one in splits)
            for splits in by_name(results["labels"]).values()
        )
        for model in ("RVC()", SVC)
    }
    slower = geometric_mean(classifiers(results, "fit")["RVC()"])
    psnr, seconds = denoisers(results, "images", "psnr"), denoisers(results, "images", "seconds")
    images = {m: f"{mean(psnr[m]):.2f} dB, {digits(mean(seconds[m]))} s" for m in psnr}
    errors = denoisers(results, "signals", "error")
    signals = {
        model: geometric_mean(a / b for a, b in zip(some, errors[ASH], strict=True))
        for model, some in errors.items()
    }
    forecasts = {model: f"{row[0]:.2f}, {row[1]:.2f}" for model, row in forecasters().items()}
    rows = [
        ("sinc, 100 rows, width given: fit, RMSE", *fits(100, small), "sinc"),
        ("Friedman #1, 1000 rows, width given: fit, RMSE",
         *fits(1000, given | {process: ("friedman", GP)}), "regression"),
        ("Friedman #1, 5000 rows, width given: fit, RMSE", *fits(5000, given), "regression"),
        ("Friedman #1, 2000 rows, ten widths learned: fit, RMSE", *fits(2000, learned), "scales"),
        (f"{len(covered['RVR()'])} data sets of {ROWS} rows: RMSE / Gaussian process's",
         f"{geometric_mean(errors_of_regression(results)):.3f}",
         f"tuned SVR {geometric_mean(errors_of_regression(results, 'SVR + grid')):.3f}; "
         f"fastrvm {geometric_mean(errors_of_regression(results, 'fastrvm')):.3f}", "coverage"),
        ("the same: 95 % intervals hold, % (lowest set)", share("RVR()"),
         f"Gaussian process {share(GP)}; fastrvm {share('fastrvm')}", "coverage"),
        (f"{len(wrong[SVC])} data sets with labels: error, log loss / tuned SVC's",
         f"{geometric_mean(wrong['RVC()']):.3f}, {geometric_mean(loss['RVC()']):.3f}",
         "; ".join(f"{name} {geometric_mean(wrong[name]):.3f}, {geometric_mean(loss[name]):.3f}"
                   for name in ("random forest", "Gaussian process")), "labels"),
        ("the same: vectors kept; fit time / tuned SVC's",
         f"{vectors['RVC()']:.1f}; {digits(slower)}", f"tuned SVC {vectors[SVC]:.1f}; 1", "labels"),
        (f"{len(psnr['denoise'])} noisy images: PSNR, time", images["denoise"],
         f"BM3D {images['BM3D']}; cycle spinning {images['Bayes, spun']}", "images"),
        (f"{len(errors[ASH])} noisy signals: error / one transform's", f"{signals['denoise']:.3f}",
         f"hard thresholds, cycle spinning {signals['hard, spun']:.3f}; "
         f"EbayesThresh {signals['Ebayes']:.3f}", "signals"),
        ("18 series: MASE, CRPS / Forecaster's", "1, 1",
         "; ".join(f"{m} {forecasts[m]}" for m in ("AutoARIMA", "AutoETS", "Theta")), None),
    ]  # fmt: skip
    lines = ["| what | sparsebayes | others | command |", "| --- | --- | --- | --- |"]
    for what, ours, others, section in rows:
        command = "python -m benchmarks.forecasters --half report"
        command = f"python -m benchmarks --only {section}" if section else command
        lines.append(f"| {what} | {ours} | {others} | `{command}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    stored = load()
    draw(stored, dates(stored))
    print(table(stored))
