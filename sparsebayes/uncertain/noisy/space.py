"""What the methods of `NoisyInputGPR` share: the problem, and a vector of what is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Product

from sparsebayes._support.data import check_plain, check_size
from sparsebayes._support.fits.clock import end_in_time
from sparsebayes.engine.noisy_gp import Theta

Array = np.ndarray

NODES = 32  # points that stand for a Gaussian of more than two inputs


@dataclass(frozen=True)
class NoisyData:
    """Centred targets (N,), observed inputs (N, D), and variances of their noise.

    The variances are (N, D), or (1, D) where they are the same for all samples.
    """

    y: Array
    X: Array
    variances: Array

    def take(self, rows: Array) -> NoisyData:
        shared = len(self.variances) == 1 and len(self.X) != 1
        return NoisyData(
            self.y[rows], self.X[rows], self.variances if shared else self.variances[rows]
        )

    @property
    def spread(self) -> Array:
        """Standard deviations of the inputs' noise, (N, D)."""
        return np.broadcast_to(np.sqrt(self.variances), self.X.shape)


def check_squared_exponential(kernel: Kernel, n_features: int) -> None:
    """The kernel is a constant times a squared exponential, or a clear error."""
    parts = _factors(kernel)
    shapes = [part for part in parts if type(part) is RBF]
    constants = [part for part in parts if type(part) is ConstantKernel]
    if len(shapes) != 1 or len(constants) > 1 or len(parts) > 2:
        raise ValueError(
            f"kernel={kernel} cannot be used with noisy inputs; what works is RBF() or "
            "ConstantKernel() * RBF(), with one length scale or one for each input."
        )
    scales = np.atleast_1d(shapes[0].length_scale)
    if scales.size not in (1, n_features):
        raise ValueError(
            f"kernel={kernel} has {scales.size} length scales, but X has {n_features} inputs; "
            "give one for each input, or one for all."
        )


def _factors(kernel: Kernel) -> list[Kernel]:
    if type(kernel) is Product:
        return _factors(kernel.k1) + _factors(kernel.k2)
    return [kernel]


def check_input_noise(input_noise: Any, X: Array) -> Array | None:
    """Variances (1, D) or (N, D); None for "estimate"; or a clear error."""
    if isinstance(input_noise, str) and input_noise == "estimate":
        return None
    if isinstance(input_noise, str) or input_noise is None:
        raise ValueError(f"input_noise must be 'estimate' or variances >= 0, got {input_noise!r}.")
    n, D = X.shape
    try:
        values = np.asarray(check_plain("input_noise", input_noise))
        if values.dtype.kind == "c":
            raise TypeError("complex numbers")
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"input_noise must be 'estimate' or variances >= 0, got {input_noise!r}."
        ) from error
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ValueError(
            "input_noise holds variances, which must be finite and >= 0; got "
            f"{values[~(np.isfinite(values) & (values >= 0))].ravel()[0]}."
        )
    check_size("input_noise", values)
    if values.shape == (n,) == (D,) and n > 1:
        raise ValueError(
            f"input_noise has length {n}, which fits the {n} samples and the {D} inputs; give it "
            f"as (1, {D}) for the inputs or as ({n}, 1) for the samples."
        )
    if values.ndim == 1:
        values = values[:, None] if values.shape == (n,) and values.shape != (D,) else values[None]
    if values.ndim == 0 or values.shape in ((1, D), (n, 1), (n, D)):
        rows = 1 if values.ndim == 0 or len(values) == 1 else n
        return np.broadcast_to(values, (rows, D)).copy()
    raise ValueError(
        f"input_noise must be a number, or of shape ({D},) or (1, {D}) for the inputs, ({n},) or "
        f"({n}, 1) for the samples, or ({n}, {D}); got shape {np.shape(input_noise)}."
    )


@dataclass(frozen=True)
class _Factor:
    """Of a kernel: a constant or length scales, and how many of its parameters are learned."""

    constant: bool
    value: Array
    size: int

    @classmethod
    def of(cls, part: Kernel, learned: bool) -> _Factor:
        constant = isinstance(part, ConstantKernel)
        value = part.constant_value if constant else part.length_scale
        return cls(constant, np.atleast_1d(value), part.n_dims if learned else 0)


