"""Samples of the family pointwise."""
