"""The inputs of a model in a program: as they come, standardised, in units of a length scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.export.programs.program import ProgramBuilder, Value

Array = np.ndarray


class Inputs:
    """Inputs ``z = (raw − shift) factor`` of a model, of which programs compute what they need.

    Attributes
    ----------
    builder : ProgramBuilder
    """

    def __init__(
        self, builder: ProgramBuilder, raw: Value, shift: Array | None = None,
        factor: Array | None = None,
    ) -> None:  # fmt: skip
        self.builder, self._raw = builder, raw
        self._shift = np.zeros(raw.size) if shift is None else shift
        self._factor = np.ones(raw.size) if factor is None else factor
        self._plain: Value | None = None
        self._units: dict[bytes, tuple[Value, Array]] = {}

    @property
    def size(self) -> int:
        """D."""
        return self._raw.size

    def scaled(self, shift: Array, factor: Array) -> Inputs:
        """``(z − shift) factor``."""
        moved = self._shift + shift / self._factor
        return Inputs(self.builder, self._raw, moved, self._factor * factor)

    def picked(self, index: Array) -> Inputs:
        """Those of these numbers."""
        raw = self.builder.add("picked", "pick", self._raw, index=index)
        return Inputs(self.builder, raw, self._shift[index], self._factor[index])

    @classmethod
    def joined(cls, parts: Sequence[Inputs]) -> Inputs:
        """All of them, after each other."""
        first = parts[0]
        if len(parts) == 1:
            return first
        raw = first.builder.add("joined", "join", *(part._raw for part in parts))
        shift, factor = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("_shift", "_factor")
        )
        return cls(first.builder, raw, shift, factor)

    def plain(self) -> Value:
        """z."""
        if self._plain is None:
            as_given = not self._shift.any() and np.all(self._factor == 1.0)
            self._plain = self._raw if as_given else self._scale("scaled", self._shift, 1.0)
        return self._plain

    def in_units(self, scale: Array, points: Array | None) -> tuple[Value, Array]:
        """``(z − s)/scale``, and s: somewhere among the points, where there are some, else 0.

        Near the points little cancels then, and numbers of seven digits do.
        """
        scale = np.broadcast_to(np.asarray(scale, dtype=np.float64), self._raw.size)
        key = scale.tobytes() + bytes([points is None])
        if key not in self._units:
            raw = self._shift
            if points is not None:
                raw = self._shift + points.mean(axis=0) / self._factor
                with np.errstate(over="ignore"):
                    short = raw.astype(np.float32).astype(np.float64)
                raw = np.where(np.isfinite(short), short, raw)
            value = self._scale("units", raw, 1.0 / scale)
            self._units[key] = value, (raw - self._shift) * self._factor
        return self._units[key]

    def _scale(self, name: str, shift: Array, factor: Array | float) -> Value:
        return self.builder.add(name, "scale", self._raw, shift=shift, factor=self._factor * factor)
