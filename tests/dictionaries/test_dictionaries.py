"""Dictionaries as operators: what they promise, against the matrix they never form."""

import pickle

import numpy as np
import pytest
import pywt
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import idct

from sparsebayes.dictionaries import DCT, MDCT, DualTree, Kernel, Union, Wavelet, as_dictionary
from sparsebayes.dictionaries.wavelets import regular_length

LENGTHS = [1, 2, 3, 7, 8, 9, 31, 64, 100, 101, 1000]
SHAPES = [*[(n,) for n in LENGTHS], (1, 9), (7, 5), (8, 31), (24, 33), (16, 16), (5, 9, 11)]
SMALL = [(1,), (2,), (7,), (9,), (31,), (40,), (64,), (7, 5), (9, 12), (16, 8), (3, 9, 4)]
ORTHONORMAL = {
    "haar": Wavelet("haar"),
    "sym8": Wavelet(),
    "one level": Wavelet("db3", level=1),
    "no level": Wavelet("db3", level=0),
    "dct": DCT(),
}
KERNELS = {
    "rbf": Kernel("rbf", 2.0),
    "laplacian": Kernel("laplacian", 3.0),
    "thin_plate": Kernel("thin_plate"),
    "linear_spline": Kernel("linear_spline"),
}
FRAMES = {"dual tree": DualTree(), "dual tree, one level": DualTree(level=1)}
ALL = {**ORTHONORMAL, **FRAMES, **KERNELS, "union": Wavelet("haar") + DCT() + Kernel("rbf", 1.5)}


def ids(shape):
    return "x".join(map(str, shape))


def size(shape):
    return int(np.prod(shape))


def matrix(transform):
    """Φ, (N, M), column by column."""
    units = np.eye(size(transform.coefficient_shape))
    columns = [
        transform.synthesise(unit.reshape(transform.coefficient_shape)).ravel() for unit in units
    ]
    return np.stack(columns, axis=1)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ORTHONORMAL)
@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_inverse(name, shape, rng):
    transform = ORTHONORMAL[name].bind(shape)
    y = rng.standard_normal(shape)
    before = y.copy()
    c = transform.analyse(y)
    assert transform.orthonormal and c.shape == transform.coefficient_shape == shape
    assert_allclose(transform.synthesise(c), y, atol=1e-12)
    assert_allclose(transform.analyse(transform.synthesise(y)), y, atol=1e-12)
    assert_allclose(np.sum(c**2), np.sum(y**2), rtol=1e-12)
    assert_array_equal(y, before)


