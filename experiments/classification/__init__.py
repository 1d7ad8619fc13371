"""Classifiers beside those of scikit-learn."""
