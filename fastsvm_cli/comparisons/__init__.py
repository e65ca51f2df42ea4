"""Two models, or a model and rows, beside each other."""
