"""What the explorer's page asks for, and the answers: one function of plain data."""

from __future__ import annotations

import base64
import csv
import io
import warnings
from collections.abc import Mapping
from typing import Any

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.printed_table import plain
from sparsebayes._support.validation import check_choice
from sparsebayes.explore import fields
from sparsebayes.explore.fields import RequestError, brief, of_field
from sparsebayes.explore.models import VIEWS
from sparsebayes.export import FORMATS, to_c, to_json, to_onnx
from sparsebayes.persistence import dumps

KINDS = (*VIEWS, "save", "export")


@guided
def explore(request: Any) -> dict[str, Any]:
    """Answer a request of the explorer's page: fit a model, and say what to draw of it.

    ``sparsebayes explore`` calls it for each request. It keeps nothing between calls, and the same
    request has the same answer. Requests and answers are plain data, as JSON has them.

    Parameters
    ----------
    request : dict
        Its ``"kind"`` is one of

        - "regression": points ``"x"`` and ``"y"``, and the options ``"width"`` ("auto" or a length
          scale), ``"prior"``, ``"solver"``, ``"noise"``, ``"augment"``, ``"calibrate"`` of `RVR`;
        - "classification": points ``"x1"``, ``"x2"`` with ``"label"``, of two classes, and the
          options of `RVC`, with ``"link"`` instead of a noise;
        - "denoise": a signal ``"y"``, with None for missing samples, and ``"dictionary"``,
          ``"method"``, ``"prior"``, ``"noise"``, ``"noise_model"`` of `denoise`;
        - "save" and "export": the model of ``"of"``, one of the requests above, as a model file,
          or ``"to"`` "c", "onnx" or "json".

        What is left out takes the default of the model; with ``"coverage"`` bands have another
        probability than 0.95, and ``"from"``, ``"to"`` and ``"grid"`` say where curves are drawn.
        A regression or classification with ``"draft"`` True is for while a point is dragged: the
        solver searches less, and nothing is calibrated.

    Returns
    -------
    dict
        What to draw, by name, with a ``"summary"`` and ``"notes"`` (warnings of the fit); or
        ``"files"``, each with its ``"name"`` and its content as ``"base64"``.

    Raises
    ------
    ValueError
        If a field is not what it should be; the message names it, its value and the remedy, and
        the error's ``field`` is its name.

    See Also
    --------
    sparsebayes.cli.main : ``main(["explore"])`` serves the page.
    sparsebayes.plots.RegressionDisplay : A figure of a regression.

    Examples
    --------
    >>> from sparsebayes.explore import explore
    >>> x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> points = {"x": x, "y": [0.0, 0.8, 0.9, 0.1, -0.7, -1.0, -0.3]}
    >>> request = {"kind": "regression", **points, "width": 1.5, "calibrate": None, "grid": 50}
    >>> answer = explore(request)
    >>> len(answer["grid"]), len(answer["mean"]), answer["summary"]["points"]
    (50, 50, 7)
    >>> saved = explore({"kind": "save", "of": request})
    >>> [file["name"] for file in saved["files"]]
    ['model.skops']
    """
    if not isinstance(request, Mapping):
        raise TypeError(f"request must be a dict with a 'kind', got {brief(request)}.")
    if "kind" not in request:
        raise RequestError(
            "kind", f"request has no 'kind'; it is one of {list(KINDS)}, got {brief(request)}."
        )
    with of_field("kind"):
        check_choice("kind", request["kind"], KINDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _ANSWERS[request["kind"]](request)
    told = [" ".join(str(one.message).split()) for one in caught]
    answer: dict[str, Any] = plain({"kind": request["kind"], **found})
    return answer | {"notes": list(dict.fromkeys(told))}


def _picture(request: Mapping[str, Any]) -> dict[str, Any]:
    view = VIEWS[request["kind"]]
    fields.check_known(request, view.known)
    fields.names(request, view.n_names)
    return view.draw(request, view.fit(request))


def _inner(request: Mapping[str, Any], known: tuple[str, ...]) -> Mapping[str, Any]:
    """The request whose model is asked for."""
    fields.check_known(request, known)
    inner = request.get("of")
    if not isinstance(inner, Mapping) or inner.get("kind") not in VIEWS:
        raise RequestError(
            "of",
            f"of must be a request whose 'kind' is one of {list(VIEWS)}, got {brief(inner)}; send "
            "the one that was drawn.",
        )
    fields.check_known(inner, VIEWS[inner["kind"]].known)
    return inner


def _save(request: Mapping[str, Any]) -> dict[str, Any]:
    """A model file; of a signal the result as a table."""
    inner = _inner(request, ("kind", "of"))
    view = VIEWS[inner["kind"]]
    names = fields.names(inner, view.n_names)
    model = view.fit(inner)
    if inner["kind"] == "denoise":
        return {"files": [_file("signal.csv", _table(view.draw(inner, model)).encode())]}
    given: dict[str, Any] = {}
    if names:
        given = {"feature_names": names[:-1], "target_name": names[-1]}
    return {"files": [_file("model.skops", dumps(model, **given))]}


def _export(request: Mapping[str, Any]) -> dict[str, Any]:
    """A model in another format."""
    inner = _inner(request, ("kind", "of", "to"))
    with of_field("to"):
        check_choice("to", request.get("to"), FORMATS)
    if inner["kind"] == "denoise":
        raise RequestError(
            "of",
            "of is a request of kind 'denoise', which has no model to export; save it instead.",
        )
    view = VIEWS[inner["kind"]]
    names = fields.names(inner, view.n_names)
    model = view.fit(inner)
    given: dict[str, Any] = {}
    if names:
        given["feature_names"] = names[:-1]
        if inner["kind"] == "regression":
            given["target_names"] = names[-1:]
    if request["to"] == "c":
        texts = to_c(model, **given)
        return {"files": [_file(name, text.encode()) for name, text in texts.items()]}
    if request["to"] == "onnx":
        return {"files": [_file("model.onnx", to_onnx(model, **given).SerializeToString())]}
    return {"files": [_file("model.json", f"{to_json(model, **given)}\n".encode())]}


def _file(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "base64": base64.b64encode(content).decode("ascii")}


def _table(answer: Mapping[str, Any]) -> str:
    """Signal and band as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = ("signal", "lower", "upper")
    writer.writerow(columns)
    writer.writerows(zip(*(answer[name].tolist() for name in columns), strict=True))
    return stream.getvalue()


_ANSWERS = {**dict.fromkeys(VIEWS, _picture), "save": _save, "export": _export}
