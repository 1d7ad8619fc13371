"""Fit what the explorer of the documentation shows: ``python docs/make_explorer_data.py``.

That page has no server. It shows stored fits with the scripts of the package's own page, which are
copied beside it as plain scripts, so that it works from a file, too. ``--copies`` makes the copies
alone.
"""

import itertools
import json
import re
import sys
from importlib import resources
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from sparsebayes.datasets import make_signal, make_sinc
from sparsebayes.explore import explore

FOLDER = Path(__file__).parent / "_static" / "explorer"
SCRIPTS = ("drawing.js", "parts.js", "views.js")
MADE = "Made by docs/make_explorer_data.py; do not edit."

# Numbers are stored as two letters each, in 90² steps from the least to the largest of a list.
LETTERS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "\"'\\<")
LEVELS = len(LETTERS) ** 2 - 1

COVERAGES = (0.5, 0.8, 0.95, 0.99)
WIDTHS = (0.4, 0.7, 1.2, 2.0, 3.5, 6.0, 10.0)
POINTS = (20, 50, 100)
NOISES = (0.05, 0.1, 0.3)
MODELS = {
    "classical": {"calibrate": None},
    "prior: bic": {"calibrate": None, "prior": "bic"},
    "augment": {"calibrate": None, "augment": True},
    "calibrate": {"calibrate": "auto"},
}
GRID, ENDS = 73, (-12.0, 12.0)

PLANE_WIDTHS = (0.15, 0.25, 0.4, 0.6, 1.0, 1.6, 2.5)
PLANE_MODELS = {
    "logit link": {"calibrate": None},
    "prior: ric": {"calibrate": None, "prior": "ric"},
    "augment": {"calibrate": None, "augment": True},
}
PLANE_GRID, PLANE_ENDS = 24, {"from": [-1.6, -1.3], "to": [2.6, 1.8]}

SIGNALS = ("blocks", "heavisine")
SNRS = (3.0, 5.0, 8.0)
DICTIONARIES = ("haar", "sym8", "dct")
METHODS = ("average", "sparse")
SAMPLES = 256


SUMMARIES = {
    "regression": ("relevance_vectors", "log_evidence", "noise_std", "rmse", "calibration"),
    "classification": ("points", "relevance_vectors", "log_evidence", "wrong"),
    "denoise": ("kept", "noise_std", "log_evidence"),
}


