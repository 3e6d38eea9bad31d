"""Samples of the family reduce."""
