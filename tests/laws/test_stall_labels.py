"""No default fit of labels ends far below what another of our own routes finds: real sets.

Each set is split at random, at most 400 standardised rows, and fitted by all routes with the same
kernel. An end with more effective parameters than three quarters of the samples does not count.

On the crabs, where the search used to end up to 63 nats too low, two nats are all that may be
missing. On the other sets it is a fortieth of a nat for each sample: there the other routes are
up to 9 nats higher now and then (splice, breast cancer, sonar, image), on the whole without better
predictions. With seeds 401 to 405 one fit of 105 (sonar, 6.6 nats) misses even that. Three quarters
of the fits are within two nats.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from sparsebayes.datasets import load_benchmark
from tests.classical import classical

pytestmark = pytest.mark.slow

RAETSCH = (
    "banana", "breast_cancer", "diabetes", "flare_solar", "german", "heart", "image", "ringnorm",
    "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip
OTHERS = ("pima_ripley", "ripley_synth", "ionosphere", "sonar", "wbc_original")
BUNDLED = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}
SETS = (*RAETSCH, *OTHERS, *BUNDLED)
SEEDS = 301, 302, 303
ROWS = 400
CREDIBLE = 0.75
NEAR = 2.0
PER_SAMPLE = 1 / 40


@cache
def rows_and_labels(name):
    """All rows of a set; a test that has none of them is skipped."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    try:
        found = load_benchmark(f"raetsch_{name}" if name in RAETSCH else name)
    except FileNotFoundError:
        pytest.skip("needs the benchmark data")
    if name == "crabs":
        return found["X"], np.char.add(found["species"], found["sex"])
    if "X" in found:
        return found["X"].astype(float), found["y"]
    return tuple(np.concatenate([found[f"{part}_train"], found[f"{part}_test"]]) for part in "Xy")


def training_rows(name, seed):
    X, y = rows_and_labels(name)
    size = min(ROWS, int(0.7 * len(X)))
    some = np.random.default_rng(seed).permutation(len(X))[:size]
    return StandardScaler().fit_transform(X[some]), y[some]


@cache
def shortfall(name, seed, routes=("mackay", "subspace")):
    """By how much the default ends below the best sane end of the others, and the samples."""
    X, y = training_rows(name, seed)
    ends = {}
    for solver in ("sequential", *routes):
        model = classical(solver=solver, random_state=0).fit(X, y)
        if solver == "sequential":
            assert model.converged_ and np.all(np.diff(model.evidence_path_) >= 0)
        if solver == "sequential" or model.determined_.sum() <= CREDIBLE * len(y):
            ends[solver] = model.evidence_path_[-1]
    return max(ends.values()) - ends["sequential"], len(y)


@pytest.mark.parametrize("seed", range(201, 221))
def test_crabs(seed):
    assert shortfall("crabs", seed, ("mackay", "subspace", "em"))[0] <= NEAR


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SETS)
def test_no_end_is_far_below(name, seed):
    missing, size = shortfall(name, seed)
    assert missing <= max(NEAR, PER_SAMPLE * size)


def test_most_ends_are_near():
    missing = [shortfall(name, seed)[0] for name in SETS for seed in SEEDS]
    assert np.mean(np.array(missing) <= NEAR) >= 0.75, missing
