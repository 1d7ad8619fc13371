"""What a stranger tries first: it works, or the error says what to write instead."""

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as gp_kernels
from sklearn.metrics.pairwise import sigmoid_kernel
from sklearn.model_selection import GridSearchCV

import sparsebayes
from sparsebayes import RVC, RVR, Denoiser, Forecaster, ReducedRankGPR

X = np.linspace(-10.0, 10.0, 60)[:, None]
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
LABELS = (Y > 0).astype(int)

# An expression, and a word of the answer.
REFUSED = [
    # Arguments of scikit-learn's neighbours.
    ('RVR(kernel="rbf")', 'basis="rbf"'),
    ('RVC(kernel="linear")', "basis="),
    ("RVR(length_scale=1.0)", "RBF(length_scale=1.0)"),
    ("RVR(gamma=0.5)", "1/sqrt(2 gamma)"),
    ("RVR(degree=3)", "Polynomial(degree=3)"),
    ("RVR(C=10.0)", "the evidence decides"),
    ("RVR(epsilon=0.1)", "the evidence decides"),
    ("RVC(C=10.0)", "the evidence decides"),
    ("RVR(alpha=1.0)", "prior=Gamma(a, b)"),
    ("RVR(lambda_1=1e-6)", "prior=Gamma"),
    ("RVR(alpha_1=1e-6)", "noise=Gamma"),
    ("RVR(normalize=True)", "StandardScaler"),
    ("RVR(normalize_y=True)", "offset_"),
    ("RVR(fit_intercept=False)", "use bias="),
    ("RVR(n_iter=100)", "use max_iter="),
    ("RVR(seed=0)", "use random_state="),
    ("RVR(compute_score=True)", "evidence_path_"),
    ("RVR(n_restarts_optimizer=5)", "n_restarts="),
    ("RVR(noise_variance=0.1)", "use noise="),
    ("RVR(probability=True)", "predict_interval"),
    ('RVR("rbf", "em")', "by name: solver"),
    ("sparsebayes.NoisyInputGPR()", "NoisyInputGPR(input_noise=...)"),
    ("sparsebayes.sample_posterior(RVR())", "needs X and y"),
    ("RVC(probability=True)", "predict_proba"),
    ('RVC(decision_function_shape="ovr")', 'multi_class="ovr"'),
    ("RVC(noise=0.1)", "calibrate="),
    ("ReducedRankGPR(alpha=0.1)", "use noise="),
    ("ReducedRankGPR(n_restarts_optimizer=5)", "use n_cycles="),
    ("ReducedRankGPR(n_inducing=50)", "use n_support="),
    ("Forecaster(order=(1, 1, 0))", "lags="),
    ("Forecaster(seasonal_periods=12)", "use seasons="),
    ("Forecaster(fh=12)", "predict(12)"),
    ("Denoiser(sigma=0.1)", "use noise="),
    ('Denoiser(wavelet="sym8")', "use dictionary="),
    ("sparsebayes.denoise(Y, sigma=0.1)", "use noise="),
    ("sparsebayes.sample_posterior(RVR(), X, Y, draws=100)", "use n_samples="),
    ("sparsebayes.Gamma(shape=1.0, rate=1.0)", "use a="),
    ("sparsebayes.StudentT(df=4)", "use nu="),
    ("sparsebayes.EM(n_iter=10)", "max_iter=1000"),
    ("sparsebayes.basis.RBF(gamma=1.0)", "use length_scale="),
    ("RVR(max_itr=9)", "did you mean max_iter?"),
    ("RVR(colour=1)", "basis, solver, prior"),
    # Parameters.
    ('RVR().set_params(kernel="rbf")', 'basis="rbf"'),
    ("RVR().set_params(basis__gamma=1.0)", "use length_scale="),
    ("RVR().set_params(prior__c=1.0)", "set prior to an object"),
    ("RVR().set_params(kernel__length_scale=1.0)", "use basis="),
    ('GridSearchCV(RVR(), {"gamma": [1.0]}).fit(X, Y)', "RBF(length_scale=1.0)"),
    # Attributes and methods.
    ("RVR().weights_", "call fit first"),
    ("rvr.support_vectors_", "relevance_vectors_"),
    ("rvr.support_", "relevance_"),
    ("rvr.n_support_", "len(relevance_vectors_)"),
    ("rvr.dual_coef_", "weights_"),
    ("rvr.kernel_", "basis_"),
    ("rvr.lambda_", "alpha_"),
    ("rvr.scores_", "evidence_path_"),
    ("rvr.coef_", "basis='linear'"),
    ("rvr.nu_", "noise=StudentT()"),
    ("rvr.feature_names_in_", "columns have names"),
    ("rvr.log_marginal_likelihood_value_", "log_evidence_"),
    ("rvr.log_marginal_likelihood()", "log_evidence_"),
    ("rvr.loglik", "log_evidence_"),
    ("rvr.aic", "log_evidence_"),
    ("rvr.noise_variance", "did you mean noise_variance_?"),
    ("rvr.predict_quantiles(X)", "predict_interval"),
    ("rvr.predict_std(X)", "return_std=True"),
    ("rvr.predict(X, alpha=0.05)", "predict_interval"),
    ("rvr.predict_interval(X, alpha=0.05)", "coverage="),
    ("rvr.predict_proba(X)", "return_std=True"),
    ("rvr.score_samples(X)", "negative_log_predictive_density"),
    ("rvr.sample(X)", "sample_y"),
    ("rvr.plot()", "RegressionDisplay"),
    ('rvr.save("model")', "persistence.save"),
    ("rvr.conf_int()", "predict_interval"),
    ("rvc.predict_interval(X)", "predict_proba"),
    ("rvc.support_vectors_", "relevance_vectors_"),
    ("rvc.sample_y(X)", "sample_posterior"),
    ("Forecaster().forecast(12)", "predict(12)"),
    ("Forecaster().get_forecast(12)", "predict(12)"),
    ("Forecaster().fit_predict(Y)", "fit(y).predict(horizon)"),
    ("Forecaster().predict(fh=12)", "use horizon="),
    ("Forecaster().score(Y)", "backtest"),
    ("Denoiser().predict(X)", "transform(X)"),
    # Values.
    ("RVR(adapt=False).fit(X, Y)", "adapt=None"),
    ("RVR(adapt=True).fit(X, Y)", "adapt='ard'"),
    ("RVR(augment=None).fit(X, Y)", "augment=False"),
    ("RVR(calibrate=False).fit(X, Y)", "calibrate=None"),
    ("RVR(calibrate=True).fit(X, Y)", "calibrate='auto'"),
    ("RVR(noise=None).fit(X, Y)", "noise='estimate'"),
    ("RVR(prior=None).fit(X, Y)", "prior='flat'"),
    ("RVR(solver=None).fit(X, Y)", "solver='sequential'"),
    ("RVR(solver=sparsebayes.EM).fit(X, Y)", "solver=EM(...)"),
    ("RVR(sparsebayes.basis.RBF).fit(X, Y)", "basis=RBF(...)"),
    ('RVR("poly").fit(X, Y)', "'polynomial'"),
    ('RVR("sigmoid").fit(X, Y)', "sigmoid_kernel"),
    ('RVR(["rbf", "linear"]).fit(X, Y)', "RBF() + Linear()"),
    ("RVR(1.0).fit(X, Y)", "RBF(length_scale=1.0)"),
    ("RVR(X).fit(X, Y)", "'precomputed'"),
    ("RVR(gp_kernels.RBF() + gp_kernels.WhiteKernel()).fit(X, Y)", "noise="),
    ('RVC(link="softmax").fit(X, LABELS)', "link='logit'"),
    ('RVC(inference="ep").fit(X, LABELS)', "inference='tap'"),
    ('ReducedRankGPR("rbf").fit(X, Y)', "sklearn.gaussian_process.kernels"),
    ("Forecaster(lags=None).fit(Y)", "lags='auto'"),
    ("Forecaster(transform=False).fit(Y)", "transform=None"),
    ('Forecaster("arima").fit(Y)', "RVR()"),
    ('Forecaster(RVR, lags=2).fit(Y)', "estimator=RVR(...)"),
    # Names of the package.
    ("sparsebayes.RVMRegressor", "use RVR"),
    ("sparsebayes.RelevanceVectorClassifier", "use RVC"),
    ("sparsebayes.EMRVR", 'RVR(solver="em")'),
    ("sparsebayes.RBF", "from sparsebayes.basis import RBF"),
    ("sparsebayes.Forcaster", "did you mean Forecaster?"),
]  # fmt: skip

