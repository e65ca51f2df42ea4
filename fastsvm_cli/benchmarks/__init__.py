"""Benchmarks by two clocks, never mixed in a ratio: end to end (a new process) and scoring (in memory)."""
