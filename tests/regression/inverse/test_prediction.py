"""Inverse predictions: against dense integration, closed forms, and simulated readings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, norm, uniform
from scipy.stats import t as student
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sparsebayes import RVR, ReducedRankGPR, StudentT
from sparsebayes._support.calibration import normal_width
from sparsebayes.datasets import load_sensor, make_sensor
from sparsebayes.regression import inverse_predict


@pytest.fixture(scope="module")
def sensor():
    data = load_sensor()
    return RVR().fit(data.data, data.target)


@pytest.fixture(scope="module")
def line():
    """y = 3 + 2 x with a known noise of 0.5, from 0 to 10."""
    x = np.linspace(0, 10, 50)
    y = 3 + 2 * x + 0.5 * np.random.default_rng(0).standard_normal(50)
    return RVR("linear", noise=0.25, calibrate=None).fit(x[:, None], y)


@pytest.fixture(scope="module")
def pair():
    """Two targets over one input; one rises, the other waves."""
    x = np.linspace(0, 10, 60)
    y = np.column_stack([x, 3 * np.sin(x)])
    y += [0.4, 0.3] * np.random.default_rng(1).standard_normal((60, 2))
    return RVR().fit(x[:, None], y)


def dense(log_density, bounds, coverage=0.95, size=200_001):
    """Grid, probabilities of its points, and those in the set of the highest density."""
    x = np.linspace(*bounds, size)
    log = log_density(x)
    p = np.exp(log - log.max())
    p /= p.sum()
    order = np.argsort(-p)
    inside = np.zeros(size, dtype=bool)
    inside[order[: np.searchsorted(np.cumsum(p[order]), coverage) + 1]] = True
    return x, p, inside


def check(found, i, log_density, rtol=1e-3):
    """Reading i of an inverse prediction is what a fine grid gives."""
    x, p, inside = dense(log_density, found.bounds, found.coverage)
    mean = p @ x
    spread = np.sqrt(p @ (x - mean) ** 2)
    close = {"rtol": 0, "atol": rtol * spread}
    assert_allclose(found.mean[i], mean, **close)
    assert_allclose(found.std[i], spread, **close)
    assert_allclose(found.mode[i], x[p.argmax()], rtol=0, atol=0.03 * spread)
    assert_allclose(found.quantile([0.1, 0.5, 0.9])[i], np.interp([0.1, 0.5, 0.9], np.cumsum(p), x),
                    rtol=0, atol=5 * rtol * spread)  # fmt: skip
    ends = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]]))).reshape(-1, 2)
    expected = np.column_stack([x[ends[:, 0]], x[ends[:, 1] - 1]])
    assert_allclose(found.intervals[i], expected, rtol=0, atol=5 * rtol * spread)
    for branch, (a, b) in zip(found.branches[i], ends, strict=True):
        assert_allclose(branch.probability, p[a:b].sum(), atol=1e-3)
        assert_allclose(branch.mean, p[a:b] @ x[a:b] / p[a:b].sum(), rtol=0, atol=5 * rtol * spread)
        assert branch.lower <= branch.mode <= branch.upper
    where = found.quantile([0.1, 0.3, 0.5, 0.7, 0.9])[i]
    density = np.interp(where, x, p / (x[1] - x[0]))
    assert_allclose(found.pdf(where)[i], density, atol=0.01 * density.max(), rtol=0.02)


def test_as_a_dense_grid_says(sensor):
    y = np.array([22.0, 25.0, 40.0, 55.0, 63.0, 70.0])
    found = sensor.inverse_predict(y)
    assert found.explained.all() and len(found) == 6
    assert max(map(len, found.branches)) >= 3
    for i, value in enumerate(y):

        def log_density(x, value=value):
            mean, std = sensor.predict(x[:, None], return_std=True)
            return norm.logpdf(value, mean, std)

        check(found, i, log_density)
        total = sum(branch.probability for branch in found.branches[i])
        assert_allclose(total, 0.95, atol=1e-6)


def test_line_in_closed_form(line):
    # With the curve known well, x is normal with mean (y - a)/b and std s/|b|.
    found = line.inverse_predict([13.0, 8.2], coverage=0.9)
    slope, (mean, std) = line.coef_[0], line.predict([[5.0]], return_std=True)
    expected = 5.0 + (13.0 - mean[0]) / slope
    assert_allclose(found.mean[0], expected, rtol=1e-4)
    assert_allclose(found.std[0], std[0] / slope, rtol=5e-3)
    assert_allclose(found.intervals[0][0], norm.interval(0.9, expected, std[0] / slope), rtol=1e-3)
    assert_allclose(found.quantile(0.5)[0, 0], expected, rtol=1e-4)


@pytest.mark.parametrize("deviation", [1e-3, 1e-6])
def test_narrow_peaks_are_found(deviation):
    x = np.linspace(0, 10, 80)
    model = RVR(noise=deviation**2, calibrate=None).fit(x[:, None], np.sin(x))
    true = np.array([0.4, 3.3, 7.123456, 9.0])
    found = model.inverse_predict(model.predict(true[:, None]))
    assert found.contains(true).all()
    others = np.pi - true[0]  # the sine comes to the same value here, and a period later
    assert len(found.branches[0]) == 4
    assert_allclose([b.mean for b in found.branches[0]][:2], [0.4, others], atol=20 * deviation)
    # The curve of the model itself, not a chord of it, is where it should be.
    assert_allclose(found.branches[0][0].mode, 0.4, rtol=0, atol=0.05 * deviation)
    width = found.intervals[0][0] @ [-1, 1]
    assert_allclose(width, 2 * norm.ppf(0.5 + 0.5 * 0.95) * deviation / np.cos(0.4), rtol=0.3)


def test_units_make_no_difference():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (60, 1))
    y = 5 * x[:, 0] / (2 + x[:, 0]) + 0.1 * rng.standard_normal(60)
    options = {"calibrate": None, "noise": 0.01}
    first = RVR("linear_spline", **options).fit(x, y).inverse_predict([1.5, 3.0])
    options["noise"] = 1e6
    other = RVR("linear_spline", **options).fit(x, 1e4 * y + 1e5).inverse_predict([115e3, 130e3])
    assert_allclose(other.mean, first.mean, rtol=1e-6)
    assert_allclose(other.intervals, first.intervals, rtol=1e-5)
    model = make_pipeline(StandardScaler(), RVR(noise=0.01)).fit(x, y)
    again = make_pipeline(StandardScaler(), RVR(noise=0.01)).fit(1e3 * x - 7, y)
    found, moved = (inverse_predict(one, [1.5, 3.0]) for one in (model, again))
    assert_allclose(moved.mean, 1e3 * found.mean - 7, rtol=1e-6)
    assert_allclose(moved.std, 1e3 * found.std, rtol=1e-6)
    assert_allclose(moved.bounds, 1e3 * np.array([x.min(), x.max()]) - 7)


@pytest.mark.slow
def test_bundled_sensor_is_covered(sensor):
    X, y, _ = make_sensor(500, random_state=2024)
    x = X[:, 0]
    found = sensor.inverse_predict(y)
    assert 0.92 <= found.contains(x).mean() <= 0.98
    assert found.explained.mean() > 0.98
    half = sensor.inverse_predict(y, coverage=0.5)
    assert 0.44 <= half.contains(x).mean() <= 0.56


def test_replicates_average_the_noise_not_the_curve(sensor):
    each = np.array([[40.5, 42.0, 41.0, 40.1]])
    found = sensor.inverse_predict(each)
    mean = sensor.inverse_predict(each.mean(axis=1), n_replicates=4)
    assert_allclose(found.mean, mean.mean, rtol=1e-9)
    assert_allclose(found.intervals[0], mean.intervals[0], rtol=1e-9)

    def log_density(x):
        value, std = sensor.predict(x[:, None], return_std=True, include_noise=False)
        total = sensor.predict(x[:, None], return_std=True)[1]
        noise = (total**2 - std**2) / 4
        return norm.logpdf(each.mean(), value, np.sqrt(std**2 + noise))

    check(found, 0, log_density)
    many = sensor.inverse_predict([40.9], n_replicates=10**6)
    assert 0.05 < many.branches[0][0].upper - many.branches[0][0].lower < 10  # the curve's own
    several = sensor.inverse_predict([40.9, 40.9], n_replicates=[1, 4])
    assert_allclose(several.std, [sensor.inverse_predict([40.9]).std[0], mean.std[0]], rtol=1e-2)


@pytest.mark.slow
def test_spread_of_replicates_tells_where_the_noise_is():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (300, 1))
    y = np.sin(0.6 * x[:, 0]) + 0.05 * (1 + x[:, 0]) * rng.standard_normal(300)
    model = RVR(noise="varying").fit(x, y)
    level = np.sin(0.6)  # at 1 and at 4.2
    first = model.inverse_predict(level + np.outer([0.1, 0.4], [1, -1, 1, -1]))
    below = [sum(b.probability for b in found if b.mean < 2.6) for found in first.branches]
    assert below[0] > 0.7 > 0.3 > below[1]


@pytest.mark.slow
def test_outliers():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 10, 100))
    y = x + 0.3 * rng.standard_t(2, 100)
    model = RVR("linear", noise=StudentT(2.0)).fit(x[:, None], y)
    found = model.inverse_predict([5.0])
    scale = normal_width(2.0)

    def log_density(x):
        mean, std = model.predict(x[:, None], return_std=True)
        return student.logpdf((5.0 - mean) * scale / std, 2.0) - np.log(std)

    check(found, 0, log_density, rtol=3e-3)
    # Of four readings one is an outlier, and hardly counts; their mean would be 6.
    found = model.inverse_predict([[5.0, 5.1, 4.9, 9.0]])

    def all_four(x):
        mean, total = model.predict(x[:, None], return_std=True)
        std = model.predict(x[:, None], return_std=True, include_noise=False)[1]
        wide = np.sqrt(total**2 - std**2) / scale
        z = np.linspace(-6, 6, 241)
        value = mean[:, None] + std[:, None] * z
        logs = norm.logpdf(z) + sum(
            student.logpdf((one - value) / wide[:, None], 2.0) for one in (5.0, 5.1, 4.9, 9.0)
        )
        return np.log(np.exp(logs).sum(axis=1))

    grid = np.linspace(*found.bounds, 4001)
    p = np.exp(all_four(grid))
    assert_allclose(found.mean[0], p @ grid / p.sum(), rtol=1e-3)
    assert 4.9 < found.mean[0] < 5.3 and found.explained[0]
    with pytest.raises(ValueError, match="give all of them, y of shape"):
        model.inverse_predict([5.0], n_replicates=4)


def test_several_targets_are_read_at_once(pair):
    y = np.array([[2.2, 3 * np.sin(2.2)], [6.0, 3.0]])
    found = pair.inverse_predict(y)

    def log_density(x):
        mean, std = pair.predict(x[:, None], return_std=True)
        return norm.logpdf(y[0], mean, std).sum(axis=1)

    check(found, 0, log_density)
    assert len(found.branches[0]) == 1
    # Both readings are on their curves, but not at one input.
    assert found.explained.tolist() == [True, False]
    grid = np.linspace(*found.bounds, 20001)
    mean, std = pair.predict(grid[:, None], return_std=True)
    distance = (((y[1] - mean) / std) ** 2).sum(axis=1).min()
    assert_allclose(found.p_value[1], chi2.sf(distance, 2), rtol=1e-2)
    twice = pair.inverse_predict(np.repeat(y[:, :, None], 3, axis=2))
    assert_allclose(twice.mean, pair.inverse_predict(y, n_replicates=3).mean, rtol=1e-9)


def test_readings_that_nothing_explains_are_told(sensor, line):
    found = sensor.inverse_predict([50.0, 99.0, -1e9, 1e60])
    assert found.explained.tolist() == [True, False, False, False]
    for values in (found.mean, found.std, found.mode, found.p_value, found.lower, found.upper):
        assert np.isfinite(values).all()
    flat = RVR(calibrate=None).fit(np.arange(20.0)[:, None], np.full(20, 5.0))
    found = flat.inverse_predict([5.0, 6.0])  # all inputs are as likely
    assert found.explained.tolist() == [True, False]
    assert_allclose(found.intervals, [[[0, 19]]] * 2)
    assert_allclose([found.mean, found.std], np.array([[9.5], [19 / 12**0.5]]) * [1, 1], rtol=1e-6)
    above = line.inverse_predict([line.predict([[10.0]])[0] + 0.5])
    assert above.explained[0] and above.upper[0] == above.bounds[1] == 10.0
    assert line.inverse_predict([23.5], bounds=(0, 12)).mean[0] > 10.0


def test_prior(sensor):
    prior = norm(390, 5)
    found = sensor.inverse_predict([60.0], prior=prior)

    def log_density(x):
        mean, std = sensor.predict(x[:, None], return_std=True)
        return norm.logpdf(60.0, mean, std) + prior.logpdf(x)

    check(found, 0, log_density)
    assert len(sensor.inverse_predict([60.0]).branches[0]) > len(found.branches[0]) == 1
    part = sensor.inverse_predict([45.0], prior=uniform(300, 200))
    same = sensor.inverse_predict([45.0], bounds=(300, sensor.inverse_predict([45.0]).bounds[1]))
    assert_allclose(part.intervals[0], same.intervals[0], atol=0.02)
    narrow = sensor.inverse_predict([40.0], prior=norm(333.3, 1e-5))
    assert_allclose([narrow.mean[0], narrow.std[0]], [333.3, 1e-5], rtol=2e-2)


def test_priors_that_are_vague_or_near_the_end(line):
    plain = line.inverse_predict([13.0])
    vague = line.inverse_predict([13.0], prior=norm(0, 1e9))  # 4e-9 of it in the range
    assert_allclose(vague.intervals, plain.intervals, rtol=1e-6)
    assert line.inverse_predict([22.0], prior=norm(11, 0.3)).mean[0] > 9.4


def test_one_reading_is_a_number(line, pair):
    one, first = line.inverse_predict(13.0), line.inverse_predict([13.0])
    assert len(one) == 1
    assert_allclose(one.intervals, first.intervals, rtol=0)
    x = np.linspace(0, 10, 30)[:, None]
    column = RVR("linear").fit(x, 2 * x + np.random.default_rng(0).normal(size=(30, 1)))
    assert_allclose(column.inverse_predict(9.0).mean, column.inverse_predict([[9.0]]).mean, rtol=0)
    with pytest.raises(ValueError, match=r"\(n, 2\), or \(n, 2, R\).*2 targets, got \(\)"):
        pair.inverse_predict(13.0)


def test_one_of_several_inputs():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (80, 2))
    y = 3 * X[:, 0] + 2 * X[:, 1] + 0.05 * rng.standard_normal(80)
    model = RVR("linear").fit(X, y)
    found = model.inverse_predict([2.0, 2.0, 3.0], X=[[np.nan, 0.1], [np.nan, 0.7], [np.nan, 0.1]])
    assert_allclose(found.mean, [0.6, 0.2, 0.933], atol=0.03)
    assert_allclose(model.inverse_predict([2.0], X=[0.2, np.nan]).mean, [0.7], atol=0.05)
    scaled = make_pipeline(StandardScaler(), RVR("linear")).fit(X, y)
    assert_allclose(inverse_predict(scaled, [2.0], X=[np.nan, 0.1]).mean, [0.6], atol=0.03)


def test_other_models():
    x = np.linspace(0, 10, 40)[:, None]
    y = np.sqrt(x[:, 0]) + 0.02 * np.random.default_rng(0).standard_normal(40)
    found = ReducedRankGPR(random_state=0).fit(x, y).inverse_predict([2.0])
    assert_allclose(found.mean, [4.0], atol=0.15)
    squares = make_pipeline(FunctionTransformer(np.square), RVR()).fit(x, y)
    with pytest.raises(ValueError, match=r"cannot be gone back.*give bounds=\(low, high\)"):
        inverse_predict(squares, [2.0])
    assert_allclose(inverse_predict(squares, [2.0], bounds=(0, 10)).mean, [4.0], atol=0.5)
    with pytest.raises(TypeError, match=r"must be an RVR or a ReducedRankGPR.*StandardScaler"):
        inverse_predict(StandardScaler().fit(x), [1.0])


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([np.nan], {}, "y contains NaN"),
        ([np.inf], {}, "y contains infinity"),
        ([1e61], {}, "largest reading is 1e[+]61"),
        (["high"], {}, "y: could not convert string to float"),
        (None, {}, "requires y to be passed"),
        (np.empty(0), {}, "y must have shape"),
        (np.ones((2, 2, 2)), {}, r"got \(2, 2, 2\)"),
        ([5.0], {"coverage": 1.0}, "coverage must lie between 0 and 1, got 1.0"),
        ([5.0], {"bounds": (3, 1)}, r"low < high, got \(3, 1\)"),
        ([5.0], {"bounds": 7}, "two finite numbers"),
        ([5.0], {"n_replicates": 0}, "n_replicates must be a whole number >= 1, got 0"),
        ([5.0], {"n_replicates": [1, 2]}, "one for each of the 1 readings"),
        ([[5.0, 5.1]], {"n_replicates": 2}, "give one or the other"),
        ([5.0], {"prior": "normal"}, "a method logpdf"),
        ([5.0], {"prior": uniform(50, 1)}, "no mass between 0 and 10"),
        ([5.0], {"prior": norm(1e5, 1)}, r"prior=.*between 0 and 10, but between 99995"),
        (
            [5.0],
            {"prior": norm(-50, 10)},
            "no mass between 0 and 10, but between -97.5342 and -2.46",
        ),
        ([5.0], {"X": [1.0, np.nan]}, r"one column for each input.*got \(2,\)"),
        ([5.0], {"X": [1.0]}, "NaN in the column"),
    ],
)
def test_what_cannot_be_is_told(line, y, options, message):
    with pytest.raises(ValueError, match=message):
        line.inverse_predict(y, **options)


def test_shapes_are_those_of_the_targets(pair):
    with pytest.raises(ValueError, match=r"\(n, 2\), or \(n, 2, R\).*2 targets, got \(2,\)"):
        pair.inverse_predict([1.0, 2.0])
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = RVR("linear", calibrate=None).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"has 2 inputs.*X=\[...\], with NaN"):
        model.inverse_predict([1.0])
    with pytest.raises(ValueError, match="one row, or one for each of the 3 readings, got 2"):
        model.inverse_predict([1.0, 2.0, 3.0], X=[[np.nan, 1.0], [np.nan, 2.0]])
    with pytest.raises(ValueError, match="q must lie between"):
        pair.inverse_predict([[1.0, 1.0]]).quantile(1.5)
