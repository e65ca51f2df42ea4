"""Dask: what of fastsvm runs on a cluster."""
