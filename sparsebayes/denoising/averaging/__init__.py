"""The default of `denoise`: averages over precisions and over bases, in closed form."""
