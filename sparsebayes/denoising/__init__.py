"""Signals, images and volumes without their noise, with error bands."""

from sparsebayes._support.homes import settle
from sparsebayes.denoising.denoised import Denoised
from sparsebayes.denoising.denoiser import Denoiser
from sparsebayes.denoising.fit_signals import denoise
from sparsebayes.denoising.long_signals import LONGEST
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.observed.noise_models import NOISE_MODELS

__all__ = ["LONGEST", "METHODS", "NOISE_MODELS", "Denoised", "Denoiser", "denoise"]

settle(globals())
