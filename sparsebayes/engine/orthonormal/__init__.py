"""Orthonormal dictionaries: every coefficient stands alone, and fits are closed forms."""
