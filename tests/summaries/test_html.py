"""What notebooks show: the diagram of scikit-learn, and of fitted models the summary."""

from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    RVC,
    RVR,
    Denoiser,
    Forecaster,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ParetoClassifier,
    ReducedRankGPR,
)

X = np.random.default_rng(0).standard_normal((40, 2))
Y = X[:, 0] + 0.1 * X[:, 1] ** 2

FITTED = {
    "RVR": lambda: RVR("linear", calibrate=None).fit(X, Y),
    "RVC": lambda: RVC("linear", link="logit", calibrate=None).fit(X, Y > 0),
    "ReducedRankGPR": lambda: ReducedRankGPR(n_support=5, calibrate=None).fit(X, Y),
    "LeaveOneOutGPR": lambda: LeaveOneOutGPR().fit(X, Y),
    "NoisyInputGPR": lambda: NoisyInputGPR(input_noise=0.1, method="slope").fit(X, Y),
    "Forecaster": lambda: Forecaster(lags=1, difference=None, calibrate=None).fit(Y),
    "Denoiser": lambda: Denoiser().fit(X),
    "ParetoClassifier": lambda: ParetoClassifier(
        n_evaluations=100, population=20, seeds=None, random_state=0
    ).fit(X, Y > 0),
}


class Balance(HTMLParser):
    """Every tag is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "input", "path", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_model_shows_its_summary_below_the_diagram(name):
    model = FITTED[name]()
    shown = model._repr_html_()
    summary = model.summary()._repr_html_()
    assert "sk-container" in shown and shown.endswith(summary)
    assert model._repr_mimebundle_()["text/html"].endswith(summary)
    told = "".join(Balance(summary).text)
    assert model.summary().title in told
    for label, text in model.summary().rows():
        assert label in told and text in told
    assert "color: inherit" in summary and "background: none" in summary
    assert not any(word in summary for word in ("http", "<script", "<img", "#fff", "#000"))
    assert len(summary) < 20_000
    assert repr(model.summary()) == str(model.summary())


@pytest.mark.parametrize("model", [RVR(), RVC(), Forecaster(), Denoiser()])
def test_an_unfitted_model_shows_the_diagram_alone(model):
    shown = model._repr_html_()
    assert "sk-container" in shown and 'class="sparsebayes"' not in shown


def test_scikit_learn_decides_whether_there_is_html():
    model = FITTED["RVR"]()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    steps = make_pipeline(StandardScaler(), RVR("linear", calibrate=None)).fit(X, Y)
    assert "sk-container" in steps._repr_html_()


def test_names_are_escaped():
    model = FITTED["RVR"]()
    summary = model.summary(feature_names=["<script>", "a & b"])
    shown = summary._repr_html_()
    assert "&lt;script&gt;" in shown and "<script>" not in shown
    assert "a &amp; b" in shown
    assert "<script>" in str(summary)
