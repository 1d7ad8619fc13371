"""Small faults that the quick tests have to find."""
