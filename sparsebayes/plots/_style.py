"""What the displays share: axes, colours and markers."""

from __future__ import annotations

from typing import Any

from sparsebayes._support.optional import require

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#5A5A5A", "#1A1A1A"
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours: pairs repeat late


def axes(ax: Any, caller: str) -> Any:
    """`ax`, or the axes of a new figure."""
    require("matplotlib", caller)
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    return ax
