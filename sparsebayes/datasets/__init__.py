"""Data generators, the bundled data sets, and a loader for benchmark files."""

from sparsebayes._support.homes import settle
from sparsebayes.datasets.generators import (
    lagged,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_gases,
    make_mackey_glass,
    make_sensor,
    make_sinc,
)
from sparsebayes.datasets.loaders import load_benchmark, load_gases, load_sensor
from sparsebayes.datasets.signals import gauss_snake_proba, make_gauss_snake, make_signal

__all__ = [
    "gauss_snake_proba",
    "lagged",
    "load_benchmark",
    "load_gases",
    "load_sensor",
    "make_friedman1",
    "make_friedman2",
    "make_friedman3",
    "make_gases",
    "make_gauss_snake",
    "make_mackey_glass",
    "make_sensor",
    "make_signal",
    "make_sinc",
]

settle(globals())
