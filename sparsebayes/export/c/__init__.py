"""Models as C: operations as statements, source and header, and what the compiled code says."""
