"""Limits on the time of a fit."""
