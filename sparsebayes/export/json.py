"""Models as JSON: a documented text from which any language can predict (docs/howto/export.md)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sparsebayes._support.validation import whole_number
from sparsebayes.export.exported import ExportedModel
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.program import INPUT, Program, ProgramStep, checked_step

FORMAT, VERSION = "sparsebayes-program", 1
_ENTRIES = {
    "format", "version", "kind", "inputs", "feature_names", "target_names", "classes", "steps",
    "outputs", "examples",
}  # fmt: skip
_OUTPUTS = (("mean",), ("mean", "std"), ("probabilities",))
_STEP = {"name", "operation", "of"}
_MOST_INPUTS = 10**6


def to_json(
    model: Any, *, feature_names: Any = None, target_names: Any = None, indent: int | None = None
) -> str:
    """Write a fitted model as JSON: the steps from inputs to predictions, with all numbers.

    A reader in another language needs a dozen simple operations and no mathematics of ours.

    Parameters
    ----------
    model : RVR, RVC, ReducedRankGPR, Forecaster, Pipeline or ExportedModel
        A Forecaster with one autoregression; a Pipeline of scalers, PCA, selections of features,
        a ColumnTransformer of these, and one of the models.
    feature_names, target_names : sequence of str, default=None
        None takes those that the model knows, if any.
    indent : int, default=None
        As in ``json.dumps``.

    Returns
    -------
    str
        The text.

    See Also
    --------
    from_json : Reads it in Python.
    to_c : Code for devices.
    to_onnx : A graph for services.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.export import from_json, to_json
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> model = RVR().fit(X, np.sinc(X[:, 0] / np.pi))
    >>> text = to_json(model)
    >>> json.loads(text)["outputs"]
    {'mean': 'center', 'std': 'deviation'}
    >>> bool(np.allclose(from_json(text).predict(X), model.predict(X)))
    True
    """
    program = program_of(model, feature_names, target_names)
    record = {
        "format": FORMAT,
        "version": VERSION,
        "kind": program.kind,
        "inputs": program.n_inputs,
        "feature_names": program.feature_names,
        "target_names": program.target_names,
        "classes": _labels(program.classes),
        "steps": [_step(step) for step in program.steps],
        "outputs": program.outputs,
        "examples": program.examples.tolist(),
    }
    if indent is not None:
        whole_number("indent", indent, 0)
    return json.dumps(record, allow_nan=False, ensure_ascii=False, indent=indent)


def _labels(classes: list[Any]) -> list[Any]:
    """Labels that JSON has, and others as text."""
    return [one if isinstance(one, (bool, int, float, str)) else str(one) for one in classes]


def _step(step: ProgramStep) -> dict[str, Any]:
    constants = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in step.constants.items()
    }
    return {"name": step.name, "operation": step.operation, "of": list(step.of), **constants}


def from_json(text: str | bytes) -> ExportedModel:
    """Read a model that `to_json` wrote, for predictions.

    Nothing in the text is run as code.

    Parameters
    ----------
    text : str or bytes
        What `to_json` wrote.

    Returns
    -------
    ExportedModel
        It predicts as the fitted model did, and can be exported again.

    Raises
    ------
    ValueError
        If the text is not such a model, or one of a later version.

    See Also
    --------
    to_json : Writes the text.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.export import from_json, to_json
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = 2 * X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(30)
    >>> from_json(to_json(RVR("linear").fit(X, y)))
    <ExportedModel of RVR: 1 inputs, mean, std>
    """
    return ExportedModel(read_program(text))


def read_program(text: str | bytes) -> Program:
    """The program in a text, or a clear error."""
    try:
        record = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"text is no JSON of a model, {_start(text)}: {error}.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(
            f"text is JSON, but no model: its 'format' is not {FORMAT!r}, got {_start(text)}."
        )
    if record.get("version") != VERSION or record["version"] is True:
        raise ValueError(
            f"text has version {record.get('version')!r} of the format, and this package reads "
            f"version {VERSION}; export the model again."
        )
    try:
        return _program(record)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise ValueError(f"text is damaged: {error}.") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _program(record: dict[str, Any]) -> Program:
    if record.keys() != _ENTRIES:
        odd = sorted(record.keys() ^ _ENTRIES)
        raise ValueError(f"the entries {odd} are missing or foreign")
    n_inputs = record["inputs"]
    whole = isinstance(n_inputs, int) and not isinstance(n_inputs, bool)
    if not whole or not 1 <= n_inputs <= _MOST_INPUTS:
        raise ValueError(f"'inputs' is {n_inputs!r}")
    sizes = {INPUT: n_inputs}
    steps = []
    for entry in record["steps"]:
        if not isinstance(entry, dict) or not entry.keys() >= _STEP:
            raise ValueError(f"a step lacks one of {sorted(_STEP)}")
        name, operation, of = (entry[key] for key in ("name", "operation", "of"))
        if not isinstance(name, str) or not isinstance(operation, str) or name in sizes:
            raise ValueError(f"a step has the name {name!r}")
        if not isinstance(of, list) or not all(isinstance(one, str) for one in of):
            raise ValueError(f"step {name!r} takes {of!r}")
        absent = [one for one in of if one not in sizes]
        if absent:
            raise ValueError(f"step {name!r} takes {absent[0]!r}, which is not known before it")
        constants = {key: value for key, value in entry.items() if key not in _STEP}
        step = checked_step(name, operation, of, [sizes[one] for one in of], constants)
        sizes[name] = step.size
        steps.append(step)
    outputs = _outputs(record["outputs"], sizes)
    examples = np.array(record["examples"], dtype=np.float64).reshape(-1, n_inputs)
    if not np.isfinite(examples).all():
        raise ValueError("'examples' are no numbers")
    program = Program(
        n_inputs,
        tuple(steps),
        outputs,
        [str(name) for name in record["feature_names"]],
        [str(name) for name in record["target_names"]],
        list(record["classes"]),
        examples,
        str(record["kind"]),
    ).only(*outputs)
    named = {"feature_names": n_inputs, "target_names": 0, "classes": 0}
    named["classes" if program.is_classifier else "target_names"] = program.size(
        next(iter(outputs))
    )
    for name, size in named.items():
        if record[name] and len(record[name]) != size:
            raise ValueError(f"{name!r} has {len(record[name])} entries for {size}")
    return program


def _outputs(given: dict[str, Any], sizes: dict[str, int]) -> dict[str, str]:
    """The names of outputs and of their values, in the order of `_OUTPUTS`."""
    names = next((names for names in _OUTPUTS if set(names) == given.keys()), None)
    known = all(isinstance(value, str) and value in sizes for value in given.values())
    if names is None or not known or INPUT in given.values():
        raise ValueError(f"'outputs' is {given!r}")
    if len({sizes[given[name]] for name in names}) > 1:
        raise ValueError("'mean' and 'std' are of different length")
    return {name: given[name] for name in names}


def _start(text: Any) -> str:
    """The beginning of what was given."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
