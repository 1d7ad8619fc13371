"""Rows in chunks: for data that are larger than memory."""
