"""Calibration curves: from readings back to the input."""
