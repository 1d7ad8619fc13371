"""Comparisons with other packages: ``python -m benchmarks`` writes a page of the documentation."""
