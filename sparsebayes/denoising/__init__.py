"""Signals, images and volumes without their noise, with error bands."""

from sparsebayes.denoising.denoiser import Denoised, Denoiser, denoise

__all__ = ["Denoised", "Denoiser", "denoise"]
