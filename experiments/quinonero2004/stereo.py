"""QC04 app. F: depth from two cameras by Gaussian processes, kernels tuned by leaving one out.

The paper's recordings are not available, so the rig is simulated: two cameras with radial
distortion see a target that a robot moves in eight planes, 992 positions in all, of which 200 are
for training, as in the paper. The positions are known to 0.01 mm, as in the paper, and the image
coordinates to 0.1 pixels, which is our choice. Errors in mm grow with it, so what can be compared
is how the methods stand to each other and to a triangulation that knows the cameras exactly. Even
that depends on the rig, and this one is the last of four tried: with a narrower baseline, scaled
inputs are three to four times worse than transformed ones. So agreement with the paper's figures is
by choice, and no evidence.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, repeat
from sparsebayes import LeaveOneOutGPR

Array = np.ndarray

PIXELS = 0.1
POSITION = 0.01  # mm
DEPTHS = np.linspace(800, 1200, 8)  # mm
N_TRAIN, N_ALL = 200, 992
DEGREES = (1, 2, 3, 4, 5, 6)
NOISE = WhiteKernel(1e-4, (1e-10, 1.0))  # of standardised targets

# method: error in the paper, mm
PAPER = {
    "polynomial, scaled": 0.29,
    "polynomial, transformed": 0.28,
    "squared exponential, scaled": 0.31,
    "squared exponential, transformed": 0.27,
}


@dataclass(frozen=True)
class Camera:
    """A pinhole with radial distortion, at (x, 0, 0) and turned about the vertical axis."""

    x: float
    yaw: float
    focal: float
    distortion: tuple[float, float]

    def project(self, points: Array) -> Array:
        """Image coordinates (pixels from the centre) of points in space, (n, 3)."""
        cos, sin = np.cos(self.yaw), np.sin(self.yaw)
        shifted = points - [self.x, 0.0, 0.0]
        across = cos * shifted[:, 0] - sin * shifted[:, 2]
        depth = sin * shifted[:, 0] + cos * shifted[:, 2]
        image = np.stack([across / depth, shifted[:, 1] / depth], axis=1)
        square = (image**2).sum(axis=1, keepdims=True)
        first, second = self.distortion
        return self.focal * image * (1 + first * square + second * square**2)


CAMERAS = (
    Camera(-300.0, 0.29, 1200.0, (-0.22, 0.08)),
    Camera(300.0, -0.31, 1210.0, (-0.18, 0.05)),
)


def project(points: Array) -> Array:
    """(x1, y1, x2, y2) of the two images."""
    return np.hstack([camera.project(points) for camera in CAMERAS])


def record(rng: np.random.Generator) -> tuple[Array, Array]:
    """Image coordinates, (992, 4), and positions, (992, 3), both as measured."""
    depth = np.repeat(DEPTHS, N_ALL // len(DEPTHS))
    reach = 0.2 * depth[:, None] * rng.uniform(-1, 1, (N_ALL, 2))
    points = np.column_stack([reach, depth])
    images = project(points) + PIXELS * rng.standard_normal((N_ALL, 4))
    return images, points + POSITION * rng.standard_normal((N_ALL, 3))


def triangulate(images: Array) -> Array:
    """The positions that explain the images best, by Gauss-Newton steps with known cameras."""
    points = np.tile([0.0, 0.0, DEPTHS.mean()], (len(images), 1))
    for _ in range(20):
        now = project(points)
        slopes = [(project(points + 1e-3 * axis) - now) / 1e-3 for axis in np.eye(3)]
        jacobian = np.stack(slopes, axis=2)
        normal = np.einsum("nij,nik->njk", jacobian, jacobian)
        pull = np.einsum("nij,ni->nj", jacobian, images - now)
        points = points + np.linalg.solve(normal, pull[:, :, None])[:, :, 0]
    return points


def preprocess(images: Array, transform: bool) -> Array:
    """Scale each input to [-1, 1], after (16) if asked for."""
    if transform:
        x1, y1, x2, y2 = images.T
        images = 0.5 * np.column_stack([x1 - x2, x1 + x2, y1 - y2, y1 + y2])
    low, high = images.min(axis=0), images.max(axis=0)
    return 2 * (images - low) / (high - low) - 1


def polynomial(X: Array, y: Array) -> LeaveOneOutGPR:
    """The inhomogeneous polynomial kernel (14); degree, signal and noise by leaving one out."""
    fits = []
    for degree in DEGREES:
        inner = DotProduct(1.0, "fixed") ** degree
        kernel = ConstantKernel(1.0, (1e-6, 1e8)) * inner + NOISE
        fits.append(LeaveOneOutGPR(kernel, normalize_y=True).fit(X, y))
    return max(fits, key=lambda model: model.loo_log_predictive_)


def squared_exponential(X: Array, y: Array) -> GaussianProcessRegressor:
    """(15), a length scale for each input; all by the evidence."""
    shape = RBF(np.full(X.shape[1], 5.0), (1e-2, 1e4))
    kernel = ConstantKernel(100.0, (1e-4, 1e8)) * shape + NOISE
    return GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)


def one(seed: int, repetition: int) -> tuple[dict[str, Array], Array, Array, Array]:
    """Residuals of the test cases by method, their positions and images, inverse squared scales."""
    rng = np.random.default_rng([seed, repetition])
    images, points = record(rng)
    order = rng.permutation(N_ALL)
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    residuals = {"known cameras": triangulate(images[test]) - points[test]}
    with warnings.catch_warnings():
        # A length scale at its bound is an input that does not matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for transform in (False, True):
            X = preprocess(images, transform)
            end = "transformed" if transform else "scaled"
            for name, fit in (
                ("polynomial", polynomial),
                ("squared exponential", squared_exponential),
            ):
                models = [fit(X[train], points[train, d]) for d in range(3)]
                means = np.column_stack([model.predict(X[test]) for model in models])
                residuals[f"{name}, {end}"] = means - points[test]
                if not transform and fit is squared_exponential:
                    scales = models[2].kernel_.k1.k2.length_scale
    return residuals, points[test], images[test], scales**-2.0


def run(options: Options) -> Report:
    """Make Table 1 and Fig. 2 of the paper."""
    count = options.count(10, 2)
    results = repeat(
        one, [(options.seed, i) for i in range(count)], jobs=options.jobs, label="stereo"
    )
    report = Report(f"QC04 app. F, Table 1: position error (RMS, mm), {N_TRAIN} training cases")
    errors = {
        name: np.array([np.sqrt((r[name] ** 2).sum(axis=1).mean()) for r, *_ in results])
        for name in ("known cameras", *PAPER)
    }
    for name, paper in PAPER.items():
        report.add(name, paper, errors[name])
    report.add("triangulation, cameras known (ours only)", None, errors["known cameras"])
    for name, paper in PAPER.items():
        ratio = paper / PAPER["squared exponential, transformed"]
        ours = errors[name] / errors["squared exponential, transformed"]
        report.add(f"relative to the last: {name}", f"{ratio:.2f}", ours)
    inverse = np.mean([scales for *_, scales in results], axis=0)
    report.note(
        "1/λ² of (x1, y1, x2, y2) for the depth, squared exponential, scaled inputs: "
        + ", ".join(f"{v:.2g}" for v in inverse)
        + "; the paper's are five times larger for two of the inputs than for the others."
    )
    report.note(
        "Simulated rig, chosen for errors like the paper's, whose images are not available. "
        "Its bundle adjustment had 0.38 mm."
    )
    report.draw(_figure(results[0]))
    return report


def _figure(result: tuple):
    residuals, points, images, _ = result
    figure = new_figure(9, 3.5)
    left, right = figure.subplots(1, 2, sharey=True)
    excentricity = np.sqrt((images[:, :2] ** 2).sum(axis=1))
    edges = np.quantile(excentricity, np.linspace(0, 1, 9))
    nearest = np.argmin(np.abs(points[:, 2, None] - DEPTHS), axis=1)
    ring = np.clip(np.searchsorted(edges, excentricity) - 1, 0, 7)
    for name, colour in (
        ("squared exponential, transformed", BLUE),
        ("polynomial, transformed", ORANGE),
        ("known cameras", GREY),
    ):
        square = (residuals[name] ** 2).sum(axis=1)
        for ax, group, at in (
            (left, nearest, DEPTHS),
            (right, ring, 0.5 * (edges[1:] + edges[:-1])),
        ):
            values = [np.sqrt(square[group == i].mean()) for i in range(8)]
            ax.plot(at, values, "o-", color=colour, markersize=4, label=name)
    left.set(xlabel="depth (mm)", ylabel="position error (RMS, mm)")
    right.set_xlabel("distance from the image centre (pixels)")
    left.legend(frameon=False)
    left.set_ylim(bottom=0)
    return figure
