"""Comparisons with other packages: ``python -m benchmarks`` writes ``docs/evidence/benchmarks.md``."""
