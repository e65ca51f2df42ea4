"""Figures of `--plot`. Only this package loads matplotlib."""
