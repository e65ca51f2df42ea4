"""Text input and output: files, lines and numbers."""
