"""Reduced sets of support vectors."""
