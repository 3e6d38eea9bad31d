"""Samples of the family nn."""
