"""Export of models for use without fastsvm: as C99, or as an ONNX graph (README.md)."""
