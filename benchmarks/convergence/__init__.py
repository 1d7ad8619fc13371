"""How often another route ends above the default."""