class Space:
    """The vector of what is learned: logs of kernel parameters, output noise, input noise.

    The input noise is learned as a factor of the variances in `NoisyData`.
    """

    def __init__(
        self,
        kernel: Kernel,
        noise: float,
        n_features: int,
        *,
        by_kernel: bool,
        noise_bounds: tuple[float, float] | None,
        factor: float = 1.0,
        factor_bounds: tuple[float, float] | None = None,
    ) -> None:
        self.kernel, self.noise, self.factor = kernel, noise, factor
        self.n_features = n_features
        self.by_kernel = by_kernel and kernel.n_dims > 0
        # Asking a kernel of scikit-learn for these is slow.
        self.parts = [_Factor.of(part, self.by_kernel) for part in _factors(kernel)]
        self.noise_bounds, self.factor_bounds = noise_bounds, factor_bounds
        start: list[Any] = []
        bounds: list[Any] = []
        if self.by_kernel:
            start.extend(kernel.theta)
            bounds.extend(kernel.bounds)
        for value, limits in ((noise, noise_bounds), (factor, factor_bounds)):
            if limits is not None:
                start.append(np.log(value))
                bounds.append(np.log(limits))
        self.start = np.array(start, dtype=np.float64)
        self.bounds = np.array(bounds, dtype=np.float64).reshape(-1, 2)

    def hold(self, vector: Array, noise: float, factor: float | None = None) -> Space:
        """The same from here on, with the output noise held and the factor where it is."""
        kernel, _, learned = self.read(vector)
        return Space(
            kernel,
            noise,
            self.n_features,
            by_kernel=self.by_kernel,
            noise_bounds=None,
            factor=learned if factor is None else factor,
        )

    def lift(self, vector: Array, part: float) -> Array:
        """The same with an output noise of at least this part of that to begin with."""
        vector = vector.copy()
        if self.noise_bounds:
            place = len(vector) - 1 - bool(self.factor_bounds)
            vector[place] = max(vector[place], np.log(part * self.noise))
        return vector

    def read(self, vector: Array) -> tuple[Kernel, float, float]:
        """Kernel, output noise, factor of the input noise."""
        kernel = self.kernel
        if self.by_kernel:
            kernel = kernel.clone_with_theta(vector[: kernel.n_dims])
        return kernel, self.theta(vector).noise, self.input_factor(vector)

    def theta(self, vector: Array) -> Theta:
        """The same as `read`, without building a kernel."""
        amplitude, scales, place = 1.0, np.ones(self.n_features), 0
        for part in self.parts:
            value = part.value
            if part.size:
                value = np.exp(vector[place : place + part.size])
                place += part.size
            if part.constant:
                amplitude = value.item()
            else:
                scales = scales * value
        noise = float(np.exp(vector[place])) if self.noise_bounds else self.noise
        return Theta(amplitude, scales, noise)

    def input_factor(self, vector: Array) -> float:
        """Of the variances of the inputs."""
        return float(np.exp(vector[-1])) if self.factor_bounds else self.factor

    def gather(self, amplitude: float, scales: Array, noise: float, factor: float) -> Array:
        """Slopes by the logs of all that could be learned, to those by the vector."""
        slopes: list[Any] = []
        for part in self.parts:
            if part.size and part.constant:
                slopes.append(amplitude)
            elif part.size:
                slopes.extend(scales if part.size == len(scales) else [scales.sum()])
        if self.noise_bounds:
            slopes.append(noise)
        if self.factor_bounds:
            slopes.append(factor)
        return np.array(slopes, dtype=np.float64)


def climb(
    objective: Callable[[Array], tuple[float, Array]],
    vector: Array,
    bounds: Array,
    max_iter: int,
    tol: float,
) -> tuple[Array, float, bool]:
    """Maximise by L-BFGS: where it ended, the value, whether it was done before `max_iter`."""
    if not vector.size:
        return vector, objective(vector)[0], True

    def downhill(v: Array) -> tuple[float, Array]:
        try:
            value, slope = objective(v)
        except LinAlgError:
            return np.inf, np.zeros_like(v)
        return -value, -slope

    low, high = bounds.T
    end = minimize(
        downhill,
        np.clip(vector, low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=end_in_time,
        options={"maxiter": max_iter, "ftol": 0.0, "gtol": tol},
    )
    return np.clip(end.x, low, high), -float(end.fun), bool(end.nit < max_iter)


def normal_nodes(n_features: int) -> tuple[Array, Array]:
    """Points (K, D) and weights (K,) that stand for N(0, I)."""
    if n_features <= 2:
        points, weights = np.polynomial.hermite_e.hermegauss(13 if n_features == 1 else 6)
        grid = np.meshgrid(*[points] * n_features, indexing="ij")
        product = np.meshgrid(*[weights] * n_features, indexing="ij")
        mass = np.prod(product, axis=0).ravel()
        return np.stack([axis.ravel() for axis in grid], axis=1), mass / mass.sum()
    cube = qmc.Sobol(n_features, seed=0).random(NODES // 2)
    half = ndtri(np.clip(cube, 1e-9, 1 - 1e-9))
    half /= np.sqrt((half**2).mean(axis=0))
    return np.vstack([half, -half]), np.full(NODES, 1.0 / NODES)
