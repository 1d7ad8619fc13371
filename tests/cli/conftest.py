"""A folder to work in, and model files that `fit` has written."""

import pytest

from sparsebayes.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.skops"
    assert main(["fit", "-o", str(path), "--quiet", "--length-scale", "30", "--folds", "0"]) == 0
    return str(path)


@pytest.fixture(scope="session")
def classifier_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "c.skops"
    argv = ["fit", "--task", "classification", "-o", str(path), "--quiet", "--folds", "0"]
    assert main([*argv, "--length-scale", "1"]) == 0
    return str(path)
