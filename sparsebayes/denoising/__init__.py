"""Signals, images and volumes without their noise, with error bands."""

from sparsebayes._support.homes import settle
from sparsebayes.denoising.denoised import Denoised
from sparsebayes.denoising.denoiser import Denoiser
from sparsebayes.denoising.fit_signals import denoise
from sparsebayes.denoising.methods import METHODS

__all__ = ["METHODS", "Denoised", "Denoiser", "denoise"]

settle(globals())
