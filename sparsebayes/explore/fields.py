"""The fields of a request: each is what it should be, or an error names it, its value and a remedy.

Requests come as JSON from a page, so nothing is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsebayes._support.validation import LARGEST, as_number, check_coverage, positive_number

Array = np.ndarray

MOST_POINTS = 2000
MOST_SAMPLES = 4096
MOST_FOLDS = 20
_SHOWN = 60  # characters of a value in a message


class RequestError(ValueError):
    """A request that cannot be answered.

    Parameters
    ----------
    field : str
        The field that is wrong.
    message : str
        What is wrong with it, and what to do.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def brief(value: Any) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@contextmanager
def of_field(field: str) -> Iterator[None]:
    """Errors of the library's own checks are those of a field."""
    try:
        yield
    except RequestError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise RequestError(field, str(error)) from error


def check_known(request: Mapping[str, Any], known: Sequence[str]) -> None:
    """All fields are among those that are known, or a clear error."""
    unknown = [name for name in request if name not in known]
    if unknown:
        name = str(unknown[0])
        raise RequestError(
            name, f"request has no field {brief(name)}; it takes {', '.join(map(repr, known))}."
        )


def check_count(name: str, count: int, least: int, most: int) -> None:
    """There are neither too few nor too many, or a clear error."""
    if not least <= count <= most:
        remedy = "add some" if count < least else "leave some out"
        raise RequestError(
            name, f"{name} must have {least} to {most} values, got {count}; {remedy}."
        )


def listed(request: Mapping[str, Any], name: str) -> list[Any]:
    """A list, or a clear error."""
    values = request.get(name)
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        raise RequestError(
            name, f"{name} must be a list, got {brief(values)}; send one value each."
        )
    return list(values)


def numbers(
    request: Mapping[str, Any], name: str, least: int, most: int, *, gaps: bool = False
) -> Array:
    """A list of finite numbers; None stands for a missing one where there may be gaps."""
    values = listed(request, name)
    check_count(name, len(values), least, most)
    out = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if value is None and gaps:
            continue
        number = as_number(value)
        if number is None or abs(number) > LARGEST:
            raise RequestError(
                name,
                f"{name}[{i}] must be a number between -{LARGEST:g} and {LARGEST:g}, got "
                f"{brief(value)}; correct it, or leave the point out.",
            )
        out[i] = number
    return out


def as_many(request: Mapping[str, Any], name: str, other: str, count: int) -> None:
    """A list has as many values as another one, or a clear error."""
    found = len(listed(request, name))
    if found != count:
        raise RequestError(
            name,
            f"{name} must have as many values as {other}, {count}, got {found}; send a pair for "
            "each point.",
        )


def bounds(
    request: Mapping[str, Any], values: Array, axis: int | None = None
) -> tuple[float, float]:
    """Where a grid begins and ends: as asked for, or a little beyond the values."""
    margin = 0.05 * (float(np.ptp(values)) or 2.0 * max(1.0, abs(float(values[0]))))
    ends = {"from": float(values.min()) - margin, "to": float(values.max()) + margin}
    for name in ends:
        given = request.get(name)
        if given is None:
            continue
        if axis is not None:
            if not isinstance(given, (list, tuple)) or len(given) != 2:
                raise RequestError(
                    name, f"{name} must be a list of two numbers, one an axis, got {brief(given)}."
                )
            given = given[axis]
        number = as_number(given)
        if number is None or abs(number) > LARGEST:
            raise RequestError(name, f"{name} must be a finite number, got {brief(given)}.")
        ends[name] = number
    if not ends["from"] < ends["to"]:
        raise RequestError(
            "to", f"to must lie above from, {ends['from']:g}, got {ends['to']:g}; exchange them."
        )
    return ends["from"], ends["to"]


def whole(request: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    """A whole number within bounds."""
    value = request.get(name, default)
    number = as_number(value)
    if number is None or number != int(number) or not least <= number <= most:
        raise RequestError(
            name, f"{name} must be a whole number from {least} to {most}, got {brief(value)}."
        )
    return int(number)


def switch(request: Mapping[str, Any], name: str) -> bool:
    """True or False; False if it is left out."""
    value = request.get(name, False)
    if not isinstance(value, bool):
        raise RequestError(name, f"{name} must be true or false, got {brief(value)}.")
    return value


def width(request: Mapping[str, Any]) -> float | None:
    """The length scale; None if it is learned."""
    value = request.get("width", "auto")
    if isinstance(value, str) and value == "auto":
        return None
    with of_field("width"):
        try:
            found = positive_number("width", value)
        except ValueError:
            raise RequestError(
                "width",
                f"width must be 'auto' or a positive number, in units of x, got {brief(value)}.",
            ) from None
    return found


def coverage(request: Mapping[str, Any]) -> float:
    """The probability of a band."""
    with of_field("coverage"):
        return check_coverage(request.get("coverage", 0.95))


def calibrate(request: Mapping[str, Any]) -> Any:
    """How error bars are widened: "auto", None or a number of folds."""
    value = request.get("calibrate", "auto")
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    number = as_number(value)
    if number is None or number != int(number) or not 2 <= number <= MOST_FOLDS:
        raise RequestError(
            "calibrate",
            f"calibrate must be 'auto', None (null) or a number of folds from 2 to {MOST_FOLDS}, "
            f"got {brief(value)}.",
        )
    return int(number)


def names(request: Mapping[str, Any], count: int) -> list[str] | None:
    """Names of the columns, the target last; None if there are none."""
    given = request.get("names")
    if given is None:
        return None
    texts = isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)
    if not texts or len(given) != count:
        raise RequestError(
            "names", f"names must be a list of {count} texts, the target last, got {brief(given)}."
        )
    return list(given)
