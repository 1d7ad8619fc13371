"""Ways to climb the evidence, and the loop that drives them."""
