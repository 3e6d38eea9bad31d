"""Samples of the family foreach."""
