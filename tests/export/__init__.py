"""Tests of models that leave Python."""
