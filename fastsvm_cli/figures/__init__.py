"""Figures of `--plot`, from plain numbers. Only this package loads matplotlib."""
