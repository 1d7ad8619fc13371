"""Laws of fits on random and real problems."""
