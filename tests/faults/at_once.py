"""Several processes write the same files at once: what is there is one of theirs, whole."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.faults.children import Child
from tests.faults.trial import Trial, Trials
from tests.faults.writers import Writer, writers

PROCESSES = 4
ROUNDS = 2


def at_once(writer: Writer, folder: Path) -> Trial:
    """Let some processes write in turns, which begin together."""
    start, started = os.pipe()

    def writing(first: int) -> Child:
        def work(tell: object) -> None:
            os.close(started)
            os.read(start, 1)  # until the other end is closed
            for k in range(ROUNDS):
                writer.write(folder, (first + k) % 2)

        return Child(work)

    children = [writing(k) for k in range(PROCESSES)]
    os.close(start)
    os.close(started)
    ended = [child.end() for child in children]
    faults = [f"a writer fails: {one}" for one in ended if one.answer is not None or one.hung]
    return Trial(writer.name, (*faults, *writer.faults(folder, (0, 1))))


def writers_at_once(rng: np.random.Generator) -> Trials:
    """All writers in turn, without an end."""
    while True:
        for writer in writers().values():
            with TemporaryDirectory() as folder:
                yield at_once(writer, Path(folder))
