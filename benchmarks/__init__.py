"""Comparisons with other packages: ``python -m benchmarks`` writes ``docs/benchmarks.md``."""
