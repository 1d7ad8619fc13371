"""Fits that are whole or not at all, and within their time."""
