"""The ways to estimate coefficients: their names and what they do."""

from typing import Literal

DenoisingMethod = Literal["average", "sparse", "ash", "hard", "soft", "bayes"]
METHODS: dict[str, str] = {
    "average": "averaged over precisions and bases",
    "sparse": "one precision for each coefficient, by the evidence",
    "ash": "averaged over the precisions of a band",
    "hard": "hard threshold",
    "soft": "soft threshold",
    "bayes": "soft threshold for each band",
}
