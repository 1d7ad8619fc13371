"""From what is measured to signals with additive noise, and back: channels, counts, speckle."""
