"""What is climbed: design, prior and sites, and the posterior they make together."""
