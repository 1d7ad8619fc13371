"""Types of arguments: each turns a text into a value, or says what is wrong with it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable


def positive(text: str) -> float:
    """A finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"must be a positive number, got {text}")
    return value


def word_or_number(words: Iterable[str]) -> Callable[[str], str | float]:
    """One of the words, or a positive number."""
    words = tuple(words)

    def convert(text: str) -> str | float:
        if text in words:
            return text
        try:
            return positive(text)
        except ValueError:
            choices = ", ".join(map(repr, words))
            raise ArgumentTypeError(
                f"must be {choices} or a positive number, got {text!r}"
            ) from None

    return convert


def probability(text: str) -> float:
    """A number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"must lie between 0 and 1, got {text!r}")
    return value


def whole(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number, 0 or more, got {text!r}")
    return int(text)


def positive_whole(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number, 1 or more, got {text!r}")
    return int(text)


def whole_numbers(*words: str) -> Callable[[str], str | int | list[int]]:
    """One of the words, a whole number, or several with commas between."""

    def convert(text: str) -> str | int | list[int]:
        if text in words:
            return text
        parts = text.split(",")
        if not all(part.strip().isdecimal() for part in parts):
            choices = "".join(f"{word!r}, " for word in words)
            raise ArgumentTypeError(
                f"must be {choices}a whole number or several with commas between, got {text!r}"
            )
        numbers = [int(part) for part in parts]
        return numbers if len(numbers) > 1 else numbers[0]

    return convert


def positive_numbers(*words: str) -> Callable[[str], str | list[float]]:
    """One of the words, a positive number, or several with commas between."""

    def convert(text: str) -> str | list[float]:
        if text in words:
            return text
        try:
            return [positive(part) for part in text.split(",")]
        except (ValueError, ArgumentTypeError):
            choices = "".join(f"{word!r}, " for word in words)
            raise ArgumentTypeError(
                f"must be {choices}a positive number or several with commas between, got {text!r}"
            ) from None

    return convert


def axes(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between; they may be negative."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArgumentTypeError(
            f"must be whole numbers with commas between, got {text!r}"
        ) from None
