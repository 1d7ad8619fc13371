"""The simulated stereo rig of `stereo`, and classical calibration of its cameras.

The calibration follows QC04 app. F: a pinhole at any place and turned any way, with a focal length,
an aspect ratio, and a distortion field of Chebyshev polynomials T_i(x) T_j(y), 2 ≤ i + j ≤ t. Terms
that pose, focal length and aspect ratio can imitate (i + j ≤ 1, the principal point) are left out,
as in the paper. Its degree t is chosen by ten-fold cross-validation. The positions of the training
points are taken as they are: here they are known far better than the images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

Array = np.ndarray

DEPTHS = np.linspace(800, 1200, 8)  # mm
DEGREES = (1, 3, 5)  # of the distortion field; 1 has none
N_FOLDS = 10
REACH = 0.6  # image coordinates of the pinhole are within this, in units of the focal length


@dataclass(frozen=True)
class Camera:
    """A pinhole with radial distortion, at (x, 0, 0) and turned about the vertical axis.

    `ripple` (pixels) is a smooth unevenness of the lens that no polynomial of low degree has.
    """

    x: float
    yaw: float
    focal: float
    distortion: tuple[float, float]
    ripple: float = 0.0

    def project(self, points: Array) -> Array:
        """Image coordinates (pixels from the centre) of points in space, (n, 3)."""
        cos, sin = np.cos(self.yaw), np.sin(self.yaw)
        shifted = points - [self.x, 0.0, 0.0]
        across = cos * shifted[:, 0] - sin * shifted[:, 2]
        depth = sin * shifted[:, 0] + cos * shifted[:, 2]
        image = np.stack([across / depth, shifted[:, 1] / depth], axis=1)
        square = (image**2).sum(axis=1, keepdims=True)
        first, second = self.distortion
        found = self.focal * image * (1 + first * square + second * square**2)
        if self.ripple:
            found = found + self.ripple * np.sin(20.0 * image[:, ::-1] + [0.5, 1.5])
        return found


CAMERAS = (
    Camera(-300.0, 0.29, 1200.0, (-0.22, 0.08)),
    Camera(300.0, -0.31, 1210.0, (-0.18, 0.05)),
)


def project(points: Array, cameras: tuple = CAMERAS) -> Array:
    """(x1, y1, x2, y2) of the two images."""
    return np.hstack([camera.project(points) for camera in cameras])


def triangulate(images: Array, cameras: tuple = CAMERAS) -> Array:
    """The positions that explain the images best, by Gauss-Newton steps with known cameras."""
    points = np.tile([0.0, 0.0, DEPTHS.mean()], (len(images), 1))
    for _ in range(20):
        now = project(points, cameras)
        slopes = [(project(points + 1e-3 * axis, cameras) - now) / 1e-3 for axis in np.eye(3)]
        jacobian = np.stack(slopes, axis=2)
        normal = np.einsum("nij,nik->njk", jacobian, jacobian)
        pull = np.einsum("nij,ni->nj", jacobian, images - now)
        points = points + np.linalg.solve(normal, pull[:, :, None])[:, :, 0]
    return points


def terms(degree: int) -> list[tuple[int, int]]:
    """The orders (i, j) of the distortion field."""
    return [(i, n - i) for n in range(2, degree + 1) for i in range(n + 1)]


@dataclass(frozen=True)
class Calibrated:
    """A camera with estimated parameters: place, rotation, focal lengths, distortion field."""

    parameters: Array
    degree: int

    def project(self, points: Array) -> Array:
        """Image coordinates of points in space."""
        place, turn, focal, field = np.split(self.parameters, (3, 6, 8))
        seen = Rotation.from_rotvec(turn).apply(points - 1000.0 * place)
        image = seen[:, :2] / seen[:, 2:]
        found = 1000.0 * focal * image
        orders = terms(self.degree)
        if orders:
            x, y = (chebvander(image[:, d] / REACH, self.degree) for d in (0, 1))
            basis = np.stack([x[:, i] * y[:, j] for i, j in orders], axis=1)
            found = found + basis @ field.reshape(len(orders), 2)
        return found


def calibrate(points: Array, images: Array, camera: Camera, degree: int) -> Calibrated:
    """Least squares over all parameters, from the camera's rough pose without distortion."""
    start = np.zeros(8 + 2 * len(terms(degree)))
    start[:8] = [round(camera.x, -2) / 1000, 0, 0, 0, round(-camera.yaw, 1), 0, 1.0, 1.0]

    def misfit(parameters: Array) -> Array:
        return (Calibrated(parameters, degree).project(points) - images).ravel()

    return Calibrated(least_squares(misfit, start, x_scale="jac", max_nfev=200).x, degree)


def bundle(
    points: Array, images: Array, cameras: tuple[Camera, ...] = CAMERAS
) -> tuple[Calibrated, ...]:
    """Both cameras from training points; the degree by the positions of those left out."""

    def both(rows: Array, degree: int) -> tuple[Calibrated, ...]:
        return tuple(
            calibrate(points[rows], images[rows, part], camera, degree)
            for camera, part in zip(cameras, (slice(0, 2), slice(2, 4)), strict=True)
        )

    every = np.arange(len(points))
    folds = np.array_split(every, N_FOLDS)
    errors = [
        np.mean([
            np.mean((triangulate(images[f], both(np.setdiff1d(every, f), degree)) - points[f]) ** 2)
            for f in folds
        ])
        for degree in DEGREES
    ]  # fmt: skip
    return both(every, DEGREES[int(np.argmin(errors))])
