"""Tables of series, with their times and dates."""