def packed(values):
    """A list of numbers as [least, largest, letters]."""
    values = np.asarray(values, dtype=float).ravel()
    low, high = float(f"{values.min():.5g}"), float(f"{values.max():.5g}")
    codes = np.clip(np.round((values - low) / ((high - low) or 1.0) * LEVELS), 0, LEVELS)
    base = len(LETTERS)
    text = "".join(LETTERS[int(c) // base] + LETTERS[int(c) % base] for c in codes)
    return [low, high, text]


def unpacked(stored):
    """The numbers again, as the page has them."""
    low, high, text = stored
    base = len(LETTERS)
    codes = [
        LETTERS.index(a) * base + LETTERS.index(b)
        for a, b in zip(text[::2], text[1::2], strict=True)
    ]
    return low + (high - low) * np.array(codes) / LEVELS


def each(*choices):
    """All combinations, each with its key: the place of each choice."""
    for places in itertools.product(*(range(len(one)) for one in choices)):
        chosen = [list(one)[k] for one, k in zip(choices, places, strict=True)]
        yield "|".join(map(str, places)), chosen


def told(kind, summary):
    """Its entries that are shown, briefly; their names are stored once."""
    values = [summary[name] for name in SUMMARIES[kind]]
    return [float(f"{value:.4g}") if isinstance(value, float) else value for value in values]


def path_of(answer, most=20):
    """The evidence along at most so many steps."""
    path = answer["evidence_path"]
    rows = np.unique(np.linspace(0, len(path) - 1, most).astype(int))
    return packed([path[i] for i in rows])


def regression_data(n_points, noise):
    """The points of a fit; the same curve and the same errors, larger or smaller."""
    X, y, _ = make_sinc(n_points, noise=noise, random_state=0)
    order = np.argsort(X[:, 0])
    return {"x": np.round(X[order, 0], 3).tolist(), "y": np.round(y[order], 3).tolist()}


def regression_fit(width, n_points, noise, model):
    """What the page draws of a fit."""
    request = {"kind": "regression", **regression_data(n_points, noise), **MODELS[model]}
    place = {"from": ENDS[0], "to": ENDS[1], "grid": GRID, "coverage": 0.95}
    answer = explore({**request, **place, "width": width})
    mean, z = np.array(answer["mean"]), ndtri(0.975)
    if not np.allclose(answer["upper"] - mean, z * np.array(answer["std"])):
        raise RuntimeError("the band is not that of a normal distribution: store it as it is")
    return {
        "mean": packed(mean),
        "std": packed(answer["std"]),
        "of_function": packed((np.array(answer["function_upper"]) - mean) / z),
        "relevance": answer["relevance"],
        "path": path_of(answer),
        "summary": told("regression", answer["summary"]),
    }


def regression():
    """Fits by width, number of points, noise and model."""
    data = {key: regression_data(*chosen) for key, chosen in each(POINTS, NOISES)}
    fits = {key: regression_fit(*chosen) for key, chosen in each(WIDTHS, POINTS, NOISES, MODELS)}
    axes = {"width": WIDTHS, "points": POINTS, "noise": NOISES, "model": list(MODELS)}
    return {"axes": axes, "ends": ENDS, "grid": GRID, "data": data, "fits": fits}


def moons():
    """Two classes in the plane."""
    rng = np.random.default_rng(2)
    angle = np.tile(np.linspace(0.0, np.pi, 25), 2)
    second = np.repeat([False, True], 25)
    X = np.column_stack(
        [
            np.where(second, 1.0 - np.cos(angle), np.cos(angle)),
            np.where(second, 0.5 - np.sin(angle), np.sin(angle)),
        ]
    )
    X = np.round(X + 0.2 * rng.standard_normal(X.shape), 3)
    label = np.where(second, "b", "a").tolist()
    return {"x1": X[:, 0].tolist(), "x2": X[:, 1].tolist(), "label": label}


def classification():
    """Fits by width and model."""
    data, fits = moons(), {}
    for key, (width, model) in each(PLANE_WIDTHS, PLANE_MODELS):
        request = {"kind": "classification", **data, **PLANE_MODELS[model], **PLANE_ENDS}
        answer = explore({**request, "width": width, "grid": PLANE_GRID})
        fits[key] = {
            "probability": packed(answer["probability"]),
            "contours": [
                [one["level"], packed(one["pieces"])] for one in answer["contours"] if one["pieces"]
            ],
            "relevance": answer["relevance"],
            "path": path_of(answer),
            "summary": told("classification", answer["summary"]),
        }
    axes = {"width": PLANE_WIDTHS, "model": list(PLANE_MODELS)}
    return {"axes": axes, **PLANE_ENDS, "grid": PLANE_GRID, "data": data, "fits": fits}


def denoised():
    """Signals by kind, noise, dictionary and method."""
    data, fits = {}, {}
    for key, (signal, snr) in each(SIGNALS, SNRS):
        _, y, _ = make_signal(signal, SAMPLES, snr=snr, random_state=0)
        y = np.round(y, 3).tolist()
        data[key] = packed(y)
        for rest, (dictionary, method) in each(DICTIONARIES, METHODS):
            options = {"dictionary": dictionary, "method": method}
            answer = explore({"kind": "denoise", "y": y, "coverage": 0.95, **options})
            half = np.array(answer["upper"]) - answer["signal"]
            fits[f"{key}|{rest}"] = {
                "signal": packed(answer["signal"]),
                "std": packed(half / ndtri(0.975)),
                "summary": told("denoise", answer["summary"]),
            }
    axes = {"signal": SIGNALS, "snr": SNRS, "dictionary": DICTIONARIES, "method": METHODS}
    return {"axes": axes, "data": data, "fits": fits}


def copies():
    """The scripts and the style of the package's page, by name, as this page takes them."""
    package = resources.files("sparsebayes.explore")
    found = {}
    for name in SCRIPTS:
        text = (package / name).read_text(encoding="utf-8")
        text = re.sub(r"^import .*\n\n?", "", text, flags=re.MULTILINE)
        found[name] = f"// {MADE}\n" + re.sub(r"^export ", "", text, flags=re.MULTILINE)
    style = (package / "page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    themes = [
        f':root[data-theme="{name}"] {{{colours}}}\n'
        for name, colours in (("light", light), ("dark", dark))
    ]
    found["page.css"] = f"/* {MADE} */\n{style}\n/* As the site around it. */\n{''.join(themes)}"
    return found


def main():
    for name, text in copies().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    if "--copies" in sys.argv[1:]:
        return
    fits = {
        "letters": LETTERS,
        "bands": {str(round(100 * share)): float(ndtri((1 + share) / 2)) for share in COVERAGES},
        "summaries": SUMMARIES,
        "regression": regression(),
        "classification": classification(),
        "denoise": denoised(),
    }
    text = json.dumps(fits, separators=(",", ":"), allow_nan=False)
    (FOLDER / "fits.js").write_text(f"// {MADE}\nconst FITS = {text};\n", encoding="utf-8")
    print(f"{len(text)} characters")


if __name__ == "__main__":
    main()
