"""Arguments of the commands, a module for each, and what they have in common."""
