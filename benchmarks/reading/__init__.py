"""How fast tables are read."""
