"""Data, measurements and tables of the benchmarks."""
