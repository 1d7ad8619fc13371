"""Forty small faults, each a line as it is and as it would be.

Most places were drawn at random from the statements of the engine, the validation, the readers and
writers and the estimators, before anybody looked at which tests there are. The faults are those
that slip in: a sign, a missing term, an exchanged comparison, a forgotten check.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A text that stands once in a file of the package, and what takes its place.

    `first` are the tests to begin with: those that found it before.
    """

    name: str
    file: str
    first: str
    old: str
    new: str


ENGINE = [
    Fault(
        "mass below: another gamma function",
        "engine/incomplete_gamma.py",
        "engine/mcmc/test_priors.py",
        "- z - gammaln(a + 1.0) -",
        "- z - gammaln(a) -",
    ),
    Fault(
        "weights of a function: mean for sum",
        "engine/linalg.py",
        "engine/test_linalg.py",
        ".sum(axis=(1, 3))",
        ".mean(axis=(1, 3))",
    ),
    Fault(
        "effective draws: sequence not made monotone",
        "engine/mcmc/hamiltonian.py",
        "engine/mcmc/test_hamiltonian.py",
        "    pairs = np.minimum.accumulate(pairs, axis=0)\n",
        "",
    ),
    Fault(
        "Pólya-Gamma: the wrong draws are accepted",
        "engine/mcmc/polya_gamma.py",
        "engine/mcmc/test_polya_gamma.py",
        "(first**2 <= 2.0 * second / _CUT)",
        "(first**2 >= 2.0 * second / _CUT)",
    ),
    Fault(
        "draw of the noise: a half is missing",
        "engine/mcmc/posterior.py",
        "engine/mcmc/test_priors.py",
        "rate = self.noise.scale + 0.5 * active_set.residual",
        "rate = self.noise.scale + active_set.residual",
    ),
    Fault(
        "density of the sampler: sign of the determinant",
        "engine/mcmc/posterior.py",
        "engine/mcmc/test_priors.py",
        "float(x.sum()) - active_set.log_det - beta",
        "float(x.sum()) + active_set.log_det - beta",
    ),
    Fault(
        "equal functions: told by their sums",
        "engine/model/design.py",
        "engine/model/test_posterior.py",
        "return np.cos(np.arange(1.0, n_samples + 1.0) ** 2)",
        "return np.ones(n_samples)",
    ),
    Fault(
        "rotation: weights for their roots",
        "engine/model/exact.py",
        "engine/model/test_rotation.py",
        "root = np.sqrt(weights)",
        "root = weights",
    ),
    Fault(
        "covariance after a deletion: wrong sign",
        "engine/model/exact.py",
        "engine/solvers/test_steps.py",
        "state.cov[keep][:, keep] - half.T @ half",
        "state.cov[keep][:, keep] + half.T @ half",
    ),
    Fault(
        "energy of the targets: weights are missing",
        "engine/model/gaussian.py",
        "engine/model/test_posterior.py",
        "float(z @ weighted) for z, weighted",
        "float(z @ z) for z, weighted",
    ),
    Fault(
        "mode of the posterior: downhill",
        "engine/model/mode.py",
        "engine/model/test_latent.py",
        "if found > value:",
        "if found < value:",
    ),
    Fault(
        "rotation: norms without the root",
        "engine/model/rotation.py",
        "engine/model/test_rotation.py",
        'self._norms = np.sqrt(np.einsum("nm,nm->m", columns, columns))',
        'self._norms = np.einsum("nm,nm->m", columns, columns)',
    ),
    Fault(
        "sums: what rounding made negative stays",
        "engine/model/sums.py",
        "engine/model/test_sums.py",
        "squares = np.maximum(seen.squares, 0.0)",
        "squares = seen.squares",
    ),
    Fault(
        "moments of a kernel: wrong factor",
        "engine/moments.py",
        "engine/test_moments.py",
        "own -= 0.25 * np.log1p(values**2",
        "own -= 0.5 * np.log1p(values**2",
    ),
    Fault(
        "closed form: the worst maximum first",
        "engine/orthonormal/closed_form.py",
        "engine/orthonormal/test_closed_form.py",
        "key=lambda maximum: -maximum.objective",
        "key=lambda maximum: maximum.objective",
    ),
    Fault(
        "driver: one step too many",
        "engine/solvers/driver.py",
        "engine/solvers/test_driver.py",
        "while n_iter < max_iter:",
        "while n_iter <= max_iter:",
    ),
    Fault(
        "Newton's method: steps may fall",
        "engine/solvers/refine.py",
        "engine/solvers/test_steps.py",
        "if new is not None and new.objective >= state.objective:\n                expected",
        "if new is not None:\n                expected",
    ),
    Fault(
        "process: sign of the noise's prior",
        "engine/solvers/scales/process.py",
        "engine/solvers/test_process.py",
        "count = len(self.weights) + 2.0 * self.noise_shape",
        "count = len(self.weights) - 2.0 * self.noise_shape",
    ),
    Fault(
        "search among some: numbers not translated back",
        "engine/solvers/sequential.py",
        "laws/test_solvers.py",
        "return renumbered(search(problem.restrict(index), inner, tol), index)",
        "return search(problem.restrict(index), inner, tol)",
    ),
    Fault(
        "stalls: no restart at low noise",
        "engine/solvers/trials.py",
        "laws/test_solvers.py",
        "if low is None or beta <= state.beta:",
        "if low is None or beta >= state.beta:",
    ),
]