WORK = [
    "RVR().set_params(basis__length_scale=1.0)",
    "rvr.sample_y(X, n_samples=2)",
    "rvr.predict(X, return_std=True)",
    "rvr.predict_interval(X)",
    "rvr.feature_importances_",
    "rvr.sigma_",
    "rvr.alpha_",
    "rvr.n_features_in_",
    "rvc.predict_log_proba(X)",
    "rvc.decision_function(X)",
    "rvc.classes_",
    "RVR(sigmoid_kernel, adapt=None, calibrate=None).fit(X, Y)",
    'RVR("precomputed", calibrate=None).fit(X, Y)',
]


@pytest.fixture(scope="module")
def names():
    rvr = RVR(adapt=None, calibrate=None).fit(X, Y)
    rvc = RVC(link="logit", adapt=None, calibrate=None).fit(X, LABELS)
    return {**globals(), "rvr": rvr, "rvc": rvc}


@pytest.mark.sampled
@pytest.mark.parametrize(("guess", "word"), REFUSED, ids=[guess for guess, _ in REFUSED])
def test_refused_with_ours(names, guess, word):
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        eval(guess, names)
    assert word in str(caught.value)


@pytest.mark.parametrize("guess", WORK)
def test_works(names, guess):
    assert eval(guess, names) is not None


