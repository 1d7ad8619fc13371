"""Images with three channels: together, or each on its own."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from benchmarks.denoisers import cases, images, models
from benchmarks.denoisers.models import CHANNELS, Record
from benchmarks.tools import tables

SEEDS = dict.fromkeys(cases.COLOUR, cases.seeds())
QUICK = tuple(cases.COLOUR)[:1]
GAIN = 2.5  # dB


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all images by all."""
    methods = models.for_colours()
    for key, name, seed, case in models.plan(cases.COLOUR, SEEDS, QUICK, options, only, done):
        scores = images.scored(case, methods)
        yield key, images.place(cases.COLOUR[name], name, seed, case) | {"scores": scores}


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = images.leads(images.scores(records), CHANNELS)
    gain = mean(found.values())
    what = f"{len(found)} colour images: PSNR − {CHANNELS}, mean, dB"
    yield what, f"≥ +{GAIN:g}", tables.signed(gain), gain >= GAIN


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each model over all images, then a row for each image."""
    noise = [cases.COLOUR_DEVIATION]
    return "\n".join([NOTES, images.summary(records, noise), images.each(records)])


NOTES = f"""\
The middle {cases.SIDE} × {cases.SIDE} pixels of {len(cases.COLOURS)} images that come with
scikit-image, independent noise of the same size in all channels.
denoise: `denoise(y, channel_axis=-1)`.
{CHANNELS}: `denoise(y, "sym8", method="ash", axes=(0, 1))`.
The others as above, with `channel_axis=-1`.
"""
