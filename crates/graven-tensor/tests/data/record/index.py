"""Samples of the family index."""
