"""Classifiers on many data sets, on images of digits, and on one set that is hard to fit."""
