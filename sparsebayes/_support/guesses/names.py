"""Names that users ask the package for, with ours."""

from __future__ import annotations

from sparsebayes._support.guesses.table import spelled_out

# Public names by the module that has them.
HOMES: dict[str, tuple[str, ...]] = {
    "basis": (
        "Basis",
        "Bias",
        "KernelFunction",
        "Laplacian",
        "Linear",
        "LinearSpline",
        "Polynomial",
        "Precomputed",
        "RBF",
        "ThinPlateSpline",
        "as_basis",
    ),
    "dictionaries": ("DCT", "MDCT", "Dictionary", "DualTree", "Wavelet", "as_dictionary"),
    "engine": ("Policy",),
    "export": ("ExportedModel", "from_json", "register_onnx", "to_c", "to_json", "to_onnx"),
    "forecasting": ("Backtest",),
    "pareto": ("hull_area", "roc_hull"),
    "persistence": ("load", "save"),
    "plots": (
        "CalibrationDisplay",
        "ClassificationDisplay",
        "DenoiseDisplay",
        "EvidenceDisplay",
        "ForecastDisplay",
        "InclusionDisplay",
        "ParetoDisplay",
        "RegressionDisplay",
    ),
    "regression": ("detection_limit", "inverse_predict"),
    "rows": ("CSV", "Parquet"),
    "sampling": ("Gibbs", "ReversibleJump"),
    "scores": (
        "coverage_scorer",
        "crps",
        "crps_scorer",
        "interval_coverage",
        "interval_score",
        "negative_log_predictive_density",
        "nlpd_scorer",
        "pit_values",
    ),
    "sktime": ("SparseBayesForecaster",),
    "uncertain": ("Imputation", "Slope", "StochasticEM"),
}

NAMES: dict[str, str] = spelled_out(
    {
        "sparsebayes": {
            "RVM RVMRegressor RVMRegression RelevanceVectorRegressor RelevanceVectorRegression "
            "RelevanceVectorMachine SparseBayesianRegressor FastRVR FastRVM": (
                "use RVR for regression, RVC for labels: from sparsebayes import RVR"
            ),
            "RVMClassifier RVMClassification RelevanceVectorClassifier RVMC FastRVC": (
                "use RVC: from sparsebayes import RVC"
            ),
            "EMRVR": 'use RVR(solver="em"): from sparsebayes import RVR',
            "EMRVC": 'use RVC(solver="em"): from sparsebayes import RVC',
            "RVRS SmoothRVR SRVM": 'use RVR(prior="bic"): from sparsebayes import RVR',
            "ARD ARDRegression ARDRegressor BayesianRidge SparseLinearRegression": (
                'use RVR("linear"): from sparsebayes import RVR'
            ),
            "SVR SVC": "use RVR or RVC: from sparsebayes import RVR, RVC",
            "GPR GaussianProcess GaussianProcessRegressor SparseGPR SparseGPRegression": (
                "use ReducedRankGPR: from sparsebayes import ReducedRankGPR"
            ),
            "GaussianProcessClassifier GPC": ("use RVC(augment=True): from sparsebayes import RVC"),
            "NoisyInputGP NIGP": "use NoisyInputGPR: from sparsebayes import NoisyInputGPR",
            "AutoRegressor ARIMA AutoARIMA": (
                "use Forecaster, or in sktime sparsebayes.sktime.SparseBayesForecaster: "
                "from sparsebayes import Forecaster"
            ),
            "denoise_wavelet denoise_signal denoise_image": (
                "use denoise, for signals and images: from sparsebayes import denoise"
            ),
            "Gaussian SquaredExponential RBFKernel": "from sparsebayes.basis import RBF",
            "Exponential Laplace": "from sparsebayes.basis import Laplacian",
            "Poly PolynomialKernel": "from sparsebayes.basis import Polynomial",
            "Spline": "from sparsebayes.basis import LinearSpline, ThinPlateSpline",
            "Matern": (
                "give RVR one of scikit-learn: RVR(Matern(length_scale=1.0, nu=1.5)), with "
                "from sklearn.gaussian_process.kernels import Matern"
            ),
            "Student TNoise": "use StudentT: from sparsebayes import StudentT",
            "MacKay": "use EM(mackay=True): from sparsebayes import EM",
            "mcmc sample": "use sample_posterior: from sparsebayes import sample_posterior",
            "dump save_model": "from sparsebayes.persistence import save",
            "load_model": "from sparsebayes.persistence import load",
            "plot": "from sparsebayes.plots import RegressionDisplay",
        }
    }
)["sparsebayes"]
