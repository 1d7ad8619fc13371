"""Forecasts of real series: errors, bands, gaps and time, beside other packages."""
