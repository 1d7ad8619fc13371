"""A fitted model as a short program: steps that any language can follow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparsebayes._support.batching import batches
from sparsebayes.export.programs.operations import OPERATIONS

Array = np.ndarray

INPUT = "x"
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
# Words of C, and what its code calls other things.
_C_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while"
)
_C_NAMES = (
    "main x p mean std i j k n t total exp expm1 log log1p sqrt pow sin erfc fabs "
    "floor abs gamma j0 j1 jn y0 y1 yn div index a b e most least wave width end away root rows "
    "size out half_solve normal_cdf logit_average normal_nodes normal_weights "
    "softmax_average smooth bell f q m v shift_of"
)
KEYWORDS = frozenset(_C_WORDS.split(" "))
_NAMES = frozenset(_C_NAMES.split(" "))
_TAKEN = KEYWORDS | _NAMES | {f"{name}f" for name in _NAMES}
_LARGEST_POWER = 64
_MOST_NUMBERS = 10**8  # of a value


@dataclass(frozen=True)
class Value:
    """The result of a step: its name, and how many numbers it is."""

    name: str
    size: int


@dataclass(frozen=True, eq=False)
class ProgramStep:
    """An operation of earlier values.

    Attributes
    ----------
    name : str
        Of the result.
    operation : str
    of : tuple of str
        The values that it takes.
    constants : dict of str to ndarray or float
    size : int
        The length of the result.
    """

    name: str
    operation: str
    of: tuple[str, ...]
    constants: dict[str, Any]
    size: int


@dataclass(frozen=True, eq=False)
class Program:
    """Steps from the inputs to what a model predicts.

    Attributes
    ----------
    n_inputs : int
    steps : tuple of ProgramStep
    outputs : dict of str to str
        The value of "mean" and "std", or of "probabilities".
    feature_names, target_names : list of str
        Empty if they have none.
    classes : list
        The labels, of a classification.
    examples : ndarray, (n, D)
        Some inputs that are like those of the training, for checks.
    kind : str
        What was exported, for people.
    """

    n_inputs: int
    steps: tuple[ProgramStep, ...]
    outputs: dict[str, str]
    feature_names: list[str] = field(default_factory=list)
    target_names: list[str] = field(default_factory=list)
    classes: list[Any] = field(default_factory=list)
    examples: Array = field(default_factory=lambda: np.empty((0, 0)))
    kind: str = ""

    @property
    def is_classifier(self) -> bool:
        return "probabilities" in self.outputs

    def size(self, output: str) -> int:
        """How many numbers an output has."""
        name = self.outputs[output]
        return next(step.size for step in self.steps if step.name == name)

    def only(self, *outputs: str) -> Program:
        """With some of the outputs, and what these need."""
        kept = {name: self.outputs[name] for name in outputs}
        needed = set(kept.values())
        for step in reversed(self.steps):
            if step.name in needed:
                needed.update(step.of)
        steps = tuple(step for step in self.steps if step.name in needed)
        return replace(self, steps=steps, outputs=kept)

    def without_std(self) -> Program:
        """A regression without its standard deviations; others as they are."""
        return self.only("mean") if "std" in self.outputs else self

    def run(self, X: Array, dtype: Any = np.float64) -> dict[str, Array]:
        """The outputs at the rows of X, (n, K) each."""
        sizes = [step.size for step in self.steps]
        found: dict[str, list[Array]] = {name: [] for name in self.outputs}
        for part in batches(len(X), 8 * (self.n_inputs + sum(sizes))):
            values = {INPUT: np.asarray(X[part], dtype=dtype)}
            for step in self.steps:
                constants = {name: _in_type(value, dtype) for name, value in step.constants.items()}
                arguments = [values[name] for name in step.of]
                with np.errstate(over="ignore", under="ignore"):
                    result = OPERATIONS[step.operation].value(*arguments, **constants)
                values[step.name] = np.asarray(result, dtype=dtype)
            for name, pieces in found.items():
                pieces.append(values[self.outputs[name]])
        return {name: np.concatenate(pieces) for name, pieces in found.items()}


def _in_type(values: Any, dtype: Any) -> Array:
    """Constants as a language without denormal numbers has them."""
    with np.errstate(over="ignore", under="ignore"):
        out = np.asarray(values, dtype=dtype)
    return np.where(np.abs(out) < np.finfo(out.dtype).tiny, out.dtype.type(0), out)


class ProgramBuilder:
    """Writes a program step by step."""

    def __init__(self, n_inputs: int) -> None:
        self.x = Value(INPUT, n_inputs)
        self._steps: list[ProgramStep] = []
        self._names: set[str] = set()

    def add(self, name: str, operation: str, *of: Value, **constants: Any) -> Value:
        """One more step; a name that is taken gets a number."""
        given = {key: value for key, value in constants.items() if value is not None}
        step = checked_step(
            self._free(name), operation, [v.name for v in of], [v.size for v in of], given
        )
        self._steps.append(step)
        return Value(step.name, step.size)

    def constant(self, name: str, values: Any) -> Value:
        """Numbers that do not depend on the inputs."""
        return self.add(name, "constant", self.x, values=np.atleast_1d(values))

    def join(self, name: str, values: Iterable[Value]) -> Value:
        """All of them after each other; one alone as it is."""
        values = list(values)
        return values[0] if len(values) == 1 else self.add(name, "join", *values)

    def scaled(self, name: str, value: Value, factor: Any = 1.0, shift: Any = 0.0) -> Value:
        """``(value − shift) factor``."""
        ones = np.ones(value.size)
        moved, stretched = np.any(shift), np.any(factor != 1.0)
        return self.add(
            name,
            "scale",
            value,
            shift=shift * ones if moved else None,
            factor=factor * ones if stretched else None,
        )

    def program(self, **outputs: Value) -> Program:
        """All steps that the outputs need."""
        names = {name: value.name for name, value in outputs.items()}
        return Program(self.x.size, tuple(self._steps), names).only(*names)

    def _free(self, name: str) -> str:
        taken = self._names | _TAKEN
        number, free = 2, name
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        self._names.add(free)
        return free


def checked_step(
    name: str, operation: str, of: list[str], sizes: list[int], constants: dict[str, Any]
) -> ProgramStep:
    """A step whose parts go together, or a clear error."""
    if not _NAME.match(name) or name in _TAKEN:
        raise ValueError(f"a step may not be called {name!r}")
    if operation not in OPERATIONS:
        raise ValueError(f"step {name!r} has the operation {operation!r}, which is not known")
    kind = OPERATIONS[operation]
    if len(of) != kind.arity and not (kind.arity < 0 and of):
        raise ValueError(f"step {name!r} ({operation}) takes {kind.arity} values, got {len(of)}")
    missing = kind.constants.keys() - kind.optional - constants.keys()
    foreign = constants.keys() - kind.constants.keys()
    if missing or foreign:
        told = f"lacks {sorted(missing)}" if missing else f"does not know {sorted(foreign)}"
        raise ValueError(f"step {name!r} ({operation}) {told}")
    numbers = {}
    for key, value in constants.items():
        given, axes = np.asarray(value), kind.constants[key]
        if given.dtype.kind not in "iuf":
            raise ValueError(f"step {name!r} ({operation}) has a bad {key!r}")
        array = np.array(given, dtype=np.float64, order="C")  # whatever the order, the same bits
        if array.ndim != axes or not np.isfinite(array).all() or (axes and not array.size):
            raise ValueError(f"step {name!r} ({operation}) has a bad {key!r}")
        numbers[key] = array if axes else float(array)
    try:
        size = int(kind.size(sizes, numbers))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"step {name!r} ({operation}): {error}") from error
    step = ProgramStep(name, operation, tuple(of), numbers, size)
    problem = _misfit(step, sizes)
    if problem:
        raise ValueError(f"step {name!r} ({operation}) {problem}")
    return step


def _misfit(step: ProgramStep, sizes: list[int]) -> str:
    """What is wrong with the lengths of values and constants, empty if nothing."""
    constants, first = step.constants, sizes[0]
    if not 0 < step.size <= _MOST_NUMBERS:
        return f"has {step.size} numbers"
    for key in ("period", "length_scale", "alpha"):
        if key in constants and not constants[key] > 0:
            return f"needs a positive {key!r}"
    for key in ("rows", "columns"):
        if key in constants and not (constants[key] >= 1 and constants[key] % 1 == 0):
            return f"needs a whole number of {key}"
    for key in ("centres", "matrix", "powers"):
        if key in constants and constants[key].shape[1] != first:
            return f"has {key!r} for {constants[key].shape[1]} numbers, but takes {first}"
    lengths = {"shift": first, "factor": first, "weights": first, "offset": step.size}
    if "triangle" in constants:
        lengths["triangle"] = first * (first + 1) // 2
    for key, length in lengths.items():
        if key in constants and len(constants[key]) != length:
            return f"has {len(constants[key])} numbers in {key!r}, but needs {length}"
    if "index" in constants:
        index = constants["index"]
        if np.any(index != np.floor(index)) or index.min() < 0 or index.max() >= first:
            return f"picks numbers that are not among {first}"
    if "powers" in constants:
        powers = constants["powers"]
        whole = np.all(powers == np.floor(powers))
        if not whole or powers.min() < 0 or powers.max() > _LARGEST_POWER:
            return f"has powers that are no whole numbers from 0 to {_LARGEST_POWER}"
    if step.operation == "matern" and constants["nu"] not in (0.5, 1.5, 2.5):
        return "knows nu of 0.5, 1.5 and 2.5 only"
    elementwise = step.operation in ("add", "subtract", "multiply", "divide", "logit_average")
    if elementwise and len(set(sizes) - {1}) > 1:
        return f"takes values of {sizes[0]} and {sizes[1]} numbers"
    return ""
