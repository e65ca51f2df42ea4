"""fastsvm on Dask clusters."""
