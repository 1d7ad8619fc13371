"""Nothing but noise, and nothing but a constant: does the estimate invent something?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.models import OPTIONS, OURS, Record
from benchmarks.noise_and_targets.draws import by_name
from benchmarks.tools import tables

SIZE, QUICK_SIZE = 10**6, 2**14
NOISE, CONSTANT = "noise", "constant"
SEEDS = {NOISE: cases.seeds(), CONSTANT: cases.seeds(1)}
QUICK = (NOISE, CONSTANT)
CONSTANTS = (0.0, 1.0, -7.3, 1e6)
SHAPES = ((1000,), (1024,), (64, 64))
LARGEST = 1.0  # estimate of noise, in units of σ
ROUNDING = 1e-9  # of a constant, relative


def of_noise(size: int, seed: int) -> Record:
    """By model, the largest estimate of noise with σ = 1, and how many exceed σ."""
    y = np.random.default_rng(seed).standard_normal(size)
    scores = {}
    for model, estimate, told in models.estimated(y, models.ours(OPTIONS)):
        above = int(np.sum(np.abs(estimate) > LARGEST))
        largest = models.short(float(np.abs(estimate).max()))
        scores[model] = {"largest": largest, "above": above, **told}
    return {"size": size, "scores": scores}


def of_constants() -> Record:
    """By model, the largest relative departure from a constant, over values and shapes."""
    scores = {}
    for model, method in models.ours(OPTIONS).items():
        off = 0.0
        for value in CONSTANTS:
            for shape in SHAPES:
                ((_, estimate, _),) = models.estimated(np.full(shape, value), {model: method})
                off = max(off, float(np.abs(estimate - value).max()) / max(abs(value), 1.0))
        scores[model] = {"off": off}
    return {"scores": scores}


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise noise and constants."""
    size = options.size or (QUICK_SIZE if options.quick else SIZE)
    for key, name, seed in models.planned(SEEDS, QUICK, options, only, done):
        record = of_noise(size, seed) if name == NOISE else of_constants()
        yield key, {"name": name, "seed": seed} | record


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = by_name(records)
    for size in dict.fromkeys(one["size"] for one in found.get(NOISE, ())):
        some = [one for one in found[NOISE] if one["size"] == size]
        largest = max(one["scores"][OURS]["largest"] for one in some)
        what = f"noise alone, {size} samples, {len(some)} draws: largest estimate / σ"
        yield what, f"≤ {LARGEST:g}", f"{largest:.3f}", largest <= LARGEST
    for one in found.get(CONSTANT, ()):
        off = one["scores"][OURS]["off"]
        limit, shown = (text.replace("-", "−") for text in (f"≤ {ROUNDING:g}", f"{off:.1e}"))
        yield "constants: largest departure, relative", limit, shown, off <= ROUNDING


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each draw of noise."""
    some = by_name(records).get(NOISE, [])
    rows = [
        (
            str(one["size"]),
            str(one["seed"]),
            *(
                f"{tables.number(score['largest'], 3)} · {score['above']}"
                for score in one["scores"].values()
            ),
        )
        for one in some
    ]
    table = tables.table(("samples", "draw", *OPTIONS), rows) + "\n" if rows else ""
    return f"{NOTES}\n{table}"


NOTES = f"""\
White noise and no signal: the largest absolute estimate, in units of the noise's standard
deviation, and how many samples are above {LARGEST:g}. The constants,
{", ".join(f"{one:g}" for one in CONSTANTS)}, are signals of 1000 and 1024 samples and an image.
"""
