"""Compilers: exact model -> compiled model."""
