"""Denoising of images, signals and recordings: errors, bands, gaps and time, beside others."""
