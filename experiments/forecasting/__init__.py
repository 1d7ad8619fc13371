"""Forecasts of real series, against the usual models."""
