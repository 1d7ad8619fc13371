"""Averages over models that were sampled."""
