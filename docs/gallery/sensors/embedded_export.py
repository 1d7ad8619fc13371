"""
A sensor model in C
===================

In clean air a gas sensor gives a voltage that depends on the temperature of its heater. To tell
gas from a warm heater, the microcontroller beside it has to know that curve, and how far a
reading may lie from it. This example learns the curve by :class:`~sparsebayes.regression.RVR`,
writes the fitted model as C in single precision, compiles it if there is a compiler, and compares
what it says with Python.
"""

import ctypes
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RVR
from sparsebayes.datasets import load_sensor
from sparsebayes.export import to_c, to_json
from sparsebayes.plots import RegressionDisplay

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"

# %%
# The bundled data are 150 readings of a simulated sensor while its heater is ramped.

sensor = load_sensor()
temperature, response = sensor.data, sensor.target  # °C, mV
model = RVR().fit(temperature, response)
print(f"{len(model.relevance_)} functions, noise {model.noise_variance_**0.5:.2f} mV")

# %%
# Two files of C99, which need nothing but ``math.h``. The head of the header says how large the
# constants are; a Gaussian process would have to keep 150 inputs and weights, and for error bars a
# triangle of 150 · 151 / 2 numbers.

files = to_c(model, name="sensor", dtype="float", feature_names=["temperature"])
print(files["sensor.h"].split("#ifndef")[0])
print(*(line for line in files["sensor.h"].splitlines() if line.startswith("void")))
print(f"a Gaussian process: {4 * (150 + 150 + 150 * 151 // 2)} bytes in single precision")

# %%
# The same model as JSON is a list of steps, each of which computes a vector from earlier ones. In
# single precision it shows what to expect of a device, without one and without a compiler.

OPERATIONS = {
    "scale": lambda v, shift=0, factor=1: (v - shift) * factor,
    "rbf": lambda v, centres: np.exp(-np.sum((v[:, None] - centres) ** 2, axis=-1) / 2),
    "matrix": lambda v, matrix, offset=0: v @ matrix.T + offset,
    "triangle": lambda v, triangle, offset=0: v @ upper(triangle, v.shape[1]).T + offset,
    "squares": lambda v, weights=1: np.sum(weights * v**2, axis=1, keepdims=True),
    "sqrt": np.sqrt,
}


def upper(rows, size):
    full = np.zeros((size, size), rows.dtype)
    full[np.triu_indices(size)] = rows
    return full


def run(program, X, dtype):
    values = {"x": np.asarray(X, dtype)}
    for step in program["steps"]:
        known = ("name", "operation", "of")
        constants = {k: np.asarray(v, dtype) for k, v in step.items() if k not in known}
        arguments = [values[name] for name in step["of"]]
        values[step["name"]] = OPERATIONS[step["operation"]](*arguments, **constants)
    return [values[program["outputs"][name]][:, 0] for name in ("mean", "std")]


grid = np.linspace(temperature.min(), temperature.max(), 1000)
mean, std = model.predict(grid[:, None], return_std=True)
program = json.loads(to_json(model))
differences = {
    "steps, double": np.abs(run(program, grid[:, None], np.float64)[0] - mean),
    "steps, float": np.abs(run(program, grid[:, None], np.float32)[0] - mean),
}

# %%
# With a compiler, the C code itself is compared, as a library that Python calls.

compiler = shutil.which("gcc") or shutil.which("cc")
if compiler is None:
    print("no compiler found: the C code is not run")
else:
    for real, kind in (("double", ctypes.c_double), ("float", ctypes.c_float)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for name, text in to_c(model, name="sensor", dtype=real).items():
                Path(folder, name).write_text(text)
            library = Path(folder, "sensor.so")
            source = str(Path(folder, "sensor.c"))
            flags = ["-std=c99", "-Os", "-shared", "-fPIC", "-lm"]
            subprocess.run([compiler, source, *flags, "-o", str(library)], check=True)
            predict = ctypes.CDLL(str(library)).sensor_predict
            said = np.empty(grid.size)
            centre, spread = kind(), kind()
            for i, degrees in enumerate(grid):
                predict((kind * 1)(degrees), ctypes.byref(centre), ctypes.byref(spread))
                said[i] = centre.value
        differences[f"C, {real}"] = np.abs(said - mean)

for name, difference in differences.items():
    print(f"{name:14} largest difference from Python {difference.max():.0e} mV")
print(f"standard deviation of a reading: {std.min():.2f} to {std.max():.2f} mV")

# %%
# In single precision the code differs from Python by a hundred thousandth of the standard deviation
# of a reading, in double by rounding alone.

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 6), sharex=True, height_ratios=[1.3, 1], layout="constrained"
)
RegressionDisplay.from_estimator(model, temperature, response, ax=top)
top.set(xlabel="", ylabel="response (mV)", xlim=(grid[0], grid[-1]))
styles = {
    "steps, float": (ORANGE, 2.5, 0.5),
    "C, float": (BLUE, 0.8, 1.0),
    "C, double": (GREEN, 0.8, 1.0),
}
for name, (colour, width, alpha) in styles.items():
    if name in differences:
        shown = np.maximum(differences[name], 1e-16)
        bottom.semilogy(grid, shown, color=colour, linewidth=width, alpha=alpha, label=name)
bottom.semilogy(grid, std, color="black", linestyle="--", label="standard deviation")
bottom.set(xlabel="temperature of the heater (°C)", ylabel="difference from Python (mV)")
bottom.legend(fontsize="small", ncols=4, loc="upper center")
bottom.set_ylim(1e-16, 1e4)
plt.show()

# %%
# To take home: a sparse model is small enough for a device, and ``to_c`` writes it with its error
# bars. See :doc:`/howto/c_on_a_device` and :doc:`/howto/export`.
