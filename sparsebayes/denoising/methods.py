"""The ways to estimate coefficients: their names and what they do."""

METHODS = {
    "average": "averaged over precisions and bases",
    "sparse": "one precision for each coefficient, by the evidence",
    "ash": "averaged over the precisions of a band",
    "hard": "hard threshold",
    "soft": "soft threshold",
    "bayes": "soft threshold for each band",
}

NOISE_MODELS = ("gaussian", "poisson", "multiplicative")
