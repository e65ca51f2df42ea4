"""Figures of `--plot`, one paper column wide, from plain numbers. No other package loads matplotlib."""
