"""``sparsebayes inspect``: what a stored model is."""

import re

import numpy as np

from sparsebayes import persistence
from sparsebayes._support.version import package_version
from sparsebayes.cli import main


def test_inspect(capsys, model_file):
    assert main(["inspect", model_file]) == 0
    out = capsys.readouterr().out
    model = persistence.load(model_file)
    for text in ("RVR", "temperature", "response", "sequential", f"{model.log_evidence_:.4f}"):
        assert text in out
    assert re.search(rf"relevance vectors +{len(model.relevance_vectors_)}\b", out)
    assert f"sparsebayes {package_version()}" in out


def test_inspect_a_classification(capsys, classifier_file):
    assert main(["inspect", classifier_file]) == 0
    out = capsys.readouterr().out
    model = persistence.load(classifier_file)[-1]
    for text in ("RVC after StandardScaler", "3 (ammonia, ethanol, methane)", "softmax", "film_a"):
        assert text in out
    for label, n in zip(model.classes_, np.isfinite(model.alpha_).sum(axis=1), strict=True):
        assert f"{label}: {n}" in out
    for weight in model.weights_[np.isfinite(model.alpha_)]:
        assert f"{weight:.5g}" in out
    assert re.search(rf"relevance vectors +{len(model.relevance_vectors_)}\b", out)
