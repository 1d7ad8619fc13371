"""What is learned about the bands of a signal."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.shrinkage_rules import learn_rules
from sparsebayes.dictionaries import DualTree, Wavelet

SIZE = 1024
AROUND = Neighbourhoods(Wavelet("haar").bind((SIZE,)))


def learned(w, noise=1.0, seed=0):
    """Rules for coefficients w with noise, and these."""
    c = w + np.sqrt(noise) * np.random.default_rng(seed).standard_normal(w.shape)
    return learn_rules(AROUND, [c], [noise] * len(AROUND.bands), 1), c


def test_neighbours_count_if_large_ones_come_together():
    together, apart = np.zeros(SIZE), np.zeros(SIZE)
    rng = np.random.default_rng(1)
    together[640:736] = 3.0 * rng.standard_normal(96)
    apart[rng.permutation(np.arange(512, SIZE))[:96]] = 3.0 * rng.standard_normal(96)
    for seed in range(3):
        assert learned(together, seed=seed)[0].of_bands[-1].beside > 0
        assert learned(apart, seed=seed)[0].of_bands[-1].beside == 0


def test_parents_count_if_scales_go_together():
    w = np.zeros(SIZE)
    rng = np.random.default_rng(1)
    for scale in (256, 512):
        w[scale + scale // 4 : scale + scale // 2] = 3.0 * rng.standard_normal(scale // 4)
    assert learned(w)[0].of_bands[-1].above > 0
    w[256:512] = w[256:512][::-1]  # now it is elsewhere
    assert learned(w)[0].of_bands[-1].above == 0


def test_estimates_err_as_they_say():
    rng = np.random.default_rng(2)
    w = np.zeros(SIZE)
    w[:128] = 4.0 * rng.standard_normal(128)
    w[640:768] = 2.0 * rng.standard_normal(128)
    errors, promised = [], []
    for seed in range(10):
        rules, c = learned(w, noise=0.5, seed=seed)
        means, variances, kept = rules.shrunk(AROUND, c)
        errors.append(np.mean((means - w) ** 2))
        promised.append(variances.mean())
        assert errors[-1] < 0.6 * np.mean((c - w) ** 2)
        assert 80 < kept < 400
    assert_allclose(np.mean(promised), np.mean(errors), rtol=0.15)


def test_the_scale_does_not_matter():
    w = np.where(np.arange(SIZE) < 64, 5.0, 0.0)
    rules, c = learned(w)
    other = learn_rules(AROUND, [10 * c], [100.0] * len(AROUND.bands), 1)
    assert_allclose(other.shrunk(AROUND, 10 * c)[0], 10 * rules.shrunk(AROUND, c)[0], rtol=1e-9)
    # A density of numbers ten times as large is a tenth.
    assert_allclose(other.log_evidence, rules.log_evidence - np.log(10.0), rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_left_of_noise(seed):
    rules, c = learned(np.zeros(SIZE), seed=seed)
    means, _, kept = rules.shrunk(AROUND, c)
    assert np.sqrt(np.mean(means**2)) < 0.15 and kept < 5


def test_of_much_noise_some_looks_like_a_signal():
    """A band of a million coefficients has some of five standard deviations: they are not kept."""
    around = Neighbourhoods(Wavelet("haar", level=1).bind((1 << 20,)))
    c = np.random.default_rng(0).standard_normal(1 << 20)
    assert np.abs(c).max() > 4.5
    rules = learn_rules(around, [c], [1.0, 1.0], 1)
    assert np.abs(rules.shrunk(around, c)[0]).max() < 0.1
    # One that noise does not have is.
    c[-7] = 12.0
    rules = learn_rules(around, [c], [1.0, 1.0], 1)
    assert rules.shrunk(around, c)[0][-7] > 6.0


def test_both_parts_of_a_complex_coefficient_are_shrunk_alike():
    transform = DualTree().bind((32, 32))
    around = Neighbourhoods(transform)
    image = np.sin(np.arange(32.0))[:, None] * np.ones(32)
    c = transform.analyse(image + 0.1 * np.random.default_rng(0).standard_normal((32, 32)))
    rules = learn_rules(around, [c], [0.01] * len(around.bands), 4)
    means, errors, _ = rules.shrunk(around, c)
    factor = means / c
    assert_allclose(factor[:, 0], factor[:, 1])
    assert_allclose(errors[:, 0], errors[:, 1])
    assert 0 <= factor.min() < 0.1 and 0.9 < factor.max() < 1.0
