"""Tests of sounds and images on the command line."""
