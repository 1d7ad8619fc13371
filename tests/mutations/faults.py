"""Forty small faults, each a line as it is and as it would be.

Most places were drawn at random from the statements of the engine, the validation, the readers and
writers and the estimators, before anybody looked at which tests there are. The faults are those
that slip in: a sign, a missing term, an exchanged comparison, a forgotten check.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A text that stands once in a file of the package, and what takes its place.

    `first` is the test to begin with: the one that found it before.
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
        "engine/mcmc/test_priors.py::test_narrow_or_far_gamma_integrates_to_one",
        "- z - gammaln(a + 1.0) -",
        "- z - gammaln(a) -",
    ),
    Fault(
        "weights of a function: mean for sum",
        "engine/linalg.py",
        "engine/test_linalg.py::test_weights_of_functions_are_added_up_in_pairs",
        ".sum(axis=(1, 3))",
        ".mean(axis=(1, 3))",
    ),
    Fault(
        "effective draws: sequence not made monotone",
        "engine/mcmc/hamiltonian.py",
        "engine/mcmc/test_hamiltonian.py::test_effective_sample_size_counts_no_pair_more_than_the_one_before",
        "    pairs = np.minimum.accumulate(pairs, axis=0)\n",
        "",
    ),
    Fault(
        "Pólya-Gamma: the wrong draws are accepted",
        "engine/mcmc/polya_gamma.py",
        "engine/mcmc/test_polya_gamma.py::test_draws_have_the_moments_and_the_transform",
        "(first**2 <= 2.0 * second / _CUT)",
        "(first**2 >= 2.0 * second / _CUT)",
    ),
    Fault(
        "draw of the noise: a half is missing",
        "engine/mcmc/posterior.py",
        "engine/mcmc/test_priors.py::test_draws_of_the_noise_follow_its_density",
        "rate = self.noise.scale + 0.5 * active_set.residual",
        "rate = self.noise.scale + active_set.residual",
    ),
    Fault(
        "density of the sampler: sign of the determinant",
        "engine/mcmc/posterior.py",
        "engine/mcmc/test_priors.py::test_log_joint_is_that_of_the_dense_model",
        "float(x.sum()) - active_set.log_det - beta",
        "float(x.sum()) + active_set.log_det - beta",
    ),
    Fault(
        "equal functions: told by their sums",
        "engine/model/design.py",
        "engine/model/test_posterior.py::test_functions_are_equal_only_if_all_their_values_are",
        "return np.cos(np.arange(1.0, n_samples + 1.0) ** 2)",
        "return np.ones(n_samples)",
    ),
    Fault(
        "rotation: weights for their roots",
        "engine/model/exact.py",
        "engine/model/test_rotation.py::test_both_ways_agree_where_there_are_digits",
        "root = np.sqrt(weights)",
        "root = weights",
    ),
    Fault(
        "covariance after a deletion: wrong sign",
        "engine/model/exact.py",
        "engine/solvers/test_steps.py::test_prune_removes_what_is_better_out_and_nothing_else",
        "state.cov[keep][:, keep] - half.T @ half",
        "state.cov[keep][:, keep] + half.T @ half",
    ),
    Fault(
        "energy of the targets: weights are missing",
        "engine/model/gaussian.py",
        "engine/model/test_posterior.py::test_mean_and_covariance_are_those_of_the_normal_equations",
        "float(z @ weighted) for z, weighted",
        "float(z @ z) for z, weighted",
    ),
    Fault(
        "mode of the posterior: downhill",
        "engine/model/mode.py",
        "engine/model/test_latent.py::test_the_mode_is_stationary",
        "if found > value:",
        "if found < value:",
    ),
    Fault(
        "rotation: norms without the root",
        "engine/model/rotation.py",
        "engine/model/test_rotation.py::test_units_of_functions_do_not_change_what_is_rounding",
        'self._norms = np.sqrt(np.einsum("nm,nm->m", columns, columns))',
        'self._norms = np.einsum("nm,nm->m", columns, columns)',
    ),
    Fault(
        "sums: what rounding made negative stays",
        "engine/model/sums.py",
        "engine/model/test_sums.py::test_squares_of_equal_targets_are_not_negative",
        "squares = np.maximum(seen.squares, 0.0)",
        "squares = seen.squares",
    ),
    Fault(
        "moments of a kernel: wrong factor",
        "engine/moments.py",
        "engine/test_moments.py::test_closed_forms_equal_integrals",
        "own -= 0.25 * np.log1p(values**2",
        "own -= 0.5 * np.log1p(values**2",
    ),
    Fault(
        "closed form: the worst maximum first",
        "engine/orthonormal/closed_form.py",
        "engine/orthonormal/test_closed_form.py::test_all_local_maxima_are_found",
        "key=lambda maximum: -maximum.objective",
        "key=lambda maximum: maximum.objective",
    ),
    Fault(
        "driver: one step too many",
        "engine/solvers/driver.py",
        "engine/solvers/test_driver.py::test_max_iter_is_exact_and_says_so",
        "while n_iter < max_iter:",
        "while n_iter <= max_iter:",
    ),
    Fault(
        "Newton's method: steps may fall",
        "engine/solvers/refine.py",
        "engine/solvers/test_steps.py::test_newton_climbs_to_a_stationary_point",
        "if new is not None and new.objective >= state.objective:\n                expected",
        "if new is not None:\n                expected",
    ),
    Fault(
        "process: sign of the noise's prior",
        "engine/solvers/scales/process.py",
        "engine/solvers/test_process.py::test_the_best_noise_is_found_with_a_prior_of_it",
        "count = len(self.weights) + 2.0 * self.noise_shape",
        "count = len(self.weights) - 2.0 * self.noise_shape",
    ),
    Fault(
        "search among some: numbers not translated back",
        "engine/solvers/restricted.py",
        "laws/test_solvers.py::test_a_lazy_design_ends_at_a_stationary_point_of_the_whole_problem",
        "return renumbered(search(problem.restrict(index), inner, tol), index)",
        "return search(problem.restrict(index), inner, tol)",
    ),
    Fault(
        "stalls: no restart at low noise",
        "engine/solvers/trials.py",
        "laws/test_solvers.py::test_the_default_does_not_stall",
        "if low is None or beta <= state.beta:",
        "if low is None or beta >= state.beta:",
    ),
]

VALIDATION = [
    Fault(
        "negative weights of samples are taken",
        "_support/data.py",
        "regression/test_inputs.py::test_bad_weights",
        "ensure_non_negative=True",
        "ensure_non_negative=False",
    ),
    Fault(
        "every fit says that it converged",
        "_rvm/base.py",
        "regression/test_rvr.py::test_max_iter_warns",
        "self.converged_ = solution.stop.converged",
        "self.converged_ = True",
    ),
    Fault(
        "generator without the seed",
        "_rvm/base.py",
        "laws/test_invariances.py::test_same_seed_same_bits",
        "as_random_state(self.random_state)",
        "as_random_state(None)",
    ),
    Fault(
        "priors that labels do not allow are taken",
        "_rvm/options.py",
        "classification/test_inputs.py::test_wrong_parameter",
        "if labels and not prior.for_labels:",
        "if labels and prior.for_labels is None:",
    ),
    Fault(
        "noise of 0 is taken",
        "_rvm/options.py",
        "regression/test_inputs.py::test_wrong_parameter",
        "1.0 / LARGEST**2 < variance < LARGEST**2:\n        return variance\n    remedy",
        "0.0 <= variance < LARGEST**2:\n        return variance\n    remedy",
    ),
    Fault(
        "remedies of other arguments",
        "_support/guesses/values.py",
        "_support/test_values.py::test_a_remedy_is_one_of_the_choices",
        "words and not set(words) & set(choices)",
        "words and set(words) & set(choices)",
    ),
    Fault(
        "0 is positive",
        "_support/validation.py",
        "_support/test_validation.py::test_what_is_no_positive_number_is_refused",
        "if number is None or number <= 0:",
        "if number is None or number < 0:",
    ),
    Fault(
        "targets whose squares overflow are taken",
        "_support/validation.py",
        "regression/test_inputs.py::test_targets_out_of_range",
        "not 1e-60 < largest < 1e60:",
        "not 1e-60 < largest:",
    ),
    Fault(
        "infinite values without a remedy",
        "_support/data.py",
        "regression/test_inputs.py::test_no_numbers",
        "contains (NaN|infinity)",
        "contains (NaN)",
    ),
]

FILES = [
    Fault(
        "files are renamed before they are on the disk",
        "_support/files.py",
        "_support/test_files.py::test_all_is_on_the_disk_before_anything_is_renamed",
        "        os.fsync(stream.fileno())\n",
        "",
    ),
    Fault(
        "what is half-written stays",
        "_support/files.py",
        "_support/test_files.py::test_an_error_while_pieces_are_made_leaves_nothing",
        "                os.unlink(name)\n",
        "                os.stat(name)\n",
    ),
    Fault(
        "digest of a model file is not compared",
        "persistence/archive.py",
        "persistence/test_archive.py::test_a_file_without_a_digest_or_with_more_than_it_says",
        "if comment != _comment(members):",
        "if not comment:",
    ),
    Fault(
        "tables: the last line seen need not be whole",
        "rows/dialect/dialect.py",
        "rows/test_dialects.py::test_a_line_of_which_the_end_was_not_looked_at_tells_nothing",
        'text = text[: text.rfind("\\n") + 1] or text',
        "text = text.rstrip()",
    ),
    Fault(
        "blocks of which some sizes are unknown",
        "rows/dask_rows.py",
        "rows/test_dask.py::test_blocks_some_of_whose_sizes_are_not_known_are_counted",
        "not np.isnan(sizes).any()",
        "not np.isnan(sizes).all()",
    ),
    Fault(
        "ONNX: sum and product exchanged",
        "export/onnx/nodes.py",
        "export/test_onnx_operations.py::test_operation",
        '"Mul" if product else "Add"',
        '"Add" if product else "Mul"',
    ),
    Fault(
        "programs: targets in the wrong order",
        "export/programs/augmentation.py",
        "export/test_programs.py::test_targets_of_two_kernels_stay_in_order",
        "index=number.T.ravel()",
        "index=number.ravel()",
    ),
    Fault(
        "denoised files in another precision",
        "cli/denoise.py",
        "cli/test_denoise.py::test_npy",
        'values.dtype.kind == "f" and values.dtype.itemsize <= 4',
        'values.dtype.kind == "f" and values.dtype.itemsize < 4',
    ),
]

ESTIMATORS = [
    Fault(
        "forecasts: less variance than the past explains",
        "forecasting/propagation.py",
        "forecasting/test_propagation.py::test_too_small_a_variance_is_raised_to_what_the_past_explains",
        "variance = np.maximum(result.variance, explained)",
        "variance = result.variance",
    ),
    Fault(
        "covariance of predictions: wrong sign",
        "_rvm/predictive.py",
        "_rvm/test_augment.py::test_covariance_agrees_with_the_error_bars",
        "cov += together * np.multiply.outer(root, root)",
        "cov -= together * np.multiply.outer(root, root)",
    ),
    Fault(
        "equal samples without their weights",
        "classification/least_squares.py",
        "classification/test_least_squares.py::test_weights_of_samples_and_classes",
        "np.bincount(place, samples.weights)",
        "np.bincount(place)",
    ),
]

FAULTS = [*ENGINE, *VALIDATION, *FILES, *ESTIMATORS]
