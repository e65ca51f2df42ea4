"""Ordered support vectors and points, which stop early."""
