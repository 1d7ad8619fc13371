"""Signals, images and volumes without their noise, with error bands."""

from sparsebayes._support.homes import settle
from sparsebayes.denoising.denoiser import Denoised, Denoiser, denoise

__all__ = ["Denoised", "Denoiser", "denoise"]

settle(globals())
