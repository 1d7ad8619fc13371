"""The function that `augment` adds at each test point, as steps of a program.

With κ the kernels between the rows that were kept and x, everything in `sparsebayes._rvm.augment`
is made of products of κ with constants: q, the imitation w, and s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparsebayes._rvm.augment import Augmentation, RowSummary, TrainingRows
from sparsebayes.export.programs.functions import FunctionValues, write_kernel, write_peak
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import ProgramBuilder, Value

Array = np.ndarray

_ROUNDING = 1e-15  # of 1 + v s: parts of s below it are left out


class ExtraGain(NamedTuple):
    """What extra weights add to the latent functions.

    Attributes
    ----------
    mean : Value
        (K,), or of T targets (T,).
    root : Value
        K rows, whose products with each other are what the covariance gains; of targets one.
    outputs : int
        The number of rows.
    """

    mean: Value
    root: Value
    outputs: int


def effective(extra: Augmentation | None) -> Augmentation | None:
    """The extra weights, None where their prior lets them be nothing but 0."""
    return None if extra is None or not extra.variance > 0 else extra


def write_gain(inputs: Inputs, extra: Augmentation, functions: FunctionValues) -> ExtraGain:
    """What the extra weights add; `functions` are those of the kept basis."""
    builder, kept, outputs = inputs.builder, extra.kept, extra.outputs
    kernels = [write_kernel(inputs, kernel, extra.rows, "nearness") for kernel in extra.kernels]
    peaks = [write_peak(inputs, kernel) for kernel in extra.kernels]
    data = extra.data
    several = data.slope.shape[1] if outputs == 1 else 1
    part = _summary if isinstance(data, RowSummary) else _rows
    # For each kernel: the slopes, the imitation (K, P); for each pair of kernels s (K, K).
    q, fits, s = part(builder, extra, kernels)
    size = outputs * len(kernels)
    precision = _assembled(builder, s, len(kernels), outputs)
    identity = np.eye(size).ravel()
    precision = builder.scaled("precision", precision, extra.variance, -identity / extra.variance)
    # Rows of the kept functions, each with those of its own output: e = k(x, x) − w φ(x).
    own = _own_functions(functions, kept.output, kept.column, outputs)
    errors = []
    for k in range(outputs):
        row = builder.add(
            "imitation", "products", _row(builder, own, k, outputs), fits,
            rows=1, columns=size,
        )  # fmt: skip
        unit = np.zeros((size, len(kernels)))
        for j in range(len(kernels)):
            unit[j * outputs + k, j] = 1.0
        peak = builder.add("peaks", "matrix", builder.join("peak_values", peaks), matrix=unit)
        errors.append(builder.add("missed", "subtract", peak, row))
    missed = builder.join("all_missed", errors)
    root = np.sqrt(extra.variance)
    turned = builder.add("turned", "half_solve", precision, builder.scaled("e", missed, root))
    moved = builder.add("moved", "half_solve", precision, builder.scaled("q", q, root))
    gain = builder.add(
        "gain", "products", *((moved, turned) if outputs == 1 else (turned, moved)),
        rows=several if outputs == 1 else outputs, columns=1,
    )  # fmt: skip
    return ExtraGain(gain, turned, outputs)


def _row(builder: ProgramBuilder, value: Value, k: int, rows: int) -> Value:
    """One of the rows of a value."""
    if rows == 1:
        return value
    width = value.size // rows
    return builder.add("row", "pick", value, index=np.arange(k * width, (k + 1) * width))


def _own_functions(functions: FunctionValues, output: Array, column: Array, outputs: int) -> Value:
    """The function of each weight, (K, P): 0 where the weight is of another output."""
    builder, place = functions.builder, np.empty(functions.varying.size + functions.constant.size)
    size = 0 if functions.value is None else functions.value.size
    place[functions.varying] = np.arange(size)
    place[functions.constant] = size
    parts = [] if functions.value is None else [functions.value]
    every = builder.join("with_constants", [*parts, builder.constant("one_and_zero", [1.0, 0.0])])
    zero = size + 1.0
    if not output.size:
        return builder.add("own", "pick", every, index=np.full(outputs, zero))
    index = np.full((outputs, output.size), zero)
    index[output, np.arange(output.size)] = place[column]
    return builder.add("own", "pick", every, index=index.ravel())


def _assembled(builder: ProgramBuilder, blocks: list[list[Value]], count: int, outputs: int
               ) -> Value:  # fmt: skip
    """One matrix (L, L) of blocks (K, K) for each pair of kernels."""
    if count == 1:
        return blocks[0][0]
    joined = builder.join("blocks", [block for row in blocks for block in row])
    number = np.arange(joined.size).reshape(count, count, outputs, outputs)
    return builder.add("ordered", "pick", joined, index=number.transpose(0, 2, 1, 3).ravel())


def _slopes(builder: ProgramBuilder, q: list[Value], outputs: int) -> Value:
    """q as rows of all extra weights: one, or one for each of T targets."""
    joined = builder.join("slopes", q)
    if outputs > 1 or len(q) == 1:
        return joined
    number = np.arange(joined.size).reshape(len(q), -1)
    return builder.add("slopes_by_target", "pick", joined, index=number.T.ravel())


def _rows(
    builder: ProgramBuilder, extra: Augmentation, kernels: list[Value]
) -> tuple[Value, Value, list[list[Value]]]:
    """With all training rows."""
    data, kept, outputs = extra.data, extra.kept, extra.outputs
    assert isinstance(data, TrainingRows)
    phi = kept.functions(data.rows)  # (N, P)
    q = [builder.add("slope", "matrix", k, matrix=data.slope.T) for k in kernels]
    count = kept.alpha.size
    if outputs == 1:
        curve = data.curvature[:, 0, 0]
        if count == 0:
            fits = [builder.constant("fit", np.zeros(1)) for _ in kernels]
            rests = kernels
        else:
            turn = kept.sigma @ (phi.T * curve)
            fits = [builder.add("fit", "matrix", k, matrix=turn) for k in kernels]
            said = [builder.add("said", "matrix", w, matrix=phi) for w in fits]
            pairs = zip(kernels, said, strict=True)
            rests = [builder.add("unsaid", "subtract", k, part) for k, part in pairs]
        halves = []
        for rest, fit in zip(rests, fits, strict=True):
            values, weights = (rest, curve) if count == 0 else (
                builder.join("all_unsaid", [rest, fit]), np.append(curve, kept.alpha)
            )  # fmt: skip
            halves.append(builder.scaled("half", values, np.sqrt(weights)))
        s = [
            [builder.add("s_part", "products", a, b, rows=1, columns=1) for b in halves]
            for a in halves
        ]
        return _slopes(builder, q, 1), builder.join("fits", fits), s
    between = data.curvature.reshape(len(data.rows), -1).T  # (K², N)
    overlap = np.concatenate(
        [(phi * data.curvature[:, k, kept.output]).T for k in range(outputs)]
    )  # (K P, N)
    if count == 0:
        fits = [builder.constant("fit", np.zeros(outputs)) for _ in kernels]
        overlaps = fits
    else:
        turn = np.concatenate([kept.sigma @ part for part in np.split(overlap, outputs)])
        fits = [builder.add("fit", "matrix", k, matrix=turn) for k in kernels]
        overlaps = [builder.add("overlap", "matrix", k, matrix=overlap) for k in kernels]
    s = []
    for i, ours in enumerate(kernels):
        s.append([])
        for j, theirs in enumerate(kernels):
            both = builder.add("both", "multiply", ours, theirs)
            whole = builder.add("whole", "matrix", both, matrix=between)
            known = builder.add(
                "known", "products", fits[i], overlaps[j], rows=outputs, columns=outputs
            )
            s[-1].append(builder.add("s_part", "subtract", whole, known))
    return _slopes(builder, q, outputs), builder.join("fits", fits), s


def _summary(
    builder: ProgramBuilder, extra: Augmentation, kernels: list[Value]
) -> tuple[Value, Value, list[list[Value]]]:
    """With a summary of the rows."""
    data, outputs = extra.data, extra.outputs
    assert isinstance(data, RowSummary)
    ends = np.cumsum([0, *(turn.shape[1] for turn in data.turns)])
    total = int(ends[-1])
    values, vectors = np.linalg.eigh(data.s.reshape(outputs * total, -1))
    # Kernels are at most of the size of 1, and features are a rotation of them.
    seen = values * extra.variance * len(data.rows) > _ROUNDING
    root = (vectors[:, seen] * np.sqrt(values[seen])).reshape(outputs, total, -1)
    q, fits, halves = [], [], []
    for j, (kernel, turn) in enumerate(zip(kernels, data.turns, strict=True)):
        part = slice(ends[j], ends[j + 1])
        q.append(builder.add("slope", "matrix", kernel, matrix=(turn @ data.slope[part]).T))
        fit = np.concatenate([(turn @ data.fits[k, part]).T for k in range(outputs)])
        if len(fit):
            fits.append(builder.add("fit", "matrix", kernel, matrix=fit))
        else:
            fits.append(builder.constant("fit", np.zeros(outputs)))
        half = np.concatenate([(turn @ root[k, part]).T for k in range(outputs)])
        halves.append(builder.add("half", "matrix", kernel, matrix=half))
    s = [
        [builder.add("s_part", "products", a, b, rows=outputs, columns=outputs) for b in halves]
        for a in halves
    ]
    return _slopes(builder, q, outputs), builder.join("fits", fits), s
