"""Gaussian processes whose training inputs are noisy."""
