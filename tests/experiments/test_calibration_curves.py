"""The experiment on calibration curves, with few readings."""

import pytest

from experiments._report import Options
from experiments.calibration_curves import coverage


@pytest.mark.slow
def test_every_kind_of_curve_has_a_row():
    values = coverage.run(Options(repetitions=1)).values
    names = [value.name for value in values]
    assert names == ["sensor, as bundled", *coverage.CASES, coverage.TWO]
    assert all(80 < float(value.ours) <= 100 for value in values)


def test_narrower_intervals_would_be_noticed(monkeypatch):
    monkeypatch.setattr(coverage, "READINGS", 300)
    name = "straight line"
    assert 90 < coverage.share_inside(name, 3) <= 99
    case = coverage.CASES[name]
    wrong = case._replace(options={**case.options, "noise": 0.1 * case.sd**2, "calibrate": None})
    monkeypatch.setitem(coverage.CASES, name, wrong)
    assert coverage.share_inside(name, 3) < 60
