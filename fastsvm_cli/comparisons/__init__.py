"""Comparisons of two models, or of a model and rows."""
