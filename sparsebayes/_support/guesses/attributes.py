"""Attributes and methods by the names that other packages have for them, with ours.

Each entry ends a sentence such as "RVR has no attribute 'support_vectors_'; ..."; ``{name}`` is
the class. Entries of a class hold for the classes derived from it too, and the nearest class is
asked first. An attribute that exists is never looked up.
"""

from __future__ import annotations

from sparsebayes._support.guesses.table import Table, spelled_out

_QUANTILES = "predict_interval(X, coverage=0.9) gives the quantiles 5 % and 95 %"
_EVIDENCE = "the log evidence is in log_evidence_"
_CRITERIA = "models are compared by log_evidence_, which charges for complexity already"

ATTRIBUTES: Table = spelled_out(
    {
        "GuidedMixin": {
            "feature_names_in_": "it is there after a fit to a table whose columns have names",
            "save dump to_file": (
                'use sparsebayes.persistence.save(model, "model.skops"), and load to read it'
            ),
            "load from_file": 'use sparsebayes.persistence.load("model.skops")',
            "to_onnx": "use sparsebayes.export.to_onnx(model)",
            "to_json": "use sparsebayes.export.to_json(model)",
            "to_c": "use sparsebayes.export.to_c(model)",
            "get_config params": "use get_params()",
        },
        "RegressorMixin": {
            "plot": "use sparsebayes.plots.RegressionDisplay.from_estimator(model, X, y)",
            "predict_std predict_var predict_variance": "use predict(X, return_std=True)",
            "predict_quantiles predict_quantile quantile": _QUANTILES,
            "predict_proba predict_log_proba": (
                "predictions are normal: predict(X, return_std=True), or predict_interval(X)"
            ),
            "predict_dist predict_distribution pred_dist": (
                "predictions are normal: predict(X, return_std=True)"
            ),
            "predict_y predict_f": (
                "use predict(X, return_std=True), and include_noise=False for the function"
            ),
            "conf_int get_prediction predict_intervals predict_int": (
                "use predict_interval(X, coverage=0.95)"
            ),
            "decision_function": "use predict(X)",
            "sample sample_f rvs": "use sample_y(X, n_samples=10)",
            "posterior_samples posterior": "use sample_y(X, n_samples=10)",
            "score_samples logpdf log_prob log_predictive_density": (
                "use sparsebayes.scores.negative_log_predictive_density(y, mean, std)"
            ),
            "noise_ noise_level_ scale_": "the variance of the noise is in noise_variance_",
            "classes_": "targets are numbers; labels are for RVC",
            "transform": "it makes no features; feature_importances_ with SelectFromModel selects",
            "log_marginal_likelihood log_marginal_likelihood_value_ log_likelihood loglik llf "
            "evidence_ lml_": _EVIDENCE,
            "aic bic": _CRITERIA,
            "resid residuals": "they are y - predict(X)",
            "fittedvalues": "they are predict(X) at the training rows",
        },
        "ClassifierMixin": {
            "plot": "use sparsebayes.plots.ClassificationDisplay.from_estimator(model, X, y)",
            "predict_interval predict_std conf_int": (
                "labels have no interval: use predict_proba(X), or "
                "decision_function(X, return_std=True)"
            ),
            "predict_quantiles": "labels have no quantiles: use predict_proba(X)",
            "sample_y sample": (
                "use sparsebayes.sample_posterior(model, X, y), which draws whole models"
            ),
            "score_samples": "use predict_log_proba(X)",
            "latent_mean_and_variance": "use decision_function(X, return_std=True)",
            "n_classes_": "it is len(classes_)",
            "transform": "it makes no features; feature_importances_ with SelectFromModel selects",
            "noise_": "labels have no noise variance; predict_proba(X) tells how sure they are",
            "probA_ probB_": "calibrate= corrects probabilities; predict_proba(X) has them",
            "log_marginal_likelihood log_marginal_likelihood_value_ log_likelihood loglik llf "
            "evidence_ lml_": _EVIDENCE,
            "aic bic": _CRITERIA,
        },
        "RelevanceVectorMachine": {
            "support_vectors_ relevant_vectors_ rv_": (
                "the relevance vectors are in relevance_vectors_"
            ),
            "support_ relevant_ active_": (
                "the numbers of the kept functions are in relevance_, the rows they are centred on "
                "in relevance_vectors_"
            ),
            "n_support_ n_relevance_ n_relevant_ n_active_": "it is len(relevance_vectors_)",
            "dual_coef_ mu_ m_ mean_ w_": "the weights of the kept functions are in weights_",
            "kernel_": "the fitted basis is basis_, its length scales are in length_scale_",
            "X_train_ X_fit_ y_train_": "only relevance_vectors_ are kept of the training rows",
            "lambda_": "the precisions of the weights are in alpha_",
            "gamma_": "how far the data determine a weight is in determined_",
            "beta_": "the precision of the noise is 1 / noise_variance_",
            "scores_ loss_curve_ objective_": (
                "the objective after each step is in evidence_path_"
            ),
            "covariance_ cov_ Sigma_ weights_cov_": ("the covariance of the weights is in sigma_"),
            "L_": "the covariance of the weights is in sigma_",
            "lengthscale_ length_scales_": "length scales are in length_scale_",
            "fit_status_ success_": "whether the fit came to its end is in converged_",
            "dual_gap_": "whether the fit came to its end is in converged_ and stop_reason_",
            "n_iterations_": "it is n_iter_",
            "sparse_coef_ sparsify densify": (
                "models are sparse as they are: relevance_ has the kept functions"
            ),
            "X_offset_ X_scale_ x_mean_ x_scale_": "inputs are taken as they are",
            "y_mean_": "the mean of the targets is in offset_",
            "posterior": "its mean and covariance are weights_ and sigma_",
            "posterior_samples sample_posterior sample_weights": (
                "use sparsebayes.sample_posterior(model, X, y)"
            ),
            "base_estimator_": "it is no wrapper; its functions are in basis_",
            "solver_": "the solver is as given, and stop_reason_ tells how it ended",
            "path": "the objective after each step is in evidence_path_",
        },
        "ReducedRankGPR": {
            "basis_": "the fitted kernel is kernel_",
            "relevance_ relevance_vectors_": (
                "the support inputs are in support_vectors_, their rows in support_"
            ),
            "inducing_points_ inducing_ Z_": "the support inputs are in support_vectors_",
            "alpha_ dual_coef_ coef_": "the weights of the support inputs are in weights_",
            "n_support_": "it is len(support_)",
            "length_scale_": "it is kernel_.get_params(), or repr(kernel_)",
            "L_": "the covariance of the weights is in sigma_",
        },
        "NoisyInputGPR": {
            "basis_": "the fitted kernel is kernel_",
            "X_train_ X_": "the inputs as they are thought to be are in inputs_",
            "log_marginal_likelihood log_marginal_likelihood_value_ log_likelihood": (
                "the log evidence is in log_evidence_, where the method has one; evidence_path_"
            ),
        },
        "LeaveOneOutGPR": {
            "log_evidence_": "as in scikit-learn: log_marginal_likelihood_value_",
            "noise_variance_": "the noise is that of the WhiteKernel in kernel_",
            "basis_": "the fitted kernel is kernel_",
            "predict_uncertain": "use sparsebayes.predict_uncertain(model, mean, cov)",
        },
        "ParetoClassifier": {
            "predict_proba predict_log_proba": (
                "the scale of its scores is arbitrary; RVC has probabilities"
            ),
            "plot": "use sparsebayes.plots.ParetoDisplay.from_estimator(model)",
            "coef_ dual_coef_": "the weights of each classifier are in weights_",
            "intercept_": "those of each classifier are in intercepts_",
            "support_vectors_": "the centres of all classifiers are in relevance_vectors_",
            "support_": "the numbers of the functions in use are in relevance_",
            "kernel_": "the fitted basis is basis_",
            "pareto_front_ front": "the classifiers are in front_",
            "roc_curve": "rates of all classifiers: front_, or evaluate(X, y) on new samples",
        },
        "Forecaster": {
            "forecast get_forecast predict_mean": "use predict(horizon), such as predict(12)",
            "conf_int predict_intervals": "use predict_interval(horizon, coverage=0.95)",
            "predict_quantiles": "predict_interval(horizon, coverage=0.9) gives 5 % and 95 %",
            "predict_var predict_std": "use predict(horizon, return_std=True)",
            "predict_proba": "use predict(horizon, return_std=True), or simulate(horizon)",
            "sample simulate_paths": "use simulate(horizon, n_paths=100)",
            "sample_y": "use simulate(horizon, n_paths=100)",
            "fit_predict": "use fit(y).predict(horizon)",
            "append extend update_predict partial_fit": "use update(y_new)",
            "plot plot_forecast": "use sparsebayes.plots.ForecastDisplay.from_forecaster(model)",
            "score": "use backtest(y, horizon)",
            "cross_val cross_validation evaluate": "use backtest(y, horizon)",
            "resid residuals fittedvalues": "use backtest(y, horizon=1)",
            "aic bic llf loglike": (
                "candidates are compared by forecasts of the past: candidates_; log_evidence_"
            ),
            "params": "use get_params(), and candidates_ for what was fitted",
            "order_ lag_": "the lags are in lags_, the differences in difference_",
            "seasonal_periods sp_ seasons_": "chosen_ tells in words what was fitted",
            "model_ best_estimator_": "the models are in candidates_, one of lags in estimator_",
            "n_lags_": "it is len(lags_)",
            "transform": "it makes no features; predict(horizon) forecasts",
        },
        "Denoiser": {
            "predict": "use transform(X), or denoise(y) for more than the signal",
            "inverse_transform": "noise cannot be added again",
            "noise_variance_ sigma_ noise_": "use denoise(y).noise_variance",
            "coef_ coefficients_": "use denoise(y).coefficients",
            "plot": "use sparsebayes.plots.DenoiseDisplay.from_denoised(denoise(y))",
        },
        "Denoised": {
            "denoised estimate x mean y_hat": "the estimate is in signal",
            "sd sigma stderr": "the standard deviation of the estimate is in std",
            "noise noise_level noise_std": "the variance of the noise is in noise_variance",
            "coef coefs": "the coefficients are in coefficients",
            "evidence": "it is in log_evidence",
            "plot": "use sparsebayes.plots.DenoiseDisplay.from_denoised(found)",
            "shape": "use signal.shape",
        },
        "BaseSamples": {
            "to_inference_data to_inferencedata to_dataframe": "use data, an object of arviz",
            "to_arviz idata inference_data posterior trace": "use data, an object of arviz",
            "rhat r_hat ess": "use summary()",
            "probabilities pip": "use inclusion",
        },
        "Basis": {
            "transform": "use columns(X)",
            "get_feature_names_out": "its functions have numbers, in the order of columns(X)",
            "length_scale_bounds": "length scales are learned without bounds",
            "theta": "length scales are in length_scale",
            "predict": "a basis is a part of a model: RVR({name}()).fit(X, y).predict(X)",
        },
    }
)
