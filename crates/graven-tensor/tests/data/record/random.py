"""Samples of the family random."""
