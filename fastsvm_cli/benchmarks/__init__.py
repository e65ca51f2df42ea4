"""Benchmarks of models. Two clocks, never mixed in one ratio: end to end (a new process, file to file) and scoring
(in memory)."""
