"""Arguments by the names that other packages have for them, with ours.

Each entry ends a sentence such as "RVR has no argument 'kernel'; ..."; ``{name}`` is what was
called. Entries of a class hold for the classes derived from it too, and the nearest class is asked
first. An argument that exists is never looked up, so an entry may be more general than its class.
"""

from __future__ import annotations

from sparsebayes._support.guesses.table import Table, spelled_out

# Other words for one argument, of whatever has it.
SAME: dict[str, str] = {
    "max_iter": "n_iter maxiter iterations n_iterations max_iterations max_iter_predict",
    "max_time": "timeout time_limit max_seconds max_runtime time_budget",
    "random_state": "seed random_seed rng",
    "n_jobs": "cores n_cores n_threads workers",
    "bias": "fit_intercept intercept intercept_scaling include_bias bias_used",
    "noise": "noise_variance noise_level",
    "tol": "tolerance eps ftol",
    "verbose": "disp verbosity progress",
    "n_shifts": "shifts max_shifts",
}

_NO_COST = "there is no such constant to choose: the evidence decides how many functions are kept"
_NO_RIDGE = (
    "the precisions of the weights are learned (alpha_); a prior on them is "
    "prior=Gamma(a, b), a fixed noise variance noise=0.1"
)
_NOISE = "use noise=, the variance of the noise: {name}(noise=0.01); by default it is estimated"
_OF_BASIS = 'it belongs to the basis: {name}(Polynomial(degree=3)), or basis="polynomial"'
_SCALED = "inputs and targets need no scaling; to scale inputs use a pipeline with StandardScaler()"
_CENTRED = "targets are centred before the fit (offset_), and the bias is a function: bias=True"
_GAMMA = (
    "use the length scale of the basis: {name}(RBF(length_scale=1.0)), which is "
    "1/sqrt(2 gamma); without one it is learned"
)
_DENOISE_SIGMA = "use noise=, the variance sigma**2, noise=0.01; by default it is estimated"
_EVIDENCE_PATH = (
    "it is always computed: evidence_path_ has it for each step, log_evidence_ at the end"
)
_CALIBRATE = "use calibrate=: a number of folds or a splitter, {name}(calibrate=5)"
_KERNEL_SCALE = (
    "it belongs to the kernel of scikit-learn: {name}(kernel=RBF(length_scale=1.0)), with "
    "from sklearn.gaussian_process.kernels import RBF"
)
_STEP_MODEL = "give the model of one step as estimator=: {name}(RVR()), {name}(ReducedRankGPR())"
_SEASONS = 'use seasons=: {name}(seasons=12), or leave it to seasons="auto"'
_SMOOTHING = (
    "trends, seasons and smoothing are tried out and weighted by their past (candidates_); "
    "there is nothing to choose"
)
_DICTIONARY = 'use dictionary=: {name}(dictionary="sym8"), Wavelet("sym8", level=5), DualTree()'
_THRESHOLD = (
    'there is no threshold to choose: method="average" or "sparse" and prior="bic" decide what is '
    "kept"
)

