"""Calibration curves: from readings back to the input, and limits of detection."""
