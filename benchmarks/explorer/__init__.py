"""How fast the explorer answers."""
