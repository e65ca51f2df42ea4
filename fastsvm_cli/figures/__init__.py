"""Figures of `--plot`, from plain numbers. No other package loads matplotlib."""
