"""Whether regression with nothing set can be believed: error bars, errors, cost."""
