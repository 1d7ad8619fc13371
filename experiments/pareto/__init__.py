"""Fronts of classifiers: how to choose from them, and where to start."""
