"""Export of models as C99 or ONNX (README.md)."""
