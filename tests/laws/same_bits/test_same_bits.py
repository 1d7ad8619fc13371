"""The same data and seed give the same bits, whatever the process, its threads and its workers.

What is learned is the same to the last bit, as long as no single product takes 10⁸ multiplications:
those have the threads of BLAS, which add in another order. So have predictions of many rows; they
agree to `TOLERANCE` of the largest.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from tests.laws.same_bits.fits import answers, estimators, public_estimators

ROOT = Path(__file__).parents[3]
TOLERANCE = 1e-9
SETTINGS = {  # threads of BLAS, workers, seed of Python's hashes
    "threads": (2, 1, 0),
    "workers": (1, 2, 0),
    "process": (1, 1, 1),
    "threads, process": (2, 1, 1),
}


@cache
def plain(n_rows):
    """What this process finds, by one thread."""
    with threadpool_limits(1):
        return answers(n_rows, n_jobs=1)


def in_another_process(setting, n_rows):
    threads, n_jobs, hashes = SETTINGS[setting]
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    command = ["-m", "tests.laws.same_bits.fits", "--rows", str(n_rows), "--n-jobs", str(n_jobs)]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONHASHSEED": str(hashes)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_estimator_is_forgotten():
    assert set(estimators(large=False)) == public_estimators()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "n_rows"),
    [
        ("threads, process", 40),
        *(pytest.param(name, 150, marks=pytest.mark.slow) for name in list(SETTINGS)[:3]),
    ],
)
def test_same_bits(setting, n_rows):
    ours, theirs = plain(n_rows), in_another_process(setting, n_rows)
    digests = [{name: one["digest"] for name, one in found.items()} for found in (ours, theirs)]
    assert digests[0] == digests[1]
    for name, one in ours.items():
        expected, found = (np.array(x["predictions"], float) for x in (one, theirs[name]))
        atol = TOLERANCE * np.abs(expected).max()
        assert_allclose(found, expected, rtol=0, atol=atol, err_msg=name)
