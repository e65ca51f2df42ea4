"""`predict --dask`: one job in many blocks, on as many machines as a Dask scheduler has."""
