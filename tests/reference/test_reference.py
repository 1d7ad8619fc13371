"""Structure may change, numbers may not: every fit gives the bits that are stored."""

import json

import pytest
from threadpoolctl import threadpool_limits

from tests.reference.__main__ import STORE, compare, record, surroundings
from tests.reference.fits import FITS, run

STORED = json.loads(STORE.read_text())


@pytest.mark.skipif(
    STORED["surroundings"] != surroundings(),
    reason="the bits were stored on another processor or with other versions",
)
@pytest.mark.parametrize("name", FITS)
def test_bits(name):
    with threadpool_limits(1):
        found = record(run(name))
    assert compare(found, STORED["fits"][name]) == "same bits"


def test_a_changed_bit_is_found():
    arrays = run("rvr_default")
    stored = record(arrays)
    arrays[0][3] *= 1 + 1e-9
    assert compare(record(arrays), stored).startswith("values differ by")


def test_each_fit_is_stored():
    assert set(STORED["fits"]) == set(FITS)