VALIDATION = [
    Fault(
        "negative weights of samples are taken",
        "_rvm/base.py",
        "regression/test_inputs.py",
        "ensure_non_negative=True",
        "ensure_non_negative=False",
    ),
    Fault(
        "every fit says that it converged",
        "_rvm/base.py",
        "regression/test_rvr.py",
        "self.converged_ = solution.stop.converged",
        "self.converged_ = True",
    ),
    Fault(
        "generator without the seed",
        "_rvm/base.py",
        "laws/test_invariances.py",
        "check_random_state(self.random_state)",
        "check_random_state(None)",
    ),
    Fault(
        "priors that labels do not allow are taken",
        "_rvm/options.py",
        "classification/test_inputs.py",
        "if labels and not prior.for_labels:",
        "if labels and prior.for_labels is None:",
    ),
    Fault(
        "noise of 0 is taken",
        "_rvm/options.py",
        "regression/test_inputs.py",
        "if variance is not None and variance > 0:\n        return variance\n    remedy",
        "if variance is not None and variance >= 0:\n        return variance\n    remedy",
    ),
    Fault(
        "remedies of other arguments",
        "_support/guesses/values.py",
        "_support/test_values.py",
        "words and not set(words) & set(choices)",
        "words and set(words) & set(choices)",
    ),
    Fault(
        "0 is positive",
        "_support/validation.py",
        "gp/test_gp.py",
        "if number is None or number <= 0:",
        "if number is None or number < 0:",
    ),
    Fault(
        "targets whose squares overflow are taken",
        "_support/validation.py",
        "regression/test_inputs.py",
        "not 1e-60 < largest < 1e60:",
        "not 1e-60 < largest:",
    ),
    Fault(
        "infinite values without a remedy",
        "_support/validation.py",
        "regression/test_inputs.py",
        'if "contains NaN" in text or "contains infinity" in text:',
        'if "contains NaN" in text:',
    ),
]

FILES = [
    Fault(
        "files are renamed before they are on the disk",
        "_support/files.py",
        "_support/test_files.py",
        "                os.fsync(descriptor)\n",
        "",
    ),
    Fault(
        "what is half-written stays",
        "_support/files.py",
        "_support/test_files.py",
        "                os.unlink(name)\n",
        "                os.stat(name)\n",
    ),
    Fault(
        "digest of a model file is not compared",
        "persistence/archive.py",
        "persistence/test_archive.py",
        "if comment != _comment(members):",
        "if not comment:",
    ),
    Fault(
        "tables: the last line seen need not be whole",
        "rows/dialect/dialect.py",
        "rows/test_dialects.py",
        'text = text[: text.rfind("\\n") + 1] or text',
        "text = text.rstrip()",
    ),
    Fault(
        "blocks of which some sizes are unknown",
        "rows/dask_rows.py",
        "rows/test_dask.py",
        "not np.isnan(sizes).any()",
        "not np.isnan(sizes).all()",
    ),
    Fault(
        "ONNX: sum and product exchanged",
        "export/onnx/nodes.py",
        "export/test_onnx_operations.py",
        '"Mul" if product else "Add"',
        '"Add" if product else "Mul"',
    ),
    Fault(
        "programs: targets in the wrong order",
        "export/programs/augmentation.py",
        "export/test_programs.py",
        "index=number.T.ravel()",
        "index=number.ravel()",
    ),
    Fault(
        "denoised files in another precision",
        "cli/denoise.py",
        "cli/test_denoise.py",
        'values.dtype.kind == "f" and values.dtype.itemsize <= 4',
        'values.dtype.kind == "f" and values.dtype.itemsize < 4',
    ),
]

ESTIMATORS = [
    Fault(
        "forecasts: less variance than the past explains",
        "forecasting/propagation.py",
        "forecasting/test_propagation.py",
        "variance = np.maximum(result.variance, explained)",
        "variance = result.variance",
    ),
    Fault(
        "covariance of predictions: wrong sign",
        "_rvm/predictive.py",
        "_rvm/test_augment.py",
        "cov += together * np.multiply.outer(root, root)",
        "cov -= together * np.multiply.outer(root, root)",
    ),
    Fault(
        "equal samples without their weights",
        "classification/least_squares.py",
        "classification/test_least_squares.py",
        "np.bincount(place.ravel(), samples.weights)",
        "np.bincount(place.ravel())",
    ),
]

FAULTS = [*ENGINE, *VALIDATION, *FILES, *ESTIMATORS]
