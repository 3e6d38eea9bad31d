"""Samples of the family norm."""
