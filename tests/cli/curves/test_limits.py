"""``sparsebayes inspect --detection-limit``."""

import numpy as np
import pytest

from sparsebayes import RVR, persistence
from sparsebayes.cli import main
from tests.cli.refusal import fails


def test_limits_are_printed(folder, capsys, model_file):
    assert main(["inspect", model_file]) == 0
    plain = capsys.readouterr().out
    argv = ["inspect", model_file, "--detection-limit", "--blank", "110", "--replicates", "4"]
    assert main(argv) == 0
    text = capsys.readouterr().out
    assert text.startswith(plain)
    found = persistence.load(model_file).detection_limit(110, n_replicates=4)
    assert "limits of temperature by response" in text
    assert f"critical value        response {found.critical_value:.4g}; of blanks 5 %" in text
    assert f"detection limit       temperature {found.detection_limit:.4g}, missed in 5 %" in text
    assert "mean of 4 readings" in text


def test_options(folder, capsys):
    x = np.linspace(0, 10, 50)[:, None]
    y = np.hstack([x, -x]) + 0.1 * np.random.default_rng(0).normal(size=(50, 2))
    model = RVR("linear").fit(x, y)
    persistence.save(model, "m.skops", feature_names=["x"], target_name=["p", "q"])
    argv = ["inspect", "m.skops", "--detection-limit", "--blank", "2", "--alpha", "0.01"]
    assert main([*argv, "--beta", "0.1"]) == 0
    text = capsys.readouterr().out
    for k, side in enumerate(("above", "below")):
        found = model.detection_limit(2.0, alpha=0.01, beta=0.1, target=k)
        assert f"{found.critical_value:.4g}; of blanks 1 % are {side} it" in text
        assert f"x {found.detection_limit:.4g}, missed in 10 %" in text


@pytest.mark.slow
def test_refusals(folder, capsys, model_file, classifier_file):
    fails(capsys, ["inspect", model_file, "--blank", "3"], "--blank belongs to --detection-limit")
    argv = ["inspect", model_file, "--detection-limit"]
    fails(capsys, [*argv, "--blank", "3"], "blank must be an input between 102.8 and 499.4")
    fails(capsys, [*argv, "--replicates", "4"], "not monotone between the blank, 102.8")
    fails(capsys, [*argv, "--alpha", "2"], "must lie between 0 and 1, got '2'")
    fails(capsys, ["inspect", classifier_file, "--detection-limit"], "is for regression")
    X = np.random.default_rng(0).normal(size=(20, 2))
    persistence.save(RVR("linear", calibrate=None).fit(X, X[:, 0]), "two.skops")
    fails(capsys, ["inspect", "two.skops", "--detection-limit"], "needs a model of one input")