def test_every_orthogonal_wavelet(rng):
    names = [name for name in pywt.wavelist(kind="discrete") if pywt.Wavelet(name).orthogonal]
    assert len(names) > 60
    for name in set(names) - {"dmey"}:
        for shape in ((101,), (12, 31)):
            y = rng.standard_normal(shape)
            transform = Wavelet(name).bind(shape)
            assert_allclose(transform.synthesise(transform.analyse(y)), y, atol=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", SMALL, ids=ids)
def test_adjoint_and_orthonormality(name, shape, rng):
    transform = ALL[name].bind(shape)
    phi = matrix(transform)
    y = rng.standard_normal(shape)
    assert_allclose(transform.analyse(y).ravel(), phi.T @ y.ravel(), atol=1e-10)
    assert transform.orthonormal == ALL[name].orthonormal
    if transform.orthonormal:
        assert_allclose(phi.T @ phi, np.eye(size(shape)), atol=1e-12)
    assert bool(transform.n_bases) == bool(ALL[name].n_bases) == (name in {**ORTHONORMAL, **FRAMES})
    if transform.n_bases:
        assert_allclose(phi @ phi.T, transform.n_bases * np.eye(size(shape)), atol=1e-12)
        assert_allclose(np.sum(phi**2, axis=0), 1.0, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", SMALL, ids=ids)
def test_squares(name, shape, rng):
    transform = ALL[name].bind(shape)
    squares = matrix(transform) ** 2
    variances = rng.uniform(0.1, 2.0, transform.coefficient_shape)
    weights = rng.uniform(0.1, 2.0, shape)
    assert_allclose(transform.spread(variances).ravel(), squares @ variances.ravel(), rtol=1e-9)
    assert_allclose(transform.gather(weights).ravel(), squares.T @ weights.ravel(), rtol=1e-9)
    same = transform.gather(np.full(shape, 2.0)).ravel()
    assert_allclose(same, 2.0 * squares.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("shape", [(4096,), (64, 64)], ids=ids)
@pytest.mark.parametrize("wavelet", ["haar", "sym8"])
def test_squares_of_large_transforms(shape, wavelet, rng):
    # Too large for the matrix: some functions are enough.
    transform = Wavelet(wavelet).bind(shape)
    weights = rng.uniform(0.1, 2.0, shape)
    gathered = transform.gather(weights).ravel()
    for i in (0, 5, 31, 700, 2100, 4095):
        unit = np.zeros(4096)
        unit[i] = 1.0
        function = transform.synthesise(unit.reshape(shape))
        assert_allclose(transform.spread(unit.reshape(shape)), function**2, atol=1e-13)
        assert_allclose(gathered[i], np.sum(weights * function**2), rtol=1e-10)


def test_squares_of_large_odd_transforms(rng):
    # Exact but for functions across the ends, and of the right sum.
    transform = Wavelet("sym8").bind((4099,))
    variances = rng.uniform(0.5, 1.5, 4099)
    spread = transform.spread(variances)
    some = rng.standard_normal((400, 4099)) * np.sqrt(variances)
    sampled = np.mean(transform.synthesise(some) ** 2, axis=0)
    error = np.abs(sampled / spread - 1.0) * np.sqrt(400 / 2)  # in standard errors
    assert np.mean(error < 3.0) > 0.98
    assert_allclose(spread.sum(), variances.sum(), rtol=0.01)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", [(64,), (31,), (8, 9)], ids=ids)
def test_several_signals_at_once(name, shape, rng):
    transform = ALL[name].bind(shape)
    y = rng.standard_normal((2, 3, *shape))
    c = transform.analyse(y)
    assert c.shape == (2, 3, *transform.coefficient_shape)
    assert_allclose(c[1, 2], transform.analyse(y[1, 2]), atol=1e-12)
    back = transform.synthesise(c)
    assert back.shape == y.shape
    assert_allclose(back[0, 1], transform.synthesise(c[0, 1]), atol=1e-10)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", [(64,), (101,), (8, 9)], ids=ids)
def test_single_precision_is_kept(name, shape, rng):
    transform = ALL[name].bind(shape)
    y = rng.standard_normal(shape)
    c = transform.analyse(y.astype(np.float32))
    assert c.dtype == np.float32 and transform.synthesise(c).dtype == np.float32
    assert_allclose(c, transform.analyse(y), atol=1e-5 * np.abs(c).max())
    assert transform.analyse(y).dtype == np.float64


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_bands_hold_each_coefficient_once(name, shape):
    transform = ALL[name].bind(shape)
    seen = np.zeros(transform.coefficient_shape, dtype=int)
    for band in transform.bands():
        seen[band.index] += 1
    assert_array_equal(seen, 1)


def test_bands_are_scales():
    transform = Wavelet("haar").bind((64,))
    assert [band.index[0].start for band in transform.bands()] == [0, 4, 8, 16, 32]
    y = np.where(np.arange(64) % 2, 1.0, -1.0)  # the fastest there is
    c = transform.analyse(y)
    assert_allclose(np.abs(c[32:]), np.sqrt(2.0))
    assert_allclose(c[:32], 0.0, atol=1e-14)
    c = transform.analyse(np.repeat([1.0, -1.0, 1.0, 1.0], 16))
    assert_allclose(c[4:], 0.0, atol=1e-14)
    cosines = DCT().bind((64,)).bands()
    assert [band.index[0].stop for band in cosines] == [1, 2, 4, 8, 16, 32, 64]


def test_places_are_where_functions_are():
    for dictionary in (Wavelet("haar"), Kernel("laplacian", 1.0)):
        transform = dictionary.bind((64,))
        energy = matrix(transform) ** 2
        centre = (np.arange(64) + 0.5) @ energy / energy.sum(axis=0) / 64
        assert np.abs(transform.places() - centre).max() < 0.02
    assert DCT().bind((64,)).places() is None
    assert Wavelet("haar").bind((16, 4)).places().shape == (64,)


def test_wavelets_are_those_of_pywavelets(rng):
    y = rng.standard_normal(128)
    for name in ("haar", "db4", "sym8"):
        expected = np.concatenate(pywt.wavedec(y, name, mode="periodization", level=3))
        assert_allclose(Wavelet(name, level=3).bind((128,)).analyse(y), expected)
    image = rng.standard_normal((32, 16))
    low, (down, right, both) = pywt.dwt2(image, "db2", mode="periodization")
    expected = np.block([[low, right], [down, both]])
    assert_allclose(Wavelet("db2", level=1).bind((32, 16)).analyse(image), expected)


def test_cosines_are_those_of_the_thesis():
    # S08 (A.4): sqrt(2/N) cos(π k (2n + 1)/(2N)), the first over √2.
    n = np.arange(12)
    expected = np.sqrt(2 / 12) * np.cos(np.pi * np.outer(2 * n + 1, n) / 24)
    expected[:, 0] /= np.sqrt(2)
    assert_allclose(matrix(DCT().bind((12,))), expected, atol=1e-14)
    assert_allclose(expected, idct(np.eye(12), norm="ortho", axis=0), atol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_on_uneven_points_are_the_basis(name, rng):
    points = np.sort(rng.uniform(0.0, 10.0, 20))
    even = np.linspace(0.0, 10.0, 20)
    for t in (points, even):
        transform = KERNELS[name].bind((20,), (t,))
        phi = matrix(transform)
        assert_allclose(phi, phi.T, atol=1e-10)
        if name in ("rbf", "laplacian"):
            distance = np.abs(t[:, None] - t) / KERNELS[name].length_scale
            expected = np.exp(-0.5 * distance**2) if name == "rbf" else np.exp(-distance)
            assert_allclose(phi, expected, atol=1e-12)


def test_length_scales_follow_the_points():
    # In S08 the width is r = 3 for x from −10 to 10; ours is r/√2.
    t = np.linspace(-10.0, 10.0, 21)
    wide = matrix(Kernel("rbf").bind((21,), (t,)))
    assert_allclose(wide, np.exp(-((t[:, None] - t) ** 2) / 9.0), atol=1e-12)
    assert_allclose(matrix(Kernel("rbf").bind((21,), (5.0 * t + 3.0,))), wide, atol=1e-12)
    assert_allclose(matrix(Kernel("gauss").bind((21,))), wide, atol=1e-12)
    assert np.isfinite(matrix(Kernel("rbf").bind((1,)))).all()


def test_unions_are_one_after_another(rng):
    union = as_dictionary("haar + dct") + Kernel("rbf", 2.0)
    transform = union.bind((31,))
    parts = [dictionary.bind((31,)) for dictionary in union.members]
    assert_allclose(matrix(transform), np.hstack([matrix(part) for part in parts]), atol=1e-12)
    w = rng.standard_normal(93)
    split = transform.parts(w)
    assert len(split) == 3
    assert_allclose(np.sum(split, axis=0), transform.synthesise(w), atol=1e-12)
    assert_allclose(split[1], parts[1].synthesise(w[31:62]), atol=1e-12)


def test_names():
    assert as_dictionary("sym8") == Wavelet("sym8")
    assert as_dictionary(" DCT ") == DCT()
    assert as_dictionary("dual_tree") == DualTree()
    assert as_dictionary("mdct") == MDCT()
    assert as_dictionary("gauss").bind((9,)).shape == (9,)
    assert as_dictionary("thin_plate") == Kernel("thin_plate")
    given = Wavelet("db2", level=3)
    assert as_dictionary(given) is given
    union = as_dictionary("haar+thin_plate")
    assert isinstance(union, Union) and not union.orthonormal
    assert union == Wavelet("haar") + Kernel("thin_plate") == "haar" + Kernel("thin_plate")
    nested = (Wavelet("haar") + "dct") + ("rbf" + Wavelet("db2"))
    assert nested.members == (Wavelet("haar"), DCT(), Kernel("rbf"), Wavelet("db2"))
    assert Wavelet("haar").members == (Wavelet("haar"),)


def test_declared_properties():
    assert [d.label for d in (Wavelet("db2"), DCT(), Kernel("gauss"))] == ["db2", "DCT", "gauss"]
    kernels, mixed = "rbf" + Kernel("laplacian"), Kernel("rbf") + "haar"
    assert mixed.label == "rbf + haar"
    assert [d.centred_on_samples for d in (Kernel(), kernels, mixed, DCT())] == [True, True, 0, 0]
    assert [d.needs_regular_grid for d in (Wavelet(), mixed, kernels, DCT())] == [True, True, 0, 0]
    nested = Union((mixed, Union((DCT(),))))
    assert nested.members == (Kernel("rbf"), Wavelet("haar"), DCT())
    assert len(nested.bind((9,)).members) == 3


@pytest.mark.parametrize("name", ["haar", "sym8"])
def test_regular_lengths(name):
    for length in range(1, 200):
        regular = regular_length(length)
        assert length <= regular <= 1.3 * length
        assert Wavelet(name).bind((regular,)).regular
        assert regular == length or not Wavelet(name).bind((length,)).regular


@pytest.mark.parametrize("name", ALL)
def test_members_of_a_transform(name, rng):
    transform = ALL[name].bind((31,))
    w = rng.standard_normal((2, *transform.coefficient_shape))
    split = transform.split(w)
    assert len(split) == len(transform.members) == len(ALL[name].members)
    for member, own, dictionary in zip(transform.members, split, ALL[name].members, strict=True):
        assert own.shape == (2, *member.coefficient_shape)
        assert_allclose(member.synthesise(own), dictionary.bind((31,)).synthesise(own))
    assert_allclose(np.sum(transform.parts(w), axis=0), transform.synthesise(w), atol=1e-12)


@pytest.mark.parametrize("dictionary", ALL.values(), ids=ALL)
def test_dictionaries_can_be_stored_and_compared(dictionary):
    again = pickle.loads(pickle.dumps(dictionary))
    assert again == dictionary and hash(again) == hash(dictionary)
    assert eval(repr(dictionary)) == dictionary


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ("tulip", "'tulip' is not known; use 'dct', 'dual_tree', 'mdct', one of"),
        ("haar+tulip", r"dictionary='haar\+tulip': 'tulip' is not known"),
        ("haar+", "'' is not known"),
        ("bior2.2", "'bior2.2' is not known"),
        ("morl", "'morl' is not known"),
        ("", "dictionary must be a name such as 'sym8'"),
        (3, "dictionary must be a name .* got 3"),
        (None, "got None"),
        (Wavelet, "got <class"),
    ],
)
def test_unknown_names(dictionary, message):
    with pytest.raises(ValueError, match=message):
        as_dictionary(dictionary)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wavelet("bior2.2"), "an orthogonal wavelet .* got 'bior2.2'"),
        (lambda: Wavelet("cmor"), "got 'cmor'"),
        (lambda: Wavelet("dmey"), "got 'dmey'"),  # it says that it is, but changes signals by 2 %
        (lambda: Wavelet(8), "got 8"),
        (lambda: Wavelet("haar", level=-1), "level of Wavelet must be a whole number .* got -1"),
        (lambda: Wavelet("haar", level=True), "got True"),
        (lambda: Wavelet("haar", level=1.5), "got 1.5"),
        (lambda: MDCT(1), "frame of MDCT must be a whole number .* got 1"),
        (lambda: MDCT(64.0), "got 64.0"),
        (lambda: MDCT().bind((8, 9)), r"one axis, got the shape \(8, 9\); name the axis"),
        (lambda: DualTree(-1), "level of DualTree must be a whole number .* got -1"),
        (lambda: Kernel("sinc"), "kernel must be one of .* got 'sinc'"),
        (lambda: Kernel("rbf", 0.0), "length_scale of Kernel must be a positive number, got 0.0"),
        (lambda: Kernel("rbf", np.nan), "got nan"),
        (lambda: Kernel("rbf", "wide"), "got 'wide'"),
        (lambda: Kernel("rbf", True), "got True"),
        (lambda: Wavelet() + 3, "dictionary must be a name"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()
