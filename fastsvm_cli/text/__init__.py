"""Bytes and lines: what is read and written."""