# Arguments of constructors (by class), of functions, and of methods ("class.method").
ARGUMENTS: Table = spelled_out(
    {
        "GuidedMixin": {
            "copy_X copy_X_train": "inputs are never modified; it may be left out",
            "warm_start": "each fit begins anew; it may be left out",
            "cache_size max_memory": (
                "use sklearn.set_config(working_memory=1024), in MB, or leave it out"
            ),
        },
        "RelevanceVectorMachine": {
            "kernel": 'use basis=: {name}(basis="rbf") or {name}(RBF(length_scale=1.0))',
            "kernels": "use basis=, and + for several: {name}(RBF(1.0) + Linear())",
            "kernel_params": "they belong to the basis: {name}(RBF(length_scale=1.0))",
            "metric": 'use basis=: {name}(basis="rbf"), or a callable k(X, Z)',
            "length_scale lengthscale": "it belongs to the basis: {name}(RBF(length_scale=1.0))",
            "length_scale_bounds": (
                "length scales are learned without bounds, or given: {name}(RBF(1.0))"
            ),
            "width bandwidth": "use the length scale of the basis: {name}(RBF(length_scale=1.0))",
            "gamma": _GAMMA,
            "ard": 'use adapt=: {name}(adapt="ard") learns a length scale for each input',
            "degree coef0": _OF_BASIS,
            "C nu": _NO_COST,
            "penalty l1_ratio": f'{_NO_COST}; prior="bic" keeps fewer',
            "shrinking dual": f'{_NO_COST}; solver="sequential" is the default',
            "alpha alpha_init lambda_init init_alpha": _NO_RIDGE,
            "alpha_1 alpha_2": (
                "a prior on the precision of the noise is noise=Gamma(alpha_1, alpha_2)"
            ),
            "lambda_1 lambda_2": (
                "a prior on the precisions of the weights is prior=Gamma(lambda_1, lambda_2)"
            ),
            "threshold_alpha threshold_lambda": (
                "functions leave by themselves; tol= says how little gain ends the fit"
            ),
            "compute_score": _EVIDENCE_PATH,
            "normalize standardize scale": _SCALED,
            "normalize_y": _CENTRED,
            "positive": "the prior of a weight is symmetric; signs cannot be held",
            "precompute": 'for functions that are computed already use basis="precomputed"',
            "optimizer": (
                'use solver=: {name}(solver="sequential"), and adapt=None to learn no length scales'
            ),
            "optimize": "use adapt=: {name}(adapt=None) learns no length scales",
            "algorithm method": 'use solver=: {name}(solver="em")',
            "update_y": 'use solver=: {name}(solver="mackay")',
            "n_restarts_optimizer n_init": "use n_restarts=: RVR(n_restarts=5)",
            "n_targets": "y may have several columns; it may be left out",
            "selection": 'use solver=: {name}(solver="sequential")',
            "cv": _CALIBRATE,
            "n_components max_features n_basis": (
                "the evidence decides how many functions are kept; RBF(centres=100) has 100 to "
                "choose from"
            ),
        },
        "RVR": {
            "epsilon": f'{_NO_COST}; outliers are for noise="student"',
            "loss": 'use noise=: RVR(noise="student") is for outliers, "estimate" the default',
            "sigma": _NOISE,
            "beta beta_fixed": (
                "use noise=, which is 1/beta: RVR(noise=0.01); by default it is estimated"
            ),
            "probability": "use predict(X, return_std=True) or predict_interval(X, coverage=0.95)",
            "likelihood": 'use noise=: RVR(noise="student") or "varying"',
            "class_weight": 'give sample_weight to fit; RVC(class_weight="balanced") is for labels',
            "n_jobs": "a fit has no parts to share out; it may be left out",
            "link": 'labels are for RVC(link="logit")',
            "multi_class": 'labels are for RVC(multi_class="ovr")',
            "multi_output": "y may have several columns; it may be left out",
        },
        "RVC": {
            "probability": (
                "predict_proba is always there; it may be left out, and calibrate=None takes the "
                "probabilities as they are"
            ),
            "loss likelihood": 'use link=: RVC(link="logit"), "probit" or "least_squares"',
            "decision_function_shape": 'use multi_class=: RVC(multi_class="ovr")',
            "break_ties": "predict is always the most probable class; it may be left out",
            "n_restarts n_restarts_optimizer": (
                'RVC has no random starts; with link="auto" held-out rows compare several fits'
            ),
            "noise": "labels have no noise variance; calibrate=5 corrects their probabilities",
            "epsilon": _NO_COST,
            "sample_weight": "give it to fit: RVC().fit(X, y, sample_weight=weights)",
        },
        "ReducedRankGPR": {
            "alpha sigma": _NOISE,
            "basis": "use kernel=, one of scikit-learn: {name}(kernel=ConstantKernel() * RBF())",
            "length_scale gamma": _KERNEL_SCALE,
            "n_restarts_optimizer n_restarts": (
                "use n_cycles=, turns of selection and optimisation: {name}(n_cycles=20)"
            ),
            "optimizer adapt": "use optimize=: {name}(optimize=False) leaves the kernel as it is",
            "normalize_y": (
                "targets are always centred (offset_), and scales are learned; it may be left out"
            ),
            "n_inducing n_inducing_points inducing_points n_components rank": (
                "use n_support=, they are chosen among the rows: {name}(n_support=256)"
            ),
            "n_targets": "y has one column; RVR takes several",
            "solver": 'use selection=: {name}(selection="evidence")',
            "cv": _CALIBRATE,
            "n_jobs": "a fit has no parts to share out; it may be left out",
        },
        "NoisyInputGPR": {
            "alpha noise_variance": (
                "use noise=, the variance of the noise: {name}(input_noise=0.1, noise=0.01); by "
                "default it is estimated"
            ),
            "sigma_x x_noise": "use input_noise=, a variance: {name}(input_noise=0.1)",
            "n_restarts_optimizer": "use method=, StochasticEM(n_chains=8) has several starts",
            "n_chains": (
                'it belongs to the method: {name}(input_noise="estimate", '
                "method=StochasticEM(n_chains=8))"
            ),
            "max_iter n_iter": (
                'it belongs to the method: {name}(input_noise="estimate", '
                "method=StochasticEM(max_iter=200))"
            ),
            "tol": (
                'it belongs to the method: {name}(input_noise="estimate", '
                "method=StochasticEM(tol=0.1))"
            ),
            "optimizer": (
                "use optimize=: {name}(input_noise=0.1, optimize=False) leaves the kernel as it is"
            ),
            "normalize_y": (
                "targets are always centred (offset_), and scales are learned; it may be left out"
            ),
            "length_scale": (
                "it belongs to the kernel of scikit-learn: {name}(input_noise=0.1, "
                "kernel=RBF(length_scale=1.0)), with from sklearn.gaussian_process.kernels import "
                "RBF"
            ),
            "basis": (
                "use kernel=, one of scikit-learn: {name}(kernel=ConstantKernel() * RBF(), "
                "input_noise=0.1)"
            ),
        },
        "LeaveOneOutGPR": {
            "noise": (
                "add a WhiteKernel() to kernel=, or use alpha= for a fixed variance: "
                "{name}(alpha=0.01)"
            ),
            "basis": "use kernel=, one of scikit-learn: {name}(kernel=ConstantKernel() * RBF())",
            "length_scale gamma": _KERNEL_SCALE,
            "n_restarts": "use n_restarts_optimizer=: {name}(n_restarts_optimizer=5)",
            "optimize": "use optimizer=: {name}(optimizer=None) leaves the kernel as it is",
            "max_iter n_iter": "the search ends by itself; n_restarts_optimizer= adds starts",
        },
        "ParetoClassifier": {
            "kernel": 'use basis=: {name}(basis="rbf") or {name}(RBF(length_scale=1.0))',
            "length_scale": "it belongs to the basis: {name}(RBF(length_scale=1.0))",
            "gamma": (
                "use the length scale of the basis: {name}(RBF(length_scale=1.0)), which is "
                "1/sqrt(2 gamma)"
            ),
            "C alpha": (
                "the front has classifiers of all sizes; choose one by predict(X, max_kernels=5)"
            ),
            "max_iter n_iter": "use n_evaluations=: {name}(n_evaluations=20000)",
            "n_generations": (
                "use n_evaluations=, generations times population: {name}(n_evaluations=20000)"
            ),
            "pop_size population_size": "use population=: {name}(population=100)",
            "class_weight": "what errors cost is asked in predict(X, cost_fp=1.0, cost_fn=5.0)",
            "probability": (
                "it has no probabilities, since the scale of its scores is arbitrary; RVC has them"
            ),
            "test_size": "use validation_fraction=: {name}(validation_fraction=0.25)",
        },
        "Forecaster": {
            "order": "use lags= and difference=: {name}(lags=12, difference=1), or leave them out",
            "seasonal_order": "use seasons=, difference=: {name}(seasons=12, difference=[1, 12])",
            "p n_lags window_length window": "use lags=: {name}(lags=12)",
            "d differences": "use difference=: {name}(difference=1)",
            "regressor model base_estimator kernel basis": _STEP_MODEL,
            "period periods sp m season_length seasonal_periods seasonality": _SEASONS,
            "seasonal trend damped_trend error": _SMOOTHING,
            "fh horizon steps": "give the number of steps to predict: {name}().fit(y).predict(12)",
            "freq": "steps of time come from the index of a pandas Series; it may be left out",
            "use_boxcox lambda": 'use transform=: {name}(transform="log")',
            "exog": "give inputs to fit: {name}().fit(y, X=inputs)",
            "alpha coverage": "coverage is asked in predict_interval(horizon, coverage=0.95)",
            "max_iter n_iter": "it belongs to the model of one step: {name}(RVR(max_iter=1000))",
            "cv": "use calibrate=: {name}(calibrate=5), a number of origins in the past",
        },
        "Denoiser": {
            "sigma sigma_psd noise_sigma": _DENOISE_SIGMA,
            "wavelet basis kernel level wavelet_levels": _DICTIONARY,
            "threshold mode weight alpha": _THRESHOLD,
            "axis": "each row of X is a signal; denoise(y, axes=0) takes others",
        },
        "denoise": {
            "sigma noise_sigma": _DENOISE_SIGMA,
            "wavelet basis": (
                'use dictionary=: denoise(y, dictionary="sym8"), Wavelet("sym8", level=5)'
            ),
            "level wavelet_levels": (
                'it belongs to the dictionary: denoise(y, Wavelet("sym8", level=5))'
            ),
            "threshold mode weight": _THRESHOLD,
            "axis": "use axes=: denoise(y, axes=0)",
            "multichannel": "use channel_axis=: denoise(y, channel_axis=2)",
            "x": "use t=, the times of the samples: denoise(y, t=times)",
        },
        "sample_posterior": {
            "draws n_draws num_samples": "use n_samples=: {name}(model, X, y, n_samples=1000)",
            "chains num_chains": "use n_chains=: {name}(model, X, y, n_chains=4)",
            "tune burn_in burnin warmup num_warmup": (
                "use n_warmup=: {name}(model, X, y, n_warmup=500)"
            ),
            "sampler step": 'use method=: {name}(model, X, y, method="gibbs")',
        },
        "Scaled": {
            "gamma": "use length_scale=, which is 1/sqrt(2 gamma): {name}(length_scale=1.0)",
            "sigma scale bandwidth lengthscale": "use length_scale=: {name}(length_scale=1.0)",
            "width": "use length_scale=, a width r over sqrt(2): {name}(length_scale=1.0)",
            "length_scale_bounds": (
                "length scales are learned without bounds, or stay: RVR({name}(1.0), adapt=None)"
            ),
            "ard": 'length scales of each input are learned by RVR({name}(), adapt="ard")',
            "centers n_centers n_components": "use centres=: {name}(centres=100)",
            "variance": (
                "each function has a weight with a precision of its own (alpha_); leave it out"
            ),
        },
        "Polynomial": {
            "coef0 gamma": "all powers up to degree= are functions: {name}(degree=3)",
            "order": "use degree=: {name}(degree=3)",
            "include_bias": (
                "the constant is bias= of the estimator: RVR({name}(degree=3), bias=False)"
            ),
        },
        "Gamma": {
            "alpha beta": "use a= and b=, shape and rate: Gamma(a=1.0, b=1.0)",
            "shape": "use a=: Gamma(a=1.0, b=1.0)",
            "rate": "use b=: Gamma(a=1.0, b=1.0)",
            "scale": "use b=, the rate, which is 1/scale: Gamma(a=1.0, b=1.0)",
        },
        "StudentT": {
            "df degrees_of_freedom": "use nu=: StudentT(nu=4.0)",
        },
        "EM": {
            "n_iter max_iter": "it belongs to the estimator: RVR(solver=EM(), max_iter=1000)",
            "tol": "it belongs to the estimator: RVR(solver=EM(), tol=0.01)",
        },
        "Sequential": {
            "n_iter max_iter": "it belongs to the estimator: RVR(max_iter=1000)",
            "tol": "it belongs to the estimator: RVR(tol=0.01)",
        },
        "GaussianRegressorMixin.predict": {
            "return_interval": "use predict_interval(X, coverage=0.95)",
            "alpha": "use predict_interval(X, coverage=0.95), with coverage = 1 − alpha",
            "quantiles": "use predict_interval(X, coverage=0.95), whose ends are quantiles",
            "return_var return_variance": "use return_std=True, and square it",
            "full_cov": "use return_cov=True",
            "noise": "use include_noise=False",
        },
        "GaussianRegressorMixin.predict_interval": {
            "alpha": "use coverage=, which is 1 − alpha: predict_interval(X, coverage=0.95)",
            "confidence_level level": "use coverage=: predict_interval(X, coverage=0.95)",
        },
        "GaussianRegressorMixin.sample_y": {
            "n_draws size": "use n_samples=: sample_y(X, n_samples=10)",
        },
        "Forecaster.predict": {
            "fh": "use horizon=, the number of steps: predict(12)",
            "steps h n_periods": "use horizon=: predict(12)",
            "exog": "use X=: predict(12, X=inputs)",
            "alpha": "use predict_interval(12, coverage=0.95), with coverage = 1 − alpha",
            "return_conf_int coverage level": "use predict_interval(12, coverage=0.95)",
        },
        "Forecaster.predict_interval": {
            "fh": "use horizon=, the number of steps: predict_interval(12)",
            "steps": "use horizon=: predict_interval(12)",
            "alpha": "use coverage=, which is 1 − alpha: predict_interval(12, coverage=0.95)",
            "level": "use coverage=: predict_interval(12, coverage=0.95)",
            "exog": "use X=: predict_interval(12, X=inputs)",
        },
    }
)
ARGUMENTS["SparseBayesForecaster"] = ARGUMENTS["Forecaster"]  # the same, for sktime
