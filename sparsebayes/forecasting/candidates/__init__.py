"""Models that a forecast is mixed from.

Each kind is tried out from origins in the past, where it knows what a user would have known, and is
settled on all values. `record.Record` is the series that all of them see; `trial.Trial` is what
they give back.
"""
