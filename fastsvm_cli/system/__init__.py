"""The process: standard streams, signals, differences between systems."""
