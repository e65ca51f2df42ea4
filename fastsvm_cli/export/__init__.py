"""Export of models as C99 or an ONNX graph (README.md)."""
