"""Grey images: PSNR, SSIM and time of ours and of others."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean, mean
from typing import Any

import numpy as np

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.models import BM3D, OURS, Record, Scores
from benchmarks.peers import denoisers
from benchmarks.tools import tables

Array = np.ndarray

SEEDS = dict.fromkeys(cases.GREY, cases.seeds())
QUICK = ("camera-25", "coins-25", "page-25")
SPUN, MEANS = "Bayes, spun", "nl-means"
GAIN, EXCEPTIONS = 0.5, 2  # dB above cycle spinning on average; pairs that may be below it
BEHIND, SHARE = 0.8, 0.1  # dB below BM3D, and the part of its time


def psnr(truth: Array, estimate: Array) -> float:
    """In dB, against 255."""
    return 10.0 * float(np.log10(cases.WHITE**2 / np.mean((estimate - truth) ** 2)))


def similarity(truth: Array, estimate: Array) -> float:
    """SSIM, scikit-image's."""
    from skimage.metrics import structural_similarity

    axis = -1 if truth.ndim == 3 else None
    return float(structural_similarity(truth, estimate, data_range=cases.WHITE, channel_axis=axis))


def scored(case: cases.Noisy, methods: Mapping[str, denoisers.Method]) -> Record:
    """By model `psnr`, `ssim`, `seconds` and `warnings`."""
    return {
        name: {
            "psnr": models.short(psnr(case.truth, estimate)),
            "ssim": models.short(similarity(case.truth, estimate)),
            **told,
        }
        for name, estimate, told in models.estimated(case.y, methods)
    }


def place(picture: cases.Picture, name: str, seed: int, case: cases.Noisy) -> Record:
    """Of what a record is."""
    return {
        "name": name,
        "seed": seed,
        "image": picture.name,
        "noise": picture.deviation,
        "shape": list(case.y.shape),
    }


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all images by all; BM3D has the first draw alone."""
    methods, slow = models.for_images(), models.slow()
    first = cases.FIRST if options.seed is None else options.seed
    for key, name, seed, case in models.plan(cases.GREY, SEEDS, QUICK, options, only, done):
        every = methods | slow if seed == first else methods
        yield key, place(cases.GREY[name], name, seed, case) | {"scores": scored(case, every)}


def scores(records: Mapping[str, Record]) -> Scores:
    """Medians over the draws."""
    return models.medians(records, lambda one: models.numbers(one["scores"]))


def leads(found: Scores, peer: str, key: str = "psnr") -> dict[str, float]:
    """By pair, the value of ours less that of a peer."""
    return {name: one[OURS][key] - one[peer][key] for name, one in found.items() if peer in one}


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = scores(records)
    label = f"{len(found)} images with noise: "
    spun = leads(found, SPUN)
    gain = mean(spun.values())
    what = f"{label}PSNR − {SPUN}, mean, dB"
    yield what, f"≥ +{GAIN:g}", tables.signed(gain), gain >= GAIN
    least, count = len(spun) - EXCEPTIONS, sum(lead >= 0 for lead in spun.values())
    yield f"{label}PSNR ≥ {SPUN}", f"≥ {least} of {len(spun)}", str(count), count >= least
    gain = mean(leads(found, MEANS).values())
    yield f"{label}PSNR − {MEANS}, mean, dB", "> 0", tables.signed(gain), gain > 0
    for peer in (SPUN, MEANS):
        gain = mean(leads(found, peer, "ssim").values())
        yield f"{label}SSIM − {peer}, mean", "> 0", f"{gain:+.4f}".replace("-", "−"), gain > 0
    both = scores({key: one for key, one in records.items() if BM3D in one["scores"]})
    if both:
        gap = -mean(leads(both, BM3D).values())
        yield f"{label}{BM3D} − PSNR, mean, dB", f"≤ {BEHIND:g}", f"{gap:.2f}", gap <= BEHIND
        pairs = ((one[OURS]["seconds"], one[BM3D]["seconds"]) for one in both.values())
        ratio = geometric_mean(own / other for own, other in pairs)
        yield tables.at_most(f"{label}time / {BM3D}", ratio, SHARE)


def names_of(found: Scores) -> list[str]:
    """The models, in their order."""
    return list(dict.fromkeys(model for one in found.values() for model in one))


def summary(records: Mapping[str, Record], noise: Sequence[int]) -> str:
    """One row for each model: means over the images."""
    found = scores(records)
    levels = {one["name"]: one["noise"] for one in records.values()}
    rows = []
    for model in names_of(found):
        there = {name: one[model] for name, one in found.items() if model in one}

        def over(key: str, level: int | None = None, there: Any = there) -> float | None:
            values = [one[key] for name, one in there.items() if level in (None, levels[name])]
            return mean(values) if values else None

        rows.append(
            (
                model,
                *(tables.fixed(over("psnr", level), 2) for level in noise),
                tables.fixed(over("psnr"), 2),
                *(tables.fixed(over("ssim", level), 3) for level in noise),
                tables.fixed(over("ssim"), 3),
                tables.seconds(over("seconds")),
            )
        )
    header = (
        "model",
        *(f"PSNR, noise {level}" for level in noise),
        "all",
        *(f"SSIM, noise {level}" for level in noise),
        "all",
        "time, s",
    )
    return tables.table(header, rows) + "\n"


def each(records: Mapping[str, Record]) -> str:
    """One row for each image and noise."""
    found = scores(records)
    names = names_of(found)
    first = {one["name"]: one for one in reversed(list(records.values()))}
    rows = []
    for name, one in found.items():
        cells = [tables.fixed(one[model]["psnr"] if model in one else None, 2) for model in names]
        shape = " × ".join(map(str, first[name]["shape"]))
        rows.append((first[name]["image"], shape, str(first[name]["noise"]), *cells))
    return tables.table(("image", "pixels", "noise", *names), rows) + "\n"


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each model over all images, then a row for each image."""
    noise = sorted({one["noise"] for one in records.values()})
    return "\n".join([NOTES, summary(records, noise), EACH, each(records)])


NOTES = f"""\
{len(cases.IMAGES)} images that come with scikit-image, from 0 to 255, with Gaussian noise of
standard deviation {", ".join(map(str, cases.DEVIATIONS))}; nothing is clipped. PSNRs are against
255. All are medians over {cases.DRAWS} draws of the noise (from number {cases.FIRST} on: the
defaults were decided on others), then means over the images. No method is told the noise.

- denoise: `denoise(y)`. ash: `denoise(y, "sym8", method="ash")`, one transform. sparse: the same
  with `method="sparse"`.
- Bayes: `skimage.restoration.denoise_wavelet(method="BayesShrink", wavelet="db1")`. Bayes, spun:
  the same in `cycle_spin` with `max_shifts={denoisers.SPUN}`, that is {(denoisers.SPUN + 1) ** 2}
  shifts.
- nl-means: `denoise_nl_means(patch_size={denoisers.PATCH}, patch_distance={denoisers.DISTANCE},
  fast_mode=True)`, h = {denoisers.STRENGTH:g} σ. TV: `denoise_tv_chambolle`, the weight is
  {denoisers.TV_WEIGHT:g} σ. Both take σ from scikit-image's `estimate_sigma`.
- {BM3D}: the `bm3d` package of its authors, which is for non-commercial use only; σ as above. It is
  slow and has the first draw alone.
- Times are CPU seconds on one thread, without the band.
"""

EACH = """\
PSNR of each image, medians over the draws:
"""
