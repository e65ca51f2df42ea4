"""A model for where fastsvm is not: as C99, or as a graph of ONNX (README.md)."""
