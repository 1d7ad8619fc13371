"""Gaussian processes: what predictions and fits cost."""
