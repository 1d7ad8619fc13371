"""Each operation as nodes, in onnxruntime, gives what the table of operations says."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from sparsebayes.export import ExportedModel, to_onnx
from sparsebayes.export.onnx.nodes import NODES
from sparsebayes.export.programs.operations import OPERATIONS
from sparsebayes.export.programs.program import ProgramBuilder
from tests.export.sessions import DTYPES, exported

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(7, 3))
MANY = RNG.normal(size=(300, 12))  # by a product of matrices, or input by input
ROWS = RNG.normal(size=(20, 12))
ROWS[0] = MANY[5]  # a distance of 0
TALL = RNG.normal(size=(20, 6, 3))
SYMMETRIC = (TALL.transpose(0, 2, 1) @ TALL).reshape(20, 9)
LOWER = np.tril(RNG.normal(size=(3, 3))) + 3 * np.eye(3)
TRIANGLE = np.arange(1.0, 7.0)
A, B, C = ROWS[:, :3], ROWS[:, 3:6], ROWS[:, 6:7]
VARIANCES = np.array([0.0, 1e-12, 0.01, 1.0, 2.2, 2.3, 10.0, 1e4, 0.5, 3.0])
MEANS = np.array([0.3, -3.0, 40.0, -1.0, 0.0, 2.0, -9.0, 5.0, -30.0, 25.0])
WITH_NONE = np.where(np.arange(20)[:, None] == 3, 0.0, np.abs(A))

# The values that an operation takes, and its constants.
CASES = {
    "constant": [((A,), {"values": [1.5, -2.0]})],
    "scale": [
        ((A,), {"shift": [1.0, 2, 3], "factor": [0.5, 1, -2]}),
        ((A,), {"shift": [1.0, 2, 3]}),
        ((A,), {"factor": [1.0, 2, 3]}),
        ((A,), {}),
    ],
    "pick": [((A,), {"index": [2, 0, 0, 1]})],
    "join": [((A, C, B), {}), ((A,), {})],
    "matrix": [
        ((A,), {"matrix": CENTRES, "offset": np.arange(7.0)}),
        ((A,), {"matrix": CENTRES}),
    ],
    "triangle": [((A,), {"triangle": TRIANGLE, "offset": [1.0, 2, 3]})],
    "solve_triangle": [((A,), {"triangle": LOWER[np.tril_indices(3)]})],
    "rbf": [((A,), {"centres": CENTRES}), ((C,), {"centres": CENTRES[:, :1]}),
            ((ROWS,), {"centres": MANY})],
    "laplacian": [((A,), {"centres": CENTRES}), ((ROWS,), {"centres": MANY})],
    "thin_plate": [((A,), {"centres": CENTRES}), ((A,), {"centres": A[:4]}),
                   ((ROWS,), {"centres": MANY})],
    "linear_spline": [((np.abs(A),), {"centres": np.abs(CENTRES)}),
                      ((0.1 * np.abs(ROWS),), {"centres": 0.1 * np.abs(MANY)})],
    "matern": [
        ((values,), {"centres": centres, "nu": nu})
        for nu in (0.5, 1.5, 2.5)
        for values, centres in ((A, CENTRES), (ROWS, MANY))
    ],
    "rational_quadratic": [((A,), {"centres": CENTRES, "alpha": 0.7}),
                           ((ROWS,), {"centres": MANY, "alpha": 2.0})],
    "periodic": [((A,), {"centres": CENTRES, "period": 1.3, "length_scale": 0.8})],
    "monomials": [
        ((A,), {"powers": [[0, 0, 0], [1, 0, 0], [0, 2, 1], [3, 0, 0]]}),
        ((A,), {"powers": [[0, 0, 0]]}),
    ],
    "power": [((np.abs(A),), {"exponent": -0.5}), ((A,), {"exponent": 3.0})],
    "exp": [((A,), {})],
    "expm1": [((1e-9 * A,), {}), ((A,), {})],
    "log": [((np.abs(A),), {})],
    "sqrt": [((np.abs(A),), {})],
    "clip": [
        ((A,), {"low": -0.5, "high": 0.5}), ((A,), {"low": 0.0}), ((A,), {"high": 0.0}), ((A,), {}),
    ],
    "above": [((A,), {"threshold": 0.2})],
    "sum": [((ROWS,), {})],
    "product": [((ROWS[:, :size],), {}) for size in (1, 2, 3, 7)],
    "squares": [((A,), {}), ((A,), {"weights": [1.0, 2, 3]})],
    "products": [((A, B), {"rows": 1, "columns": 1}), ((ROWS, A), {"rows": 4, "columns": 1}),
                 ((ROWS[:, :6], ROWS[:, :9]), {"rows": 2, "columns": 3})],
    "half_solve": [((SYMMETRIC, ROWS[:, :6]), {}), ((3 * SYMMETRIC[:, :1], A), {})],
    "normal": [((np.linspace(-8.0, 8.0, 60).reshape(20, 3),), {})],
    "softmax_average": [
        ((A, SYMMETRIC), {}),
        ((A, 0.0 * SYMMETRIC), {}),
        ((np.zeros_like(A), np.tile(np.eye(3).ravel(), (len(A), 1))), {}),
        ((ROWS[:, :4] * 20.0, np.tile(np.diag([50.0, 99.0, 0.0, 450.0]).ravel(), (20, 1))), {}),
    ],
    "logit_average": [
        ((np.tile(MEANS, (2, 1)), np.tile(VARIANCES, (2, 1))), {}), ((A, np.abs(C)), {}),
        ((C, 4.0 * np.abs(A)), {}), ((A, np.abs(B) / 100), {}),
    ],
    "softmax": [((A,), {}), ((300 * A,), {})],
    "normalise": [((np.abs(A),), {}), ((WITH_NONE,), {})],
    **{name: [((A, B), {}), ((A, C), {}), ((C, A), {})]
       for name in ("add", "subtract", "multiply", "divide")},
}  # fmt: skip


def program_of_one(operation, values, constants):
    """A program of one operation, and its inputs."""
    ends = np.cumsum([0, *(value.shape[1] for value in values)])
    builder = ProgramBuilder(int(ends[-1]))
    of = [
        builder.add("part", "pick", builder.x, index=np.arange(first, last))
        for first, last in pairwise(ends)
    ]
    return builder.program(mean=builder.add("result", operation, *of, **constants))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(operation, dtype):
    for values, constants in CASES[operation]:
        program = program_of_one(operation, values, constants)
        X = np.hstack(values).astype(DTYPES[dtype])
        expected = program.run(X.astype(float))["mean"]
        found = exported(ExportedModel(program), X, dtype)["mean"]
        assert found.dtype == X.dtype
        assert found.shape == expected.shape
        tolerance = 1e-11 if dtype == "double" else 2e-5
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_each_operation_has_nodes():
    assert NODES.keys() == OPERATIONS.keys() == CASES.keys()


def test_a_case_can_fail():
    program = program_of_one("add", (A, B), {})
    other = program_of_one("subtract", (A, B), {})
    X = np.hstack([A, B])
    found = exported(ExportedModel(program), X, "double")["mean"]
    assert not np.allclose(found, other.run(X)["mean"])


def test_tails_of_the_normal_keep_their_digits():
    x = -np.linspace(0.0, 37.0, 200)[:, None]
    program = program_of_one("normal", (x,), {})
    found = exported(ExportedModel(program), x, "double")["mean"]
    np.testing.assert_allclose(found, ndtr(x), rtol=1e-12)
    assert exported(ExportedModel(program), 1e30 * x[1:], "double")["mean"].max() < 1e-300
    short = exported(ExportedModel(program), x[:60])["mean"]
    np.testing.assert_allclose(short, ndtr(x[:60]), rtol=2e-5)


def test_triangular_systems_of_bad_condition():
    """The inverse alone has lost more digits."""
    rng = np.random.default_rng(1)
    points = np.sort(rng.uniform(size=60))
    K = np.exp(-0.5 * ((points[:, None] - points) / 0.2) ** 2) + 1e-10 * np.eye(60)
    L = np.linalg.cholesky(K)
    assert np.linalg.cond(L) > 1e5
    v = np.exp(-0.5 * ((rng.uniform(size=(30, 1)) - points) / 0.2) ** 2)
    program = program_of_one("solve_triangle", (v,), {"triangle": L[np.tril_indices(60)]})
    found = exported(ExportedModel(program), v, "double")["mean"]
    expected = program.run(v)["mean"]
    assert np.abs(found - expected).max() < 1e-10


def test_a_single_factor_beside_products_keeps_its_digits():
    """Where it can, onnxruntime fuses one that is a number with the products, as a float."""
    builder = ProgramBuilder(3)
    one = builder.add("one", "matrix", builder.x, matrix=np.ones((1, 3)))
    scaled = builder.add("scaled", "scale", one, factor=[0.1])
    program = builder.program(mean=builder.add("many", "matrix", scaled, matrix=np.ones((4, 1))))
    found = exported(ExportedModel(program), A, "double")["mean"]
    np.testing.assert_allclose(found, program.run(A)["mean"], rtol=1e-14)


def test_no_transposed_products():
    """Of doubles, older releases of onnxruntime fuse them into a node that they do not have."""
    for operation, cases in CASES.items():
        for values, constants in cases:
            model = ExportedModel(program_of_one(operation, values, constants))
            nodes = to_onnx(model, dtype="double").graph.node
            turned = {node.output[0] for node in nodes if node.op_type == "Transpose"}
            for node in nodes:
                assert node.op_type not in ("Erf", "ReduceProd")
                assert node.op_type != "MatMul" or turned.isdisjoint(node.input)


def test_distances_of_many_inputs_far_from_the_origin():
    centres = 1e3 + RNG.normal(size=(300, 12))
    X = 1e3 + RNG.normal(size=(5, 12))
    program = program_of_one("rbf", (X,), {"centres": centres})
    for dtype, tolerance in (("double", 1e-12), ("float", 1e-3)):
        own = X.astype(DTYPES[dtype])
        found = exported(ExportedModel(program), own, dtype)["mean"]
        expected = program.run(own.astype(float))["mean"]
        np.testing.assert_allclose(found, expected, rtol=tolerance)


def test_no_rows():
    program = program_of_one("half_solve", (SYMMETRIC, ROWS[:, :6]), {})
    assert exported(ExportedModel(program), np.empty((0, 15)))["mean"].shape == (0, 6)
