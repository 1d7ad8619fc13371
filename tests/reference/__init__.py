"""Fits of every capability whose numbers a change of structure must not move."""