def test_import_of_a_name_that_is_elsewhere():
    """An import statement drops the message of an AttributeError."""
    with pytest.raises(ImportError, match=r"from sparsebayes\.basis import RBF"):
        from sparsebayes import RBF  # noqa: F401
    with pytest.raises(ImportError, match="use RVR"):
        from sparsebayes import RelevanceVectorRegressor  # noqa: F401
    from sparsebayes import basis, scores

    assert basis.RBF and scores.crps
    assert not hasattr(sparsebayes, "RBF")


def test_kernel_of_scikit_learn_is_ours():
    """A kernel object is a callable: the same functions as those of our basis."""
    options = {"adapt": None, "calibrate": None}
    theirs = RVR(gp_kernels.RBF(2.0), **options).fit(X, Y)
    ours = RVR(sparsebayes.basis.RBF(2.0), **options).fit(X, Y)
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), atol=1e-6)


def test_grid_over_the_default_basis():
    """The name of a basis becomes the object when its parameters are set."""
    grid = {"basis__length_scale": [2.0, 5.0]}
    model = RVR(noise=0.01, adapt=None, calibrate=None)
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_estimator_.basis.length_scale == search.best_params_["basis__length_scale"]
    assert search.estimator.basis == "rbf"
    both = {"basis": ["rbf", "laplacian"], **grid}
    search = GridSearchCV(model, both, cv=3).fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 4
    model = RVR().set_params(**RVR().set_params(basis__length_scale=2.0).get_params())
    assert model.basis.length_scale == 2.0
    assert RVR(sigmoid_kernel).set_params(basis__centres=5).basis.centres == 5


def test_enough_guesses():
    assert len(REFUSED) + len(WORK) > 100
    assert Denoiser and ReducedRankGPR and Forecaster
