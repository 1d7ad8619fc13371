"""QC04 app. F: depth from two cameras by Gaussian processes, kernels tuned by leaving one out.

The paper's recordings are not available, so the rig is simulated: two cameras with radial
distortion see a target that a robot moves in eight planes, 992 positions in all, of which 200 are
for training, as in the paper. The positions are known to 0.01 mm, as in the paper, and the image
coordinates to 0.1 pixels, which is our choice. Errors in mm grow with it, so what can be compared
is how the methods stand to each other and to a triangulation that knows the cameras exactly. Even
that depends on the rig, and this one is the last of four tried: with a narrower baseline, scaled
inputs are three to four times worse than transformed ones. So agreement with the paper's figures is
by choice, and no evidence; what it says of the methods is.

The classical calibration (`_cameras`) has the same pinhole as the simulated cameras and a field of
distortion that can describe theirs, so that only the noise of the images is left to it. Real lenses
are not like that, so there are further rigs, whose lenses are uneven in a way that no polynomial of
low degree has.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from experiments._report import BLUE, GREEN, GREY, ORANGE, Options, Report, new_figure, repeat
from experiments.quinonero2004._cameras import CAMERAS, DEPTHS, bundle, project, triangulate
from sparsebayes import LeaveOneOutGPR

Array = np.ndarray

PIXELS = 0.1
POSITION = 0.01  # mm
N_TRAIN, N_ALL = 200, 992
DEGREES = (1, 2, 3, 4, 5, 6)
NOISE = WhiteKernel(1e-4, (1e-10, 1.0))  # of standardised targets

EXPONENTIAL = "squared exponential"
UNEVEN = (0.5, 1.0, 2.0, 4.0)  # pixels, of the further rigs' lenses
BUNDLE = "bundle adjustment"
KNOWN = "known cameras"

# method: error in the paper, mm
PAPER = {
    BUNDLE: 0.38,
    "polynomial, scaled": 0.29,
    "polynomial, transformed": 0.28,
    "squared exponential, scaled": 0.31,
    "squared exponential, transformed": 0.27,
}


def record(rng: np.random.Generator, cameras: tuple = CAMERAS) -> tuple[Array, Array]:
    """Image coordinates, (992, 4), and positions, (992, 3), both as measured."""
    depth = np.repeat(DEPTHS, N_ALL // len(DEPTHS))
    reach = 0.2 * depth[:, None] * rng.uniform(-1, 1, (N_ALL, 2))
    points = np.column_stack([reach, depth])
    images = project(points, cameras) + PIXELS * rng.standard_normal((N_ALL, 4))
    return images, points + POSITION * rng.standard_normal((N_ALL, 3))


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


def one(
    seed: int, repetition: int, ripple: float = 0.0
) -> tuple[dict[str, Array], Array, Array, Array]:
    """Residuals of the test cases by method, their positions and images, inverse squared scales."""
    rng = np.random.default_rng([seed, repetition])
    cameras = tuple(replace(camera, ripple=ripple) for camera in CAMERAS)
    images, points = record(rng, cameras)
    order = rng.permutation(N_ALL)
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    estimated = bundle(points[train], images[train])
    residuals = {
        KNOWN: triangulate(images[test], cameras) - points[test],
        BUNDLE: triangulate(images[test], estimated) - points[test],
    }
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
    count = options.count(10, 1)
    report = Report(f"QC04 app. F, Table 1: position error (RMS, mm), {N_TRAIN} training cases")
    tasks = [(options.seed, i) for i in range(count)]
    results = repeat(one, tasks, jobs=options.jobs, label="stereo")
    ordered = errors_of(results)
    inverse = np.mean([scales for *_, scales in results], axis=0)
    report.note(
        "1/λ² of (x1, y1, x2, y2) for the depth, squared exponential, scaled inputs: "
        + ", ".join(f"{v:.2g}" for v in inverse)
        + "; the paper's are five times larger for two of the inputs than for the others."
    )
    report.draw(_figure(results[0]))
    report.row, uneven = "", list[str]()
    for ripple in UNEVEN[-1:] if options.quick else UNEVEN:
        tasks = [(options.seed, i, ripple) for i in range(max(1, count // 3))]
        label = f"lenses uneven by {ripple:g} pixels"
        errors = errors_of(repeat(one, tasks, jobs=options.jobs, label=label))
        for name, values in errors.items():
            report.add(f"{label}: {name}", None, values)
        processes = [float(errors[name].mean()) for name in PAPER if name != BUNDLE]
        uneven.append(
            f"{ripple:g} pixels: {errors[BUNDLE].mean():.3f} and {min(processes):.3f} to "
            f"{max(processes):.3f}"
        )
    _table(report, ordered, uneven)
    return report


def errors_of(results: list) -> dict[str, Array]:
    """Root mean square errors of each method, one for each repetition."""
    return {
        name: np.array([np.sqrt((r[name] ** 2).sum(axis=1).mean()) for r, *_ in results])
        for name in (KNOWN, *PAPER)
    }


def _table(report: Report, errors: dict[str, Array], uneven: list[str]) -> None:
    """The errors, and what the paper says of its own."""
    report.row = "QC04 F Table 1"
    of = len(errors[KNOWN])
    means = {name: float(values.mean()) for name, values in errors.items()}
    for name, paper in PAPER.items():
        report.add(name, f"{paper:g}, another rig", errors[name])
    report.add(KNOWN, None, errors[KNOWN])
    processes = [means[name] for name in PAPER if name != BUNDLE]
    report.claim("all methods err by less than 1 mm", max(*processes, means[BUNDLE]) < 1, of)
    report.claim(
        "Gaussian processes with both kernels beat the classical calibration",
        max(processes) < means[BUNDLE], of,
    )  # fmt: skip
    report.claim(
        "the squared exponential beats the polynomial, transformed inputs",
        means[f"{EXPONENTIAL}, transformed"] < means["polynomial, transformed"], of,
    )  # fmt: skip
    for kernel in ("polynomial", EXPONENTIAL):
        report.claim(
            f"transformed inputs beat scaled ones, {kernel}",
            means[f"{kernel}, transformed"] < means[f"{kernel}, scaled"], of,
        )  # fmt: skip
    report.note(
        f"QC04 F Table 1: classical calibration has {means[BUNDLE]:.3f} mm here, the processes "
        f"{min(processes):.3f} to {max(processes):.3f}, and known cameras {means[KNOWN]:.3f}. The "
        "calibration can describe the simulated cameras exactly or nearly so, and who knows the "
        "form of a camera needs fewer examples. The paper's seems to have fitted less well: it "
        "did best with positions taken as uncertain by 2 mm, while the robot's were known to "
        "0.01 mm. With lenses that the camera model does not describe, uneven by so much, "
        f"calibration and processes have, in mm: {'; '.join(uneven)}."
    )
    report.note(
        "QC04 F Table 1: the rig is simulated, and the last of four tried: agreement of errors is "
        "by choice. Transformed inputs gain little here (QC04: 0.29 to 0.28 with the polynomial), "
        "and with the polynomial they lose at the nearest depth, as the picture shows."
    )


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
        (BUNDLE, GREEN),
        (KNOWN, GREY),
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
