"""Samplers: of active sets and their precisions, and of noisy inputs."""
