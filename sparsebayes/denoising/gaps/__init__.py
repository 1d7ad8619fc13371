"""Missing samples: what is put in their place, and how far it can be trusted."""
