"""Rows in chunks: for data that are larger than memory."""

from sparsebayes._support.homes import settle
from sparsebayes.rows.files import CSV, Parquet

__all__ = ["CSV", "Parquet"]

settle(globals())
