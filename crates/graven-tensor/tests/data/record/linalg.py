"""Samples of the family linalg."""
