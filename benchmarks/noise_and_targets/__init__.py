"""Several targets at once, outliers, and noise that varies with the input."""
