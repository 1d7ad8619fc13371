"""Answers to names that users guess: arguments, attributes, and names of the package."""
