"""Plain-text reports of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes.persistence import StoredModel, final_estimator, package_version

if TYPE_CHECKING:
    from sparsebayes._workflow import Data, Fit

_ROWS = 20  # of the table of relevance vectors
_FEATURES = 4


def fit_report(result: Fit, data: Data, files: Iterable[Path]) -> str:
    """What ``sparsebayes fit`` prints."""
    final = final_estimator(result.model)
    several = len(data.features) > 1
    rows = [
        ("data", f"{data.source}: {len(data.y)} rows, target {data.target}"),
        ("inputs", _listed(data.features)),
        ("", "standardised; the model file holds the scaler" if several else "used as they are"),
        *_settings(final),
    ]
    if result.widths_tried > 1:
        rows.append(("", f"length scale: the highest evidence of {result.widths_tried} tried"))
    rows += _outcome(final)
    rows.append(("training data", f"RMSE {result.rmse:.4g}, R² {result.r2:.4f}"))
    if result.cv:
        cover = f"95 % intervals cover {100 * result.cv.coverage:.1f} %"
        rows.append((f"{result.cv.folds}-fold CV", f"RMSE {result.cv.rmse:.4g}, {cover}"))
    rows += [("note", note) for note in result.notes]
    rows += [("written" if k == 0 else "", str(path)) for k, path in enumerate(files)]
    title = f"sparsebayes {package_version()}: relevance vector regression"
    return "\n".join([title, "", *_lines(rows), "", *_table(final, data.features)])


def inspect_report(record: StoredModel, path: str) -> str:
    """What ``sparsebayes inspect`` prints."""
    final = record.final
    names = record.feature_names or [f"x{j}" for j in range(final.n_features_in_)]
    steps = [type(step).__name__ for _, step in getattr(record.model, "steps", [])[:-1]]
    rows = [
        ("file", path),
        ("kind", " after ".join([type(final).__name__, *reversed(steps)])),
        ("written by", f"sparsebayes {record.version}"),
        ("inputs", _listed(names)),
        ("target", record.target_name or "not named"),
        *_settings(final),
        *_outcome(final),
    ]
    return "\n".join([*_lines(rows), "", *_table(final, names)])


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{len(names)} ({shown})"


def _settings(final: Any) -> list[tuple[str, str]]:
    noise = "noise estimated" if final.noise == "estimate" else f"noise variance {final.noise:g}"
    return [
        ("basis", f"{final.basis_}"),
        ("solver", f"{final.solver}, prior {final.prior}, {noise}"),
    ]


def _outcome(final: Any) -> list[tuple[str, str]]:
    stop = f"{final.stop_reason_} (iteration {final.n_iter_})"
    return [
        ("relevance vectors", _kept(final)),
        ("noise std", f"{np.sqrt(final.noise_variance_):.4g}"),
        ("log evidence", f"{final.log_evidence_:.4f}"),
        ("stopped", stop if final.converged_ else f"NOT CONVERGED: {stop}"),
    ]


def _vectors(final: Any) -> np.ndarray:
    """Relevance vectors, none for bases without centres."""
    vectors = getattr(final, "relevance_vectors_", None)
    return np.empty((0, final.n_features_in_)) if vectors is None else np.asarray(vectors)


def _kept(final: Any) -> str:
    centred = len(_vectors(final))
    loose = len(final.coef_) - centred
    if loose == 0:
        return f"{centred}"
    if loose == 1 and final.bias:
        return f"{centred}, and the bias"
    return f"{centred}, and {loose} functions without a centre"


def _lines(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {text}" for name, text in rows]


def _table(final: Any, features: list[str]) -> list[str]:
    """The kept basis functions: where they sit, their weight and its posterior std."""
    weights, stds = final.coef_, np.sqrt(np.diag(final.sigma_))
    vectors = _vectors(final)
    loose = len(weights) - len(vectors)  # functions without a centre come first
    shown = features[:_FEATURES]
    cells = [["function", *shown, "weight", "std"]]
    order = np.arange(len(weights))
    if len(order) > _ROWS:
        order = np.sort(np.argsort(-np.abs(weights) / stds)[:_ROWS])
    for k in order:
        if k < loose:
            name, where = ("bias" if final.bias and k == 0 else ""), [""] * len(shown)
        else:
            name, where = "", [f"{v:.5g}" for v in vectors[k - loose, : len(shown)]]
        name = name or f"#{final.relevance_[k]}"
        cells.append([name, *where, f"{weights[k]:.5g}", f"{stds[k]:.3g}"])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
    lines.insert(1, "-" * len(lines[0]))
    if len(order) < len(weights):
        lines.append(f"({len(weights) - len(order)} more, of smaller weight relative to their std)")
    return lines
