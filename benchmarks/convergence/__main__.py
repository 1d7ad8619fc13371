"""``python -m benchmarks.convergence``: how often another route ends above the default.

All routes climb the same function: at a given length scale, labels by the logit; or, with
``--learned``, at the scales and the likelihood that `RVR()` and `RVC()` choose. A route falls short
where it says `converged_` and another, not collapsed, ends more than a nat higher. What is measured
is stored, and not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.tools.random_problems import RandomProblem, random_problem
from sparsebayes import EM, RVC, RVR, Sequential, Subspace
from sparsebayes.basis import RBF
from sparsebayes.engine import Policy

DEFAULT = "default"
ROUTES: dict[str, Any] = {
    DEFAULT: "sequential",
    "brief": Sequential(brief=True),
    "em": EM(),
    "mackay": EM(mackay=True),
    "subspace": Subspace(),
    "subspace by EM": Subspace(n_add=20, updates="em"),
}
CREDIBLE = 0.75  # of the samples: with more effective parameters an end counts as collapsed
CERTAIN = Policy().certain  # with a larger f, too: labels that are known for certain
NAT = 1.0
KINDS = ("regressions", 0), ("classifications", 1)  # and the rest of their seeds by 2
EVERY = 10  # problems after which all is stored


class End(NamedTuple):
    """Where a route ended, whether it is sane and claims to have converged, and the CPU time."""

    evidence: float
    sane: int
    converged: int
    seconds: float


Ends = dict[str, End]


def measure(problem: RandomProblem, *, learned: bool) -> Ends:
    """The ends of all routes; where scales are `learned` the default is `RVR()` or `RVC()`."""
    basis, link = RBF(problem.length_scale), "logit"
    ends: Ends = {}
    for name, solver in ROUTES.items():
        before = time.process_time()
        if name == DEFAULT and learned:
            model = default_call(problem)
            basis, link = RBF(model.length_scale_), getattr(model, "link_", link)
        else:
            model = fixed(problem, basis, link, solver)
        ends[name] = End(
            round(float(model.evidence_path_[-1]), 2),
            int(sane(problem, model)),
            int(model.converged_),
            round(time.process_time() - before, 3),
        )
    return ends


def sane(problem: RandomProblem, model: RVR | RVC) -> bool:
    """Whether a model knows neither its targets nor its labels by heart."""
    if np.sum(model.determined_) > CREDIBLE * len(problem.y):
        return False
    if not problem.labelled or model.link_ == "least_squares":
        return True
    f = model.decision_function(problem.X, return_std=True)[0]
    return bool(np.abs(f).max() <= CERTAIN)


def default_call(problem: RandomProblem) -> RVR | RVC:
    """A regression without calibration, on which nothing here depends; labels choose by it."""
    model = RVC() if problem.labelled else RVR(calibrate=None)
    return model.fit(problem.X, problem.y, problem.weights)


def fixed(problem: RandomProblem, basis: RBF, link: Any, solver: Any) -> RVR | RVC:
    """The same model at these length scales, by a route."""
    model: RVR | RVC = RVR(basis, solver=solver, calibrate=None, random_state=0)
    if problem.labelled:
        model = RVC(basis, link=link, solver=solver, calibrate=None, random_state=0)
    return model.fit(problem.X, problem.y, problem.weights)


def shortfall(ends: Ends, name: str, *, collapsed: bool = False) -> float:
    """By how much the best sane end of the others is higher; 0 where the route claims no end.

    Where `collapsed`, the best of all ends.
    """
    own = ends[name]
    if not own.converged:
        return 0.0
    others = [
        end.evidence for other, end in ends.items() if other != name and (end.sane or collapsed)
    ]
    return max(0.0, max(others, default=-np.inf) - own.evidence)


def table(records: dict[str, Ends]) -> str:
    """One row for each kind of problem and route."""
    lines = [
        "| problems | route | number | converged | another > 1 nat higher | worst, nats | CPU, s |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kind, rest in KINDS:
        chosen = [ends for seed, ends in records.items() if int(seed) % 2 == rest]
        if not chosen:
            continue
        for name in ROUTES:
            converged = sum(ends[name].converged for ends in chosen)
            gaps = [shortfall(ends, name) for ends in chosen]
            below = sum(gap > NAT for gap in gaps)
            seconds = sum(ends[name].seconds for ends in chosen)
            lines.append(
                f"| {kind} | {name} | {len(chosen)} | {converged} | "
                f"{below} ({below / len(chosen):.1%}) | {max(gaps):.1f} | {seconds:.0f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convergence", description=__doc__)
    parser.add_argument("--problems", type=int, default=500, help="default: %(default)d")
    parser.add_argument("--first", type=int, default=0, help="the first seed; even: a regression")
    parser.add_argument("--learned", action="store_true", help="`RVR()` and `RVC()` as they are")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/evidence/convergence.json"),
        help="default: %(default)s",
    )
    arguments = parser.parse_args()
    stored = json.loads(arguments.out.read_text("utf-8")) if arguments.out.exists() else {}
    records = stored.setdefault("learned" if arguments.learned else "given", {})
    seeds = range(arguments.first, arguments.first + arguments.problems)
    missing = [seed for seed in seeds if str(seed) not in records]
    for number, seed in enumerate(missing, 1):
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            records[str(seed)] = measure(random_problem(seed), learned=arguments.learned)
        if number % EVERY == 0 or number == len(missing):
            arguments.out.write_text(json.dumps(stored, separators=(",", ":")), encoding="utf-8")
    shown = {
        str(seed): {name: End(*end) for name, end in records[str(seed)].items()} for seed in seeds
    }
    print(table(shown))
    for kind, rest in KINDS:
        chosen = [ends for seed, ends in shown.items() if int(seed) % 2 == rest]
        below = sum(shortfall(ends, DEFAULT, collapsed=True) > NAT for ends in chosen)
        print(f"With collapsed ends, above the default: {below} of {len(chosen)} {kind}")
    print("\nThe default falls short:")
    for seed, ends in shown.items():
        gap = shortfall(ends, DEFAULT)
        if gap > NAT:
            best = max(ends, key=lambda name: (ends[name].sane, ends[name].evidence))
            print(f"  {random_problem(int(seed)).name}: {best} +{gap:.1f}")


if __name__ == "__main__":
    main()
