"""Calibration curves on the command line."""
