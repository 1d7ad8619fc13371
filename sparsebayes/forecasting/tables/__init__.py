"""Series as they are given: their times, their inputs, and several in one table."""
